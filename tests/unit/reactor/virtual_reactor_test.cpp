#include <trueasync/reactor/virtual_reactor.hpp>

#include <atomic>
#include <functional>
#include <support/coro_test.hpp>
#include <thread>

namespace trueasync::testing {
namespace {

struct Node final : TimerNode {
    explicit Node(std::function<void()> action_ = [] {}) : action(std::move(action_)) {}
    void on_deadline() noexcept override {
        ++calls;
        action();
    }
    int calls = 0;
    std::function<void()> action;
};

RUNTIME_TEST(VirtualReactor, ClockStandsStill) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    EXPECT_GT(begin, Instant{}) << "zero would look like a clock that was never set";
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(reactor.now(), begin);
    EXPECT_FALSE(reactor.has_real_clock());
}

RUNTIME_TEST(VirtualReactor, BlockingTurnJumpsToTheNearestDeadline) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Node late;
    Node early;
    Node together;
    ASSERT_TRUE(reactor.arm(late, begin + 24h));
    ASSERT_TRUE(reactor.arm(early, begin + 1h));
    ASSERT_TRUE(reactor.arm(together, begin + 1h));
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(reactor.now(), begin + 1h);
    EXPECT_EQ(early.calls, 1);
    EXPECT_EQ(together.calls, 1);
    EXPECT_EQ(late.calls, 0);
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(reactor.now(), begin + 24h);
    EXPECT_EQ(late.calls, 1);
    EXPECT_EQ(reactor.timer_count(), 0U);
}

RUNTIME_TEST(VirtualReactor, TurnWithoutWaitingNeverJumps) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Node node;
    ASSERT_TRUE(reactor.arm(node, begin + 1ms));
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(reactor.now(), begin);
    EXPECT_EQ(node.calls, 0);
    reactor.disarm(node);
}

RUNTIME_TEST(VirtualReactor, AdvanceMovesTheClockAndTheNextTurnFires) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Node node;
    ASSERT_TRUE(reactor.arm(node, begin + 10ms));
    reactor.advance(9ms);
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(node.calls, 0);
    reactor.advance(5ms);
    EXPECT_EQ(node.calls, 0) << "only a turn fires";
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(node.calls, 1);
    EXPECT_EQ(reactor.now(), begin + 14ms);
}

RUNTIME_TEST(VirtualReactor, BlockingTurnWithSomethingDueDoesNotJump) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Node due;
    Node later;
    ASSERT_TRUE(reactor.arm(due, begin));
    ASSERT_TRUE(reactor.arm(later, begin + 1h));
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(due.calls, 1);
    EXPECT_EQ(later.calls, 0);
    EXPECT_EQ(reactor.now(), begin);
    reactor.disarm(later);
}

RUNTIME_TEST(VirtualReactor, BlockingTurnThatDeliversATriggerDoesNotJump) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Node later;
    ASSERT_TRUE(reactor.arm(later, begin + 1h));
    auto trigger = TriggerEvent::create(reactor);
    ASSERT_TRUE(trigger->start());
    trigger->fire();
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(reactor.now(), begin) << "something has happened: a real loop would not have slept";
    EXPECT_EQ(later.calls, 0);
    reactor.disarm(later);
}

CORO_TEST(VirtualReactor, TriggerDoesNotCostTime) {
    auto sleeper = spawn([] { sleep_for(1h); });
    auto trigger = TriggerEvent::create(clock());
    settle();
    const Instant begin = clock().now();
    trigger->fire();
    await(trigger);
    EXPECT_EQ(clock().now(), begin);
    sleeper.cancel();
}

RUNTIME_TEST(VirtualReactor, WithoutAutoAdvanceABlockingTurnDoesNothing) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    reactor.set_auto_advance(false);
    Node node;
    ASSERT_TRUE(reactor.arm(node, begin + 10ms));
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(reactor.now(), begin);
    EXPECT_EQ(node.calls, 0);
    reactor.advance(10ms);
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(node.calls, 1);
    ASSERT_TRUE(reactor.arm(node, begin + 20ms));
    reactor.set_auto_advance(true);
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(reactor.now(), begin + 20ms);
    EXPECT_EQ(node.calls, 2);
}

RUNTIME_TEST(VirtualReactor, ArmMovesAnArmedNode) {
    VirtualReactor reactor;
    const Instant begin = reactor.now();
    Node node;
    ASSERT_TRUE(reactor.arm(node, begin + 10ms));
    ASSERT_TRUE(reactor.arm(node, begin + 30ms));
    EXPECT_EQ(reactor.timer_count(), 1U);
    ASSERT_TRUE(reactor.execute(false));
    EXPECT_EQ(reactor.now(), begin + 30ms);
    EXPECT_EQ(node.calls, 1);
}

RUNTIME_TEST(VirtualReactor, DisarmedNodeNeverFires) {
    VirtualReactor reactor;
    Node node;
    ASSERT_TRUE(reactor.arm(node, reactor.now()));
    reactor.disarm(node);
    reactor.disarm(node);
    reactor.advance(1h);
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(node.calls, 0);
    EXPECT_FALSE(node.is_armed());
}

RUNTIME_TEST(VirtualReactor, IsAliveWhileAnythingIsInTheLoop) {
    VirtualReactor reactor;
    EXPECT_FALSE(reactor.is_alive());
    Node node;
    ASSERT_TRUE(reactor.arm(node, reactor.now()));
    EXPECT_TRUE(reactor.is_alive());
    reactor.disarm(node);
    EXPECT_FALSE(reactor.is_alive());
    auto trigger = TriggerEvent::create(reactor);
    trigger->set_hidden(true);
    ASSERT_TRUE(trigger->start());
    EXPECT_TRUE(reactor.is_alive()) << "hidden ones count here";
    ASSERT_TRUE(trigger->stop());
    EXPECT_FALSE(reactor.is_alive());
    trigger->fire();
    EXPECT_TRUE(reactor.is_alive()) << "fired and not yet delivered";
}

RUNTIME_TEST(VirtualReactor, CloseNamesWhatIsStillArmed) {
    VirtualReactor reactor;
    EXPECT_TRUE(reactor.close().empty());
    Node node;
    ASSERT_TRUE(reactor.arm(node, reactor.now() + 1h));
    const std::vector<std::string> open = reactor.close();
    ASSERT_EQ(open.size(), 1U);
    EXPECT_NE(open[0].find("1 armed timer"), std::string::npos);
    reactor.disarm(node);
}

CORO_TEST(VirtualReactor, YearsPassInNoTime) {
    const Instant begin = clock().now();
    sleep_for(24h * 365 * 50);
    EXPECT_EQ(clock().now() - begin, 24h * 365 * 50);
}

CORO_TEST(VirtualReactor, SleepersWakeInTheOrderOfTheirDeadlines) {
    std::vector<int> order;
    std::vector<Handle<void>> sleepers;
    for (const int delay : {30, 10, 20, 10}) {
        sleepers.push_back(spawn([&order, delay] {
            sleep_for(delay * 1ms);
            order.push_back(delay);
        }));
    }
    for (const auto& sleeper : sleepers) {
        await(sleeper);
    }
    EXPECT_EQ(order, (std::vector{10, 10, 20, 30}));
}

CORO_TEST(VirtualReactor, MovedClockFiresWhileOthersAreBusy) {
    clock().set_auto_advance(false);
    bool is_awake = false;
    auto sleeper = spawn([&] {
        sleep_for(10ms);
        is_awake = true;
    });
    auto other = spawn([&] {
        for (int i = 0; i < 10000 && !is_awake; ++i) {
            suspend();
        }
    });
    settle();
    EXPECT_FALSE(is_awake);
    clock().advance(10ms);
    await(other);
    EXPECT_TRUE(is_awake);
    clock().set_auto_advance(true);
}

RUNTIME_TEST(VirtualReactor, WakeUpBeforeTheTurnEndsItAtOnce) {
    VirtualReactor reactor;
    reactor.wake_up();
    ASSERT_TRUE(reactor.execute(false));
}

RUNTIME_TEST(VirtualReactorThreads, WakeUpEndsABlockingTurn) {
    VirtualReactor reactor;
    std::atomic<bool> is_done = false;
    std::thread thread([&] {
        for (int i = 0; i < 50; ++i) {
            reactor.wake_up();
            std::this_thread::yield();
        }
        is_done = true;
        reactor.wake_up();
    });
    do {  // each of these would sleep for ever by itself
        ASSERT_TRUE(reactor.execute(false));
    } while (!is_done);
    thread.join();
}

CORO_TEST(VirtualReactorThreads, WithOnlyTriggersLeftItReallyWaits) {
    auto trigger = TriggerEvent::create(clock());
    std::atomic<bool> is_parking = false;
    std::atomic<bool> is_fired = false;
    const Instant begin = clock().now();
    std::thread thread([&] {
        while (!is_parking) {
            std::this_thread::yield();
        }
        is_fired = true;
        trigger->fire();
    });
    is_parking = true;  // the next thing this thread does is to park
    await(trigger);
    EXPECT_TRUE(is_fired);
    EXPECT_EQ(clock().now(), begin);
    thread.join();
}

CORO_TEST(VirtualReactorThreads, OneWakeUpEndsOneBlockingTurn) {
    auto trigger = TriggerEvent::create(clock());
    trigger->fire();
    await(trigger);
    const std::uint64_t before = scheduler().stats().blocks;
    std::atomic<bool> is_parking = false;
    std::thread thread([&] {
        while (!is_parking) {
            std::this_thread::yield();
        }
        for (int i = 0; i < 1000; ++i) {
            std::this_thread::yield();  // time enough for a loop that does not sleep to turn often
        }
        trigger->fire();
    });
    is_parking = true;
    await(trigger);
    thread.join();
    EXPECT_LE(scheduler().stats().blocks - before, 3U);
}

}  // namespace
}  // namespace trueasync::testing
