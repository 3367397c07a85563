/// @file bench/io/main.cpp
/// What the suite io needs in C++: the floors, and the client of the HTTP figures.

#include "http.hpp"

#include "support/suite.hpp"

namespace {

std::size_t number(const char* text) { return std::strtoul(text, nullptr, 10); }

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "serve" && argc == 2) {
        return bench::serve_http_floor();
    }
    if (what == "compare" && argc == 8) {
        return bench::compare_http(
            {argv[2], bench::parse_server(argv[3]), bench::parse_server(argv[4]), number(argv[5]), number(argv[6]),
             number(argv[7])}
        );
    }
    if (what == "request" && argc == 5) {
        return bench::request_http(bench::parse_server(argv[2]), number(argv[3]), number(argv[4]));
    }
    if (what == "floor") {
        return bench::run_suite(argc - 1, argv + 1);
    }
    std::fprintf(
        stderr,
        "usage: bench_io serve\n"
        "       bench_io compare NAME FLOOR OWN CONNECTIONS ROUNDS REQUESTS   (a server is PORT:PID)\n"
        "       bench_io request SERVER CONNECTIONS REQUESTS\n"
        "       bench_io floor [--rounds N] [--round-ms N]\n"
    );
    return 2;
}
