#pragma once

/// @file trueasync/base/socket_address.hpp
/// Where a socket is, or what it should connect to.

#include <sys/socket.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <trueasync/base/status.hpp>

namespace trueasync {

/// An IPv4, IPv6 or unix address as a plain value, ready for `connect` and `bind`.
///
/// Text forms: `127.0.0.1:80`, `[::1]:80`, `[fe80::1%eth0]:80`, `unix:/path`, and on Linux `unix:@name` for an abstract
/// name. `to_string` writes what `parse` reads. Names are not looked up here; see `resolve`.
/// Thread rule: a value; copies are independent.
///
/// @snippet unit/base/socket_address_test.cpp  parse_and_print
class TA_API SocketAddress {
public:
    enum class Family : std::uint8_t { None, Ipv4, Ipv6, Unix, Other };

    /// No address: family `None`, size 0.
    SocketAddress() noexcept = default;

    /// What a system call has filled in. Too long is cut, as the system does.
    SocketAddress(const sockaddr* address, socklen_t size) noexcept;

    /// Reads one of the text forms. Fails with `InvalidArgument` and the text that was given.
    [[nodiscard]] static Status parse(std::string_view text, SocketAddress& address);

    /// Reads a numeric host alone, without brackets or port: `127.0.0.1`, `::1`, `fe80::1%eth0`. False when it is none; then
    /// `address` is unchanged. The strict form only: four decimal numbers, not `127.1`.
    [[nodiscard]] static bool from_ip(std::string_view ip, std::uint16_t port, SocketAddress& address) noexcept;

    /// A socket in the file system; with a leading `@`, on Linux, an abstract one. Fails when the path is empty, has a zero byte
    /// or is too long for the system.
    [[nodiscard]] static Status from_path(std::string_view path, SocketAddress& address);

    static SocketAddress loopback(std::uint16_t port, Family family = Family::Ipv4) noexcept;
    static SocketAddress any(std::uint16_t port, Family family = Family::Ipv4) noexcept;

    Family family() const noexcept;
    bool is_ip() const noexcept { return family() == Family::Ipv4 || family() == Family::Ipv6; }
    explicit operator bool() const noexcept { return size_ != 0; }

    /// Zero for what has no port.
    std::uint16_t port() const noexcept;
    /// Does nothing for what has no port.
    void set_port(std::uint16_t port) noexcept;

    /// The numeric address without port and brackets; empty for other families.
    std::string ip() const;
    /// The path of a unix address, with `@` for an abstract name; empty for other families and for an unnamed socket.
    std::string path() const;
    /// `127.0.0.1:80`, `[::1]:80`, `unix:/path`; `(none)` for no address.
    std::string to_string() const;

    // --- for system calls

    const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const noexcept { return size_; }
    /// Room for a system call to write to, together with `capacity`; then tell `resize` what it said.
    sockaddr* buffer() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }
    static constexpr socklen_t capacity() noexcept { return sizeof(sockaddr_storage); }
    void resize(socklen_t size) noexcept { size_ = size < capacity() ? size : capacity(); }
    /// `AF_INET` and so on; `AF_UNSPEC` for no address.
    int native_family() const noexcept { return size_ != 0 ? storage_.ss_family : AF_UNSPEC; }

    /// The same place: family, address, port and scope, or the same path.
    friend TA_API bool operator==(const SocketAddress& a, const SocketAddress& b) noexcept;
    std::size_t hash() const noexcept;

private:
    sockaddr_storage storage_{};
    socklen_t size_ = 0;
};

}  // namespace trueasync

template <>
struct std::hash<trueasync::SocketAddress> {
    std::size_t operator()(const trueasync::SocketAddress& address) const noexcept { return address.hash(); }
};
