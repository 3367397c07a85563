#include <random>
#include <support/fake_events.hpp>
#include <support/pool_script.hpp>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- close

CORO_TEST(PoolEvent, CloseDestroysInOrderAndWakesWhoWaits) {
    Kit kit(limits(3, 3));
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->take_log();
    EXPECT_TRUE(kit.pool->close().ok());
    EXPECT_EQ(kit.script->take_log(), (Log{"destroy 1", "destroy 2", "destroy 3"}));
    EXPECT_TRUE(kit.pool->close().ok());
    EXPECT_TRUE(kit.script->log.empty());

    Kit busy(limits(0, 1));
    const int held = busy.acquire();
    auto waiter = spawn([&] { return busy.acquire(); });
    settle();
    EXPECT_TRUE(busy.pool->close().ok());
    EXPECT_EQ(await(waiter), 0);
    EXPECT_EQ(busy.error->message(), "Pool is closed");
    busy.release(held);
    EXPECT_TRUE(busy.script->alive.empty());
}

CORO_TEST(PoolEvent, CloseDestroysAReservedResourceOnce) {
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    auto waiter = spawn([&] { return kit.acquire(); });
    settle();
    kit.release(held);
    ASSERT_EQ(kit.pool->reserved_count(), 1U);
    EXPECT_TRUE(kit.pool->close().ok());
    EXPECT_EQ(await(waiter), 0);
    EXPECT_EQ(kit.error->code(), ErrorCode::PoolClosed);
    EXPECT_EQ(kit.script->take_log(), (Log{"create 1", "destroy 1"}));
    EXPECT_EQ(kit.pool->reserved_count(), 0U);
    EXPECT_EQ(kit.pool->count(), 0U);
}

CORO_TEST(PoolEvent, SeveralFailuresOfCloseAreChained) {
    Kit kit(limits(3, 3));
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->on_destroy = [](int resource) { return failure("no " + std::to_string(resource)); };
    const Status status = kit.pool->close();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error()->describe(), "no 3; caused by: no 2; caused by: no 1");
    EXPECT_TRUE(kit.script->alive.empty());
    EXPECT_TRUE(kit.pool->close().ok());
}

CORO_TEST(PoolEvent, CloseWhileAFactoryIsAtWork) {
    Kit kit(limits(0, 1));
    kit.script->on_create = [](int) {
        sleep_for(1ms);
        return Ref<Error>();
    };
    auto taker = spawn([&] { return kit.acquire(); });
    settle();
    EXPECT_TRUE(kit.pool->close().ok());
    EXPECT_EQ(await(taker), 0);
    EXPECT_EQ(kit.error->code(), ErrorCode::PoolClosed);
    EXPECT_TRUE(kit.script->alive.empty());
    EXPECT_EQ(kit.pool->count(), 0U);
}

CORO_TEST(PoolEvent, EndOfThePoolClosesIt) {
    Log log;
    {
        Kit kit(limits(2, 2));
        ASSERT_TRUE(kit.pool->open().ok());
        kit.script->on_destroy = [&](int resource) {
            log.push_back("destroyed " + std::to_string(resource));
            return resource == 1 ? failure("late") : Ref<Error>();
        };
    }
    EXPECT_EQ(log, (Log{"destroyed 1", "destroyed 2"}));
    EXPECT_EQ(sink.unhandled, (Log{"Pool(idle=0, active=0, reserved=0, max=2): late"}));
}

CORO_TEST(PoolEvent, WaitersKeepThePoolAlive) {
    auto kit = std::make_unique<Kit>(limits(0, 1));
    const int held = kit->acquire();
    auto waiter = spawn([pool = kit->pool.get()] {
        std::optional<int> slot;
        const WaitResult result = pool->acquire(slot, Deadline::after(1ms));
        return result;
    });
    settle();
    ASSERT_GT(kit->pool->ref_count(), 1U);
    kit->release(held);
    kit.reset();
    EXPECT_EQ(await(waiter), WaitResult::Ready);
}

// --- health check

PoolSettings checked(std::size_t min, std::size_t max) {
    PoolSettings settings = limits(min, max);
    settings.has_healthcheck = true;
    settings.healthcheck_interval = 10ms;
    return settings;
}

CORO_TEST(PoolEvent, ChecksIdleOnesAndRefills) {
    Kit kit(checked(2, 3));
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->take_log();
    kit.script->on_check = [](PoolCheck, int resource, bool& answer) {
        answer = resource != 1;
        return resource == 2 ? failure("sick") : Ref<Error>();
    };
    sleep_for(11ms);
    settle();
    EXPECT_EQ(kit.script->take_log(), (Log{"health 1", "destroy 1", "health 2", "destroy 2", "create 3", "create 4"}));
    EXPECT_EQ(kit.pool->idle_count(), 2U);
    sleep_for(10ms);
    settle();
    EXPECT_EQ(kit.script->take_log(), (Log{"health 3", "health 4"}));
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(PoolEvent, CheckKeepsNobodyWaitingForLongerThanItself) {
    Kit kit(checked(1, 1));
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        sleep_for(50ms);  // longer than the interval: only one check at a time
        answer = true;
        return Ref<Error>();
    };
    sleep_for(11ms);
    settle();
    EXPECT_EQ(kit.pool->active_count(), 1U);
    EXPECT_EQ(kit.acquire(), 1);
    EXPECT_EQ(kit.script->take_log(), (Log{"create 1", "health 1"}));
    kit.release(1);
}

CORO_TEST(PoolEvent, ReplacedBySomethingNewForWhoWaitsDuringTheCheck) {
    Kit kit(checked(1, 1));
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        sleep_for(1ms);
        answer = false;
        return Ref<Error>();
    };
    sleep_for(10500us);
    settle();
    EXPECT_EQ(kit.acquire(), 2);
    EXPECT_EQ(kit.pool->count(), 1U);
    kit.release(2);
}

CORO_TEST(PoolEvent, FailuresInTheBackgroundAreReportedAndEndNothing) {
    Kit kit(checked(1, 1));
    ASSERT_TRUE(kit.pool->open().ok());
    kit.script->on_check = [](PoolCheck, int, bool& answer) {
        answer = false;
        return Ref<Error>();
    };
    kit.script->on_destroy = [](int) { return failure("cannot end"); };
    kit.script->on_create = [](int) { return failure("cannot begin"); };
    sleep_for(11ms);
    settle();
    EXPECT_EQ(
        sink.unhandled, (Log{
                            "Pool(idle=0, active=0, reserved=0, max=1): cannot end",
                            "Pool(idle=0, active=0, reserved=0, max=1): cannot begin"})
    );
    kit.script->on_create = nullptr;
    kit.script->on_destroy = nullptr;
    sleep_for(10ms);
    settle();
    EXPECT_EQ(kit.pool->idle_count(), 1U);
}

CORO_TEST(PoolEvent, TimerKeepsNothingAlive) {
    Kit kit(checked(1, 1));
    ASSERT_TRUE(kit.pool->open().ok());
    EXPECT_EQ(clock().active().visible, 0U);
    EXPECT_EQ(clock().active().hidden, 1U);
    EXPECT_TRUE(kit.pool->close().ok());
    EXPECT_EQ(clock().active().hidden, 0U);
    EXPECT_EQ(clock().timer_count(), 0U);
}

TEST_F(CoroTest, PoolWithATimerOutlivesTheRuntime) {
    std::unique_ptr<Kit> kit;
    in_runtime([&] {
        kit = std::make_unique<Kit>(checked(1, 1));
        ASSERT_TRUE(kit->pool->open().ok());
    });
    kit.reset();
    EXPECT_TRUE(sink.unhandled.empty());
}

// --- circuit breaker

CORO_TEST(PoolEvent, BreakerRefusesWhileInactive) {
    Kit kit(limits(0, 1));
    EXPECT_EQ(kit.pool->breaker_state(), CircuitBreakerState::Active);
    kit.pool->deactivate();
    EXPECT_EQ(kit.pool->breaker_state(), CircuitBreakerState::Inactive);
    EXPECT_EQ(kit.acquire(), 0);
    EXPECT_EQ(kit.last, WaitResult::Refused);
    EXPECT_EQ(kit.error->code(), ErrorCode::ServiceUnavailable);
    EXPECT_EQ(kit.error->message(), "Service is unavailable (circuit breaker is open)");
    kit.pool->recover();
    EXPECT_EQ(kit.pool->breaker_state(), CircuitBreakerState::Recovering);
    EXPECT_EQ(kit.acquire(), 1);
    kit.release(1);
    kit.pool->activate();
    EXPECT_EQ(kit.pool->breaker_state(), CircuitBreakerState::Active);
    EXPECT_EQ(kit.acquire(), 1);
    kit.release(1);
}

CORO_TEST(PoolEvent, BreakerReleasesWhoWaitsAlsoWhenAlreadyWoken) {
    Kit kit(limits(0, 1));
    const int held = kit.acquire();
    std::vector<ErrorCode> codes;
    auto wait = [&] {
        EXPECT_EQ(kit.acquire(), 0);
        codes.push_back(kit.error->code());
    };
    auto first = spawn(wait);
    auto second = spawn(wait);
    settle();
    kit.release(held);  // the first is woken
    kit.pool->deactivate();
    await(first);
    await(second);
    EXPECT_EQ(codes, (std::vector<ErrorCode>{ErrorCode::ServiceUnavailable, ErrorCode::ServiceUnavailable}));
    EXPECT_EQ(kit.pool->info(), "Pool(idle=1, active=0, reserved=0, max=1)");
}

/// Opens after two failures, closes after a success; recovers when told.
class CountingStrategy final : public CircuitBreakerStrategy {
public:
    Ref<Error> report_success(PoolEvent& source) override {
        log.push_back("success");
        source.activate();
        failures = 0;
        return answer;
    }
    Ref<Error> report_failure(PoolEvent& source, Error& error) override {
        log.push_back(error.message());
        if (++failures == 2) {
            source.deactivate();
        }
        return answer;
    }
    Ref<Error> should_recover(bool& is_time_over) override {
        log.push_back("recover?");
        is_time_over = is_time;
        return answer;
    }

    int failures = 0;
    bool is_time = false;
    Ref<Error> answer;
    Log log;
};

CORO_TEST(PoolEvent, StrategyHearsOfEachReleaseAndDrivesTheBreaker) {
    PoolSettings settings = limits(0, 1);
    settings.has_before_release = true;
    Kit kit(settings);
    bool is_good = true;
    kit.script->on_check = [&](PoolCheck, int, bool& answer) {
        answer = is_good;
        return Ref<Error>();
    };
    auto strategy = std::make_shared<CountingStrategy>();
    kit.pool->set_strategy(strategy);
    EXPECT_EQ(kit.pool->strategy(), strategy);
    kit.release(kit.acquire());
    is_good = false;
    kit.release(kit.acquire());
    kit.release(kit.acquire());
    EXPECT_EQ(strategy->log, (Log{"success", "Resource validation failed", "Resource validation failed"}));
    EXPECT_EQ(kit.pool->breaker_state(), CircuitBreakerState::Inactive);
    EXPECT_EQ(kit.acquire(), 0);
    EXPECT_EQ(kit.try_acquire(), 0);
    strategy->is_time = is_good = true;
    const int got = kit.acquire();
    EXPECT_NE(got, 0);
    EXPECT_EQ(kit.pool->breaker_state(), CircuitBreakerState::Recovering);
    kit.release(got);
    EXPECT_EQ(kit.pool->breaker_state(), CircuitBreakerState::Active);
    EXPECT_EQ(
        strategy->log, (Log{
                           "success", "Resource validation failed", "Resource validation failed", "recover?",
                           "recover?", "recover?", "success"})
    );
    kit.pool->set_strategy(nullptr);
    kit.release(kit.acquire());
    EXPECT_EQ(strategy->log.size(), 7U);
}

CORO_TEST(PoolEvent, WhatTheStrategyFailsWithIsTold) {
    Kit kit(limits(0, 1));
    auto strategy = std::make_shared<CountingStrategy>();
    kit.pool->set_strategy(strategy);
    const int held = kit.acquire();
    strategy->answer = failure("strategy");
    const Status status = kit.pool->give_back(held);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error()->message(), "strategy");
    EXPECT_EQ(kit.pool->idle_count(), 1U);
    kit.pool->deactivate();
    EXPECT_EQ(kit.acquire(), 0);
    EXPECT_EQ(kit.error->message(), "strategy");
    EXPECT_EQ(kit.try_acquire(), 0);
    EXPECT_EQ(kit.error->message(), "strategy");
}

// --- of the host

TEST_F(CoroTest, PoolInTheHostsStorage) {
    FakeCollector collector;
    in_runtime([&] {
        auto& pool = collector.make<IntPool>(limits(2, 2), std::make_unique<Script>());
        ASSERT_TRUE(pool.open().ok());
        std::vector<int> seen;
        pool.each_value([&](int& value) { seen.push_back(value); });
        EXPECT_EQ(seen, (std::vector<int>{1, 2}));
        std::optional<int> slot;
        EXPECT_EQ(pool.acquire(slot), WaitResult::Ready);
        EXPECT_TRUE(pool.give_back(std::move(slot)).ok());
        pool.release();
        EXPECT_EQ(collector.sweep(), 1U);
    });
    EXPECT_EQ(collector.live(), 0U);
}

CORO_TEST(PoolEvent, KeepsTheOrderWhenItGrowsWhileTurning) {
    Kit kit(limits(0, 64));
    std::vector<int> held;
    for (int i = 0; i < 3; ++i) {
        held.push_back(kit.acquire());
    }
    for (int i = 0; i < 5; ++i) {  // the ring turns
        kit.release(held.front());
        held.erase(held.begin());
        held.push_back(kit.acquire());
    }
    for (const int one : held) {
        kit.release(one);
    }
    std::vector<int> many;
    for (int i = 0; i < 40; ++i) {
        many.push_back(kit.acquire());
    }
    EXPECT_EQ((std::vector<int>{many.begin(), many.begin() + 3}), held);
    for (const int one : many) {
        kit.release(one);
    }
    std::vector<int> seen;
    kit.pool->each_value([&](int& value) { seen.push_back(value); });
    EXPECT_EQ(seen, many);
}

// --- under load

/// Factories, checks and destructors that suspend and fail, cancelled and hasty users, a breaker, and an end in the middle of it all:
/// everything that was made is destroyed once, and nobody waits for nothing.
TEST_F(CoroTest, PoolLosesNothing) {
    for (int run = 0; run < 150; ++run) {
        const std::uint32_t seed = std::random_device()() + static_cast<std::uint32_t>(run);
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
        in_runtime([&] {
            PoolSettings settings = limits(random() % 2, 1 + random() % 4);
            settings.min = std::min(settings.min, settings.max);
            settings.has_before_acquire = settings.has_before_release = settings.has_healthcheck = true;
            settings.healthcheck_interval = 2ms;
            Kit kit(settings);
            const auto pause = [&]() -> Ref<Error> {
                if (chance(40)) {
                    try {
                        chance(50) ? suspend() : sleep_for(std::chrono::microseconds(random() % 900));
                    } catch (...) {
                        return detail::to_error();
                    }
                }
                return chance(10) ? failure("chance") : Ref<Error>();
            };
            kit.script->on_create = [&](int) { return pause(); };
            kit.script->on_destroy = [&](int) { return pause(); };
            kit.script->on_check = [&](PoolCheck, int, bool& answer) {
                answer = chance(85);
                return pause();
            };
            kit.pool->open().ignore();
            std::multiset<int> held;
            std::vector<Handle<void>> users;
            for (int i = 0; i < 12; ++i) {
                users.push_back(spawn([&] {
                    for (int round = 0; round < 8; ++round) {
                        std::optional<int> slot;
                        const WaitLimit limit = chance(30) ? WaitLimit(Deadline::after(300us)) : WaitLimit();
                        if (chance(10)) {
                            kit.pool->try_acquire(slot).ignore();
                        } else {
                            kit.pool->acquire(slot, limit);
                        }
                        EXPECT_LE(kit.pool->count(), settings.max);
                        if (!slot.has_value()) {
                            continue;
                        }
                        EXPECT_TRUE(kit.script->alive.count(*slot) == 1);
                        held.insert(*slot);
                        EXPECT_EQ(held.count(*slot), 1U) << "given to two";
                        if (chance(60)) {
                            Scheduler::suspend(std::source_location::current());
                        }
                        held.erase(*slot);
                        kit.pool->give_back(std::move(slot)).ignore();
                    }
                }));
            }
            auto chaos = spawn([&] {
                for (int i = 0; i < 60; ++i) {
                    if (chance(50)) {
                        users[random() % users.size()].cancel();
                    }
                    if (chance(10)) {
                        kit.pool->deactivate();
                        chance(50) ? kit.pool->recover() : kit.pool->activate();
                    }
                    chance(70) ? suspend() : sleep_for(100us);
                }
                if (chance(50)) {
                    kit.pool->close().ignore();
                }
            });
            for (auto& user : users) {
                try {
                    await(user);
                } catch (const Cancellation&) {}
            }
            await(chaos);
            EXPECT_EQ(kit.pool->waiting_count(), 0U);
            kit.pool->close().ignore();
            while (kit.pool->count() != 0) {  // a health check may still be at it
                sleep_for(1ms);
            }
            EXPECT_EQ(kit.pool->reserved_count(), 0U);
            EXPECT_TRUE(kit.script->alive.empty());
            EXPECT_EQ(kit.pool->stats().created, kit.pool->stats().destroyed);
            EXPECT_EQ(kit.pool->stats().acquired, kit.pool->stats().released);
        });
        sink.unhandled.clear();
        if (HasFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace trueasync::testing
