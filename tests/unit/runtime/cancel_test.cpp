#include <trueasync/runtime/scheduler.hpp>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(CoroutineCancel, IsDeliveredAtTheNextSuspensionPointWithItsReason) {
    std::string trace;
    auto child = spawn([&] {
        trace += "1 ";
        suspend();
        trace += "never ";
    });
    suspend();
    scheduler().cancel(child.coroutine(), Error::cancellation(CancelReason::Deadline, "too slow"));
    EXPECT_TRUE(child.coroutine().is_cancel_requested());
    EXPECT_FALSE(child.is_cancelled());  // not before it has ended
    try {
        await(child);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.reason(), CancelReason::Deadline);
        EXPECT_EQ(cancellation.message(), "too slow");
    }
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_EQ(trace, "1 ");
}

CORO_TEST(CoroutineCancel, InterruptingIsNoWishThatItStops) {
    ManualEvent event;
    std::string trace;
    auto child = spawn([&] {
        try {
            await(event);
            ADD_FAILURE();
        } catch (const std::exception&) {
            trace += "interrupted ";
        }
        suspend();
        trace += "went on";
    });
    suspend();
    scheduler().interrupt(child.coroutine(), Error::make(ErrorCode::Timeout, "a limit"));
    EXPECT_FALSE(child.coroutine().is_cancel_requested());
    await(child);
    EXPECT_FALSE(child.is_cancelled());
    EXPECT_EQ(trace, "interrupted went on");
}

CORO_TEST(CoroutineCancel, HandleCancelIsAUserRequest) {
    ManualEvent event;
    auto child = spawn([&] {
        try {
            await(event);
            ADD_FAILURE();
        } catch (const Cancellation& cancellation) {
            EXPECT_EQ(cancellation.reason(), CancelReason::UserRequest);
            EXPECT_EQ(cancellation.message(), "enough");
            throw;
        }
    });
    suspend();
    child.cancel("enough");
    EXPECT_THROW(await(child), Cancellation);
    auto other = spawn([&] { await(event); });
    suspend();
    scheduler().cancel(other.coroutine(), {});  // no reason given
    try {
        await(other);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.reason(), CancelReason::UserRequest);
        EXPECT_FALSE(cancellation.message().empty());
    }
}

CORO_TEST(CoroutineCancel, BeforeTheStartTheBodyNeverRuns) {
    bool has_run = false;
    const std::size_t base = live_stacks();
    auto child = spawn([&] { has_run = true; });
    child.cancel();
    EXPECT_EQ(child.coroutine().waker_state(), WakerState::Ignored);
    EXPECT_FALSE(child.coroutine().is_started());
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_FALSE(has_run);
    EXPECT_FALSE(child.coroutine().is_started());
    EXPECT_TRUE(child.is_cancelled());
    EXPECT_EQ(live_stacks(), base);
    EXPECT_EQ(scheduler().stats().handovers, 0U);
    EXPECT_EQ(child.coroutine().ref_count(), 1U);
}

CORO_TEST(CoroutineCancel, BeforeTheStartWakesAwaitersThatWaitAlready) {
    ManualEvent gate;
    Handle<void> child;
    int woken = 0;
    auto awaiter = spawn([&] {
        child = spawn([] { ADD_FAILURE() << "must not run"; });
        auto canceller = spawn_high([&] { child.cancel("early"); });
        try {
            await(child);
        } catch (const Cancellation& cancellation) {
            EXPECT_EQ(cancellation.message(), "early");
            ++woken;
        }
    });
    await(awaiter);
    EXPECT_EQ(woken, 1);
}

CORO_TEST(CoroutineCancel, BeforeTheSpawnTheBodyNeverRuns) {
    bool has_run = false;
    auto coroutine = make_coroutine([&] { has_run = true; });
    scheduler().cancel(*coroutine, Error::cancellation(CancelReason::UserRequest, "before"));
    ASSERT_TRUE(scheduler().spawn(*coroutine).ok());
    EXPECT_THROW(await(*coroutine), Cancellation);
    EXPECT_FALSE(has_run);
}

CORO_TEST(CoroutineCancel, OneThatIsAboutToStartIsNotStarted) {
    bool has_run = false;
    auto child = spawn([&] { has_run = true; });
    add_microtask([&] { child.cancel(); });  // runs in the very wait that is to start the child
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_FALSE(has_run);
    EXPECT_FALSE(child.coroutine().is_started());
}

CORO_TEST(CoroutineCancel, WhileQueuedItKeepsItsPlace) {
    std::string trace;
    const auto body = [&](const char* name) {
        return [&trace, name] {
            try {
                suspend();
                trace += name;
            } catch (const Cancellation&) {
                trace += std::string(name) + "! ";
                throw;
            }
        };
    };
    auto a = spawn(body("a "));
    auto b = spawn(body("b "));
    auto c = spawn(body("c "));
    suspend();
    a.cancel();  // ready, at the head
    settle();
    EXPECT_EQ(trace, "a ! b c ");
}

CORO_TEST(CoroutineCancel, WhileWaitingItIsAppendedAtTheTail) {
    ManualEvent event;
    std::string trace;
    auto waiter = spawn([&] {
        try {
            await(event);
        } catch (const Cancellation&) {
            trace += "cancelled ";
            throw;
        }
    });
    suspend();
    auto a = spawn([&] { trace += "a "; });
    waiter.cancel();
    auto b = spawn([&] { trace += "b "; });
    settle();
    EXPECT_EQ(trace, "a cancelled b ");
    EXPECT_EQ(event.callback_count(), 0U);
}

CORO_TEST(CoroutineCancel, FiredButNotYetResumedIsCancelled) {
    ManualEvent event;
    auto waiter = spawn([&] { await(event); });
    suspend();
    event.notify();
    waiter.cancel();
    EXPECT_THROW(await(waiter), Cancellation);
}

CORO_TEST(CoroutineCancel, OfOneselfIsDeliveredAtTheNextSuspensionPoint) {
    std::string trace;
    auto child = spawn([&] {
        scheduler().cancel(current(), Error::cancellation(CancelReason::UserRequest, "self"));
        trace += "goes on ";
        try {
            suspend();
        } catch (const Cancellation& cancellation) {
            trace += cancellation.message();
            throw;
        }
    });
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "goes on self");
}

CORO_TEST(CoroutineCancel, OfOneselfWithoutSuspendingDropsTheResult) {
    auto child = spawn([] {
        scheduler().cancel(current(), {});
        return 5;
    });
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_TRUE(child.is_cancelled());
    void* result = &child;
    EXPECT_TRUE(child.coroutine().replay(nullptr, &result, nullptr));
    EXPECT_EQ(result, nullptr);
}

CORO_TEST(CoroutineCancel, PendingOneDoesNotSwallowAnException) {
    auto child = spawn([] {
        scheduler().cancel(current(), {});
        throw std::runtime_error("real trouble");
    });
    EXPECT_THROW(await(child), std::runtime_error)
        << "an error was lost behind a cancellation that was never delivered";
}

CORO_TEST(CoroutineCancel, EverySuspensionPointDelivers) {
    ManualEvent event;
    auto finished = spawn([] {});
    await(finished);
    const std::function<void()> points[] = {
        [] { suspend(); },         [] { sleep_for(1ms); },       [] { sleep_for(0ms); }, [&] { await(event); },
        [&] { await(event, 1s); }, [&] { await(spawn([] {})); }, [] { protect([] {}); },
    };
    for (const auto& point : points) {
        auto pending = spawn([&] {  // cancelled before it gets there
            scheduler().cancel(current(), {});
            point();
            ADD_FAILURE();
        });
        EXPECT_THROW(await(pending), Cancellation);
        EXPECT_EQ(event.callback_count(), 0U);
        EXPECT_EQ(clock().timer_count(), 0U);
    }
    settle();
}

CORO_TEST(CoroutineCancel, SecondRequestWhilePendingHasNoEffect) {
    ManualEvent event;
    int deliveries = 0;
    auto child = spawn([&] {
        for (int i = 0; i < 2; ++i) {
            try {
                await(event);
            } catch (const Cancellation& cancellation) {
                EXPECT_EQ(cancellation.message(), "one");
                ++deliveries;
            }
        }
    });
    suspend();
    child.cancel("one");
    child.cancel("two");
    settle();
    EXPECT_EQ(deliveries, 1);
    EXPECT_EQ(event.callback_count(), 1U);  // it waits again
    event.notify();
    await(child);
}

CORO_TEST(CoroutineCancel, RequestAfterDeliveryIsDeliveredAgain) {
    ManualEvent event;
    std::string trace;
    auto child = spawn([&] {
        for (int i = 0; i < 2; ++i) {
            try {
                await(event);
            } catch (const Cancellation& cancellation) {
                trace += cancellation.message() + " ";
            }
        }
    });
    suspend();
    child.cancel("one");
    suspend();
    child.cancel("two");
    await(child);
    EXPECT_EQ(trace, "one two ");
}

CORO_TEST(CoroutineCancel, AfterTheEndHasNoEffect) {
    auto child = spawn([] { return 1; });
    EXPECT_EQ(await(child), 1);
    child.cancel();
    EXPECT_EQ(await(child), 1);
    EXPECT_FALSE(child.is_cancelled());
    EXPECT_FALSE(child.coroutine().is_cancel_requested());
}

CORO_TEST(CoroutineCancel, OneThatCatchesItAndReturnsDeliversItsValue) {
    auto child = spawn([] {
        try {
            sleep_for(1h);
        } catch (const Cancellation&) {
            return 11;
        }
        return 0;
    });
    suspend();
    child.cancel();
    EXPECT_EQ(await(child), 11);
    EXPECT_FALSE(child.is_cancelled());
    EXPECT_TRUE(child.coroutine().is_cancel_requested());
}

CORO_TEST(CoroutineCancel, CatchOfStdExceptionDoesNotSwallowIt) {
    auto child = spawn([] {
        try {
            sleep_for(1h);
        } catch (const std::exception&) {
            ADD_FAILURE();
        }
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
}

CORO_TEST(CoroutineCancel, OfAnAwaiterDoesNotCancelWhatItAwaits) {
    ManualEvent gate;
    auto child = spawn([&] {
        await(gate);
        return 3;
    });
    auto awaiter = spawn([&] { return await(child); });
    settle(2);
    awaiter.cancel();
    EXPECT_THROW(await(awaiter), Cancellation);
    EXPECT_EQ(child.coroutine().callback_count(), 0U);
    gate.notify();
    EXPECT_EQ(await(child), 3);
}

CORO_TEST(CoroutineCancel, CleanUpMaySuspend) {
    std::string trace;
    auto child = spawn([&] {
        try {
            sleep_for(1h);
        } catch (...) {
            trace += "cleaning ";
            sleep_for(5ms);  // the one request was delivered: this works
            trace += "cleaned";
            throw;
        }
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "cleaning cleaned");
}

CORO_TEST(CoroutineCancel, OfMainIsDeliveredLikeAnyOther) {
    spawn([] { scheduler().cancel(scheduler().main(), Error::cancellation(CancelReason::UserRequest, "main")); });
    try {
        sleep_for(1h);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "main");
    }
    suspend();
}

// --- protect

CORO_TEST(ProtectGuard, DefersACancellationToItsEnd) {
    std::string trace;
    auto child = spawn([&] {
        try {
            protect([&] {
                EXPECT_TRUE(current().is_protected());
                sleep_for(10ms);
                trace += "whole ";
                suspend();
            });
            trace += "never ";
        } catch (const Cancellation& cancellation) {
            trace += cancellation.message();
            EXPECT_FALSE(current().is_protected());
            throw;
        }
    });
    suspend();
    child.cancel("deferred");
    EXPECT_TRUE(child.coroutine().is_cancel_requested());
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "whole deferred");
}

CORO_TEST(ProtectGuard, HoldsBackWhatWasRequestedBefore) {
    std::string trace;
    auto child = spawn([&] {
        scheduler().cancel(current(), Error::cancellation(CancelReason::UserRequest, "before"));
        try {
            protect([&] {
                suspend();
                sleep_for(1ms);
                trace += "whole ";
            });
        } catch (const Cancellation& cancellation) {
            trace += cancellation.message();
            throw;
        }
    });
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "whole before");
}

CORO_TEST(ProtectGuard, ReturnsWhatTheFunctionReturns) {
    EXPECT_EQ(protect([] { return 4; }), 4);
    protect([] {});
    EXPECT_FALSE(current().is_protected());
}

CORO_TEST(ProtectGuard, OnlyTheOutermostSectionDelivers) {
    std::string trace;
    auto child = spawn([&] {
        protect([&] {
            protect([&] {
                suspend();
                trace += "inner ";
            });
            suspend();
            trace += "outer ";
        });
        trace += "never ";
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "inner outer ");
}

CORO_TEST(ProtectGuard, ExceptionLeavesTheSectionAndTheCancellationFollows) {
    std::string trace;
    auto child = spawn([&] {
        try {
            protect([&] {
                suspend();
                throw std::runtime_error("inside");
            });
        } catch (const std::runtime_error&) {
            trace += "error ";
        }
        EXPECT_FALSE(current().is_protected());
        suspend();
        trace += "never";
    });
    suspend();
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(trace, "error ");
}

CORO_TEST(ProtectGuard, SecondRequestInsideHasNoEffect) {
    auto child = spawn([] { protect([] { sleep_for(5ms); }); });
    suspend();
    child.cancel("one");
    child.cancel("two");
    try {
        await(child);
        FAIL();
    } catch (const Cancellation& cancellation) {
        EXPECT_EQ(cancellation.message(), "one");
    }
}

CORO_TEST(ProtectGuard, SectionsOfOthersDoNotMatter) {
    ManualEvent gate;
    auto guarded = spawn([&] { protect([&] { await(gate); }); });
    auto plain = spawn([&] { await(gate); });
    suspend();
    guarded.cancel();
    plain.cancel();
    EXPECT_THROW(await(plain), Cancellation);
    EXPECT_FALSE(guarded.is_finished());
    gate.notify();
    EXPECT_THROW(await(guarded), Cancellation);
}

CORO_TEST(ProtectGuard, TokensAndDeadlinesWorkInside) {
    ManualEvent event;
    protect([&] { EXPECT_THROW(await(event, 1ms), TimeoutError); });
    auto token = spawn([] {});
    protect([&] { EXPECT_THROW(await(event, token), Cancellation); });
}

TEST(ProtectGuardOutside, DoesNothing) {
    ProtectGuard guard;
    EXPECT_EQ(guard.leave(), WaitResult::Ready);
}

// --- at every suspension point

/// Everything a coroutine can wait for, shared by the workers of one program.
class Playground {
public:
    explicit Playground(unsigned seed) : random_(seed) {}

    unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }

    /// One suspension point of the kind `which`, or several. Throws `Cancellation` like any other.
    void suspend_somehow(unsigned which) {
        switch (which) {
            case 0:
                suspend();
                break;
            case 1:
                sleep_for(std::chrono::microseconds(pick(50)));
                break;
            case 2:
                try {
                    await(event_, std::chrono::microseconds(1 + pick(50)));
                } catch (const TimeoutError&) {}
                break;
            case 3:
                await(spawn([this] { return pick(2); }));
                break;
            case 4:
                await(spawn([this] { suspend_somehow(pick(3)); }));
                break;
            case 5:
                protect([this] {
                    suspend();
                    sleep_for(std::chrono::microseconds(pick(20)));
                });
                break;
            case 6: {
                DirectWait wait(event_);
                waiters_.push_back(wait);
                const WaitResult result = wait.park(Deadline::after(std::chrono::microseconds(1 + pick(50))));
                if (result == WaitResult::Cancelled) {
                    if (wait.is_woken()) {
                        wake_one();
                    }
                    throw Cancellation(Scheduler::take_wait_error());
                }
                break;
            }
            case 7: {
                const auto timer =
                    TimerEvent::create(Scheduler::current()->reactor(), std::chrono::microseconds(pick(30)));
                WaitGuard guard;
                guard.add(*timer);
                guard.add(event_);
                detail::check(guard.park());
                break;
            }
            case 8:
                event_.notify();
                wake_one();
                suspend();
                break;
            default:
                try {
                    suspend();
                } catch (...) {
                    suspend();  // inside a handler
                    throw;
                }
        }
    }
    static constexpr unsigned kKinds = 10;

    void wake_one() {
        if (DirectWait* wait = waiters_.pop_front()) {
            wait->wake();
        }
    }

    void expect_nothing_left(std::size_t base_stacks) const {
        EXPECT_EQ(event_.callback_count(), 0U);
        EXPECT_TRUE(waiters_.empty());
        EXPECT_EQ(Scheduler::current()->alive_count(), 1U);
        EXPECT_EQ(Scheduler::current()->stacks().stats().live, base_stacks);
        EXPECT_TRUE(detail::hot.queue.empty());
        expect_clean(current());
    }

private:
    std::mt19937 random_;
    ManualEvent event_;
    IntrusiveList<DirectWait> waiters_;
};

CORO_TEST(CancelEverywhere, EachSuspensionPointOfEachKind) {
    const std::size_t base = live_stacks();
    for (unsigned kind = 0; kind < Playground::kKinds; ++kind) {
        for (int point = 0; point < 8; ++point) {  // cancelled after so many turns of main
            SCOPED_TRACE("kind " + std::to_string(kind) + ", cancelled after " + std::to_string(point) + " turns");
            Playground playground(kind * 100 + static_cast<unsigned>(point));
            int entered = 0;
            int left = 0;
            struct Count {
                int& count;
                ~Count() { ++count; }
            };
            auto worker = spawn([&] {
                ++entered;
                const Count count{left};
                playground.suspend_somehow(kind);
                playground.suspend_somehow(kind);
            });
            settle(point);
            worker.cancel();
            try {
                await(worker);
            } catch (const Cancellation&) {}
            EXPECT_EQ(entered, left);
            sleep_for(1s);  // children of the worker
            playground.expect_nothing_left(base);
            if (HasFailure()) {
                return;
            }
        }
    }
}

/// A program of several coroutines, one of which is cancelled at each step.
void cancel_at_random(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Playground playground(seed);
    const std::size_t base = Scheduler::current()->stacks().stats().live;
    constexpr std::size_t kWorkers = 8;
    std::size_t begun = 0;
    std::size_t ended = 0;
    const auto work = [&] {
        ++begun;
        try {
            for (int i = 0; i < 20; ++i) {
                if (playground.pick(10) == 0) {
                    Scheduler::current()->cancel(current(), {});
                }
                try {
                    playground.suspend_somehow(playground.pick(Playground::kKinds));
                } catch (const Cancellation&) {
                    if (playground.pick(4) != 0) {
                        throw;
                    }  // else goes on as if nothing had happened
                }
            }
        } catch (...) {
            ++ended;
            throw;
        }
        ++ended;
    };
    std::vector<Handle<void>> workers(kWorkers);
    for (auto& worker : workers) {
        worker = spawn(work);
    }
    for (int step = 0; step < 300; ++step) {
        auto& worker = workers[playground.pick(kWorkers)];
        worker.cancel();
        if (worker.is_finished() || playground.pick(5) == 0) {
            worker = spawn(work);  // the old one goes on without a handle
        }
        switch (playground.pick(3)) {
            case 0:
                suspend();
                break;
            case 1:
                sleep_for(std::chrono::microseconds(playground.pick(40)));
                break;
            default:
                playground.wake_one();
        }
    }
    workers.clear();
    sleep_for(std::chrono::seconds(10));
    EXPECT_EQ(begun, ended);
    playground.expect_nothing_left(base);
}

CORO_TEST(CancelEverywhere, AtRandom) {
    const char* given = std::getenv("TRUEASYNC_SEED");
    const unsigned first = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20240601U;
    std::printf("seeds from %u; set TRUEASYNC_SEED to begin elsewhere\n", first);
    for (unsigned seed = first; seed < first + 30 && !HasFailure(); ++seed) {
        cancel_at_random(seed);
    }
    EXPECT_TRUE(sink.unhandled.empty());
    EXPECT_TRUE(sink.warnings.empty());
    EXPECT_TRUE(sink.deadlocks.empty());
}

}  // namespace
}  // namespace trueasync::testing
