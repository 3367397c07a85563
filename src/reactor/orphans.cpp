#include "orphans.hpp"

#include <sys/wait.h>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <vector>

namespace trueasync::detail {

namespace {

constinit std::mutex mutex;
constinit std::atomic<std::size_t> count = 0;

std::vector<pid_t>& orphans() {
    static auto* const list = new std::vector<pid_t>();  // a thread may come by while the process ends
    return *list;
}

bool is_collected(pid_t pid) noexcept {
    pid_t result = 0;
    do {
        result = ::waitpid(pid, nullptr, WNOHANG);
    } while (result < 0 && errno == EINTR);
    return result != 0;  // also when it is no longer ours
}

}  // namespace

void adopt_orphan(pid_t pid) noexcept {
    if (is_collected(pid)) {
        return;
    }
    const std::lock_guard lock(mutex);
    try {
        orphans().push_back(pid);
        count = orphans().size();
    } catch (const std::bad_alloc&) {
        return;  // one zombie
    }
}

void collect_orphans() noexcept {
    if (count == 0) {
        return;
    }
    const std::unique_lock lock(mutex, std::try_to_lock);  // who holds it does the same, or is the parent of this fork
    if (lock.owns_lock()) {
        std::erase_if(orphans(), &is_collected);
        count = orphans().size();
    }
}

std::size_t orphan_count() noexcept { return count; }

}  // namespace trueasync::detail
