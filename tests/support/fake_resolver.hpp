#pragma once

/// @file support/fake_resolver.hpp
/// Names that are known without a network.

#include <netdb.h>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <support/threads.hpp>
#include <trueasync/reactor/dns.hpp>

namespace trueasync::testing {

/// Takes the place of the system's resolver while it lives. Knows what it was told; counts who asks; may be slow.
class FakeResolver final : public DnsResolver {
public:
    FakeResolver() : before_(set_dns_resolver(this)) {}
    ~FakeResolver() override {
        set_dns_resolver(before_);
        EXPECT_TRUE(eventually([this] { return inside == 0; })) << "a lookup has not ended";
    }

    int look_up(const DnsQuery& query, std::vector<DnsAddress>& addresses) override {
        const Visit visit(*this);
        if (query.host.starts_with("slow")) {
            gate.wait();
        }
        if (query.host.starts_with("throws")) {
            throw std::runtime_error("out of everything");
        }
        if (query.host.starts_with("broken")) {
            errno = EMFILE;
            return EAI_SYSTEM;
        }
        if (query.host.starts_with("no.such")) {
            return EAI_NONAME;
        }
        SocketAddress address = SocketAddress::loopback(0);
        address.set_port(static_cast<std::uint16_t>(query.service.empty() ? 0 : std::stoi(query.service)));
        addresses.push_back({address, query.socktype, query.protocol, query.host});
        addresses.push_back(
            {SocketAddress::loopback(address.port(), SocketAddress::Family::Ipv6), query.socktype, query.protocol, ""}
        );
        return 0;
    }
    int look_up(const SocketAddress& address, int /*flags*/, DnsName& name) override {
        const Visit visit(*this);
        if (address.port() == 1) {
            return EAI_NONAME;
        }
        if (address.port() == 2) {
            gate.wait();
        }
        name = {"host-" + address.ip(), "service-" + std::to_string(address.port())};
        return 0;
    }

    std::atomic<int> queries = 0;
    std::atomic<int> inside = 0;
    Gate gate;  // what slow lookups wait for

private:
    struct Visit {
        explicit Visit(FakeResolver& visited) : resolver(visited) {
            ++resolver.inside;
            ++resolver.queries;
        }
        ~Visit() { --resolver.inside; }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;
        FakeResolver& resolver;
    };

    DnsResolver* before_;
};

}  // namespace trueasync::testing
