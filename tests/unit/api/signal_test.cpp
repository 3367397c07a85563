#include <trueasync/api/signal.hpp>

#include <signal.h>
#include <unistd.h>

#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

void send(int number) { ASSERT_EQ(::kill(::getpid(), number), 0); }

void expect_default(int number) {
    struct sigaction action {};
    ASSERT_EQ(sigaction(number, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << signal_name(number);
}

TEST(Signal, WaitsForOne) {
    run([] {
        auto sender = spawn([] { send(SIGUSR1); });
        /// [signal]
        const int number = trueasync::signal(SIGUSR1);  // or {SIGINT, SIGTERM}
        /// [signal]
        EXPECT_EQ(number, SIGUSR1);
    });
    expect_default(SIGUSR1);
}

TEST(Signal, WaitsForTheFirstOfSeveral) {
    run([] {
        auto sender = spawn([] { send(SIGTERM); });
        EXPECT_EQ(trueasync::signal({SIGINT, SIGTERM}), SIGTERM);
    });
    expect_default(SIGINT);
    expect_default(SIGTERM);
}

TEST(Signal, LimitAndCancellation) {
    run([] {
        EXPECT_EQ(code_of([] { trueasync::signal(SIGUSR1, 1ms); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([] { trueasync::signal(SIGUSR1, timeout(1ms)); }), ErrorCode::Timeout);
        auto waiter = spawn([] { trueasync::signal({SIGUSR1, SIGUSR2}); });
        suspend();
        waiter.cancel("enough");
        EXPECT_THROW(await(waiter), Cancellation);
    });
    expect_default(SIGUSR1);
    expect_default(SIGUSR2);
}

TEST(Signal, RefusedWithAReason) {
    EXPECT_EQ(code_of([] { trueasync::signal(SIGUSR1); }), ErrorCode::NotRunning);
    run([] {
        EXPECT_EQ(code_of([] { trueasync::signal(SIGKILL); }), ErrorCode::System);
        EXPECT_EQ(code_of([] { trueasync::signal({SIGUSR1, SIGSEGV}); }), ErrorCode::System);
        EXPECT_EQ(code_of([] { const Signals signals({SIGUSR1, SIGSTOP}); }), ErrorCode::System);
    });
    expect_default(SIGUSR1);
}

TEST(Signals, NothingIsMissedBetweenTwoWaits) {
    run([] {
        /// [signals]
        Signals signals({SIGUSR1, SIGUSR2});
        auto sender = spawn([] {
            send(SIGUSR1);
            send(SIGUSR2);
        });
        const int first = signals.next();
        const int second = signals.next();  // came while nobody waited
        /// [signals]
        EXPECT_EQ(first + second, SIGUSR1 + SIGUSR2);
        send(SIGUSR1);
        sleep_for(10us);
        EXPECT_EQ(signals.next(), SIGUSR1);
        EXPECT_EQ(code_of([&] { signals.next(1ms); }), ErrorCode::Timeout);
    });
    expect_default(SIGUSR1);
    expect_default(SIGUSR2);
}

TEST(Signals, DoNotKeepTheProgramAliveUnlessWaitedFor) {
    auto signals = run([] { return std::make_unique<Signals>(std::initializer_list<int>{SIGUSR1}); });
    expect_default(SIGUSR1);  // the runtime has ended
    EXPECT_EQ(code_of([&] { signals->next(); }), ErrorCode::NotInCoroutine);
}

TEST(Signals, WaitingIsNoDeadlock) {
    run([] {
        Signals alarm({SIGALRM});
        ::ualarm(2000, 0);
        EXPECT_EQ(alarm.next(), SIGALRM);
    });
}

}  // namespace
}  // namespace trueasync::testing
