#include <trueasync/reactor/trigger.hpp>

#include <poll.h>
#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <support/coro_test.hpp>
#include <thread>
#include <trueasync/reactor/uv_reactor.hpp>

namespace trueasync::testing {
namespace {

/// Calls a function each time the event fires. Lies on the test's stack.
class Listener final : public Callback {
public:
    explicit Listener(std::function<void()> action = [] {}) : action_(std::move(action)) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override {
        ++calls;
        action_();
    }
    int calls = 0;

private:
    void destroy() noexcept override {}
    std::function<void()> action_;
};

/// A trigger in the loop with a listener, on a reactor without a runtime.
struct Started {
    explicit Started(
        Reactor& reactor, std::function<void()> action = [] {}
    )
        : listener(std::move(action)), trigger(TriggerEvent::create(reactor)) {
        EXPECT_TRUE(trigger->add_callback(listener));
        EXPECT_TRUE(trigger->start());
    }
    ~Started() {
        if (trigger) {
            trigger->del_callback(listener);
        }
    }
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;
    Listener listener;
    Ref<TriggerEvent> trigger;
};

void turn(Reactor& reactor) { ASSERT_TRUE(reactor.execute(true)); }

RUNTIME_TEST(TriggerEvent, FiresAtTheNextTurnNotAtOnce) {
    VirtualReactor reactor;
    Started started(reactor);
    started.trigger->fire();
    EXPECT_EQ(started.listener.calls, 0);
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 1);
    EXPECT_EQ(started.trigger->state(), EventState::Active);
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 1);
}

RUNTIME_TEST(TriggerEvent, SeveralCallsBeforeTheTurnCountAsOne) {
    VirtualReactor reactor;
    Started started(reactor);
    for (int i = 0; i < 5; ++i) {
        started.trigger->fire();
    }
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 1);
    started.trigger->fire();
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 2);
}

RUNTIME_TEST(TriggerEvent, FirstFiredIsDeliveredFirst) {
    VirtualReactor reactor;
    std::vector<int> order;
    Started first(reactor, [&] { order.push_back(1); });
    Started second(reactor, [&] { order.push_back(2); });
    Started third(reactor, [&] { order.push_back(3); });
    second.trigger->fire();
    first.trigger->fire();
    third.trigger->fire();
    second.trigger->fire();
    turn(reactor);
    EXPECT_EQ(order, (std::vector{2, 1, 3}));
}

RUNTIME_TEST(TriggerEvent, FiredBeforeTheStartIsDeliveredIfStartedInTime) {
    VirtualReactor reactor;
    Listener listener;
    auto trigger = TriggerEvent::create(reactor);
    ASSERT_TRUE(trigger->add_callback(listener));
    trigger->fire();
    ASSERT_TRUE(trigger->start());
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
}

RUNTIME_TEST(TriggerEvent, FiredAndStartedByNobodyIsDropped) {
    VirtualReactor reactor;
    Listener listener;
    auto trigger = TriggerEvent::create(reactor);
    ASSERT_TRUE(trigger->add_callback(listener));
    trigger->fire();
    turn(reactor);
    ASSERT_TRUE(trigger->start());
    turn(reactor);
    EXPECT_EQ(listener.calls, 0);
    trigger->fire();  // but the next one counts
    turn(reactor);
    EXPECT_EQ(listener.calls, 1);
}

RUNTIME_TEST(TriggerEvent, StoppedBeforeTheTurnIsNotDelivered) {
    VirtualReactor reactor;
    Started started(reactor);
    started.trigger->fire();
    ASSERT_TRUE(started.trigger->stop());
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 0);
    ASSERT_TRUE(started.trigger->start());
    started.trigger->fire();
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 1);
}

RUNTIME_TEST(TriggerEvent, FiredByItsOwnNotificationComesAgainAtTheNextTurn) {
    VirtualReactor reactor;
    Ref<TriggerEvent> self;
    Started started(reactor, [&] {
        if (started.listener.calls < 3) {
            self->fire();
        }
    });
    self = started.trigger;
    started.trigger->fire();
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 1);
    EXPECT_TRUE(reactor.is_alive());
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 2);
    turn(reactor);
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 3);
}

RUNTIME_TEST(TriggerEvent, DestroyedWhileFired) {
    VirtualReactor reactor;
    auto alone = TriggerEvent::create(reactor);
    alone->fire();
    alone.reset();
    EXPECT_TRUE(reactor.triggers().empty()) << "nothing points to it any more";
    Started first(reactor);
    Started second(reactor);
    Started third(reactor);
    first.trigger->fire();
    second.trigger->fire();
    third.trigger->fire();
    second.trigger.reset();
    turn(reactor);
    EXPECT_EQ(first.listener.calls, 1);
    EXPECT_EQ(second.listener.calls, 0);
    EXPECT_EQ(third.listener.calls, 1);
    EXPECT_EQ(reactor.active().visible, 2U);
}

RUNTIME_TEST(TriggerEvent, OthersAreStillDeliveredAfterOneWasDestroyed) {
    // Destroying one takes the whole queue over from the threads; what was fired before must not be forgotten there.
    VirtualReactor reactor;
    Started first(reactor);
    Started second(reactor);
    first.trigger->fire();
    second.trigger.reset();
    EXPECT_FALSE(reactor.triggers().empty());
    EXPECT_TRUE(reactor.is_alive());
    turn(reactor);
    EXPECT_EQ(first.listener.calls, 1);
}

RUNTIME_TEST(TriggerEvent, DestroyedByTheCallbackOfAnother) {
    VirtualReactor reactor;
    Ref<TriggerEvent> victim;
    Started first(reactor, [&] { victim.reset(); });
    Started second(reactor);
    Started third(reactor);
    victim = std::move(second.trigger);
    first.trigger->fire();
    victim->fire();
    third.trigger->fire();
    turn(reactor);
    EXPECT_EQ(first.listener.calls, 1);
    EXPECT_EQ(second.listener.calls, 0);
    EXPECT_EQ(third.listener.calls, 1);
}

RUNTIME_TEST(TriggerEvent, DestroyedByItsOwnCallback) {
    VirtualReactor reactor;
    Ref<TriggerEvent> self;
    Started started(reactor, [&] { self.reset(); });
    self = std::move(started.trigger);
    self->fire();
    turn(reactor);
    EXPECT_EQ(started.listener.calls, 1);
    EXPECT_EQ(reactor.active().visible, 0U);
}

RUNTIME_TEST(TriggerEvent, FiredByTheCallbackOfAnotherComesLater) {
    VirtualReactor reactor;
    Ref<TriggerEvent> other;
    Started first(reactor, [&] { other->fire(); });
    Started second(reactor);
    other = second.trigger;
    first.trigger->fire();
    turn(reactor);
    turn(reactor);
    EXPECT_EQ(second.listener.calls, 1);
}

RUNTIME_TEST(TriggerEvent, HiddenOneDoesNotKeepTheLoopAlive) {
    EXPECT_THROW(
        in_runtime([&] {
            auto trigger = TriggerEvent::create(clock());
            trigger->set_hidden(true);
            await(trigger);
        }),
        DeadlockError
    );
}

CORO_TEST(TriggerEvent, WakesEveryWaiter) {
    auto trigger = TriggerEvent::create(clock());
    int woken = 0;
    std::vector<Handle<void>> waiters;
    for (int i = 0; i < 3; ++i) {
        waiters.push_back(spawn([&] {
            await(trigger);
            ++woken;
        }));
    }
    settle();
    EXPECT_EQ(trigger->loop_ref_count(), 3U);
    trigger->fire();
    for (const auto& waiter : waiters) {
        await(waiter);
    }
    EXPECT_EQ(woken, 3);
    EXPECT_EQ(trigger->state(), EventState::Stopped);
    EXPECT_FALSE(trigger->is_closed());
}

CORO_TEST(TriggerEvent, CancelledWaiterLeavesItForTheOthers) {
    auto trigger = TriggerEvent::create(clock());
    auto first = spawn([&] { await(trigger); });
    auto second = spawn([&] { await(trigger); });
    settle();
    first.cancel();
    settle();
    EXPECT_TRUE(first.is_cancelled());
    EXPECT_EQ(trigger->loop_ref_count(), 1U);
    trigger->fire();
    await(second);
}

RUNTIME_TEST(TriggerEvent, InfoTellsItsState) {
    VirtualReactor reactor;
    auto trigger = TriggerEvent::create(reactor);
    EXPECT_EQ(trigger->info(), "Trigger(created)");
    ASSERT_TRUE(trigger->start());
    EXPECT_EQ(trigger->info(), "Trigger(active)");
    trigger->close();
    EXPECT_EQ(trigger->info(), "Trigger(closed)");
    EXPECT_EQ(trigger->type(), EventType::Trigger);
}

RUNTIME_TEST(TriggerEvent, FiresFromASignalHandler) {
    static TriggerEvent* target = nullptr;
    RunOptions options;
    options.sink = &sink;
    run(
        [&] {
            auto trigger = TriggerEvent::create(scheduler().reactor());
            target = trigger.get();
            const auto before = std::signal(SIGUSR1, [](int) { target->fire(); });
            auto waiter = spawn([&] { await(trigger); });
            settle();
            ASSERT_EQ(std::raise(SIGUSR1), 0);
            await(waiter);
            std::signal(SIGUSR1, before);
        },
        std::move(options)
    );
}

RUNTIME_TEST(TriggerQueue, OnlyASleepingLoopIsWokenAndOnlyOnce) {
    VirtualReactor reactor;
    auto first = TriggerEvent::create(reactor);
    auto second = TriggerEvent::create(reactor);
    TriggerQueue& queue = reactor.triggers();
    const auto is_readable = [&] {
        pollfd descriptor{queue.descriptor(), POLLIN, 0};
        return ::poll(&descriptor, 1, 0) == 1;
    };
    EXPECT_TRUE(queue.empty());
    EXPECT_FALSE(queue.push(*first)) << "it is awake";
    EXPECT_FALSE(queue.empty());
    EXPECT_FALSE(queue.begin_sleep()) << "something is there";
    EXPECT_FALSE(is_readable());
    queue.deliver();
    EXPECT_TRUE(queue.empty());
    ASSERT_TRUE(queue.begin_sleep());
    EXPECT_TRUE(queue.push(*first));
    EXPECT_FALSE(queue.push(*second)) << "it is on its way";
    EXPECT_TRUE(is_readable());
    queue.end_sleep();
    queue.drain();
    EXPECT_FALSE(is_readable());
    queue.deliver();
    EXPECT_TRUE(queue.empty());
}

RUNTIME_TEST(TriggerQueue, WakeUpBeforeTheSleepEndsIt) {
    VirtualReactor reactor;
    reactor.wake_up();
    reactor.wake_up();
    ASSERT_TRUE(reactor.execute(false));
    pollfd descriptor{reactor.triggers().descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&descriptor, 1, 0), 0) << "one turn for both";
}

// --- across threads; the thread sanitizer watches these

CORO_TEST(TriggerThreads, AwaitAThread) {
    Reactor& reactor = scheduler().reactor();
    /// [from_a_thread]
    int answer = 0;
    auto done = TriggerEvent::create(reactor);
    std::thread worker([&] {
        answer = 42;  // visible to those who are woken
        done->fire();
    });
    await(done);  // other coroutines run meanwhile
    worker.join();
    /// [from_a_thread]
    EXPECT_EQ(answer, 42);
}

CORO_TEST(TriggerThreads, ManyThreadsManyFires) {
    constexpr int kThreads = 4;
    constexpr int kFires = 5000;
    auto trigger = TriggerEvent::create(scheduler().reactor());
    std::array<std::atomic<int>, kThreads> published{};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            for (int n = 1; n <= kFires; ++n) {
                published[static_cast<std::size_t>(i)].store(n, std::memory_order_relaxed);
                trigger->fire();
            }
        });
    }
    const auto is_complete = [&] {
        for (const auto& value : published) {
            if (value.load(std::memory_order_relaxed) != kFires) {
                return false;
            }
        }
        return true;
    };
    int wakes = 0;
    /// [check_then_await]
    while (!is_complete()) {  // nothing between the check and the await may suspend
        await(trigger);
        ++wakes;
    }
    /// [check_then_await]
    EXPECT_LE(wakes, kThreads * kFires);
    for (auto& thread : threads) {
        thread.join();
    }
}

CORO_TEST(TriggerThreads, ManyTriggersShareOneLoop) {
    constexpr std::size_t kPairs = 4;
    constexpr int kRounds = 2000;
    std::vector<std::thread> threads;
    std::vector<Handle<int>> waiters;
    std::array<std::atomic<int>, kPairs> published{};
    std::vector<Ref<TriggerEvent>> triggers;
    for (std::size_t i = 0; i < kPairs; ++i) {
        triggers.push_back(TriggerEvent::create(scheduler().reactor()));
    }
    for (std::size_t i = 0; i < kPairs; ++i) {
        waiters.push_back(spawn([&, i] {
            int seen = 0;
            while ((seen = published[i].load(std::memory_order_relaxed)) != kRounds) {
                await(triggers[i]);
            }
            return seen;
        }));
        threads.emplace_back([&, i] {
            for (int n = 1; n <= kRounds; ++n) {
                published[i].store(n, std::memory_order_relaxed);
                triggers[i]->fire();
            }
        });
    }
    for (const auto& waiter : waiters) {
        EXPECT_EQ(await(waiter), kRounds);
    }
    for (auto& thread : threads) {
        thread.join();
    }
}

CORO_TEST(TriggerThreads, EveryFireIsFollowedByAWakeUp) {
    // The thread goes on only when the loop has answered: one lost wake-up and both wait for ever.
    constexpr int kRounds = 2000;
    auto trigger = TriggerEvent::create(scheduler().reactor());
    std::atomic<int> asked = 0;
    std::atomic<int> answered = 0;
    std::thread thread([&] {
        for (int n = 1; n <= kRounds; ++n) {
            asked.store(n, std::memory_order_relaxed);
            trigger->fire();
            while (answered.load(std::memory_order_relaxed) != n) {
                std::this_thread::yield();
            }
        }
    });
    for (int n = 1; n <= kRounds; ++n) {
        while (asked.load(std::memory_order_relaxed) != n) {
            await(trigger);
        }
        answered.store(n, std::memory_order_relaxed);
    }
    thread.join();
}

CORO_TEST(TriggerThreads, CoalescedCallMakesItsDataVisibleToo) {
    // The second call finds the trigger fired already and adds nothing to the queue; what was written before it must be
    // seen all the same. Nothing but the trigger orders the two threads' writes before the read: the flags are relaxed.
    auto trigger = TriggerEvent::create(scheduler().reactor());
    alignas(64) int data = 0;  // away from the flags, whose traffic would make the thread sanitizer forget the write
    alignas(64) std::atomic<bool> is_first_done = false;
    std::atomic<bool> is_second_done = false;
    std::thread first([&] {
        trigger->fire();
        is_first_done.store(true, std::memory_order_relaxed);
    });
    std::thread second([&] {
        while (!is_first_done.load(std::memory_order_relaxed)) {
            std::this_thread::yield();
        }
        data = 42;
        trigger->fire();
        is_second_done.store(true, std::memory_order_relaxed);
    });
    while (!is_second_done.load(std::memory_order_relaxed)) {
        std::this_thread::yield();
    }
    await(trigger);
    EXPECT_EQ(data, 42);
    first.join();
    second.join();
}

CORO_TEST(TriggerThreads, FiredBeforeAnybodyWaits) {
    for (int round = 0; round < 50; ++round) {
        auto trigger = TriggerEvent::create(scheduler().reactor());
        std::thread([&] { trigger->fire(); }).join();
        await(trigger);
    }
}

CORO_TEST(TriggerThreads, DestroyedWhileOthersAreFired) {
    // Ending one trigger walks the queue that threads push to.
    auto busy = TriggerEvent::create(scheduler().reactor());
    constexpr int kFires = 5000;
    std::atomic<int> published = 0;
    std::thread thread([&] {
        for (int n = 1; n <= kFires; ++n) {
            published.store(n, std::memory_order_relaxed);
            busy->fire();
        }
    });
    while (published.load(std::memory_order_relaxed) != kFires) {
        auto brief = TriggerEvent::create(scheduler().reactor());
        brief->fire();
        brief.reset();
        await(busy);
    }
    thread.join();
}

}  // namespace
}  // namespace trueasync::testing
