#include <trueasync/api/channel.hpp>

#include <memory>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

CORO_TEST(ChannelApi, Example) {
    int sum = 0;
    /// [channel]
    Channel<int> numbers(2);
    auto producer = spawn([numbers] {
        for (int i = 1; i <= 5; ++i) {
            numbers.send(i);  // waits while two lie there
        }
        numbers.close();
    });
    for (const int number : numbers) {  // until it is closed and empty
        sum += number;
    }
    /// [channel]
    await(producer);
    EXPECT_EQ(sum, 15);
}

CORO_TEST(ChannelApi, CopiesAreTheSameChannel) {
    Channel<int> channel(1);
    const Channel<int> copy = channel;
    copy.send(1);
    EXPECT_EQ(channel.recv(), 1);
}

CORO_TEST(ChannelApi, TakesTypesThatOnlyMove) {
    Channel<std::unique_ptr<int>> channel(1);
    channel.send(std::make_unique<int>(3));
    EXPECT_EQ(*channel.recv(), 3);
    EXPECT_TRUE(channel.try_send(std::make_unique<int>(4)));
    EXPECT_EQ(**channel.try_recv(), 4);
}

TEST(ChannelCapacity, HasLimits) {
    const auto text = [](std::int64_t capacity) { return what_of([&] { const Channel<int> channel(capacity); }); };
    EXPECT_TRUE(contains(text(-1), "must be between 0 and 2147483647"));
    EXPECT_TRUE(contains(text(std::int64_t{1} << 31), "must be between 0 and 2147483647"));
    EXPECT_EQ(text(2147483647), "");
    EXPECT_EQ(code_of([] { const Channel<int> channel(-5); }), ErrorCode::InvalidArgument);
}

CORO_TEST(ChannelApi, NextValueAsAFuture) {
    Channel<int> channel;
    auto doubled = channel.recv_async().map([](int value) { return 2 * value; });
    channel.send(4);
    EXPECT_EQ(await(doubled), 8);
}

// --- iteration

CORO_TEST(ChannelApi, IterationEndsForAParkedConsumerToo) {
    Channel<int> channel(1);
    auto consumer = spawn([&] {
        int count = 0;
        for ([[maybe_unused]] const int value : channel) {
            ++count;
        }
        return count;
    });
    channel.send(1);
    settle(2);
    channel.close();
    EXPECT_EQ(await(consumer), 1);
}

CORO_TEST(ChannelApi, IterationThrowsEveryOtherEnd) {
    Channel<int> channel(0, {.no_producer = 10ms, .is_hard = true});
    int count = 0;
    try {
        for ([[maybe_unused]] const int value : channel) {
            ++count;
        }
        ADD_FAILURE() << "it ended";
    } catch (const ChannelClosed& closed) {
        EXPECT_EQ(closed.reason(), ChannelCloseReason::NoProducers);
    }
    EXPECT_EQ(count, 0);
}

CORO_TEST(ChannelApi, IterationIsCancelled) {
    Channel<int> channel;
    auto consumer = spawn([&] {
        for ([[maybe_unused]] const int value : channel) {}
    });
    suspend();
    consumer.cancel();
    EXPECT_THROW(await(consumer), Cancellation);
}

CORO_TEST(ChannelApi, IterationGoesPastReservedValues) {
    Channel<int> channel(2);
    auto receiver = spawn([&] { return channel.recv(); });
    suspend();
    channel.send(1);
    channel.send(2);
    channel.close();
    std::vector<int> seen;
    for (const int value : channel) {
        seen.push_back(value);
    }
    EXPECT_EQ(seen, std::vector<int>{2});
    EXPECT_EQ(await(receiver), 1);
}

// --- limits

CORO_TEST(ChannelLimit, DeadlineEndsTheWait) {
    Channel<int> channel;
    const Instant begin = clock().now();
    EXPECT_THROW(channel.recv(10ms), TimeoutError);
    EXPECT_EQ(clock().now() - begin, 10ms);
    EXPECT_THROW(channel.send(1, 10ms), TimeoutError);
    EXPECT_TRUE(channel.is_empty()) << "the value was taken back";
    Channel<int> full(1);
    full.send(1);
    EXPECT_THROW(full.send(2, 10ms), TimeoutError);
    EXPECT_EQ(full.count(), 1U);
    expect_clean(current());
}

CORO_TEST(ChannelLimit, DeadlineCountsOnceForBothWaitsOfASender) {
    Channel<int> channel;
    channel.try_send(0);
    auto taker = spawn([&] {
        sleep_for(6ms);
        channel.recv();
    });
    const Instant begin = clock().now();
    EXPECT_THROW(channel.send(1, 10ms), TimeoutError);  // first for the slot, then for a receiver
    EXPECT_EQ(clock().now() - begin, 10ms);
    await(taker);
}

CORO_TEST(ChannelLimit, DeadlineThatHasPassedDoesNotKeepFromTakingWhatIsThere) {
    Channel<int> channel(1);
    channel.send(1, 0ms);
    EXPECT_EQ(channel.recv(0ms), 1);
}

CORO_TEST(ChannelLimit, ValueThatCameInTimeIsReceived) {
    Channel<int> channel;
    auto receiver = spawn([&] { return channel.recv(10ms); });
    suspend();
    channel.send(1);
    clock().advance(1s);
    EXPECT_EQ(await(receiver), 1) << "woken in time, though it runs late";
}

CORO_TEST(ChannelLimit, TokenEndsTheWait) {
    Channel<int> channel;
    ManualEvent token;
    auto receiver = spawn([&] { channel.recv(token); });
    auto sender = spawn([&] {
        suspend();
        suspend();
    });
    suspend();
    token.notify();
    try {
        await(receiver);
        ADD_FAILURE() << "not cancelled";
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "Operation has been cancelled");
        EXPECT_EQ(cancellation.error()->previous(), nullptr);
    }
    EXPECT_EQ(channel.event().waiting_receivers(), 0U);
    EXPECT_TRUE(channel.try_send(1)) << "the channel is as usable as before";
}

CORO_TEST(ChannelLimit, TokenThatFailedIsThePreviousError) {
    Channel<int> channel;
    auto token = spawn([] {
        suspend();
        throw std::runtime_error("no more");
    });
    try {
        channel.recv(token);
        ADD_FAILURE() << "not cancelled";
    } catch (const Cancellation& cancellation) {
        ASSERT_NE(cancellation.error()->previous(), nullptr);
        EXPECT_EQ(cancellation.error()->previous()->message(), "std::runtime_error: no more");
    }
}

CORO_TEST(ChannelLimit, TokenThatHasFiredEndsTheCallEvenIfItCouldProceed) {
    Channel<int> channel(1);
    auto token = spawn([] {});
    await(token);
    EXPECT_THROW(channel.send(1, token), Cancellation);
    EXPECT_TRUE(channel.is_empty());
    channel.send(1);
    EXPECT_THROW(channel.recv(token), Cancellation);
    EXPECT_EQ(channel.count(), 1U);
    Channel<int> empty;
    EXPECT_THROW(empty.recv(token), Cancellation);
    EXPECT_THROW(empty.send(1, token), Cancellation);
}

CORO_TEST(ChannelLimit, PendingTokenDoesNotKeepFromProceeding) {
    Channel<int> channel(1);
    ManualEvent token;
    channel.send(1, token);
    EXPECT_EQ(channel.recv(token), 1);
    expect_clean(token);
}

CORO_TEST(ChannelLimit, FutureAsATokenCountsAsUsed) {
    Channel<int> channel(1);
    {
        auto token = make_ref<FutureOf<int>>();
        channel.send(1, *token);
        EXPECT_TRUE(token->complete(1));
    }
    {
        auto token = make_ref<FutureOf<int>>();
        EXPECT_EQ(channel.recv(*token), 1);
        EXPECT_TRUE(token->complete(1));
    }
    EXPECT_TRUE(sink.warnings.empty());
}

CORO_TEST(ChannelLimit, TimeoutTokenThrowsTimeoutError) {
    Channel<int> channel;
    EXPECT_EQ(what_of([&] { channel.recv(timeout(10ms)); }), "Timeout occurred after 10 milliseconds");
}

CORO_TEST(ChannelLimit, TokenThatFiresAfterTheWakeHandsTheValueOn) {
    Channel<int> channel(1);
    ManualEvent token;
    auto first = spawn([&] { channel.recv(token); });
    auto second = spawn([&] { return channel.recv(); });
    settle(2);
    channel.send(1);
    token.notify();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(await(second), 1);
}

CORO_TEST(ChannelLimit, TokenThatFiresAfterTheWakeHandsThePlaceOn) {
    Channel<int> channel(1);
    channel.send(1);
    ManualEvent token;
    auto first = spawn([&] { channel.send(2, token); });
    auto second = spawn([&] { channel.send(3); });
    settle(2);
    EXPECT_EQ(channel.recv(), 1);
    token.notify();
    EXPECT_THROW(await(first), Cancellation);
    await(second);
    EXPECT_EQ(channel.recv(), 3);
}

}  // namespace
}  // namespace trueasync::testing
