#include <trueasync/reactor/io_reactor.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <support/allocation_counter.hpp>
#include <support/descriptors.hpp>
#include <support/forks.hpp>
#include <thread>
#include <trueasync/reactor/poll.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

using IoReactors = BackendTest;
ON_BOTH_BACKENDS(IoReactors);

constexpr PollMask R = PollMask::Readable;
constexpr PollMask W = PollMask::Writable;

void ready(IoReactor& reactor, int fd, PollMask mask, Deadline deadline = Deadline::never()) {
    detail::check(wait_ready(reactor, fd, mask, deadline));
}

/// Reads a whole message of known size, as a stream would.
std::string read_all(IoReactor& reactor, int fd, std::size_t size) {
    std::string message(size, '\0');
    for (std::size_t got = 0; got < size;) {
        const ssize_t count = ::read(fd, message.data() + got, size - got);
        if (count > 0) {
            got += static_cast<std::size_t>(count);
        } else if (count == 0) {
            message.resize(got);
            break;
        } else {
            EXPECT_EQ(errno, EAGAIN);
            reactor.mark_drained(fd, R);
            ready(reactor, fd, R);
        }
    }
    return message;
}

// --- wait_ready

TEST_P(IoReactors, WaitReadySuspendsUntilThereIsSomething) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        auto writer = spawn([fd = *out] { put(fd, "bytes"); });
        const int fd = *in;
        char buffer[16];
        /// [wait_ready]
        ssize_t count = ::read(fd, buffer, sizeof(buffer));
        while (count < 0 && errno == EAGAIN) {
            reactor.mark_drained(fd, PollMask::Readable);
            if (wait_ready(reactor, fd, PollMask::Readable) != WaitResult::Ready) {
                break;  // cancelled, or the descriptor was closed: `Scheduler::take_wait_error`
            }
            count = ::read(fd, buffer, sizeof(buffer));
        }
        /// [wait_ready]
        EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(count)), "bytes");
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

// --- deadlines that the descriptor keeps

constexpr std::chrono::milliseconds kNear{15};

TEST_P(IoReactors, FarDeadlinesAreMetAndNeverEarly) {
    in_runtime([](IoReactor& reactor) {
        reactor.set_far(kNear);
        auto [in, out] = make_pipe();
        const auto times_out = [&reactor, fd = *in](std::chrono::milliseconds delay) {
            const Instant begin = reactor.now();
            EXPECT_EQ(wait_ready(reactor, fd, R, reactor.fixed(Deadline::after(delay))), WaitResult::TimedOut);
            EXPECT_GE(reactor.now() - begin, delay);
        };
        auto later = spawn([&] { times_out(kNear * 3); });
        auto sooner = spawn([&] { times_out(kNear); });
        auto without = spawn([&, fd = *in] { EXPECT_EQ(wait_ready(reactor, fd, R), WaitResult::Ready); });
        await(sooner);
        EXPECT_EQ(later.coroutine().awaiting().size(), 2U);
        EXPECT_TRUE(later.coroutine().awaiting()[1].starts_with("Deadline(in "));
        await(later);
        EXPECT_EQ(without.coroutine().awaiting().size(), 1U);
        put(*out);
        await(without);
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

TEST_P(IoReactors, FarDeadlinesOfWaitsThatAreOverDisturbNobody) {
    in_runtime([](IoReactor& reactor) {
        reactor.set_far(kNear);
        auto [in, out] = make_pipe();
        auto writer = spawn([fd = *out] { put(fd); });
        const Deadline first = reactor.fixed(Deadline::after(kNear));
        EXPECT_EQ(wait_ready(reactor, *in, R, first), WaitResult::Ready);
        await(writer);
        take(*in);
        EXPECT_FALSE(reactor.is_alive());

        // The next one is still there when the first would have been over, and ends in time.
        reactor.mark_drained(*in, R);
        const Instant begin = reactor.now();
        EXPECT_EQ(wait_ready(reactor, *in, R, reactor.fixed(Deadline::after(kNear * 4))), WaitResult::TimedOut);
        EXPECT_GE(reactor.now() - begin, kNear * 4);

        // A number that is used again knows nothing of it.
        EXPECT_EQ(
            wait_ready(reactor, *in, R, reactor.fixed(Deadline::after(std::chrono::milliseconds(1)))),
            WaitResult::TimedOut
        );
        auto waiter = spawn([&reactor, fd = *in] {
            EXPECT_EQ(
                wait_ready(reactor, fd, R, reactor.fixed(Deadline::after(std::chrono::hours(1)))), WaitResult::Failed
            );
            Scheduler::take_wait_error();
        });
        suspend();
        reactor.descriptor_closing(*in);
        await(waiter);
        EXPECT_FALSE(reactor.is_alive());
    });
}

TEST_P(IoReactors, WaitReadyReturnsAtOnceWhileNobodyFoundItOver) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        put(*out);
        ready(reactor, *in, R);
        EXPECT_EQ(reactor.readiness(*in) & R, R);
        const auto before = Scheduler::current()->stats();
        for (int i = 0; i < 10; ++i) {
            ready(reactor, *in, R);
        }
        EXPECT_EQ(Scheduler::current()->stats().fast_returns, before.fast_returns + 10);
        EXPECT_EQ(Scheduler::current()->stats().switches, before.switches);
    });
}

TEST_P(IoReactors, WaitReadyKeepsItsDeadline) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        for (const Deadline deadline : {Deadline::after(2ms), Deadline::at(Instant{}), Deadline::at(Instant::min())}) {
            EXPECT_EQ(wait_ready(reactor, *in, R, deadline), WaitResult::TimedOut);
        }
        EXPECT_EQ(reactor.active().visible, 0U);
        EXPECT_TRUE(reactor.find(*in)->waits.empty());
        put(*out);
        ready(reactor, *in, R, Deadline::after(10s));
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

TEST_P(IoReactors, WaitReadyIsCancelled) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        WaitResult result = WaitResult::Ready;
        auto waiter = spawn([&, fd = *in] {
            result = wait_ready(reactor, fd, R);
            put(*out);
            settle();
        });
        settle();
        EXPECT_EQ(waiter.coroutine().awaiting(), std::vector{"Poll(fd=" + std::to_string(*in) + ", READABLE)"});
        waiter.cancel();
        await(waiter);
        EXPECT_EQ(result, WaitResult::Cancelled);
        EXPECT_TRUE(reactor.find(*in)->waits.empty());
    });
}

TEST_P(IoReactors, PendingCancellationIsDeliveredAlsoWhenReady) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        put(*out);
        ready(reactor, *in, R);
        auto endless = spawn([&, fd = *in] {
            for (;;) {
                Scheduler::current()->cancel(current(), {});
                ready(reactor, fd, R);
            }
        });
        EXPECT_THROW(await(endless), Cancellation);
    });
}

TEST_P(IoReactors, WaitReadyOutsideACoroutineIsRefused) {
    auto reactor = make();
    auto [in, out] = make_pipe();
    EXPECT_EQ(wait_ready(*reactor->io(), *in, R), WaitResult::Refused);
    EXPECT_TRUE(reactor->io()->find(*in)->waits.empty());
}

TEST_P(IoReactors, ShortReadDoesNotHideTheEnd) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_tcp_pair();
        put(*other, "last words");
        ASSERT_EQ(::shutdown(*other, SHUT_WR), 0);
        ready(reactor, *one, R);
        char buffer[64];
        ASSERT_EQ(::read(*one, buffer, sizeof(buffer)), 10);
        reactor.mark_short(*one, R);
        ready(reactor, *one, R, Deadline::after(5s));
        EXPECT_EQ(::read(*one, buffer, sizeof(buffer)), 0);
    });
}

TEST_P(IoReactors, ShortReadSavesTheNextAttempt) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        for (int i = 0; i < 5; ++i) {
            put(*other, "abc");
            ready(reactor, *one, R);
            char buffer[64];
            ASSERT_EQ(::read(*one, buffer, sizeof(buffer)), 3);
            reactor.mark_short(*one, R);
            EXPECT_FALSE(any(reactor.readiness(*one) & R));
        }
        EXPECT_EQ(wait_ready(reactor, *one, R, Deadline::after(1ms)), WaitResult::TimedOut);
    });
}

TEST_P(IoReactors, FifoThatIsOpenedAgainIsNotAtItsEnd) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("trueasync-fifo-" + std::to_string(getpid()))).string();
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    in_runtime([&path](IoReactor& reactor) {
        const Fd in(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
        Fd out(::open(path.c_str(), O_WRONLY | O_NONBLOCK));
        put(*out);
        ready(reactor, *in, R);
        EXPECT_EQ(take(*in), "x");
        out.close();  // hung up: an end that stays, unless somebody comes
        reactor.mark_short(*in, R);
        ready(reactor, *in, R);
        out = Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK));
        char byte = 0;
        ASSERT_EQ(::read(*in, &byte, 1), -1);
        reactor.mark_drained(*in, R);
        EXPECT_EQ(wait_ready(reactor, *in, R, Deadline::after(1ms)), WaitResult::TimedOut);
        put(*out);
        ready(reactor, *in, R);
    });
    ::unlink(path.c_str());
}

TEST_P(IoReactors, OnlyWhoWaitsForItIsWoken) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        fill(*one);
        auto reader = spawn([&, fd = *one] { ready(reactor, fd, R); });
        auto writer = spawn([&, fd = *one] { ready(reactor, fd, W); });
        sleep_for(100us);
        put(*other);
        await(reader);
        sleep_for(100us);
        EXPECT_FALSE(writer.is_finished());
        take(*other);
        await(writer);
    });
}

TEST_P(IoReactors, MuchDataBothWays) {
    in_runtime([](IoReactor& reactor) {
        constexpr std::size_t kSize = 3'000'000;
        for (auto* make_pair : {+[] { return make_socketpair(); }, &make_tcp_pair}) {
            const FdPair pair = make_pair();
            const auto send = [&reactor](int fd) {
                const std::string block(50'000, 's');
                for (std::size_t sent = 0; sent < kSize;) {
                    const std::size_t size = std::min(block.size(), kSize - sent);
                    const ssize_t count = ::send(fd, block.data(), size, MSG_NOSIGNAL);
                    if (count > 0) {
                        sent += static_cast<std::size_t>(count);
                    }
                    if (count < static_cast<ssize_t>(size)) {
                        count < 0 ? reactor.mark_drained(fd, W) : reactor.mark_short(fd, W);
                        ready(reactor, fd, W);
                    }
                }
            };
            auto first = spawn([&] { send(*pair.first); });
            auto second = spawn([&] { send(*pair.second); });
            auto third = spawn([&] { EXPECT_EQ(read_all(reactor, *pair.first, kSize).size(), kSize); });
            EXPECT_EQ(read_all(reactor, *pair.second, kSize).size(), kSize);
            await(first);
            await(second);
            await(third);
        }
    });
}

TEST_P(IoReactors, ManyDescriptorsAtOnce) {
    in_runtime([](IoReactor& reactor) {
        constexpr std::size_t kPairs = 400;  // more than one batch, more than one piece of the table
        std::vector<FdPair> pairs;
        std::vector<Handle<void>> readers;
        for (std::size_t i = 0; i < kPairs; ++i) {
            pairs.push_back(make_socketpair());
            readers.push_back(spawn([&reactor, fd = *pairs.back().first] { ready(reactor, fd, R); }));
        }
        settle();
        for (const FdPair& pair : pairs) {
            put(*pair.second);
        }
        for (const auto& reader : readers) {
            await(reader);
        }
    });
}

// --- counting

TEST_P(IoReactors, SleepsOnceForEachEvent) {
    in_runtime([this](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        auto echo = spawn([&, fd = *other] {
            while (read_all(reactor, fd, 1).size() == 1) {
                put(fd);
            }
        });
        const auto round = [&] {
            put(*one);
            read_all(reactor, *one, 1);
        };
        for (int i = 0; i < 10; ++i) {
            round();
        }
        const IoReactorStats before = reactor.io_stats();
        const std::uint64_t blocks = Scheduler::current()->stats().blocks;
        constexpr int kRounds = 200;
        for (int i = 0; i < kRounds; ++i) {
            round();
        }
        // Two events a round; a busy machine may add a few turns that do not block.
        EXPECT_LE(reactor.io_stats().sleeps - before.sleeps, 2U * kRounds);
        EXPECT_LE(Scheduler::current()->stats().blocks - blocks, 2U * kRounds);
        EXPECT_LE(reactor.io_stats().reports - before.reports, 2U * kRounds);
        if (is_best()) {
            EXPECT_EQ(reactor.io_stats().controls, before.controls) << "no change of a registration for a wait";
        }
        one.close();
        await(echo);
    });
}

TEST_P(IoReactors, BlockedLoopDoesNotTurn) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        ready(reactor, *out, W);
        auto hidden =
            PollEvent::create(reactor, *out, PollMask::Disconnect);  // another who waits, for what does not come
        hidden->set_hidden(true);
        ASSERT_TRUE(hidden->start());
        EXPECT_EQ(wait_ready(reactor, *in, R, Deadline::after(1ms)), WaitResult::TimedOut);
        sleep_for(100us);
        const IoReactorStats before = reactor.io_stats();
        std::thread late([fd = *out] {
            std::this_thread::sleep_for(20ms);  // long enough for a loop that turns by itself to be seen
            put(fd);
        });
        ready(reactor, *in, R);
        const std::uint64_t expected = 1 + reactor.io_stats().interruptions - before.interruptions;
        EXPECT_EQ(reactor.io_stats().turns - before.turns, expected);
        EXPECT_EQ(reactor.io_stats().sleeps - before.sleeps, expected);
        late.join();
    });
}

TEST_P(IoReactors, NobodyWaitingIsNotWokenAgainAndAgain) {
    if (!is_best()) {
        GTEST_SKIP() << "libuv is asked only while somebody waits";
    }
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        put(*other);
        ready(reactor, *one, R | W);  // registered for both from now on
        const auto turn = [&] {
            put(*other);
            sleep_for(100us);
        };
        for (int i = 0; i < 5; ++i) {
            turn();
        }
        const std::uint64_t reports = reactor.io_stats().reports;
        for (int i = 0; i < 5; ++i) {
            turn();
        }
        EXPECT_EQ(reactor.io_stats().reports, reports);
        reactor.mark_drained(*one, R);
        ready(reactor, *one, R);  // and it is asked for again
    });
}

TEST_P(IoReactors, RoomToWriteIsAskedForOnlyWhileSomebodyWants) {
    if (!is_best()) {
        GTEST_SKIP() << "libuv is asked only while somebody waits";
    }
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        const auto make_room = [&one = one, &other = other] {
            fill(*one);
            suspend();
            take(*other);
        };
        auto reader = spawn([&, fd = *one] { ready(reactor, fd, R); });
        fill(*one);
        auto writer = spawn([&, fd = *one] { ready(reactor, fd, W); });
        suspend();
        make_room();
        await(writer);
        EXPECT_EQ(reactor.find(*one)->registered, R | W);
        const std::uint64_t reports = reactor.io_stats().reports;
        make_room();  // comes as a report that nobody waits for: the last one
        while (reactor.io_stats().reports == reports) {
            sleep_for(10us);
        }
        EXPECT_EQ(reactor.find(*one)->registered, R);
        put(*other);
        await(reader);
    });
}

TEST_P(IoReactors, WaitingAllocatesNothing) {
    if (!is_best()) {
        GTEST_SKIP() << "libuv's handles are made for each wait";
    }
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has an operator new of its own";
    }
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        auto echo = spawn([&, fd = *other] {
            for (int i = 0; i < 101; ++i) {
                reactor.mark_drained(fd, R);
                ready(reactor, fd, R);
                char byte = 0;
                ASSERT_EQ(::read(fd, &byte, 1), 1);
                put(fd);
            }
        });
        const auto round = [&, fd = *one] {
            ASSERT_EQ(::write(fd, "x", 1), 1);
            reactor.mark_drained(fd, R);
            ready(reactor, fd, R);
            char byte = 0;
            ASSERT_EQ(::read(fd, &byte, 1), 1);
        };
        round();
        const AllocationCounter counter;
        for (int i = 0; i < 100; ++i) {
            round();
        }
        EXPECT_EQ(counter.count(), 0U);
        await(echo);
    });
}

TEST_P(IoReactors, SignalEndsASleepAndNothingElse) {
    auto reactor = make();
    struct sigaction action {};
    struct sigaction before {};
    static TriggerEvent* target = nullptr;
    action.sa_handler = [](int) { target->fire(); };
    ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
    auto trigger = TriggerEvent::create(*reactor);
    target = trigger.get();
    ASSERT_TRUE(trigger->start());
    itimerspec soon{};
    soon.it_value.tv_nsec = 2'000'000;
    timer_t timer{};
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    ASSERT_EQ(timer_settime(timer, 0, &soon, nullptr), 0);
    ASSERT_TRUE(reactor->execute(false));  // would sleep for ever
    if (is_best()) {                       // libuv alone goes on sleeping after a signal that fires nothing
        action.sa_handler = [](int) {};
        ASSERT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
        ASSERT_EQ(timer_settime(timer, 0, &soon, nullptr), 0);
        ASSERT_TRUE(reactor->execute(false));
    }
    timer_delete(timer);
    ASSERT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
}

// --- forks

TEST_P(IoReactors, ChildOfAForkHasAWorkingReactor) {
    SKIP_WHERE_FORKS_LOOK_LIKE_RACES();
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        auto [one, other] = make_socketpair();
        int woken = 0;
        auto waiter = spawn([&, fd = *one] {  // waits in the parent and in the child
            ready(reactor, fd, R);
            ++woken;
        });
        auto poller = spawn([&, fd = *one] {
            await(PollEvent::create(reactor, fd, R));
            ++woken;
        });
        auto trigger = TriggerEvent::create(reactor);
        sleep_for(10us);
        const int result = in_child([&, from = *in, to = *out, peer = *other] {
            auto writer = spawn([to] {
                sleep_for(1ms);
                put(to, "child");
            });
            if (read_all(reactor, from, 5) != "child") {
                return 1;
            }
            std::thread thread([&] {
                std::this_thread::sleep_for(3ms);  // the loop is asleep by then; if not, nothing is lost but the point
                trigger->fire();
            });
            await(trigger);
            thread.join();
            if (woken != 0) {
                return 2;
            }
            put(peer);
            await(waiter);
            await(poller);
            take(*one);
            return woken == 2 ? 0 : 3;
        });
        EXPECT_EQ(result, 0);
        sleep_for(1ms);
        EXPECT_EQ(woken, 0) << "the parent is not disturbed";
        put(*other);
        await(waiter);
        await(poller);
        auto writer = spawn([&] { put(*out, "parent"); });
        EXPECT_EQ(read_all(reactor, *in, 6), "parent");
        auto thread = std::thread([&] { trigger->fire(); });
        await(trigger);
        thread.join();
    });
}

TEST_P(IoReactors, ChildThatClosesEverythingDisturbsNobody) {
    SKIP_WHERE_FORKS_LOOK_LIKE_RACES();
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        auto waiter = spawn([&, fd = *one] { ready(reactor, fd, R); });
        sleep_for(10us);
        const int result = in_child([&, fd = *one] {
            reactor.descriptor_closing(fd);  // before any turn of the child's loop
            ::close(fd);
            try {
                await(waiter);
                return 1;
            } catch (const AsyncError&) {
                return 0;
            }
        });
        EXPECT_EQ(result, 0);
        put(*other);
        await(waiter);
    });
}

TEST_P(IoReactors, ChildWhoseDescriptorWasClosedUnseen) {
    SKIP_WHERE_FORKS_LOOK_LIKE_RACES();
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        auto waiter = spawn([&, fd = *one] { ready(reactor, fd, R); });
        sleep_for(10us);
        EXPECT_EQ(
            in_child([&, fd = *one] {
                ::close(fd);
                return code_of([&] { await(waiter); }) == ErrorCode::System ? 0 : 1;
            }),
            0
        );
        put(*other);
        await(waiter);
    });
}

TEST_P(IoReactors, GrandchildrenToo) {
    SKIP_WHERE_FORKS_LOOK_LIKE_RACES();
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        const std::function<int(int)> descend = [&](int depth) {
            put(*out);
            ready(reactor, *in, R);
            take(*in);
            reactor.mark_drained(*in, R);
            sleep_for(100us);
            return depth == 0 ? 0 : in_child([&] { return descend(depth - 1); });
        };
        EXPECT_EQ(descend(3), 0);
    });
}

}  // namespace
}  // namespace trueasync::testing
