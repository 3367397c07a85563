#include <trueasync/reactor/poll.hpp>

#include <cerrno>
#include <random>
#include <support/descriptors.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

using Polls = BackendTest;
ON_BOTH_BACKENDS(Polls);

constexpr PollMask R = PollMask::Readable;
constexpr PollMask W = PollMask::Writable;
constexpr PollMask D = PollMask::Disconnect;
constexpr PollMask P = PollMask::Priority;

/// Counts and remembers; lies on the test's stack.
class Listener final : public Callback {
public:
    explicit Listener(std::function<void()> action = [] {}) : action_(std::move(action)) {}
    void call(Event& /*event*/, void* result, Error* error) override {
        ++calls;
        last = result != nullptr ? *static_cast<PollMask*>(result) : PollMask::None;
        failure = SystemError::number_of(error);
        action_();
    }
    int calls = 0;
    PollMask last = PollMask::None;
    int failure = 0;

private:
    void destroy() noexcept override {}
    std::function<void()> action_;
};

/// `wait_ready` as a front door would have it.
void ready(IoReactor& reactor, int fd, PollMask mask, Deadline deadline = Deadline::never()) {
    detail::check(wait_ready(reactor, fd, mask, deadline));
}

void turn(Reactor& reactor, int times = 1) {
    for (int i = 0; i < times; ++i) {
        ASSERT_TRUE(reactor.execute(true));
    }
}

/// An event with a listener, in a loop without a runtime.
struct Listening {
    Listening(
        Ref<PollEvent> poll_, std::function<void()> action = [] {}
    )
        : listener(std::move(action)), poll(std::move(poll_)) {
        EXPECT_TRUE(poll->add_callback(listener));
        EXPECT_TRUE(poll->start());
    }
    ~Listening() { leave(); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    void leave() {
        if (poll != nullptr) {
            poll->del_callback(listener);
            poll.reset();
        }
    }
    Listener listener;
    Ref<PollEvent> poll;
};

// --- waiting for one descriptor

TEST_P(Polls, AwaitSuspendsUntilThereIsSomethingToRead) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        std::string order;
        auto writer = spawn([&, fd = *out] {
            order += "w";
            put(fd, "hello");
        });
        /// [await_poll]
        auto poll = PollEvent::create(reactor, *in, PollMask::Readable);
        await(poll);  // the other coroutines run meanwhile
        EXPECT_EQ(poll->triggered_events(), PollMask::Readable);
        /// [await_poll]
        EXPECT_EQ(order, "w");
        EXPECT_EQ(take(*in), "hello");
        EXPECT_EQ(poll->state(), EventState::Stopped);
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

TEST_P(Polls, ReadyBeforeTheWait) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        put(*out);
        for (int i = 0; i < 3; ++i) {  // the byte stays there
            await(PollEvent::create(reactor, *in, R));
        }
        auto kept = PollEvent::create(reactor, *in, R);
        for (int i = 0; i < 3; ++i) {
            await(kept);
        }
        EXPECT_EQ(take(*in), "x");
        EXPECT_EQ(code_of([&] { await(kept, 1ms); }), ErrorCode::Timeout);
    });
}

TEST_P(Polls, PartlyReadStaysReady) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        put(*other, "abc");
        auto poll = PollEvent::create(reactor, *one, R);
        ASSERT_TRUE(poll->start());  // stays in the loop between the waits
        std::string read;
        for (int i = 0; i < 3; ++i) {
            await(poll);
            char byte = 0;
            ASSERT_EQ(::read(*one, &byte, 1), 1);
            read += byte;
        }
        EXPECT_EQ(read, "abc");
        EXPECT_EQ(code_of([&] { await(poll, 1ms); }), ErrorCode::Timeout);
        put(*other, "d");
        await(poll);
        ASSERT_TRUE(poll->stop());
    });
}

TEST_P(Polls, FullBufferIsWrittenWhenThereIsRoom) {
    in_runtime([](IoReactor& reactor) {
        for (auto* make : {+[] { return make_pipe(); }, +[] { return make_socketpair(); }, &make_tcp_pair}) {
            const FdPair pair = make();
            const int from = *pair.first;
            const int to = *pair.second;
            auto poll = PollEvent::create(reactor, to, W);
            await(poll);
            const std::size_t size = fill(to);
            EXPECT_EQ(code_of([&] { await(poll, 1ms); }), ErrorCode::Timeout);
            std::size_t got = 0;
            auto reader = spawn([&] {
                while (got < size) {
                    await(PollEvent::create(reactor, from, R));
                    got += take(from).size();
                }
            });
            await(poll);
            EXPECT_EQ(poll->triggered_events(), W);
            await(reader);
            EXPECT_EQ(got, size);
        }
    });
}

TEST_P(Polls, EndOfThePeerIsReadableAndADisconnect) {
    in_runtime([](IoReactor& reactor) {
        for (auto* make : {+[] { return make_socketpair(); }, &make_tcp_pair}) {
            const FdPair pair = make();
            auto readable = PollEvent::create(reactor, *pair.first, R);
            auto gone = PollEvent::create(reactor, *pair.first, D);
            auto waiter = spawn([&] { await(gone); });
            settle();
            EXPECT_FALSE(waiter.is_finished());
            ASSERT_EQ(::shutdown(*pair.second, SHUT_WR), 0);
            await(waiter);
            EXPECT_EQ(gone->triggered_events(), D);
            await(readable);
            char byte = 0;
            EXPECT_EQ(::read(*pair.first, &byte, 1), 0);
            await(gone);  // it stays so
        }
    });
}

TEST_P(Polls, BrokenPipeIsWritable) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        fill(*out);
        auto poll = PollEvent::create(reactor, *out, W);
        auto gone = PollEvent::create(reactor, *out, D);
        auto waiter = spawn([&] { await(poll); });
        auto another = spawn([&] { await(gone); });
        settle();
        in.close();
        await(waiter);
        await(another);
        for (int i = 0; i < 3; ++i) {  // it stays so, for who comes at once and for who comes later
            await(poll);
            await(gone);
            sleep_for(10us);
        }
    });
}

TEST_P(Polls, ResetOfThePeerWakesBothWays) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_tcp_pair();
        fill(*one);
        auto read = spawn([&, fd = *one] { await(PollEvent::create(reactor, fd, R)); });
        auto write = spawn([&, fd = *one] { await(PollEvent::create(reactor, fd, W)); });
        settle();
        const linger hard{1, 0};
        ASSERT_EQ(::setsockopt(*other, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)), 0);
        other.close();
        await(read);
        await(write);
    });
}

TEST_P(Polls, UrgentDataIsPriority) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_tcp_pair();
        auto poll = PollEvent::create(reactor, *one, P);
        auto waiter = spawn([&] { await(poll); });
        settle();
        put(*other, "plain");
        settle();
        EXPECT_FALSE(waiter.is_finished());
        ASSERT_EQ(::send(*other, "!", 1, MSG_OOB), 1);
        await(waiter);
        EXPECT_EQ(poll->triggered_events(), P);
    });
}

TEST_P(Polls, RegularFilesAreAlwaysReady) {
    in_runtime([](IoReactor& reactor) {
        const Fd file = make_file();
        const Fd null(::open("/dev/null", O_RDWR));
        for (const int fd : {*file, *null}) {
            auto poll = PollEvent::create(reactor, fd, R | W);
            for (int i = 0; i < 3; ++i) {
                await(poll);
                EXPECT_EQ(poll->triggered_events(), R | W);
            }
            EXPECT_EQ(wait_ready(reactor, fd, R), WaitResult::Ready);
            reactor.mark_drained(fd, R);
            EXPECT_EQ(wait_ready(reactor, fd, R), WaitResult::Ready);
        }
    });
}

TEST_P(Polls, TerminalsBothWays) {
    in_runtime([](IoReactor& reactor) {
        auto [master, slave] = make_pty();
        if (*slave < 0) {
            GTEST_SKIP() << "no terminal to be had";
        }
        auto poll = PollEvent::create(reactor, *slave, R);
        auto waiter = spawn([&] { await(poll); });
        settle();
        put(*master, "line\n");
        await(waiter);
        EXPECT_EQ(take(*slave), "line\n");
        await(PollEvent::create(reactor, *master, R));  // the echo
        take(*master);
        auto gone = spawn([&, fd = *master] { await(PollEvent::create(reactor, fd, R)); });
        settle();
        slave.close();
        await(gone);
    });
}

TEST_P(Polls, FlagsOfTheDescriptorStayAsTheyAre) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        for (const int flags : {0, O_NONBLOCK}) {
            ASSERT_EQ(fcntl(*in, F_SETFL, flags), 0);
            put(*out);
            await(PollEvent::create(reactor, *in, R));
            EXPECT_EQ(fcntl(*in, F_GETFL) & O_NONBLOCK, flags);
        }
    });
}

// --- states

TEST_P(Polls, LifeOfAPoll) {
    auto reactor = make();
    auto [in, out] = make_pipe();
    auto poll = PollEvent::create(*reactor, *in, R);
    EXPECT_EQ(poll->type(), EventType::Poll);
    EXPECT_EQ(poll->info(), "Poll(fd=" + std::to_string(*in) + ", READABLE)");
    EXPECT_EQ(poll->state(), EventState::Created);
    EXPECT_EQ(poll->descriptor(), *in);
    EXPECT_EQ(poll->triggered_events(), PollMask::None);
    Listener listener;
    ASSERT_TRUE(poll->add_callback(listener));
    ASSERT_TRUE(poll->start());
    ASSERT_TRUE(poll->start());
    EXPECT_EQ(poll->state(), EventState::Active);
    EXPECT_EQ(reactor->active().visible, 1U);
    EXPECT_TRUE(reactor->is_alive());
    turn(*reactor, 3);
    EXPECT_EQ(listener.calls, 0);
    put(*out);
    turn(*reactor);
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(listener.last, R);
    EXPECT_EQ(poll->state(), EventState::Active);
    turn(*reactor);
    EXPECT_EQ(listener.calls, 2) << "still readable: level-triggered";
    ASSERT_TRUE(poll->stop());
    turn(*reactor);
    EXPECT_EQ(listener.calls, 3);
    ASSERT_TRUE(poll->stop());
    EXPECT_EQ(poll->state(), EventState::Stopped);
    EXPECT_EQ(reactor->active().visible, 0U);
    turn(*reactor, 3);
    EXPECT_EQ(listener.calls, 3);
    ASSERT_TRUE(poll->start());
    turn(*reactor);
    EXPECT_EQ(listener.calls, 4);
    poll->close();
    turn(*reactor, 2);
    EXPECT_EQ(listener.calls, 4);
    EXPECT_FALSE(reactor->is_alive());
    EXPECT_TRUE(poll->start().is(ErrorCode::EventClosed));
}

TEST_P(Polls, HiddenOneKeepsNothingAlive) {
    auto [in, out] = make_pipe();
    EXPECT_THROW(
        in_runtime([fd = *in](IoReactor& reactor) {
            auto poll = PollEvent::create(reactor, fd, R);
            poll->set_hidden(true);
            await(poll);
        }),
        DeadlockError
    );
    Ref<PollEvent> poll;
    in_runtime([&, fd = *in](IoReactor& reactor) {
        poll = PollEvent::create(reactor, fd, R);
        poll->set_hidden(true);
        ASSERT_TRUE(poll->start());
        EXPECT_EQ(reactor.active().visible, 0U);
        EXPECT_EQ(reactor.active().hidden, 1U);
    });
}

TEST_P(Polls, OutlivesItsReactor) {
    auto [in, out] = make_pipe();
    Ref<PollEvent> poll;
    Ref<PollProxyEvent> proxy;
    in_runtime([&, fd = *in](IoReactor& reactor) {
        poll = PollEvent::create(reactor, fd, R);
        proxy = PollProxyEvent::create(*poll, R);
        poll->set_hidden(true);
        ASSERT_TRUE(poll->start());
    });
    EXPECT_NE(poll->start().error()->message().find("the runtime has ended"), std::string::npos);
    EXPECT_NE(proxy->start().error()->message().find("the runtime has ended"), std::string::npos);
    auto late = PollProxyEvent::create(*poll, R);
    EXPECT_NE(late->start().error()->message().find("the runtime has ended"), std::string::npos);
}

TEST_P(Polls, RefusesNothingAndNoDescriptor) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        EXPECT_TRUE(PollEvent::create(reactor, *in, PollMask::None)->start().is(ErrorCode::IllegalState));
        for (const int fd : {-1, 9999, 1'000'000}) {
            const Status status = PollEvent::create(reactor, fd, R | W)->start();
            ASSERT_FALSE(status.ok());
            EXPECT_EQ(SystemError::number_of(status.error()), EBADF);
            EXPECT_EQ(
                status.error()->message(),
                "poll fd " + std::to_string(fd) + " for READABLE|WRITABLE: EBADF (bad file descriptor)"
            );
            EXPECT_EQ(wait_ready(reactor, fd, R), WaitResult::Failed);
            EXPECT_EQ(SystemError::number_of(Scheduler::take_wait_error().get()), EBADF);
            EXPECT_EQ(reactor.find(fd), nullptr) << "a wrong number costs no memory";
        }
        EXPECT_EQ(reactor.active().visible, 0U);
    });
    VirtualReactor reactor;
    EXPECT_TRUE(PollEvent::create(reactor, 0, R)->start().is(ErrorCode::IllegalState));
}

TEST_P(Polls, DroppedInItsOwnCallback) {
    auto reactor = make();
    auto [in, out] = make_pipe();
    put(*out);
    Listening one(PollEvent::create(*reactor, *in, R), [&] { one.poll.reset(); });
    Listening other(PollEvent::create(*reactor, *in, R));
    turn(*reactor);
    EXPECT_EQ(one.listener.calls, 1);
    EXPECT_EQ(other.listener.calls, 1);
    EXPECT_EQ(reactor->active().visible, 1U);
}

TEST_P(Polls, StartedForNobodyDoesNotTurnTheLoop) {
    auto reactor = make();
    auto [in, out] = make_pipe();
    put(*out);
    auto poll = PollEvent::create(*reactor, *in, R);
    ASSERT_TRUE(poll->start());
    turn(*reactor, 3);
    EXPECT_EQ(poll->triggered_events(), R);
    const std::uint64_t reports = reactor->io()->io_stats().reports;
    turn(*reactor, 5);
    EXPECT_EQ(reactor->io()->io_stats().reports, reports);
    Listener listener;
    ASSERT_TRUE(poll->add_callback(listener));
    turn(*reactor, 2);
    EXPECT_GE(listener.calls, 1);
    poll->del_callback(listener);
}

TEST_P(Polls, OwnsItsDescriptorIfToldSo) {
    auto reactor = make();
    auto [in, out] = make_pipe();
    auto owner = PollEvent::create(*reactor, *in, R);
    Listening other(PollEvent::create(*reactor, *in, R));
    owner->mark_close_descriptor();
    const int number = in.release();
    owner.reset();
    EXPECT_EQ(other.listener.failure, EBADF);
    EXPECT_TRUE(other.poll->is_closed());
    EXPECT_EQ(fcntl(number, F_GETFD), -1) << "it is closed";
}

// --- several on one descriptor

TEST_P(Polls, ProxiesAreToldOnlyWhatTheyWant) {
    auto reactor = make();
    auto [one, other] = make_socketpair();
    fill(*one);
    auto poll = PollEvent::create(*reactor, *one, R | W | D);
    Listening reader(PollProxyEvent::create(*poll, R));
    Listening writer(PollProxyEvent::create(*poll, W));
    Listening watcher(PollProxyEvent::create(*poll, D));
    EXPECT_EQ(reader.poll->type(), EventType::PollProxy);
    EXPECT_EQ(reader.poll->info(), "PollProxy(fd=" + std::to_string(*one) + ", READABLE)");
    turn(*reactor, 3);
    EXPECT_EQ(reader.listener.calls + writer.listener.calls + watcher.listener.calls, 0);

    put(*other);
    turn(*reactor);
    EXPECT_EQ(reader.listener.calls, 1);
    EXPECT_EQ(reader.poll->triggered_events(), R);
    EXPECT_EQ(poll->triggered_events(), R);
    EXPECT_EQ(writer.listener.calls + watcher.listener.calls, 0);
    EXPECT_EQ(writer.poll->triggered_events(), PollMask::None);

    take(*one);
    turn(*reactor, 3);
    const int before = reader.listener.calls;
    take(*other);
    turn(*reactor);
    EXPECT_EQ(writer.listener.calls, 1);
    EXPECT_EQ(writer.poll->triggered_events(), W);
    EXPECT_EQ(poll->triggered_events(), W);
    EXPECT_EQ(reader.listener.calls, before);
    EXPECT_EQ(watcher.listener.calls, 0);

    ASSERT_EQ(::shutdown(*other, SHUT_WR), 0);
    turn(*reactor);
    EXPECT_EQ(watcher.listener.calls, 1);
    EXPECT_EQ(watcher.poll->triggered_events(), D);
    EXPECT_EQ(reader.listener.calls, before + 1);
    EXPECT_EQ(poll->triggered_events(), R | W | D) << "all that its proxies were told in this turn";
    EXPECT_FALSE(poll->is_in_loop());
}

TEST_P(Polls, OneReadsWhileAnotherWrites) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        const int fd = *one;
        fill(fd);
        std::string order;
        /// [poll_proxy]
        auto poll = PollEvent::create(reactor, fd, PollMask::Readable | PollMask::Writable);
        auto reader = spawn([&] {
            await(PollProxyEvent::create(*poll, PollMask::Readable));
            order += "r";
        });
        auto writer = spawn([&] {
            await(PollProxyEvent::create(*poll, PollMask::Writable));
            order += "w";
        });
        /// [poll_proxy]
        settle();
        put(*other);
        await(reader);
        EXPECT_EQ(order, "r");
        take(*other);
        await(writer);
        EXPECT_EQ(order, "rw");
    });
}

TEST_P(Polls, ManyWaitersOneRegistration) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        auto poll = PollEvent::create(reactor, *in, R);
        std::vector<Handle<void>> waiters;
        for (int i = 0; i < 100; ++i) {
            waiters.push_back(spawn([&] { await(poll); }));
            waiters.push_back(spawn([&] { await(PollProxyEvent::create(*poll, R)); }));
            waiters.push_back(spawn([&, fd = *in] { ready(reactor, fd, R); }));
        }
        settle();
        for (std::size_t i = 0; i < waiters.size(); i += 7) {
            waiters[i].cancel();
        }
        settle();
        put(*out);
        std::size_t woken = 0;
        for (const auto& waiter : waiters) {
            try {
                await(waiter);
                ++woken;
            } catch (const Cancellation&) {}
        }
        EXPECT_EQ(woken, waiters.size() - (waiters.size() + 6) / 7);
        EXPECT_EQ(reactor.active().visible, 0U);
        EXPECT_TRUE(reactor.find(*in)->waits.empty());
        EXPECT_TRUE(reactor.find(*in)->watches.empty());
    });
}

TEST_P(Polls, ClosedPollRefusesItsProxies) {
    auto reactor = make();
    auto [in, out] = make_pipe();
    auto poll = PollEvent::create(*reactor, *in, R);
    auto proxy = PollProxyEvent::create(*poll, R);
    EXPECT_EQ(&proxy->poll(), poll.get());
    poll->close();
    EXPECT_EQ(
        proxy->start().error()->message(),
        "the poll of this proxy is closed: PollProxy(fd=" + std::to_string(*in) + ", READABLE)"
    );
}

// --- descriptors that go away

TEST_P(Polls, ClosingWakesEverybodyWithAnError) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        const int fd = *in;
        auto poll = PollEvent::create(reactor, fd, R);
        std::string message;
        auto first = spawn([&] {
            try {
                await(poll);
                ADD_FAILURE();
            } catch (const AsyncError& error) {
                message = error.what();
            }
        });
        auto second = spawn([&] { EXPECT_EQ(wait_ready(reactor, fd, R | D), WaitResult::Failed); });
        auto third =
            spawn([&] { EXPECT_EQ(code_of([&] { await(PollProxyEvent::create(*poll, R)); }), ErrorCode::System); });
        settle();
        reactor.descriptor_closing(fd);
        in.close();
        await(first);
        await(second);
        await(third);
        EXPECT_EQ(
            message,
            "poll fd " + std::to_string(fd) + " for READABLE, which was closed meanwhile: EBADF (bad file descriptor)"
        );
        EXPECT_TRUE(poll->is_closed());
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

TEST_P(Polls, ClosingInACallbackReachesThoseNotYetTold) {
    auto reactor = make();
    auto [in, out] = make_pipe();
    put(*out);
    Listening first(PollEvent::create(*reactor, *in, R), [&, fd = *in] {
        if (first.listener.calls == 1) {
            reactor->io()->descriptor_closing(fd);
        }
    });
    Listening second(PollEvent::create(*reactor, *in, R));
    turn(*reactor);
    EXPECT_EQ(first.listener.calls, 1) << "it is just being told";
    EXPECT_TRUE(first.poll->is_closed());
    EXPECT_EQ(second.listener.calls, 1);
    EXPECT_EQ(second.listener.failure, EBADF);
    EXPECT_EQ(reactor->active().visible, 0U);
}

TEST_P(Polls, NumberUsedAgainIsAnotherDescriptor) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        const int fd = *in;
        auto old = PollEvent::create(reactor, fd, R);
        put(*out);
        await(old);
        auto never_started = PollEvent::create(reactor, fd, R);
        reactor.descriptor_closing(fd);
        in.close();
        auto [one, other] = make_socketpair();
        ASSERT_EQ(::dup2(*one, fd), fd);
        Fd again(fd);
        const std::uint64_t controls = reactor.io_stats().controls;
        const Ref<PollEvent> late_proxy(PollProxyEvent::create(*old, R));  // means what its poll means
        for (const auto& stale : {old, never_started, late_proxy}) {
            const Status status = stale->start();
            ASSERT_FALSE(status.ok());
            EXPECT_EQ(SystemError::number_of(status.error()), EBADF);
            EXPECT_EQ(
                status.error()->message(), "poll fd " + std::to_string(fd) +
                                               " for READABLE, which was closed meanwhile: EBADF (bad file descriptor)"
            );
        }
        EXPECT_EQ(reactor.io_stats().controls, controls) << "the new file is left alone";
        auto fresh = PollEvent::create(reactor, fd, R);
        auto waiter = spawn([&] { await(fresh); });
        auto direct = spawn([&] { ready(reactor, fd, R); });
        settle();
        EXPECT_FALSE(waiter.is_finished()) << "what was known of the old one is forgotten";
        EXPECT_FALSE(direct.is_finished());
        put(*other);
        await(waiter);
        await(direct);
    });
}

TEST_P(Polls, NumberUsedAgainBehindOurBackIsNoticed) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        const int fd = *in;
        auto old = PollEvent::create(reactor, fd, R);
        put(*out);
        await(old);
        auto [one, other] = make_socketpair();
        ASSERT_EQ(::dup2(*one, fd), fd);  // closes the old one, and nobody tells
        auto fresh = PollEvent::create(reactor, fd, R);
        auto second = PollEvent::create(reactor, fd, R);
        auto waiter = spawn([&] { await(fresh); });
        auto another = spawn([&] { await(second); });
        settle();
        EXPECT_FALSE(waiter.is_finished());
        EXPECT_EQ(SystemError::number_of(old->start().error()), EBADF);
        put(*other);
        await(waiter);
        await(another);
    });
}

TEST_P(Polls, WaiterOfTheOldFileIsToldWhenTheNewOneIsWatched) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        const int fd = *in;
        auto old =
            spawn([&] { EXPECT_EQ(code_of([&] { await(PollEvent::create(reactor, fd, R)); }), ErrorCode::System); });
        settle();
        auto [one, other] = make_socketpair();
        ASSERT_EQ(::dup2(*one, fd), fd);
        put(*other);
        await(PollEvent::create(reactor, fd, R));
        await(old);
    });
}

TEST_P(Polls, OldFileThatIsStillOpenElsewhereIsNotHeard) {
    if (!is_best()) {
        GTEST_SKIP() << "libuv knows descriptors by their number alone";
    }
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        const int fd = *in;
        EXPECT_EQ(code_of([&] { await(PollEvent::create(reactor, fd, R), 1ms); }), ErrorCode::Timeout);
        const Fd elsewhere(::dup(fd));  // keeps the old file, and with it what the kernel knows of it
        auto [one, other] = make_socketpair();
        ASSERT_EQ(::dup2(*one, fd), fd);
        auto fresh = PollEvent::create(reactor, fd, R);
        auto waiter = spawn([&] { await(fresh); });
        auto direct = spawn([&] { ready(reactor, fd, R); });
        sleep_for(100us);
        put(*out);
        sleep_for(100us);
        EXPECT_FALSE(waiter.is_finished());
        EXPECT_FALSE(direct.is_finished());
        put(*other);
        await(waiter);
        await(direct);
    });
}

TEST_P(Polls, FileInPlaceOfASocketAndBack) {
    in_runtime([](IoReactor& reactor) {
        auto [one, other] = make_socketpair();
        const Fd file = make_file();
        const int fd = *one;
        put(*other);
        await(PollEvent::create(reactor, fd, R));
        const Fd spare(::dup(fd));
        ASSERT_EQ(::dup2(*file, fd), fd);
        await(PollEvent::create(reactor, fd, R | W));
        ASSERT_EQ(::dup2(*spare, fd), fd);
        take(fd);
        auto waiter = spawn([&] { await(PollEvent::create(reactor, fd, R)); });
        settle();
        EXPECT_FALSE(waiter.is_finished());
        put(*other);
        await(waiter);
    });
}

TEST_P(Polls, ClosedBehindOurBackBeforeTheLoopTurns) {
    in_runtime([](IoReactor& reactor) {
        auto [in, out] = make_pipe();
        auto poll = PollEvent::create(reactor, *in, R);
        ASSERT_TRUE(poll->start());
        in.close();  // libuv would end the process when it comes to it
        settle();
        if (!poll->is_closed()) {
            ASSERT_TRUE(poll->stop());
        }
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

// --- cancellation

TEST_P(Polls, RandomCancellationsLoseNothing) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([seed](IoReactor& reactor) {
        std::mt19937 random(seed);
        constexpr std::size_t kPairs = 8;
        constexpr int kBytes = 2000;
        std::vector<FdPair> pairs;
        for (std::size_t i = 0; i < kPairs; ++i) {
            pairs.push_back(make_socketpair());
        }
        std::size_t received = 0;
        const auto reader = [&](int fd, unsigned kind) {
            for (;;) {
                switch (kind++ % 3) {
                    case 0: {
                        await(PollEvent::create(reactor, fd, R));
                        break;
                    }
                    case 1: {
                        auto poll = PollEvent::create(reactor, fd, R | W);
                        await(PollProxyEvent::create(*poll, R));
                        break;
                    }
                    default:
                        reactor.mark_drained(fd, R);
                        received += take(fd).size();
                        ready(reactor, fd, R);
                }
                char byte = 0;
                received += ::read(fd, &byte, 1) == 1 ? 1 : 0;
            }
        };
        std::vector<Handle<void>> readers;
        for (unsigned i = 0; i < kPairs * 3; ++i) {
            readers.push_back(spawn([&, i] { reader(*pairs[i % kPairs].first, i); }));
        }
        for (int sent = 0; sent < kBytes; ++sent) {
            put(*pairs[random() % kPairs].second);
            if (random() % 3 == 0) {
                const auto index = random() % readers.size();
                readers[index].cancel();
                readers[index] = spawn([&, index] { reader(*pairs[index % kPairs].first, random()); });
            }
            if (random() % 2 == 0) {
                suspend();
            }
        }
        while (received < kBytes) {
            sleep_for(10us);
        }
        for (const auto& one : readers) {
            one.cancel();
        }
        settle();
        EXPECT_EQ(received, std::size_t{kBytes});
        EXPECT_EQ(reactor.active().visible, 0U);
        for (const FdPair& pair : pairs) {
            EXPECT_TRUE(reactor.find(*pair.first)->waits.empty());
            EXPECT_TRUE(reactor.find(*pair.first)->watches.empty());
        }
    });
}

}  // namespace
}  // namespace trueasync::testing
