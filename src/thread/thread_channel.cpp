#include <trueasync/thread/thread_channel.hpp>

#include <algorithm>
#include <climits>
#include <vector>

#include "reactor/fork_generation.hpp"
#include "thread/thread_end.hpp"

namespace trueasync {

namespace {

/// The channels that were made on this thread.
struct Enrolled {
    std::vector<std::weak_ptr<ThreadChannelCore>> channels;

    Enrolled() = default;
    Enrolled(const Enrolled&) = delete;
    Enrolled& operator=(const Enrolled&) = delete;
    ~Enrolled() { close_all(); }

    void close_all() noexcept {
        for (const auto& weak : std::exchange(channels, {})) {
            if (const std::shared_ptr<ThreadChannelCore> channel = weak.lock()) {
                channel->close();
            }
        }
    }
};

thread_local Enrolled enrolled;

Status closed_status() { return Status::failure(ErrorCode::ChannelClosed, "ThreadChannel is closed"); }

Instant now() noexcept {
    Scheduler* scheduler = Scheduler::current();
    return scheduler != nullptr ? scheduler->reactor().now() : std::chrono::steady_clock::now();
}

}  // namespace

void detail::close_channels_of_this_thread() noexcept { enrolled.close_all(); }

Status ThreadChannelCore::check(std::size_t capacity) {
    if (capacity < 1 || capacity > INT_MAX) {
        return Status::failure(ErrorCode::InvalidArgument, "capacity must be between 1 and 2147483647");
    }
    return {};
}

ThreadChannelCore::ThreadChannelCore(std::size_t capacity) noexcept
    : capacity_(capacity), fork_generation_(detail::fork_generation()) {
    detail::watch_forks();
}

ThreadChannelCore::~ThreadChannelCore() = default;

void ThreadChannelCore::enroll() {
    auto& channels = enrolled.channels;
    if (channels.size() == channels.capacity()) {  // before it grows: those that are gone need no place
        std::erase_if(channels, [](const auto& channel) { return channel.expired(); });
    }
    channels.push_back(weak_from_this());
}

void ThreadChannelCore::close() noexcept {
    if (is_forked()) {
        return;
    }
    const Lock lock(mutex_);
    is_closed_ = true;
    senders_.wake_all();
    receivers_.wake_all();
}

/// In the child of a fork nobody is at the other end, and a thread of the parent may have had the lock.
bool ThreadChannelCore::is_forked() const noexcept { return fork_generation_ != detail::fork_generation(); }

bool ThreadChannelCore::is_closed() const noexcept {
    if (is_forked()) {
        return true;
    }
    const Lock lock(mutex_);
    return is_closed_;
}

std::size_t ThreadChannelCore::count() const noexcept {
    if (is_forked()) {
        return 0;
    }
    const Lock lock(mutex_);
    return count_;
}

std::string ThreadChannelCore::info() const {
    return "ThreadChannel(" + std::to_string(count()) + "/" + std::to_string(capacity_) +
           (is_closed() ? ", closed)" : ")");
}

WaitResult ThreadChannelCore::refuse_closed() const noexcept { return Scheduler::refuse(closed_status().take()); }

/// A token that has fired already ends the call before anything else is looked at.
WaitResult ThreadChannelCore::check_token(const WaitLimit& limit, std::source_location where) noexcept {
    if (limit.is_none() || !limit.deadline().is_never() || Scheduler::current() == nullptr) {
        return WaitResult::Ready;
    }
    WaitGuard guard(where);
    limit.add_to(guard);
    return guard.fired() != nullptr || guard.result() != WaitResult::Ready ? guard.park() : WaitResult::Ready;
}

WaitResult ThreadChannelCore::begin_send(Lock& lock, const WaitLimit& limit, std::source_location where) noexcept {
    if (is_forked()) {
        return refuse_closed();
    }
    if (const WaitResult result = check_token(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const WaitLimit fixed = limit.is_none() ? limit : limit.fixed(now());
    lock = Lock(mutex_);
    for (bool has_waited = false;; has_waited = true) {
        if (is_closed_) {
            return refuse_closed();
        }
        if (count_ < capacity_) {
            return WaitResult::Ready;
        }
        const WaitResult result =
            senders_.wait(lock, shared_from_this(), {"ThreadChannel(full)", has_waited, fixed, where});
        if (result != WaitResult::Ready) {
            return result;
        }
    }
}

WaitResult ThreadChannelCore::begin_recv(Lock& lock, const WaitLimit& limit, std::source_location where) noexcept {
    if (is_forked()) {
        return refuse_closed();
    }
    if (const WaitResult result = check_token(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const WaitLimit fixed = limit.is_none() ? limit : limit.fixed(now());
    lock = Lock(mutex_);
    for (bool has_waited = false;; has_waited = true) {
        if (count_ != 0) {
            return WaitResult::Ready;
        }
        if (is_closed_) {
            return refuse_closed();
        }
        const WaitResult result =
            receivers_.wait(lock, shared_from_this(), {"ThreadChannel(empty)", has_waited, fixed, where});
        if (result != WaitResult::Ready) {
            return result;
        }
    }
}

bool ThreadChannelCore::try_send_now(Lock& lock, Status& status) noexcept {
    if (is_forked()) {
        status = closed_status();
        return false;
    }
    lock = Lock(mutex_);
    if (is_closed_) {
        status = closed_status();
    }
    return !is_closed_ && count_ < capacity_;
}

bool ThreadChannelCore::try_recv_now(Lock& lock, Status& status) noexcept {
    if (is_forked()) {
        status = closed_status();
        return false;
    }
    lock = Lock(mutex_);
    if (is_closed_ && count_ == 0) {
        status = closed_status();
    }
    return count_ != 0;
}

void ThreadChannelCore::sent() noexcept {
    ++count_;
    receivers_.wake_one();
}

void ThreadChannelCore::received() noexcept {
    --count_;
    senders_.wake_one();
}

}  // namespace trueasync
