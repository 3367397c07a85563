#include <trueasync/reactor/loop_return.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <support/coro_test.hpp>
#include <support/threads.hpp>
#include <thread>

namespace trueasync::testing {
namespace {

class Item final : public ReturnItem {
public:
    void done() noexcept override {
        ++dones;
        if (on_done) {
            on_done();
        }
    }
    void detach() noexcept override { ++detaches; }
    void drop() noexcept override { ++drops; }

    std::function<void()> on_done;
    int dones = 0;
    int detaches = 0;
    std::atomic<int> drops = 0;
};

void turn(Reactor& reactor) { ASSERT_TRUE(reactor.execute(true)); }

TEST(LoopReturn, ComesBackAtTheNextTurn) {
    VirtualReactor reactor;
    Item item;
    ASSERT_TRUE(item.expect(reactor));
    EXPECT_TRUE(item.is_expected());
    std::thread([&] { item.post(); }).join();
    EXPECT_EQ(item.dones, 0);
    turn(reactor);
    EXPECT_EQ(item.dones, 1);
    EXPECT_FALSE(item.is_expected());
    turn(reactor);
    EXPECT_EQ(item.dones, 1);
}

TEST(LoopReturn, ManyComeBackInOrder) {
    VirtualReactor reactor;
    std::array<Item, 100> items;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i].on_done = [&order, i] { order.push_back(i); };
        ASSERT_TRUE(items[i].expect(reactor));
    }
    for (Item& item : items) {
        item.post();
    }
    turn(reactor);
    ASSERT_EQ(order.size(), items.size());
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

#if defined(__linux__)
TEST(LoopReturn, ManyComeBackForOneWakeUp) {
    VirtualReactor reactor;
    std::array<Item, 100> items;
    for (Item& item : items) {
        ASSERT_TRUE(item.expect(reactor));
    }
    ASSERT_TRUE(reactor.triggers().begin_sleep());
    for (Item& item : items) {
        item.post();
    }
    std::uint64_t wakes = 0;
    ASSERT_EQ(::read(reactor.triggers().descriptor(), &wakes, sizeof(wakes)), static_cast<ssize_t>(sizeof(wakes)));
    EXPECT_EQ(wakes, 1U);
    turn(reactor);
    EXPECT_EQ(items.back().dones, 1);
}
#endif

TEST(LoopReturn, TriggerIsInTheLoopOnlyWhileSomethingIsOut) {
    VirtualReactor reactor;
    Item first;
    Item second;
    EXPECT_EQ(reactor.active().hidden, 0U);
    ASSERT_TRUE(first.expect(reactor));
    ASSERT_TRUE(second.expect(reactor));
    EXPECT_EQ(LoopReturns::of(reactor)->expected(), 2U);
    EXPECT_EQ(reactor.active().hidden, 1U);
    first.post();
    turn(reactor);
    EXPECT_EQ(reactor.active().hidden, 1U);
    second.forget();
    EXPECT_FALSE(second.is_expected());
    EXPECT_EQ(reactor.active().hidden, 0U);
    EXPECT_EQ(reactor.active().visible, 0U);
}

TEST(LoopReturn, ForgettingWhatIsNotExpectedDoesNothing) {
    Item item;
    item.forget();
    EXPECT_FALSE(item.is_expected());
}

TEST(LoopReturn, ExpectedAnewInItsOwnDone) {
    VirtualReactor reactor;
    Item item;
    item.on_done = [&] {
        if (item.dones == 1) {
            ASSERT_TRUE(item.expect(reactor));
            item.post();
        }
    };
    ASSERT_TRUE(item.expect(reactor));
    item.post();
    turn(reactor);
    EXPECT_EQ(item.dones, 1);
    turn(reactor);
    EXPECT_EQ(item.dones, 2);
    EXPECT_EQ(reactor.active().hidden, 0U);
}

TEST(LoopReturn, ClosedLoopTakesNothingMore) {
    VirtualReactor reactor;
    Item item;
    reactor.close();
    EXPECT_TRUE(item.expect(reactor).is(ErrorCode::ShuttingDown));
    EXPECT_FALSE(item.is_expected());
}

TEST(LoopReturn, ClosingCutsOffWhatIsOutAndDropsWhatIsBack) {
    Item out;
    Item back;
    {
        VirtualReactor reactor;
        ASSERT_TRUE(out.expect(reactor));
        ASSERT_TRUE(back.expect(reactor));
        back.post();
        reactor.close();
        EXPECT_EQ(out.detaches, 1);
        EXPECT_EQ(out.drops, 0);
        EXPECT_EQ(back.detaches, 1);
        EXPECT_EQ(back.drops, 1);
        EXPECT_EQ(reactor.active().hidden, 0U);
    }
    std::thread([&] { out.post(); }).join();
    EXPECT_EQ(out.drops, 1);
    EXPECT_EQ(out.dones + back.dones, 0);
}

TEST(LoopReturn, ClosingWhileItDelivers) {
    VirtualReactor reactor;
    Item first;
    Item second;
    first.on_done = [&] { reactor.close(); };
    ASSERT_TRUE(first.expect(reactor));
    ASSERT_TRUE(second.expect(reactor));
    first.post();
    second.post();
    turn(reactor);
    EXPECT_EQ(first.dones, 1);
    EXPECT_EQ(second.dones, 0);
    EXPECT_EQ(second.detaches, 1);
    EXPECT_EQ(second.drops, 1);
}

TEST(LoopReturn, NothingIsLostBetweenManyThreadsAndALoopThatCloses) {
    constexpr std::size_t kThreads = 4;
    constexpr std::size_t kItems = 200;
    for (int round = 0; round < 20; ++round) {
        std::vector<Item> items(kThreads * kItems);
        std::vector<std::thread> threads;
        int dones = 0;
        {
            VirtualReactor reactor;
            for (Item& item : items) {
                ASSERT_TRUE(item.expect(reactor));
                item.on_done = [&] { ++dones; };
            }
            for (std::size_t i = 0; i < kThreads; ++i) {
                threads.emplace_back([&, i] {
                    for (std::size_t k = 0; k < kItems; ++k) {
                        items[i * kItems + k].post();
                    }
                });
            }
            const int enough = round * 20;  // closes sooner or later
            while (dones < enough) {
                turn(reactor);
            }
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        int drops = 0;
        for (const Item& item : items) {
            ASSERT_EQ(item.dones + item.drops, 1);
            drops += item.drops;
        }
        EXPECT_EQ(dones + drops, static_cast<int>(items.size()));
    }
}

}  // namespace
}  // namespace trueasync::testing
