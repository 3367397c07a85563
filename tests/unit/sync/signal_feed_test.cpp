#include <trueasync/sync/signal_feed.hpp>

#include <signal.h>
#include <unistd.h>

#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

/// [signal_future]
class SignalNumber final : public SignalFutureOf<FutureOf<int>> {
protected:
    void complete_with(int number) noexcept override { complete(number).ignore(); }
};
/// [signal_future]

Ref<SignalNumber> wait_for_signal(int number, Event* token = nullptr) {
    auto future = make_ref<SignalNumber>();
    EXPECT_TRUE(future->arm(Scheduler::current()->reactor(), number, token).ok());
    return future;
}

void send(int number) { ASSERT_EQ(::kill(::getpid(), number), 0); }

bool is_caught(int number) {
    struct sigaction action {};
    EXPECT_EQ(sigaction(number, nullptr, &action), 0);
    return action.sa_handler != SIG_DFL;
}

std::size_t visible() { return Scheduler::current()->reactor().active().visible; }

CORO_TEST(SignalFeeds, CompleteAFuture) {
    auto one = wait_for_signal(SIGUSR1);
    auto two = wait_for_signal(SIGUSR1);
    EXPECT_TRUE(is_caught(SIGUSR1));
    spawn([] { send(SIGUSR1); });
    EXPECT_EQ(wait_future(*one), WaitResult::Ready);
    EXPECT_EQ(one->get(), SIGUSR1);
    EXPECT_FALSE(one->is_armed());
    EXPECT_EQ(wait_future(*two), WaitResult::Ready) << "they are independent";
    EXPECT_FALSE(is_caught(SIGUSR1));
}

CORO_TEST(SignalFeeds, DroppedFutureDisarms) {
    auto one = wait_for_signal(SIGUSR1);
    auto two = wait_for_signal(SIGUSR1);
    one->ignore();
    two->ignore();
    one.reset();
    EXPECT_TRUE(is_caught(SIGUSR1));
    two.reset();
    EXPECT_FALSE(is_caught(SIGUSR1));
}

CORO_TEST(SignalFeeds, OnlyAWaiterKeepsTheProgramAlive) {
    auto future = wait_for_signal(SIGUSR1);
    EXPECT_EQ(visible(), 0U);
    auto waiter = spawn([&] { return wait_future(*future) == WaitResult::Cancelled; });
    suspend();
    EXPECT_EQ(visible(), 1U);
    waiter.cancel();
    EXPECT_TRUE(await(waiter));
    EXPECT_EQ(visible(), 0U);
}

CORO_TEST(SignalFeeds, SignalThatCameBeforeTheWaiter) {
    auto future = wait_for_signal(SIGUSR1);
    send(SIGUSR1);
    EXPECT_EQ(wait_future(*future), WaitResult::Ready);
}

CORO_TEST(SignalFeeds, WhatCannotBeCaughtIsRefused) {
    auto future = make_ref<SignalNumber>();
    future->ignore();
    EXPECT_FALSE(future->arm(Scheduler::current()->reactor(), SIGKILL).ok());
    EXPECT_FALSE(future->is_armed());
    EXPECT_FALSE(future->is_completed());
}

CORO_TEST(SignalFeeds, FailedTokenFailsTheFuture) {
    FutureState<int> token;
    auto future = wait_for_signal(SIGUSR1, &token.future().state());
    token.fail(std::runtime_error("enough"));
    EXPECT_TRUE(future->is_completed());
    EXPECT_EQ(future->error()->message(), "std::runtime_error: enough");
    EXPECT_FALSE(is_caught(SIGUSR1));
    future->ignore();
}

CORO_TEST(SignalFeeds, CompletedTokenCancelsTheFuture) {
    FutureState<int> token;
    auto future = wait_for_signal(SIGUSR1, &token.future().state());
    auto waiter = spawn([&] { return wait_future(*future); });
    suspend();
    token.complete(1);
    EXPECT_EQ(await(waiter), WaitResult::Failed);
    EXPECT_TRUE(future->is_cancelled());
    EXPECT_EQ(future->error()->message(), "Signal wait cancelled");
}

CORO_TEST(SignalFeeds, TokenThatHasEndedAlready) {
    FutureState<int> token;
    token.complete(1);
    auto future = make_ref<SignalNumber>();
    EXPECT_TRUE(future->arm(Scheduler::current()->reactor(), SIGUSR1, &token.future().state()).ok());
    EXPECT_TRUE(future->is_cancelled());
    EXPECT_FALSE(is_caught(SIGUSR1));
    future->ignore();
}

CORO_TEST(SignalFeeds, TimerAsATokenKeepsNothingAlive) {
    auto limit = TimerEvent::create_limit(Scheduler::current()->reactor(), 5ms);
    auto future = wait_for_signal(SIGUSR1, limit.get());
    EXPECT_EQ(visible(), 0U);
    sleep_for(4ms);
    EXPECT_FALSE(future->is_completed());
    sleep_for(2ms);
    ASSERT_TRUE(future->is_completed()) << "although nobody waited";
    EXPECT_EQ(future->error()->message(), "Timeout occurred after 5 milliseconds");
    future->ignore();
}

CORO_TEST(SignalFeeds, TimerThatRunsAlready) {
    auto limit = TimerEvent::create_limit(Scheduler::current()->reactor(), 5ms);
    spawn([&] { wait_for(*limit); });
    suspend();
    sleep_for(3ms);
    auto future = wait_for_signal(SIGUSR1, limit.get());
    future->ignore();
    sleep_for(3ms);
    EXPECT_TRUE(future->is_completed());
}

CORO_TEST(SignalFeeds, TimerThatWasCalledOff) {
    auto limit = TimerEvent::create_limit(Scheduler::current()->reactor(), 5ms);
    auto future = wait_for_signal(SIGUSR1, limit.get());
    limit->close();
    sleep_for(10ms);
    EXPECT_FALSE(future->is_completed());
    send(SIGUSR1);
    EXPECT_EQ(wait_future(*future), WaitResult::Ready);
}

CORO_TEST(SignalFeeds, SignalWinsAndLetsTheTokenGo) {
    FutureState<int> token;
    auto future = wait_for_signal(SIGUSR1, &token.future().state());
    send(SIGUSR1);
    EXPECT_EQ(wait_future(*future), WaitResult::Ready);
    EXPECT_EQ(token.future().state().callback_count(), 0U);
    token.complete(1);
    EXPECT_EQ(future->get(), SIGUSR1);
}

CORO_TEST(SignalFeeds, CancelledFutureDisarms) {
    auto future = wait_for_signal(SIGUSR1);
    EXPECT_TRUE(future->cancel());
    EXPECT_TRUE(future->is_cancelled());
    EXPECT_FALSE(is_caught(SIGUSR1));
    EXPECT_FALSE(future->cancel());
    future->ignore();
}

TEST(SignalFeedsAlone, OutliveTheirRuntime) {
    Ref<SignalNumber> future;
    run([&] {
        future = wait_for_signal(SIGUSR1);
        future->ignore();
    });
    EXPECT_FALSE(is_caught(SIGUSR1));
    future.reset();
}

}  // namespace
}  // namespace trueasync::testing
