#include <arpa/nameser.h>

#include <cstring>
#include <functional>
#include <memory>
#include <support/hooked.hpp>
#include <vector>

namespace trueasync::testing {
namespace {

using HookedQueries = HookedTest;

/// A resolver that asks a socket of ours, which belongs to a coroutine.
class NameServer {
public:
    NameServer() : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        EXPECT_EQ(::bind(*socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::getsockname(*socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        EXPECT_EQ(::res_ninit(&resolver), 0);
        resolver.nscount = 1;
        resolver.nsaddr_list[0] = address;
        resolver.retrans = 5;
        resolver.retry = 1;
    }
    NameServer(const NameServer&) = delete;
    NameServer& operator=(const NameServer&) = delete;
    ~NameServer() { ::res_nclose(&resolver); }

    struct Question {
        unsigned char packet[512] = {};
        ssize_t length = 0;
        sockaddr_in client{};
        socklen_t size = sizeof(client);
        sockaddr* from() { return reinterpret_cast<sockaddr*>(&client); }
    };
    Question receive() {
        Question question;
        question.length = hooked::recvfrom(
            *socket_, question.packet, sizeof(question.packet) - 16, 0, question.from(), &question.size
        );
        EXPECT_GT(question.length, 12);
        return question;
    }

    /// Answers one query with one address.
    void answer() {
        Question question = receive();
        auto& [packet, length, client, size] = question;
        packet[2] |= 0x80;  // it is an answer
        packet[7] = 1;      // with one record
        packet[11] = 0;     // and nothing else
        const unsigned char record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 9};
        std::memcpy(packet + length, record, sizeof(record));
        length += static_cast<ssize_t>(sizeof(record));
        EXPECT_EQ(hooked::sendto(*socket_, packet, static_cast<std::size_t>(length), 0, question.from(), size), length);
    }

    struct __res_state resolver {};

private:
    Fd socket_;
};

TEST_F(HookedQueries, OthersRunWhileTheServerIsAsked) {
    in_runtime([] {
        NameServer server;
        server.resolver.options &= ~static_cast<unsigned long>(RES_USE_EDNS0);
        for (const bool is_search : {false, true}) {
            auto answering = spawn([&] { server.answer(); });
            unsigned char packet[512];
            errno = 77;
            const int length = suspending([&] {
                return is_search ? hooked::res_nsearch(&server.resolver, "a.test.", C_IN, T_A, packet, 512)
                                 : hooked::res_nquery(&server.resolver, "a.test", C_IN, T_A, packet, 512);
            });
            EXPECT_GT(length, 20);
            EXPECT_EQ(packet[length - 1], 9);
            EXPECT_EQ(errno, 77);
            await(answering);
        }
    });
}

TEST_F(HookedQueries, TheSettingsAreTheCallers) {
    in_runtime([] {
        NameServer server;
        ASSERT_EQ(::res_init(), 0);
        const struct __res_state before = _res;
        _res.options = server.resolver.options & ~static_cast<unsigned long>(RES_USE_EDNS0);
        _res.nscount = 1;
        _res.nsaddr_list[0] = server.resolver.nsaddr_list[0];
        _res.retrans = 5;
        _res.retry = 1;
        unsigned char packet[512];
        unsigned char question[512];
        const int asked = ::res_mkquery(QUERY, "a.test", C_IN, T_A, nullptr, 0, nullptr, question, sizeof(question));
        const std::function<int()> calls[] = {
            [&] { return hooked::res_query("a.test", C_IN, T_A, packet, 512); },
            [&] { return hooked::res_search("a.test.", C_IN, T_A, packet, 512); },
            [&] { return hooked::res_querydomain("a", "test", C_IN, T_A, packet, 512); },
            [&] { return hooked::res_send(question, asked, packet, 512); },
            [&] { return hooked::res_nquerydomain(&server.resolver, "a", "test", C_IN, T_A, packet, 512); },
            [&] { return hooked::res_nsend(&server.resolver, question, asked, packet, 512); },
        };
        server.resolver.options &= ~static_cast<unsigned long>(RES_USE_EDNS0);
        for (const auto& call : calls) {
            auto answering = spawn([&] { server.answer(); });
            const int length = suspending(call);
            EXPECT_GT(length, 20);
            EXPECT_EQ(packet[length - 1], 9);
            await(answering);
        }
        _res = before;
    });
}

TEST_F(HookedQueries, WhoIsCancelledLeavesAtOnceWithoutTheAnswer) {
    in_runtime([] {
        auto server = std::make_unique<NameServer>();
        server->resolver.options &= ~static_cast<unsigned long>(RES_USE_EDNS0);
        auto asking = spawn([&] {
            std::vector<unsigned char> packet(512, 0xee);
            EXPECT_EQ(hooked::res_nquery(&server->resolver, "a.test", C_IN, T_A, packet.data(), 512), -1);
            EXPECT_EQ(errno, ECANCELED);
            EXPECT_EQ(h_errno, TRY_AGAIN);
            EXPECT_EQ(server->resolver.res_h_errno, TRY_AGAIN);
            EXPECT_EQ(packet, std::vector<unsigned char>(512, 0xee));
        });
        server->receive();  // the question is on its way
        asking.cancel();
        EXPECT_THROW(await(asking), Cancellation);
        server.reset();  // whoever still waits for the answer has settings of his own
    });
}

TEST_F(HookedQueries, HostErrorsAreLeftAsTheCLibraryLeavesThem) {
    in_runtime([] {
        std::string name(70, 'a');  // no label is that long
        name += ".test";
        const addrinfo hints{};
        addrinfo* addresses = nullptr;
        h_errno = 77;
        const int plain = ::getaddrinfo(name.c_str(), nullptr, &hints, &addresses);
        const int plain_error = h_errno;
        h_errno = 77;
        EXPECT_EQ(suspending([&] { return hooked::getaddrinfo(name.c_str(), nullptr, &hints, &addresses); }), plain);
        EXPECT_EQ(h_errno, plain_error);
        hostent room{};
        hostent* result = nullptr;
        char buffer[1024];
        int error = 0;
        h_errno = 77;
        ::gethostbyname_r(name.c_str(), &room, buffer, sizeof(buffer), &result, &error);
        const int host_error = h_errno;
        h_errno = 77;
        suspending([&] { return hooked::gethostbyname_r(name.c_str(), &room, buffer, sizeof(buffer), &result, &error); }
        );
        EXPECT_EQ(h_errno, host_error);
    });
}

TEST_F(HookedQueries, WhatCannotBeAskedFailsAsEver) {
    in_runtime([] {
        unsigned char packet[512];
        const std::string name(300, 'a');  // no label is that long
        EXPECT_EQ(suspending([&] { return hooked::res_query(name.c_str(), C_IN, T_A, packet, 512); }), -1);
        EXPECT_EQ(h_errno, NO_RECOVERY);
        EXPECT_EQ(suspending([&] { return hooked::res_search((name + ".").c_str(), C_IN, T_A, packet, 512); }), -1);
        EXPECT_EQ(h_errno, NO_RECOVERY);
    });
}

}  // namespace
}  // namespace trueasync::testing
