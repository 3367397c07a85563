// Cancels somebody at random in programs made of the primitives: trueasync_chaos --help
//
// Each run takes a scenario (see chaos.hpp), runs it on a virtual clock, and now and then cancels one of its coroutines, whichever
// comes to hand, at whatever it is just waiting for. Afterwards nothing may be left: no coroutine, waiter, callback, timer, value.
// The same seed gives the same run, except that threads go their own pace.

#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stress/chaos/chaos.hpp>
#include <string_view>

#if defined(TA_ASAN)
#include <sanitizer/lsan_interface.h>
#endif

namespace trueasync::chaos {
namespace {

struct Known {
    const char* name;
    Scenario body;
};

std::vector<Known>& scenarios() {
    static std::vector<Known> all;
    return all;
}

std::uint64_t seed = 0;
const Known* scenario = nullptr;
std::uint64_t step = 0;  // how many switches the mischief has seen
bool is_talkative = false;

constexpr std::uint64_t kMostSteps = 1'000'000;
constexpr auto kMostTime = std::chrono::hours(1);
constexpr unsigned kBeat = 5;  // seconds between two looks at whether it moves on
constexpr int kPatience = 6;   // looks at the same run: a machine that stands still has fewer of them
constexpr std::uint64_t kLeakCheckEvery = 2000;

/// Cancels somebody from time to time.
class Mischief {
public:
    explicit Mischief(Run& run, std::uint64_t state) : run_(run), random_(state) {
        static constexpr unsigned kRarities[] = {3, 10, 30};
        left_ = random_.one_in(8) ? 0 : 1 + random_.pick(5);
        rarity_ = kRarities[random_.pick(3)];
    }

    /// Nobody else ever is.
    void spare(const Coroutine& coroutine) { spared_ = &coroutine; }
    bool is_over() const noexcept { return left_ == 0; }
    Random& random() noexcept { return random_; }

    /// A moment at which it might.
    bool is_tempted() {
        expect(++step < kMostSteps, "the scenario does not come to an end");
        return left_ != 0 && random_.one_in(rarity_);
    }

    void strike() {
        Scheduler& scheduler = *Scheduler::current();
        std::vector<Coroutine*> victims;
        for (Coroutine& coroutine : scheduler.alive()) {
            if (&coroutine != &scheduler.main() && &coroutine != spared_) {
                victims.push_back(&coroutine);
            }
        }
        if (victims.empty() || left_ == 0) {
            return;
        }
        std::size_t chosen = random_.pick(static_cast<unsigned>(victims.size()));
        if (random_.one_in(2)) {  // the same again, while it cleans up
            const auto last = std::ranges::find(victims, last_victim_, [](const Coroutine* one) { return one->id(); });
            chosen = last != victims.end() ? static_cast<std::size_t>(last - victims.begin()) : chosen;
        }
        Coroutine& victim = *victims[chosen];
        last_victim_ = victim.id();
        --left_;
        ++run_.strikes;
        if (is_talkative) {
            std::printf("step %" PRIu64 ": cancels %s\n", step, describe(victim).c_str());
        }
        scheduler.cancel(victim, Error::cancellation(CancelReason::UserRequest, "chaos"));
    }

private:
    Run& run_;
    Random random_;
    unsigned left_;
    unsigned rarity_;
    const Coroutine* spared_ = nullptr;
    std::uint64_t last_victim_ = 0;
};

/// Sees every switch, on the slow ways through the scheduler: strikes at once, or in a microtask.
class Hook final : public HostHook {
public:
    explicit Hook(Mischief& mischief) : mischief_(mischief) {}

    void start(Coroutine& /*coroutine*/) noexcept override { now(); }
    void enter(Coroutine& /*coroutine*/) noexcept override { now(); }
    void leave(Coroutine& /*coroutine*/) noexcept override {
        if (mischief_.is_tempted()) {
            const auto task = make_ref<Task>(mischief_);
            Scheduler::current()->add_microtask(*task);
        }
    }
    void finish(Coroutine& /*coroutine*/) noexcept override {}

private:
    class Task final : public Microtask {
    public:
        explicit Task(Mischief& mischief) : mischief_(mischief) {}
        Status run() override {
            mischief_.strike();
            return {};
        }

    private:
        Mischief& mischief_;
    };

    void now() {
        if (mischief_.is_tempted()) {
            mischief_.strike();
        }
    }

    Mischief& mischief_;
};

/// Is a coroutine among the others, which go the fast ways.
void play_along(Mischief& mischief) {
    mischief.spare(*Scheduler::current_coroutine());
    for (unsigned turns = 0; !mischief.is_over() && turns < 400; ++turns) {
        if (mischief.is_tempted()) {
            mischief.strike();
        }
        if (mischief.random().one_in(6)) {
            sleep_for(mischief.random().duration() / 4);
        } else {
            suspend();
        }
    }
}

bool says(const Error& error, const char* text) { return error.message().find(text) != std::string::npos; }

/// What nobody may ever hear, unless it was done on purpose.
class Sink final : public ReportSink {
public:
    explicit Sink(const Run& run) : run_(run) {}

    void warning(Warning kind, const Event* /*event*/, std::string_view text) noexcept override {
        // Who was to look at a result may have been cancelled.
        const bool is_about_results = kind == Warning::UnusedResult || kind == Warning::UnhandledFuture;
        if (run_.was_calm() || !is_about_results) {
            violation("warning: " + std::string(text));
        }
    }
    void unhandled_error(const Event* event, const Error& error) noexcept override {
        // Of threads and hooks that nobody waits for, and of those that cannot wait because one who never began held the pool.
        const bool is_meant = says(error, "mishap") || (says(error, "must not wait") && !run_.was_calm());
        const bool may_be =
            event != nullptr && (event->type() == EventType::Pool || event->type() == EventType::Thread);
        if (!may_be || !is_meant) {
            violation("unhandled: " + error.describe());
        }
    }
    void deadlock(std::span<const Event* const> waiting, std::size_t active) noexcept override {
        violation("deadlock: " + deadlock_report(waiting, active));
    }
    void did_not_stop(std::span<const Event* const> coroutines) noexcept override {
        violation(std::to_string(coroutines.size()) + " coroutines did not stop");
    }

private:
    const Run& run_;
};

/// Waits until main is alone.
void wait_for_all() {
    Scheduler& scheduler = *Scheduler::current();
    for (;;) {
        Ref<Coroutine> other;
        for (Coroutine& coroutine : scheduler.alive()) {
            if (&coroutine != &scheduler.main()) {
                other = Ref<Coroutine>(&coroutine);
                break;
            }
        }
        if (other == nullptr) {
            return;
        }
        const WaitResult result = wait_for(*other);
        expect(result == WaitResult::Ready || result == WaitResult::Failed, "main was disturbed");
        if (result == WaitResult::Failed) {
            const Ref<Error> error = Scheduler::take_wait_error();
            if (!error->is_cancellation() && !says(*error, "mishap")) {
                violation(other->info() + " failed: " + error->describe());
            }
        }
    }
}

void run_once(std::uint64_t run_seed, const Known* wanted) {
    Random choice(run_seed);
    const auto count = static_cast<unsigned>(scenarios().size());
    const Known& drawn = scenarios()[choice.pick(count)];
    seed = run_seed;
    scenario = wanted != nullptr ? wanted : &drawn;
    step = 0;
    Run run(choice.next());
    Sink sink(run);
    Mischief mischief(run, choice.next());
    Hook hook(mischief);
    RunOptions options;
    options.settings.scheduler.turns_per_tick = 1U << choice.pick(11);
    options.reactor = std::make_unique<VirtualReactor>();
    options.sink = &sink;
    trueasync::run(
        [&] {
            Scheduler& scheduler = *Scheduler::current();
            auto& clock = static_cast<VirtualReactor&>(scheduler.reactor());
            const Instant begun = clock.now();
            if (choice.one_in(2)) {
                scheduler.set_host_hook(&hook);
            } else if (!mischief.is_over()) {
                spawn([&] { play_along(mischief); });
            }
            spawn([&] { scenario->body(run); });
            wait_for_all();
            scheduler.set_host_hook(nullptr);
            suspend();        // what was dropped at the end may have left something for a turn
            run.check_end();  // threads may tell of their end until now
            expect(scheduler.alive_count() == 1, "somebody came back to life");
            expect(scheduler.microtasks().empty(), "microtasks were left");
            expect(clock.timer_count() == 0, "timers were left armed");
            expect(clock.active().visible == 0 && clock.active().hidden == 0, "active events were left");
            expect(clock.now() - begun < kMostTime, "somebody has waited too long");
        },
        std::move(options)
    );
    expect(Counted::live == 0, "values were left");
    expect(Letter::live == 0, "letters were left");
}

/// Leaks cannot be told from one run to the next; this narrows them down.
void check_leaks([[maybe_unused]] std::uint64_t first, [[maybe_unused]] std::uint64_t count) {
#if defined(TA_ASAN)
    if (__lsan_do_recoverable_leak_check() != 0) {
        std::printf("VIOLATION: a leak in one of the runs --seed %" PRIu64 " --runs %" PRIu64 "\n", first, count);
        std::fflush(stdout);
        std::_Exit(1);
    }
#endif
}

void look(int /*signal*/) {
    static std::uint64_t watched = 0;
    static int looks = 0;
    looks = watched == seed ? looks + 1 : 0;
    watched = seed;
    if (looks < kPatience) {
        alarm(kBeat);
        return;
    }
    char text[200];
    const int length = std::snprintf(
        text, sizeof(text), "VIOLATION: hangs in step %" PRIu64 " of --seed %" PRIu64 " --scenario %s --runs 1\n", step,
        seed, scenario->name
    );
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, text, static_cast<std::size_t>(std::max(length, 0)));
    _exit(1);
}

int usage(const char* program, int status) {
    std::printf(
        "Usage: %s [--runs N] [--seed S] [--scenario NAME] [--verbose] [--list] [--help]\n\n"
        "  --runs N         how many runs (default 5000); run i has the seed S + i\n"
        "  --seed S         the seed of the first run (default: random)\n"
        "  --scenario NAME  this one only; else every run draws one\n"
        "  --verbose        tells who is cancelled\n"
        "  --list           names the scenarios\n",
        program
    );
    return status;
}

int main(int count, char** arguments) {
    std::ranges::sort(scenarios(), {}, [](const Known& known) { return std::string_view(known.name); });
    std::uint64_t runs = 5000;
    std::uint64_t first = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    const Known* wanted = nullptr;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        const char* value = i + 1 < count ? arguments[i + 1] : nullptr;
        if (argument == "--help") {
            return usage(arguments[0], 0);
        }
        if (argument == "--list") {
            for (const Known& known : scenarios()) {
                std::puts(known.name);
            }
            return 0;
        }
        if (argument == "--verbose") {
            is_talkative = true;
        } else if (argument == "--runs" && value != nullptr) {
            runs = std::strtoull(value, nullptr, 10);
            ++i;
        } else if (argument == "--seed" && value != nullptr) {
            first = std::strtoull(value, nullptr, 10);
            ++i;
        } else if (argument == "--scenario" && value != nullptr) {
            const auto found = std::ranges::find_if(scenarios(), [value](const Known& known) {
                return std::strcmp(known.name, value) == 0;
            });
            if (found == scenarios().end()) {
                std::printf("There is no scenario %s.\n", value);
                return 2;
            }
            wanted = &*found;
            ++i;
        } else {
            return usage(arguments[0], 2);
        }
    }
    std::printf("%zu scenarios, %" PRIu64 " runs, seed %" PRIu64 "\n", scenarios().size(), runs, first);
    std::fflush(stdout);
    std::signal(SIGALRM, look);
    alarm(kBeat);
    const auto begun = std::chrono::steady_clock::now();
    std::uint64_t unchecked = 0;
    for (std::uint64_t i = 0; i < runs; ++i) {
        run_once(first + i, wanted);
        if (++unchecked == kLeakCheckEvery || i + 1 == runs) {
            check_leaks(first + i + 1 - unchecked, unchecked);
            unchecked = 0;
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf("%" PRIu64 " runs in %.1f s; nothing was violated\n", runs, took.count());
    return 0;
}

}  // namespace

Registration::Registration(const char* name, Scenario body) { scenarios().push_back({name, body}); }

void violation(const std::string& what) {
    std::printf(
        "VIOLATION in step %" PRIu64 " of scenario %s: %s\n%srepeat it: trueasync_chaos --seed %" PRIu64
        " --scenario %s --runs 1 --verbose\n",
        step, scenario->name, what.c_str(), Scheduler::current() != nullptr ? dump().c_str() : "", seed, scenario->name
    );
    std::fflush(stdout);
    std::_Exit(1);
}

}  // namespace trueasync::chaos

int main(int count, char** arguments) { return trueasync::chaos::main(count, arguments); }
