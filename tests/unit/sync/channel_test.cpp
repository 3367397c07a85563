#include <trueasync/sync/channel.hpp>

#include <memory>
#include <support/allocation_counter.hpp>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

std::string info(const Channel<int>& channel) { return channel.event().info(); }

/// Receives until the channel is closed.
void drain_into(Log& log, const std::string& name, const Channel<int>& channel) {
    try {
        for (;;) {
            log.push_back(name + std::to_string(channel.recv()));
        }
    } catch (const ChannelClosed&) {
        log.push_back(name + "-closed");
    }
}

// --- buffered

CORO_TEST(Channel, BufferedPassesValuesInOrder) {
    Channel<int> channel(3);
    channel.send(1);
    channel.send(2);
    channel.send(3);
    EXPECT_EQ(channel.count(), 3U);
    EXPECT_TRUE(channel.is_full());
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(channel.recv(), 2);
    EXPECT_EQ(channel.recv(), 3);
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(Channel, SendWaitsOnlyWhileItIsFull) {  // trace 18
    Channel<int> channel(2);
    Log log;
    auto sender = spawn([&] {
        for (int i = 1; i <= 3; ++i) {
            channel.send(i);
            log.push_back("sent" + std::to_string(i));
        }
    });
    auto receiver = spawn([&] {
        suspend();
        suspend();
        log.push_back("received" + std::to_string(channel.recv()));
    });
    await(sender);
    await(receiver);
    EXPECT_EQ(log, (Log{"sent1", "sent2", "received1", "sent3"}));
    EXPECT_EQ(channel.count(), 2U);
}

CORO_TEST(Channel, ReceiverTakesWhatThreeSendersBring) {  // trace 48
    Channel<int> channel(2);
    Log log;
    std::vector<Handle<void>> senders;
    for (int i = 1; i <= 3; ++i) {
        senders.push_back(spawn([&, i] {
            channel.send(i);
            log.push_back("S" + std::to_string(i) + " sent");
        }));
    }
    auto receiver = spawn([&] {
        int count = 0;
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(channel.recv(), i + 1);
            ++count;
        }
        log.push_back("got " + std::to_string(count));
    });
    await(receiver);
    for (auto& sender : senders) {
        await(sender);
    }
    EXPECT_EQ(log, (Log{"S1 sent", "S2 sent", "S3 sent", "got 3"}));
}

CORO_TEST(Channel, PlaceOfAWokenSenderIsItsOwn) {  // trace 19
    Channel<int> channel(1);
    channel.send(1);
    auto sender = spawn([&] { channel.send(2); });
    suspend();
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_FALSE(channel.is_full());
    EXPECT_FALSE(channel.try_send(9));
    EXPECT_EQ(info(channel), "Channel(capacity=1, receivers=0, senders=0, reserved=0/1)");
    await(sender);
    EXPECT_EQ(channel.recv(), 2);
    EXPECT_TRUE(channel.try_send(9));
}

CORO_TEST(Channel, NewSenderDoesNotOvertakeAWokenOne) {
    Channel<int> channel(1);
    channel.send(1);
    auto first = spawn([&] { channel.send(2); });
    suspend();
    EXPECT_EQ(channel.recv(), 1);
    auto second = spawn_high([&] { channel.send(3); });  // runs before the woken one
    EXPECT_EQ(channel.recv(), 2);
    EXPECT_EQ(channel.recv(), 3);
    await(first);
}

CORO_TEST(Channel, WaitersAreServedInTheOrderTheyCame) {
    Channel<int> channel(1);
    Log log;
    std::vector<Handle<void>> receivers;
    for (const char* name : {"A", "B", "C"}) {
        receivers.push_back(spawn([&, name] { log.push_back(name + std::to_string(channel.recv())); }));
    }
    settle(2);
    EXPECT_EQ(info(channel), "Channel(capacity=1, receivers=3, senders=0, reserved=0/0)");
    for (int i = 1; i <= 3; ++i) {
        channel.send(i);
    }
    settle(3);
    EXPECT_EQ(log, (Log{"A1", "B2", "C3"}));
}

CORO_TEST(Channel, SendersAreServedInTheOrderTheyCame) {
    Channel<int> channel(1);
    for (int i = 0; i < 4; ++i) {
        spawn([&, i] { channel.send(i); });
    }
    settle(2);
    EXPECT_EQ(info(channel), "Channel(capacity=1, receivers=0, senders=3, reserved=0/0)");
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(channel.recv(), i);
    }
}

CORO_TEST(Channel, GrowsToItsCapacityWithoutLosingTheOrder) {
    Channel<int> channel(1000);
    int next_in = 0;
    int next_out = 0;
    while (next_in < 5000) {
        for (int i = 0; i < 37 && !channel.is_full(); ++i) {
            channel.send(next_in++);
        }
        for (int i = 0; i < 11; ++i) {
            EXPECT_EQ(channel.recv(), next_out++);
        }
    }
    while (!channel.is_empty()) {
        EXPECT_EQ(channel.recv(), next_out++);
    }
    EXPECT_EQ(next_in, next_out);
}

CORO_TEST(Channel, HugeCapacityTakesNoMemoryInAdvance) {
    Channel<int> channel(ChannelSettings::kMaxCapacity);
    EXPECT_EQ(channel.capacity(), 2147483647U);
    channel.send(1);
    EXPECT_FALSE(channel.is_full());
    EXPECT_EQ(channel.recv(), 1);
}

CORO_TEST(Channel, WithoutMemoryForAValueItIsKept) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    ChannelOf<std::unique_ptr<int>> channel({.capacity = 4});
    channel.mark_no_free_memory();
    EXPECT_EQ(channel.send(std::make_unique<int>(1)), WaitResult::Ready);
    auto value = std::make_unique<int>(2);
    bool is_sent = true;
    {
        const NoMemory none;
        is_sent = channel.try_send(std::move(value));
    }
    EXPECT_FALSE(is_sent);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(channel.send(value), WaitResult::Ready);
    EXPECT_EQ(value, nullptr);
    EXPECT_EQ(channel.count(), 2U);
}

// --- unbuffered

CORO_TEST(Channel, UnbufferedSenderFirst) {  // trace 17
    Channel<int> channel;
    Log log;
    auto sender = spawn([&] {
        log.push_back("send-begin");
        channel.send(1);
        log.push_back("send-end");
    });
    auto receiver = spawn([&] {
        log.push_back("recv-begin");
        channel.recv();
        log.push_back("received");
    });
    await(sender);
    await(receiver);
    EXPECT_EQ(log, (Log{"send-begin", "recv-begin", "received", "send-end"}));
}

CORO_TEST(Channel, UnbufferedSendToAWaitingReceiverReturnsAtOnce) {
    Channel<int> channel;
    auto receiver = spawn([&] { return channel.recv(); });
    suspend();
    const SchedulerStats before = scheduler().stats();
    channel.send(7);
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    EXPECT_EQ(channel.count(), 1U) << "delivered, not yet taken";
    EXPECT_EQ(info(channel), "Channel(capacity=0, receivers=0, senders=0, reserved=1/0)");
    EXPECT_EQ(await(receiver), 7);
    EXPECT_EQ(channel.count(), 0U);
}

CORO_TEST(Channel, UnbufferedReferenceRun) {
    Channel<int> channel;
    Log log;
    auto sender = spawn([&] {
        for (int i = 1; i <= 3; ++i) {
            log.push_back("send" + std::to_string(i));
            channel.send(i);
        }
        channel.close();
        log.push_back("closed");
    });
    auto a = spawn([&] { drain_into(log, "A", channel); });
    auto b = spawn([&] { drain_into(log, "B", channel); });
    await(sender);
    await(a);
    await(b);
    EXPECT_EQ(log, (Log{"send1", "A1", "send2", "send3", "A2", "closed", "B3", "B-closed", "A-closed"}));
}

CORO_TEST(Channel, TrySendPutsAValueWithoutAReceiver) {
    Channel<int> channel;
    EXPECT_FALSE(channel.is_full());
    EXPECT_TRUE(channel.try_send(1));
    EXPECT_EQ(channel.count(), 1U);
    EXPECT_TRUE(channel.is_full());
    EXPECT_FALSE(channel.try_send(2));
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(Channel, TakingReleasesTheSenderAndReservesTheSlotForTheNext) {  // trace 24
    Channel<int> channel;
    Log log;
    auto first = spawn([&] {
        channel.send(1);
        log.push_back("S1 returned");
    });
    auto second = spawn([&] {
        channel.send(2);
        log.push_back("S2 returned");
    });
    settle(2);
    EXPECT_EQ(info(channel), "Channel(capacity=0, receivers=0, senders=2, reserved=0/0)");
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_FALSE(channel.try_send(9));
    EXPECT_EQ(info(channel), "Channel(capacity=0, receivers=0, senders=0, reserved=0/1)");
    suspend();
    EXPECT_EQ(log, (Log{"S1 returned"}));
    auto receiver = spawn([&] { log.push_back("received " + std::to_string(channel.recv())); });
    await(receiver);
    await(second);
    EXPECT_EQ(log, (Log{"S1 returned", "received 2", "S2 returned"}));
}

CORO_TEST(Channel, WokenSenderMeetsAReceiverThatCameMeanwhile) {
    Channel<int> channel;
    channel.try_send(1);
    Log log;
    auto sender = spawn([&] {
        channel.send(2);
        log.push_back("sent");
    });
    suspend();
    EXPECT_EQ(channel.recv(), 1);  // the slot is the sender's
    EXPECT_EQ(channel.recv(), 2);  // waits for it
    suspend();
    EXPECT_EQ(log, (Log{"sent"}));
}

// --- reservations

CORO_TEST(Channel, CancelledReceiverHandsItsValueOn) {  // trace 20
    Channel<int> channel(1);
    Log log;
    auto receive = [&](const std::string& name) {
        try {
            channel.recv();
            log.push_back(name + " received");
        } catch (const Cancellation&) {
            log.push_back(name + " cancelled");
        }
    };
    auto first = spawn([&] { receive("R1"); });
    auto second = spawn([&] { receive("R2"); });
    settle(2);
    channel.send(1);
    EXPECT_EQ(info(channel), "Channel(capacity=1, receivers=1, senders=0, reserved=1/0)");
    first.cancel();
    await(second);
    EXPECT_EQ(log, (Log{"R1 cancelled", "R2 received"}));
    EXPECT_EQ(channel.count(), 0U);
    EXPECT_EQ(info(channel), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
}

CORO_TEST(Channel, DeliveryIsPassedOnWhenTheReceiverIsCancelled) {  // trace 21
    Channel<int> channel;
    Log log;
    auto receive = [&](const std::string& name) {
        try {
            channel.recv();
            log.push_back(name + " received");
        } catch (const Cancellation&) {
            log.push_back(name + " cancelled");
        }
    };
    auto first = spawn([&] { receive("R1"); });
    auto second = spawn([&] { receive("R2"); });
    auto sender = spawn([&] {
        channel.send(1);
        log.push_back("sender done");
        first.cancel();
    });
    await(sender);
    await(second);
    EXPECT_EQ(log, (Log{"sender done", "R1 cancelled", "R2 received"}));
}

CORO_TEST(Channel, DeliveredValueSurvivesCancelAndClose) {  // trace 22
    Channel<int> channel;
    auto receiver = spawn([&] { channel.recv(); });
    suspend();
    channel.send(5);
    receiver.cancel();
    channel.close();
    settle(2);
    EXPECT_TRUE(receiver.is_cancelled());
    EXPECT_EQ(channel.count(), 1U);
    EXPECT_EQ(channel.recv(), 5);
    EXPECT_THROW(channel.recv(), ChannelClosed);
}

CORO_TEST(Channel, NewcomersGoPastReservedValues) {
    Channel<int> channel(4);
    Log log;
    auto first = spawn([&] { log.push_back("R1 " + std::to_string(channel.recv())); });
    auto second = spawn([&] { log.push_back("R2 " + std::to_string(channel.recv())); });
    settle(2);
    channel.send(1);
    channel.send(2);
    EXPECT_EQ(channel.try_recv(), std::nullopt) << "both are spoken for";
    EXPECT_EQ(channel.count(), 2U);
    channel.send(3);
    channel.send(4);
    EXPECT_EQ(channel.recv(), 3);
    EXPECT_EQ(channel.recv(), 4);
    settle(2);
    EXPECT_EQ(log, (Log{"R1 1", "R2 2"}));
}

CORO_TEST(Channel, NewReceiverWaitsBehindAReservedValue) {
    Channel<int> channel(1);
    auto first = spawn([&] { return channel.recv(); });
    suspend();
    channel.send(1);
    auto second = spawn_high([&] { EXPECT_EQ(channel.recv(), 2); });  // comes before the woken one runs
    suspend();
    EXPECT_EQ(await(first), 1);
    channel.send(2);
    settle(2);
    EXPECT_TRUE(second->is_finished());
}

CORO_TEST(Channel, FreedValueIsTheOldestOfTheFreeOnes) {
    Channel<int> channel(4);
    auto first = spawn([&] { channel.recv(); });
    suspend();
    channel.send(1);
    channel.send(2);
    first.cancel();
    settle(2);
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(channel.recv(), 2);
}

CORO_TEST(Channel, CancelledSenderHandsItsPlaceOn) {
    Channel<int> channel(1);
    channel.send(1);
    auto first = spawn([&] { channel.send(2); });
    auto second = spawn([&] { channel.send(3); });
    settle(2);
    EXPECT_EQ(channel.recv(), 1);
    first.cancel();
    settle(3);
    EXPECT_TRUE(first.is_cancelled());
    EXPECT_TRUE(second.is_finished());
    EXPECT_EQ(channel.recv(), 3);
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(Channel, PlaceThatNobodyWantsAnyMoreIsFree) {
    Channel<int> channel(1);
    channel.send(1);
    auto sender = spawn([&] { channel.send(2); });
    suspend();
    EXPECT_EQ(channel.recv(), 1);
    sender.cancel();
    settle(2);
    EXPECT_TRUE(channel.try_send(3));
    EXPECT_EQ(channel.recv(), 3);
}

CORO_TEST(Channel, CancelledUnbufferedSenderTakesItsValueBack) {
    ChannelOf<std::unique_ptr<int>> channel;
    channel.mark_no_free_memory();
    auto value = std::make_unique<int>(1);
    WaitResult result = WaitResult::Ready;
    auto sender = spawn([&] { result = channel.send(value); });
    suspend();
    EXPECT_EQ(channel.count(), 1U);
    EXPECT_EQ(value, nullptr);
    auto next = spawn([&] { EXPECT_EQ(channel.send(std::make_unique<int>(2)), WaitResult::Ready); });
    suspend();
    sender.cancel();
    suspend();
    EXPECT_EQ(result, WaitResult::Cancelled);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, 1);
    std::optional<std::unique_ptr<int>> received;
    EXPECT_EQ(channel.recv(received), WaitResult::Ready);
    EXPECT_EQ(**received, 2) << "the slot went to the next sender";
    await(next);
}

CORO_TEST(Channel, SenderWhoseValueWasTakenIsStillCancelled) {
    Channel<int> channel;
    auto sender = spawn([&] { channel.send(1); });
    suspend();
    EXPECT_EQ(channel.recv(), 1);
    sender.cancel();
    settle(2);
    EXPECT_TRUE(sender.is_cancelled());
    EXPECT_EQ(info(channel), "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)");
}

CORO_TEST(Channel, CancelledWaitersLeaveFromAnyPlaceOfTheLine) {
    for (int leaving = 0; leaving < 3; ++leaving) {
        Channel<int> channel(1);
        Log log;
        std::vector<Handle<void>> receivers;
        for (int i = 0; i < 3; ++i) {
            receivers.push_back(spawn([&, i] { log.push_back(std::to_string(i) + std::to_string(channel.recv())); }));
        }
        suspend();
        receivers[static_cast<std::size_t>(leaving)].cancel();
        suspend();
        EXPECT_EQ(channel.event().waiting_receivers(), 2U);
        channel.send(7);
        channel.send(8);
        settle(2);
        Log expected;
        for (int i = 0; i < 3; ++i) {
            if (i != leaving) {
                expected.push_back(std::to_string(i) + (expected.empty() ? "7" : "8"));
            }
        }
        EXPECT_EQ(log, expected);
    }
}

CORO_TEST(Channel, CancellationThatCameBeforeIsThrownInsteadOfWaiting) {
    Channel<int> channel;
    auto receiver = spawn([&] {
        current();
        Scheduler::current()->cancel(current(), nullptr);
        channel.recv();
    });
    auto sender = spawn([&] {
        Scheduler::current()->cancel(current(), nullptr);
        channel.send(1);
    });
    settle(2);
    EXPECT_TRUE(receiver.is_cancelled());
    EXPECT_TRUE(sender.is_cancelled());
    EXPECT_TRUE(channel.is_empty()) << "the sender has left nothing";
    EXPECT_EQ(info(channel), "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)");
}

CORO_TEST(Channel, SlotOfASenderThatCannotWaitGoesToTheNext) {
    Channel<int> channel;
    channel.try_send(1);
    auto first = spawn([&] {
        ProtectGuard guard;
        channel.send(2);
    });
    auto second = spawn([&] { channel.send(3); });
    settle(2);
    EXPECT_EQ(channel.recv(), 1);
    first.cancel();
    EXPECT_EQ(channel.recv(), 2) << "protected: it goes on";
    EXPECT_EQ(channel.recv(), 3);
    await(second);
}

// --- wherever it is called

CORO_TEST(Channel, NonBlockingCallsWorkInCallbacks) {
    Channel<int> channel(2);
    auto receiver = spawn([&] { return channel.recv() + channel.recv(); });
    auto timer = call_after(10ms, [&] {
        EXPECT_TRUE(channel.try_send(1));
        channel.send(2);
    });
    EXPECT_EQ(await(receiver), 3);
}

CORO_TEST(Channel, WaitingInACallbackIsRefused) {
    Channel<int> channel;
    ErrorCode recv_code = ErrorCode::System;
    ErrorCode send_code = ErrorCode::System;
    auto timer = call_after(10ms, [&] {
        recv_code = code_of([&] { channel.recv(); });
        send_code = code_of([&] { channel.send(1); });
    });
    sleep_for(20ms);
    EXPECT_EQ(recv_code, ErrorCode::SuspendRefused);
    EXPECT_EQ(send_code, ErrorCode::SuspendRefused);
    EXPECT_EQ(info(channel), "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)");
    EXPECT_TRUE(channel.is_empty());
}

TEST(ChannelOutside, NonBlockingCallsNeedNoRuntime) {
    Channel<int> channel(1);
    EXPECT_TRUE(channel.try_send(1));
    EXPECT_FALSE(channel.try_send(2));
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(code_of([&] { channel.recv(); }), ErrorCode::NotInCoroutine);
    channel.close();
    EXPECT_EQ(code_of([&] { channel.recv(); }), ErrorCode::ChannelClosed);
}

CORO_TEST(Channel, DumpNamesIt) {
    Channel<int> channel(1);
    auto receiver = spawn([&] { channel.recv(); });
    auto limited = spawn([&] { channel.recv(1h); });
    settle(2);
    EXPECT_EQ(receiver.coroutine().awaiting(), Log{"Channel(capacity=1, receivers=2, senders=0, reserved=0/0)"});
    ASSERT_EQ(limited.coroutine().awaiting().size(), 2U);
    EXPECT_EQ(limited.coroutine().awaiting()[1], "Deadline(in 3600000ms)");
    receiver.cancel();
    limited.cancel();
    settle(2);
    expect_clean(receiver.coroutine());
    expect_clean(limited.coroutine());
}

CORO_TEST(Channel, SuspensionPlaceIsTheCaller) {
    Channel<int> channel;
    std::source_location where;
    auto receiver = spawn([&] { where = std::source_location::current(), channel.recv(); });
    auto second = spawn([&] { channel.recv(); });
    settle(2);
    EXPECT_EQ(to_string(receiver.coroutine().suspended_at()), place_of(where));
    receiver.cancel();
    second.cancel();
    settle(2);  // the channel outlives those who wait in it
}

RUNTIME_TEST(Channel, AbandonedWaitersLeaveTheChannel) {
    const LeaksExpected leaks;
    Channel<int> channel;
    Channel<int> full(1);
    in_runtime([&] {
        full.send(1);
        const auto stubborn = [](const std::function<void()>& wait) {
            for (;;) {
                try {
                    wait();
                } catch (const Cancellation&) {}
            }
        };
        for (int i = 0; i < 2; ++i) {  // without a guard and with one
            spawn([&] { stubborn([&] { channel.recv(); }); });
        }
        spawn([&] { stubborn([&] { full.send(2); }); });
        settle(3);
        EXPECT_EQ(channel.event().waiting_receivers(), 2U);
        shutdown();
    });
    EXPECT_EQ(sink.survivors.size(), 3U);
    EXPECT_EQ(info(channel), "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)");
    EXPECT_EQ(info(full), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
    EXPECT_EQ(full.count(), 1U);
}

CORO_TEST(Channel, HandOverAllocatesNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    Channel<int> there;
    Channel<int> back(1);
    auto echo = spawn([&] {
        for (const int value : there) {
            back.send(value);
        }
    });
    there.send(0);
    back.recv();
    const AllocationCounter counter;
    for (int i = 0; i < 100; ++i) {
        there.send(i);
        EXPECT_EQ(back.recv(), i);
    }
    EXPECT_EQ(counter.count(), 0U);
    there.close();
    await(echo);
}

// --- as an event

CORO_TEST(Channel, FiresWhenAValueIsFree) {
    Channel<int> channel(1);
    int fired = 0;
    subscribe(channel.event(), [&] { ++fired; });
    auto receiver = spawn([&] { channel.recv(); });
    suspend();
    channel.send(1);
    EXPECT_EQ(fired, 0) << "it is the receiver's";
    receiver.cancel();
    settle(2);
    EXPECT_EQ(fired, 1) << "now it is anybody's";
    EXPECT_EQ(channel.recv(), 1);
    channel.send(2);
    EXPECT_EQ(fired, 2);
}

CORO_TEST(Channel, CanBeAwaited) {
    Channel<int> channel;
    auto sender = spawn([&] { channel.send(1); });
    await(channel.event());
    EXPECT_EQ(channel.recv(), 1);
    await(sender);
    channel.close();
    EXPECT_THROW(await(channel.event()), ChannelClosed);
}

CORO_TEST(Channel, WhoTakesAValueWhileItIsPutReleasesItsSender) {
    Channel<int> channel;
    std::optional<int> taken;
    subscribe(channel.event(), [&] { taken = channel.try_recv(); });
    auto sender = spawn([&] { channel.send(4); });
    await(sender);
    EXPECT_EQ(taken, 4);
}

}  // namespace
}  // namespace trueasync::testing
