#include <trueasync/reactor/dns.hpp>

#include <netdb.h>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <support/coro_test.hpp>
#include <support/descriptors.hpp>
#include <support/fake_resolver.hpp>
#include <support/threads.hpp>
#include <thread>
#include <trueasync/api/run_blocking.hpp>
#include <trueasync/reactor/uv_reactor.hpp>
#include <trueasync/reactor/work_lane.hpp>

namespace trueasync::testing {
namespace {

Ref<DnsAddrinfoEvent> ask(std::string host, std::string service = "", Duration timeout = {}) {
    return DnsAddrinfoEvent::create(
        Scheduler::current()->reactor(), {.host = std::move(host), .service = std::move(service)}, timeout
    );
}

Ref<DnsNameinfoEvent> ask_name(const SocketAddress& address, int flags = 0) {
    return DnsNameinfoEvent::create(Scheduler::current()->reactor(), address, flags);
}

std::string texts(const DnsAddrinfoEvent& event) {
    std::string all;
    for (const DnsAddress& found : event.addresses()) {
        all += (all.empty() ? "" : " ") + found.address.to_string();
    }
    return all;
}

std::string message_of(const DnsAddrinfoEvent& event) {
    return event.error() != nullptr ? event.error()->message() : "";
}

/// Gives the lane few threads while it lives.
class NarrowLane {
public:
    explicit NarrowLane(std::size_t threads, std::size_t queued = 16384) {
        WorkLane::dns().stop_threads(9s);
        WorkLane::dns().set_limits(threads, queued);
    }
    ~NarrowLane() { WorkLane::dns().set_limits(32, 16384); }
    NarrowLane(const NarrowLane&) = delete;
    NarrowLane& operator=(const NarrowLane&) = delete;
};

// --- names to addresses

CORO_TEST(DnsAddrinfo, FiresWithTheAddresses) {
    FakeResolver resolver;
    Reactor& reactor = scheduler().reactor();
    // [await_addrinfo]
    auto lookup = DnsAddrinfoEvent::create(reactor, {.host = "some.host", .service = "80"});
    await(lookup);  // the other coroutines run meanwhile
    EXPECT_EQ(lookup->addresses().front().address.to_string(), "127.0.0.1:80");
    // [await_addrinfo]
    EXPECT_EQ(texts(*lookup), "127.0.0.1:80 [::1]:80");
    EXPECT_EQ(lookup->addresses()[0].socktype, SOCK_STREAM);
    EXPECT_EQ(lookup->addresses()[0].canonical_name, "some.host");
    EXPECT_TRUE(lookup->is_finished());
    EXPECT_TRUE(lookup->is_closed());
    EXPECT_EQ(resolver.queries, 1);
}

CORO_TEST(DnsAddrinfo, NumericAddressIsAnsweredAtOnce) {
    FakeResolver resolver;
    const auto switches = scheduler().stats().switches;
    for (const char* ip : {"127.0.0.1", "::1", "10.20.30.40", "2001:db8::1"}) {
        auto lookup = ask(ip, "443");
        EXPECT_TRUE(lookup->is_finished()) << ip;
        await(lookup);
        ASSERT_EQ(lookup->addresses().size(), 1U) << ip;
        EXPECT_EQ(lookup->addresses()[0].address.ip(), ip);
        EXPECT_EQ(lookup->addresses()[0].address.port(), 443);
    }
    EXPECT_EQ(resolver.queries, 0);
    EXPECT_EQ(scheduler().stats().switches, switches);
}

CORO_TEST(DnsAddrinfo, NumericFailuresAreKnownAtOnceToo) {
    FakeResolver resolver;
    auto wrong_family =
        DnsAddrinfoEvent::create(scheduler().reactor(), {.host = "127.0.0.1", .service = "80", .family = AF_INET6});
    ASSERT_NE(wrong_family->error(), nullptr);
    EXPECT_EQ(code_of([&] { await(wrong_family); }), ErrorCode::Resolve);
    auto digits_wanted = DnsAddrinfoEvent::create(
        scheduler().reactor(), {.host = "some.host", .flags = AI_NUMERICHOST | AI_NUMERICSERV}
    );
    ASSERT_NE(digits_wanted->error(), nullptr);
    EXPECT_EQ(static_cast<DnsError*>(digits_wanted->error())->eai(), EAI_NONAME);
    EXPECT_EQ(resolver.queries, 0);
}

CORO_TEST(DnsAddrinfo, EmptyHostIsThisMachine) {
    FakeResolver resolver;
    auto lookup = ask("", "80");
    EXPECT_TRUE(lookup->is_finished());
    EXPECT_NE(texts(*lookup).find("127.0.0.1:80"), std::string::npos) << texts(*lookup);
    EXPECT_EQ(resolver.queries, 0);
}

CORO_TEST(DnsAddrinfo, ErrorNamesTheCodeAndWhatWasLookedUp) {
    FakeResolver resolver;
    auto lookup = ask("no.such.host", "80");
    EXPECT_EQ(code_of([&] { await(lookup); }), ErrorCode::Resolve);
    EXPECT_EQ(message_of(*lookup), "resolve no.such.host: EAI_NONAME, " + std::string(gai_strerror(EAI_NONAME)));
    EXPECT_EQ(static_cast<DnsError*>(lookup->error())->eai(), EAI_NONAME);
    EXPECT_EQ(lookup->info(), "DnsAddrinfo(no.such.host, failed)");
    EXPECT_TRUE(lookup->addresses().empty());
    EXPECT_EQ(code_of([&] { await(lookup); }), ErrorCode::Resolve);  // who comes late hears the same

    auto service = ask("no.such.host", "imaginary");
    EXPECT_EQ(code_of([&] { await(service); }), ErrorCode::Resolve);
    EXPECT_EQ(message_of(*service).find("resolve no.such.host:imaginary: EAI_"), 0U) << message_of(*service);

    auto broken = ask("broken.host");
    EXPECT_EQ(code_of([&] { await(broken); }), ErrorCode::Resolve);
    EXPECT_EQ(message_of(*broken), "resolve broken.host: EAI_SYSTEM, EMFILE");

    auto throwing = ask("throws.host");
    EXPECT_EQ(code_of([&] { await(throwing); }), ErrorCode::Resolve);
    EXPECT_EQ(message_of(*throwing).find("resolve throws.host: EAI_MEMORY, "), 0U);
    EXPECT_EQ(DnsError::name(EAI_AGAIN), "EAI_AGAIN");
    EXPECT_EQ(DnsError::name(-4711), "EAI_-4711");
}

CORO_TEST(DnsAddrinfo, ZeroByteIsNotTheEndOfAName) {
    FakeResolver resolver;
    auto host = ask(std::string("127.0.0.1\0.evil", 14));
    EXPECT_EQ(code_of([&] { await(host); }), ErrorCode::Resolve);
    auto service = ask("some.host", std::string("80\0", 3));
    EXPECT_EQ(code_of([&] { await(service); }), ErrorCode::Resolve);
    EXPECT_EQ(resolver.queries, 0);
}

CORO_TEST(DnsAddrinfo, EqualLookupsShareOneQuery) {
    FakeResolver resolver;
    std::vector<Handle<std::string>> same;
    for (int i = 0; i < 10; ++i) {
        same.push_back(spawn([] {
            auto lookup = ask("slow.host", "80");
            await(lookup);
            return texts(*lookup);
        }));
    }
    auto other_port = spawn([] { await(ask("slow.host", "81")); });
    auto other_kind = spawn([] {
        await(DnsAddrinfoEvent::create(
            Scheduler::current()->reactor(), {.host = "slow.host", .service = "80", .socktype = SOCK_DGRAM}
        ));
    });
    settle();
    EXPECT_TRUE(eventually([&] { return resolver.inside == 3; }));
    resolver.gate.open();
    for (const auto& handle : same) {
        EXPECT_EQ(await(handle), "127.0.0.1:80 [::1]:80");
    }
    await(other_port);
    await(other_kind);
    EXPECT_EQ(resolver.queries, 3);
    await(ask("slow.host", "80"));  // no cache: a new lookup asks again
    EXPECT_EQ(resolver.queries, 4);
}

TEST(DnsAcrossThreads, EqualLookupsShareOneQuery) {
    FakeResolver resolver;
    std::atomic<int> waiting = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            run([&] {
                auto lookup = ask("slow.host", "80");
                ASSERT_TRUE(lookup->start());
                ++waiting;
                await(lookup);
                EXPECT_EQ(texts(*lookup), "127.0.0.1:80 [::1]:80");
            });
        });
    }
    EXPECT_TRUE(eventually([&] { return waiting == 4; }));
    resolver.gate.open();
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(resolver.queries, 1);
}

CORO_TEST(DnsAddrinfo, OneOfManyLeavesTheOthersGetTheAnswer) {
    FakeResolver resolver;
    auto first = spawn([] { await(ask("slow.host")); });
    auto second = spawn([] { await(ask("slow.host")); });
    settle();
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    resolver.gate.open();
    await(second);
    EXPECT_EQ(resolver.queries, 1);
}

CORO_TEST(DnsAddrinfo, LookupThatNobodyWantsAnyMoreIsTakenBack) {
    const NarrowLane narrow(1);
    FakeResolver resolver;
    auto busy = spawn([] { await(ask("slow.host")); });
    settle();
    EXPECT_TRUE(eventually([&] { return resolver.inside == 1; }));
    auto first = spawn([] { await(ask("some.host")); });
    auto second = spawn([] { await(ask("some.host")); });
    settle();
    EXPECT_EQ(WorkLane::dns().stats().queued, 1U);
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(WorkLane::dns().stats().queued, 1U);
    second.cancel();
    EXPECT_THROW(await(second), Cancellation);
    EXPECT_EQ(WorkLane::dns().stats().queued, 0U);
    resolver.gate.open();
    await(busy);
    EXPECT_EQ(resolver.queries, 1);
}

CORO_TEST(DnsAddrinfo, LookupThatHasBegunIsJoinedByWhoComesLater) {
    FakeResolver resolver;
    auto first = spawn([] { await(ask("slow.host")); });
    settle();
    EXPECT_TRUE(eventually([&] { return resolver.inside == 1; }));
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    EXPECT_EQ(scheduler().reactor().active().visible, 0U);
    EXPECT_EQ(scheduler().reactor().active().hidden, 0U);
    auto second = spawn([] { await(ask("slow.host")); });
    settle();
    resolver.gate.open();
    await(second);
    EXPECT_EQ(resolver.queries, 1);
}

CORO_TEST(DnsAddrinfo, StoppedAndStartedAgain) {
    FakeResolver resolver;
    auto lookup = ask("slow.host");
    EXPECT_THROW(await(lookup, 1ms), TimeoutError);
    EXPECT_EQ(lookup->state(), EventState::Stopped);
    resolver.gate.open();
    await(lookup);
    EXPECT_EQ(lookup->addresses().size(), 2U);
}

CORO_TEST(DnsAddrinfo, HasATimeoutOfItsOwn) {
    FakeResolver resolver;
    auto lookup = ask("slow.host", "80", 1500ms);
    const Instant begin = clock().now();
    EXPECT_EQ(code_of([&] { await(lookup); }), ErrorCode::Timeout);
    EXPECT_EQ(clock().now() - begin, 1500ms);
    EXPECT_EQ(message_of(*lookup), "resolve slow.host: no answer within 1500 ms");
    EXPECT_EQ(clock().timer_count(), 0U);
    EXPECT_EQ(scheduler().reactor().active().visible, 0U);
    resolver.gate.open();
    clock().set_auto_advance(false);
    auto in_time = ask("some.host", "80", 10s);
    await(in_time);
    EXPECT_EQ(clock().timer_count(), 0U);
    clock().set_auto_advance(true);
}

CORO_TEST(DnsAddrinfo, TellsWhatItDoes) {
    FakeResolver resolver;
    auto lookup = ask("slow.host", "80");
    EXPECT_EQ(lookup->info(), "DnsAddrinfo(slow.host, created)");
    auto waiter = spawn([&] { await(lookup); });
    settle();
    EXPECT_EQ(waiter.coroutine().awaiting(), std::vector<std::string>{"DnsAddrinfo(slow.host, active)"});
    EXPECT_EQ(scheduler().reactor().active().visible, 1U);
    resolver.gate.open();
    await(waiter);
    EXPECT_EQ(lookup->info(), "DnsAddrinfo(slow.host, done)");
    EXPECT_EQ(lookup->query().host, "slow.host");
}

CORO_TEST(DnsAddrinfo, SlowLookupsStarveNothing) {
    FakeResolver resolver;
    std::vector<Handle<void>> slow;
    for (int i = 0; i < 40; ++i) {
        slow.push_back(spawn([i] { await(ask("slow." + std::to_string(i))); }));
    }
    settle();
    EXPECT_TRUE(eventually([&] { return resolver.inside == 32; }));
    EXPECT_EQ(WorkLane::dns().stats().queued, 8U);
    EXPECT_EQ(run_blocking([] { return 5; }), 5);  // tasks have threads of their own
    await(ask("127.0.0.1", "80"));                 // digits need none
    resolver.gate.open();
    for (const auto& handle : slow) {
        await(handle);
    }
    EXPECT_EQ(resolver.queries, 40);
}

CORO_TEST(DnsAddrinfo, FullQueueIsAnError) {
    const NarrowLane narrow(1, 1);
    FakeResolver resolver;
    auto busy = spawn([] { await(ask("slow.1")); });
    settle();
    EXPECT_TRUE(eventually([&] { return resolver.inside == 1; }));
    auto waiting = spawn([] { await(ask("slow.2")); });
    settle();
    EXPECT_EQ(code_of([] { await(ask("slow.3")); }), ErrorCode::QueueFull);
    auto sharing = spawn([] { await(ask("slow.2")); });  // needs no place of its own
    settle();
    resolver.gate.open();
    await(busy);
    await(waiting);
    await(sharing);
    EXPECT_EQ(scheduler().reactor().active().hidden, 0U);
}

CORO_TEST(DnsAddrinfo, DroppedInItsOwnCallback) {
    class Dropper final : public Callback {
    public:
        explicit Dropper(Ref<DnsAddrinfoEvent>& lookup) : lookup_(lookup) {}
        void call(Event& /*event*/, void* result, Error* /*error*/) override {
            count = static_cast<const std::vector<DnsAddress>*>(result)->size();
            lookup_.reset();
        }
        std::size_t count = 0;

    private:
        void destroy() noexcept override {}
        Ref<DnsAddrinfoEvent>& lookup_;
    };
    FakeResolver resolver;
    auto lookup = ask("some.host");
    Dropper dropper(lookup);
    ASSERT_TRUE(lookup->add_callback(dropper));
    ASSERT_TRUE(lookup->start());
    while (dropper.count == 0) {
        suspend();
    }
    EXPECT_EQ(dropper.count, 2U);
    EXPECT_EQ(scheduler().reactor().active().visible, 0U);
}

RUNTIME_TEST(DnsAddrinfo, OutlivesItsReactor) {
    FakeResolver resolver;
    Ref<DnsAddrinfoEvent> active;
    Ref<DnsAddrinfoEvent> created;
    Ref<DnsAddrinfoEvent> done;
    in_runtime([&] {
        active = ask("slow.host", "", 10s);
        active->set_hidden(true);
        ASSERT_TRUE(active->start());
        EXPECT_TRUE(eventually([&] { return resolver.inside == 1; }));
        created = ask("some.host");
        done = ask("some.host");
        await(done);
    });
    EXPECT_TRUE(active->is_closed());
    EXPECT_TRUE(created->start().is(ErrorCode::EventClosed));
    EXPECT_EQ(done->addresses().size(), 2U);
    resolver.gate.open();
}

RUNTIME_TEST(DnsAddrinfo, ShutdownDoesNotWaitForALookup) {
    FakeResolver resolver;
    in_runtime([&] {
        spawn([] { await(ask("slow.host")); });
        settle();
        EXPECT_TRUE(eventually([&] { return resolver.inside == 1; }));
        shutdown();
    });
    resolver.gate.open();
}

TEST(DnsFork, LookupsOfTheParentAreAskedAgainInTheChild) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer allows no threads in a forked child";
#endif
    for (const Backend backend : {Backend::Best, Backend::Portable}) {
        FakeResolver resolver;
        RunOptions options;
        options.reactor = make_uv_reactor(backend);
        run(
            [&] {
                const NarrowLane narrow(1);
                auto running = ask("slow.host");
                auto queued = ask("some.host");
                auto left = ask("some.host");
                ASSERT_TRUE(running->start());
                ASSERT_TRUE(queued->start());
                ASSERT_TRUE(left->start());
                EXPECT_TRUE(eventually([&] { return resolver.inside == 1; }));
                const int child = in_child([&] {
                    left.reset();
                    resolver.gate.open();
                    for (DnsAddrinfoEvent* event : {running.get(), queued.get()}) {
                        if (wait_for(*event) != WaitResult::Ready || event->addresses().size() != 2) {
                            return 1;
                        }
                    }
                    auto fresh = ask("other.host");
                    return wait_for(*fresh) == WaitResult::Ready && resolver.queries == 4 ? 0 : 2;
                });
                EXPECT_EQ(child, 0);
                resolver.gate.open();
                await(running);
                await(queued);
                EXPECT_EQ(resolver.queries, 2);
            },
            std::move(options)
        );
    }
}

// --- addresses to names

CORO_TEST(DnsNameinfo, FiresWithTheName) {
    FakeResolver resolver;
    Reactor& reactor = scheduler().reactor();
    // [await_nameinfo]
    auto lookup = DnsNameinfoEvent::create(reactor, SocketAddress::loopback(80));
    await(lookup);
    EXPECT_EQ(lookup->name().host, "host-127.0.0.1");
    EXPECT_EQ(lookup->name().service, "service-80");
    // [await_nameinfo]
    EXPECT_EQ(lookup->info(), "DnsNameinfo(127.0.0.1, done)");
    EXPECT_EQ(lookup->address(), SocketAddress::loopback(80));
    EXPECT_EQ(resolver.queries, 1);
}

CORO_TEST(DnsNameinfo, DigitsAreAnsweredAtOnce) {
    FakeResolver resolver;
    auto lookup = ask_name(SocketAddress::loopback(80), NI_NUMERICHOST | NI_NUMERICSERV);
    EXPECT_TRUE(lookup->is_finished());
    await(lookup);
    EXPECT_EQ(lookup->name().host, "127.0.0.1");
    EXPECT_EQ(lookup->name().service, "80");
    EXPECT_EQ(resolver.queries, 0);
}

CORO_TEST(DnsNameinfo, FailsWithTheCode) {
    FakeResolver resolver;
    auto lookup = ask_name(SocketAddress::loopback(1), NI_NAMEREQD);
    EXPECT_EQ(code_of([&] { await(lookup); }), ErrorCode::Resolve);
    EXPECT_EQ(lookup->error()->message().find("resolve 127.0.0.1: EAI_NONAME, "), 0U);
    auto none = ask_name(SocketAddress());
    EXPECT_EQ(code_of([&] { await(none); }), ErrorCode::Resolve);
    EXPECT_EQ(none->error()->message().find("resolve (none): EAI_FAMILY, "), 0U) << none->error()->message();
}

CORO_TEST(DnsNameinfo, EqualLookupsShareOneQuery) {
    FakeResolver resolver;
    auto first = spawn([] { await(ask_name(SocketAddress::loopback(2))); });
    auto second = spawn([] { await(ask_name(SocketAddress::loopback(2))); });
    auto other = spawn([] { await(ask_name(SocketAddress::loopback(2), NI_NAMEREQD)); });
    settle();
    resolver.gate.open();
    await(first);
    await(second);
    await(other);
    EXPECT_EQ(resolver.queries, 2);
}

// --- the system's own answers

TEST(DnsSystem, HostsFileIsHonoured) {
    run([] {
        auto lookup = ask("localhost", "80");
        EXPECT_FALSE(lookup->is_finished());
        await(lookup);
        EXPECT_NE(texts(*lookup).find("127.0.0.1:80"), std::string::npos) << texts(*lookup);
        auto name = ask_name(SocketAddress::loopback(80), NI_NUMERICSERV);
        await(name);
        EXPECT_FALSE(name->name().host.empty());
        EXPECT_NE(name->name().host, "127.0.0.1");
        EXPECT_EQ(name->name().service, "80");
    });
}

TEST(DnsSystem, NamesThatCannotExist) {
    run([] {
        auto lookup = ask(std::string(300, 'x'));
        EXPECT_EQ(code_of([&] { await(lookup); }), ErrorCode::Resolve);
        auto spaces = ask("not a name");
        EXPECT_EQ(code_of([&] { await(spaces); }), ErrorCode::Resolve);
    });
}

TEST(DnsSystem, NoDescriptorIsLeftBehind) {
    const auto lookups = [] {
        await(ask("localhost", "80"));
        await(ask("127.0.0.1", "80"));
        await(ask_name(SocketAddress::loopback(80)));
        run_blocking([] {});
    };
    run(lookups);  // what is opened once is open
    const std::size_t before = open_descriptors();
    run(lookups);
    EXPECT_EQ(open_descriptors(), before);
}

// --- everything at once

void random_cancellations(std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<Handle<void>> waiters;
    int outcomes = 0;
    for (int i = 0; i < 300; ++i) {
        const std::string host = "some.host." + std::to_string(random() % 5);
        const std::uint32_t choice = random() % 4;
        waiters.push_back(spawn([&, host, choice] {
            try {
                if (choice == 0) {
                    auto lookup = ask_name(SocketAddress::loopback(static_cast<std::uint16_t>(100 + host.back())));
                    await(lookup);
                    EXPECT_FALSE(lookup->name().host.empty());
                } else {
                    auto lookup = ask(host, "80", choice == 1 ? 1ns : 0ns);
                    await(lookup);
                    EXPECT_EQ(lookup->addresses().size(), 2U);
                }
            } catch (const Cancellation&) {
            } catch (const TimeoutError&) {}
            ++outcomes;
        }));
        for (std::uint32_t turns = random() % 3; turns != 0; --turns) {
            suspend();
        }
        if (random() % 3 == 0) {
            waiters[random() % waiters.size()].cancel();
        }
    }
    int unstarted = 0;
    for (const auto& waiter : waiters) {
        try {
            await(waiter);
        } catch (const Cancellation&) {
            ++unstarted;
        }
    }
    EXPECT_EQ(outcomes + unstarted, 300);
    EXPECT_EQ(Scheduler::current()->reactor().active().visible, 0U);
    while (Scheduler::current()->reactor().active().hidden != 0) {
        suspend();
    }
}

CORO_TEST(DnsAddrinfo, RandomCancellationLosesNothing) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    FakeResolver resolver;
    random_cancellations(seed);
}

TEST(DnsAcrossThreads, RandomCancellationLosesNothing) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    FakeResolver resolver;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 3; ++i) {
        threads.emplace_back([seed, i] { run([&] { random_cancellations(seed + i); }); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
}  // namespace trueasync::testing
