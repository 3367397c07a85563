#pragma once

/// @file trueasync/api/resolve.hpp
/// Names to addresses and back.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <trueasync/api/await.hpp>
#include <trueasync/base/socket_address.hpp>
#include <vector>

namespace trueasync {

/// The addresses of a host, best first, each once; never empty. May suspend; does not for a numeric address.
///
/// Asks as the system does: hosts file, nsswitch, DNS. `service` is a name or a port number; empty means port 0.
/// Throws `ResolveError` ("resolve no.such.host: EAI_NONAME, Name or service not known"), `TimeoutError` at the limit, `Cancellation`,
/// and `AsyncError` with `InvalidArgument` for an empty host, `QueueFull` when too many lookups are waiting.
/// Cancel safety: nothing is lost; others who ask the same at the same time get their answer.
///
/// @snippet unit/api/resolve_test.cpp  resolve
TA_API std::vector<SocketAddress> resolve(
    std::string_view host,
    std::string_view service,
    const Limit& limit = {},
    std::source_location where = std::source_location::current()
);

/// The same for a port number.
TA_API std::vector<SocketAddress> resolve(
    std::string_view host,
    std::uint16_t port,
    const Limit& limit = {},
    std::source_location where = std::source_location::current()
);

/// The name of the host that has this address. May suspend. Throws like `resolve`; an address without a name is `EAI_NONAME`.
TA_API std::string reverse_resolve(
    const SocketAddress& address, const Limit& limit = {}, std::source_location where = std::source_location::current()
);

}  // namespace trueasync
