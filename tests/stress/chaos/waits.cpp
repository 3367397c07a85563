// Time, tokens, protected sections: what every wait has.

#include <stress/chaos/chaos.hpp>

namespace trueasync::chaos {
namespace {

Instant now() { return Scheduler::current()->reactor().now(); }

SCENARIO(wait_sleepers) {
    for (unsigned i = 0; i < 2 + run.random.pick(4); ++i) {
        spawn([&run] {
            for (int times = 0; times < 4; ++times) {
                const Instant begun = now();
                const Duration delay = run.random.duration();
                sleep_for(delay);
                expect(now() - begun >= delay, "somebody woke up early");
            }
        });
    }
    pause(run);
}

/// One time limit for several waits, of several coroutines.
SCENARIO(wait_shared_timeout) {
    const Ref<ManualEvent> event = ManualEvent::create();
    const Timeout limit = timeout(run.random.duration());
    run.watch(event);
    run.watch(Ref<Event>(&limit.event()));
    for (int i = 0; i < 3; ++i) {
        spawn([&run, event, limit] {
            if (run.random.one_in(2)) {
                pause(run);
            }
            tolerate([&] { await(event, limit); });
        });
    }
    pause(run);
    if (run.random.one_in(2)) {
        event->notify();
    }
}

/// What is protected is never cut off; the cancellation comes afterwards.
SCENARIO(wait_protected) {
    const auto open = std::make_shared<int>(0);
    run.at_end([open] { expect(*open == 0, "a protected section was cut off"); });
    for (int i = 0; i < 3; ++i) {
        spawn([&run, open] {
            for (int times = 0; times < 3; ++times) {
                protect([&] {
                    ++*open;
                    pause(run);
                    const int answer = protect([&] {
                        pause(run);
                        try {
                            return await(spawn([&run] {
                                pause(run);
                                return 42;
                            }));
                        } catch (const Cancellation&) {  // of that one
                            return 42;
                        }
                    });
                    expect(answer == 42, "a wrong value");
                    --*open;
                });
                pause(run);
            }
        });
    }
}

/// Clean-up code that suspends while an exception is on its way.
SCENARIO(wait_in_destructors) {
    const auto begun = std::make_shared<int>(0);
    const auto ended = std::make_shared<int>(0);
    run.at_end([begun, ended] { expect(*begun == *ended, "a destructor was not run to its end"); });
    for (int i = 0; i < 3; ++i) {
        spawn([&run, begun, ended] {
            tolerate([&] {
                ++*begun;
                const auto ending = when_dropped([&] { ++*ended; });
                const Lingering lingering(run);
                pause(run);
                if (run.random.one_in(3)) {
                    throw Mishap();
                }
                pause(run);
            });
        });
    }
    pause(run);
}

/// Coroutines as tokens for each other.
SCENARIO(wait_tokens) {
    const auto slow = spawn([&run] {
        for (int i = 0; i < 3; ++i) {
            pause(run);
        }
        return 1;
    });
    run.watch(Ref<Coroutine>(&slow.coroutine()));
    for (int i = 0; i < 3; ++i) {
        spawn([&run, slow] {
            const auto quick = spawn([&run] { pause(run); });
            tolerate([&] { expect(await(slow, quick) == 1, "a wrong value"); });
            tolerate([&] { await(quick, slow); });
        });
    }
    tolerate([&] { await(slow, some_limit(run)); });
}

}  // namespace
}  // namespace trueasync::chaos
