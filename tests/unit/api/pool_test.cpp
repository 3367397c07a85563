#include <trueasync/api/pool.hpp>

#include <stdexcept>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

struct Connection {
    int number = 0;
    bool is_broken = false;
};

PoolOptions<Connection> numbered(int& next, std::size_t max = 1) {
    PoolOptions<Connection> options;
    options.factory = [&next] { return Connection{++next}; };
    options.max = max;
    return options;
}

CORO_TEST(Pool, LendsAndTakesBack) {
    // [pool]
    int opened = 0;
    Pool<Connection> pool({
        .factory = [&] { return Connection{++opened}; },
        .destructor = [](Connection& connection) { connection.number = 0; },
        .before_release = [](Connection& connection) { return !connection.is_broken; },
        .max = 2,
    });
    std::vector<Handle<int>> users;
    for (int i = 0; i < 10; ++i) {
        users.push_back(spawn([&] {
            auto connection = pool.acquire(1s);  // waits in line when both are out
            sleep_for(1ms);
            return connection->number;  // its end gives it back
        }));
    }
    for (auto& user : users) {
        await(user);
    }
    EXPECT_EQ(opened, 2);
    // [pool]
    EXPECT_EQ(pool.idle_count(), 2U);
    EXPECT_EQ(pool.active_count(), 0U);
    EXPECT_EQ(pool.count(), 2U);
    EXPECT_EQ(pool.stats().acquired, 10U);
}

CORO_TEST(Pool, LeaseGivesBackOnce) {
    int next = 0;
    Pool<Connection> pool(numbered(next));
    {
        auto lease = pool.acquire();
        EXPECT_TRUE(lease);
        EXPECT_EQ((*lease).number, 1);
        auto other = std::move(lease);
        EXPECT_FALSE(lease);
        EXPECT_EQ(pool.active_count(), 1U);
        other.release();
        EXPECT_FALSE(other);
        other.release();
        EXPECT_EQ(pool.idle_count(), 1U);
        lease = pool.acquire();
        EXPECT_EQ(pool.active_count(), 1U);
    }
    EXPECT_EQ(pool.active_count(), 0U);
    EXPECT_EQ(next, 1);
}

CORO_TEST(Pool, Throws) {
    int next = 0;
    Pool<Connection> pool(numbered(next));
    {
        auto lease = pool.acquire();
        EXPECT_TRUE(throws<TimeoutError>([&] { pool.acquire(1ms); }));
        EXPECT_FALSE(pool.try_acquire().has_value());
    }
    EXPECT_TRUE(pool.try_acquire().has_value());
    pool.deactivate();
    EXPECT_EQ(pool.state(), CircuitBreakerState::Inactive);
    EXPECT_TRUE(throws<ServiceUnavailable>([&] { pool.acquire(); }));
    pool.recover();
    pool.acquire();
    pool.activate();
    EXPECT_FALSE(pool.is_closed());
    pool.close();
    EXPECT_TRUE(pool.is_closed());
    EXPECT_TRUE(throws<PoolClosed>([&] { pool.acquire(); }));
    EXPECT_EQ(what_of([&] { pool.acquire(); }), "Pool is closed");
}

CORO_TEST(Pool, ThrowsWhatItsFunctionsThrow) {
    PoolOptions<Connection> options;
    options.factory = []() -> Connection { throw std::out_of_range("none"); };
    {
        Pool<Connection> pool(options);
        EXPECT_TRUE(throws<std::out_of_range>([&] { pool.acquire(); }));
        EXPECT_TRUE(throws<std::out_of_range>([&] { pool.try_acquire(); }));
    }
    options.min = 1;
    EXPECT_TRUE(throws<std::out_of_range>([&] { Pool<Connection> pool(options); }));
    options.min = 11;
    EXPECT_EQ(code_of([&] { Pool<Connection> pool(options); }), ErrorCode::InvalidArgument);
}

CORO_TEST(Pool, CloseThrowsWhatDestructorsThrew) {
    int next = 0;
    PoolOptions<Connection> options = numbered(next, 3);
    options.destructor = [](Connection& connection) {
        throw std::runtime_error("no " + std::to_string(connection.number));
    };
    options.min = 1;
    {
        Pool<Connection> pool(options);
        EXPECT_EQ(what_of([&] { pool.close(); }), "no 1");
    }
    options.min = 2;
    {
        Pool<Connection> pool(options);
        EXPECT_EQ(what_of([&] { pool.close(); }), "std::runtime_error: no 3; caused by: std::runtime_error: no 2");
        pool.close();
    }
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(Pool, WhatFailsInADestructorIsReported) {
    int next = 0;
    PoolOptions<Connection> options = numbered(next, 2);
    options.min = 1;
    options.destructor = [](Connection&) { throw std::runtime_error("late"); };
    try {
        Pool<Connection> pool(options);
        auto lease = pool.acquire();
        pool.close();
        throw std::logic_error("in flight");
    } catch (const std::logic_error& error) {
        EXPECT_STREQ(error.what(), "in flight");
    }
    EXPECT_EQ(sink.unhandled, (Log{"Pool(idle=0, active=0, reserved=0, max=2): std::runtime_error: late"}));
}

CORO_TEST(Pool, LeaseOutlivesThePool) {
    int next = 0;
    int destroyed = 0;
    PoolOptions<Connection> options = numbered(next, 2);
    options.destructor = [&](Connection&) { ++destroyed; };
    auto pool = std::make_unique<Pool<Connection>>(std::move(options));
    auto lease = pool->acquire();
    pool.reset();
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(lease->number, 1);
    lease.release();
    EXPECT_EQ(destroyed, 1);
}

CORO_TEST(Pool, HooksMaySuspend) {
    int next = 0;
    PoolOptions<Connection> options = numbered(next, 1);
    options.before_acquire = options.before_release = options.healthcheck = [](Connection&) {
        sleep_for(1ms);
        return true;
    };
    options.healthcheck_interval = 3ms;
    Pool<Connection> pool(std::move(options));
    std::vector<Handle<void>> users;
    for (int i = 0; i < 5; ++i) {
        users.push_back(spawn([&] { auto lease = pool.acquire(); }));
    }
    for (auto& user : users) {
        await(user);
    }
    sleep_for(10ms);
    EXPECT_EQ(next, 1);
    EXPECT_EQ(pool.count(), 1U);
}

CORO_TEST(Pool, CancelledUserGivesBack) {
    int next = 0;
    Pool<Connection> pool(numbered(next));
    auto user = spawn([&] {
        auto lease = pool.acquire();
        sleep_for(1h);
    });
    auto waiter = spawn([&] { return pool.acquire()->number; });
    settle();
    user.cancel();
    EXPECT_EQ(await(waiter), 1);
    EXPECT_EQ(pool.active_count(), 0U);
}

CORO_TEST(Pool, CancellationInAHookIsThrownAsOne) {
    int next = 0;
    PoolOptions<Connection> options = numbered(next, 2);
    options.min = 2;
    options.destructor = [](Connection& connection) {
        if (connection.number == 1) {
            throw std::runtime_error("one");
        }
        sleep_for(1h);
    };
    Pool<Connection> pool(std::move(options));
    auto closer = spawn([&] { pool.close(); });
    settle();
    closer.cancel("enough");
    try {
        await(closer);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "enough");
        EXPECT_TRUE(contains(cancellation.error()->describe(), "one")) << cancellation.error()->describe();
    }
}

}  // namespace
}  // namespace trueasync::testing
