#include <trueasync/base/cpu.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string_view>

namespace trueasync {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t in_nanoseconds(const timeval& time) noexcept {
    return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

unsigned online_processors() noexcept {
    const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? static_cast<unsigned>(count) : 1;
}

unsigned allowed_processors() noexcept {
#if defined(__linux__)
    // A machine may have more processors than a plain cpu_set_t has room for.
    for (int size = 1024; size <= 1024 * 1024; size *= 4) {
        cpu_set_t* set = CPU_ALLOC(size);
        if (set == nullptr) {
            break;
        }
        const std::size_t bytes = CPU_ALLOC_SIZE(size);
        const int count = ::sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0) {
            return static_cast<unsigned>(count);
        }
    }
#endif
    return online_processors();
}

/// The kernel's sums of idle time may go back a little; ours do not.
std::uint64_t never_less(std::atomic<std::uint64_t>& most, std::uint64_t value) noexcept {
    std::uint64_t seen = most.load(std::memory_order_relaxed);
    while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}
    return std::max(seen, value);
}

void read_system(CpuTimes& times) noexcept {
    static std::atomic<std::uint64_t> most_idle = 0;
    static std::atomic<std::uint64_t> most_busy = 0;
    std::uint64_t idle = 0;
    std::uint64_t busy = 0;
    if (std::FILE* file = std::fopen("/proc/stat", "re")) {
        char line[256];
        if (std::fgets(line, sizeof(line), file) != nullptr && detail::parse_cpu_line(line, idle, busy)) {
            const auto tick = kSecond / static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
            idle *= tick;
            busy *= tick;
        }
        std::fclose(file);
    }
    times.system_idle = never_less(most_idle, idle);
    times.system_busy = never_less(most_busy, busy);
}

double share(double part, double whole) noexcept { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0; }

}  // namespace

namespace detail {

bool parse_cpu_line(const char* line, std::uint64_t& idle, std::uint64_t& busy) noexcept {
    std::uint64_t user = 0;
    std::uint64_t nice = 0;
    std::uint64_t system = 0;
    std::uint64_t rest = 0;
    std::uint64_t waiting = 0;
    std::uint64_t hard = 0;
    std::uint64_t soft = 0;
    std::uint64_t stolen = 0;  // the two behind it, of guests, are part of the first two
    constexpr const char* kFormat =
        "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64;
    if (!std::string_view(line).starts_with("cpu ") ||
        std::sscanf(line, kFormat, &user, &nice, &system, &rest, &waiting, &hard, &soft, &stolen) < 4) {
        return false;
    }
    idle = rest + waiting;
    busy = user + nice + system + hard + soft + stolen;
    return true;
}

namespace {

void take_less(std::optional<double>& least, double value) {
    if (!least.has_value() || value < *least) {
        least = value;
    }
}

/// `cpu.max`: "200000 100000", or "max 100000".
void read_version_2(const std::string& directory, std::optional<double>& least) {
    std::ifstream file(directory + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) {
        take_less(least, std::strtod(quota.c_str(), nullptr) / period);
    }
}

void read_version_1(const std::string& directory, std::optional<double>& least) {
    std::ifstream quota_file(directory + "/cpu.cfs_quota_us");
    std::ifstream period_file(directory + "/cpu.cfs_period_us");
    double quota = 0;
    double period = 0;
    if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) {  // -1: none
        take_less(least, quota / period);
    }
}

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (list.substr(0, end) == word) {
            return true;
        }
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

}  // namespace

std::optional<double> cpu_quota(const std::string& root) {
    std::optional<double> least;
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/a/b"; version 2 is "0::/a/b"
        const std::size_t first = line.find(':');
        const std::size_t second = first != std::string::npos ? line.find(':', first + 1) : std::string::npos;
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && !has_word(controllers, "cpu")) {
            continue;
        }
        const std::string mounts = root + "/sys/fs/cgroup";
        // A quota further up holds too. What a container does not see of its path is skipped.
        for (std::string path = line.substr(second + 1);; path.erase(path.rfind('/'))) {
            while (path.ends_with('/')) {
                path.pop_back();
            }
            if (controllers.empty()) {
                read_version_2(mounts + path, least);
                read_version_2(mounts + "/unified" + path, least);
            } else {
                read_version_1(mounts + "/" + controllers + path, least);
                read_version_1(mounts + "/cpu" + path, least);
            }
            if (path.empty()) {
                break;
            }
        }
    }
    return least;
}

}  // namespace detail

unsigned available_parallelism() noexcept {
    unsigned count = allowed_processors();
    if (const std::optional<double> quota = detail::cpu_quota(""); quota.has_value() && *quota < count) {
        count = static_cast<unsigned>(*quota);
    }
    return std::max(1U, count);
}

std::optional<LoadAverage> load_average() noexcept {
    double values[3];
    if (::getloadavg(values, 3) != 3) {
        return std::nullopt;
    }
    return LoadAverage{values[0], values[1], values[2]};
}

CpuTimes CpuTimes::now() noexcept {
    CpuTimes times;
    timespec clock{};
    ::clock_gettime(CLOCK_MONOTONIC, &clock);
    times.wall = static_cast<std::uint64_t>(clock.tv_sec) * kSecond + static_cast<std::uint64_t>(clock.tv_nsec);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    times.process_user = in_nanoseconds(usage.ru_utime);
    times.process_system = in_nanoseconds(usage.ru_stime);
    times.processors = online_processors();
    read_system(times);
    return times;
}

CpuUsage CpuUsage::between(const CpuTimes& first, const CpuTimes& last) noexcept {
    CpuUsage usage;
    if (last.wall <= first.wall) {
        return usage;
    }
    const auto since = [](std::uint64_t before, std::uint64_t after) {
        return after > before ? static_cast<double>(after - before) : 0.0;
    };
    const double wall = since(first.wall, last.wall);
    const double used = since(first.process_user, last.process_user) + since(first.process_system, last.process_system);
    const double busy = since(first.system_busy, last.system_busy);
    const double idle = since(first.system_idle, last.system_idle);
    const double whole = wall * last.processors;
    usage.seconds = wall / static_cast<double>(kSecond);
    usage.process_cores = share(used, whole) * last.processors;
    usage.process_percent = share(used, whole) * 100;
    usage.system_percent = share(busy, busy + idle) * 100;
    return usage;
}

CpuUsage cpu_usage(CpuTimes* now) noexcept {
    static std::mutex mutex;
    static CpuTimes last;
    static bool has_last = false;
    const std::lock_guard lock(mutex);
    const CpuTimes times = CpuTimes::now();
    const CpuUsage usage = has_last ? CpuUsage::between(last, times) : CpuUsage();
    last = times;
    has_last = true;
    if (now != nullptr) {
        *now = times;
    }
    return usage;
}

}  // namespace trueasync
