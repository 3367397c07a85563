#include <trueasync/api/thread_channel.hpp>

#include <atomic>
#include <random>
#include <support/runtime_fakes.hpp>
#include <support/threads.hpp>
#include <thread>

#if defined(TA_TSAN)
#define SKIP_FORK() GTEST_SKIP() << "the thread sanitizer loses sight of the coroutines in a forked child"
#else
#define SKIP_FORK() static_cast<void>(0)
#endif

namespace trueasync::testing {
namespace {

CORO_TEST(ThreadChannel, CarriesValuesBetweenThreads) {
    // [thread_channel]
    ThreadChannel<int> numbers(4);
    std::thread producer([numbers] {  // no runtime there: the thread itself waits
        for (int i = 1; i <= 100; ++i) {
            numbers.send(i);
        }
        numbers.close();
    });
    int sum = 0;
    while (auto number = numbers.next()) {  // only this coroutine waits
        sum += *number;
    }
    EXPECT_EQ(sum, 5050);
    // [thread_channel]
    producer.join();
}

CORO_TEST(ThreadChannel, KnowsItsState) {
    ThreadChannel<int> channel(2);
    EXPECT_EQ(ThreadChannel<int>().capacity(), 16U);
    EXPECT_EQ(channel.capacity(), 2U);
    EXPECT_TRUE(channel.is_empty());
    EXPECT_FALSE(channel.is_full());
    channel.send(1);
    EXPECT_EQ(channel.count(), 1U);
    EXPECT_FALSE(channel.is_empty());
    channel.send(2);
    EXPECT_TRUE(channel.is_full());
    EXPECT_EQ(channel.core().info(), "ThreadChannel(2/2)");
    EXPECT_FALSE(channel.try_send(3));
    EXPECT_EQ(channel.try_recv(), 1);
    EXPECT_EQ(channel.recv(), 2);
    EXPECT_EQ(channel.try_recv(), std::nullopt);
    EXPECT_FALSE(channel.is_closed());
    channel.close();
    channel.close();
    EXPECT_TRUE(channel.is_closed());
    EXPECT_EQ(channel.core().info(), "ThreadChannel(0/2, closed)");
    EXPECT_EQ(code_of([] { ThreadChannel<int> none(0); }), ErrorCode::InvalidArgument);
    EXPECT_EQ(what_of([] { ThreadChannel<int> none(0); }), "capacity must be between 1 and 2147483647");
}

CORO_TEST(ThreadChannel, ParksOnlyTheCoroutine) {
    ThreadChannel<int> channel(1);
    std::string trace;
    auto sender = spawn([&] {
        for (int i = 0; i < 3; ++i) {
            channel.send(i);
            trace += "s" + std::to_string(i) + " ";
        }
    });
    auto receiver = spawn([&] {
        for (int i = 0; i < 3; ++i) {
            trace += "r" + std::to_string(channel.recv()) + " ";
        }
    });
    await(sender);
    await(receiver);
    EXPECT_EQ(trace, "s0 r0 s1 r1 s2 r2 ");
    EXPECT_EQ(clock().active().visible, 0U);
    EXPECT_EQ(clock().active().hidden, 0U);
}

CORO_TEST(ThreadChannel, ClosedDrainsThenRefuses) {
    ThreadChannel<int> channel(2);
    channel.send(1);
    channel.close();
    EXPECT_EQ(code_of([&] { channel.send(2); }), ErrorCode::ChannelClosed);
    EXPECT_EQ(what_of([&] { channel.send(2); }), "ThreadChannel is closed");
    EXPECT_EQ(code_of([&] { channel.try_send(2); }), ErrorCode::ChannelClosed);
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(code_of([&] { channel.recv(); }), ErrorCode::ChannelClosed);
    EXPECT_EQ(code_of([&] { channel.try_recv(); }), ErrorCode::ChannelClosed);
    EXPECT_EQ(channel.next(), std::nullopt);
}

CORO_TEST(ThreadChannel, CloseWakesEverybodyOnAllThreads) {
    ThreadChannel<int> empty(1);
    ThreadChannel<int> full(1);
    full.send(0);
    std::atomic<int> refused = 0;
    const auto count = [&](auto&& body) {
        try {
            body();
        } catch (const AsyncError& error) {
            refused += error.code() == ErrorCode::ChannelClosed ? 1 : 0;
        }
    };
    std::atomic<int> begun = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            ++begun;
            count([&] { empty.recv(); });
        });
        threads.emplace_back([&] {
            trueasync::run([&] {
                auto one = spawn([&] { count([&] { empty.recv(); }); });
                ++begun;
                count([&] { full.send(1); });
                await(one);
            });
        });
    }
    auto here = spawn([&] { count([&] { empty.recv(); }); });
    EXPECT_TRUE(eventually([&] { return begun == 4; }));
    settle();
    empty.close();
    full.close();
    await(here);
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(refused, 7);
}

CORO_TEST(ThreadChannel, CancelledReceiverTakesNothing) {
    ThreadChannel<int> channel(1);
    auto first = spawn([&] { return channel.recv(); });
    auto second = spawn([&] { return channel.recv(); });
    settle();
    channel.send(7);  // the first is woken
    first.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(first); }));
    EXPECT_EQ(await(second), 7);
}

CORO_TEST(ThreadChannel, CancelledSenderSendsNothing) {
    ThreadChannel<int> channel(1);
    channel.send(0);
    auto first = spawn([&] { channel.send(1); });
    auto second = spawn([&] { channel.send(2); });
    settle();
    EXPECT_EQ(channel.recv(), 0);
    first.cancel();
    EXPECT_TRUE(throws<Cancellation>([&] { await(first); }));
    await(second);
    EXPECT_EQ(channel.recv(), 2);
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(ThreadChannel, WaitsNoLongerThanAllowed) {
    ThreadChannel<int> channel(1);
    EXPECT_TRUE(throws<TimeoutError>([&] { channel.recv(5ms); }));
    channel.send(1);
    EXPECT_TRUE(throws<TimeoutError>([&] { channel.send(2, 5ms); }));
    std::thread([&] {
        EXPECT_TRUE(throws<TimeoutError>([&] { channel.send(2, 1ms); }));
        EXPECT_EQ(channel.recv(1ms), 1);
        EXPECT_TRUE(throws<TimeoutError>([&] { channel.recv(1ms); }));
    }).join();
}

CORO_TEST(ThreadChannel, TokenEndsTheWait) {
    ThreadChannel<int> channel(1);
    auto token = spawn([] { sleep_for(1ms); });
    Ref<Error> error;
    try {
        channel.recv(token);
    } catch (const Cancellation& cancellation) {
        error = cancellation.error();
    }
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->message(), "Operation has been cancelled");
    EXPECT_EQ(error->previous(), nullptr);
    channel.send(1);
    EXPECT_TRUE(throws<Cancellation>([&] { channel.recv(token); })) << "it had ended before";
    EXPECT_EQ(channel.count(), 1U);
    auto pending = spawn([] { sleep_for(1ms); });
    EXPECT_EQ(channel.recv(pending), 1);
    await(pending);
    auto failed = spawn([] { throw std::runtime_error("token"); });
    try {
        channel.recv(failed);
    } catch (const Cancellation& cancellation) {
        error = cancellation.error();
    }
    ASSERT_NE(error->previous(), nullptr);
    EXPECT_EQ(error->previous()->message(), "std::runtime_error: token");
}

CORO_TEST(ThreadChannel, LosersGoOnWaiting) {
    ThreadChannel<int> channel(4);
    auto first = spawn([&] { return channel.recv(); });
    settle();
    channel.send(1);
    EXPECT_EQ(channel.recv(), 1);  // faster than the one that was woken
    settle();
    EXPECT_FALSE(first.is_finished());
    channel.send(2);
    EXPECT_EQ(await(first), 2);
}

CORO_TEST(ThreadChannel, EndOfTheThreadClosesItsChannels) {
    std::optional<ThreadChannel<int>> made;
    Gate gate;
    Gate is_made;
    std::thread owner([&] {
        made.emplace(1);
        ThreadChannel<int> other(1);
        is_made.open();
        gate.wait();
    });
    is_made.wait();
    auto receiver = spawn([&] { return made->next(); });
    settle();
    EXPECT_FALSE(receiver.is_finished());
    gate.open();
    EXPECT_EQ(await(receiver), std::nullopt);
    owner.join();
}

TEST_F(CoroTest, ThreadChannelIsClosedInTheChildOfAFork) {
    SKIP_FORK();
    ThreadChannel<int> channel(1);
    in_runtime([&] {
        auto waiting = spawn([&] { return code_of([&] { channel.recv(); }); });
        settle();
        EXPECT_EQ(
            in_child([&] {
                if (!channel.is_closed() || await(waiting) != ErrorCode::ThreadFailed) {
                    return 1;
                }
                channel.close();
                return code_of([&] { channel.recv(); }) == ErrorCode::ChannelClosed ? 0 : 2;
            }),
            0
        );
        channel.close();
        EXPECT_EQ(await(waiting), ErrorCode::ChannelClosed);
    });
}

TEST_F(CoroTest, ThreadChannelAtTheEndOfARuntime) {
    ThreadChannel<int> channel(1);
    RuntimeSettings settings;
    const LeaksExpected leaks;
    in_runtime(
        [&] {
            spawn([&] {
                for (;;) {
                    try {
                        channel.recv();
                    } catch (const Cancellation&) {}
                }
            });
            settle();
            shutdown();
        },
        settings
    );
    EXPECT_EQ(sink.survivors.size(), 1U);
    EXPECT_TRUE(channel.try_send(1));  // nobody is woken who is not there
}

TEST(ThreadChannelPlain, WorksWithoutAnyRuntime) {
    ThreadChannel<std::unique_ptr<int>> channel(1);
    std::thread other([&] {
        for (int i = 0; i < 50; ++i) {
            channel.send(std::make_unique<int>(i));
        }
    });
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(*channel.recv(), i);
    }
    other.join();
}

/// Senders and receivers on plain threads and in coroutines of two runtimes, some cancelled or impatient: each value that was sent is received
/// once, and those of one sender in order.
TEST(ThreadChannelChaos, LosesNothing) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    ThreadChannel<std::pair<int, int>> channel(3);
    std::mutex mutex;
    std::vector<std::vector<int>> received(8);
    std::vector<int> sent(8, 0);
    std::atomic<int> senders = 0;
    const auto send_some = [&](int id, std::mt19937& random) {
        for (int i = 0; i < 60; ++i) {
            try {
                if (random() % 4 == 0) {
                    channel.send({id, sent[static_cast<std::size_t>(id)]}, 10us);
                } else {
                    channel.send({id, sent[static_cast<std::size_t>(id)]});
                }
                ++sent[static_cast<std::size_t>(id)];
            } catch (const TimeoutError&) {
            } catch (const Cancellation&) {}
        }
        if (++senders == 8) {
            channel.close();
        }
    };
    const auto receive = [&](std::mt19937& random) {
        for (;;) {
            try {
                const auto got = random() % 4 == 0 ? channel.next(10us) : channel.next();
                if (!got.has_value()) {
                    return;
                }
                const std::lock_guard lock(mutex);
                received[static_cast<std::size_t>(got->first)].push_back(got->second);
            } catch (const TimeoutError&) {
            } catch (const Cancellation&) {}
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&, i] {
            std::mt19937 random(seed + static_cast<std::uint32_t>(i));
            send_some(i, random);
        });
        threads.emplace_back([&, i] {
            trueasync::run([&] {
                std::mt19937 random(seed + 10 + static_cast<std::uint32_t>(i));
                std::vector<Handle<void>> all;
                for (int k = 0; k < 3; ++k) {
                    all.push_back(spawn([&, id = 2 + i * 3 + k] { send_some(id, random); }));
                    all.push_back(spawn([&] { receive(random); }));
                }
                suspend();  // all have begun: who is cancelled before that never runs
                bool is_over = false;
                while (!is_over) {
                    all[random() % all.size()].cancel();
                    random() % 2 == 0 ? suspend() : sleep_for(50us);
                    is_over = true;
                    for (const auto& one : all) {
                        is_over = is_over && one.is_finished();
                    }
                }
                for (const auto& one : all) {
                    try {
                        await(one);
                    } catch (const Cancellation&) {  // came when it was over
                    }
                }
            });
        });
    }
    std::mt19937 random(seed + 30);
    receive(random);
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::size_t id = 0; id < 8; ++id) {
        std::sort(received[id].begin(), received[id].end());
        ASSERT_EQ(received[id].size(), static_cast<std::size_t>(sent[id]));
        for (int i = 0; i < sent[id]; ++i) {
            EXPECT_EQ(received[id][static_cast<std::size_t>(i)], i);
        }
    }
}

}  // namespace
}  // namespace trueasync::testing
