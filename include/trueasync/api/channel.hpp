#pragma once

/// @file trueasync/api/channel.hpp
/// Values handed from coroutine to coroutine.

#include <iterator>
#include <optional>
#include <trueasync/api/await.hpp>
#include <trueasync/api/future.hpp>
#include <trueasync/sync/channel.hpp>

namespace trueasync {

/// A channel is closed: nothing can be sent, or nothing more will come.
class TA_API ChannelClosed final : public AsyncError {
public:
    explicit ChannelClosed(const Error& error);
    ChannelCloseReason reason() const noexcept { return reason_; }

private:
    ChannelCloseReason reason_ = ChannelCloseReason::Explicit;
};

/// The timeouts of a channel; see `ChannelSettings`.
struct ChannelTimeouts {
    Duration no_producer{};
    Duration no_consumer{};
    bool is_hard = false;
};

namespace detail {

TA_API ChannelSettings checked_settings(std::int64_t capacity, ChannelSettings settings);

/// After a `recv` that gave nothing: true when the channel was closed by `close`; else throws.
TA_API TA_COLD bool ended_normally(WaitResult result);

}  // namespace detail

/// A queue between coroutines of one thread; copies are the same channel.
///
/// With a capacity of 0 a value passes from hand to hand: `send` returns when a receiver waits for it or has taken it. With more, `send`
/// waits only while that many values lie there. Values come out in the order they went in, and who waits longest is served first.
/// Cancel safety: a `recv` that throws has taken nothing: what it was woken for goes to the next receiver. A `send` that throws has
/// left nothing, with one exception: cancelled between the moment its value was taken and its own next turn it throws, too.
///
/// @snippet unit/api/channel_test.cpp  channel
template <typename T>
class Channel {
public:
    /// Throws `AsyncError` (`InvalidArgument`) for a capacity that is negative or above 2147483647.
    explicit Channel(std::int64_t capacity = 0, const ChannelTimeouts& timeouts = {})
        : channel_(make_ref<ChannelOf<T>>(
              detail::checked_settings(capacity, {0, timeouts.no_producer, timeouts.no_consumer, timeouts.is_hard})
          )) {}
    explicit Channel(Ref<ChannelOf<T>> channel) noexcept : channel_(std::move(channel)) {}

    /// Sends. May suspend. Throws `ChannelClosed`, `Cancellation`, and `TimeoutError` when the limit came first.
    TA_INLINE void send(T value, std::source_location where = std::source_location::current()) const {
        detail::check(channel_->send_away(std::move(value), where));
    }
    void send(T value, const Limit& limit, std::source_location where = std::source_location::current()) const {
        detail::check(channel_->send(value, limit, where));
    }

    /// Sends if that needs no waiting. Never suspends. With a capacity of 0 it may put one value there for a receiver to come.
    bool try_send(T value) const { return channel_->try_send(std::move(value)); }

    /// The next value. May suspend. What lies in a closed channel is received first; then it throws `ChannelClosed`.
    TA_INLINE T recv(std::source_location where = std::source_location::current()) const {
        ChannelOf<T>& channel = *channel_;
        if (channel.has_free_value()) {
            return channel.take_free();
        }
        detail::check(channel.claim(where));
        return channel.take_claimed();
    }
    T recv(const Limit& limit, std::source_location where = std::source_location::current()) const {
        ChannelOf<T>& channel = *channel_;
        detail::check(channel.claim(limit, where));
        return channel.take_claimed();
    }

    /// The next value if that needs no waiting. Never suspends.
    std::optional<T> try_recv() const {
        std::optional<T> value;
        channel_->try_recv(value);
        return value;
    }

    /// The next value as a future. Never suspends. Dropping it, with no chain behind it, takes its place in the queue back.
    Future<T> recv_async(std::source_location where = std::source_location::current()) const {
        return Future<T>(channel_->recv_async(where));
    }

    /// Nothing can be sent any more. Never suspends. Closing twice does nothing.
    void close() const noexcept { channel_->close(); }

    bool is_closed() const noexcept { return channel_->is_closed(); }
    std::size_t capacity() const noexcept { return channel_->capacity(); }
    /// How many values lie in it, those included that a receiver was woken for.
    std::size_t count() const noexcept { return channel_->count(); }
    bool is_empty() const noexcept { return channel_->is_empty(); }
    bool is_full() const noexcept { return channel_->is_full(); }
    ChannelOf<T>& event() const noexcept { return *channel_; }

    /// For `for (T& value : channel)`: receives until the channel is closed with `close` and empty. Any other end is thrown.
    class Iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;

        Iterator(Ref<ChannelOf<T>> channel, std::source_location where) : channel_(std::move(channel)), where_(where) {
            ++*this;
        }
        T& operator*() noexcept { return *value_; }
        Iterator& operator++() {
            value_.reset();
            const WaitResult result = channel_->recv(value_, {}, where_);
            if (TA_UNLIKELY(result != WaitResult::Ready)) {
                detail::ended_normally(result);
            }
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t /*end*/) const noexcept { return !value_.has_value(); }

    private:
        Ref<ChannelOf<T>> channel_;
        std::source_location where_;
        std::optional<T> value_;
    };
    /// May suspend.
    Iterator begin(std::source_location where = std::source_location::current()) const {
        return Iterator(channel_, where);
    }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    Ref<ChannelOf<T>> channel_;
};

}  // namespace trueasync
