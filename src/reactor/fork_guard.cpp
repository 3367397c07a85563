#include "reactor/fork_guard.hpp"

#include <pthread.h>
#include <algorithm>
#include <trueasync/reactor/loop_return.hpp>
#include <trueasync/reactor/work_lane.hpp>

namespace trueasync::detail {

ForkGuard& ForkGuard::instance() {
    static auto* guard = new ForkGuard;
    return *guard;
}

ForkGuard::ForkGuard() {
    pthread_atfork([] { instance().before(); }, [] { instance().after(false); }, [] { instance().after(true); });
}

void ForkGuard::before() noexcept {
    // Tables are locked before our own lock is: who holds one may be about to make a lane.
    mutex_.lock();
    std::size_t locked = 0;
    while (locked < tables_.size()) {  // there may be more of them after each step
        std::mutex& table = *tables_[locked++].mutex;
        mutex_.unlock();
        table.lock();
        mutex_.lock();
    }
    for (WorkLane* lane : lanes_) {
        lane->before_fork();
    }
    for (LoopReturns* returns : returns_) {
        returns->before_fork();
    }
}

void ForkGuard::after(bool is_child) noexcept {
    for (WorkLane* lane : lanes_) {
        lane->after_fork(is_child);
    }
    for (LoopReturns* returns : returns_) {
        returns->after_fork(is_child);
    }
    for (const Table& table : tables_) {
        if (is_child) {
            table.after_in_child();
        }
        table.mutex->unlock();
    }
    mutex_.unlock();
}

void ForkGuard::add_table(std::mutex& mutex, void (*after_in_child)() noexcept) {
    const std::lock_guard lock(mutex_);
    tables_.push_back({&mutex, after_in_child});
}

void ForkGuard::add(WorkLane& lane) {
    const std::lock_guard lock(mutex_);
    lanes_.push_back(&lane);
}

void ForkGuard::remove(WorkLane& lane) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(lanes_, &lane);
}

void ForkGuard::add(LoopReturns& returns) {
    const std::lock_guard lock(mutex_);
    returns_.push_back(&returns);
}

void ForkGuard::remove(LoopReturns& returns) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(returns_, &returns);
}

}  // namespace trueasync::detail
