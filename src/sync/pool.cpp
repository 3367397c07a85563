#include <trueasync/sync/pool.hpp>

#include <algorithm>
#include <bit>
#include <new>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/reactor/timer.hpp>
#include <trueasync/runtime/runtime.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Pool, sizeof(PoolEvent));

/// Of a pool that may be ending: then it holds itself without help.
Ref<PoolEvent> keep(PoolEvent& pool) noexcept { return Ref<PoolEvent>(pool.is_ending() ? nullptr : &pool); }

}  // namespace

Status PoolSettings::check() const {
    if (max < 1) {
        return Status::failure(ErrorCode::InvalidArgument, "max must be >= 1");
    }
    if (min > max) {
        return Status::failure(ErrorCode::InvalidArgument, "min must be <= max");
    }
    return {};
}

/// In line for a place.
class PoolEvent::Waiter final : public DirectWait {
public:
    using DirectWait::DirectWait;

    Grant grant = Grant::Nothing;
};

/// Begins a check of the idle ones from time to time, unless one is under way.
class PoolEvent::HealthTimer final : public Callback {
public:
    explicit HealthTimer(PoolEvent& pool) noexcept : pool_(pool) {}
    void call(Event& event, void* result, Error* error) override;

private:
    PoolEvent& pool_;  // ends the timer before it goes
};

class PoolEvent::HealthBody final : public HelperBody {
public:
    explicit HealthBody(PoolEvent& pool) noexcept : pool_(&pool) { pool.is_checking_ = true; }
    ~HealthBody() override { pool_->is_checking_ = false; }
    Ref<Error> run() override {
        pool_->check_health();
        return {};
    }

private:
    const Ref<PoolEvent> pool_;
};

PoolEvent::PoolEvent(const PoolSettings& settings) noexcept : Event(EventType::Pool), settings_(settings) {
    attention_ = static_cast<std::uint8_t>(
        (settings.has_before_acquire ? kBeforeAcquire : 0) | (settings.has_before_release ? kBeforeRelease : 0)
    );
}

PoolEvent::~PoolEvent() = default;

void PoolEvent::end() noexcept {
    if (Status status = close(); !status) {
        report(status.take());
    }
}

Status PoolEvent::open() {
    if (Status status = settings_.check(); !status) {
        return status;
    }
    while (!is_shut() && count() + reserved_room_ < settings_.min) {
        if (Ref<Error> error = with_slot(&PoolEvent::add_one)) {
            return Status(std::move(error));
        }
    }
    start_health_timer();
    return {};
}

PoolStats PoolEvent::stats() const noexcept {
    PoolStats stats = stats_;
    stats.acquired = acquired_;
    stats.released = released_;
    return stats;
}

std::string PoolEvent::info() const {
    return "Pool(idle=" + std::to_string(idle_count()) + ", active=" + std::to_string(active_count()) +
           ", reserved=" + std::to_string(reserved_count()) + ", max=" + std::to_string(settings_.max) + ")";
}

// --- places

void PoolEvent::take_into(void* slot) noexcept {
    move_out(slot, head_++ & mask_);
    ++active_;
}

PoolEvent::Grant PoolEvent::claim(void* slot) noexcept {
    if (has_surplus()) {
        take_into(slot);
        return Grant::Resource;
    }
    if (has_room()) {
        ++active_;
        return Grant::Room;
    }
    return Grant::Nothing;
}

void PoolEvent::put_back(void* slot) noexcept {
    move_in(slot, tail_++ & mask_);
    --active_;
    if (wake_first(Grant::Resource)) {
        ++reserved_idle_;
    }
}

/// An active place is empty and nobody needs it.
void PoolEvent::free_room() noexcept {
    --active_;
    if (wake_first(Grant::Room)) {
        ++reserved_room_;
    }
}

bool PoolEvent::wake_first(Grant grant) noexcept {
    Waiter* first = waiters_.pop_front();
    if (waiters_.empty()) {
        attention_ &= static_cast<std::uint8_t>(~kWaiters);
    }
    if (first == nullptr) {
        return false;
    }
    --waiting_;
    first->grant = grant;
    first->wake();
    return true;
}

/// Somebody who was woken leaves without what was reserved for him.
void PoolEvent::hand_on(Grant grant) noexcept {
    if (grant == Grant::Resource && (is_shut() || !wake_first(grant))) {
        --reserved_idle_;
    } else if (grant == Grant::Room && (is_shut() || !wake_first(grant))) {
        --reserved_room_;
    }
}

void PoolEvent::wake_all(Grant grant) noexcept {
    while (wake_first(grant)) {}
}

// --- acquire

/// Why nobody gets anything; null when he may.
Ref<Error> PoolEvent::refusal() noexcept {
    if (is_shut()) {
        return Error::make(ErrorCode::PoolClosed);
    }
    if (breaker_ != CircuitBreakerState::Inactive) {
        return {};
    }
    if (const std::shared_ptr<CircuitBreakerStrategy> strategy = strategy_) {
        bool answer = false;
        if (Ref<Error> error = strategy->should_recover(answer)) {
            return error;
        }
        if (is_shut()) {
            return Error::make(ErrorCode::PoolClosed);
        }
        if (answer && breaker_ == CircuitBreakerState::Inactive) {
            recover();
        }
        if (breaker_ != CircuitBreakerState::Inactive) {
            return {};
        }
    }
    return Error::make(ErrorCode::ServiceUnavailable);
}

WaitResult PoolEvent::acquire_slow(void* slot, const WaitLimit& limit, std::source_location where) noexcept {
    const Ref<PoolEvent> kept = keep(*this);
    if (Ref<Error> error = refusal()) {
        return Scheduler::refuse(std::move(error));
    }
    Grant grant = claim(slot);
    if (grant == Grant::Nothing) {
        if (const WaitResult result = wait_in_line(grant, limit, where); result != WaitResult::Ready) {
            return result;
        }
        if (grant == Grant::Resource) {
            --reserved_idle_;
            take_into(slot);
        } else {
            --reserved_room_;
            ++active_;
        }
    }
    if (Ref<Error> error = obtain(slot, grant)) {
        const bool is_cancelled = error->is_cancellation();
        const bool is_refused = error->code() == ErrorCode::PoolClosed;
        return Scheduler::refuse(
            std::move(error), is_cancelled ? WaitResult::Cancelled
                              : is_refused ? WaitResult::Refused
                                           : WaitResult::Failed
        );
    }
    return WaitResult::Ready;
}

Status PoolEvent::try_acquire_slow(void* slot) noexcept {
    const Ref<PoolEvent> kept = keep(*this);
    if (Ref<Error> error = refusal()) {
        const bool is_quiet = error->code() == ErrorCode::PoolClosed || error->code() == ErrorCode::ServiceUnavailable;
        return is_quiet ? Status() : Status(std::move(error));
    }
    const Grant grant = claim(slot);
    if (grant == Grant::Nothing) {
        return {};
    }
    Ref<Error> error = obtain(slot, grant);
    return error != nullptr && error->code() == ErrorCode::PoolClosed ? Status() : Status(std::move(error));
}

WaitResult PoolEvent::wait_in_line(Grant& grant, const WaitLimit& limit, std::source_location where) noexcept {
    Waiter waiter(*this, where);
    if (waiter.result() != WaitResult::Ready) {
        return waiter.result();
    }
    waiters_.push_back(waiter);
    attention_ |= kWaiters;
    ++stats_.waits;
    stats_.longest_queue = std::max(stats_.longest_queue, ++waiting_);
    const WaitResult result = waiter.park(limit);
    if (waiter.grant == Grant::Nothing) {
        static_cast<ListNode<>&>(waiter).unlink();
        --waiting_;
        if (waiters_.empty()) {
            attention_ &= static_cast<std::uint8_t>(~kWaiters);
        }
    }
    if (result != WaitResult::Ready) {
        stats_.timeouts += result == WaitResult::TimedOut ? 1 : 0;
        hand_on(waiter.grant);
        return result;
    }
    if (is_shut() || waiter.grant == Grant::Closed) {
        hand_on(waiter.grant);
        return Scheduler::refuse(Error::make(ErrorCode::PoolClosed));
    }
    if (breaker_ == CircuitBreakerState::Inactive || waiter.grant == Grant::Unavailable) {
        hand_on(waiter.grant);
        return Scheduler::refuse(Error::make(ErrorCode::ServiceUnavailable));
    }
    grant = waiter.grant;
    return result;
}

/// Makes a resource of a place that is counted as active already, or gives the place up.
Ref<Error> PoolEvent::obtain(void* slot, Grant grant) noexcept {
    for (;;) {
        Ref<Error> error;
        bool is_good = true;
        if (grant == Grant::Room) {
            error = make(slot);
            if (error != nullptr) {
                free_room();
                return error;
            }
        } else if (settings_.has_before_acquire) {
            is_good = false;
            error = check(PoolCheck::BeforeAcquire, slot, is_good);
        }
        const bool was_accepted = is_good && error == nullptr;
        if (was_accepted && !is_shut()) {
            ++acquired_;
            return {};
        }
        const bool is_cancelled = error != nullptr && error->is_cancellation();
        Ref<Error> failure = discard(slot);
        if (failure != nullptr || is_cancelled || is_shut()) {
            free_room();
            if (is_cancelled) {
                return Error::chain(std::move(failure), std::move(error));
            }
            return failure != nullptr ? failure : Error::make(ErrorCode::PoolClosed);
        }
        grant = Grant::Room;
        if (has_surplus()) {
            take_into(slot);
            free_room();
            grant = Grant::Resource;
        }
    }
}

/// A new resource; there is space for it when it comes back.
Ref<Error> PoolEvent::make(void* slot) noexcept {
    if (count() > capacity_) {
        const std::size_t wider = std::bit_ceil(count());
        try {
            widen(wider);
        } catch (const std::bad_alloc&) {
            return Error::make(ErrorCode::OutOfMemory, "no memory for one more resource of a pool");
        }
        capacity_ = wider;
        mask_ = wider - 1;
    }
    Ref<Error> error = create(slot);
    stats_.created += error == nullptr ? 1 : 0;
    return error;
}

/// The last hook of a resource. Its place stays.
Ref<Error> PoolEvent::discard(void* slot) noexcept {
    Ref<Error> error = destroy(slot);
    ++stats_.destroyed;
    return error;
}

// --- release

Status PoolEvent::give_back_slow(void* slot) noexcept {
    if (active_ == 0) {
        return Status::failure(ErrorCode::IllegalState, "nothing was taken from the pool that could be given back");
    }
    const Ref<PoolEvent> kept = keep(*this);
    const bool was_shut = is_shut();
    bool is_good = true;
    Ref<Error> cancellation;
    if (settings_.has_before_release && !was_shut) {
        is_good = false;
        Ref<Error> error = check(PoolCheck::BeforeRelease, slot, is_good);
        if (error != nullptr) {
            is_good = false;
            if (error->is_cancellation()) {
                cancellation = std::move(error);
            }
        }
    }
    ++released_;
    Ref<Error> failure;
    if (is_good && !is_shut()) {
        put_back(slot);
    } else {
        failure = discard(slot);
        free_room();
    }
    failure = Error::chain(std::move(failure), std::move(cancellation));
    if (const std::shared_ptr<CircuitBreakerStrategy> strategy = strategy_; strategy != nullptr && !was_shut) {
        if (is_good) {
            failure = Error::chain(strategy->report_success(*this), std::move(failure));
        } else {
            const Ref<Error> reason = Error::make(ErrorCode::Exception, "Resource validation failed");
            failure = Error::chain(strategy->report_failure(*this, *reason), std::move(failure));
        }
    }
    return Status(std::move(failure));
}

// --- close

Status PoolEvent::close() {
    if (is_shut()) {
        return {};
    }
    const Ref<PoolEvent> kept = keep(*this);
    attention_ |= kShut;
    if (timer_ != nullptr) {
        timer_->close();
    }
    wake_all(Grant::Closed);
    Event::close();
    Ref<Error> failure;
    while (idle_count() != 0) {
        failure = Error::chain(with_slot(&PoolEvent::shut_one), std::move(failure));
    }
    return Status(std::move(failure));
}

Ref<Error> PoolEvent::shut_one(void* slot) {
    take_into(slot);
    Ref<Error> error = discard(slot);
    free_room();
    return error;
}

// --- the circuit breaker

void PoolEvent::set_breaker(CircuitBreakerState state) noexcept {
    breaker_ = state;
    if (state == CircuitBreakerState::Inactive) {
        attention_ |= kInactive;
        wake_all(Grant::Unavailable);
    } else {
        attention_ &= static_cast<std::uint8_t>(~kInactive);
    }
}

void PoolEvent::set_strategy(std::shared_ptr<CircuitBreakerStrategy> strategy) noexcept {
    attention_ =
        static_cast<std::uint8_t>(strategy != nullptr ? attention_ | kStrategy : attention_ & ~unsigned{kStrategy});
    strategy_.swap(strategy);
}

// --- the health check

void PoolEvent::start_health_timer() {
    Scheduler* scheduler = Scheduler::current();
    if (timer_ != nullptr || is_shut() || scheduler == nullptr || !settings_.has_healthcheck ||
        settings_.healthcheck_interval <= Duration::zero()) {
        return;
    }
    const Ref<TimerEvent> timer =
        TimerEvent::create(scheduler->reactor(), settings_.healthcheck_interval, settings_.healthcheck_interval);
    timer->set_hidden(true);
    const Ref<Callback> callback = make_ref<HealthTimer>(*this);
    if (timer->add_callback(*callback) && timer->start()) {
        timer_ = timer;
    }
}

void PoolEvent::HealthTimer::call(Event& /*event*/, void* /*result*/, Error* /*error*/) {
    Scheduler* scheduler = Scheduler::current();
    if (!pool_.is_checking_ && scheduler != nullptr) {
        scheduler->spawn_helper(std::make_unique<HealthBody>(pool_), Place()).ignore();
    }
}

/// Each idle one once, then up to `min` again. Nobody waits for this: what fails is reported.
void PoolEvent::check_health() noexcept {
    for (std::size_t left = idle_count(); left != 0 && !is_shut() && has_surplus(); --left) {
        report(with_slot(&PoolEvent::check_one));
    }
    while (!is_shut() && count() + reserved_room_ < settings_.min) {
        if (const Ref<Error> error = with_slot(&PoolEvent::add_one)) {
            report(error);
            return;
        }
    }
}

Ref<Error> PoolEvent::check_one(void* slot) {
    take_into(slot);
    bool is_good = false;
    const Ref<Error> error = check(PoolCheck::Health, slot, is_good);
    if (error == nullptr && is_good && !is_shut()) {
        put_back(slot);
        return {};
    }
    Ref<Error> failure = discard(slot);
    free_room();
    return failure;
}

Ref<Error> PoolEvent::add_one(void* slot) {
    ++active_;
    if (Ref<Error> error = make(slot)) {
        free_room();
        return error;
    }
    if (is_shut()) {
        Ref<Error> error = discard(slot);
        free_room();
        return error;
    }
    put_back(slot);
    return {};
}

void PoolEvent::report(const Ref<Error>& error) const noexcept {
    if (error != nullptr && !error->is_cancellation()) {
        report_sink().unhandled_error(this, *error);
    }
}

}  // namespace trueasync
