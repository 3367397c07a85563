#include <trueasync/api/mutex.hpp>

#include <mutex>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(MutexApi, Example) {
    /// [mutex]
    Mutex mutex;
    int balance = 100;
    const auto withdraw = [&](int amount) {
        const auto guard = mutex.guard();  // waits in line; its end unlocks
        if (balance < amount) {
            return false;
        }
        sleep_for(1ms);  // another coroutine runs here, but not this code
        balance -= amount;
        return true;
    };
    auto first = spawn([&] { return withdraw(70); });
    auto second = spawn([&] { return withdraw(70); });
    const int successes = await(first) + await(second);
    /// [mutex]
    EXPECT_EQ(successes, 1);
    EXPECT_EQ(balance, 30);
}

CORO_TEST(MutexApi, GuardUnlocksOnce) {
    Mutex mutex;
    auto guard = mutex.guard();
    EXPECT_TRUE(guard);
    guard.unlock();
    EXPECT_FALSE(guard);
    EXPECT_FALSE(mutex.is_locked());
    auto other = mutex.try_guard();
    ASSERT_TRUE(other.has_value());
    EXPECT_FALSE(mutex.try_guard().has_value());
    guard.unlock();
    EXPECT_TRUE(mutex.is_locked()) << "it is not the first guard's any more";
}

CORO_TEST(MutexApi, GuardMayBeMovedAndEndElsewhere) {
    Mutex first;
    Mutex second;
    auto guard = first.guard();
    auto moved = std::move(guard);
    EXPECT_TRUE(first.is_locked());
    moved = second.guard();
    EXPECT_FALSE(first.is_locked());
    EXPECT_TRUE(second.is_locked());
    auto other = spawn([guard = std::move(moved)]() mutable { const auto last = std::move(guard); });
    await(other);
    EXPECT_FALSE(second.is_locked());
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(MutexApi, GuardMayOutliveTheMutex) {
    std::optional<Mutex> mutex(std::in_place);
    auto guard = mutex->guard();
    mutex.reset();
    guard.unlock();
}

CORO_TEST(MutexApi, GuardWhoseLockIsGoneUnlocksNobodyElses) {
    Mutex mutex;
    {
        const auto guard = mutex.guard();
        mutex.unlock();
        auto other = spawn([&] { mutex.lock(); });
        await(other);
    }
    EXPECT_TRUE(mutex.is_locked());
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_TRUE(contains(sink.unhandled[0], "only its owner unlocks a mutex")) << sink.unhandled[0];
}

CORO_TEST(MutexApi, WorksWithTheLocksOfTheStandardLibrary) {
    Mutex left;
    Mutex right;
    {
        const std::scoped_lock both(left, right);
        EXPECT_TRUE(left.is_locked());
        EXPECT_TRUE(right.is_locked());
    }
    std::unique_lock lock(left, std::defer_lock);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    EXPECT_FALSE(left.is_locked());
}

}  // namespace
}  // namespace trueasync::testing
