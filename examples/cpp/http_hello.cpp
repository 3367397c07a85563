// An HTTP server that says hello, and a client that asks it. `http_hello 127.0.0.1:8080` serves until Ctrl-C, for example for
// `curl http://127.0.0.1:8080/you`; without an address the program asks itself twice over one connection and ends.

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <trueasync/trueasync.hpp>

using namespace std::chrono_literals;
using namespace trueasync;

/// Reads up to the empty line that ends a head. Empty at the end of the connection.
std::string read_head(Stream& stream, std::string& rest) {
    std::array<char, 4096> buffer;
    std::size_t end = 0;
    while ((end = rest.find("\r\n\r\n")) == std::string::npos) {
        const std::size_t count = stream.read(buffer, 5s);  // whoever is silent for so long is let go
        if (count == 0 || rest.size() > 65536) {
            return {};
        }
        rest.append(buffer.data(), count);
    }
    std::string head = rest.substr(0, end + 2);
    rest.erase(0, end + 4);
    return head;
}

void serve(TcpStream& client) {
    std::string rest;
    for (;;) {
        const std::string head = read_head(client, rest);
        if (head.empty()) {
            return;
        }
        const std::size_t path = head.find(' ') + 1;
        const std::string body = "hello, " + head.substr(path + 1, head.find(' ', path) - path - 1) + "\n";
        client.write(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body
        );
    }
}

std::string get(TcpStream& server, std::string& rest, const std::string& path) {
    server.write("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string head = read_head(server, rest);
    const std::size_t length = std::stoul(head.substr(head.find("Content-Length: ") + 16));
    if (rest.size() < length) {
        std::string more(length - rest.size(), '\0');
        server.read_exactly(std::span(more));
        rest += more;
    }
    std::string body = rest.substr(0, length);
    rest.erase(0, length);
    return body;
}

int main(int argc, char** argv) {
    run([&] {
        auto listener = TcpListener::bind(argc > 1 ? argv[1] : "127.0.0.1:0");
        std::printf("listening on http://%s/\n", listener.local().to_string().c_str());
        auto server = spawn([&] {
            for (;;) {
                auto client = std::make_shared<TcpStream>(listener.accept());
                spawn([client] {
                    try {
                        serve(*client);
                    } catch (const AsyncError& error) {
                        std::fprintf(stderr, "%s\n", error.what());
                    }
                });
            }
        });
        if (argc > 1) {
            await(server);
        }
        auto client = TcpStream::connect(listener.local());
        std::string rest;
        std::printf("%s", get(client, rest, "/world").c_str());
        std::printf("%s", get(client, rest, "/again").c_str());
        server.cancel();
    });
}
