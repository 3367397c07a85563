#pragma once

/// @file trueasync/runtime/coroutine.hpp
/// A function call with a stack of its own, which may stop in the middle and go on later.

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/base/place.hpp>
#include <trueasync/event/event.hpp>
#include <trueasync/runtime/execution_context.hpp>
#include <trueasync/runtime/owner.hpp>
#include <trueasync/runtime/switch_handler.hpp>
#include <trueasync/runtime/waker.hpp>
#include <vector>

namespace trueasync {

class WaitGuard;
enum class WaitResult : std::uint8_t;

namespace detail {
WaitResult end_wait(Coroutine& self) noexcept;
}

/// The table of all unfinished coroutines of a runtime links through this.
struct AliveTag;

enum class Priority : std::uint8_t { Normal = 0, High = 255 };

/// Also an event: it fires, once, when it ends, and replays its result to whoever comes later.
///
/// Subclass it to give it a body (`run`) and, if it has one, a result (`result`). The front doors do that.
/// Thread rule: bound for life to the thread that spawned it.
/// Lifetime: counted, or an object of the host, in the host's storage. The runtime holds one reference from the spawn to
/// the end. Its stack is taken when it first runs and given back when it ends.
/// Cancel rule: see `Scheduler::cancel`.
class TA_API Coroutine : public Event, public ListNode<AliveTag> {
public:
    // --- where it stands

    std::uint32_t id() const noexcept { return id_; }
    bool is_started() const noexcept { return (attention_ & kUnstarted) == 0; }
    bool is_finished() const noexcept { return is_closed(); }
    bool is_running() const noexcept;
    bool is_queued() const noexcept {
        return waker_state_ == WakerState::Queued || waker_state_ == WakerState::Ignored;
    }
    bool is_suspended() const noexcept { return !is_finished() && !is_running() && id_ != 0; }
    bool is_cancel_requested() const noexcept { return is_cancel_requested_; }
    /// Cancelled and finished.
    bool is_cancelled() const noexcept { return is_finished() && error_ != nullptr && error_->is_cancellation(); }
    bool is_protected() const noexcept { return protect_depth_ != 0; }
    WakerState waker_state() const noexcept { return waker_state_; }

    /// What it waits for at present: one line each.
    std::vector<std::string> awaiting() const;
    /// The guard of its wait; null when it does not wait, or waits for one event only.
    const WaitGuard* wait() const noexcept { return wait_; }
    const Waker& waker() const noexcept { return waker_; }

    // --- what came of it

    /// Where the result lies after a successful end. Typed coroutines override it.
    virtual void* result() noexcept { return nullptr; }
    Error* error() const noexcept { return error_.get(); }

    // --- who and where

    std::string name() const;
    void set_name(std::string name);
    virtual Place spawned_at() const { return Place(spawned_at_); }
    /// Where it last suspended; not known before the first time.
    virtual Place suspended_at() const { return Place(suspended_at_); }
    Owner* owner() const noexcept { return owner_; }
    void set_owner(Owner* owner) noexcept {
        owner_ = owner;
        note(kOwned, owner != nullptr);
    }
    const ExecutionContext& context() const noexcept { return context_; }

    Priority priority() const noexcept { return is_high_priority_ ? Priority::High : Priority::Normal; }
    void set_priority(Priority priority) noexcept { is_high_priority_ = priority == Priority::High; }

    void add_switch_handler(SwitchHandler handler);

    // --- as an event

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    std::string info() const override;

protected:
    explicit Coroutine(std::source_location where = std::source_location::current()) noexcept
        : Event(EventType::Coroutine), spawned_at_(where) {}
    ~Coroutine() override {
        if (TA_UNLIKELY((extras_ & (kOwned | kHasRare)) != 0)) {
            destroy_extras();
        }
    }

    /// The body. May suspend; may throw a C++ exception, which becomes the error.
    virtual void run() = 0;

    /// It ends without ever having run: lets go what the body would have used.
    virtual void drop_body() noexcept {}

    /// For bodies that do not throw: says that it failed. Call it before `run` returns.
    void fail(Ref<Error> error) noexcept {
        error_ = std::move(error);
        note(kFailed, true);
    }

    Error* unhandled_error() const noexcept override;
    void report_unhandled(Error& error) noexcept override;

private:
    friend class RunQueue;
    friend class Scheduler;
    friend class WaitGuard;
    friend WaitResult detail::end_wait(Coroutine& self) noexcept;
    friend class WakeCallback;
    friend class Waker;
    friend class ProtectGuard;
    friend class Runtime;

    /// Why the fast paths must not be taken. Zero in the common case.
    enum Attention : std::uint32_t {
        kUnstarted = 1U << 0,   // has no stack yet
        kHooks = 1U << 1,       // switch handlers or a host hook want to know
        kCancel = 1U << 2,      // a cancellation is to be delivered at the next suspension point
        kEnter = 1U << 3,       // the hooks are to be told when it continues
        kNoSuspend = 1U << 4,   // the shutdown is in its last step: nothing waits any more
        kInCallback = 1U << 5,  // a callback, microtask or handler runs in its turn
    };

    /// What makes the end of a coroutine more than a result for one waiter. Zero in the common case.
    enum Extra : std::uint8_t {
        kOwned = 1U << 0,
        kFailed = 1U << 1,
        kHasRare = 1U << 2,
    };
    void note(Extra extra, bool is_so) noexcept {
        extras_ = static_cast<std::uint8_t>(is_so ? extras_ | extra : extras_ & ~extra);
    }

    /// What few coroutines have.
    struct Rare {
        SwitchHandlers handlers;
        Ref<Error> cancellation;  // requested and not yet delivered
        std::string name;
        std::vector<std::unique_ptr<WakeCallback, WakeCallback::Free>> subscriptions;
    };
    Rare& rare();
    void destroy_extras() noexcept;
    bool has_pending_cancellation() const noexcept { return rare_ != nullptr && rare_->cancellation != nullptr; }

    // The order matters: what a switch touches lies together, behind the event.
    std::uint32_t attention_ = kUnstarted;
    WakerState waker_state_ = WakerState::NoStatus;
    bool is_cancel_requested_ = false;
    bool is_high_priority_ = false;
    Coroutine* next_;  // in the run queue; means nothing at its tail and outside
    ExecutionContext context_;
    std::source_location suspended_at_;
    WaitGuard* wait_ = nullptr;
    std::source_location spawned_at_;
    Ref<Error> error_;
    Owner* owner_ = nullptr;
    Rare* rare_ = nullptr;  // made by `rare`
    Waker waker_;
    std::uint32_t id_ = 0;
    std::uint16_t protect_depth_ = 0;
    std::uint8_t extras_ =
        0;  // far from `waker_state_`: read together with what was just written, it would have to wait
};

inline bool Waker::is_same(Coroutine& owner, Event& event) noexcept { return &static_cast<Event&>(owner) == &event; }

#if !defined(TA_TSAN)
static_assert(sizeof(Coroutine) <= 256, "a parked coroutine is one page and this");
#endif

}  // namespace trueasync
