#include <trueasync/base/socket_address.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <algorithm>
#include <charconv>
#include <cstring>

namespace trueasync {

namespace {

template <typename T>
T read(const sockaddr_storage& storage) noexcept {
    T value;
    std::memcpy(&value, &storage, sizeof(value));
    return value;
}

template <typename T>
SocketAddress make(const T& value) noexcept {
    return SocketAddress(reinterpret_cast<const sockaddr*>(&value), sizeof(value));
}

SocketAddress make_ipv4(in_addr ip, std::uint16_t port) noexcept {
    sockaddr_in value{};
    value.sin_family = AF_INET;
    value.sin_port = htons(port);
    value.sin_addr = ip;
    return make(value);
}

SocketAddress make_ipv6(const in6_addr& ip, std::uint16_t port, std::uint32_t scope) noexcept {
    sockaddr_in6 value{};
    value.sin6_family = AF_INET6;
    value.sin6_port = htons(port);
    value.sin6_addr = ip;
    value.sin6_scope_id = scope;
    return make(value);
}

template <typename T>
bool read_number(std::string_view text, T& value) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

Status invalid(std::string_view text, const char* why) {
    return Status::failure(ErrorCode::InvalidArgument, "not an address: \"" + std::string(text) + "\": " + why);
}

/// The bytes of a path that count: up to the length the system told, or to the first zero for a name in the file system.
std::string_view path_bytes(const sockaddr_storage& storage, socklen_t size) noexcept {
    constexpr std::size_t kOffset = offsetof(sockaddr_un, sun_path);
    if (size <= kOffset) {
        return {};
    }
    const std::string_view bytes(reinterpret_cast<const char*>(&storage) + kOffset, size - kOffset);
    return bytes.front() == '\0' ? bytes : bytes.substr(0, bytes.find('\0'));
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size) noexcept {
    if (address != nullptr) {
        resize(size);
        std::memcpy(&storage_, address, size_);
    }
}

Status SocketAddress::parse(std::string_view text, SocketAddress& address) {
    constexpr std::string_view kUnix = "unix:";
    if (text.starts_with(kUnix)) {
        return from_path(text.substr(kUnix.size()), address);
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return invalid(text, "the port is missing");
    }
    std::string_view host = text.substr(0, colon);
    const bool has_brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (has_brackets) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return invalid(text, "an IPv6 address with a port needs brackets, [::1]:80");
    }
    std::uint16_t port = 0;
    if (!read_number(text.substr(colon + 1), port)) {
        return invalid(text, "the port is not a number from 0 to 65535");
    }
    SocketAddress parsed;
    if (!from_ip(host, port, parsed) || has_brackets != (parsed.family() == Family::Ipv6)) {
        return invalid(text, "the host is not a numeric IP address");
    }
    address = parsed;
    return {};
}

bool SocketAddress::from_ip(std::string_view ip, std::uint16_t port, SocketAddress& address) noexcept {
    char text[INET6_ADDRSTRLEN] = {};
    const std::size_t percent = ip.find('%');
    const std::string_view host = ip.substr(0, percent);
    if (host.size() >= sizeof(text) || host.find('\0') != std::string_view::npos) {
        return false;
    }
    host.copy(text, host.size());
    in_addr ipv4{};
    if (percent == std::string_view::npos && inet_pton(AF_INET, text, &ipv4) == 1) {
        address = make_ipv4(ipv4, port);
        return true;
    }
    in6_addr ipv6{};
    if (inet_pton(AF_INET6, text, &ipv6) != 1) {
        return false;
    }
    std::uint32_t scope = 0;
    if (percent != std::string_view::npos) {
        const std::string_view zone = ip.substr(percent + 1);
        if (!read_number(zone, scope)) {
            char name[IF_NAMESIZE] = {};
            if (zone.empty() || zone.size() >= sizeof(name)) {
                return false;
            }
            zone.copy(name, zone.size());
            scope = if_nametoindex(name);
            if (scope == 0) {
                return false;
            }
        }
    }
    address = make_ipv6(ipv6, port, scope);
    return true;
}

Status SocketAddress::from_path(std::string_view path, SocketAddress& address) {
    sockaddr_un value{};
    value.sun_family = AF_UNIX;
    const std::string text = "unix:" + std::string(path);
    if (path.empty()) {
        return invalid(text, "the path is empty");
    }
    if (path.find('\0') != std::string_view::npos) {
        return invalid(text, "the path has a zero byte");
    }
    if (path.size() >= sizeof(value.sun_path)) {
        return invalid(text, "the path is too long for a socket");
    }
    path.copy(value.sun_path, path.size());
    std::size_t size = offsetof(sockaddr_un, sun_path) + path.size() + 1;
#if defined(__linux__)
    if (path.front() == '@') {
        value.sun_path[0] = '\0';
        --size;  // an abstract name has no end mark: every byte counts
    }
#endif
    address = SocketAddress(reinterpret_cast<const sockaddr*>(&value), static_cast<socklen_t>(size));
    return {};
}

SocketAddress SocketAddress::loopback(std::uint16_t port, Family family) noexcept {
    return family == Family::Ipv6 ? make_ipv6(in6addr_loopback, port, 0) : make_ipv4({htonl(INADDR_LOOPBACK)}, port);
}

SocketAddress SocketAddress::any(std::uint16_t port, Family family) noexcept {
    return family == Family::Ipv6 ? make_ipv6(in6addr_any, port, 0) : make_ipv4({htonl(INADDR_ANY)}, port);
}

SocketAddress::Family SocketAddress::family() const noexcept {
    switch (native_family()) {
        case AF_UNSPEC:
            return Family::None;
        case AF_INET:
            return size_ >= sizeof(sockaddr_in) ? Family::Ipv4 : Family::Other;
        case AF_INET6:
            return size_ >= sizeof(sockaddr_in6) ? Family::Ipv6 : Family::Other;
        case AF_UNIX:
            return Family::Unix;
        default:
            return Family::Other;
    }
}

std::uint16_t SocketAddress::port() const noexcept {
    switch (family()) {
        case Family::Ipv4:
            return ntohs(read<sockaddr_in>(storage_).sin_port);
        case Family::Ipv6:
            return ntohs(read<sockaddr_in6>(storage_).sin6_port);
        default:
            return 0;
    }
}

void SocketAddress::set_port(std::uint16_t port) noexcept {
    if (family() == Family::Ipv4) {
        auto value = read<sockaddr_in>(storage_);
        value.sin_port = htons(port);
        std::memcpy(&storage_, &value, sizeof(value));
    } else if (family() == Family::Ipv6) {
        auto value = read<sockaddr_in6>(storage_);
        value.sin6_port = htons(port);
        std::memcpy(&storage_, &value, sizeof(value));
    }
}

std::string SocketAddress::ip() const {
    char text[INET6_ADDRSTRLEN] = {};
    if (family() == Family::Ipv4) {
        const auto value = read<sockaddr_in>(storage_);
        return inet_ntop(AF_INET, &value.sin_addr, text, sizeof(text)) != nullptr ? text : "";
    }
    if (family() == Family::Ipv6) {
        const auto value = read<sockaddr_in6>(storage_);
        if (inet_ntop(AF_INET6, &value.sin6_addr, text, sizeof(text)) == nullptr) {
            return {};
        }
        std::string ip = text;
        if (value.sin6_scope_id != 0) {
            char name[IF_NAMESIZE] = {};
            ip += "%";
            ip += if_indextoname(value.sin6_scope_id, name) != nullptr ? name : std::to_string(value.sin6_scope_id);
        }
        return ip;
    }
    return {};
}

std::string SocketAddress::path() const {
    if (family() != Family::Unix) {
        return {};
    }
    std::string path(path_bytes(storage_, size_));
    if (!path.empty() && path.front() == '\0') {
        path.front() = '@';
    }
    return path;
}

std::string SocketAddress::to_string() const {
    switch (family()) {
        case Family::None:
            return "(none)";
        case Family::Ipv4:
            return ip() + ":" + std::to_string(port());
        case Family::Ipv6:
            return "[" + ip() + "]:" + std::to_string(port());
        case Family::Unix:
            return "unix:" + path();
        case Family::Other:
            break;
    }
    return "(family " + std::to_string(native_family()) + ")";
}

bool operator==(const SocketAddress& a, const SocketAddress& b) noexcept {
    using Family = SocketAddress::Family;
    if (a.native_family() != b.native_family() || a.family() != b.family()) {
        return false;
    }
    switch (a.family()) {
        case Family::None:
            return true;
        case Family::Ipv4: {
            const auto x = read<sockaddr_in>(a.storage_);
            const auto y = read<sockaddr_in>(b.storage_);
            return x.sin_port == y.sin_port && x.sin_addr.s_addr == y.sin_addr.s_addr;
        }
        case Family::Ipv6: {
            const auto x = read<sockaddr_in6>(a.storage_);
            const auto y = read<sockaddr_in6>(b.storage_);
            return x.sin6_port == y.sin6_port && x.sin6_scope_id == y.sin6_scope_id &&
                   std::memcmp(&x.sin6_addr, &y.sin6_addr, sizeof(x.sin6_addr)) == 0;
        }
        case Family::Unix:
            return path_bytes(a.storage_, a.size_) == path_bytes(b.storage_, b.size_);
        case Family::Other:
            break;
    }
    return a.size_ == b.size_ && std::memcmp(&a.storage_, &b.storage_, a.size_) == 0;
}

std::size_t SocketAddress::hash() const noexcept {
    const std::hash<std::string_view> bytes;
    switch (family()) {
        case Family::None:
            return 0;
        case Family::Ipv4: {
            const auto value = read<sockaddr_in>(storage_);
            return std::hash<std::uint64_t>()(std::uint64_t{value.sin_addr.s_addr} << 16 | value.sin_port);
        }
        case Family::Ipv6: {
            const auto value = read<sockaddr_in6>(storage_);
            const std::string_view ip(reinterpret_cast<const char*>(&value.sin6_addr), sizeof(value.sin6_addr));
            return bytes(ip) ^ std::hash<std::uint64_t>()(std::uint64_t{value.sin6_scope_id} << 16 | value.sin6_port);
        }
        case Family::Unix:
            return bytes(path_bytes(storage_, size_));
        case Family::Other:
            break;
    }
    return bytes(std::string_view(reinterpret_cast<const char*>(&storage_), size_));
}

}  // namespace trueasync
