// The matrix of blocking calls in C++: ordinary C libraries and system calls, COUNT coroutines in each at once.
//
// Usage: matrix            lists the rows
//        matrix ROW        runs one: exit 0 and nothing said, or the reason; 77 and a reason when something it needs is not here

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <netdb.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <trueasync/transparent/transparent.hpp>
#include <trueasync/trueasync.hpp>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace trueasync;

namespace {

constexpr int kCount = 20;
constexpr int kSkipped = 77;

std::vector<pid_t> servers;

[[noreturn]] void leave(int status, const std::string& reason) {
    std::printf("%s\n", reason.c_str());
    std::fflush(stdout);
    for (const pid_t server : servers) {
        ::kill(server, SIGTERM);
    }
    std::_Exit(status);
}
[[noreturn]] void fail(const std::string& reason) { leave(1, reason); }

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) {
        leave(kSkipped, std::string("there is no ") + name);
    }
    return value;
}

std::string port_of(const std::string& address) { return address.substr(address.rfind(':') + 1); }
std::string temporary(const std::string& name) { return environment("IO_WORK") + "/" + name; }

/// Starts a server of ours, a script beside the matrix of PHP, and returns the line that it begins with: its address.
std::string start(std::vector<std::string> words) {
    int ends[2];
    if (::pipe(ends) != 0) {
        fail("no pipe");
    }
    words.front() = environment("IO_HERE") + "/" + words.front() + ".php";
    words.insert(words.begin(), {environment("IO_PHP"), "-n"});
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const pid_t server = ::fork();
    if (server == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    servers.push_back(server);
    ::close(ends[1]);
    std::string line;
    for (char byte = 0; ::read(ends[0], &byte, 1) == 1 && byte != '\n';) {
        line += byte;
    }
    if (line.empty()) {
        fail("the server did not start");
    }
    return line;
}
std::string gate(const std::string& protocol) {
    const std::string scheme = protocol == "https" ? "tls" : "tcp";
    return start({"gate", protocol, scheme + "://127.0.0.1:0", std::to_string(kCount)});
}

/// All at the same time; each must return `expected`.
template <typename Call, typename Result>
Duration at_once(Call call, const Result& expected) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Handle<Result>> all;
    for (int i = 0; i < kCount; ++i) {
        all.push_back(spawn([&call, i]() -> Result { return call(i); }));
    }
    for (auto& one : all) {
        if (await(one) != expected) {
            fail("a coroutine got something else");
        }
    }
    return std::chrono::steady_clock::now() - begin;
}

/// For calls that no server answers: together they take less than half of the sum.
template <typename Call, typename Result>
void overlapping(Duration each, Call call, const Result& expected) {
    if (at_once(call, expected) >= each * kCount / 2) {
        fail("one after another");
    }
}

class Socket {
public:
    explicit Socket(int fd) : fd_(fd) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() { ::close(fd_); }
    operator int() const { return fd_; }

private:
    int fd_;
};

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

/// Asks the gate; `wait` is called when the answer is not there yet.
template <typename Wait>
std::string ask(int port, Wait wait) {
    const Socket fd(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = loopback(port);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::write(fd, "ping\n", 5) != 5) {
        return std::strerror(errno);
    }
    wait(fd);
    char buffer[16] = {};
    const ssize_t size = ::read(fd, buffer, sizeof(buffer));
    return std::string(buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
    static_cast<std::string*>(text)->append(data, size * count);
    return size * count;
}

std::unique_ptr<CURL, void (*)(CURL*)> transfer(const std::string& url, std::string& body) {
    CURL* handle = ::curl_easy_init();
    ::curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, append);
    ::curl_easy_setopt(handle, CURLOPT_WRITEDATA, &body);
    ::curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 0L);
    ::curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 0L);
    return {handle, ::curl_easy_cleanup};
}
std::string fetch(const std::string& url) {
    std::string body;
    const auto handle = transfer(url, body);
    const CURLcode code = ::curl_easy_perform(handle.get());
    return code == CURLE_OK ? body : ::curl_easy_strerror(code);
}
std::string fetch_by_multi(const std::string& url) {
    std::string body;
    const auto handle = transfer(url, body);
    CURLM* multi = ::curl_multi_init();
    ::curl_multi_add_handle(multi, handle.get());
    for (int running = 1; running != 0;) {
        ::curl_multi_perform(multi, &running);
        ::curl_multi_poll(multi, nullptr, 0, 9000, nullptr);
    }
    ::curl_multi_remove_handle(multi, handle.get());
    ::curl_multi_cleanup(multi);
    return body;
}

std::string query(const std::string& text) {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(
        ::PQconnectdb(environment("IO_POSTGRES").c_str()), ::PQfinish
    );
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(::PQexec(connection.get(), text.c_str()), ::PQclear);
    return ::PQntuples(result.get()) == 1 ? ::PQgetvalue(result.get(), 0, 0) : ::PQerrorMessage(connection.get());
}

std::string redis(const std::string& command) {
    const int port = std::stoi(port_of(environment("IO_REDIS")));
    const std::unique_ptr<redisContext, void (*)(redisContext*)> context(
        ::redisConnect("127.0.0.1", port), ::redisFree
    );
    const std::unique_ptr<void, void (*)(void*)> reply(
        ::redisCommand(context.get(), command.c_str()), ::freeReplyObject
    );
    const auto* answer = static_cast<const redisReply*>(reply.get());
    if (answer == nullptr) {
        return context->errstr;
    }
    answer = answer->type == REDIS_REPLY_ARRAY && answer->elements == 2 ? answer->element[1] : answer;
    return answer->str != nullptr ? std::string(answer->str, answer->len) : "";
}

std::string first_line(FILE* stream) {
    char line[64] = {};
    const ssize_t size = ::read(::fileno(stream), line, sizeof(line));
    return std::string(line, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

std::string look_up(const std::string& name) {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(name.c_str(), "80", &hints, &found); error != 0) {
        return ::gai_strerror(error);
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    char text[64];
    ::getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
    return text;
}

void with_names(const std::function<std::string(int)>& call, const std::string& expected) {
    const char* address = std::getenv("IO_DNS");
    if (address == nullptr) {
        leave(kSkipped, "only root can make a view of the file system with another resolv.conf");
    }
    start({"dns", address, std::to_string(kCount)});
    at_once(call, expected);
}

std::string name(int i) { return "n" + std::to_string(i) + ".slow.test"; }

using Row = std::pair<const char*, std::function<void()>>;
const Row kRows[] = {
    {"sleep",
     [] {
         overlapping(
             1s, [](int) { return ::sleep(1); }, 0U
         );
     }},
    {"usleep",
     [] {
         overlapping(
             200ms, [](int) { return ::usleep(200'000); }, 0
         );
     }},
    {"nanosleep",
     [] {
         const timespec time{0, 200'000'000};
         overlapping(
             200ms, [&](int) { return ::nanosleep(&time, nullptr); }, 0
         );
     }},
    {"connect, read",
     [] {
         const int port = std::stoi(port_of(gate("line")));
         at_once([&](int) { return ask(port, [](int) {}); }, std::string("pong\n"));
     }},
    {"recv, MSG_WAITALL",
     [] {
         const int port = std::stoi(port_of(gate("line")));
         const auto peek = [](int fd) {
             char buffer[5];
             ::recv(fd, buffer, 5, MSG_PEEK | MSG_WAITALL);
         };
         at_once([&](int) { return ask(port, peek); }, std::string("pong\n"));
     }},
    {"poll",
     [] {
         const int port = std::stoi(port_of(gate("line")));
         const auto wait = [](int fd) {
             pollfd one{fd, POLLIN, 0};
             if (::poll(&one, 1, 9000) != 1) {
                 fail("poll");
             }
         };
         at_once([&](int) { return ask(port, wait); }, std::string("pong\n"));
     }},
    {"select",
     [] {
         const int port = std::stoi(port_of(gate("line")));
         const auto wait = [](int fd) {
             fd_set readable;
             FD_ZERO(&readable);
             FD_SET(fd, &readable);
             if (::select(fd + 1, &readable, nullptr, nullptr, nullptr) != 1) {
                 fail("select");
             }
         };
         at_once([&](int) { return ask(port, wait); }, std::string("pong\n"));
     }},
    {"accept",
     [] {
         int waiting = 0;
         at_once(
             [&](int) {
                 const Socket server(::socket(AF_INET, SOCK_STREAM, 0));
                 sockaddr_in address = loopback(0);
                 socklen_t size = sizeof(address);
                 auto* where = reinterpret_cast<sockaddr*>(&address);
                 if (::bind(server, where, size) != 0 || ::listen(server, 1) != 0 ||
                     ::getsockname(server, where, &size) != 0) {
                     fail("no server");
                 }
                 auto other = spawn([&waiting, address] {  // connects when all are in accept
                     while (waiting < kCount) {
                         sleep_for(1ms);
                     }
                     const Socket client(::socket(AF_INET, SOCK_STREAM, 0));
                     ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
                     ::write(client, "x", 1);
                 });
                 ++waiting;
                 const Socket client(::accept(server, nullptr, nullptr));
                 char byte = 0;
                 const bool is_right = ::read(client, &byte, 1) == 1 && byte == 'x';
                 await(other);
                 return is_right;
             },
             true
         );
     }},
    {"popen",
     [] {
         overlapping(
             300ms,
             [](int) {
                 FILE* stream = ::popen("sleep 0.3; echo hi; exit 3", "r");
                 const std::string line = first_line(stream);
                 return line + std::to_string(WEXITSTATUS(::pclose(stream)));
             },
             std::string("hi\n3")
         );
     }},
    {"system",
     [] {
         overlapping(
             300ms, [](int) { return WEXITSTATUS(::system("sleep 0.3; exit 4")); }, 4
         );
     }},
    {"waitpid",
     [] {
         overlapping(
             300ms,
             [](int) {
                 const pid_t child = ::fork();
                 if (child == 0) {
                     ::usleep(300'000);
                     ::_exit(5);
                 }
                 int status = 0;
                 ::waitpid(child, &status, 0);
                 return WEXITSTATUS(status);
             },
             5
         );
     }},
    {"flock",
     [] {
         const std::string file = temporary("lock");
         const Socket holder(::open(file.c_str(), O_CREAT | O_RDWR, 0600));
         ::flock(holder, LOCK_EX);
         auto other = spawn([&] {
             ::usleep(300'000);
             ::flock(holder, LOCK_UN);
         });
         overlapping(
             500ms,
             [&](int) {
                 const Socket mine(::open(file.c_str(), O_RDWR));
                 return ::flock(mine, LOCK_SH);
             },
             0
         );
         await(other);
     }},
    {"fifo",
     [] {
         int waiting = 0;
         at_once(
             [&](int i) {
                 const std::string file = temporary("fifo" + std::to_string(i));
                 ::mkfifo(file.c_str(), 0600);
                 const Socket in(::open(file.c_str(), O_RDWR));
                 auto other = spawn([&] {
                     while (waiting < kCount) {
                         sleep_for(1ms);
                     }
                     ::write(in, "x", 1);
                 });
                 ++waiting;
                 char byte = 0;
                 const ssize_t size = ::read(in, &byte, 1);
                 await(other);
                 return size;
             },
             ssize_t{1}
         );
     }},
    {"libcurl",
     [] {
         const std::string url = "http://" + gate("http") + "/";
         at_once([&](int) { return fetch(url); }, std::string("pong"));
     }},
    {"libcurl https",
     [] {
         const std::string url = "https://" + gate("https") + "/";
         at_once([&](int) { return fetch(url); }, std::string("pong"));
     }},
    {"libcurl multi",
     [] {
         const std::string url = "http://" + gate("http") + "/";
         at_once([&](int) { return fetch_by_multi(url); }, std::string("pong"));
     }},
    {"libpq",
     [] {
         query("delete from arrivals");
         const std::string call = "select arrive(" + std::to_string(kCount) + ")";
         at_once([&](int) { return query(call); }, std::to_string(kCount));
     }},
    {"hiredis",
     [] {
         redis("PING");
         auto other = spawn([] {  // answers when all are waiting
             while (redis("INFO clients").find("blocked_clients:" + std::to_string(kCount)) == std::string::npos) {
                 sleep_for(5ms);
             }
             for (int i = 0; i < kCount; ++i) {
                 redis("RPUSH cpp" + std::to_string(i) + " x");
             }
         });
         at_once([](int i) { return redis("BLPOP cpp" + std::to_string(i) + " 9"); }, std::string("x"));
         await(other);
     }},
    {"slow DNS: getaddrinfo", [] { with_names([](int i) { return look_up(name(i)); }, "127.0.0.1"); }},
    {"slow DNS: libcurl",
     [] {
         const std::string port = port_of(gate("http"));
         with_names([&](int i) { return fetch("http://" + name(i) + ":" + port + "/"); }, "pong");
     }},
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        for (const Row& row : kRows) {
            std::puts(row.first);
        }
        return 0;
    }
    for (const auto& [name, body] : kRows) {
        if (std::strcmp(name, arguments[1]) != 0) {
            continue;
        }
        ::curl_global_init(CURL_GLOBAL_ALL);
        if (const Status status = install_transparent(); !status) {
            fail(status.error()->message());
        }
        trueasync::run(body);
        for (const pid_t server : servers) {
            ::kill(server, SIGTERM);
        }
        return 0;
    }
    fail("there is no such row");
}
