#include <trueasync/base/socket_address.hpp>

#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>
#include <cstring>
#include <string>
#include <unordered_set>

namespace trueasync {
namespace {

using Family = SocketAddress::Family;

SocketAddress parsed(std::string_view text) {
    SocketAddress address;
    EXPECT_TRUE(SocketAddress::parse(text, address)) << text;
    return address;
}

std::string refusal(std::string_view text) {
    SocketAddress address = SocketAddress::loopback(7);
    const Status status = SocketAddress::parse(text, address);
    EXPECT_TRUE(status.is(ErrorCode::InvalidArgument)) << text;
    EXPECT_EQ(address, SocketAddress::loopback(7)) << "changed by " << text;
    return status ? "" : status.error()->message();
}

TEST(SocketAddress, ParsesAndPrints) {
    // [parse_and_print]
    SocketAddress address;
    ASSERT_TRUE(SocketAddress::parse("[::1]:80", address));
    EXPECT_EQ(address.family(), SocketAddress::Family::Ipv6);
    EXPECT_EQ(address.port(), 80);
    EXPECT_EQ(address.to_string(), "[::1]:80");
    // [parse_and_print]
}

TEST(SocketAddress, TextComesBackAsItWas) {
    for (const char* text :
         {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:0", "[2001:db8::1]:443",
          "[::ffff:10.0.0.1]:1", "unix:/run/some.sock", "unix:relative"}) {
        EXPECT_EQ(parsed(text).to_string(), text);
        EXPECT_EQ(parsed(parsed(text).to_string()), parsed(text));
    }
}

TEST(SocketAddress, TellsItsParts) {
    const SocketAddress ipv4 = parsed("10.1.2.3:8080");
    EXPECT_EQ(ipv4.family(), Family::Ipv4);
    EXPECT_EQ(ipv4.native_family(), AF_INET);
    EXPECT_EQ(ipv4.size(), sizeof(sockaddr_in));
    EXPECT_EQ(ipv4.ip(), "10.1.2.3");
    EXPECT_EQ(ipv4.port(), 8080);
    EXPECT_EQ(ipv4.path(), "");
    EXPECT_TRUE(ipv4.is_ip());
    const SocketAddress ipv6 = parsed("[2001:db8::7]:9");
    EXPECT_EQ(ipv6.family(), Family::Ipv6);
    EXPECT_EQ(ipv6.size(), sizeof(sockaddr_in6));
    EXPECT_EQ(ipv6.ip(), "2001:db8::7");
    const SocketAddress local = parsed("unix:/tmp/a.sock");
    EXPECT_EQ(local.family(), Family::Unix);
    EXPECT_EQ(local.path(), "/tmp/a.sock");
    EXPECT_EQ(local.port(), 0);
    EXPECT_EQ(local.ip(), "");
    EXPECT_FALSE(local.is_ip());
}

TEST(SocketAddress, SaysWhatIsWrongWithAText) {
    EXPECT_EQ(refusal("127.0.0.1"), "not an address: \"127.0.0.1\": the port is missing");
    EXPECT_EQ(refusal("localhost:80"), "not an address: \"localhost:80\": the host is not a numeric IP address");
    EXPECT_EQ(refusal("::1:80"), "not an address: \"::1:80\": an IPv6 address with a port needs brackets, [::1]:80");
    EXPECT_EQ(refusal("127.0.0.1:x"), "not an address: \"127.0.0.1:x\": the port is not a number from 0 to 65535");
    EXPECT_EQ(refusal("unix:"), "not an address: \"unix:\": the path is empty");
    for (const char* text :
         {"", ":", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1: 80", "127.0.0.1:+80", "127.1:80",
          "[127.0.0.1]:80", "[::1]", "[::1:80", "::1]:80", "[]:80", "256.0.0.1:80", "0127.0.0.1:80", " 127.0.0.1:80",
          "[::1%]:80", "[::1%no-such-interface]:80"}) {
        EXPECT_NE(refusal(text), "") << text;
    }
}

TEST(SocketAddress, ZeroByteInTextIsRefused) {
    SocketAddress address;
    EXPECT_FALSE(SocketAddress::from_ip(std::string_view("127.0.0.1\0x", 11), 1, address));
    EXPECT_FALSE(SocketAddress::from_path(std::string_view("/tmp/a\0b", 8), address));
    EXPECT_FALSE(address);
}

TEST(SocketAddress, NumericHostAlone) {
    SocketAddress address;
    ASSERT_TRUE(SocketAddress::from_ip("::1", 5, address));
    EXPECT_EQ(address.to_string(), "[::1]:5");
    ASSERT_TRUE(SocketAddress::from_ip("192.168.0.1", 6, address));
    EXPECT_EQ(address.to_string(), "192.168.0.1:6");
    EXPECT_FALSE(SocketAddress::from_ip("[::1]", 5, address));
    EXPECT_FALSE(SocketAddress::from_ip("example.org", 5, address));
    EXPECT_FALSE(SocketAddress::from_ip("127.0.0.1%lo", 5, address));
    EXPECT_FALSE(SocketAddress::from_ip(std::string(100, '1'), 5, address));
    EXPECT_EQ(address.to_string(), "192.168.0.1:6");
}

TEST(SocketAddress, ScopeOfALinkLocalAddressIsKept) {
    const SocketAddress numbered = parsed("[fe80::1%4711]:80");
    EXPECT_EQ(numbered.to_string(), "[fe80::1%4711]:80");
    EXPECT_NE(numbered, parsed("[fe80::1]:80"));
    char name[IF_NAMESIZE] = {};
    if (if_indextoname(1, name) == nullptr) {
        GTEST_SKIP() << "there is no network interface with index 1";
    }
    const std::string text = "[fe80::1%" + std::string(name) + "]:80";
    EXPECT_EQ(parsed(text).to_string(), text);
    EXPECT_EQ(parsed(text), parsed("[fe80::1%1]:80"));
}

TEST(SocketAddress, PathAsLongAsTheSystemAllows) {
    const std::size_t room = sizeof(sockaddr_un::sun_path);
    SocketAddress address;
    EXPECT_TRUE(SocketAddress::from_path(std::string(room - 1, 'a'), address));
    EXPECT_EQ(address.path(), std::string(room - 1, 'a'));
    const Status status = SocketAddress::from_path(std::string(room, 'a'), address);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error()->message().find("too long"), std::string::npos);
}

#if defined(__linux__)
TEST(SocketAddress, AbstractNameHasNoEndMark) {
    const SocketAddress address = parsed("unix:@name");
    EXPECT_EQ(address.size(), offsetof(sockaddr_un, sun_path) + 5);
    EXPECT_EQ(address.to_string(), "unix:@name");
    EXPECT_NE(address, parsed("unix:name"));
}
#endif

TEST(SocketAddress, WellKnownPlaces) {
    EXPECT_EQ(SocketAddress::loopback(1).to_string(), "127.0.0.1:1");
    EXPECT_EQ(SocketAddress::loopback(1, Family::Ipv6).to_string(), "[::1]:1");
    EXPECT_EQ(SocketAddress::any(1).to_string(), "0.0.0.0:1");
    EXPECT_EQ(SocketAddress::any(1, Family::Ipv6).to_string(), "[::]:1");
}

TEST(SocketAddress, PortCanBeChanged) {
    SocketAddress ipv4 = parsed("10.0.0.1:1");
    ipv4.set_port(2);
    EXPECT_EQ(ipv4, parsed("10.0.0.1:2"));
    SocketAddress ipv6 = parsed("[fe80::1%3]:1");
    ipv6.set_port(2);
    EXPECT_EQ(ipv6, parsed("[fe80::1%3]:2"));
    SocketAddress local = parsed("unix:/a");
    local.set_port(2);
    EXPECT_EQ(local, parsed("unix:/a"));
}

TEST(SocketAddress, NoAddress) {
    const SocketAddress none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.family(), Family::None);
    EXPECT_EQ(none.native_family(), AF_UNSPEC);
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.to_string(), "(none)");
    EXPECT_EQ(none, SocketAddress(nullptr, 12));
    EXPECT_NE(none, SocketAddress::loopback(0));
}

TEST(SocketAddress, OfAnUnknownFamilyAndOfAShortAddress) {
    sockaddr_storage raw{};
    raw.ss_family = 77;
    const SocketAddress other(reinterpret_cast<const sockaddr*>(&raw), 16);
    EXPECT_EQ(other.family(), Family::Other);
    EXPECT_EQ(other.to_string(), "(family 77)");
    EXPECT_EQ(other.hash(), SocketAddress(other).hash());
    raw.ss_family = AF_INET6;
    const SocketAddress cut(reinterpret_cast<const sockaddr*>(&raw), 8);
    EXPECT_EQ(cut.family(), Family::Other);
    EXPECT_EQ(cut.port(), 0);
    EXPECT_NE(cut, other);
}

TEST(SocketAddress, LongerThanAnyIsCut) {
    char raw[2 * sizeof(sockaddr_storage)] = {};
    const SocketAddress address(reinterpret_cast<const sockaddr*>(raw), sizeof(raw));
    EXPECT_EQ(address.size(), SocketAddress::capacity());
}

TEST(SocketAddress, EqualPlacesAreEqualWhateverIsInThePadding) {
    sockaddr_in raw{};
    raw.sin_family = AF_INET;
    raw.sin_port = htons(80);
    raw.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memset(raw.sin_zero, 0x55, sizeof(raw.sin_zero));
    const SocketAddress dirty(reinterpret_cast<const sockaddr*>(&raw), sizeof(raw));
    EXPECT_EQ(dirty, parsed("127.0.0.1:80"));
    EXPECT_EQ(dirty.hash(), parsed("127.0.0.1:80").hash());
    std::unordered_set<SocketAddress> set{
        dirty, parsed("127.0.0.1:80"), parsed("127.0.0.1:81"), parsed("[::1]:80"), parsed("unix:/a"), SocketAddress()};
    EXPECT_EQ(set.size(), 5U);
}

TEST(SocketAddress, GoesThroughTheSystemAndBack) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_GE(listener, 0);
    const SocketAddress wanted = SocketAddress::loopback(0);
    ASSERT_EQ(::bind(listener, wanted.data(), wanted.size()), 0);
    SocketAddress bound;
    socklen_t size = SocketAddress::capacity();
    ASSERT_EQ(::getsockname(listener, bound.buffer(), &size), 0);
    bound.resize(size);
    EXPECT_EQ(bound.ip(), "127.0.0.1");
    EXPECT_NE(bound.port(), 0);
    ::close(listener);
}

TEST(SocketAddress, UnnamedUnixSocketHasAnEmptyPath) {
    int pair[2] = {};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    SocketAddress bound;
    socklen_t size = SocketAddress::capacity();
    ASSERT_EQ(::getsockname(pair[0], bound.buffer(), &size), 0);
    bound.resize(size);
    EXPECT_EQ(bound.family(), Family::Unix);
    EXPECT_EQ(bound.path(), "");
    EXPECT_EQ(bound.to_string(), "unix:");
    ::close(pair[0]);
    ::close(pair[1]);
}

}  // namespace
}  // namespace trueasync
