#include <trueasync/sync/select.hpp>

#include <array>
#include <support/allocation_counter.hpp>
#include <support/runtime_fakes.hpp>
#include <support/seeds.hpp>

namespace trueasync::testing {
namespace {

using Log = std::vector<std::string>;

const char* const kIdle = "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)";

std::string info(const Channel<int>& channel) { return channel.event().info(); }

/// A select that sends `value` and waits for a channel where nothing comes.
Handle<std::size_t> spawn_send(const Channel<int>& channel, int value, const Channel<int>& silent = Channel<int>()) {
    return spawn([=] { return select(on_recv(silent), on_send(channel, value)); });
}

/// A select that receives, and waits for a channel where nothing comes.
Handle<int> spawn_recv(const Channel<int>& channel, const Channel<int>& silent = Channel<int>()) {
    return spawn([=] {
        int got = -1;
        select(on_recv(silent), on_recv(channel, [&got](int value) { got = value; }));
        return got;
    });
}

// --- what is ready

CORO_TEST(Select, WhatIsReadyNeedsNoSwitchAndNoMemory) {
    Channel<int> there(1);
    Channel<int> back(1);
    spawn([] {});  // somebody is ready
    const SchedulerStats before = scheduler().stats();
    const AllocationCounter counter;
    EXPECT_EQ(select(on_send(there, 1), on_recv(back)), 0U);
    EXPECT_EQ(select(on_send(there, 2), on_recv(there)), 1U);
    EXPECT_EQ(scheduler().stats().switches, before.switches);
    if (AllocationCounter::works()) {
        EXPECT_EQ(counter.count(), 0U);
    }
    EXPECT_TRUE(there.is_empty());
}

CORO_TEST(Select, ChanceIsFairAmongTheReadyOnes) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    seed_select(seed);
    Channel<int> silent;
    Channel<int> a(1);
    Channel<int> b(1);
    Channel<int> c(1);
    std::array<int, 6> chosen{};
    a.send(0);
    b.send(0);
    constexpr int kRounds = 9000;
    for (int i = 0; i < kRounds; ++i) {  // three of six are ready, two of them side by side
        ++chosen[select(on_recv(a), on_recv(b), on_recv(silent), on_send(c, 1), on_recv(silent), on_recv(silent))];
        a.try_send(0);
        b.try_send(0);
        c.try_recv();
    }
    for (const std::size_t one : {0U, 1U, 3U}) {
        EXPECT_NEAR(chosen[one], kRounds / 3, 250) << one;  // more than five times the standard deviation
    }
}

CORO_TEST(Select, ClosedChannelsAreReady) {
    Channel<int> channel;
    channel.close();
    ReceiveCase receive(channel.event());
    int value = 1;
    SendCase send(channel.event(), value);
    std::size_t chosen = 0;
    EXPECT_EQ(select(std::array<SelectCase*, 1>{&receive}, chosen), WaitResult::Failed);
    EXPECT_EQ(chosen, 0U);
    EXPECT_EQ(Scheduler::take_wait_error()->code(), ErrorCode::ChannelClosed);
    EXPECT_EQ(try_select(std::array<SelectCase*, 1>{&send}, chosen), WaitResult::Failed);
    EXPECT_EQ(value, 1);
}

TEST(SelectOutside, WorksWhereNobodyHasToWait) {
    Channel<int> channel(1);
    EXPECT_EQ(select(on_send(channel, 1)), 0U);
    EXPECT_EQ(select(on_recv(channel)), 0U);
    EXPECT_EQ(code_of([&] { select(on_recv(channel)); }), ErrorCode::NotInCoroutine);
    EXPECT_EQ(channel.event().waiting_receivers(), 0U);
}

CORO_TEST(Select, WaitingInACallbackIsRefused) {
    Channel<int> channel;
    ErrorCode code = ErrorCode::System;
    auto timer = call_after(10ms, [&] { code = code_of([&] { select(on_recv(channel), on_send(channel, 1)); }); });
    sleep_for(20ms);
    EXPECT_EQ(code, ErrorCode::SuspendRefused);
    EXPECT_EQ(info(channel), kIdle);
}

// --- waiting

CORO_TEST(Select, WaitsForTheFirstValue) {
    Channel<int> first;
    Channel<int> second(3);
    auto receiver = spawn([&] {
        std::vector<int> got;
        const auto note = [&](int value) { got.push_back(value); };
        for (int i = 0; i < 3; ++i) {
            select(on_recv(first, note), on_recv(second, note));
        }
        return got;
    });
    suspend();
    EXPECT_EQ(first.event().waiting_receivers(), 1U);
    EXPECT_EQ(second.event().waiting_receivers(), 1U);
    second.send(1);
    EXPECT_EQ(info(first), kIdle) << "it waits there no longer";
    suspend();
    first.send(2);
    suspend();
    second.send(3);
    EXPECT_EQ(await(receiver), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(info(first), kIdle);
    expect_clean(current());
}

CORO_TEST(Select, WaitsForRoom) {
    Channel<int> channel(1);
    channel.send(1);
    auto sender = spawn_send(channel, 2);
    suspend();
    EXPECT_EQ(channel.event().waiting_senders(), 1U);
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_FALSE(channel.try_send(9)) << "the place is its own";
    EXPECT_EQ(await(sender), 1U);
    EXPECT_EQ(channel.recv(), 2);
}

CORO_TEST(Select, HandsItsValueToWhoeverComes) {
    Channel<int> channel;
    auto sender = spawn_send(channel, 1);
    suspend();
    EXPECT_TRUE(channel.is_empty()) << "nothing lies there";
    EXPECT_EQ(channel.event().waiting_senders(), 1U);
    EXPECT_EQ(channel.recv(), 1);
    EXPECT_EQ(await(sender), 1U);
    sender = spawn_send(channel, 2);
    suspend();
    EXPECT_EQ(channel.recv(1h), 2);
    await(sender);
    sender = spawn_send(channel, 3);
    suspend();
    EXPECT_EQ(channel.try_recv(), 3);
    await(sender);
    sender = spawn_send(channel, 4);
    suspend();
    EXPECT_EQ(await(channel.recv_async()), 4);
    await(sender);
    sender = spawn_send(channel, 5);
    suspend();
    EXPECT_EQ(await(spawn_recv(channel)), 5) << "another select";
    await(sender);
    EXPECT_EQ(info(channel), kIdle);
}

CORO_TEST(Select, GivesItsValueToWhoeverWaits) {
    Channel<int> channel;
    auto plain = spawn([&] { return channel.recv(); });
    suspend();
    EXPECT_EQ(select(on_send(channel, 1)), 0U);
    EXPECT_EQ(await(plain), 1);
    auto other = spawn_recv(channel);
    suspend();
    EXPECT_EQ(select(on_send(channel, 2)), 0U);
    EXPECT_EQ(await(other), 2);
    auto future = channel.recv_async();
    EXPECT_EQ(select(on_send(channel, 3)), 0U);
    EXPECT_EQ(await(future), 3);
}

CORO_TEST(Select, ThoseWhoWaitInSendGoFirst) {
    Channel<int> channel;
    auto select_first = spawn_send(channel, 1);
    suspend();
    auto plain = spawn([&] { channel.send(2); });
    suspend();
    EXPECT_EQ(channel.recv(), 2);
    EXPECT_EQ(channel.recv(), 1);
    await(plain);
    await(select_first);
}

CORO_TEST(Select, OfferMeetsAReceiverThatWaitedForTheSlot) {
    Channel<int> channel;
    auto first = spawn([&] { return channel.recv(); });
    suspend();
    channel.send(1);  // it is the first one's, and lies in the slot until that runs
    auto second = spawn_high([&] { EXPECT_EQ(channel.recv(), 2); });
    auto sender = spawn_high([&] { select(on_send(channel, 2)); });
    EXPECT_EQ(await(first), 1);
    settle(3);
    EXPECT_TRUE(second->is_finished());
    EXPECT_TRUE(sender->is_finished());
    EXPECT_EQ(info(channel), kIdle);
}

CORO_TEST(Select, DoesNotMeetItself) {
    Channel<int> channel;
    EXPECT_THROW(select(10ms, on_send(channel, 1), on_recv(channel)), TimeoutError);
    EXPECT_EQ(info(channel), kIdle);
    int got = 0;
    auto one = spawn([&] { return select(on_send(channel, 1), on_recv(channel, [&](int value) { got = value; })); });
    auto two = spawn([&] { return select(on_send(channel, 2), on_recv(channel, [&](int value) { got = value; })); });
    const std::size_t first = await(one);
    EXPECT_EQ(first + await(two), 1U) << "one sends, the other receives";
    EXPECT_EQ(got, first == 0 ? 1 : 2);
    EXPECT_EQ(info(channel), kIdle);
}

CORO_TEST(Select, ForeignReceiverBehindItsOwnMeetsItsOffer) {
    Channel<int> channel;
    auto first = spawn([&] { return channel.recv(); });
    suspend();
    channel.send(1);
    auto both = spawn_high([&] { EXPECT_EQ(select(on_recv(channel), on_send(channel, 2)), 1U); });
    auto behind = spawn_high([&] { EXPECT_EQ(channel.recv(), 2); });
    EXPECT_EQ(await(first), 1);
    settle(3);
    EXPECT_TRUE(both->is_finished());
    EXPECT_TRUE(behind->is_finished());
}

CORO_TEST(Select, SameChannelTwice) {
    Channel<int> channel(2);
    Log log;
    auto receiver = spawn([&] {
        select(
            on_recv(channel, [&](int value) { log.push_back("a" + std::to_string(value)); }),
            on_recv(channel, [&](int value) { log.push_back("b" + std::to_string(value)); })
        );
    });
    suspend();
    EXPECT_EQ(channel.event().waiting_receivers(), 2U);
    channel.send(1);
    EXPECT_EQ(channel.event().waiting_receivers(), 0U);
    channel.send(2);
    await(receiver);
    EXPECT_EQ(log, Log{"a1"});
    EXPECT_EQ(channel.recv(), 2);
    Channel<int> unbuffered;
    auto sender = spawn([&] { select(on_send(unbuffered, 1), on_send(unbuffered, 2)); });
    suspend();
    EXPECT_EQ(unbuffered.recv(), 1);
    await(sender);
    EXPECT_EQ(unbuffered.try_recv(), std::nullopt);
    EXPECT_EQ(info(unbuffered), kIdle);
}

CORO_TEST(Select, LosingSendKeepsItsValue) {
    Channel<int> silent;
    Channel<int> channel;
    auto value = std::make_unique<int>(5);
    Channel<std::unique_ptr<int>> boxes;
    SendCase send(boxes.event(), value);
    ReceiveCase receive(channel.event());
    std::size_t chosen = 0;
    auto waker = spawn([&] { channel.send(1); });
    EXPECT_EQ(select(std::array<SelectCase*, 2>{&send, &receive}, chosen), WaitResult::Ready);
    EXPECT_EQ(chosen, 1U);
    EXPECT_EQ(channel.event().take_claimed(), 1);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(boxes.event().waiting_senders(), 0U);
    await(waker);
}

// --- closing

CORO_TEST(Select, ClosingEndsIt) {
    Channel<int> channel;
    auto receiver = spawn([&] { select(on_recv(channel), on_send(channel, 1)); });
    Channel<int> other;
    auto quiet = spawn([&] {
        bool was_closed = false;
        select(on_recv(
            other, [](int) {}, [&] { was_closed = true; }
        ));
        return was_closed;
    });
    settle(2);
    channel.close();
    other.close();
    EXPECT_THROW(await(receiver), ChannelClosed);
    EXPECT_TRUE(await(quiet));
    Channel<int> full(1);
    full.send(1);
    auto sender = spawn_send(full, 2);
    suspend();
    full.close();
    EXPECT_THROW(await(sender), ChannelClosed);
    EXPECT_EQ(full.count(), 1U);
}

CORO_TEST(Select, PlaceOfAChannelThatClosesMeanwhileIsNotUsed) {
    Channel<int> channel(1);
    channel.send(1);
    auto sender = spawn_send(channel, 2);
    suspend();
    EXPECT_EQ(channel.recv(), 1);
    channel.close();
    EXPECT_THROW(await(sender), ChannelClosed);
    EXPECT_EQ(channel.event().info(), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
}

CORO_TEST(Select, TimeoutsOfAChannelCountForItToo) {
    Channel<int> channel(0, {.no_consumer = 10ms, .is_hard = true});
    try {
        select(on_send(channel, 1));
        ADD_FAILURE() << "sent to nobody";
    } catch (const ChannelClosed& closed) {
        EXPECT_EQ(closed.reason(), ChannelCloseReason::NoConsumers);
    }
    expect_clean(current());
}

// --- cancellation

CORO_TEST(Select, CancelledOneLeavesNothing) {
    Channel<int> channel;
    Channel<int> full(1);
    full.send(1);
    ManualEvent event;
    auto waiter = spawn([&] { select(1h, on_recv(channel), on_send(channel, 1), on_send(full, 2), on_event(event)); });
    suspend();
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
    EXPECT_EQ(info(channel), kIdle);
    EXPECT_EQ(info(full), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
    expect_clean(event);
    expect_clean(waiter.coroutine());
}

CORO_TEST(Select, CancelledBetweenWakeAndRunHandsTheValueOn) {
    Channel<int> channel;
    auto first = spawn_recv(channel);
    auto second = spawn([&] { return channel.recv(); });
    settle(2);
    channel.send(1);
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(await(second), 1);
    auto last = spawn_recv(channel);
    suspend();
    channel.send(2);
    last.cancel();
    EXPECT_THROW(await(last), Cancellation);
    EXPECT_EQ(channel.recv(), 2) << "nobody else was there";
}

CORO_TEST(Select, CancelledBetweenWakeAndRunHandsThePlaceOn) {
    Channel<int> channel(1);
    channel.send(1);
    auto first = spawn_send(channel, 2);
    auto second = spawn([&] { channel.send(3); });
    settle(2);
    EXPECT_EQ(channel.recv(), 1);
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    await(second);
    EXPECT_EQ(channel.recv(), 3);
}

CORO_TEST(Select, NothingIsTakenFromACancelledOne) {
    Channel<int> channel;
    auto sender = spawn_send(channel, 1);
    suspend();
    sender.cancel();  // it stands in line until it runs
    EXPECT_EQ(channel.try_recv(), std::nullopt);
    EXPECT_THROW(await(sender), Cancellation);
    EXPECT_EQ(info(channel), kIdle);
}

CORO_TEST(Select, ReceiverBehindACancelledOneWaitsForTheNext) {
    Channel<int> channel;
    auto sender = spawn_send(channel, 1);
    suspend();
    sender.cancel();
    auto receiver = spawn_high([&] { EXPECT_EQ(channel.recv(), 2); });
    EXPECT_THROW(await(sender), Cancellation);
    EXPECT_EQ(select(on_send(channel, 2)), 0U);
    settle(2);
    EXPECT_TRUE(receiver->is_finished());
}

CORO_TEST(Select, ValueThatWasTakenIsNotLostWhenItsSenderIsCancelled) {
    Channel<int> channel;
    auto sender = spawn_send(channel, 1);
    suspend();
    EXPECT_EQ(channel.try_recv(), 1);
    sender.cancel();
    EXPECT_THROW(await(sender), Cancellation) << "as for send";
    EXPECT_EQ(info(channel), kIdle);
}

CORO_TEST(Select, EventThatFiredFirstWins) {
    Channel<int> channel;
    ManualEvent event;
    auto receiver = spawn([&] { return select(on_recv(channel), on_event(event)); });
    suspend();
    event.notify();
    channel.try_send(1);
    EXPECT_EQ(await(receiver), 1U);
    EXPECT_EQ(channel.recv(), 1) << "handed on";

    auto sender = spawn([&] { return select(on_send(channel, 2), on_event(event)); });
    suspend();
    event.notify();
    EXPECT_EQ(channel.try_recv(), std::nullopt);
    EXPECT_EQ(await(sender), 1U);

    auto closing = spawn([&] { return select(on_send(channel, 2), on_event(event)); });
    suspend();
    event.notify();
    channel.close();
    EXPECT_EQ(await(closing), 1U);
    EXPECT_EQ(info(channel), kIdle);
}

CORO_TEST(Select, ValueThatCameBeforeTheEventWins) {
    Channel<int> channel;
    ManualEvent event;
    auto receiver = spawn([&] { return select(on_event(event), on_recv(channel)); });
    suspend();
    channel.send(1);
    event.notify();
    EXPECT_EQ(await(receiver), 1U);
    expect_clean(event);
}

CORO_TEST(Select, TokenThatFiresAfterTheWakeHandsTheValueOn) {
    Channel<int> channel;
    ManualEvent token;
    auto receiver = spawn([&] { select(Limit(token), on_recv(channel)); });
    suspend();
    channel.send(1);
    token.notify();
    EXPECT_THROW(await(receiver), Cancellation);
    EXPECT_EQ(channel.recv(), 1);
}

CORO_TEST(Select, ValueThatCameInTimeIsReceived) {
    Channel<int> channel;
    auto receiver = spawn([&] { return select(10ms, on_recv(channel)); });
    suspend();
    channel.send(1);
    clock().advance(1s);
    EXPECT_EQ(await(receiver), 0U) << "woken in time, though it runs late";
    EXPECT_TRUE(channel.is_empty());
}

CORO_TEST(Select, ClosedEventIsRefused) {
    Channel<int> channel;
    const Ref<ManualEvent> event = ManualEvent::create();
    event->close();
    EXPECT_EQ(code_of([&] { select(on_recv(channel), on_event(*event)); }), ErrorCode::EventClosed);
    EXPECT_EQ(info(channel), kIdle);
    const Ref<ManualEvent> later = ManualEvent::create();
    auto waiter = spawn([&] { select(on_recv(channel), on_event(*later)); });
    suspend();
    later->close();
    EXPECT_EQ(code_of([&] { await(waiter); }), ErrorCode::EventClosed);
    EXPECT_EQ(info(channel), kIdle);
}

CORO_TEST(Select, OfferMayBeTakenWhileAnEventIsStarted) {
    Channel<int> channel;
    const auto event = make_loop_event();
    event->is_firing_in_start = true;
    std::optional<int> taken;
    subscribe(*event, [&] { taken = channel.try_recv(); });  // before the select hears of it
    const std::size_t chosen = select(on_send(channel, 1), on_event(*event));
    EXPECT_EQ(chosen == 0, taken.has_value());
    EXPECT_EQ(info(channel), kIdle);
}

// --- what others see

CORO_TEST(Select, DumpNamesEverything) {
    Channel<int> channel;
    Channel<int> full(1);
    full.send(1);
    ManualEvent event;
    std::source_location where;
    auto waiter = spawn([&] {
        where = std::source_location::current(), select(1h, on_event(event), on_recv(channel), on_send(full, 2));
    });
    suspend();
    EXPECT_EQ(
        waiter.coroutine().awaiting(),
        (Log{
            event.info(), "Channel(capacity=0, receivers=1, senders=0, reserved=0/0)",
            "Channel(capacity=1, receivers=0, senders=1, reserved=0/0)", "Deadline(in 3600000ms)"})
    );
    EXPECT_EQ(to_string(waiter.coroutine().suspended_at()), place_of(where));
    waiter.cancel();
    settle(2);
}

RUNTIME_TEST(Select, AbandonedOneLeavesTheChannels) {
    const LeaksExpected leaks;
    Channel<int> channel;
    Channel<int> full(1);
    in_runtime([&] {
        full.send(1);
        spawn([&] {
            for (;;) {
                try {
                    select(on_recv(channel), on_send(channel, 1), on_send(full, 2));
                } catch (const Cancellation&) {}
            }
        });
        settle(3);
        shutdown();
    });
    EXPECT_EQ(sink.survivors.size(), 1U);
    EXPECT_EQ(info(channel), kIdle);
    EXPECT_EQ(info(full), "Channel(capacity=1, receivers=0, senders=0, reserved=0/0)");
}

RUNTIME_TEST(Select, DeadlockNamesTheChannels) {
    EXPECT_THROW(
        in_runtime([&] {
            Channel<int> channel;
            select(on_recv(channel), on_send(channel, 1));
        }),
        DeadlockError
    );
    ASSERT_EQ(sink.deadlocks.size(), 1U);
    EXPECT_TRUE(contains(sink.deadlocks[0], "Channel(capacity=0, receivers=1, senders=1")) << sink.deadlocks[0];
}

// --- by chance

/// Selects and plain calls over several channels, with cancels, tokens and deadlines in between. Each number is sent once.
RUNTIME_TEST(SelectChance, NothingIsLostOrDoubled) {
    for_seeds(1, 400, [this](std::mt19937& random) {
        seed_select(random());
        const auto chance = [&random](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
        enum class Fate : std::uint8_t { Undecided, Sent, NotSent };
        std::vector<Fate> fates;
        std::vector<int> received;
        in_runtime([&] {
            const Channel<int> channels[] = {Channel<int>(), Channel<int>(), Channel<int>(chance(3))};
            ManualEvent token;
            ManualEvent event;
            bool is_over = false;
            bool is_begun = false;
            std::vector<Handle<void>> actors;
            const auto trouble = [&] {
                if (is_begun && chance(4) == 0) {
                    actors[static_cast<std::size_t>(chance(static_cast<int>(actors.size())))].cancel();
                }
                if (chance(8) == 0) {
                    token.notify();
                }
                if (chance(8) == 0) {
                    event.notify();
                }
            };
            const auto any = [&]() -> const Channel<int>& { return channels[chance(3)]; };
            const auto next = [&] {
                fates.push_back(Fate::Undecided);
                return static_cast<int>(fates.size()) - 1;
            };
            const auto note = [&](int value) {
                received.push_back(value);
                trouble();
            };
            const auto limit = [&] {
                const int kind = chance(4);
                return kind == 0 ? Limit((1 + chance(3)) * 1ms) : kind == 1 ? Limit(token) : Limit();
            };
            /// Unless it was cancelled: a value may have been taken just before.
            const auto settle_fate = [&](int number, bool is_sent) {
                fates[static_cast<std::size_t>(number)] = is_sent ? Fate::Sent : Fate::NotSent;
            };
            const auto act = [&] {
                const int kind = chance(6);
                if (kind == 0) {
                    note(any().recv(limit()));
                    return;
                }
                const int a = next();
                if (kind == 1) {
                    try {
                        any().send(a, limit());
                        settle_fate(a, true);
                    } catch (const TimeoutError&) {
                        settle_fate(a, false);
                    } catch (const ChannelClosed&) {
                        settle_fate(a, false);
                    }
                    return;
                }
                const int b = next();
                try {
                    std::size_t chosen = kNoCase;
                    if (kind == 2) {
                        chosen =
                            try_select(on_send(any(), a), on_send(any(), b), on_recv(any(), note)).value_or(kNoCase);
                    } else if (kind == 3) {
                        chosen = select(
                            limit(), on_send(any(), a), on_send(any(), b), on_recv(any(), note), on_recv(any(), note),
                            on_event(event), on_timeout((1 + chance(3)) * 1ms)
                        );
                    } else {
                        chosen = select(limit(), on_send(any(), a), on_send(any(), b), on_recv(any(), note));
                    }
                    settle_fate(a, chosen == 0);
                    settle_fate(b, chosen == 1);
                } catch (const TimeoutError&) {
                    settle_fate(a, false);
                    settle_fate(b, false);
                } catch (const ChannelClosed&) {
                    settle_fate(a, false);
                    settle_fate(b, false);
                }
            };
            for (int i = 0; i < 6; ++i) {
                actors.push_back(spawn([&] {
                    while (!is_over) {
                        try {
                            act();
                            trouble();
                            sleep_for(chance(2) * 1ms);
                        } catch (const Cancellation&) {
                        } catch (const TimeoutError&) {
                        } catch (const ChannelClosed&) {}
                    }
                }));
            }
            suspend();
            is_begun = true;
            for (int i = 0; i < 60; ++i) {
                sleep_for(1ms);
                trouble();
            }
            is_over = true;
            for (const auto& channel : channels) {
                channel.close();
            }
            sleep_for(20ms);
            for (const auto& actor : actors) {
                ASSERT_TRUE(actor.is_finished()) << "stuck";
            }
            for (const auto& channel : channels) {
                while (const std::optional<int> value = channel.try_recv()) {
                    received.push_back(*value);
                }
                EXPECT_TRUE(contains(info(channel), "receivers=0, senders=0, reserved=0/0")) << info(channel);
            }
        });
        std::vector<int> times(fates.size());
        for (const int number : received) {
            ++times[static_cast<std::size_t>(number)];
        }
        int sent = 0;
        for (std::size_t i = 0; i < fates.size(); ++i) {
            EXPECT_LE(times[i], 1) << i << " was received twice";
            if (fates[i] != Fate::Undecided) {
                EXPECT_EQ(times[i], fates[i] == Fate::Sent ? 1 : 0) << i;
            }
            sent += times[i];
        }
        EXPECT_GT(sent, 10) << "nothing happened";
    });
}

}  // namespace
}  // namespace trueasync::testing
