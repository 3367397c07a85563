#include <trueasync/reactor/work_lane.hpp>

#include <pthread.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <thread>
#include <trueasync/reactor/system_error.hpp>
#include "reactor/fork_guard.hpp"

namespace trueasync {

namespace {

/// While it lives new threads inherit a mask in which every signal is blocked that is not the thread's own fault.
class SignalsBlocked {
public:
    SignalsBlocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
            sigdelset(&all, signal);
        }
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_;
};

}  // namespace

bool WorkItem::recall() noexcept { return lane_->cancel(static_cast<LaneItem&>(*this)); }

WorkLane& WorkLane::dns() {
    static auto* lane = new WorkLane({.name = "dns", .max_threads = 32});
    return *lane;
}

WorkLane& WorkLane::work() {
    static auto* lane =
        new WorkLane({.name = "work", .max_threads = std::max<std::size_t>(4, std::thread::hardware_concurrency())});
    return *lane;
}

WorkLane& WorkLane::file() {
    static auto* lane = new WorkLane({.name = "file", .max_threads = 16});
    return *lane;
}

WorkLane::WorkLane(WorkLaneSettings settings) : settings_(std::move(settings)) {
    settings_.max_threads = std::max<std::size_t>(1, settings_.max_threads);
    detail::ForkGuard::instance().add(*this);
}

WorkLane::~WorkLane() {
    detail::ForkGuard::instance().remove(*this);
    std::unique_lock lock(mutex_);
    ++stopping_;
    wake_.notify_all();
    ended_.wait(lock, [this] { return stats_.threads == 0; });
}

Status WorkLane::submit(Reactor& reactor, WorkItem& item) {
    if (Status status = item.expect(reactor); !status) {
        return status;
    }
    Status status = submit(item);
    if (!status) {
        item.forget();
    }
    return status;
}

bool WorkLane::cancel(WorkItem& item) noexcept {
    if (!cancel(static_cast<LaneItem&>(item))) {
        return false;
    }
    item.forget();
    return true;
}

Status WorkLane::submit(LaneItem& item) {
    const std::lock_guard lock(mutex_);
    if (stats_.queued >= settings_.max_queued) {
        return Status::failure(
            ErrorCode::QueueFull, "lane '" + settings_.name + "' is full: " + std::to_string(stats_.running) +
                                      " at work, " + std::to_string(stats_.queued) + " waiting"
        );
    }
    // One thread more when those that are idle all have something to fetch already.
    if (stats_.queued >= stats_.idle && stats_.threads < settings_.max_threads) {
        if (const int error = start_thread(); error != 0 && stats_.threads == 0) {
            return system_failure(error, "start a thread of the lane '" + settings_.name + "'");
        }
    }
    item.lane_ = this;
    item.state_.store(LaneItem::State::Queued, std::memory_order_relaxed);
    queue_.push_back(item);
    ++stats_.queued;
    wake_.notify_one();
    return {};
}

bool WorkLane::cancel(LaneItem& item) noexcept {
    const std::lock_guard lock(mutex_);
    if (item.state() != LaneItem::State::Queued) {
        return false;
    }
    static_cast<ListNode<LaneItem>&>(item).unlink();
    item.state_.store(LaneItem::State::Idle, std::memory_order_relaxed);
    --stats_.queued;
    return true;
}

int WorkLane::start_thread() noexcept {
    const SignalsBlocked blocked;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, &WorkLane::thread_main, this);
    pthread_attr_destroy(&attributes);
    stats_.threads += error == 0 ? 1 : 0;
    return error;
}

void* WorkLane::thread_main(void* lane) {
    auto& self = *static_cast<WorkLane*>(lane);
#if defined(__linux__)
    pthread_setname_np(pthread_self(), ("ta-" + self.settings_.name).substr(0, 15).c_str());
#endif
    self.serve();
    return nullptr;
}

void WorkLane::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (LaneItem* item = queue_.pop_front()) {
            item->state_.store(LaneItem::State::Running, std::memory_order_relaxed);
            --stats_.queued;
            ++stats_.running;
            lock.unlock();
            item->execute();
            lock.lock();
            --stats_.running;
            ++stats_.completed;
            continue;
        }
        if (stopping_ != 0 || stats_.threads > settings_.max_threads) {
            break;
        }
        ++stats_.idle;
        const bool is_idle_over = wake_.wait_for(lock, settings_.idle) == std::cv_status::timeout;
        --stats_.idle;
        if (is_idle_over && queue_.empty()) {
            break;
        }
    }
    if (--stats_.threads == 0) {
        ended_.notify_all();  // under the lock: the lane may be gone right after
    }
}

void WorkLane::set_limits(std::size_t max_threads, std::size_t max_queued) {
    const std::lock_guard lock(mutex_);
    settings_.max_threads = std::max<std::size_t>(1, max_threads);
    settings_.max_queued = max_queued;
    for (std::size_t left = stats_.queued; left > stats_.idle && stats_.threads < settings_.max_threads; --left) {
        if (start_thread() != 0) {
            break;
        }
    }
    wake_.notify_all();
}

bool WorkLane::stop_threads(Duration patience) {
    std::unique_lock lock(mutex_);
    ++stopping_;
    wake_.notify_all();
    const bool has_ended = ended_.wait_for(lock, patience, [this] { return stats_.threads == 0; });
    --stopping_;
    return has_ended;
}

WorkLaneStats WorkLane::stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
}

std::size_t WorkLane::max_threads() const {
    const std::lock_guard lock(mutex_);
    return settings_.max_threads;
}

void WorkLane::after_fork(bool is_child) noexcept {
    if (is_child) {
        // The threads exist in the parent only, and what they were waiting on remembers them.
        new (&wake_) std::condition_variable;
        new (&ended_) std::condition_variable;
        while (LaneItem* item = queue_.pop_front()) {
            item->state_.store(LaneItem::State::Idle, std::memory_order_relaxed);
        }
        stats_ = {};
        stopping_ = 0;
    }
    mutex_.unlock();
}

}  // namespace trueasync
