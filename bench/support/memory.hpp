#pragma once

/// @file bench/support/memory.hpp
/// What the kernel says this process holds.

#include <cstddef>
#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace bench {

/// Resident memory in KiB, or 0 when the kernel does not tell.
inline std::size_t resident_kib() {
    std::size_t total = 0;
    std::size_t resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%zu %zu", &total, &resident) != 2) {
            resident = 0;
        }
        std::fclose(file);
    }
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

/// Page tables of this process in KiB; resident memory does not contain them.
inline std::size_t page_table_kib() {
    std::size_t kib = 0;
    if (std::FILE* file = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, file) != nullptr) {
            if (std::sscanf(line, "VmPTE: %zu", &kib) == 1) {
                break;
            }
        }
        std::fclose(file);
    }
    return kib;
}

struct MemoryUse {
    std::size_t resident = resident_kib();
    std::size_t page_tables = page_table_kib();
};

/// Prints the growth since `before` as one figure, per parked coroutine.
inline void print_parked(const MemoryUse& before, const MemoryUse& after, std::size_t count) {
    const auto per_one = [count](std::size_t from, std::size_t to) {
        return (static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(count);
    };
    std::printf(
        "{\"name\":\"parked_kib\",\"unit\":\"KiB\",\"median\":%.4f,\"page_tables\":%.4f,\"count\":%zu,\"rounds\":1}\n",
        per_one(before.resident, after.resident), per_one(before.page_tables, after.page_tables), count
    );
    std::fflush(stdout);
}

}  // namespace bench
