// Random programs against a model: trueasync_stress --steps=N [--seed=S]
//
// A driver (the main coroutine) and its workers do random things: spawn, wait in every way there is, fire, close and
// drop events, cancel, drop handles, add microtasks and switch handlers. Beside each wait lies a record of what must
// end it; whenever nobody is ready any more the records are compared with who still waits. Every round is a run of its
// own and must leave nothing behind. Exit code 0: nothing was violated. The seed is printed first and repeats the run.

#include <algorithm>
#include <cstring>
#include <stress/worker.hpp>

namespace trueasync::stress {
namespace {

constexpr std::uint64_t kRoundSteps = 50'000;
constexpr std::uint64_t kCheckEvery = 512;

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
        expect(
            result == (slot->error() == nullptr ? WaitResult::Ready : WaitResult::Failed), "a late await went wrong"
        );
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
                 expect(
                     kind == SwitchKind::Finish || Scheduler::current_coroutine() == &coroutine, "a handler elsewhere"
                 );
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
        expect(
            Scheduler::current()->spawn(*make_ref<Worker>(true)).is(ErrorCode::ShuttingDown), "spawned in a shutdown"
        );
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
