#include <support/fake_events.hpp>
#include <support/runtime_fakes.hpp>
#include <trueasync/sync/channel.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;
using Reason = ChannelCloseReason;

/// Why `body` says that the channel is closed; fails the test when it does not.
template <typename F>
Reason reason_of(F&& body) {
    try {
        body();
    } catch (const ChannelClosed& closed) {
        EXPECT_STREQ(closed.what(), "Channel is closed");
        EXPECT_EQ(closed.code(), ErrorCode::ChannelClosed);
        return closed.reason();
    }
    ADD_FAILURE() << "it is not closed";
    return Reason::Disposed;
}

/// An owner that goes when told to.
class FakeOwner final : public Owner {
public:
    ~FakeOwner() override { go(); }
    void adopt(Coroutine& /*coroutine*/) noexcept override {}
    bool finished(Coroutine& /*coroutine*/, Error* /*error*/) noexcept override { return false; }
    void on_dispose(Coroutine& /*coroutine*/) noexcept override {}
    void go() noexcept { let_dependents_go(); }
};

// --- by hand

CORO_TEST(ChannelClose, NothingCanBeSent) {
    Channel<int> channel(1);
    EXPECT_FALSE(channel.is_closed());
    channel.close();
    channel.close();
    EXPECT_TRUE(channel.is_closed());
    EXPECT_EQ(reason_of([&] { channel.send(1); }), Reason::Explicit);
    EXPECT_FALSE(channel.try_send(1));
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::Explicit);
}

CORO_TEST(ChannelClose, WhatIsHeldIsReceivedFirst) {
    Channel<int> channel(3);
    channel.send(1);
    channel.send(2);
    channel.close();
    EXPECT_EQ(channel.count(), 2U);
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(channel.recv(), 2);
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::Explicit);
}

CORO_TEST(ChannelClose, EverybodyWhoWaitsIsTold) {
    Channel<int> channel;
    Channel<int> full(1);
    full.send(0);
    Log log;
    auto note = [&](const std::string& name, auto&& wait) {
        return spawn([&, name, wait] {
            EXPECT_EQ(reason_of(wait), Reason::Explicit);
            log.push_back(name);
        });
    };
    auto a = note("A", [&] { channel.recv(); });
    auto b = note("B", [&] { channel.recv(); });
    auto c = note("C", [&] { full.send(1); });
    settle(3);
    channel.close();
    full.close();
    log.push_back("closer");
    settle(3);
    EXPECT_EQ(log, (Log{"closer", "A", "B", "C"})) << "the one who closes goes on first";
    EXPECT_EQ(full.count(), 1U);
}

CORO_TEST(ChannelClose, ReservedValueStaysWithItsReceiver) {  // trace 25
    Channel<int> channel(2);
    Log log;
    auto receive = [&](const std::string& name) {
        try {
            channel.recv();
            log.push_back(name + " received");
        } catch (const ChannelClosed& closed) {
            log.push_back(name + ": " + closed.what());
        }
    };
    auto first = spawn([&] { receive("R1"); });
    auto second = spawn([&] { receive("R2"); });
    settle(2);
    channel.send(1);
    channel.close();
    settle(2);
    EXPECT_EQ(log, (Log{"R1 received", "R2: Channel is closed"}));
}

CORO_TEST(ChannelClose, ReceiverThatWasToldStillTakesWhatBecameFree) {
    Channel<int> channel(2);
    auto first = spawn([&] { channel.recv(); });
    auto second = spawn([&] { return channel.recv(); });
    settle(2);
    channel.send(1);
    channel.close();
    first.cancel();
    EXPECT_EQ(await(second), 1) << "what the first did not take";
}

CORO_TEST(ChannelClose, SenderWhoseValueWasTakenReturns) {  // trace 23
    Channel<int> channel;
    auto sender = spawn([&] { channel.send(1); });
    suspend();
    EXPECT_EQ(channel.recv(), 1);
    channel.close();
    await(sender);
}

CORO_TEST(ChannelClose, SenderWhoseValueWasNotTakenFails) {
    Channel<int> channel;
    auto placed = spawn([&] { EXPECT_EQ(reason_of([&] { channel.send(1); }), Reason::Explicit); });
    auto queued = spawn([&] { EXPECT_EQ(reason_of([&] { channel.send(2); }), Reason::Explicit); });
    settle(2);
    channel.close();
    EXPECT_EQ(channel.count(), 0U) << "its value is dropped";
    await(placed);
    await(queued);
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::Explicit);
}

CORO_TEST(ChannelClose, SenderThatWasWokenForAPlaceFails) {
    Channel<int> channel(1);
    channel.send(1);
    auto sender = spawn([&] { EXPECT_EQ(reason_of([&] { channel.send(2); }), Reason::Explicit); });
    suspend();
    EXPECT_EQ(channel.recv(), 1);
    channel.close();
    await(sender);
    EXPECT_EQ(channel.event().reserved_places(), 0U);
    EXPECT_EQ(channel.count(), 0U);
}

CORO_TEST(ChannelClose, ValuePutWithoutASenderStays) {
    Channel<int> channel;
    channel.try_send(1);
    channel.close();
    EXPECT_EQ(channel.recv(), 1);
}

CORO_TEST(ChannelClose, FirstReasonStays) {
    Channel<int> channel;
    channel.event().close(Reason::NoConsumers);
    channel.close();
    EXPECT_EQ(channel.event().close_reason(), Reason::NoConsumers);
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::NoConsumers);
}

TEST(ChannelReason, HasTheWordsOfTheSpecification) {
    EXPECT_EQ(to_string(Reason::Explicit), "explicit");
    EXPECT_EQ(to_string(Reason::Disposed), "disposed");
    EXPECT_EQ(to_string(Reason::NoProducers), "no producers timeout");
    EXPECT_EQ(to_string(Reason::NoConsumers), "no consumers timeout");
    EXPECT_EQ(to_string(Reason::Deadlock), "deadlock");
    EXPECT_EQ(to_string(Reason::ScopeDisposed), "scope disposed");
}

CORO_TEST(ChannelClose, SubscribersAreTold) {
    Channel<int> channel(1);
    auto watcher = spawn([&] { await(channel.event()); });
    suspend();
    channel.close();
    EXPECT_EQ(reason_of([&] { await(watcher); }), Reason::Explicit);
    Channel<int> held(1);
    held.send(1);
    held.close();
    await(held.event());  // there is something to take
}

CORO_TEST(ChannelClose, MayBeClosedAgainByWhoIsTold) {
    Channel<int> channel;
    subscribe(channel.event(), [&] { channel.event().close(Reason::Deadlock); });
    auto receiver = spawn([&] { channel.recv(); });
    suspend();
    channel.close();
    EXPECT_EQ(channel.event().close_reason(), Reason::Explicit);
    EXPECT_EQ(reason_of([&] { await(receiver); }), Reason::Explicit);
}

// --- recv_async

CORO_TEST(ChannelAsync, CompleteAtOnceWhenThereIsAValue) {
    Channel<int> channel(1);
    channel.send(3);
    auto future = channel.event().recv_async();
    ASSERT_TRUE(future->is_completed());
    future->ignore();
    EXPECT_EQ(future->get(), 3);
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(ChannelAsync, PendingOneTakesTheNextValueAtOnce) {
    Channel<int> channel;
    auto future = channel.event().recv_async();
    EXPECT_FALSE(future->is_completed());
    EXPECT_EQ(channel.event().waiting_receivers(), 1U);
    const SchedulerStats before = scheduler().stats();
    channel.send(4);
    EXPECT_EQ(scheduler().stats().switches, before.switches) << "delivered";
    EXPECT_EQ(channel.count(), 0U);
    EXPECT_EQ(wait_future(*future), WaitResult::Ready);
    EXPECT_EQ(future->get(), 4);
}

CORO_TEST(ChannelAsync, StandsInLineWithTheOthers) {
    Channel<int> channel(3);
    auto first = spawn([&] { return channel.recv(); });
    suspend();
    auto second = channel.event().recv_async();
    auto third = spawn([&] { return channel.recv(); });
    suspend();
    channel.send(1);
    channel.send(2);
    channel.send(3);
    ASSERT_TRUE(second->is_completed());
    second->ignore();
    EXPECT_EQ(second->get(), 2);
    EXPECT_EQ(await(first), 1);
    EXPECT_EQ(await(third), 3);
}

CORO_TEST(ChannelAsync, MayBePendingWhileAValueIsHeld) {
    Channel<int> channel(1);
    auto receiver = spawn([&] { return channel.recv(); });
    suspend();
    channel.send(1);
    EXPECT_EQ(channel.count(), 1U);
    auto future = channel.event().recv_async();
    EXPECT_FALSE(future->is_completed());
    EXPECT_EQ(await(receiver), 1);
    channel.send(2);
    EXPECT_EQ(future->get(), 2);
    future->ignore();
}

CORO_TEST(ChannelAsync, GetsWhatACancelledReceiverHandsOn) {
    Channel<int> channel(2);
    auto first = spawn([&] { channel.recv(); });
    auto second = spawn([&] { return channel.recv(); });
    settle(2);
    auto future = channel.event().recv_async();
    channel.send(1);
    channel.send(2);
    first.cancel();
    EXPECT_EQ(await(second), 1);
    ASSERT_TRUE(future->is_completed());
    EXPECT_EQ(future->get(), 2);
    future->ignore();
}

CORO_TEST(ChannelAsync, DroppedOneTakesNothing) {
    Channel<int> channel(1);
    auto future = channel.event().recv_async();
    future.reset();
    EXPECT_EQ(channel.event().waiting_receivers(), 0U);
    channel.send(1);
    EXPECT_EQ(channel.count(), 1U);
    EXPECT_EQ(channel.recv(), 1);
}

CORO_TEST(ChannelAsync, CancelledOneTakesNothing) {
    Channel<int> channel(1);
    auto future = channel.event().recv_async();
    future->ignore();
    EXPECT_TRUE(future->cancel());
    EXPECT_EQ(channel.event().waiting_receivers(), 0U);
    channel.send(1);
    EXPECT_EQ(channel.recv(), 1);
}

CORO_TEST(ChannelAsync, OneCompletedBySomebodyElseHandsTheValueOn) {
    Channel<int> channel(1);
    auto future = channel.event().recv_async();
    future->ignore();
    future->set_notify_handler(nullptr);  // a host took the hook: the channel learns of it when it serves
    EXPECT_TRUE(future->complete(9));
    channel.send(1);
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(future->get(), 9);
}

CORO_TEST(ChannelAsync, IsRejectedWhenTheChannelCloses) {
    Channel<int> channel;
    auto future = channel.event().recv_async();
    auto waiter = spawn([&] { detail::check(wait_future(*future)); });
    suspend();
    channel.close();
    EXPECT_EQ(reason_of([&] { await(waiter); }), Reason::Explicit);
    auto late = channel.event().recv_async();
    ASSERT_TRUE(late->is_completed());
    late->ignore();
    EXPECT_EQ(late->error()->message(), "Channel is closed");
    EXPECT_EQ(ChannelError::of(late->error())->close_reason(), Reason::Explicit);
}

CORO_TEST(ChannelAsync, IsRejectedWhenTheChannelGoes) {
    Ref<FutureOf<int>> future;
    {
        Channel<int> channel;
        future = channel.event().recv_async();
    }
    ASSERT_TRUE(future->is_completed());
    future->ignore();
    EXPECT_EQ(ChannelError::of(future->error())->close_reason(), Reason::Disposed);
}

CORO_TEST(ChannelAsync, KnowsWhereItWasMade) {
    Channel<int> channel;
    const auto here = std::source_location::current();
    auto future = channel.recv_async();
    EXPECT_EQ(future.state().created_at().line, here.line() + 1);
    future.ignore();
}

// --- timeouts

CORO_TEST(ChannelTimeout, NoProducers) {
    Channel<int> channel(1, {.no_producer = 50ms, .is_hard = true});
    const Instant begin = clock().now();
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::NoProducers);
    EXPECT_EQ(clock().now() - begin, 50ms);
    EXPECT_TRUE(channel.is_closed());
    expect_clean(current());
}

CORO_TEST(ChannelTimeout, NoConsumers) {
    Channel<int> channel(1, {.no_consumer = 50ms, .is_hard = true});
    channel.send(1);
    const Instant begin = clock().now();
    EXPECT_EQ(reason_of([&] { channel.send(2); }), Reason::NoConsumers);
    EXPECT_EQ(clock().now() - begin, 50ms);
    EXPECT_EQ(channel.recv(), 1) << "what lies in it stays";
}

CORO_TEST(ChannelTimeout, CountsForAnUnbufferedSenderToo) {
    Channel<int> channel(0, {.no_consumer = 50ms, .is_hard = true});
    EXPECT_EQ(reason_of([&] { channel.send(1); }), Reason::NoConsumers);
    EXPECT_EQ(channel.count(), 0U);
}

CORO_TEST(ChannelTimeout, EverybodyGetsIt) {
    Channel<int> channel(1, {.no_producer = 50ms, .is_hard = true});
    int told = 0;
    for (int i = 0; i < 3; ++i) {
        spawn([&] {
            EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::NoProducers);
            ++told;
        });
    }
    auto future = channel.event().recv_async();
    sleep_for(60ms);
    EXPECT_EQ(told, 3);
    EXPECT_EQ(ChannelError::of(future->error())->close_reason(), Reason::NoProducers);
    future->ignore();
}

CORO_TEST(ChannelTimeout, StartsAnewWithEachWait) {
    Channel<int> channel(1, {.no_producer = 50ms, .is_hard = true});
    auto receiver = spawn([&] {
        int count = 0;
        try {
            for (;;) {
                channel.recv();
                ++count;
            }
        } catch (const ChannelClosed&) {}
        return count;
    });
    for (int i = 0; i < 3; ++i) {
        sleep_for(40ms);
        channel.send(i);
    }
    const Instant last = clock().now();
    EXPECT_EQ(await(receiver), 3);
    EXPECT_EQ(clock().now() - last, 50ms);
}

CORO_TEST(ChannelTimeout, NewReceiverRestartsIt) {
    Channel<int> channel(1, {.no_producer = 50ms, .is_hard = true});
    const Instant begin = clock().now();
    auto first = spawn([&] { EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::NoProducers); });
    sleep_for(30ms);
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::NoProducers);
    EXPECT_EQ(clock().now() - begin, 80ms);
    await(first);
}

CORO_TEST(ChannelTimeout, CancelledWaiterStopsIt) {
    Channel<int> channel(1, {.no_producer = 50ms, .is_hard = true});
    auto receiver = spawn([&] { channel.recv(); });
    suspend();
    EXPECT_EQ(clock().active().visible, 1U);
    receiver.cancel();
    suspend();
    EXPECT_EQ(clock().active().visible, 0U);
    sleep_for(100ms);
    EXPECT_FALSE(channel.is_closed());
}

CORO_TEST(ChannelTimeout, ServedWaiterStopsIt) {
    Channel<int> channel(0, {.no_producer = 50ms, .no_consumer = 50ms, .is_hard = true});
    auto receiver = spawn([&] { channel.recv(); });
    suspend();
    channel.send(1);
    EXPECT_EQ(clock().active().visible, 0U);
    await(receiver);
    auto sender = spawn([&] { channel.send(1); });
    suspend();
    EXPECT_EQ(clock().active().visible, 1U);
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(clock().active().visible, 0U);
    sleep_for(100ms);
    EXPECT_FALSE(channel.is_closed());
}

CORO_TEST(ChannelTimeout, SoftOneClosesAtOnceWhenNothingElseCanHappen) {
    Channel<int> channel(1, {.no_producer = 1h});
    const Instant begin = clock().now();
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::Deadlock);
    EXPECT_EQ(clock().now(), begin);
    EXPECT_TRUE(sink.deadlocks.empty());
    expect_clean(current());
}

CORO_TEST(ChannelTimeout, SoftOneClosesForSendersAndFutures) {
    Channel<int> channel(0, {.no_consumer = 1h});
    EXPECT_EQ(reason_of([&] { channel.send(1); }), Reason::Deadlock);
    Channel<int> other(0, {.no_producer = 1h});
    auto future = other.event().recv_async();
    EXPECT_EQ(reason_of([&] { detail::check(wait_future(*future)); }), Reason::Deadlock);
    EXPECT_TRUE(sink.deadlocks.empty());
}

CORO_TEST(ChannelTimeout, SoftOneIsWaitedForWhileSomethingCanHappen) {
    Channel<int> channel(1, {.no_producer = 50ms});
    auto sleeper = spawn([] { sleep_for(1s); });
    const Instant begin = clock().now();
    EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::NoProducers);
    EXPECT_EQ(clock().now() - begin, 50ms);
    await(sleeper);
}

CORO_TEST(ChannelTimeout, SoftOneIsNotVisible) {
    Channel<int> channel(1, {.no_producer = 50ms});
    auto receiver = spawn([&] { channel.recv(); });
    suspend();
    EXPECT_EQ(clock().active().visible, 0U);
    channel.send(1);
    await(receiver);
}

RUNTIME_TEST(ChannelTimeout, WithoutAnyItIsAnOrdinaryDeadlock) {  // trace 44
    Channel<int> channel;
    Log log;
    EXPECT_THROW(
        in_runtime([&] {
            try {
                channel.recv();
            } catch (const Cancellation& cancellation) {
                log.push_back(cancellation.message());
            }
            log.push_back("after");
        }),
        DeadlockError
    );
    EXPECT_EQ(log, (Log{"Deadlock detected", "after"}));
    EXPECT_FALSE(channel.is_closed());
    ASSERT_EQ(sink.deadlocks.size(), 1U);
    EXPECT_TRUE(contains(sink.deadlocks[0], "Channel(capacity=0, receivers=1, senders=0, reserved=0/0)"));
}

RUNTIME_TEST(ChannelTimeout, SideWithoutATimeoutTakesNoPart) {
    Channel<int> channel(0, {.no_producer = 1h});
    EXPECT_THROW(in_runtime([&] { EXPECT_TRUE(throws<Cancellation>([&] { channel.send(1); })); }), DeadlockError);
    EXPECT_FALSE(channel.is_closed());
}

RUNTIME_TEST(ChannelTimeout, PendingFutureMayOutliveTheRuntime) {
    Channel<int> channel(0, {.no_producer = 1h, .is_hard = false});
    Ref<FutureOf<int>> future;
    in_runtime([&] { future = channel.event().recv_async(); });
    EXPECT_TRUE(channel.try_send(1));
    EXPECT_EQ(future->get(), 1);
    future->ignore();
    in_runtime([&] { EXPECT_EQ(reason_of([&] { channel.recv(); }), Reason::Deadlock); });
}

// --- its owner

CORO_TEST(ChannelOwner, ClosesItWhenItGoes) {
    FakeOwner owner;
    std::optional<Channel<int>> channel;
    auto maker = make_coroutine([&] { channel.emplace(1); });
    ASSERT_TRUE(scheduler().spawn(*maker, &owner).ok());
    settle(2);
    EXPECT_TRUE(maker->is_finished());
    EXPECT_FALSE(channel->is_closed()) << "the end of a coroutine is not the end of its owner";
    auto receiver = spawn([&] { channel->recv(); });
    suspend();
    owner.go();
    EXPECT_EQ(reason_of([&] { await(receiver); }), Reason::ScopeDisposed);
}

CORO_TEST(ChannelOwner, IsNotAskedForWithoutOne) {
    FakeOwner owner;
    std::optional<ChannelOf<int>> channel;
    auto maker = make_coroutine([&] { channel.emplace(ChannelSettings{.capacity = 1, .has_owner = false}); });
    ASSERT_TRUE(scheduler().spawn(*maker, &owner).ok());
    settle(2);
    owner.go();
    EXPECT_FALSE(channel->is_closed());
}

CORO_TEST(ChannelOwner, MayOutliveTheChannel) {
    FakeOwner owner;
    auto maker = make_coroutine([&] { const Channel<int> channel(1); });
    ASSERT_TRUE(scheduler().spawn(*maker, &owner).ok());
    settle(2);
    owner.go();
}

CORO_TEST(ChannelOwner, DoesNotOverwriteAnEarlierReason) {
    FakeOwner owner;
    std::optional<Channel<int>> channel;
    auto maker = make_coroutine([&] { channel.emplace(1); });
    ASSERT_TRUE(scheduler().spawn(*maker, &owner).ok());
    settle(2);
    channel->close();
    owner.go();
    EXPECT_EQ(channel->event().close_reason(), Reason::Explicit);
}

// --- in a host

/// A counted value of a host.
class HostValue {
public:
    HostValue(int* live, int n) noexcept : live_(live), number(n) { ++*live_; }
    HostValue(HostValue&& other) noexcept : live_(std::exchange(other.live_, nullptr)), number(other.number) {}
    HostValue& operator=(HostValue&&) = delete;
    ~HostValue() {
        if (live_ != nullptr) {
            --*live_;
        }
    }

private:
    int* live_;

public:
    int number;
};

CORO_TEST(ChannelHost, LivesInTheHostsStorageAndShowsItsValues) {
    FakeCollector host;
    int live = 0;
    auto& channel = host.make<ChannelOf<HostValue>>(ChannelSettings{.capacity = 10});
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(channel.send(HostValue(&live, i)), WaitResult::Ready);
    }
    std::optional<HostValue> value;
    EXPECT_EQ(channel.recv(value), WaitResult::Ready);
    EXPECT_EQ(value->number, 0);
    value.reset();
    EXPECT_EQ(live, 9);
    std::vector<int> seen;
    channel.each_value([&](HostValue& held) { seen.push_back(held.number); });
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    channel.release();
    EXPECT_EQ(host.sweep(), 1U);
    EXPECT_EQ(live, 0);
}

CORO_TEST(ChannelHost, EveryHandOverMovesTheValue) {
    int live = 0;
    {
        Channel<HostValue> channel;
        auto receiver = spawn([&] { return channel.recv().number; });
        suspend();
        channel.send(HostValue(&live, 1));  // delivered
        EXPECT_EQ(await(receiver), 1);
        auto sender = spawn([&] { channel.send(HostValue(&live, 2)); });
        suspend();
        EXPECT_EQ(channel.recv().number, 2);
        await(sender);
        auto withdrawn = spawn([&] { channel.send(HostValue(&live, 3)); });
        suspend();
        withdrawn.cancel();
        suspend();
        EXPECT_EQ(live, 0);
        auto future = channel.event().recv_async();
        channel.send(HostValue(&live, 4));
        EXPECT_EQ(future->get().number, 4);
        future->ignore();
        channel.try_send(HostValue(&live, 5));
    }
    EXPECT_EQ(live, 0);
}

}  // namespace
}  // namespace trueasync::testing
