#pragma once

/// @file trueasync/api/pool.hpp
/// A pool of connections, buffers, anything costly.

#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <trueasync/api/await.hpp>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/sync/pool.hpp>
#include <utility>

namespace trueasync {

/// How a pool makes, checks and ends what it holds. Everything but the factory may be left out; everything may suspend and throw.
template <typename T>
struct PoolOptions {
    std::function<T()> factory = {};
    std::function<void(T&)> destructor = {};
    std::function<bool(T&)> healthcheck = {};     ///< false or an exception: destroyed
    std::function<bool(T&)> before_acquire = {};  ///< false or an exception: destroyed, and the next one is tried
    std::function<bool(T&)> before_release = {};  ///< false or an exception: destroyed
    std::size_t min = 0;
    std::size_t max = 10;
    Duration healthcheck_interval = Duration::zero();
};

namespace detail {

template <typename T>
class FunctionPoolHooks final : public PoolHooks<T> {
public:
    explicit FunctionPoolHooks(PoolOptions<T> options) : options_(std::move(options)) {}

    Ref<Error> create(std::optional<T>& slot) override {
        return guarded([&] { slot.emplace(options_.factory()); });
    }
    Ref<Error> destroy(T& resource) override {
        return options_.destructor ? guarded([&] { options_.destructor(resource); }) : Ref<Error>();
    }
    Ref<Error> check(PoolCheck question, T& resource, bool& answer) override {
        const auto& function = question == PoolCheck::Health          ? options_.healthcheck
                               : question == PoolCheck::BeforeAcquire ? options_.before_acquire
                                                                      : options_.before_release;
        return guarded([&] { answer = function(resource); });
    }

private:
    template <typename F>
    static Ref<Error> guarded(F&& body) noexcept {
        try {
            body();
        } catch (...) {
            return to_error();
        }
        return {};
    }

    PoolOptions<T> options_;
};

/// Throws what a pool's `release` or `close` failed with; several as one `AsyncError` whose text has them all.
TA_API void check_pool(const Status& status);

}  // namespace detail

/// Hands resources out to one coroutine at a time each, at most `max` at once; who finds none waits in line.
///
/// Thread rule: the thread of its runtime.
/// Lifetime: its end closes it; a lease may outlive it, and destroys its resource then.
///
/// @snippet unit/api/pool_test.cpp  pool
template <typename T>
class Pool {
public:
    /// A resource on loan; its end gives it back. What a hook fails with meanwhile is reported then; call `release` to have it thrown.
    class Lease {
    public:
        Lease(Lease&& other) noexcept
            : pool_(std::move(other.pool_)), slot_(std::exchange(other.slot_, std::nullopt)) {}
        Lease& operator=(Lease&& other) noexcept {
            Lease taken(std::move(other));
            std::swap(pool_, taken.pool_);
            slot_.swap(taken.slot_);
            return *this;
        }
        TA_INLINE ~Lease() {
            if (TA_LIKELY(pool_ != nullptr)) {
                if (const Status status = pool_->give_back(std::move(slot_)); TA_UNLIKELY(!status)) {
                    detail::report(*pool_, status);
                }
            }
        }

        T& operator*() noexcept { return *slot_; }
        T* operator->() noexcept { return &*slot_; }

        /// Gives it back now. May suspend; throws what a hook threw.
        void release() {
            if (const Ref<PoolOf<T>> pool = std::move(pool_)) {
                detail::check_pool(pool->give_back(std::move(slot_)));
            }
        }
        /// False once it was given back.
        explicit operator bool() const noexcept { return pool_ != nullptr; }

    private:
        friend class Pool;
        Lease() noexcept = default;

        Ref<PoolOf<T>> pool_;
        std::optional<T> slot_;
    };

    /// Makes the first `min`; throws what the factory threw, and `AsyncError` (`InvalidArgument`) for wrong limits. May suspend.
    explicit Pool(PoolOptions<T> options) {
        PoolSettings settings;
        settings.min = options.min;
        settings.max = options.max;
        settings.healthcheck_interval = options.healthcheck_interval;
        settings.has_healthcheck = static_cast<bool>(options.healthcheck);
        settings.has_before_acquire = static_cast<bool>(options.before_acquire);
        settings.has_before_release = static_cast<bool>(options.before_release);
        detail::check(settings.check());
        pool_ = make_ref<PoolOf<T>>(settings, std::make_unique<detail::FunctionPoolHooks<T>>(std::move(options)));
        if (const Status status = pool_->open(); !status) {
            detail::report(*pool_, pool_->close());
            detail::check(status);
        }
    }
    Pool(Pool&&) noexcept = default;
    Pool& operator=(Pool&& other) noexcept {
        Pool taken(std::move(other));
        std::swap(pool_, taken.pool_);
        return *this;
    }
    ~Pool() {
        if (pool_ != nullptr) {
            detail::report(*pool_, pool_->close());
        }
    }

    /// Takes the oldest idle one, makes one, or waits. May suspend. Throws `PoolClosed`, `ServiceUnavailable`, `TimeoutError` when the
    /// limit came first, `Cancellation`, and what the factory or the destructor threw.
    /// Cancel safety: a place that was meant for the waiter goes to the next.
    TA_INLINE Lease acquire(const Limit& limit = {}, std::source_location where = std::source_location::current()) {
        Lease lease;
        detail::check(pool_->acquire(lease.slot_, limit, where));
        lease.pool_ = pool_;
        return lease;
    }

    /// The same without waiting: nothing where it would wait, is closed, or the breaker is open.
    std::optional<Lease> try_acquire() {
        Lease lease;
        detail::check(pool_->try_acquire(lease.slot_));
        if (!lease.slot_.has_value()) {
            return std::nullopt;
        }
        lease.pool_ = pool_;
        return lease;
    }

    /// Who waits gets `PoolClosed`; idle resources are destroyed now, the others when they come back. May suspend. Throws what
    /// destructors threw, when all are destroyed.
    void close() { detail::check_pool(pool_->close()); }

    bool is_closed() const noexcept { return pool_->is_shut(); }
    std::size_t count() const noexcept { return pool_->count(); }
    std::size_t idle_count() const noexcept { return pool_->idle_count(); }
    std::size_t active_count() const noexcept { return pool_->active_count(); }
    PoolStats stats() const noexcept { return pool_->stats(); }

    CircuitBreakerState state() const noexcept { return pool_->breaker_state(); }
    void activate() noexcept { pool_->activate(); }
    void deactivate() noexcept { pool_->deactivate(); }
    void recover() noexcept { pool_->recover(); }
    void set_strategy(std::shared_ptr<CircuitBreakerStrategy> strategy) noexcept {
        pool_->set_strategy(std::move(strategy));
    }

    PoolOf<T>& event() const noexcept { return *pool_; }

private:
    Ref<PoolOf<T>> pool_;
};

}  // namespace trueasync
