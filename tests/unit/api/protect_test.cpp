#include <trueasync/api/await.hpp>

#include <memory>
#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(Protect, HoldsACancellationBackUntilItsEnd) {
    std::vector<std::string> steps;
    auto worker = spawn([&] {
        /// [protect]
        protect([&] {
            steps.emplace_back("begin");
            sleep_for(10ms);  // a cancellation waits
            steps.emplace_back("end");
        });
        /// [protect]
        steps.emplace_back("not reached");
    });
    settle();
    worker.cancel("stop");
    settle();
    EXPECT_FALSE(worker.is_finished());
    EXPECT_TRUE(worker.coroutine().is_protected());
    try {
        await(worker);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "stop");
    }
    EXPECT_EQ(steps, (std::vector<std::string>{"begin", "end"}));
}

CORO_TEST(Protect, ReturnsTheValue) {
    EXPECT_EQ(protect([] { return 4; }), 4);
    EXPECT_EQ(*protect([] { return std::make_unique<int>(5); }), 5);
    EXPECT_EQ(
        protect([] {
            sleep_for(1ms);
            return std::string("text");
        }),
        "text"
    );
    static_assert(std::is_void_v<decltype(protect([] {}))>);
}

CORO_TEST(Protect, ReturnsAReference) {
    int target = 0;
    decltype(auto) result = protect([&]() -> int& { return target; });
    static_assert(std::is_same_v<decltype(result), int&>);
    EXPECT_EQ(&result, &target);
}

CORO_TEST(Protect, ExceptionsPassThrough) {
    EXPECT_THROW(protect([] { throw 3; }), int);
    EXPECT_FALSE(current().is_protected());
}

CORO_TEST(Protect, ExceptionComesFirstAndTheCancellationAtTheNextSuspensionPoint) {
    bool had_exception = false;
    auto worker = spawn([&] {
        try {
            protect([] {
                sleep_for(1ms);
                throw std::runtime_error("inside");
            });
        } catch (const std::runtime_error&) {
            had_exception = true;
        }
        suspend();
        FAIL();
    });
    settle();
    worker.cancel();
    EXPECT_THROW(await(worker), Cancellation);
    EXPECT_TRUE(had_exception);
}

CORO_TEST(Protect, Nests) {
    std::vector<std::string> steps;
    auto worker = spawn([&] {
        protect([&] {
            protect([&] { sleep_for(1ms); });
            steps.emplace_back("after the inner one");
            sleep_for(1ms);
            steps.emplace_back("end of the outer one");
        });
        steps.emplace_back("not reached");
    });
    settle();
    worker.cancel();
    EXPECT_THROW(await(worker), Cancellation);
    EXPECT_EQ(steps, (std::vector<std::string>{"after the inner one", "end of the outer one"}));
}

CORO_TEST(Protect, WithoutACancellationChangesNothing) {
    auto worker = spawn([] {
        protect([] { sleep_for(1ms); });
        sleep_for(1ms);
        return 1;
    });
    EXPECT_EQ(await(worker), 1);
}

CORO_TEST(Protect, CancellationRequestedJustBeforeItWaitsToo) {
    bool has_ended = false;
    Handle<void> self;
    self = spawn([&] {
        self.cancel();
        protect([&] {
            suspend();
            has_ended = true;
        });
        FAIL();
    });
    EXPECT_THROW(await(self), Cancellation);
    EXPECT_TRUE(has_ended);
}

CORO_TEST(Protect, HoldsBackOnlyTheCancellationOfItsCoroutine) {
    ManualEvent event;
    auto worker = spawn([&] { return protect([&] { return code_of([&] { await(event, 5ms); }); }); });
    EXPECT_EQ(await(worker), ErrorCode::Timeout) << "limits work inside";
    ManualEvent token;
    auto other = spawn([&] {
        return protect([&] {
            try {
                await(event, token);
            } catch (const Cancellation&) {
                return true;
            }
            return false;
        });
    });
    settle();
    token.notify();
    EXPECT_TRUE(await(other)) << "so do tokens";
}

CORO_TEST(Protect, CleanUpOfACancelledCoroutineIsSafeInside) {
    bool is_clean = false;
    auto worker = spawn([&] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            protect([&] {
                sleep_for(10ms);
                is_clean = true;
            });
            throw;
        }
    });
    settle();
    worker.cancel();
    settle();
    worker.cancel("hurry");
    EXPECT_THROW(await(worker), Cancellation);
    EXPECT_TRUE(is_clean);
}

RUNTIME_TEST(Protect, DoesNotHoldBackAShutdown) {
    bool was_cancelled = false;
    in_runtime([&] {
        spawn([&] {
            protect([&] {
                try {
                    sleep_for(1h);
                } catch (const Cancellation& cancellation) {
                    was_cancelled = cancellation.reason() == CancelReason::Shutdown;
                    throw;
                }
            });
        });
        suspend();
        shutdown();
    });
    EXPECT_TRUE(was_cancelled);
}

RUNTIME_TEST(Protect, DoesNotHoldBackTheEndOfADeadlock) {
    EXPECT_THROW(
        in_runtime([] {
            ManualEvent never;
            protect([&] { await(never); });
        }),
        DeadlockError
    );
}

RUNTIME_TEST(Protect, WorksOutsideACoroutine) {
    EXPECT_EQ(protect([] { return 1; }), 1);
}

}  // namespace
}  // namespace trueasync::testing
