// An echo server: a coroutine for each connection. `echo_server 127.0.0.1:7000` serves until Ctrl-C; without an address it serves
// three clients of its own and ends.

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <trueasync/trueasync.hpp>
#include <vector>

using namespace trueasync;

void serve(TcpStream& client) {
    std::array<char, 4096> buffer;
    while (const std::size_t count = client.read(buffer)) {
        client.write(std::string_view(buffer.data(), count));
    }
}

void accept_for_ever(TcpListener& listener) {
    for (;;) {
        auto client = std::make_shared<TcpStream>(listener.accept());
        spawn([client] {
            try {
                serve(*client);
            } catch (const IoError& error) {
                std::fprintf(stderr, "%s\n", error.what());  // this client is lost; the others go on
            }
        });
    }
}

void try_it(const SocketAddress& address) {
    std::vector<Handle<std::string>> clients;
    for (int i = 1; i <= 3; ++i) {
        clients.push_back(spawn([&address, i] {
            auto stream = TcpStream::connect(address);
            stream.write("hello from client " + std::to_string(i));
            stream.shutdown_write();
            return stream.read_all();
        }));
    }
    for (auto& client : clients) {
        std::printf("%s\n", await(client).c_str());
    }
}

int main(int argc, char** argv) {
    run([&] {
        auto listener = TcpListener::bind(argc > 1 ? argv[1] : "127.0.0.1:0");
        std::printf("listening on %s\n", listener.local().to_string().c_str());
        auto server = spawn([&] { accept_for_ever(listener); });
        if (argc > 1) {
            await(server);
        }
        try_it(listener.local());
        server.cancel();
    });
}
