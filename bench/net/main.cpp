/// @file bench/net/main.cpp
/// The suite net. `--sleeps` measures 100,000 sleeps instead; that wants a process of its own, since memory stays warm.

#include <trueasync/trueasync.hpp>

#include <cstring>

#include "load.hpp"
#include "support/suite.hpp"

namespace {

constexpr std::size_t kSleepers = 100'000;

double sleep_round_ms() {
    const std::int64_t before = bench::cpu_ns();
    std::vector<trueasync::Handle<void>> sleepers;
    sleepers.reserve(kSleepers);
    for (std::size_t i = 0; i < kSleepers; ++i) {
        sleepers.push_back(trueasync::spawn([] { trueasync::sleep_for(std::chrono::milliseconds(10)); }));
    }
    for (auto& sleeper : sleepers) {
        trueasync::await(sleeper);
    }
    return static_cast<double>(bench::cpu_ns() - before) / 1e6;
}

void print(const char* name, double value) { bench::print_figure(name, "ms", {value}); }

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--sleeps") == 0) {
        trueasync::run([] {
            print("sleeps_100k_cold", sleep_round_ms());
            print("sleeps_100k", sleep_round_ms());
        });
        return 0;
    }
    bench::pin(0);
    return bench::run_suite(argc, argv);
}
