#pragma once

/// @file trueasync/sync/channel.hpp
/// Values handed from coroutine to coroutine, in order.

#include <bit>
#include <memory>
#include <new>
#include <optional>
#include <trueasync/reactor/timer.hpp>
#include <trueasync/runtime/owner.hpp>
#include <trueasync/sync/future.hpp>
#include <trueasync/sync/waiter.hpp>
#include <type_traits>
#include <utility>

namespace trueasync {

/// Why a channel was closed. The first reason stays.
enum class ChannelCloseReason : std::uint8_t { Explicit, Disposed, NoProducers, NoConsumers, Deadlock, ScopeDisposed };

/// `explicit`, `disposed`, `no producers timeout`, ...
TA_API std::string_view to_string(ChannelCloseReason reason) noexcept;

/// What a closed channel says.
class TA_API ChannelError final : public Error {
public:
    static Ref<Error> make(ChannelCloseReason reason);

    ChannelCloseReason close_reason() const noexcept { return reason_; }

    /// `error` if it is one; null if not.
    static const ChannelError* of(const Error* error) noexcept;

private:
    explicit ChannelError(ChannelCloseReason reason);

    ChannelCloseReason reason_;
};

struct ChannelSettings {
    /// The largest capacity there is.
    static constexpr std::uint32_t kMaxCapacity = INT32_MAX;

    /// How many values may lie in it. 0: a value passes from hand to hand.
    std::uint32_t capacity = 0;
    /// Closes the channel when a receiver has waited that long; zero: never.
    Duration no_producer_timeout{};
    /// The same for a sender.
    Duration no_consumer_timeout{};
    /// The timeouts keep the loop alive and are always waited for to the end. Else they do not, and when nothing but them could happen
    /// the channel is closed at once, with `Deadlock`.
    bool hard_timeouts = false;
    /// It is closed when the scope it was made in is cancelled or disposed.
    bool has_owner = true;
};

/// Waiting, reserving, closing: everything but the values, which `ChannelOf` keeps.
///
/// Who is woken owns what he was woken for, until he takes it or leaves: a value in the ring, or a free place. Others go past that. So
/// `count` tells what lies in the ring, not what the next one may take.
///
/// As an event it fires when a value is there that nobody was woken for, and when it is closed.
/// Thread rule: its thread only.
/// Lifetime: counted or of the host. Belongs to the owner that was current when it was made, which closes it when it goes; neither keeps
/// the other alive. It must outlive those who wait in it.
/// Cancel rule: a receiver that was woken and is cancelled before it runs hands its value to the next; a sender that is cancelled
/// takes its value back, unless somebody has taken it.
class TA_API ChannelEvent : public Event {
public:
    std::uint32_t capacity() const noexcept { return capacity_; }
    /// How many values lie in it.
    std::size_t count() const noexcept { return held(); }
    bool is_empty() const noexcept { return held() == 0; }
    bool is_full() const noexcept { return held() >= place_count(); }

    std::size_t reserved_values() const noexcept { return held() - free_values_; }
    std::size_t reserved_places() const noexcept { return reserved_places_; }
    std::size_t waiting_receivers() const noexcept { return receivers_.size(); }
    std::size_t waiting_senders() const noexcept {
        return senders_.size() + offers_.size() + (placed_ != nullptr ? 1 : 0);
    }

    /// Nothing can be sent any more; what lies in it can still be received. All who wait are told. Does nothing the second time.
    void close(ChannelCloseReason reason = ChannelCloseReason::Explicit) noexcept;
    /// Only when it is closed.
    ChannelCloseReason close_reason() const noexcept { return reason_; }

    /// Whether a value, or a place for one, is anybody's.
    TA_INLINE bool has_free_value() const noexcept { return free_values_ != 0; }
    TA_INLINE bool has_free_place() const noexcept { return held() + reserved_places_ < place_limit_; }
    /// Whether a value could be sent without waiting.
    TA_INLINE bool is_sending_easy() const noexcept {
        return TA_LIKELY(has_free_place() && (!receivers_.empty() || capacity() != 0));
    }

    // --- receiving in two steps, for who builds the value himself

    /// Waits until a value is the caller's own, which he must then take at once, with `take_claimed`. May suspend. Closed and empty:
    /// `Failed`, with a `ChannelError`.
    TA_INLINE WaitResult claim(std::source_location where) noexcept {
        if (TA_UNLIKELY(!is_plain_)) {
            return claim_slow(where);
        }
        detail::Waiter waiter;
        const Coroutine* self = Scheduler::wait_direct(receiving_, where, [&](Coroutine& coroutine) {
            detail::Waiter* here = &waiter;
            asm volatile("" : "+r"(here));  // or its address would be kept in memory across the switch
            here->set_coroutine(&coroutine);
            receivers_.push_back(*here);
        });
        if (TA_UNLIKELY(self == nullptr)) {
            return claim_slow(where);
        }
        return TA_LIKELY(Scheduler::is_undisturbed(*self) && waiter.is_served()) ? WaitResult::Ready
                                                                                 : end_claim(waiter, where);
    }
    WaitResult claim(const WaitLimit& limit, std::source_location where) noexcept;
    /// The same without waiting.
    bool try_claim() noexcept;

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    /// `Channel(capacity=1, receivers=1, senders=0, reserved=1/0)`.
    std::string info() const override;

    // --- for those who wait in it

    /// `kPlaced`: its value lies in the slot; `kOffer`: has a value for a receiver, if one comes.
    enum Kind : std::uint8_t { kReceiver, kSender, kPlaced, kOffer };

    /// A coroutine that waits here will not come back.
    void abandon(Coroutine& coroutine, std::uint8_t kind) noexcept;
    /// Whether it was not told anything yet.
    bool is_waiting(const Coroutine& coroutine, std::uint8_t kind) const noexcept;
    /// Takes a waiter out, or hands on what it was served with.
    void leave(detail::Waiter& waiter, std::uint8_t kind) noexcept;
    /// Puts it behind the others. Only when it has to wait, and only while the channel is open.
    void enter(detail::Waiter& waiter, std::uint8_t kind) noexcept;
    /// Sends without waiting, to a receiver or into the ring, never into an empty slot; `value` is moved from with `Ready`. `TimedOut`: not
    /// now. `has_place`: the caller was woken for one, which is used with `Ready`.
    WaitResult try_deliver(void* value, bool has_place) noexcept;
    /// Closed, and nothing to receive.
    WaitResult refuse_closed() const noexcept;
    /// A value, or a place, that somebody was woken for is not wanted: it goes to the next, or becomes free.
    void hand_on_value() noexcept;
    void hand_on_place() noexcept;

protected:
    explicit ChannelEvent(const ChannelSettings& settings) noexcept;
    ~ChannelEvent() override;

    std::uint32_t held() const noexcept { return tail_ - head_; }
    std::uint32_t place_count() const noexcept { return capacity_ != 0 ? capacity_ : 1; }

    /// A value has been put at the end: it is the first receiver's, or anybody's.
    TA_INLINE void announce() noexcept {
        if (TA_LIKELY(!receivers_.empty())) {
            serve_first(receivers_);
        } else {
            ++free_values_;
            if (TA_UNLIKELY(!callbacks_.is_vacant())) {
                fire();
            }
        }
    }

    /// A value has been taken from the front: its sender is done, and the place is the next one's.
    TA_INLINE void vacate() noexcept {
        if (TA_UNLIKELY(placed_ != nullptr || !senders_.empty() || !is_plain_)) {
            serve_senders();
        }
    }

    /// Makes a free value of an offer, if there is one and the slot is free.
    bool pull_offer() noexcept { return TA_UNLIKELY(!offers_.empty()) && take_offer(); }

    /// `send` in all its cases; moves from `value` when it is sent, and back when it was not taken.
    WaitResult send_long(void* value, const WaitLimit& limit, std::source_location where) noexcept;
    TA_COLD WaitResult send_slow(void* value, std::source_location where) noexcept;

    Ref<Error> closed_error() const { return ChannelError::make(reason_); }
    /// There is memory for so many values now.
    void set_room(std::uint32_t room) noexcept;
    /// The last words of the typed part, while it is still whole.
    void end_life() noexcept { close(ChannelCloseReason::Disposed); }

    // --- what the typed part does

    /// Moves `value` to the end of the ring. False: no memory.
    virtual bool put(void* value) noexcept = 0;
    /// Moves the last value out of the ring.
    virtual void take_back(void* value) noexcept = 0;
    /// Moves the value at `index` to the front.
    virtual void bring_forward(std::uint32_t index) noexcept = 0;

    // The order matters: all that a hand-over touches is one cache line, and it writes little.
    std::uint32_t head_ = 0;  // both only grow, and wrap; the difference is what lies in the ring
    std::uint32_t tail_ = 0;
    std::uint32_t place_limit_ = 1;      // places that exist and have memory; 0 when it is closed
    std::uint32_t free_values_ = 0;      // the last ones; those before are of receivers that were woken
    std::uint32_t reserved_places_ = 0;  // of senders that were woken
    bool is_plain_ = true;               // open, no timeouts, no offers
    ChannelCloseReason reason_ = ChannelCloseReason::Explicit;
    detail::WaiterList receivers_;      // none while there is a free value
    detail::Waiter* placed_ = nullptr;  // unbuffered: whose value lies there and was not taken yet
    detail::WaiterList senders_;        // none while there is a free place

private:
    class Watch;

    /// What the owner of the channel knows of it.
    class Belonging final : public Dependent {
    public:
        explicit Belonging(ChannelEvent& channel) noexcept : channel_(channel) {}
        void owner_gone() noexcept override { channel_.close(ChannelCloseReason::ScopeDisposed); }

    private:
        ChannelEvent& channel_;
    };

    TA_INLINE void serve_first(detail::WaiterList& list) noexcept {
        detail::Waiter& first = list.pop_front();
        if (TA_UNLIKELY(!is_plain_)) {
            update_watch(list, true);
        }
        first.tell(detail::Waiter::State::Served);
    }

    TA_COLD WaitResult end_claim(detail::Waiter& waiter, std::source_location where) noexcept;
    TA_COLD WaitResult claim_slow(std::source_location where) noexcept;
    WaitResult wait_in(
        detail::WaitPlace<ChannelEvent>& place,
        void* value,
        const WaitLimit& limit,
        std::source_location where,
        bool& is_served
    ) noexcept;
    void serve_senders() noexcept;
    void serve_place() noexcept;
    void withdraw() noexcept;
    bool take_offer() noexcept;
    void match_offers() noexcept;
    void accept(detail::Waiter& offer) noexcept;
    void note_offers() noexcept { is_plain_ = place_limit_ != 0 && watch_ == nullptr && offers_.empty(); }
    void update_watch(const detail::WaiterList& list, bool is_new) noexcept;
    TA_COLD void fire() noexcept;

    std::unique_ptr<Watch> watch_;  // null without timeouts
    detail::WaiterList offers_;     // unbuffered; always a group's
    Belonging belonging_{*this};
    detail::WaitPlace<ChannelEvent> receiving_{*this, kReceiver};
    detail::WaitPlace<ChannelEvent> sending_{*this, kSender};
    detail::WaitPlace<ChannelEvent> placing_{*this, kPlaced};
    std::uint32_t capacity_;
};

/// A channel with its values, of any type that moves without throwing; a host's counted value is one of them.
template <typename T>
class ChannelOf : public ChannelEvent {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a value must not be lost on its way");

public:
    explicit ChannelOf(const ChannelSettings& settings = {}) noexcept : ChannelEvent(settings), items_(&first_) {}
    ~ChannelOf() override {
        end_life();
        while (held() != 0) {
            std::destroy_at(&at(head_++));
        }
        if (items_ != &first_) {
            std::allocator<T>().deallocate(items_, room());
        }
    }

    /// Sends. May suspend. `value` is moved from when it was sent (`Ready`); else it is as it was. Closed: `Failed`, with a
    /// `ChannelError`.
    TA_INLINE WaitResult send(T& value, std::source_location where = std::source_location::current()) noexcept {
        if (is_sending_easy()) {
            push(std::move(value));
            announce();
            return WaitResult::Ready;
        }
        return send_slow(&value, where);
    }
    TA_INLINE WaitResult send(T&& value, std::source_location where = std::source_location::current()) noexcept {
        return send(value, where);
    }
    /// The same for who does not want the value back.
    TA_INLINE WaitResult send_away(T value, std::source_location where) noexcept {
        if (is_sending_easy()) {
            push(std::move(value));
            announce();
            return WaitResult::Ready;
        }
        return send_away_slow(std::move(value), where);
    }
    WaitResult send(
        T& value, const WaitLimit& limit, std::source_location where = std::source_location::current()
    ) noexcept {
        return limit.is_none() ? send(value, where) : send_long(&value, limit, where);
    }
    WaitResult send(
        T&& value, const WaitLimit& limit, std::source_location where = std::source_location::current()
    ) noexcept {
        return send(value, limit, where);
    }

    /// Sends if that needs no waiting; unbuffered, also when the slot is just free. False: not sent, `value` is as it was.
    bool try_send(T&& value) noexcept {
        if (!has_free_place() && !(has_room_to_grow() && grow())) {
            return false;
        }
        push(std::move(value));
        announce();
        return true;
    }

    /// Receives into `value`. May suspend.
    WaitResult recv(
        std::optional<T>& value,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept {
        if (TA_LIKELY(limit.is_none() && has_free_value())) {
            value.emplace(take_free());
            return WaitResult::Ready;
        }
        const WaitResult result = claim(limit, where);
        if (TA_LIKELY(result == WaitResult::Ready)) {
            value.emplace(take_claimed());
        }
        return result;
    }

    /// Receives if that needs no waiting.
    bool try_recv(std::optional<T>& value) noexcept {
        if (!has_free_value() && !pull_offer()) {
            return false;
        }
        value.emplace(take_free());
        return true;
    }

    /// The next value as a future; complete already if there is one. A future that is dropped takes nothing.
    Ref<FutureOf<T>> recv_async(PlaceNote where = {});

    /// After `claim`: the value.
    TA_INLINE T take_claimed() noexcept { return pop(); }

    /// Precondition: `has_free_value`.
    TA_INLINE T take_free() noexcept {
        if (TA_UNLIKELY(held() != free_values_)) {
            bring_forward(held() - free_values_);
        }
        --free_values_;
        return pop();
    }

    /// Calls `visit(T&)` for each value, the oldest first; for a host's collector.
    template <typename Visit>
    void each_value(Visit&& visit) {
        for (std::uint32_t i = head_; i != tail_; ++i) {
            visit(at(i));
        }
    }

    /// Calls `visit(FutureOf<T>&)` for each future of `recv_async` that is kept by waiting here, for the sake of its chain; for a host's collector.
    template <typename Visit>
    void each_kept(Visit&& visit) {
        receivers_.each([&](detail::Waiter& waiter) {
            if (Reception* reception = Reception::of(waiter); reception != nullptr && reception->is_kept()) {
                visit(static_cast<FutureOf<T>&>(*reception));
            }
        });
    }

private:
    class Reception;

    std::uint32_t room() const noexcept { return mask_ + 1; }
    TA_INLINE T& at(std::uint32_t index) noexcept { return items_[index & mask_]; }

    TA_INLINE void push(T&& value) noexcept {
        new (&at(tail_)) T(std::move(value));
        ++tail_;
    }
    TA_INLINE T pop() noexcept {
        T& first = at(head_);
        T value(std::move(first));
        std::destroy_at(&first);
        ++head_;
        vacate();
        return value;
    }

    bool has_room_to_grow() const noexcept {
        return !is_closed() && held() + reserved_places_ < place_count() && held() == room();
    }
    TA_COLD bool grow() noexcept;
    /// By value: of a reference the compiler would make a store on the fast way too.
    TA_COLD WaitResult send_away_slow(T value, std::source_location where) noexcept { return send_slow(&value, where); }

    bool put(void* value) noexcept override {
        if (held() == room() && !grow()) {
            return false;
        }
        push(std::move(*static_cast<T*>(value)));
        return true;
    }
    void take_back(void* value) noexcept override {
        T& last = at(--tail_);
        auto& target = *static_cast<T*>(value);
        std::destroy_at(&target);
        new (&target) T(std::move(last));
        std::destroy_at(&last);
    }
    void bring_forward(std::uint32_t index) noexcept override {
        T value(std::move(at(head_ + index)));
        for (std::uint32_t i = head_ + index; i != head_; --i) {
            std::destroy_at(&at(i));
            new (&at(i)) T(std::move(at(i - 1)));
        }
        std::destroy_at(&at(head_));
        new (&at(head_)) T(std::move(value));
    }

    T* items_;
    std::uint32_t mask_ = 0;
    union {
        T first_;  // the ring as long as one place is enough
    };
};

template <typename T>
bool ChannelOf<T>::grow() noexcept {
    const std::uint32_t wider = room() < 8 ? 8 : room() * 2;
    T* items = nullptr;
    try {
        items = std::allocator<T>().allocate(wider);
    } catch (const std::bad_alloc&) {
        return false;
    }
    for (std::uint32_t i = head_; i != tail_; ++i) {
        new (&items[i & (wider - 1)]) T(std::move(at(i)));
        std::destroy_at(&at(i));
    }
    if (items_ != &first_) {
        std::allocator<T>().deallocate(items_, room());
    }
    items_ = items;
    mask_ = wider - 1;
    set_room(wider);
    return true;
}

/// The future of `recv_async`: waits itself in the channel, which does not hold it; with a chain behind it, it holds itself.
template <typename T>
class ChannelOf<T>::Reception final : public FutureOf<T> {
public:
    Reception(ChannelOf& channel, PlaceNote where) noexcept
        : FutureOf<T>(std::move(where)), channel_(channel), waiter_(&Reception::serve, this) {
        channel.enter(waiter_, kReceiver);
        this->set_notify_handler([](Event& self, void*&, Error*&) {
            static_cast<Reception&>(self).leave();  // completed by somebody else: no value is wanted any more
            static_cast<Reception&>(self).let_go();
            return Event::Notify::Continue;
        });
    }
    ~Reception() override { leave(); }

    /// Null when it is another's.
    static Reception* of(detail::Waiter& waiter) noexcept {
        return waiter.is_told_by(&Reception::serve) ? static_cast<Reception*>(waiter.value()) : nullptr;
    }
    bool is_kept() const noexcept { return is_kept_; }

protected:
    void on_chained() noexcept override {
        if (waiter_.is_waiting() && !std::exchange(is_kept_, true)) {
            this->add_ref();
        }
    }

private:
    static void serve(detail::Waiter& waiter, detail::Waiter::State state) noexcept {
        auto& self = *static_cast<Reception*>(waiter.value());
        const Ref<Reception> kept(&self);
        if (state != detail::Waiter::State::Served) {
            self.fail(self.channel_.closed_error()).ignore();
        } else if (self.is_completed()) {
            self.channel_.hand_on_value();
        } else {
            ++self.channel_.free_values_;  // takes it at once: the last one that was put aside
            self.complete(self.channel_.take_free()).ignore();
        }
    }
    void leave() noexcept {
        if (waiter_.is_waiting()) {
            channel_.leave(waiter_, kReceiver);
            waiter_.give_up();
        }
    }
    void let_go() noexcept {
        if (std::exchange(is_kept_, false)) {
            this->release();  // whoever completes it holds it
        }
    }

    ChannelOf& channel_;  // gone once the waiter was told
    detail::Waiter waiter_;
    bool is_kept_ = false;
};

template <typename T>
Ref<FutureOf<T>> ChannelOf<T>::recv_async(PlaceNote where) {
    if (!has_free_value() && !pull_offer() && !is_closed()) {
        return make_ref<Reception>(*this, std::move(where));
    }
    Ref<FutureOf<T>> future = make_ref<FutureOf<T>>(where);
    if (has_free_value()) {
        future->complete(take_free(), where).ignore();
    } else {
        future->fail(closed_error(), where).ignore();
    }
    return future;
}

}  // namespace trueasync
