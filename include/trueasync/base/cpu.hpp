#pragma once

/// @file trueasync/base/cpu.hpp
/// How many processors there are, and how busy they and this process are.

#include <cstdint>
#include <optional>
#include <string>
#include <trueasync/base/export.hpp>

namespace trueasync {

/// How many threads can run at the same time: the processors this process may use, less what a quota of its control groups takes away
/// (a fraction is rounded down). At least 1. Any thread.
TA_API unsigned available_parallelism() noexcept;

/// Averages of the last 1, 5 and 15 minutes.
struct LoadAverage {
    double minutes_1 = 0;
    double minutes_5 = 0;
    double minutes_15 = 0;
};

/// Nothing where the system has no such thing. Any thread.
TA_API std::optional<LoadAverage> load_average() noexcept;

/// Counters of time in nanoseconds, of arbitrary origin; none ever goes back. Any thread.
struct TA_API CpuTimes {
    std::uint64_t wall = 0;
    std::uint64_t process_user = 0;
    std::uint64_t process_system = 0;
    std::uint64_t system_idle = 0;  ///< of all processors together; zero when the system does not say
    std::uint64_t system_busy = 0;
    unsigned processors = 1;  ///< that are online

    static CpuTimes now() noexcept;
};

/// What happened between two looks at the counters.
struct CpuUsage {
    double process_cores = 0;    ///< 0 to the number of processors
    double process_percent = 0;  ///< of all processors, 0 to 100
    double system_percent = 0;   ///< 0 to 100
    double seconds = 0;          ///< the time between

    TA_API static CpuUsage between(const CpuTimes& first, const CpuTimes& last) noexcept;
};

/// Usage since the last call in this process; the first one gives zeros. `now` is where the counters stand. Any thread.
TA_API CpuUsage cpu_usage(CpuTimes* now = nullptr) noexcept;

namespace detail {

/// How many processors the quotas of the control groups of this process leave, of versions 1 and 2; nothing when there is no quota.
/// Everything is read below `root` ("" for the system's own files), which tests put together themselves.
TA_API std::optional<double> cpu_quota(const std::string& root);

/// The first line of /proc/stat, in ticks. False when it is no such line.
TA_API bool parse_cpu_line(const char* line, std::uint64_t& idle, std::uint64_t& busy) noexcept;

}  // namespace detail

}  // namespace trueasync
