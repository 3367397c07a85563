#include <trueasync/base/ring.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

#include <support/allocation_counter.hpp>

namespace trueasync {
namespace {

TEST(Ring, StartsEmptyAndWithoutMemory) {
    const Ring<int> ring;
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(ring.size(), 0u);
    EXPECT_EQ(ring.capacity(), 0u);
}

TEST(Ring, FirstInFirstOut) {
    Ring<int> ring;
    for (int i = 0; i < 100; ++i) {
        ring.push_back(i);
    }
    EXPECT_EQ(ring.size(), 100u);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(ring.pop_front(), i);
    }
    EXPECT_TRUE(ring.empty());
}

TEST(Ring, GrowsByDoublingAndNeverShrinks) {
    Ring<int> ring;
    ring.push_back(0);
    const std::size_t first = ring.capacity();
    EXPECT_GT(first, 0u);
    while (ring.size() <= first) {
        ring.push_back(0);
    }
    EXPECT_EQ(ring.capacity(), 2 * first);
    while (!ring.empty()) {
        ring.pop_front();
    }
    EXPECT_EQ(ring.capacity(), 2 * first);
}

TEST(Ring, KeepsOrderWhenItGrowsWrapped) {
    for (int shift = 0; shift <= 8; ++shift) {
        Ring<int> ring;
        for (int i = 0; i < shift; ++i) {
            ring.push_back(-1);
            ring.pop_front();
        }
        for (int i = 0; i < 9; ++i) {  // one more than the first capacity
            ring.push_back(i);
        }
        for (int i = 0; i < 9; ++i) {
            ASSERT_EQ(ring.pop_front(), i) << "shifted by " << shift;
        }
    }
}

TEST(Ring, HoldsWhatCanOnlyBeMoved) {
    Ring<std::unique_ptr<int>> ring;
    for (int i = 0; i < 20; ++i) {
        ring.push_back(std::make_unique<int>(i));
    }
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(*ring.pop_front(), i);
    }
}

TEST(Ring, KeepsNothingAliveThatWasTaken) {
    Ring<std::shared_ptr<int>> ring;
    ring.push_back(std::make_shared<int>(1));
    std::weak_ptr<int> watch;
    {
        const std::shared_ptr<int> taken = ring.pop_front();
        watch = taken;
    }
    EXPECT_TRUE(watch.expired());
}

TEST(Ring, EndsWhatItStillHolds) {
    std::weak_ptr<int> watch;
    {
        Ring<std::shared_ptr<int>> ring;
        ring.push_back(std::make_shared<int>(1));
        ring.push_back(std::make_shared<int>(2));
        ring.pop_front();
        auto value = std::make_shared<int>(3);
        watch = value;
        ring.push_back(std::move(value));
        EXPECT_FALSE(watch.expired());
    }
    EXPECT_TRUE(watch.expired());
}

TEST(Ring, WarmRingAllocatesNothing) {
    if (!testing::AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    Ring<int> ring;
    for (int i = 0; i < 64; ++i) {
        ring.push_back(i);
    }
    const testing::AllocationCounter allocations;
    for (int i = 0; i < 1000; ++i) {
        ring.pop_front();
        ring.push_back(i);
    }
    EXPECT_EQ(allocations.count(), 0u);
}

TEST(Ring, BehavesLikeADeque) {
    constexpr unsigned kSeed = 20260729;
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
    std::mt19937 random(kSeed);
    Ring<unsigned> ring;
    std::deque<unsigned> model;
    for (int step = 0; step < 10'000; ++step) {
        const bool fills = step / 500 % 2 == 0;
        if (model.empty() || random() % 10 < (fills ? 7U : 3U)) {
            const unsigned value = static_cast<unsigned>(random());
            ring.push_back(value);
            model.push_back(value);
        } else {
            ASSERT_EQ(ring.pop_front(), model.front()) << "step " << step;
            model.pop_front();
        }
        ASSERT_EQ(ring.size(), model.size());
        ASSERT_EQ(ring.empty(), model.empty());
    }
}

}  // namespace
}  // namespace trueasync
