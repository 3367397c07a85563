#pragma once

/// @file bench/support/suite.hpp
/// A small benchmark harness: rounds taken in turn, medians, one JSON line per figure.
///
/// A benchmark is a function `double fn(std::size_t iterations)` that returns nanoseconds per operation. It reads the
/// clock itself, so that setting up and tearing down stay outside the figure. A round is cut into slices, and in each
/// slice every benchmark runs once: a slow moment of the machine touches all of them, not one of them. The fastest
/// slice is the round's sample, the median of the rounds is the figure. Without the slices a busy neighbour slows the
/// floor by a third in one run and not in the next, and a slow floor flatters whatever is divided by it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace bench {

using NsPerOpFn = double (*)(std::size_t iterations);

struct Benchmark {
    const char* name;
    NsPerOpFn fn;
};

inline std::vector<Benchmark>& registry() {
    static std::vector<Benchmark> benchmarks;
    return benchmarks;
}

/// Registers a benchmark before `main()`: `static const bench::Registration kYield{"yield", yield_ns_per_op};`
struct Registration {
    Registration(const char* name, NsPerOpFn fn) { registry().push_back({name, fn}); }
};

/// Nanoseconds since construction. Integers only: the measured loops must not touch the floating-point state.
class Stopwatch {
public:
    Stopwatch() noexcept : start_(Clock::now()) {}

    void restart() noexcept { start_ = Clock::now(); }

    std::int64_t elapsed_ns() const noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_;
};

inline double per_op(std::int64_t elapsed_ns, std::size_t operations) {
    return static_cast<double>(elapsed_ns) / static_cast<double>(operations);
}

#if defined(__x86_64__)
inline constexpr unsigned kCleanMxcsr = 0x1f80;  // all exceptions masked, no status flag set
#endif

/// Clears the floating-point status flags.
///
/// A switch that carries MXCSR along becomes more than ten times slower when the two sides differ in these flags, and
/// any inexact division sets one of them. Every benchmark, peers included, starts from the clean state.
inline void settle_float_state() noexcept {
#if defined(__x86_64__)
    _mm_setcsr(kCleanMxcsr);
    __asm__ volatile("fnclex");
#endif
}

/// True when nothing has set a floating-point status flag since `settle_float_state()`.
inline bool float_state_is_settled() noexcept {
#if defined(__x86_64__)
    return _mm_getcsr() == kCleanMxcsr;
#else
    return true;
#endif
}

/// Makes the compiler believe that `value` is used.
template <typename T>
inline void keep(const T& value) noexcept {
    __asm__ volatile("" : : "r,m"(value) : "memory");
}

[[noreturn]] inline void fail(const char* message) {
    std::fprintf(stderr, "bench: %s\n", message);
    std::exit(3);
}

inline constexpr std::size_t kSlices = 10;  // per round
/// Round trips between threads before the counted ones: a processor that has slept for a while wakes slowly, and whoever comes first in
/// a slice would pay for that alone.
inline constexpr std::size_t kAwake = 200;

struct Settings {
    std::size_t rounds = 9;
    std::int64_t round_ns = 50'000'000;  // per benchmark
    std::string only;                    // empty: all
};

/// Reads `--rounds N`, `--round-ms N` and `--only NAME`.
inline Settings parse_settings(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const bool has_value = i + 1 < argc;
        if (std::strcmp(argv[i], "--rounds") == 0 && has_value) {
            settings.rounds = std::strtoul(argv[++i], nullptr, 10);
        } else if (std::strcmp(argv[i], "--round-ms") == 0 && has_value) {
            settings.round_ns = std::strtoll(argv[++i], nullptr, 10) * 1'000'000;
        } else if (std::strcmp(argv[i], "--only") == 0 && has_value) {
            settings.only = argv[++i];
        } else {
            std::fprintf(stderr, "usage: %s [--rounds N] [--round-ms N] [--only NAME]\n", argv[0]);
            std::exit(2);
        }
    }
    if (settings.rounds == 0 || settings.round_ns <= 0) {
        fail("--rounds and --round-ms want a positive number");
    }
    return settings;
}

/// The iteration count that fills one slice.
inline std::size_t calibrate(NsPerOpFn fn, std::int64_t slice_ns) {
    const double enough = static_cast<double>(slice_ns) / 10;
    std::size_t iterations = 1'000;
    for (;;) {
        const double ns = std::max(fn(iterations), 0.01);
        const double total = ns * static_cast<double>(iterations);
        if (total >= enough) {
            return std::max<std::size_t>(1'000, static_cast<std::size_t>(static_cast<double>(slice_ns) / ns));
        }
        iterations *= total * 8 < enough ? 8 : 2;
    }
}

/// The value below which the given share of the sorted samples lies.
inline double quantile(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, sorted.size() - 1);
    const double weight = position - static_cast<double>(below);
    return sorted[below] * (1 - weight) + sorted[above] * weight;
}

/// Prints one figure. `spread` is the distance between the quartiles as a share of the median.
inline void print_figure(const char* name, const char* unit, std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const double median = quantile(samples, 0.5);
    const double spread = median > 0 ? (quantile(samples, 0.75) - quantile(samples, 0.25)) / median : 0;
    std::printf(
        "{\"name\":\"%s\",\"unit\":\"%s\",\"median\":%.4f,\"min\":%.4f,\"max\":%.4f,\"spread\":%.4f,\"rounds\":%zu}\n",
        name, unit, median, samples.front(), samples.back(), spread, samples.size()
    );
    std::fflush(stdout);
}

/// Runs every registered benchmark: calibration, one warm-up round thrown away, then the counted rounds.
inline int run_suite(int argc, char** argv) {
    struct Row {
        Benchmark benchmark;
        std::size_t iterations;
        double fastest;
        std::vector<double> samples;
    };

    const Settings settings = parse_settings(argc, argv);
    std::vector<Row> rows;
    for (const Benchmark& benchmark : registry()) {
        if (settings.only.empty() || settings.only == benchmark.name) {
            rows.push_back({benchmark, calibrate(benchmark.fn, settings.round_ns / kSlices), 0, {}});
        }
    }
    if (rows.empty()) {
        fail("no benchmark of that name");
    }
    for (std::size_t round = 0; round <= settings.rounds; ++round) {
        for (Row& row : rows) {
            row.fastest = std::numeric_limits<double>::infinity();
        }
        for (std::size_t slice = 0; slice < kSlices; ++slice) {
            for (Row& row : rows) {
                row.fastest = std::min(row.fastest, row.benchmark.fn(row.iterations));
            }
        }
        for (Row& row : rows) {
            if (round > 0) {
                row.samples.push_back(row.fastest);
            }
        }
    }
    for (const Row& row : rows) {
        print_figure(row.benchmark.name, "ns", row.samples);
    }
    return 0;
}

}  // namespace bench
