#pragma once

/// @file trueasync/sync/pool.hpp
/// A bounded stock of things that are costly to make, and a circuit breaker in front of it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <trueasync/base/deadline.hpp>
#include <trueasync/base/place.hpp>
#include <trueasync/runtime/wait.hpp>
#include <type_traits>
#include <utility>

namespace trueasync {

class PoolEvent;

enum class CircuitBreakerState : std::uint8_t {
    Active,      ///< everything goes
    Inactive,    ///< nothing is given out
    Recovering,  ///< given out again, on trial
};

/// Decides when a pool's breaker opens and closes, by calling its setters. What it returns is what it failed with, or null.
///
/// Thread rule: called on the pool's thread, by those who acquire and release; may suspend.
class TA_API CircuitBreakerStrategy {
public:
    virtual ~CircuitBreakerStrategy() = default;

    /// A resource came back in order.
    virtual Ref<Error> report_success(PoolEvent& source) = 0;
    /// A resource came back and was rejected.
    virtual Ref<Error> report_failure(PoolEvent& source, Error& error) = 0;
    /// Asked while inactive, by everyone who comes: true lets the breaker recover.
    virtual Ref<Error> should_recover(bool& answer) = 0;
};

/// Which question a pool asks about a resource.
enum class PoolCheck : std::uint8_t { Health, BeforeAcquire, BeforeRelease };

/// What a pool calls. Everything may suspend; what is returned is what it failed with, or null. Nothing throws.
template <typename T>
class PoolHooks {
public:
    virtual ~PoolHooks() = default;

    /// Puts a new resource into `slot`.
    virtual Ref<Error> create(std::optional<T>& slot) = 0;
    /// The last call for a resource.
    virtual Ref<Error> destroy(T& /*resource*/) { return {}; }
    /// Asked only what the settings say there is.
    virtual Ref<Error> check(PoolCheck /*question*/, T& /*resource*/, bool& answer) {
        answer = true;
        return {};
    }
};

struct TA_API PoolSettings {
    std::size_t min = 0;
    std::size_t max = 10;
    Duration healthcheck_interval = Duration::zero();  ///< zero: never
    bool has_healthcheck = false;
    bool has_before_acquire = false;
    bool has_before_release = false;

    /// Refuses with `InvalidArgument`: at least one, and not less than `min`.
    [[nodiscard]] Status check() const;
};

struct PoolStats {
    std::uint64_t acquired = 0;
    std::uint64_t released = 0;
    std::uint64_t created = 0;
    std::uint64_t destroyed = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t waits = 0;        ///< how many had to wait
    std::size_t longest_queue = 0;  ///< how many at once
};

/// Counts places, keeps the line of those who wait, and drives the hooks; `PoolOf` keeps the resources.
///
/// A place is a resource or the room for one. Who comes and finds none waits; a place that becomes free is reserved for the first of
/// them, and nobody overtakes. Who was woken and leaves without it (cancelled, too late, the breaker) hands it to the next.
/// Whatever is being made, or is inside a hook, counts as active, so that a hook that suspends never lets the pool grow beyond `max`.
/// Thread rule: its thread only.
/// Lifetime: counted or of the host. Who waits holds it. Its end closes it.
/// Cancel rule: a cancelled waiter leaves the line; nothing is lost.
class TA_API PoolEvent : public Event {
public:
    std::size_t idle_count() const noexcept { return tail_ - head_; }
    std::size_t active_count() const noexcept { return active_; }
    std::size_t count() const noexcept { return idle_count() + active_; }
    /// How many places wait for somebody who was woken and has not run yet.
    std::size_t reserved_count() const noexcept { return reserved_idle_ + reserved_room_; }
    std::size_t waiting_count() const noexcept { return waiting_; }
    bool is_shut() const noexcept { return (attention_ & kShut) != 0; }
    const PoolSettings& settings() const noexcept { return settings_; }
    PoolStats stats() const noexcept;

    /// Makes the first `min` and starts the health check, on the loop of this thread. Stops at the first failure, and keeps
    /// what it has made. May suspend.
    [[nodiscard]] Status open();

    /// Nobody gets anything any more: who waits fails with `PoolClosed`, idle resources are destroyed in order, the others when they come
    /// back. Several failures are chained through `previous`, the last one first. The second call does nothing. May suspend.
    [[nodiscard]] Status close();

    CircuitBreakerState breaker_state() const noexcept { return breaker_; }
    void activate() noexcept { set_breaker(CircuitBreakerState::Active); }
    /// Whoever waits fails with `ServiceUnavailable`.
    void deactivate() noexcept { set_breaker(CircuitBreakerState::Inactive); }
    void recover() noexcept { set_breaker(CircuitBreakerState::Recovering); }
    void set_strategy(std::shared_ptr<CircuitBreakerStrategy> strategy) noexcept;
    const std::shared_ptr<CircuitBreakerStrategy>& strategy() const noexcept { return strategy_; }

    /// `Pool(idle=1, active=0, reserved=1, max=1)`.
    std::string info() const override;

protected:
    explicit PoolEvent(const PoolSettings& settings) noexcept;
    ~PoolEvent() override;

    /// A `slot` is the `std::optional<T>` of whoever is at work.
    using Step = Ref<Error> (PoolEvent::*)(void* slot);
    virtual Ref<Error> with_slot(Step step) = 0;
    virtual void move_in(void* slot, std::size_t at) noexcept = 0;
    virtual void move_out(void* slot, std::size_t at) noexcept = 0;
    virtual void widen(std::size_t capacity) = 0;
    virtual Ref<Error> create(void* slot) = 0;
    virtual Ref<Error> destroy(void* slot) = 0;
    virtual Ref<Error> check(PoolCheck question, void* slot, bool& answer) = 0;

    WaitResult acquire_slow(void* slot, const WaitLimit& limit, std::source_location where) noexcept;
    Status try_acquire_slow(void* slot) noexcept;
    Status give_back_slow(void* slot) noexcept;

    /// For the destructor of who keeps the resources.
    void end() noexcept;

    // The common ways, inlined: there is something, and nobody has anything to say about it.
    bool can_take() const noexcept { return (attention_ & kForAcquire) == 0 && tail_ - head_ > reserved_idle_; }
    std::size_t take() noexcept {
        ++active_;
        ++acquired_;
        return head_++ & mask_;
    }
    bool can_put() const noexcept { return (attention_ & kForRelease) == 0 && active_ != 0; }
    std::size_t put() noexcept {
        --active_;
        ++released_;
        return tail_++ & mask_;
    }
    std::size_t first_idle() const noexcept { return head_; }
    std::size_t mask() const noexcept { return mask_; }

private:
    class HealthTimer;
    class HealthBody;
    class Waiter;

    /// What a waiter was woken with.
    enum class Grant : std::uint8_t { Nothing, Resource, Room, Closed, Unavailable };

    /// What bars the common ways.
    enum Attention : std::uint8_t {
        kShut = 1U << 0,
        kInactive = 1U << 1,
        kBeforeAcquire = 1U << 2,
        kBeforeRelease = 1U << 3,
        kWaiters = 1U << 4,
        kStrategy = 1U << 5,
        kForAcquire = kShut | kInactive | kBeforeAcquire,
        kForRelease = kShut | kBeforeRelease | kWaiters | kStrategy,
    };

    void set_breaker(CircuitBreakerState state) noexcept;
    Ref<Error> refusal() noexcept;
    bool has_surplus() const noexcept { return idle_count() > reserved_idle_; }
    bool has_room() const noexcept { return count() + reserved_room_ < settings_.max; }
    Grant claim(void* slot) noexcept;
    WaitResult wait_in_line(Grant& grant, const WaitLimit& limit, std::source_location where) noexcept;
    Ref<Error> obtain(void* slot, Grant grant) noexcept;
    Ref<Error> make(void* slot) noexcept;
    Ref<Error> discard(void* slot) noexcept;
    void take_into(void* slot) noexcept;
    void put_back(void* slot) noexcept;
    void free_room() noexcept;
    bool wake_first(Grant grant) noexcept;
    void hand_on(Grant grant) noexcept;
    void wake_all(Grant grant) noexcept;
    Ref<Error> shut_one(void* slot);
    Ref<Error> check_one(void* slot);
    Ref<Error> add_one(void* slot);
    void start_health_timer();
    void check_health() noexcept;
    void report(const Ref<Error>& error) const noexcept;

    // What the common ways touch comes first.
    std::uint8_t attention_ = 0;
    CircuitBreakerState breaker_ = CircuitBreakerState::Active;
    bool is_checking_ = false;
    std::size_t head_ = 0;  // both only grow; between them lie the idle ones, oldest first
    std::size_t tail_ = 0;
    std::size_t mask_ = 0;
    std::size_t reserved_idle_ = 0;
    std::size_t active_ = 0;
    std::uint64_t acquired_ = 0;
    std::uint64_t released_ = 0;
    std::size_t reserved_room_ = 0;
    std::size_t capacity_ = 0;  // of the ring: enough for all there are
    std::size_t waiting_ = 0;
    IntrusiveList<Waiter> waiters_;
    PoolSettings settings_;
    PoolStats stats_;
    std::shared_ptr<CircuitBreakerStrategy> strategy_;
    Ref<Event> timer_;
};

/// A pool of any type that moves without throwing; a host's counted value is one.
///
/// @snippet unit/sync/pool_test.cpp  own_hooks
template <typename T>
class PoolOf final : public PoolEvent {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a resource must not be lost on its way");

public:
    PoolOf(const PoolSettings& settings, std::unique_ptr<PoolHooks<T>> hooks)
        : PoolEvent(settings), hooks_(std::move(hooks)) {}
    ~PoolOf() override { end(); }

    /// Takes the oldest idle one, makes one, or waits in line. May suspend. `Refused` when the pool is closed (`PoolClosed`) or the
    /// breaker open (`ServiceUnavailable`), `Failed` with what a hook failed with.
    TA_INLINE WaitResult acquire(
        std::optional<T>& slot,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    ) noexcept {
        if (TA_LIKELY(can_take())) {
            T& item = items_[take()];
            slot.emplace(std::move(item));
            std::destroy_at(&item);
            return WaitResult::Ready;
        }
        return acquire_slow(&slot, limit, where);
    }

    /// The same without waiting: `slot` stays empty where it would wait, be refused or find the pool closed. A hook may suspend.
    [[nodiscard]] Status try_acquire(std::optional<T>& slot) noexcept { return try_acquire_slow(&slot); }

    /// Gives one back that `acquire` gave out. Fails with what a hook failed with; it is given back all the same. A hook may suspend.
    TA_INLINE Status give_back(std::optional<T>&& slot) noexcept {
        if (TA_LIKELY(can_put())) {
            new (&items_[put()]) T(std::move(*slot));
            slot.reset();
            return {};
        }
        return give_back_slow(&slot);
    }
    Status give_back(T resource) noexcept { return give_back(std::optional<T>(std::move(resource))); }

    /// Calls `visit(T&)` for each idle resource, oldest first; for a host's collector. Those handed out belong to others.
    template <typename Visit>
    void each_value(Visit&& visit) {
        for (std::size_t i = 0; i < idle_count(); ++i) {
            visit(items_[(first_idle() + i) & mask()]);
        }
    }
    PoolHooks<T>& hooks() const noexcept { return *hooks_; }

private:
    struct FreeItems {
        std::size_t count = 0;
        void operator()(T* items) const noexcept { std::allocator<T>().deallocate(items, count); }
    };
    using Items = std::unique_ptr<T[], FreeItems>;
    using Slot = std::optional<T>;

    static Slot& slot_of(void* slot) noexcept { return *static_cast<Slot*>(slot); }

    Ref<Error> with_slot(Step step) override {
        Slot slot;
        return (this->*step)(&slot);
    }
    void move_in(void* slot, std::size_t at) noexcept override {
        new (&items_[at]) T(std::move(*slot_of(slot)));
        slot_of(slot).reset();
    }
    void move_out(void* slot, std::size_t at) noexcept override {
        slot_of(slot).emplace(std::move(items_[at]));
        std::destroy_at(&items_[at]);
    }
    void widen(std::size_t capacity) override {
        Items wider(std::allocator<T>().allocate(capacity), FreeItems{capacity});
        const std::size_t before = mask();
        for (std::size_t i = first_idle(); i != first_idle() + idle_count(); ++i) {
            T& item = items_[i & before];
            new (&wider[i & (capacity - 1)]) T(std::move(item));
            std::destroy_at(&item);
        }
        items_ = std::move(wider);
    }
    Ref<Error> create(void* slot) override { return hooks_->create(slot_of(slot)); }
    Ref<Error> destroy(void* slot) override {
        Ref<Error> error = hooks_->destroy(*slot_of(slot));
        slot_of(slot).reset();
        return error;
    }
    Ref<Error> check(PoolCheck question, void* slot, bool& answer) override {
        return hooks_->check(question, *slot_of(slot), answer);
    }

    Items items_;
    std::unique_ptr<PoolHooks<T>> hooks_;
};

}  // namespace trueasync
