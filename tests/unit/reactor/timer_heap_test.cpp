#include <trueasync/reactor/timer_heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <support/allocation_counter.hpp>
#include <tuple>
#include <vector>

namespace trueasync {
namespace {

using namespace std::chrono_literals;

constexpr Instant at(std::int64_t ticks) { return Instant(Duration(ticks)); }

struct Node final : TimerNode {
    void on_deadline() noexcept override { action(); }
    std::function<void()> action = [] {};
};

/// Appends its number to a list when it fires.
struct Numbered final : TimerNode {
    Numbered(int number_, std::vector<int>& fired_) : number(number_), fired(fired_) {}
    void on_deadline() noexcept override { fired.push_back(number); }
    int number;
    std::vector<int>& fired;
};

TEST(TimerHeap, EmptyHeapHasNoDeadline) {
    TimerHeap heap;
    EXPECT_TRUE(heap.empty());
    EXPECT_EQ(heap.size(), 0U);
    EXPECT_EQ(heap.nearest(), Instant::max());
    heap.fire_due(Instant::max());
}

TEST(TimerHeap, NearestIsTheEarliestDeadline) {
    TimerHeap heap;
    Node late;
    Node early;
    ASSERT_TRUE(heap.insert(late, at(20)));
    EXPECT_EQ(heap.nearest(), at(20));
    ASSERT_TRUE(heap.insert(early, at(10)));
    EXPECT_EQ(heap.nearest(), at(10));
    EXPECT_EQ(early.deadline(), at(10));
    heap.remove(early);
    EXPECT_EQ(heap.nearest(), at(20));
    heap.remove(late);
    EXPECT_TRUE(heap.empty());
}

TEST(TimerHeap, InsertOfAnArmedNodeMovesIt) {
    TimerHeap heap;
    std::vector<int> fired;
    Numbered first(1, fired);
    Numbered second(2, fired);
    ASSERT_TRUE(heap.insert(first, at(10)));
    ASSERT_TRUE(heap.insert(second, at(20)));
    ASSERT_TRUE(heap.insert(first, at(30)));
    EXPECT_EQ(heap.size(), 2U);
    EXPECT_EQ(heap.nearest(), at(20));
    ASSERT_TRUE(heap.insert(first, at(5)));
    EXPECT_EQ(heap.nearest(), at(5));
    heap.fire_due(at(100));
    EXPECT_EQ(fired, (std::vector{1, 2}));
}

TEST(TimerHeap, RemoveOfANodeThatIsNotArmedDoesNothing) {
    TimerHeap heap;
    Node node;
    heap.remove(node);
    ASSERT_TRUE(heap.insert(node, at(1)));
    heap.remove(node);
    heap.remove(node);
    EXPECT_FALSE(node.is_armed());
    EXPECT_TRUE(heap.empty());
}

TEST(TimerHeap, FiresWhatIsDueAndNothingElse) {
    TimerHeap heap;
    std::vector<int> fired;
    Numbered before(1, fired);
    Numbered exactly(2, fired);
    Numbered after(3, fired);
    ASSERT_TRUE(heap.insert(after, at(11)));
    ASSERT_TRUE(heap.insert(exactly, at(10)));
    ASSERT_TRUE(heap.insert(before, at(9)));
    heap.fire_due(at(10));
    EXPECT_EQ(fired, (std::vector{1, 2}));
    EXPECT_FALSE(exactly.is_armed());
    EXPECT_TRUE(after.is_armed());
}

TEST(TimerHeap, EqualDeadlinesKeepTheOrderOfArming) {
    TimerHeap heap;
    std::vector<int> fired;
    std::vector<std::unique_ptr<Numbered>> nodes;
    for (int i = 0; i < 100; ++i) {
        nodes.push_back(std::make_unique<Numbered>(i, fired));
        ASSERT_TRUE(heap.insert(*nodes.back(), at(10)));
    }
    // Arming again counts anew: these go to the end.
    ASSERT_TRUE(heap.insert(*nodes[3], at(10)));
    ASSERT_TRUE(heap.insert(*nodes[0], at(10)));
    heap.remove(*nodes[50]);
    heap.fire_due(at(10));
    std::vector<int> expected;
    for (int i = 1; i < 100; ++i) {
        if (i != 3 && i != 50) {
            expected.push_back(i);
        }
    }
    expected.push_back(3);
    expected.push_back(0);
    EXPECT_EQ(fired, expected);
}

TEST(TimerHeap, NodeIsNotArmedWhileItFires) {
    TimerHeap heap;
    Node node;
    bool was_armed = true;
    std::size_t size = 99;
    node.action = [&] {
        was_armed = node.is_armed();
        size = heap.size();
    };
    ASSERT_TRUE(heap.insert(node, at(1)));
    heap.fire_due(at(1));
    EXPECT_FALSE(was_armed);
    EXPECT_EQ(size, 0U);
}

TEST(TimerHeap, NodesArmedWhileFiringWaitForTheNextCall) {
    TimerHeap heap;
    Node again;
    int calls = 0;
    again.action = [&] {
        ++calls;
        ASSERT_TRUE(heap.insert(again, at(10)));
    };
    ASSERT_TRUE(heap.insert(again, at(10)));
    heap.fire_due(at(10));
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(again.is_armed());
    heap.fire_due(at(10));
    EXPECT_EQ(calls, 2);
    again.action = [] {};
    heap.fire_due(at(10));
    EXPECT_TRUE(heap.empty());
}

TEST(TimerHeap, NodeArmedInThePastWhileFiringDoesNotHoldBackOthers) {
    TimerHeap heap;
    std::vector<int> fired;
    Node first;
    Numbered newcomer(1, fired);
    Numbered second(2, fired);
    first.action = [&] { ASSERT_TRUE(heap.insert(newcomer, at(1))); };
    ASSERT_TRUE(heap.insert(first, at(5)));
    ASSERT_TRUE(heap.insert(second, at(6)));
    heap.fire_due(at(10));
    EXPECT_EQ(fired, std::vector{2}) << "everything that was due fires; what was armed meanwhile waits";
    EXPECT_TRUE(newcomer.is_armed());
    heap.fire_due(at(10));
    EXPECT_EQ(fired, (std::vector{2, 1}));
}

TEST(TimerHeap, RemovedWhileFiringDoesNotFire) {
    TimerHeap heap;
    std::vector<int> fired;
    Node first;
    Numbered second(2, fired);
    Numbered third(3, fired);
    first.action = [&] { heap.remove(second); };
    ASSERT_TRUE(heap.insert(first, at(1)));
    ASSERT_TRUE(heap.insert(second, at(2)));
    ASSERT_TRUE(heap.insert(third, at(3)));
    heap.fire_due(at(3));
    EXPECT_EQ(fired, std::vector{3});
}

/// The same operations on a heap and on a sorted set, compared after every step.
class HeapModel {
public:
    enum class Order { Mixed, Rising };  // of deadlines

    HeapModel(std::uint32_t seed, bool arms_in_the_past, Order order = Order::Mixed)
        : random_(seed), arms_in_the_past_(arms_in_the_past), order_(order) {
        for (std::size_t i = 0; i < kNodes; ++i) {
            nodes_.push_back(std::make_unique<Node>());
            nodes_.back()->action = [this, i] { fired(i); };
        }
    }

    void run(int steps) {
        for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
            switch (pick(8)) {
                case 0:
                case 1:
                    remove(pick(kNodes));
                    break;
                case 2:
                    fire(clock_ + static_cast<std::int64_t>(pick(60)));
                    break;
                default:
                    arm(pick(kNodes), order_ == Order::Mixed ? clock_ + static_cast<std::int64_t>(pick(100)) : rise());
            }
            compare();
        }
        fire(INT64_MAX);
        fire(INT64_MAX);
        while (!model_.empty()) {
            remove(std::get<2>(*model_.begin()));
        }
        EXPECT_TRUE(heap_.empty());
    }

private:
    static constexpr std::size_t kNodes = 60;
    using Key = std::tuple<std::int64_t, std::uint64_t, std::size_t>;  // when, order of arming, node

    std::size_t pick(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

    /// Mostly equal delays; at times one that is far away, or near.
    std::int64_t rise() {
        constexpr std::int64_t kFar = 20'000'000;
        const std::size_t kind = pick(20);
        return clock_ + (kind == 0 ? kFar : kind == 1 ? 1 : 100);
    }

    void arm(std::size_t index, std::int64_t when) {
        forget(index);
        // Armed in the past by a callback: as good as armed for now.
        model_.insert({is_firing_ ? std::max(when, clock_) : when, next_order_++, index});
        ASSERT_TRUE(heap_.insert(*nodes_[index], at(when)));
    }

    void remove(std::size_t index) {
        forget(index);
        heap_.remove(*nodes_[index]);
    }

    void forget(std::size_t index) {
        std::erase_if(model_, [&](const Key& key) { return std::get<2>(key) == index; });
    }

    /// The first one of the model that this call of `fire_due` has to fire; end when there is none.
    std::set<Key>::iterator next_due() {
        auto next = model_.begin();
        while (next != model_.end() && std::get<1>(*next) >= begun_) {
            ++next;
        }
        return next != model_.end() && std::get<0>(*next) <= clock_ ? next : model_.end();
    }

    void fire(std::int64_t now) {
        clock_ = now;
        begun_ = next_order_;
        is_firing_ = true;
        heap_.fire_due(at(now));
        is_firing_ = false;
        EXPECT_EQ(next_due(), model_.end()) << "something due has not fired";
        if (now == INT64_MAX) {
            clock_ = 0;
        }
    }

    void fired(std::size_t index) {
        const auto expected = next_due();
        ASSERT_NE(expected, model_.end()) << "node " << index << " fired and should not";
        EXPECT_EQ(std::get<2>(*expected), index);
        EXPECT_FALSE(nodes_[index]->is_armed());
        forget(index);
        // Callbacks do things too.
        if (clock_ < INT64_MAX && pick(3) == 0) {
            const std::int64_t earliest = arms_in_the_past_ ? clock_ - 50 : clock_;
            arm(pick(kNodes), earliest + static_cast<std::int64_t>(pick(100)));
        }
        if (pick(5) == 0) {
            remove(pick(kNodes));
        }
    }

    void compare() {
        ASSERT_EQ(heap_.size(), model_.size());
        ASSERT_EQ(heap_.nearest(), model_.empty() ? Instant::max() : at(std::get<0>(*model_.begin())));
        std::size_t armed = 0;
        for (const auto& node : nodes_) {
            armed += node->is_armed() ? 1 : 0;
        }
        ASSERT_EQ(armed, model_.size());
    }

    std::mt19937 random_;
    bool arms_in_the_past_;
    Order order_;
    TimerHeap heap_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::set<Key> model_;
    std::uint64_t next_order_ = 0;
    std::uint64_t begun_ = 0;
    std::int64_t clock_ = 0;
    bool is_firing_ = false;
};

TEST(TimerHeap, AgreesWithASortedSet) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        HeapModel(seed, false).run(2000);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(TimerHeap, AgreesWithASortedSetWhenCallbacksArmInThePast) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        HeapModel(seed, true).run(2000);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(TimerHeap, AgreesWithASortedSetWhenDelaysAreEqual) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        HeapModel(seed, seed % 2 == 0, HeapModel::Order::Rising).run(2000);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(TimerHeap, FarthestDeadlinesDoNotOverflow) {
    TimerHeap heap;
    std::vector<int> fired;
    Numbered first(1, fired);
    Numbered last(2, fired);
    ASSERT_TRUE(heap.insert(first, Instant::min()));
    ASSERT_TRUE(heap.insert(last, Instant::max()));
    EXPECT_EQ(first.deadline(), Instant::min());
    EXPECT_LE(heap.nearest(), at(0));
    EXPECT_GE(heap.nearest() - at(1), -1ns) << "differences with any time of a clock fit";
    heap.fire_due(at(0));
    EXPECT_EQ(fired, std::vector{1});
    heap.fire_due(Instant::max());
    EXPECT_EQ(fired, (std::vector{1, 2}));
}

TEST(TimerHeap, RemovalsInARowDoNotGrowIt) {
    TimerHeap heap;
    std::vector<int> fired;
    std::vector<std::unique_ptr<Numbered>> kept;
    std::array passing{Numbered(0, fired), Numbered(0, fired)};  // in turn: each leaves a gap before the other
    std::size_t allocations = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        if (i % 100'000 == 0) {
            kept.push_back(std::make_unique<Numbered>(i, fired));
            ASSERT_TRUE(heap.insert(*kept.back(), at(i)));
        }
        const testing::AllocationCounter counter;
        ASSERT_TRUE(heap.insert(passing[static_cast<std::size_t>(i) % 2], at(i)));
        allocations += counter.count();
    }
    EXPECT_LE(allocations, 4U) << "a place for each that has been there";
    heap.remove(passing[0]);
    heap.remove(passing[1]);
    heap.fire_due(Instant::max());
    EXPECT_EQ(fired.size(), 10U);
    EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST(TimerHeap, ArmingAgainNeedsNoMemory) {
    if (!testing::AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer's operator new cannot be counted";
    }
    constexpr std::int64_t kFar = 20'000'000;  // not in a row with others
    TimerHeap heap;
    std::array<Node, 16> nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        ASSERT_TRUE(heap.insert(nodes[i], at(static_cast<std::int64_t>(i))));
    }
    for (Node& node : nodes) {
        node.action = [&] { EXPECT_TRUE(heap.insert(node, node.when + Duration(kFar))); };
    }
    const testing::NoMemory none;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        EXPECT_TRUE(heap.insert(nodes[i], at(kFar * static_cast<std::int64_t>(nodes.size() - i))));
    }
    heap.fire_due(at(kFar));
    heap.fire_due(at(100 * kFar));
    EXPECT_EQ(heap.size(), nodes.size());
}

/// Checks that all of its kind fire in order.
struct Ordered final : TimerNode {
    void on_deadline() noexcept override {
        is_sorted = is_sorted && (last < when || (last == when && last_sequence < sequence));
        last = when;
        last_sequence = sequence;
        ++count;
    }
    std::uint64_t sequence = 0;
    static inline bool is_sorted = true;
    static inline Instant last{};
    static inline std::uint64_t last_sequence = 0;
    static inline std::size_t count = 0;
};

TEST(TimerHeap, HoldsAMillionNodes) {
#if defined(TA_TSAN)
    constexpr std::size_t kNodes = 50'000;  // no threads here: the full number is for the other builds
#else
    constexpr std::size_t kNodes = 1'000'000;
#endif
    Ordered::is_sorted = true;
    Ordered::last = {};
    Ordered::count = 0;
    const auto nodes = std::make_unique<Ordered[]>(kNodes);
    TimerHeap heap;
    std::mt19937 random(42);
    std::uniform_int_distribution<std::int64_t> when(1, kNodes / 2);  // many ties
    std::uint64_t sequence = 0;
    for (std::size_t i = 0; i < kNodes; ++i) {
        nodes[i].sequence = ++sequence;
        ASSERT_TRUE(heap.insert(nodes[i], at(when(random))));
    }
    ASSERT_EQ(heap.size(), kNodes);
    for (std::size_t i = 0; i < kNodes; i += 5) {
        nodes[i].sequence = ++sequence;
        ASSERT_TRUE(heap.insert(nodes[i], at(when(random))));
    }
    std::size_t removed = 0;
    for (std::size_t i = 0; i < kNodes; i += 3, ++removed) {
        heap.remove(nodes[i]);
    }
    heap.fire_due(at(kNodes / 4));
    EXPECT_GT(heap.nearest(), at(kNodes / 4));
    heap.fire_due(at(kNodes));
    EXPECT_TRUE(heap.empty());
    EXPECT_TRUE(Ordered::is_sorted);
    EXPECT_EQ(Ordered::count, kNodes - removed);
}

}  // namespace
}  // namespace trueasync
