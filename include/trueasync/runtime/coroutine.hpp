#pragma once

/// @file trueasync/runtime/coroutine.hpp
/// A function call with a stack of its own, which may stop in the middle and go on later.

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/base/place.hpp>
#include <trueasync/event/event.hpp>
#include <trueasync/runtime/execution_context.hpp>
#include <trueasync/runtime/finally.hpp>
#include <trueasync/runtime/owner.hpp>
#include <trueasync/runtime/switch_handler.hpp>
#include <trueasync/runtime/waker.hpp>
#include <vector>

namespace trueasync {

class Wait;
class WaitGuard;
enum class WaitResult : std::uint8_t;

namespace detail {
WaitResult end_wait(Coroutine& self) noexcept;
}

/// The table of all unfinished coroutines of a runtime links through this.
struct AliveTag;

/// What a higher room keeps with a coroutine, until that goes.
class TA_API Attachment {
public:
    Attachment() = default;
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
    virtual ~Attachment() = default;
};

enum class Priority : std::uint8_t { Normal = 0, High = 255 };

namespace detail {

/// What a switch touches: one cache line of a coroutine.
struct SwitchState {
    SwitchState(std::uint32_t attention, WakerState waker_state) noexcept
        : attention_(attention), waker_state_(waker_state) {}

    /// Starts: not unstarted any more, and in no queue. With one store.
    TA_INLINE void begin_turn() noexcept;

    std::uint32_t attention_;  // see `Coroutine::Attention`
    WakerState waker_state_;
    bool is_cancel_requested_ = false;
    bool is_high_priority_ = false;
    bool is_unused_ = false;  // no gap: these are set with one store
    Coroutine* next_;         // in the run queue; means nothing at its tail and outside
    ExecutionContext context_;
    union {
        std::source_location suspended_at_;  // set when it is listed
    };
    Wait* wait_;  // set when it is listed
};

}  // namespace detail

/// Also an event: it fires, once, when it ends, and replays its result to whoever comes later.
///
/// Subclass it to give it a body (`run`) and, if it has one, a result (`result`). The front doors do that.
/// Thread rule: bound for life to the thread that spawned it.
/// Lifetime: counted, or an object of the host, in the host's storage. The runtime holds one reference from the spawn to
/// the end. Its stack is taken when it first runs and given back when it ends.
/// Cancel rule: see `Scheduler::cancel`.
class TA_API Coroutine : public Event, private detail::SwitchState, public ListNode<AliveTag> {
public:
    // --- where it stands

    std::uint64_t id() const noexcept { return id_; }
    bool is_started() const noexcept { return (attention_ & kUnstarted) == 0; }
    /// The same as others see it: what stands for a call of somebody has begun with that.
    bool has_begun() const noexcept { return is_started() || (extras_ & kCalled) != 0; }
    bool is_finished() const noexcept { return is_closed(); }
    bool is_running() const noexcept;
    bool is_queued() const noexcept {
        return waker_state_ == WakerState::Queued || waker_state_ == WakerState::Ignored;
    }
    bool is_suspended() const noexcept { return !is_finished() && !is_running() && id_ != 0; }
    bool is_cancel_requested() const noexcept { return is_cancel_requested_; }
    /// Cancelled and finished.
    bool is_cancelled() const noexcept { return is_finished() && error() != nullptr && error_->is_cancellation(); }
    bool is_protected() const noexcept { return protect_depth_ != 0; }
    WakerState waker_state() const noexcept { return waker_state_; }

    /// What it waits for at present: one line each.
    std::vector<std::string> awaiting() const;
    /// What it waits in; null when it does not wait, or waits for one event only.
    const Wait* wait() const noexcept { return is_listed() ? wait_ : nullptr; }
    /// Before it is woken: brings what that touches into the caches.
    TA_INLINE void prefetch_state() const noexcept { __builtin_prefetch(&waker_state_, 1); }
    const Waker& waker() const noexcept {
        if (!is_listed()) {
            const_cast<Coroutine*>(this)->waker_.build(const_cast<Coroutine&>(*this));
        }
        return waker_;
    }

    // --- what came of it

    /// Where the result lies after a successful end. Typed coroutines override it.
    virtual void* result() noexcept { return nullptr; }
    Error* error() const noexcept { return (extras_ & kFailed) != 0 ? error_ : nullptr; }

    // --- who and where

    std::string name() const;
    void set_name(std::string name);
    virtual Place spawned_at() const { return Place(spawned_at_); }
    /// Where it last suspended; not known before the first time.
    virtual Place suspended_at() const { return is_listed() ? Place(suspended_at_) : Place(); }
    Owner* owner() const noexcept { return (extras_ & kOwned) != 0 ? owner_ : nullptr; }
    void set_owner(Owner* owner) noexcept {
        if (owner == nullptr) {
            extras_ &= static_cast<std::uint8_t>(~kOwned);
            return;
        }
        owner_ = owner;
        note(kOwned, true);
    }
    /// A number that belongs to the owner: it keeps there where it has the coroutine.
    std::uint32_t owner_note() const noexcept { return owner_note_; }
    void set_owner_note(std::uint32_t note) noexcept { owner_note_ = note; }

    /// For whoever is responsible, while it is told of the end: another error takes the place of the one it ended with.
    void replace_error(Ref<Error> error) noexcept { fail(std::move(error)); }

    /// At most one; null when there is none.
    Attachment* attachment() const noexcept { return has_rare() ? rare_->attachment.get() : nullptr; }
    void attach(std::unique_ptr<Attachment> attachment) { rare().attachment = std::move(attachment); }

    const ExecutionContext& context() const noexcept { return context_; }

    Priority priority() const noexcept { return is_high_priority_ ? Priority::High : Priority::Normal; }
    void set_priority(Priority priority) noexcept { is_high_priority_ = priority == Priority::High; }

    void add_switch_handler(SwitchHandler handler);

    /// To be called when it has ended, before those who await it go on. False, and nothing was done, when it has ended already.
    bool add_finally(std::unique_ptr<FinallyHandler>& handler);
    /// For a host's collector; null when there are none.
    const FinallyList* finally_list() const noexcept { return has_rare() ? &rare_->finally : nullptr; }

    // --- as an event

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    std::string info() const override;

protected:
    explicit Coroutine(std::source_location where = std::source_location::current()) noexcept
        : Event(EventType::Coroutine), SwitchState(kNew, WakerState::NoStatus), ListNode(Unset{}), spawned_at_(where) {}

    /// One that is queued as soon as it is made: `Scheduler::claim_spawn` has given the id, `Scheduler::enter` follows.
    struct Claim {
        std::uint64_t id;
        std::uint8_t body;
    };
    Coroutine(std::source_location where, Claim claim) noexcept
        : Event(EventType::Coroutine, Firing::OneShot, 2),
          SwitchState(kNew, WakerState::Queued),
          ListNode(Unset{}),
          body_(claim.body),
          id_(claim.id),
          spawned_at_(where) {}

    /// The same for `Scheduler::claim_owned_spawn`; only the runtime holds it.
    struct OwnedClaim {
        std::uint64_t id;
        Owner* owner;
        std::uint32_t note;
        std::uint8_t body;
    };
    Coroutine(std::source_location where, OwnedClaim claim) noexcept
        : Event(EventType::Coroutine),
          SwitchState(kNew, WakerState::Queued),
          ListNode(Unset{}),
          extras_(kOwned),
          body_(claim.body),
          owner_note_(claim.note),
          id_(claim.id),
          spawned_at_(where),
          owner_(claim.owner) {
        flags_ |= kSpecialTrait;
    }

    ~Coroutine() override {
        if (TA_UNLIKELY((extras_ & (kOwned | kHasRare | kFailed)) != 0)) {
            destroy_extras();
        }
    }

    /// The body. May suspend; may throw a C++ exception, which becomes the error.
    virtual void run() = 0;

    /// It ends without ever having run: lets go what the body would have used.
    virtual void drop_body() noexcept {}

    /// For bodies that do not throw: says that it failed. Call it before `run` returns.
    void fail(Ref<Error> error) noexcept;

    /// For whoever has a body or a result to keep: what there is of the two. Set by the constructor.
    std::uint8_t body() const noexcept { return body_; }
    void set_body(std::uint8_t body) noexcept { body_ = body; }

    /// The destructor has nothing to do: no error, nothing special, no memory.
    bool is_bare() const noexcept { return extras_ == 0 && callbacks_.is_bare(); }
    /// Known to be bare, once it has ended.
    bool has_ended_bare() const noexcept { return (flags_ & kSpecialTrait) == 0; }
    /// For `set_body`: nothing of the user's is left in it. When nobody else holds it, the runtime says so with `kNothing` before
    /// `end_easily`, which then has only the memory to free.
    static constexpr std::uint8_t kHollow = 128;
    static constexpr std::uint8_t kNothing = 129;

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
    friend struct detail::SwitchState;

    /// Why the fast paths must not be taken. Zero in the common case.
    enum Attention : std::uint32_t {
        kUnstarted = 1U << 0,   // has no stack yet
        kHooks = 1U << 1,       // switch handlers want to know
        kCancel = 1U << 2,      // a cancellation is to be delivered at the next suspension point
        kEnter = 1U << 3,       // the hooks are to be told when it continues
        kNoSuspend = 1U << 4,   // the shutdown is in its last step: nothing waits any more
        kInCallback = 1U << 5,  // a callback, microtask or handler runs in its turn
        kUnlisted = 1U << 6,    // has never stopped and is not in the list of all
        kCancelNext = 1U << 7,  // a cancellation is to be delivered, but not at this suspension point
        kHost = 1U << 8,        // the host's hook wants to know
        kNew = kUnstarted | kUnlisted,
    };

    /// What makes the end of a coroutine more than a result for one waiter. Zero in the common case.
    enum Extra : std::uint8_t {
        kOwned = 1U << 0,
        kFailed = 1U << 1,
        kHasRare = 1U << 2,
        kMustBegin = 1U << 3,  // a cancellation before the start does not keep it from running
        kCleansUp = 1U << 4,   // the beginning of a shutdown does not cancel it
        kCalled = 1U << 5,     // stands for a call of somebody who has begun
    };
    void note(Extra extra, bool is_so) noexcept {
        extras_ = static_cast<std::uint8_t>(is_so ? extras_ | extra : extras_ & ~extra);
        flags_ |= kSpecialTrait;
    }

    /// What few coroutines have.
    struct Rare {
        SwitchHandlers handlers;
        Ref<Error> cancellation;  // requested and not yet delivered
        FinallyList finally;
        std::unique_ptr<Attachment> attachment;
        std::string name;
        std::vector<std::unique_ptr<WakeCallback, WakeCallback::Free>> subscriptions;
    };
    /// Whose first subscription this is: faster than the pointer it has.
    static Coroutine& of(WakeCallback& first) noexcept;
    Rare& rare();
    void destroy_extras() noexcept;
    bool has_rare() const noexcept { return (extras_ & kHasRare) != 0; }
    bool has_pending_cancellation() const noexcept { return has_rare() && rare_->cancellation != nullptr; }
    bool is_listed() const noexcept { return (attention_ & kUnlisted) == 0; }
    /// Sets what the constructor has left out, for one that is being listed or will never be.
    void complete() noexcept {
        waker_.build(*this);
        wait_ = nullptr;
        suspended_at_ = {};
        attention_ &= ~std::uint32_t{kUnlisted};
    }

    // The order matters: a spawn is bound by how many cache lines it writes, so what only few need, or only whoever stops, lies between
    // what a switch touches and what every spawn sets, which shares its line with the closure behind it.
    Error* error_;  // counted; this, the owner and the rest mean nothing without their `Extra`
    Rare* rare_;
    std::byte gap_[32];  // keeps the waker, and what follows it, in a line of their own
    Waker waker_;        // built when it is listed
    // Far from `waker_state_`: read together with what was just written, it would have to wait.
    std::uint16_t protect_depth_ = 0;
    std::uint8_t extras_ = 0;
    std::uint8_t body_ = 0;
    std::uint32_t owner_note_ = 0;
    std::uint64_t id_ = 0;
    std::source_location spawned_at_;
    Owner* owner_;
};

TA_INLINE void detail::SwitchState::begin_turn() noexcept {
    struct {
        std::uint32_t attention = ~std::uint32_t{Coroutine::kUnstarted};
        std::uint8_t waker_state = 0;
        std::uint8_t rest[3] = {0xFF, 0xFF, 0xFF};
    } keep;
    static_assert(static_cast<int>(WakerState::NoStatus) == 0);
    std::uint64_t word = 0;
    std::memcpy(&word, &attention_, sizeof(word));
    word &= std::bit_cast<std::uint64_t>(keep);
    std::memcpy(&attention_, &word, sizeof(word));
}

inline Coroutine& Coroutine::of(WakeCallback& first) noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // not standard for such a class; right on every ABI we run on
    constexpr std::size_t kOffset = offsetof(Coroutine, waker_);
#pragma GCC diagnostic pop
    return *reinterpret_cast<Coroutine*>(reinterpret_cast<std::byte*>(&first) - kOffset);
}

#if !defined(TA_TSAN) && !defined(TA_ASAN)
static_assert(sizeof(Coroutine) <= 288, "a parked coroutine is one page and this");
#endif

}  // namespace trueasync
