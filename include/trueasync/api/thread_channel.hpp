#pragma once

/// @file trueasync/api/thread_channel.hpp
/// Values from thread to thread.

#include <memory>
#include <optional>
#include <source_location>
#include <trueasync/api/await.hpp>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/thread/thread_channel.hpp>
#include <utility>

namespace trueasync {

/// A bounded first-in-first-out queue between threads, and between coroutines. Copies are the same channel.
///
/// Waiting stops the coroutine; on a thread without a runtime, the thread.
/// Thread rule: any thread.
/// Cancel safety: nothing is lost; a cancelled receiver has taken nothing, a cancelled sender has sent nothing.
///
/// @snippet unit/thread/thread_channel_test.cpp  thread_channel
template <typename T>
class ThreadChannel {
public:
    /// Throws `AsyncError` (`InvalidArgument`) for a capacity of zero.
    explicit ThreadChannel(std::size_t capacity = 16) {
        detail::check(ThreadChannelCore::check(capacity));
        core_ = ThreadChannelOf<T>::create(capacity);
    }

    /// Waits while it is full; may suspend. Throws `AsyncError` (`ChannelClosed`), `Cancellation`, `TimeoutError`.
    void send(T value, const Limit& limit = {}, std::source_location where = std::source_location::current()) const {
        detail::check(core_->send(value, limit, where));
    }
    /// Waits while it is empty; may suspend. Throws the same, `ChannelClosed` only when nothing is left inside.
    T recv(const Limit& limit = {}, std::source_location where = std::source_location::current()) const {
        std::optional<T> value;
        detail::check(core_->recv(value, limit, where));
        return std::move(*value);
    }
    /// The same for loops: nothing when it is closed and nothing is left inside.
    std::optional<T> next(const Limit& limit = {}, std::source_location where = std::source_location::current()) const {
        std::optional<T> value;
        const WaitResult result = core_->recv(value, limit, where);
        if (result == WaitResult::Refused) {
            if (const Ref<Error> error = Scheduler::take_wait_error(); error->code() != ErrorCode::ChannelClosed) {
                detail::throw_error(error);
            }
            return std::nullopt;
        }
        detail::check(result);
        return value;
    }
    /// False when it is full. Throws when it is closed. Never suspends.
    bool try_send(T value) const {
        Status status;
        const bool is_sent = core_->try_send(value, status);
        detail::check(status);
        return is_sent;
    }
    /// Nothing when it is empty. Throws when it is closed and empty. Never suspends.
    std::optional<T> try_recv() const {
        std::optional<T> value;
        Status status;
        core_->try_recv(value, status);
        detail::check(status);
        return value;
    }

    /// Nothing more goes in; everybody who waits, on any thread, is woken. Again and again is fine.
    void close() const noexcept { core_->close(); }
    bool is_closed() const noexcept { return core_->is_closed(); }
    std::size_t capacity() const noexcept { return core_->capacity(); }
    std::size_t count() const noexcept { return core_->count(); }
    bool is_empty() const noexcept { return core_->is_empty(); }
    bool is_full() const noexcept { return core_->is_full(); }
    ThreadChannelOf<T>& core() const noexcept { return *core_; }

private:
    std::shared_ptr<ThreadChannelOf<T>> core_;
};

}  // namespace trueasync
