#pragma once

/// @file trueasync/runtime/scheduler.hpp
/// Decides who runs next, on the stack of whoever stops.

#include <cstdint>
#include <memory>
#include <source_location>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/base/status.hpp>
#include <trueasync/runtime/coroutine.hpp>
#include <trueasync/runtime/helper.hpp>
#include <trueasync/runtime/host_hook.hpp>
#include <trueasync/runtime/microtask.hpp>
#include <trueasync/runtime/reactor.hpp>
#include <trueasync/runtime/run_queue.hpp>
#include <trueasync/runtime/stack_pool.hpp>
#include <vector>

namespace trueasync {

class Runtime;
class Scheduler;

/// How a wait ended.
enum class WaitResult : std::uint8_t {
    Ready,      ///< what was waited for has happened
    Cancelled,  ///< the coroutine, or this wait by a token, was cancelled
    TimedOut,   ///< the deadline came first
    Refused,    ///< it could not begin: wrong place, wrong state
    Failed,     ///< what was waited for ended with an error
};

namespace detail {

/// The layout of `__cxa_eh_globals`: the exceptions a stack is handling belong to that stack. The count is an `unsigned int` there, and
/// what follows it is not used.
struct ExceptionState {
    void* caught = nullptr;
    std::uintptr_t uncaught = 0;

    bool is_empty() const noexcept { return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) == 0; }
};

/// What a switch touches, per thread: one cache line, and behind it what only a spawn reads. All zero on a thread without a runtime,
/// which sends every fast path to its slow one.
struct alignas(64) Hot {
    Coroutine* current = nullptr;
    ExceptionState* exceptions = nullptr;  // between the two on purpose: adjacent ones were written as one vector
    RunQueue queue;
    std::int32_t fast_turns = 0;        // switches left until microtasks or the reactor must be looked at
    std::int32_t promises = 0;          // of stacks that were made and went to nobody yet; see `StackPool::reserve`
    ExecutionContext* spare = nullptr;  // of a coroutine that has ended, waiting for the next one to start
    Scheduler* scheduler = nullptr;
    std::uint64_t spawned = 0;     // how many so far, which is the id of the latest
    bool is_spawn_simple = false;  // there is a running coroutine, spawns are accepted, and there is no host hook
    Ahead ahead = Ahead::Done;     // what is to be fetched next; see `Scheduler::look_ahead_in_steps`
};

TA_API extern thread_local constinit Hot hot __attribute__((tls_model("initial-exec")));

/// The address of `hot`, computed anew. A compiler would keep it in a register across a switch; there it comes out of memory,
/// and everything after the switch would wait for it.
TA_INLINE Hot& hot_here() noexcept {
#if defined(__x86_64__) && defined(__ELF__)
    Hot* address = nullptr;
    asm volatile("movq %%fs:0, %0\n\taddq _ZN9trueasync6detail3hotE@gottpoff(%%rip), %0" : "=r"(address) : : "cc");
    return *address;
#else
    return hot;
#endif
}

/// Counts down in memory, without a detour through a register; true when nothing is left.
TA_INLINE bool count_down(std::int32_t& left) noexcept {
#if defined(__x86_64__)
    bool is_negative = false;
    asm("subl $1, %0" : "+m"(left), "=@ccs"(is_negative));
    return is_negative;
#else
    return --left < 0;
#endif
}

}  // namespace detail

/// What the scheduler has done so far. Plain integers of the loop's thread.
struct SchedulerStats {
    std::uint64_t spawned = 0;
    std::uint64_t finished = 0;
    std::uint64_t switches = 0;            ///< all switches between coroutines, the scheduler's own included
    std::uint64_t scheduler_switches = 0;  ///< those into the scheduler's own coroutine
    std::uint64_t handovers = 0;           ///< contexts handed to an unstarted coroutine without a switch
    std::uint64_t ticks = 0;               ///< non-blocking turns of the reactor
    std::uint64_t blocks = 0;              ///< blocking turns of the reactor
    std::uint64_t fast_returns = 0;        ///< waits that needed no suspending at all
    std::uint64_t deadlocks = 0;
};

struct SchedulerSettings {
    /// At most this many switches between two looks at the clock, or at a reactor without one; fewer until turns have proved short.
    std::uint32_t turns_per_tick = 64;
    /// With a real clock: how long the reactor may be left alone while coroutines are ready.
    Duration tick_interval = std::chrono::microseconds(100);
};

struct StuckTag;

/// Asked when nothing is ready and nothing can make anyone ready, before that is called a deadlock.
class TA_API StuckHandler : public ListNode<StuckTag> {
public:
    virtual ~StuckHandler() { unlink(); }

    /// May wake somebody; true when it has. Must not suspend.
    virtual bool relieve() noexcept = 0;
};

/// One per runtime. Coroutines are switched directly, from one to the next; the scheduler's own coroutine runs only when the
/// queue is empty and the reactor must block, when a switch failed, and on deadlock.
///
/// Thread rule: its thread only. Nothing here throws.
class TA_API Scheduler {
public:
    Scheduler(Runtime& runtime, Reactor& reactor, StackPool& stacks, SchedulerSettings settings);
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;
    ~Scheduler();

    /// The scheduler of this thread; null when none runs.
    static Scheduler* current() noexcept { return detail::hot.scheduler; }
    /// The running coroutine; null outside.
    static Coroutine* current_coroutine() noexcept { return detail::hot.current; }

    // --- suspending

    /// Lets everybody else who is ready run first. May suspend; returns at once when nobody is ready.
    /// Inlined with its switch, so that each place in a program has a jump of its own to predict.
    static TA_INLINE WaitResult suspend(std::source_location where) noexcept;

    /// The same among coroutines of which nothing is special, for a host that exchanges its state itself: `leave(self)` comes right before the
    /// switch, and the hook is told nothing. Null: nothing was done, take the long way. Else the running coroutine, which has been continued:
    /// its host state comes next, then `is_undisturbed` or `arrived`.
    template <typename Leave>
    static TA_INLINE Coroutine* suspend_simple(std::source_location where, Leave&& leave) noexcept;

    /// Lets the head of the queue run up to its next stop and goes on right after it, before everybody else. May suspend.
    static WaitResult run_head(std::source_location where) noexcept;

    /// Suspends until someone wakes this coroutine with `wake`. For waits; see wait.hpp. Call it with the waker state set to
    /// `Waiting` only; the caller looks at `attention` afterwards through `arrived`.
    static TA_INLINE void park(Coroutine& self) noexcept;

    /// After `park` or `suspend`: whether a cancellation came instead.
    static TA_INLINE WaitResult arrived(Coroutine& self) noexcept {
        return TA_LIKELY(self.attention_ == 0) ? WaitResult::Ready : arrived_slow(self);
    }

    /// Before a wait: refuses where suspending is impossible, delivers a pending cancellation.
    static TA_INLINE WaitResult departing(Coroutine*& self) noexcept {
        self = detail::hot.current;
        if (TA_LIKELY(self != nullptr && self->attention_ == 0)) {
            return WaitResult::Ready;
        }
        return departing_slow(self);
    }

    /// A wait for one simple event, without a guard, while others are ready; see `wait_for`. Null: nothing was done, take the long
    /// way. Else the running coroutine, which has been continued: `end_simple_wait` comes next.
    /// `kMaySelf`: the event may be the running coroutine, which does not wait for itself.
    template <bool kMaySelf = true>
    static TA_INLINE Coroutine* wait_simple(Event& event, Hold hold, std::source_location where) noexcept;
    static TA_INLINE bool end_simple_wait(Coroutine& self) noexcept {
        return TA_LIKELY(self.attention_ == 0) && self.waker_.end_simple(true);
    }
    /// The same, and the caller gets the reference.
    static TA_INLINE bool end_simple_join(Coroutine& self) noexcept {
        return TA_LIKELY(self.attention_ == 0) && self.waker_.end_simple(false);
    }

    /// `Event::notify` with a result, for one that fires once and is open: that nobody waits, or one coroutine, is inlined.
    static TA_INLINE void notify_once(Event& event, void* result) noexcept;

    /// A direct wait without a guard, while others are ready: `enter(self)` puts the coroutine into the list of whoever will wake it,
    /// then it stops; `wait` is where dumps and a shutdown find it. Null: nothing was done, take the long way. Else the running
    /// coroutine, which has been continued: `is_undisturbed` or `arrived` comes next.
    template <typename Enter>
    static TA_INLINE Coroutine* wait_direct(Wait& wait, std::source_location where, Enter&& enter) noexcept;
    /// Nothing but a wake-up has happened.
    static TA_INLINE bool is_undisturbed(const Coroutine& self) noexcept { return TA_LIKELY(self.attention_ == 0); }
    /// The same for one with a hook that was not called.
    static TA_INLINE bool is_undisturbed_but_hooked(const Coroutine& self) noexcept {
        return TA_LIKELY((self.attention_ & ~std::uint32_t{Coroutine::kHost}) == 0);
    }

    /// The error behind the last `Cancelled`, `TimedOut`, `Refused` or `Failed` on this thread.
    /// Null for a deadline that passed.
    static Ref<Error> take_wait_error() noexcept;
    static WaitResult refuse(ErrorCode code, std::string message) noexcept;
    static WaitResult refuse(Ref<Error> error, WaitResult as = WaitResult::Refused) noexcept;

    // --- coroutines

    /// Queues an unstarted coroutine and takes a reference to it. Refused during shutdown (unless it was cancelled before: it just ends),
    /// by the owner, and when there is no memory for its stack; the caller then still owns it and it never runs.
    [[nodiscard]] Status spawn(Coroutine& coroutine, Owner* owner = nullptr) noexcept;

    /// Spawns a coroutine of the host's kind for code that the runtime calls itself. Works during a shutdown too, until its last step.
    /// With high priority it is for handlers of an end: the owner is not asked then, only told by `adopt_helper`.
    [[nodiscard]] Status spawn_helper(
        std::unique_ptr<HelperBody> body,
        const Place& where,
        Priority priority = Priority::Normal,
        Owner* owner = nullptr,
        Ref<Coroutine>* made = nullptr
    ) noexcept;
    void set_helper_factory(HelperFactory* factory) noexcept { helper_factory_ = factory; }

    /// Who is responsible for the running coroutine, and for those it spawns without saying more; null when nobody is.
    static Owner* current_owner() noexcept {
        const Coroutine* self = current_coroutine();
        return self != nullptr ? self->owner() : nullptr;
    }

    /// Whether `spawn` would be refused now, and why.
    [[nodiscard]] Status can_spawn() noexcept;

    /// The same in two steps, for a coroutine that is made in between and is nothing special. First: what it needs is there, here is
    /// its id (see `Coroutine::Claim`). False when it is not: use `spawn`.
    static TA_INLINE bool claim_spawn(std::uint64_t& id) noexcept {
        detail::Hot& hot = detail::hot_here();
        if (TA_UNLIKELY(
                !hot.is_spawn_simple || (hot.current->extras_ & Coroutine::kOwned) != 0 || !reserve_stack(hot)
            )) {
            return false;
        }
        id = ++hot.spawned;
        return true;
    }
    /// The same for a coroutine whose owner is not the running one's; that asks and tells the owner itself.
    static TA_INLINE bool claim_owned_spawn(std::uint64_t& id) noexcept {
        detail::Hot& hot = detail::hot_here();
        if (TA_UNLIKELY(!hot.is_spawn_simple || !reserve_stack(hot))) {
            return false;
        }
        id = ++hot.spawned;
        return true;
    }
    /// Second: it is made, with the reference that the runtime holds; or it could not be made.
    static TA_INLINE void enter(Coroutine& coroutine) noexcept { detail::hot.queue.push_back(coroutine); }
    static void unclaim_spawn(std::uint64_t id) noexcept {
        current()->stacks_.unreserve();
        if (detail::hot.spawned == id) {
            --detail::hot.spawned;
        }
    }

    /// Makes a waiting coroutine ready. Does nothing for one that is ready, running or finished.
    static TA_INLINE void wake(Coroutine& coroutine) noexcept {
        if (TA_LIKELY(coroutine.waker_state_ == WakerState::Waiting)) {
            enqueue(coroutine);
        }
    }

    /// Before one works: fetches what the next ones in the queue need, who have left the caches when there are many.
    static void look_ahead() noexcept;
    /// The same for who is about to enter the kernel several times: only the first step. Each other comes with a `look_on`, so that none asks
    /// for more than the processor fetches at a time.
    static void look_ahead_in_steps() noexcept;
    static TA_INLINE void look_on() noexcept {
        if (detail::hot.ahead != Ahead::Done) {
            look_on_slow();
        }
    }

    /// Asks a coroutine to end. The first request counts until it was delivered: at the next suspension point, which fails
    /// with it; before the start, so that the body never runs; inside `protect`, when the outermost section ends.
    void cancel(Coroutine& coroutine, Ref<Error> cancellation) noexcept {
        cancel(coroutine, std::move(cancellation), false);
    }

    /// The same with an error that does not ask it to stop: it leaves what it waits for, and may go on.
    void interrupt(Coroutine& coroutine, Ref<Error> error) noexcept;

    /// After `cancel`, and before the coroutine goes on: if what it waited for has happened meanwhile, it is told that, and the
    /// cancellation comes at its next suspension point.
    static void cancel_later(Coroutine& coroutine) noexcept;

    /// All unfinished coroutines in the order they were spawned, main first.
    IntrusiveList<Coroutine, AliveTag>& alive();
    std::size_t alive_count() const noexcept;

    // --- microtasks and hooks

    /// Queues work to be done before the next switch.
    void add_microtask(Microtask& task) noexcept;
    MicrotaskQueue& microtasks() noexcept { return microtasks_; }

    void set_host_hook(HostHook* hook) noexcept;
    void add_stuck_handler(StuckHandler& handler) noexcept { stuck_handlers_.push_back(handler); }
    HostHook* host_hook() const noexcept { return host_hook_; }

    /// For a host that saves and restores its state itself, inline, around one wait of the running coroutine: until `unmute_hook` the short
    /// ways, on which nothing of the host's is called, are open to it. On a long one the hook is told by `leave`, and by nothing when the
    /// wait is over.
    static TA_INLINE void mute_hook(Coroutine& self) noexcept { self.attention_ &= ~std::uint32_t{Coroutine::kHost}; }
    static TA_INLINE void unmute_hook(Coroutine& self) noexcept { self.attention_ |= Coroutine::kHost; }

    SchedulerStats stats() const noexcept;
    const SchedulerSettings& settings() const noexcept { return settings_; }
    Reactor& reactor() noexcept { return reactor_; }
    StackPool& stacks() noexcept { return stacks_; }
    Runtime& runtime() noexcept { return runtime_; }
    Coroutine& main() noexcept { return *main_; }
    /// The scheduler's own coroutine, in no list.
    Coroutine& own_coroutine() noexcept;
    /// True while a reactor callback, microtask or handler runs: nothing may suspend there.
    static bool is_inside_callback() noexcept {
        return detail::hot.current != nullptr && (detail::hot.current->attention_ & Coroutine::kInCallback) != 0;
    }

    /// Counts a wait that was over before it began.
    static void count_fast_return() noexcept { ++detail::hot.scheduler->stats_.fast_returns; }

private:
    friend class Runtime;
    class OwnCoroutine;
    class CallbackSection;

    enum class Idle : std::uint8_t { Poll, Again };

    // life cycle, driven by Runtime
    [[nodiscard]] Status begin(Coroutine& main, const SwitchHandlers& main_handlers) noexcept;
    void end() noexcept;
    void drain() noexcept;
    void finish_main(Ref<Error> error) noexcept;
    void cancel(Coroutine& coroutine, Ref<Error> cancellation, bool even_protected) noexcept;
    void abandon(Coroutine& coroutine) noexcept;

    void set_accepting(bool is_accepting) noexcept {
        is_accepting_ = is_accepting;
        if (current() == this) {
            detail::hot.is_spawn_simple = is_accepting_ && host_hook_ == nullptr;
        }
    }
    static TA_INLINE void enqueue(Coroutine& coroutine) noexcept {
        coroutine.waker_state_ = WakerState::Queued;
        if (TA_UNLIKELY(coroutine.is_high_priority_)) {
            detail::hot.queue.push_front(coroutine);
        } else {
            detail::hot.queue.push_back(coroutine);
        }
    }
    static void look_on_slow() noexcept;
    TA_COLD Status refuse_spawn();
    Status spawn_in(Coroutine& coroutine, Owner* owner, bool is_handler = false) noexcept;
    bool ask_stuck_handlers() noexcept;
    TA_COLD static WaitResult suspend_slow(std::source_location where) noexcept;
    TA_COLD static WaitResult arrived_slow(Coroutine& self) noexcept;
    TA_COLD static WaitResult departing_slow(Coroutine* self) noexcept;
    TA_COLD static void park_slow(Coroutine& self) noexcept;
    static WaitResult deliver_cancellation(Coroutine& self) noexcept;

    void tick() noexcept;
    void tick_reactor() noexcept;
    bool run_microtasks() noexcept;
    void grant_turns(std::uint32_t turns) noexcept;
    Coroutine* next_ready() noexcept;
    void switch_from(Coroutine& self) noexcept;
    bool prepare(Coroutine& coroutine) noexcept;
    static TA_INLINE bool are_plain(const Coroutine& self, const Coroutine& next, std::uint32_t allowed) noexcept;
    static TA_INLINE bool may_turn(detail::Hot& hot) noexcept;
    static TA_INLINE bool can_pass(detail::Hot& hot, const Coroutine& self, const Coroutine& next) noexcept {
        return are_plain(self, next, Coroutine::kNew) && may_turn(hot);
    }
    static TA_INLINE bool pass(detail::Hot& hot, Coroutine& self, Coroutine& next) noexcept;
    static TA_INLINE void take_turns(
        detail::Hot& hot, Coroutine& self, Coroutine& next, std::source_location where
    ) noexcept;
    static TA_INLINE void use_spare(detail::Hot& hot, Coroutine& coroutine) noexcept {
        coroutine.context_.inherit(*hot.spare);
        coroutine.begin_turn();
        hot.spare = nullptr;
    }
    static TA_INLINE bool reserve_stack(detail::Hot& hot) noexcept {
        if (TA_LIKELY(!detail::count_down(hot.promises))) {
            return true;
        }
        hot.promises = 0;
        return hot.scheduler->stacks_.reserve();
    }
    void enlist(Coroutine& coroutine) noexcept;
    template <typename Visit>
    void each_unlisted(Visit&& visit) const;
    ExecutionContext* start(Coroutine& coroutine) noexcept;
    void finish(Coroutine& coroutine) noexcept;
    Coroutine* finish_simple(Coroutine& coroutine, bool& is_given) noexcept;
    static Coroutine& take_waiter(Coroutine& ended, Callback& callback, bool& is_given) noexcept;
    bool finish_owned(Coroutine& coroutine, bool& is_given) noexcept;
    Coroutine* next_after(detail::Hot& state, Coroutine& ended, Coroutine* waiter, bool& is_given) noexcept;
    void wait_as_spare(
        detail::Hot& state, ExecutionContext& here, Coroutine& ended, bool is_given, Coroutine& next
    ) noexcept;
    void drop(Coroutine& ended, bool is_given) noexcept;
    void drop_last(Coroutine& ended) noexcept;
    TA_COLD void run_finally(Coroutine& coroutine) noexcept;
    void finish_unstarted(Coroutine& coroutine, Ref<Error> error) noexcept;
    void fire_handlers(Coroutine& coroutine, SwitchKind kind) noexcept;
    void enter_hooks(Coroutine& coroutine) noexcept;
    void leave_hooks(Coroutine& coroutine) noexcept;
    void loop() noexcept;
    Idle idle() noexcept;
    [[noreturn]] static void context_main() noexcept;
    [[noreturn]] static void reactor_main() noexcept;

    Runtime& runtime_;
    Reactor& reactor_;
    StackPool& stacks_;
    SchedulerSettings settings_;
    MicrotaskQueue microtasks_;
    HostHook* host_hook_ = nullptr;
    HelperFactory* helper_factory_ = nullptr;
    IntrusiveList<StuckHandler, StuckTag> stuck_handlers_;
    Coroutine* main_ = nullptr;
    std::unique_ptr<OwnCoroutine> own_;
    ExecutionContext reactor_context_;
    ExecutionContext* reactor_caller_ = nullptr;
    // A coroutine is listed when it first stops, or when somebody asks for all; before, it is in the queue or running. Most
    // that never stop are never listed.
    IntrusiveList<Coroutine, AliveTag> alive_;
    bool is_alive_sorted_ = true;
    std::uint32_t turns_granted_ = 0;
    std::uint32_t turns_wanted_ = 0;  // adapted to how long turns take
    Instant last_tick_{};             // of the reactor, by the clock; none after a sleep
    bool is_accepting_ = false;
    bool is_draining_ = false;
    SchedulerStats stats_;
};

TA_INLINE WaitResult Scheduler::suspend(std::source_location where) noexcept {
    detail::Hot& hot = detail::hot_here();
    Coroutine* self = hot.current;
    Coroutine* next = hot.queue.head();
    if (TA_UNLIKELY(
            next == nullptr || (self->attention_ | next->attention_) != 0 || !hot.exceptions->is_empty() ||
            detail::count_down(hot.fast_turns)
        )) {
        return suspend_slow(where);
    }
    take_turns(hot, *self, *next, where);
    return arrived(*self);
}

/// Leaves `self` at the tail of the queue for its head.
TA_INLINE void Scheduler::take_turns(
    detail::Hot& hot, Coroutine& self, Coroutine& next, std::source_location where
) noexcept {
    self.suspended_at_ = where;
    self.waker_state_ = WakerState::Queued;
    hot.queue.rotate(self);
    next.waker_state_ = WakerState::NoStatus;
    hot.current = &next;
    ExecutionContext::switch_to(self.context_, next.context_);
}

template <typename Leave>
TA_INLINE Coroutine* Scheduler::suspend_simple(std::source_location where, Leave&& leave) noexcept {
    detail::Hot& hot = detail::hot_here();
    Coroutine* self = hot.current;
    Coroutine* next = hot.queue.head();
    if (TA_UNLIKELY(
            next == nullptr || ((self->attention_ | next->attention_) & ~std::uint32_t{Coroutine::kHost}) != 0 ||
            !may_turn(hot)
        )) {
        return nullptr;
    }
    leave(*self);
    take_turns(hot, *self, *next, where);
    self = detail::hot_here().current;
    if (self == nullptr) {
        __builtin_unreachable();
    }
    return self;
}

/// Whether `self` may stop for the head of the queue right here, of which nothing but `allowed` is special.
TA_INLINE bool Scheduler::are_plain(const Coroutine& self, const Coroutine& next, std::uint32_t allowed) noexcept {
    return TA_LIKELY((self.attention_ | (next.attention_ & ~(allowed | Coroutine::kHost))) == 0);
}

TA_INLINE bool Scheduler::may_turn(detail::Hot& hot) noexcept {
    return TA_LIKELY(hot.exceptions->is_empty() && !detail::count_down(hot.fast_turns));
}

/// Leaves `self` for the head of the queue. False, before anything was done: there is no stack for it.
TA_INLINE bool Scheduler::pass(detail::Hot& hot, Coroutine& self, Coroutine& next) noexcept {
    ExecutionContext* to = &next.context_;
    if ((next.attention_ & Coroutine::kUnstarted) != 0) {
        to = hot.spare;
        if (TA_LIKELY(to != nullptr)) {
            use_spare(hot, next);
        } else if (to = &next.context_; !hot.scheduler->prepare(next)) {
            return false;
        }
    } else {
        next.waker_state_ = WakerState::NoStatus;
    }
    hot.queue.drop_head();
    hot.current = &next;
    ExecutionContext::switch_to(self.context_, *to);
    return true;
}

TA_INLINE void Scheduler::park(Coroutine& self) noexcept {
    detail::Hot& hot = detail::hot_here();
    Coroutine* next = hot.queue.head();
    if (TA_UNLIKELY(next == nullptr || !can_pass(hot, self, *next) || !pass(hot, self, *next))) {
        park_slow(self);
    }
}

template <bool kMaySelf>
TA_INLINE Coroutine* Scheduler::wait_simple(Event& event, Hold hold, std::source_location where) noexcept {
    detail::Hot& hot = detail::hot_here();
    Coroutine* self = hot.current;
    Coroutine* next = hot.queue.head();
    if (TA_UNLIKELY(
            next == nullptr || !are_plain(*self, *next, Coroutine::kNew) || self->wait_ != nullptr ||
            !Waker::can_begin_simple(event, hold) || (kMaySelf && static_cast<Event*>(self) == &event) || !may_turn(hot)
        )) {
        return nullptr;
    }
    self->waker_.begin_simple(event, hold);
    self->suspended_at_ = where;
    self->waker_state_ = WakerState::Waiting;
    if (TA_UNLIKELY(!pass(hot, *self, *next))) {
        park_slow(*self);
    }
    self = detail::hot_here().current;  // as it was, without having kept it on the stack
    if (self == nullptr) {
        __builtin_unreachable();
    }
    return self;
}

TA_INLINE void Scheduler::notify_once(Event& event, void* result) noexcept {
    Callback* only = event.callbacks_.first();
    const bool is_wake = event.callbacks_.has_one() && only->is_single_wake();
    if (TA_UNLIKELY((event.flags_ & Event::kFiringBits) != 0 || !(is_wake || event.callbacks_.is_vacant()))) {
        event.fire(result, nullptr).ignore();
        return;
    }
    event.flags_ |= is_wake ? Event::kEasyEnd : Event::kClosedBit;  // closed, and taken by the one who waits
    event.move_to(EventState::Closed);
    if (is_wake) {
        event.callbacks_.take_only();
        auto& callback = static_cast<WakeCallback&>(*only);
        callback.fired_ = WakeCallback::Fired::Well;
        callback.is_subscribed_ = false;
        callback.result_ = result;
        wake(Coroutine::of(callback));
    }
}

template <typename Enter>
TA_INLINE Coroutine* Scheduler::wait_direct(Wait& wait, std::source_location where, Enter&& enter) noexcept {
    detail::Hot& hot = detail::hot_here();
    Coroutine* self = hot.current;
    Coroutine* next = hot.queue.head();
    if (TA_UNLIKELY(
            next == nullptr || !are_plain(*self, *next, Coroutine::kUnlisted) || self->wait_ != nullptr ||
            !may_turn(hot)
        )) {
        return nullptr;
    }
    // As `pass`, in the order of the cache lines: stores that go back and forth between them cost twice as much.
    hot.queue.drop_head();
    hot.current = next;
    next->waker_state_ = WakerState::NoStatus;
    enter(*self);
    self->wait_ = &wait;
    asm volatile("" : : : "memory");
    self->suspended_at_ = where;
    self->waker_state_ = WakerState::Waiting;
    ExecutionContext::switch_to(self->context_, next->context_);
    self = detail::hot_here().current;
    if (self == nullptr) {
        __builtin_unreachable();
    }
    self->wait_ = nullptr;
    return self;
}

}  // namespace trueasync
