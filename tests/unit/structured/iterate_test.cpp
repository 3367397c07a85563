#include <trueasync/structured/iterate.hpp>

#include <stdexcept>
#include <support/runtime_fakes.hpp>
#include <support/thrown.hpp>
#include <trueasync/api/iterate.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(Iterations, EachElementInOrderWhenNothingSuspends) {
    /// [iterate]
    std::vector<int> seen;
    iterate(std::vector{1, 2, 3}, [&](int value) { seen.push_back(value); }, {.concurrency = 2});
    /// [iterate]
    EXPECT_EQ(seen, (std::vector{1, 2, 3}));
}

CORO_TEST(Iterations, OneCoroutineIsEnoughWhenNothingSuspends) {
    /// [iterate_core]
    std::vector<std::uint64_t> ids;
    iterate(std::vector{1, 2, 3}, [&](int) { ids.push_back(Scheduler::current_coroutine()->id()); });
    /// [iterate_core]
    EXPECT_EQ(ids, std::vector(3, ids.at(0)));
}

CORO_TEST(Iterations, Nothing) {
    iterate(std::vector<int>{}, [](int) { ADD_FAILURE(); });
}

CORO_TEST(Iterations, HandedOnWhenACallSuspends) {
    Steps steps;
    try {
        iterate(
            std::vector{1, 2, 3, 4, 5},
            [&](int value) {
                steps.push_back("begin " + std::to_string(value));
                suspend();
                if (value == 2) {
                    throw std::runtime_error("two");
                }
                steps.push_back("end " + std::to_string(value));
            },
            {.concurrency = 3}
        );
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "two");
    }
    EXPECT_EQ(steps, (Steps{"begin 1", "end 1", "begin 2", "begin 3"}));
}

CORO_TEST(Iterations, LimitIsExact) {
    int running = 0;
    int most = 0;
    iterate(
        std::vector<int>(50),
        [&](int) {
            most = std::max(most, ++running);
            sleep_for(1ms);
            --running;
        },
        {.concurrency = 4}
    );
    EXPECT_EQ(most, 4);
    EXPECT_EQ(running, 0);
}

CORO_TEST(Iterations, WithoutALimitAllAtOnce) {
    int running = 0;
    int most = 0;
    const auto begin = clock().now();
    iterate(std::vector<int>(50), [&](int) {
        most = std::max(most, ++running);
        sleep_for(1ms);
        --running;
    });
    EXPECT_EQ(most, 50);
    EXPECT_LT(clock().now() - begin, 5ms);
}

CORO_TEST(Iterations, FalseEndsIt) {
    int calls = 0;
    iterate(std::vector{1, 2, 3}, [&](int value) {
        ++calls;
        return value < 2;
    });
    EXPECT_EQ(calls, 2);
}

CORO_TEST(Iterations, WhatCallbacksHaveSpawnedIsCancelled) {
    Steps steps;
    iterate(std::vector{1, 2, 3}, [&](int) {
        spawn([&] {
            steps.emplace_back("started");
            try {
                for (int i = 0; i < 3; ++i) {
                    suspend();
                }
                steps.emplace_back("done");
            } catch (const Cancellation&) {
                steps.emplace_back("cancelled");
                throw;
            }
        });
    });
    EXPECT_EQ(steps, (Steps{"started", "started", "started", "cancelled", "cancelled", "cancelled"}));
}

CORO_TEST(Iterations, WhatCallbacksHaveSpawnedIsWaitedForIfWanted) {
    int done = 0;
    iterate(
        std::vector{1, 2, 3},
        [&](int) {
            spawn([&] {
                sleep_for(5ms);
                ++done;
            });
        },
        {.cancels_pending = false}
    );
    EXPECT_EQ(done, 3);
}

CORO_TEST(Iterations, CancellingTheCallerCancelsTheCallbacks) {
    int cancelled = 0;
    auto caller = spawn([&] {
        iterate(std::vector{1, 2, 3}, [&](int) {
            try {
                sleep_for(1h);
            } catch (const Cancellation&) {
                ++cancelled;
                throw;
            }
        });
    });
    settle();
    caller.cancel();
    EXPECT_THROW(await(caller), Cancellation);
    EXPECT_EQ(cancelled, 3);
}

CORO_TEST(Iterations, ErrorOfTheRangeItself) {
    class Failing final : public Iteration {
    public:
        std::unique_ptr<IterationItem> next(Ref<Error>& error) override {
            suspend();
            error = Error::make(ErrorCode::InvalidArgument, "no elements today");
            return nullptr;
        }
    } failing;
    EXPECT_EQ(iterate(failing), WaitResult::Failed);
    EXPECT_EQ(Scheduler::take_wait_error()->message(), "no elements today");
}

CORO_TEST(Iterations, RangeThatSuspendsIsAdvancedByOneAtATime) {
    class Slow final : public Iteration {
    public:
        explicit Slow(std::vector<int>& all_seen) : seen(all_seen) {}
        std::unique_ptr<IterationItem> next(Ref<Error>& /*error*/) override {
            EXPECT_FALSE(is_inside);
            is_inside = true;
            suspend();
            is_inside = false;
            return count < 10 ? std::make_unique<Item>(seen, count++) : nullptr;
        }
        class Item final : public IterationItem {
        public:
            Item(std::vector<int>& all_seen, int value) : seen_(all_seen), value_(value) {}
            bool call(Ref<Error>& /*error*/) override {
                suspend();
                seen_.push_back(value_);
                return true;
            }

        private:
            std::vector<int>& seen_;
            int value_;
        };
        std::vector<int>& seen;
        int count = 0;
        bool is_inside = false;
    };
    std::vector<int> seen;
    Slow slow(seen);
    EXPECT_EQ(iterate(slow, {.concurrency = 3}), WaitResult::Ready);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

CORO_TEST(Iterations, CancelledBeforeItBeginsIsNotDone) {
    auto caller = spawn([] { iterate(std::vector{1}, [](int) { ADD_FAILURE(); }); });
    spawn(cancel_youngest);
    EXPECT_EQ(thrown_by([&] { await(caller); }), "cancelled: youngest");
}

CORO_TEST(Iterations, DumpSaysWhatTheCallerWaitsFor) {
    auto caller = spawn([] { iterate(std::vector{1}, [](int) { sleep_for(1ms); }); });
    settle(3);
    EXPECT_EQ(caller.coroutine().awaiting(), (Steps{"iterator-completion"}));
    await(caller);
}

}  // namespace
}  // namespace trueasync::testing
