#pragma once

/// @file trueasync/thread/thread_channel.hpp
/// A bounded queue of values between threads.

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <trueasync/thread/thread_waiters.hpp>
#include <utility>

namespace trueasync {

/// The capacity, the lock and those who wait; `ThreadChannelOf` keeps the values.
///
/// First in, first out. A full channel holds up who sends, an empty one who receives: of a thread with a runtime only the coroutine, of
/// one without the thread. Closing wakes everybody, on all threads; what is inside can still be received.
/// Thread rule: any thread.
/// Lifetime: by `std::shared_ptr`. A thread that ends closes the channels that were made on it. In the child of a fork it is closed and empty.
/// Cancel rule: a value is either sent or not, received or not: a cancelled sender has its value still, a cancelled receiver has taken none.
class TA_API ThreadChannelCore : public std::enable_shared_from_this<ThreadChannelCore> {
public:
    ThreadChannelCore(const ThreadChannelCore&) = delete;
    ThreadChannelCore& operator=(const ThreadChannelCore&) = delete;
    virtual ~ThreadChannelCore();

    /// Refuses with `InvalidArgument`: at least one, at most 2147483647.
    [[nodiscard]] static Status check(std::size_t capacity);

    void close() noexcept;
    bool is_closed() const noexcept;
    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t count() const noexcept;
    bool is_empty() const noexcept { return count() == 0; }
    bool is_full() const noexcept { return count() == capacity_; }

    /// `ThreadChannel(3/16)`, `ThreadChannel(0/16, closed)`.
    std::string info() const;

protected:
    using Lock = std::unique_lock<std::mutex>;

    explicit ThreadChannelCore(std::size_t capacity) noexcept;

    /// For whoever has made one: this thread closes it when it ends.
    void enroll();

    /// Waits for room, or for a value. Holds the lock when it is `Ready`. `Refused` with `ChannelClosed` when it is closed.
    WaitResult begin_send(Lock& lock, const WaitLimit& limit, std::source_location where) noexcept;
    WaitResult begin_recv(Lock& lock, const WaitLimit& limit, std::source_location where) noexcept;
    /// The same without waiting: false when it would.
    bool try_send_now(Lock& lock, Status& status) noexcept;
    bool try_recv_now(Lock& lock, Status& status) noexcept;
    /// One more is in, or one less. Under the lock.
    void sent() noexcept;
    void received() noexcept;

private:
    bool is_forked() const noexcept;
    WaitResult refuse_closed() const noexcept;
    static WaitResult check_token(const WaitLimit& limit, std::source_location where) noexcept;

    const std::size_t capacity_;
    const std::uint32_t fork_generation_;
    mutable std::mutex mutex_;
    // Guarded by the mutex.
    std::size_t count_ = 0;
    bool is_closed_ = false;
    ThreadWaiters senders_;
    ThreadWaiters receivers_;
};

/// A thread channel of any movable type. Whatever a value refers to must be fit for two threads.
template <typename T>
class ThreadChannelOf final : public ThreadChannelCore {
public:
    static std::shared_ptr<ThreadChannelOf> create(std::size_t capacity) {
        std::shared_ptr<ThreadChannelOf> channel(new ThreadChannelOf(capacity));
        channel->enroll();
        return channel;
    }

    /// May suspend. `value` is moved from only when it is `Ready`.
    WaitResult send(
        T& value, const WaitLimit& limit = {}, std::source_location where = std::source_location::current()
    ) noexcept {
        Lock lock;
        const WaitResult result = begin_send(lock, limit, where);
        if (result == WaitResult::Ready) {
            items_.push_back(std::move(value));
            sent();
        }
        return result;
    }

    /// May suspend.
    WaitResult recv(
        std::optional<T>& value,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept {
        Lock lock;
        const WaitResult result = begin_recv(lock, limit, where);
        if (result == WaitResult::Ready) {
            take(value);
        }
        return result;
    }

    /// False when it is full; `status` tells when it is closed.
    bool try_send(T& value, Status& status) noexcept {
        Lock lock;
        if (!try_send_now(lock, status)) {
            return false;
        }
        items_.push_back(std::move(value));
        sent();
        return true;
    }
    /// False when it is empty; `status` tells when it is closed too.
    bool try_recv(std::optional<T>& value, Status& status) noexcept {
        Lock lock;
        if (!try_recv_now(lock, status)) {
            return false;
        }
        take(value);
        return true;
    }

private:
    explicit ThreadChannelOf(std::size_t capacity) noexcept : ThreadChannelCore(capacity) {}

    void take(std::optional<T>& value) noexcept {
        value.emplace(std::move(items_.front()));
        items_.pop_front();
        received();
    }

    std::deque<T> items_;
};

}  // namespace trueasync
