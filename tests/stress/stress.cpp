// Random programs against a model: trueasync_stress --steps=N [--seed=S]
//
// A driver (the main coroutine) and its workers do random things: spawn, wait in every way there is, fire, close and drop events, cancel,
// drop handles, add microtasks and switch handlers. Beside each wait lies a record of what must end it; whenever nobody is ready any
// more the records are compared with who still waits. Every round is a run of its own and must leave nothing behind.
// Exit code 0: nothing was violated. The seed is printed first and repeats the run exactly.

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <trueasync/reactor/virtual_reactor.hpp>
#include <trueasync/trueasync.hpp>
#include <vector>

namespace trueasync::stress {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRoundSteps = 50'000;
constexpr std::uint64_t kCheckEvery = 512;
constexpr std::size_t kSlots = 64;
constexpr std::size_t kEvents = 12;

std::uint64_t seed = 0;
std::uint64_t step = 0;

[[noreturn]] void violation(const std::string& what) {
    std::printf("VIOLATION in step %" PRIu64 " (seed %" PRIu64 "): %s\n%s", step, seed, what.c_str(), dump().c_str());
    std::fflush(stdout);
    std::_Exit(1);
}

void expect(bool is_true, const char* what) {
    if (!is_true) [[unlikely]] {
        violation(what);
    }
}

/// splitmix64: small, fast, the same everywhere.
class Random {
public:
    explicit Random(std::uint64_t state) : state_(state) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    unsigned pick(unsigned count) { return static_cast<unsigned>(next() % count); }
    bool one_in(unsigned count) { return pick(count) == 0; }
    Duration duration() { return std::chrono::microseconds(1 + pick(100)); }

private:
    std::uint64_t state_;
};

/// Anything that is reported is wrong, except what the driver announced.
class StrictSink final : public ReportSink {
public:
    void warning(Warning kind, const Event* /*event*/, std::string_view text) noexcept override {
        if (kind != Warning::ClosedEvent) {
            violation("warning: " + std::string(text));
        }
    }
    void unhandled_error(const Event* /*event*/, const Error& error) noexcept override {
        violation("unhandled: " + error.describe());
    }
    void deadlock(std::span<const Event* const> /*waiting*/, std::size_t /*active*/) noexcept override {
        violation("deadlock");
    }
    void did_not_stop(std::span<const Event* const> coroutines) noexcept override {
        violation(std::to_string(coroutines.size()) + " coroutines did not stop");
    }
};

/// A manual event and what was done to it. Lives as long as a record speaks of it.
struct Source {
    Ref<ManualEvent> event = ManualEvent::create();
    std::uint64_t notifies = 0;
    bool is_closed = false;
};

class Worker;

/// What a wait is for. Lies beside it, on the same stack.
struct Record {
    struct Watched {
        std::shared_ptr<Source> source;
        std::uint64_t notifies_before = 0;
        bool has_happened() const { return source->notifies != notifies_before || source->is_closed; }
    };
    static constexpr std::size_t kMost = 4;

    Watched watched[kMost];
    std::size_t count = 0;
    Worker* joined = nullptr;
    Instant due = Instant::max();
    bool is_direct = false;
    bool is_handed = false;  // a direct wait: its turn has come
    std::uint64_t sequence = 0;

    void watch(const std::shared_ptr<Source>& source) { watched[count++] = {source, source->notifies}; }
    bool has_event_happened() const {
        for (std::size_t i = 0; i < count; ++i) {
            if (watched[i].has_happened()) {
                return true;
            }
        }
        return false;
    }
    bool must_end(Instant now) const;
};

class DirectRecord : public DirectWait {
public:
    DirectRecord(const Event& source, Record& model) noexcept : DirectWait(source), record(model) {}
    Record& record;
};

/// One round: a program, its events, its bookkeeping.
struct World {
    explicit World(std::uint64_t round_seed) : random(round_seed) {
        for (auto& source : sources) {
            source = std::make_shared<Source>();
        }
    }

    Random random;
    std::shared_ptr<Source> sources[kEvents];
    Ref<TriggerEvent> trigger;
    ManualEvent counter;  // what direct waits name
    IntrusiveList<DirectRecord> queue;
    Ref<Worker> slots[kSlots];
    std::uint64_t direct_sequence = 0;
    std::uint64_t last_handed = 0;
    std::size_t workers_made = 0;
    std::size_t workers_gone = 0;
    std::size_t bodies_begun = 0;
    std::size_t bodies_ended = 0;
    std::size_t tasks_made = 0;
    std::size_t tasks_gone = 0;
    std::size_t children_begun = 0;
    std::size_t children_ended = 0;
    std::uint64_t last_task_run = 0;
    std::uint64_t task_sequence = 0;

    const std::shared_ptr<Source>& any_source() { return sources[random.pick(kEvents)]; }

    void hand_on() {
        if (DirectRecord* wait = queue.pop_front()) {
            expect(wait->record.sequence > last_handed, "direct waiters are not served in order");
            last_handed = wait->record.sequence;
            wait->record.is_handed = true;
            wait->wake();
        }
    }
};

World* world = nullptr;

VirtualReactor& the_clock() { return static_cast<VirtualReactor&>(Scheduler::current()->reactor()); }

/// Does some random waits, then ends in one of the ways there are.
class Worker final : public Coroutine {
public:
    explicit Worker(bool is_detachable) : may_fail_(!is_detachable) { ++world->workers_made; }
    ~Worker() override { ++world->workers_gone; }

    void* result() noexcept override { return &value_; }

    const Record* record() const { return record_; }
    bool may_fail() const { return may_fail_; }
    bool has_ended() const { return has_ended_; }
    std::size_t joiners() const { return joiners_; }
    void expect_cancel() { is_cancel_expected_ = true; }
    bool is_cancel_expected() const { return is_cancel_expected_; }

    /// What it must have come to, if anybody asks.
    void check_outcome() {
        expect(is_finished(), "outcome of one that runs");
        if (error() == nullptr) {
            expect(*static_cast<int*>(result()) == value_ && has_ended_, "a result without an end");
        } else if (error()->is_cancellation()) {
            expect(is_cancel_requested(), "cancelled by nobody");
        } else {
            expect(may_fail_ && error()->message().find("stress") != std::string::npos, "an error of nobody");
        }
    }

protected:
    void run() override {
        ++world->bodies_begun;
        Random& random = world->random;
        const unsigned operations = 1 + random.pick(6);
        for (unsigned i = 0; i < operations; ++i) {
            ++step;
            is_delivery_noted_ = false;
            const WaitResult result = operate(random.pick(16));
            if (result == WaitResult::Cancelled) {
                Ref<Error> error = Scheduler::take_wait_error();
                expect(error != nullptr && error->is_cancellation(), "cancelled without an error");
                if (error->reason() == CancelReason::Shutdown || !random.one_in(4)) {
                    end();
                    fail(std::move(error));
                    return;
                }
                note_delivery();  // swallowed: goes on
            }
        }
        end();
        if (may_fail_ && random.one_in(16)) {
            if (random.one_in(4)) {
                throw std::runtime_error("stress exception");
            }
            fail(Error::make(ErrorCode::System, "stress failure"));
        }
    }

private:
    void end() {
        has_ended_ = true;
        ++world->bodies_ended;
    }

    bool is_cancel_explained() const { return is_cancel_expected_ || !Runtime::current()->is_accepting(); }

    /// The request that was made has reached us; once for each wait.
    void note_delivery() {
        if (!is_delivery_noted_) {
            is_delivery_noted_ = true;
            is_cancel_expected_ = false;
        }
    }

    /// While it lives the record says what must end the wait.
    class Recorded {
    public:
        Recorded(Worker& worker, Record& record) : worker_(worker) { worker_.record_ = &record; }
        ~Recorded() { worker_.record_ = nullptr; }
        Recorded(const Recorded&) = delete;
        Recorded& operator=(const Recorded&) = delete;

    private:
        Worker& worker_;
    };

    Deadline deadline(Record& record, unsigned one_in) {
        Random& random = world->random;
        if (!random.one_in(one_in)) {
            return Deadline::never();
        }
        const Duration delay = random.duration();
        record.due = the_clock().now() + delay;
        return Deadline::after(delay);
    }

    void check_end(WaitResult result, const Record& record) {
        switch (result) {
            case WaitResult::Ready:
            case WaitResult::Failed:
            case WaitResult::Refused:
                break;
            case WaitResult::TimedOut:
                expect(the_clock().now() >= record.due, "timed out too early");
                break;
            case WaitResult::Cancelled:
                expect(is_cancel_explained(), "cancelled by nobody");
        }
    }

    WaitResult operate(unsigned which) {
        switch (which) {
            case 0:
            case 1:
                return wait_for_event();
            case 2:
                return wait_for_event_simply();
            case 3:
            case 4:
                return wait_for_several();
            case 5:
            case 6:
                return wait_directly();
            case 7:
                return join_child();
            case 8:
                return sleep();
            case 9:
                return protected_section();
            case 10:
                return wait_with_token();
            case 11:
                world->hand_on();
                return WaitResult::Ready;
            case 13:
                return join_other();
            case 12:
                return suspend_in_handler();
            default: {
                const WaitResult result = yield();
                expect(std::current_exception() == nullptr, "an exception of somebody else");
                return result;
            }
        }
    }

    WaitResult yield() {
        const WaitResult result = Scheduler::suspend(std::source_location::current());
        expect(result == WaitResult::Ready || is_cancel_explained(), "a yield failed");
        expect(std::uncaught_exceptions() == 0, "an exception of somebody else");
        return result;
    }

    WaitResult suspend_in_handler() {
        const std::uint64_t mark = world->random.next();
        try {
            throw mark;
        } catch (const std::uint64_t& caught) {
            const WaitResult result = yield();
            expect(caught == mark, "an exception was mixed up");
            try {
                throw;
            } catch (const std::uint64_t& again) {
                expect(again == mark, "an exception was mixed up");
            }
            return result;
        }
    }

    WaitResult wait_for_event_simply() {
        Record record;
        record.watch(world->any_source());
        const Recorded recorded(*this, record);
        const WaitResult result = wait_for(*record.watched[0].source->event);
        check_end(result, record);
        if (result == WaitResult::Ready) {
            expect(record.has_event_happened(), "woken for nothing");
        }
        return result;
    }

    WaitResult wait_for_event() {
        Record record;
        record.watch(world->any_source());
        const Deadline limit = deadline(record, 2);
        const Recorded recorded(*this, record);
        const WaitResult result = wait_for(*record.watched[0].source->event, limit);
        check_end(result, record);
        if (result == WaitResult::Ready) {
            expect(record.has_event_happened(), "woken for nothing");
        }
        return result;
    }

    WaitResult wait_for_several() {
        Random& random = world->random;
        Record record;
        const unsigned count = 2 + random.pick(3);
        for (unsigned i = 0; i < count; ++i) {
            record.watch(world->any_source());
        }
        const Deadline limit = deadline(record, 3);
        Ref<TimerEvent> timer;
        bool with_trigger = false;
        WaitResult result = WaitResult::Ready;
        {
            const Recorded recorded(*this, record);
            WaitGuard guard;
            for (std::size_t i = 0; i < record.count; ++i) {
                guard.add(*record.watched[i].source->event);
            }
            if (random.one_in(3)) {
                const Duration delay = random.duration();
                timer = TimerEvent::create(the_clock(), delay);
                record.due = std::min(record.due, the_clock().now() + delay);
                guard.add(*timer, random.one_in(2) ? WakeRole::Timeout : WakeRole::Wake);
            }
            if (random.one_in(4)) {
                with_trigger = true;
                guard.add(*world->trigger);
            }
            result = guard.park(limit);
            check_end(result, record);
            if (result == WaitResult::Ready) {
                const Event* fired = guard.fired() != nullptr ? guard.fired()->event() : nullptr;
                const bool is_explained = record.has_event_happened() || (timer != nullptr && fired == timer.get()) ||
                                          (with_trigger && fired == world->trigger.get());
                expect(is_explained, "woken for nothing");
            }
        }
        if (timer != nullptr) {
            expect(timer->callback_count() == 0 && timer->loop_ref_count() == 0, "a timer was left behind");
        }
        expect(wait() == nullptr && waker().size() == 0, "a wait was left behind");
        return result;
    }

    WaitResult wait_directly() {
        Record record;
        record.is_direct = true;
        const Deadline limit = deadline(record, 2);
        const Recorded recorded(*this, record);
        DirectRecord wait(world->counter, record);
        record.sequence = ++world->direct_sequence;
        world->queue.push_back(wait);
        const WaitResult result = wait.park(limit);
        check_end(result, record);
        expect(wait.is_woken() == record.is_handed, "handed on to nobody");
        if (result == WaitResult::Ready) {
            expect(record.is_handed, "woken for nothing");
        } else if (record.is_handed) {
            world->hand_on();  // what was put aside for us goes to the next
        }
        return result;
    }

    WaitResult join_child() {
        Random& random = world->random;
        if (!Runtime::current()->is_accepting()) {
            return yield();
        }
        const unsigned naps = random.pick(3);
        const bool is_failing = random.one_in(8);
        auto child = spawn([naps, is_failing] {
            ++world->children_begun;
            for (unsigned i = 0; i < naps; ++i) {
                suspend();
            }
            ++world->children_ended;
            if (is_failing) {
                throw std::runtime_error("stress child");
            }
            return naps;
        });
        WaitResult result = wait_for(child.coroutine());
        if (result == WaitResult::Ready) {
            expect(child.is_finished() && await(child) == naps, "a joined child without its result");
        } else if (result == WaitResult::Failed) {
            expect(is_failing && child.is_finished(), "a child failed by itself");
            result = WaitResult::Ready;
        } else {
            // Cancelled: the child goes on; its error, if any, must be taken by somebody.
            const Ref<Error> ours = Scheduler::take_wait_error();
            note_delivery();  // what comes from now on is another request
            const ProtectGuard protection;
            const WaitResult rest = wait_for(child.coroutine());
            expect(rest == WaitResult::Ready || rest == WaitResult::Failed || rest == WaitResult::Cancelled, "protected");
            if (rest == WaitResult::Cancelled) {  // a shutdown reaches everyone; the child is cancelled too
                child.coroutine().mark_exception_handled();
            }
            Scheduler::refuse(ours, result);
        }
        return result;
    }

    /// Waits for an older one, so that nobody waits in a circle.
    WaitResult join_other() {
        const Ref<Worker> other = world->slots[world->random.pick(kSlots)];
        if (other == nullptr || other->id() >= id()) {
            return WaitResult::Ready;
        }
        Record record;
        record.joined = other.get();
        const Deadline limit = deadline(record, 3);
        const Recorded recorded(*this, record);
        ++other->joiners_;
        const WaitResult result = wait_for(*other, limit);
        --other->joiners_;
        check_end(result, record);
        if (result == WaitResult::Ready || result == WaitResult::Failed) {
            expect(other->is_finished(), "joined one that runs");
            expect((result == WaitResult::Failed) == (other->error() != nullptr), "joined with a wrong result");
            other->check_outcome();
        }
        return result;
    }

    WaitResult sleep() {
        const Instant begun = the_clock().now();
        const Duration delay = world->random.duration();
        Record record;
        record.due = begun + delay;
        const Recorded recorded(*this, record);
        const WaitResult result = sleep_until(Deadline::after(delay));
        if (result == WaitResult::Ready) {
            expect(the_clock().now() >= begun + delay, "woke up early");
        }
        return result;
    }

    WaitResult protected_section() {
        ProtectGuard outer;
        const bool was_expected = is_cancel_expected_;
        {
            ProtectGuard inner;
            for (int i = 0; i < 2; ++i) {
                if (const WaitResult result = Scheduler::suspend(std::source_location::current());
                    result != WaitResult::Ready) {
                    expect(result == WaitResult::Cancelled, "protected");
                    return result;  // a shutdown reaches everyone
                }
            }
            expect(inner.leave() == WaitResult::Ready || was_expected || is_cancel_explained(), "protected");
        }
        return outer.leave();
    }

    WaitResult wait_with_token() {
        Record record;
        record.watch(world->any_source());
        record.watch(world->any_source());
        const Recorded recorded(*this, record);
        WaitGuard guard;
        guard.add(*record.watched[0].source->event);
        guard.add(*record.watched[1].source->event, WakeRole::Cancel);
        const WaitResult result = guard.park();
        if (result == WaitResult::Cancelled && !is_cancel_explained()) {
            expect(record.watched[1].has_happened(), "cancelled by nobody");
            Scheduler::take_wait_error();
            return WaitResult::Ready;  // the wait was cancelled, not we
        }
        if (result == WaitResult::Ready) {
            expect(record.has_event_happened(), "woken for nothing");
        }
        return result;
    }

    const Record* record_ = nullptr;
    std::size_t joiners_ = 0;
    int value_ = 0;
    bool may_fail_;
    bool has_ended_ = false;
    bool is_cancel_expected_ = false;
    bool is_delivery_noted_ = false;
};

bool Record::must_end(Instant now) const {
    return has_event_happened() || (is_direct && is_handed) || due <= now || (joined != nullptr && joined->is_finished());
}

class Task final : public Microtask {
public:
    explicit Task(unsigned depth) : depth_(depth), sequence_(++world->task_sequence) { ++world->tasks_made; }
    ~Task() override { ++world->tasks_gone; }

    Status run() override {
        expect(sequence_ > world->last_task_run, "microtasks are not run in order");
        world->last_task_run = sequence_;
        expect(!is_cancelled(), "a cancelled microtask ran");
        const WaitResult refused = Scheduler::suspend(std::source_location::current());
        expect(refused == WaitResult::Refused, "a microtask suspended");
        if (depth_ > 0) {
            const auto next = make_ref<Task>(depth_ - 1);
            Scheduler::current()->add_microtask(*next);
        }
        return {};
    }

private:
    unsigned depth_;
    std::uint64_t sequence_;
};

/// Does the random things from outside, keeps the handles, compares.
class Driver {
public:
    explicit Driver(std::uint64_t last_step) : last_step_(last_step) {}

    void run() {
        const std::size_t base = Scheduler::current()->stacks().stats().live;
        while (step < last_step_) {
            ++step;
            act();
            if (step >= next_check_) {
                next_check_ = step + kCheckEvery;
                check();
            }
        }
        if (world->random.one_in(3)) {
            end_by_shutdown();
        } else {
            end_quietly(base);
        }
    }

private:
    void act() {
        Random& random = world->random;
        switch (random.pick(24)) {
            case 0:
            case 1:
            case 2:
            case 3:
                spawn_worker();
                break;
            case 4:
            case 5:
            case 6: {
                Source& source = *world->any_source();
                ++source.notifies;
                source.event->notify();
                break;
            }
            case 7:
            case 8:
                cancel(random.pick(kSlots));
                break;
            case 9:
                world->slots[random.pick(kSlots)] == nullptr ? spawn_worker() : drop(random.pick(kSlots));
                break;
            case 10:
                if (random.one_in(4)) {
                    close_event();
                }
                break;
            case 11:
                if (random.one_in(4)) {  // those who wait for it keep it; nobody will fire it any more
                    world->sources[random.pick(kEvents)] = std::make_shared<Source>();
                }
                break;
            case 12:
                add_microtask();
                break;
            case 13:
                add_handler();
                break;
            case 14:
            case 15:
                world->hand_on();
                break;
            case 16:
                world->trigger->fire();
                break;
            case 17:
                sleep_for(std::chrono::microseconds(random.pick(60)));
                break;
            default:
                suspend();
        }
    }

    void spawn_worker() {
        Ref<Worker>& slot = world->slots[world->random.pick(kSlots)];
        if (slot != nullptr) {
            if (!slot->is_finished()) {
                return;
            }
            collect(slot);
        }
        slot = make_ref<Worker>(world->random.one_in(2));
        if (world->random.one_in(5)) {
            slot->set_priority(Priority::High);
        }
        expect(Scheduler::current()->spawn(*slot).ok(), "a spawn was refused");
    }

    /// A finished worker: its outcome is taken, then it goes.
    static void collect(Ref<Worker>& slot) {
        slot->check_outcome();
        const WaitResult result = wait_for(*slot);  // complete: never suspends
        expect(result == (slot->error() == nullptr ? WaitResult::Ready : WaitResult::Failed), "a late await went wrong");
        expect(slot->joiners() != 0 || slot->ref_count() == 1, "a finished worker is still held");
        slot.reset();
    }

    void cancel(std::size_t index) {
        Ref<Worker>& slot = world->slots[index];
        if (slot == nullptr) {
            return;
        }
        if (!slot->is_finished()) {
            slot->expect_cancel();
        }
        Scheduler::current()->cancel(*slot, Error::cancellation(CancelReason::UserRequest, "stress"));
    }

    void drop(std::size_t index) {
        Ref<Worker>& slot = world->slots[index];
        if (slot != nullptr && slot->is_finished()) {
            collect(slot);
        } else if (slot != nullptr && !slot->may_fail()) {
            slot.reset();  // it goes on without us
        }
    }

    void close_event() {
        std::shared_ptr<Source>& source = world->sources[world->random.pick(kEvents)];
        source->is_closed = true;
        source->event->close();
        if (!world->random.one_in(3)) {  // else those who come later get an error
            source = std::make_shared<Source>();
        }
    }

    static void add_microtask() {
        const auto task = make_ref<Task>(world->random.pick(3));
        Scheduler::current()->add_microtask(*task);
        if (world->random.one_in(4)) {
            task->cancel();
        }
    }

    void add_handler() {
        Ref<Worker>& slot = world->slots[world->random.pick(kSlots)];
        if (slot == nullptr || slot->is_finished()) {
            return;
        }
        slot->add_switch_handler(
            {[](Coroutine& coroutine, SwitchKind kind, void*) {
                 expect(kind == SwitchKind::Finish || Scheduler::current_coroutine() == &coroutine, "a handler elsewhere");
                 return !world->random.one_in(3);
             },
             nullptr}
        );
    }

    /// Lets everybody run who can, then nobody may be left who has been woken.
    void check() {
        sleep_for(1ns);  // the loop has been looked at: what is due has fired
        for (int turns = 0; !detail::hot.queue.empty() || !Scheduler::current()->microtasks().empty(); ++turns) {
            expect(turns < 100000, "the queue never empties");
            suspend();
        }
        const Instant now = the_clock().now();
        std::size_t alive = 0;
        for (const Coroutine& coroutine : Scheduler::current()->alive()) {
            ++alive;
            const auto* worker = dynamic_cast<const Worker*>(&coroutine);
            if (worker == nullptr) {
                continue;
            }
            expect(worker->waker_state() == WakerState::Waiting, "neither ready nor waiting");
            if (const Record* record = worker->record()) {
                if (record->must_end(now)) {
                    violation("a wake-up was lost: " + worker->info());
                }
            }
            if (worker->is_cancel_expected() && !worker->is_protected()) {
                violation("a cancellation was lost: " + worker->info());
            }
        }
        expect(alive == Scheduler::current()->alive_count(), "the living are miscounted");
    }

    void end_quietly(std::size_t base) {
        for (int rounds = 0; Scheduler::current()->alive_count() > 1; ++rounds) {
            expect(rounds < 1000, "workers do not end");
            for (Coroutine& coroutine : Scheduler::current()->alive()) {
                if (auto* worker = dynamic_cast<Worker*>(&coroutine)) {
                    worker->expect_cancel();
                    Scheduler::current()->cancel(*worker, Error::cancellation(CancelReason::UserRequest, "stress"));
                }
            }
            sleep_for(1ms);
        }
        for (Ref<Worker>& slot : world->slots) {
            if (slot != nullptr) {
                collect(slot);
            }
        }
        suspend();
        expect(Scheduler::current()->stacks().stats().live == base, "stacks were not given back");
        expect(the_clock().timer_count() == 0, "timers were left armed");
        expect_nothing_left();
        expect(the_clock().active().visible == 0 && the_clock().active().hidden == 0, "active events were left");
    }

    void end_by_shutdown() {
        for (Coroutine& coroutine : Scheduler::current()->alive()) {
            if (auto* worker = dynamic_cast<Worker*>(&coroutine)) {
                worker->expect_cancel();
            }
        }
        shutdown();
        expect(Scheduler::current()->spawn(*make_ref<Worker>(true)).is(ErrorCode::ShuttingDown), "spawned in a shutdown");
        for (Ref<Worker>& slot : world->slots) {
            if (slot != nullptr) {
                slot->mark_exception_handled();
                slot.reset();
            }
        }
    }

public:
    static void expect_nothing_left() {
        for (const auto& source : world->sources) {
            expect(source->event->callback_count() == 0, "callbacks were left at an event");
            expect(source->event->ref_count() == 1, "references were left to an event");
        }
        expect(world->trigger->callback_count() == 0 && world->trigger->loop_ref_count() == 0, "a trigger was left");
        expect(world->queue.empty(), "direct waiters were left");
        expect(world->counter.callback_count() == 0, "callbacks were left");
    }

private:
    std::uint64_t last_step_;
    std::uint64_t next_check_ = step + kCheckEvery;
};

void run_round(std::uint64_t round_seed, std::uint64_t last_step) {
    World round(round_seed);
    world = &round;
    StrictSink sink;
    ReportSink* const before = set_report_sink(&sink);
    RuntimeSettings settings;
    settings.scheduler.turns_per_tick = 1U << round.random.pick(11);
    {
        Runtime runtime(std::make_unique<VirtualReactor>(), settings);
        detail::check(runtime.start());
        round.trigger = TriggerEvent::create(runtime.reactor());
        {
            Driver driver(last_step);
            driver.run();
        }
        const Ref<Error> outcome = runtime.finish();
        expect(outcome == nullptr || outcome->is_cancellation(), "the program ended with an error");
        Driver::expect_nothing_left();
        expect(runtime.stacks().stats().live == 0, "stacks were not given back");
        expect(runtime.left_open().empty(), "the reactor was not left empty");
        round.trigger.reset();  // before its reactor
    }
    set_report_sink(before);
    expect(round.bodies_begun == round.bodies_ended, "a body did not end");
    expect(round.children_begun >= round.children_ended, "more children ended than began");
    expect(round.workers_made == round.workers_gone, "workers were not freed");
    expect(round.tasks_made == round.tasks_gone, "microtasks were not freed");
    world = nullptr;
}

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

int main(int count, char** arguments) {
    std::uint64_t steps = 200'000;
    seed = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    for (int i = 1; i < count; ++i) {
        if (std::strncmp(arguments[i], "--steps=", 8) == 0) {
            steps = number(arguments[i] + 8);
        } else if (std::strncmp(arguments[i], "--seed=", 7) == 0) {
            seed = number(arguments[i] + 7);
        } else {
            std::fprintf(stderr, "usage: %s [--steps=N] [--seed=S]\n", arguments[0]);
            return 2;
        }
    }
    std::printf("seed %" PRIu64 ", %" PRIu64 " steps\n", seed, steps);
    std::fflush(stdout);
    const auto begun = std::chrono::steady_clock::now();
    Random random(seed);
    std::uint64_t next_report = steps / 10;
    while (step < steps) {
        run_round(random.next(), std::min(step + kRoundSteps, steps));
        if (steps >= 1'000'000 && step >= next_report && step < steps) {
            std::printf("%3.0f %%\n", 100.0 * static_cast<double>(step) / static_cast<double>(steps));
            std::fflush(stdout);
            next_report += steps / 10;
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf(
        "%" PRIu64 " steps in %.1f s, %.0f per second; nothing was violated\n", step, took.count(),
        static_cast<double>(step) / took.count()
    );
    return 0;
}

}  // namespace
}  // namespace trueasync::stress

int main(int count, char** arguments) { return trueasync::stress::main(count, arguments); }
