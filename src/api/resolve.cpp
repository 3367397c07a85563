#include <trueasync/api/resolve.hpp>

#include <netdb.h>
#include <algorithm>
#include <trueasync/reactor/dns.hpp>

#include "io.hpp"

namespace trueasync {

namespace {

/// A deadline that passes says for whom.
template <typename E>
void await_lookup(const E& event, const std::string& subject, const Limit& limit, std::source_location where) {
    const WaitResult result = detail::wait_long(*event, limit, where);
    if (result == WaitResult::TimedOut) {
        const Ref<Error> cause = Scheduler::take_wait_error();
        detail::throw_error(Error::make(ErrorCode::Timeout, "resolve " + subject + ": no answer in time", cause));
    }
    detail::check(result);
}

}  // namespace

ResolveError::ResolveError(const Error& error) : AsyncError(error) {
    const auto* dns = dynamic_cast<const DnsError*>(&error);
    eai_ = dns != nullptr ? dns->eai() : EAI_FAIL;
}

std::vector<SocketAddress> resolve(
    std::string_view host, std::string_view service, const Limit& limit, std::source_location where
) {
    Reactor& reactor = detail::need_reactor("resolve");
    if (host.empty()) {
        detail::throw_error(Error::make(ErrorCode::InvalidArgument, "resolve: the host is empty"));
    }
    const Ref<DnsAddrinfoEvent> lookup =
        DnsAddrinfoEvent::create(reactor, {.host = std::string(host), .service = std::string(service)});
    await_lookup(lookup, std::string(host), limit, where);
    std::vector<SocketAddress> addresses;
    for (const DnsAddress& found : lookup->addresses()) {
        if (std::find(addresses.begin(), addresses.end(), found.address) == addresses.end()) {
            addresses.push_back(found.address);
        }
    }
    return addresses;
}

std::vector<SocketAddress> resolve(
    std::string_view host, std::uint16_t port, const Limit& limit, std::source_location where
) {
    return resolve(host, std::to_string(port), limit, where);
}

std::string reverse_resolve(const SocketAddress& address, const Limit& limit, std::source_location where) {
    const Ref<DnsNameinfoEvent> lookup =
        DnsNameinfoEvent::create(detail::need_reactor("resolve"), address, NI_NAMEREQD | NI_NUMERICSERV);
    await_lookup(lookup, address.ip(), limit, where);
    return lookup->name().host;
}

}  // namespace trueasync
