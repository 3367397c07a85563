// Mutex, semaphore, barrier: everybody in line gets his turn, or is told that there is none.

#include <stress/chaos/chaos.hpp>

namespace trueasync::chaos {
namespace {

template <typename E>
void watch_line(Run& run, E& event) {
    run.watch(Ref<E>(&event));
    run.at_end([event = Ref<E>(&event)] { expect(event->waiting_count() == 0, "somebody waits in a line"); });
}

SCENARIO(lock_mutex) {
    const auto mutex = std::make_shared<Mutex>();
    const auto inside = std::make_shared<int>(0);
    watch_line(run, mutex->event());
    run.at_end([event = Ref<MutexEvent>(&mutex->event())] { expect(!event->is_locked(), "a lock was not given back"); }
    );
    for (int i = 0; i < 4; ++i) {
        spawn([&run, mutex, inside] {
            for (int times = 0; times < 3; ++times) {
                tolerate([&] {
                    const auto guard = mutex->guard(some_limit(run));
                    expect(++*inside == 1, "two are inside");
                    const auto leaving = when_dropped([&] { --*inside; });
                    const Lingering lingering(run);
                    pause(run);
                });
            }
        });
    }
}

SCENARIO(lock_semaphore) {
    const std::size_t permits = 1 + run.random.pick(3);
    const auto semaphore = std::make_shared<Semaphore>(permits);
    const auto out = std::make_shared<std::size_t>(0);
    watch_line(run, semaphore->event());
    run.at_end([event = Ref<SemaphoreEvent>(&semaphore->event()), permits] {
        expect(event->available() == permits, "a permit was not given back");
    });
    for (int i = 0; i < 4; ++i) {
        spawn([&run, semaphore, permits, out] {
            for (int times = 0; times < 3; ++times) {
                tolerate([&] {
                    const std::size_t count = 1 + run.random.pick(static_cast<unsigned>(permits));
                    const auto permit = semaphore->permit(count, some_limit(run));
                    *out += count;
                    const auto leaving = when_dropped([&] { *out -= count; });
                    expect(*out <= permits, "too many permits are out");
                    pause(run);
                });
            }
        });
    }
}

/// Who goes away for good closes it for the others.
SCENARIO(lock_barrier) {
    const std::size_t parties = 1 + run.random.pick(3);
    const auto barrier = std::make_shared<Barrier>(parties);
    watch_line(run, barrier->event());
    for (std::size_t i = 0; i < parties; ++i) {
        const auto missing = std::make_shared<bool>(true);
        spawn([&run, barrier, parties, missing, closing = when_dropped([barrier, missing] {
                                                    if (*missing) {
                                                        barrier->close();
                                                    }
                                                })] {
            try {
                for (int times = 0; times < 3; ++times) {
                    pause(run);
                    expect(barrier->wait() < parties, "too many have come");
                }
                *missing = false;
            } catch (const AsyncError& error) {
                expect(error.code() == ErrorCode::EventClosed, "nobody expected this");
            }
        });
    }
}

}  // namespace
}  // namespace trueasync::chaos
