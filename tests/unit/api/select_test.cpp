#include <trueasync/api/select.hpp>

#include <memory>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

CORO_TEST(SelectApi, Example) {
    Log log;
    /// [select]
    Channel<int> jobs(1);
    Channel<std::string> results;
    auto worker = spawn([=] {
        for (const int job : jobs) {
            results.send("job " + std::to_string(job));
        }
    });
    int next = 1;
    for (bool is_over = false; !is_over;) {
        select(
            on_send(jobs, next, [&] { ++next; }),  // there was room for one more
            on_recv(results, [&](std::string text) { is_over = (log.push_back(std::move(text)), log.size() == 3); }),
            on_timeout(1s, [&] { is_over = true; })
        );
    }
    jobs.close();
    /// [select]
    EXPECT_EQ(log, (Log{"job 1", "job 2", "job 3"}));
    while (!worker.is_finished()) {
        results.try_recv();
        suspend();
    }
}

CORO_TEST(SelectApi, TellsWhichOneItWas) {
    Channel<int> first(1);
    Channel<int> second(1);
    second.send(1);
    EXPECT_EQ(select(on_recv(first), on_recv(second)), 1U);
    EXPECT_EQ(select(on_recv(first), on_recv(second), on_send(first, 5)), 2U);
    EXPECT_EQ(first.recv(), 5);
}

CORO_TEST(SelectApi, WithoutWaiting) {
    Channel<int> channel;
    EXPECT_EQ(try_select(on_recv(channel), on_send(channel, 1)), std::nullopt) << "it does not meet itself";
    channel.try_send(3);
    int got = 0;
    EXPECT_EQ(try_select(on_recv(channel, [&](int value) { got = value; })), 0U);
    EXPECT_EQ(got, 3);
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(SelectApi, TakesTypesThatOnlyMove) {
    Channel<std::unique_ptr<int>> channel;
    auto sender = spawn([&] { select(on_send(channel, std::make_unique<int>(7))); });
    int got = 0;
    select(on_recv(channel, [&](std::unique_ptr<int> value) { got = *value; }));
    EXPECT_EQ(got, 7);
    await(sender);
}

CORO_TEST(SelectApi, HandlerMaySuspendAndThrow) {
    Channel<int> channel(1);
    channel.send(1);
    const auto handler = [](int value) {
        sleep_for(10ms);
        throw std::runtime_error("handler of " + std::to_string(value));
    };
    EXPECT_EQ(what_of([&] { select(on_recv(channel, handler)); }), "handler of 1");
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(SelectApi, ClosedChannelCallsItsHandlerOrThrows) {
    Channel<int> channel(1);
    channel.send(1);
    channel.close();
    Log log;
    const auto once = [&] {
        select(on_recv(
            channel, [&](int value) { log.push_back(std::to_string(value)); }, [&] { log.push_back("closed"); }
        ));
    };
    once();
    once();
    EXPECT_EQ(log, (Log{"1", "closed"})) << "what lies in it comes first";
    EXPECT_THROW(select(on_recv(channel)), ChannelClosed);
    EXPECT_THROW(select(on_send(channel, 1)), ChannelClosed);
    EXPECT_THROW(try_select(on_send(channel, 1)), ChannelClosed);
}

CORO_TEST(SelectApi, LimitsAreThoseOfEveryWait) {
    Channel<int> channel;
    const Instant begin = clock().now();
    EXPECT_THROW(select(10ms, on_recv(channel)), TimeoutError);
    EXPECT_EQ(clock().now() - begin, 10ms);
    EXPECT_EQ(what_of([&] { select(timeout(10ms), on_recv(channel)); }), "Timeout occurred after 10 milliseconds");
    ManualEvent token;
    auto waiter = spawn([&] { select(Limit(token), on_recv(channel)); });
    suspend();
    token.notify();
    EXPECT_THROW(await(waiter), Cancellation);
    auto ended = spawn([] {});
    await(ended);
    channel.try_send(1);
    EXPECT_THROW(select(Limit(ended), on_recv(channel)), Cancellation) << "a token that has fired ends every call";
    EXPECT_EQ(select(0ms, on_recv(channel)), 0U) << "a deadline that has passed does not";
    expect_clean(current());
}

CORO_TEST(SelectApi, TimerIsOneOfTheCases) {
    Channel<int> channel;
    bool has_passed = false;
    const Instant begin = clock().now();
    EXPECT_EQ(select(on_recv(channel), on_timeout(10ms, [&] { has_passed = true; })), 1U);
    EXPECT_TRUE(has_passed);
    EXPECT_EQ(clock().now() - begin, 10ms);
    channel.try_send(1);
    EXPECT_EQ(select(on_recv(channel), on_timeout(1h)), 0U);
    expect_clean(current());
}

TEST(SelectApiOutside, TimerNeedsARuntime) {
    EXPECT_EQ(code_of([] { on_timeout(1s); }), ErrorCode::NotRunning);
}

CORO_TEST(SelectApi, CoroutinesAndEventsAreCasesToo) {
    Channel<int> channel;
    auto worker = spawn([] {
        sleep_for(5ms);
        return 3;
    });
    int result = 0;
    EXPECT_EQ(select(on_recv(channel), on_end(worker, [&] { result = await(worker); })), 1U);
    EXPECT_EQ(result, 3);
    EXPECT_EQ(select(on_end(worker)), 0U) << "it has ended already";
    auto failing = spawn([] {
        suspend();
        throw std::runtime_error("broken");
    });
    EXPECT_EQ(what_of([&] { select(on_recv(channel), on_end(failing)); }), "broken");
    EXPECT_EQ(what_of([&] { select(on_end(failing)); }), "broken");
    ManualEvent event;
    auto waiter = spawn([&] { return select(on_recv(channel), on_event(event)); });
    suspend();
    event.notify();
    EXPECT_EQ(await(waiter), 1U);
    expect_clean(event);
    EXPECT_EQ(channel.event().waiting_receivers(), 0U);
}

}  // namespace
}  // namespace trueasync::testing
