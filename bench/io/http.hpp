#pragma once

/// @file bench/io/http.hpp
/// Both sides of the HTTP figures, without the library: the floor, and the client that loads it and the server in PHP.

#include <cstddef>
#include <string_view>

namespace bench {

inline constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
inline constexpr std::string_view kHeadEnd = "\r\n\r\n";
inline constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

/// Serves for ever on a port of loopback, which is printed first, beside the number of the process.
int serve_http_floor();

/// Where a server listens and which process it is: `PORT:PID`.
struct Server {
    int port = 0;
    int pid = 0;
};
Server parse_server(const char* text);

/// Processor time of each server for one request, with this many connections open to each, all of them with a request under way: two figures,
/// `NAME_floor` and `NAME`. The servers take turns.
struct Comparison {
    const char* name = "";
    Server floor;
    Server own;
    std::size_t connections = 0;
    std::size_t rounds = 0;
    std::size_t requests = 0;  ///< of one slice
};
int compare_http(const Comparison& comparison);

/// Makes so many requests and nothing else.
int request_http(Server server, std::size_t connections, std::size_t requests);

}  // namespace bench
