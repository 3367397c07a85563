#include <trueasync/api/resolve.hpp>

#include <netdb.h>
#include <support/coro_test.hpp>
#include <support/fake_resolver.hpp>

namespace trueasync::testing {
namespace {

std::vector<std::string> texts(const std::vector<SocketAddress>& addresses) {
    std::vector<std::string> all;
    for (const SocketAddress& address : addresses) {
        all.push_back(address.to_string());
    }
    return all;
}

CORO_TEST(Resolve, NamesBecomeAddresses) {
    FakeResolver resolver;
    // [resolve]
    const std::vector<SocketAddress> addresses = resolve("some.host", 80);
    EXPECT_EQ(addresses.front().to_string(), "127.0.0.1:80");
    EXPECT_EQ(reverse_resolve(addresses.front()), "host-127.0.0.1");
    // [resolve]
    EXPECT_EQ(texts(addresses), (std::vector<std::string>{"127.0.0.1:80", "[::1]:80"}));
    EXPECT_EQ(texts(resolve("some.host", "81")), (std::vector<std::string>{"127.0.0.1:81", "[::1]:81"}));
    EXPECT_EQ(resolver.queries, 3);
}

CORO_TEST(Resolve, DigitsNeedNoLookup) {
    FakeResolver resolver;
    EXPECT_EQ(texts(resolve("192.0.2.1", 443)), std::vector<std::string>{"192.0.2.1:443"});
    EXPECT_EQ(texts(resolve("2001:db8::1", "443")), std::vector<std::string>{"[2001:db8::1]:443"});
    EXPECT_EQ(texts(resolve("192.0.2.1", "")), std::vector<std::string>{"192.0.2.1:0"});
    EXPECT_EQ(resolver.queries, 0);
}

CORO_TEST(Resolve, ThrowsWithTheCodeAndWhatWasLookedUp) {
    FakeResolver resolver;
    try {
        resolve("no.such.host", 80);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const ResolveError& error) {
        EXPECT_EQ(error.what(), "resolve no.such.host: EAI_NONAME, " + std::string(gai_strerror(EAI_NONAME)));
        EXPECT_EQ(error.eai(), EAI_NONAME);
        EXPECT_EQ(error.code(), ErrorCode::Resolve);
    }
    try {
        reverse_resolve(SocketAddress::loopback(1));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const ResolveError& error) {
        EXPECT_EQ(error.eai(), EAI_NONAME);
    }
    EXPECT_EQ(code_of([] { resolve("", 80); }), ErrorCode::InvalidArgument);
    EXPECT_THROW(reverse_resolve(SocketAddress()), ResolveError);
}

CORO_TEST(Resolve, LimitsAreKept) {
    FakeResolver resolver;
    const Instant begin = clock().now();
    try {
        resolve("slow.host", 80, 250ms);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const TimeoutError& error) {
        EXPECT_STREQ(error.what(), "resolve slow.host: no answer in time");
    }
    EXPECT_EQ(clock().now() - begin, 250ms);
    EXPECT_THROW(reverse_resolve(SocketAddress::loopback(2), timeout(10ms)), TimeoutError);
    auto token = ManualEvent::create();
    auto firing = spawn([&] { token->notify(nullptr, nullptr).ignore(); });
    EXPECT_THROW(resolve("slow.host", 80, *token), Cancellation);
    EXPECT_EQ(scheduler().reactor().active().visible, 0U);
    resolver.gate.open();
}

CORO_TEST(Resolve, CancelledWaiterLeavesTheOthersTheirAnswer) {
    FakeResolver resolver;
    auto first = spawn([] { resolve("slow.host", 80); });
    auto second = spawn([] { return resolve("slow.host", 80); });
    settle();
    first.cancel();
    EXPECT_THROW(await(first), Cancellation);
    resolver.gate.open();
    EXPECT_EQ(await(second).size(), 2U);
    EXPECT_EQ(resolver.queries, 1);
}

TEST(ResolveSystem, LocalhostAndDigits) {
    run([] {
        const std::vector<std::string> found = texts(resolve("localhost", 8080));
        EXPECT_NE(std::find(found.begin(), found.end(), "127.0.0.1:8080"), found.end());
        EXPECT_FALSE(reverse_resolve(SocketAddress::loopback(0)).empty());
        EXPECT_EQ(texts(resolve("127.0.0.1", 1)), std::vector<std::string>{"127.0.0.1:1"});
    });
}

TEST(ResolveMisuse, NeedsARuntime) {
    EXPECT_EQ(code_of([] { resolve("127.0.0.1", 80); }), ErrorCode::NotRunning);
    EXPECT_EQ(code_of([] { reverse_resolve(SocketAddress::loopback(80)); }), ErrorCode::NotRunning);
}

}  // namespace
}  // namespace trueasync::testing
