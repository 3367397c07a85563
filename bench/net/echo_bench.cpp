/// @file bench/net/echo_bench.cpp
/// The echo server that a user would write: a coroutine for each connection.

#include <trueasync/trueasync.hpp>

#include <array>
#include <memory>

#include "load.hpp"
#include "support/suite.hpp"

namespace {

void serve(trueasync::TcpStream& stream) {
    std::array<char, 4096> buffer;
    while (const std::size_t count = stream.read(buffer)) {
        stream.write(std::string_view(buffer.data(), count));
    }
}

double echo_ns_per_op(std::size_t iterations) {
    std::int64_t spent = 0;
    trueasync::run([&] {
        auto listener = trueasync::TcpListener::bind("127.0.0.1:0");
        const trueasync::SocketAddress address = listener.local();
        const pid_t load = bench::start_load(address.data(), address.size(), iterations);
        const std::int64_t before = bench::cpu_ns();
        std::vector<trueasync::Handle<void>> serving;
        for (std::size_t i = 0; i < bench::kConnections; ++i) {
            auto stream = std::make_shared<trueasync::TcpStream>(listener.accept());
            serving.push_back(trueasync::spawn([stream] { serve(*stream); }));
        }
        for (auto& one : serving) {
            trueasync::await(one);
        }
        spent = bench::cpu_ns() - before;
        bench::finish_load(load);
    });
    return bench::per_op(spent, iterations);
}

const bench::Registration kEcho{"echo", echo_ns_per_op};

}  // namespace
