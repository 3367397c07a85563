#pragma once

/// @file trueasync/reactor/dns.hpp
/// Names to addresses and back, the way the system does it.

#include <sys/socket.h>
#include <memory>
#include <string>
#include <string_view>
#include <trueasync/base/socket_address.hpp>
#include <trueasync/reactor/reactor_event.hpp>
#include <vector>

namespace trueasync {

/// What `getaddrinfo` is asked.
struct DnsQuery {
    std::string host = {};       ///< a name or a numeric address; empty: this machine
    std::string service = {};    ///< a name or a port number; empty: port 0
    int family = AF_UNSPEC;      ///< `AF_INET` or `AF_INET6` for one kind only
    int socktype = SOCK_STREAM;  ///< 0: one answer for each kind of socket
    int protocol = 0;
    int flags = 0;  ///< `AI_...`

    bool operator==(const DnsQuery&) const = default;
};

/// One answer of `getaddrinfo`, in its order: best first.
struct DnsAddress {
    SocketAddress address;
    int socktype = 0;
    int protocol = 0;
    std::string canonical_name;  ///< of the first answer, with `AI_CANONNAME`
};

/// The answer of `getnameinfo`.
struct DnsName {
    std::string host;
    std::string service;
};

/// A lookup that failed, with the number that `getaddrinfo` returned.
/// The message says what was looked up: `resolve no.such.host: EAI_NONAME, Name or service not known`.
class TA_API DnsError final : public Error {
public:
    /// `system_error` is the errno that belongs to `EAI_SYSTEM`.
    static Ref<Error> make(std::string_view what, int eai, int system_error);

    int eai() const noexcept { return eai_; }

    /// `EAI_NONAME` and so on; `EAI_<number>` for one that the system has and we do not know.
    static std::string name(int eai);

private:
    DnsError(std::string message, int eai);

    int eai_;
};

/// Where answers come from: the system's `getaddrinfo` and `getnameinfo`, so that the hosts file and nsswitch count. Tests put
/// another one in its place.
///
/// Thread rule: called on several threads at once.
class TA_API DnsResolver {
public:
    DnsResolver() = default;
    DnsResolver(const DnsResolver&) = delete;
    DnsResolver& operator=(const DnsResolver&) = delete;
    virtual ~DnsResolver() = default;

    /// Zero, or an `EAI_...` (with errno for `EAI_SYSTEM`).
    virtual int look_up(const DnsQuery& query, std::vector<DnsAddress>& addresses);
    virtual int look_up(const SocketAddress& address, int flags, DnsName& name);
};

/// Replaces the resolver of the process for lookups that begin from now on; null brings the system's back. Returns the one before.
TA_API DnsResolver* set_dns_resolver(DnsResolver* resolver) noexcept;

namespace detail {

/// What a lookup brought, shared by all who asked the same.
struct DnsAnswer {
    explicit DnsAnswer(int error = 0) noexcept : eai(error) {}

    int eai;
    int system_error = 0;
    std::vector<DnsAddress> addresses;
    DnsName name;
};

class DnsTicket;

/// What both lookups have in common.
class TA_API DnsEvent : public ReactorEvent, private TimerNode {
public:
    /// True when there is an answer, good or bad.
    bool is_finished() const noexcept { return is_finished_; }
    /// Why there is no answer; null while there may be one.
    Error* error() const noexcept { return error_.get(); }

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;
    std::string info() const override;

protected:
    DnsEvent(EventType type, Reactor& reactor, Duration timeout) noexcept;

    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override;

    /// What is asked, for messages.
    virtual std::string subject() const = 0;
    /// Asks, or joins those who have asked already.
    virtual Status ask(DnsTicket*& ticket) = 0;
    virtual void* result() noexcept = 0;

    /// An answer that needs no thread: the event is complete before anybody waits.
    void answer_at_once(std::shared_ptr<const DnsAnswer> answer);
    const std::shared_ptr<const DnsAnswer>& answer() const noexcept { return answer_; }

private:
    friend class DnsTicket;

    void on_deadline() noexcept override;
    void take(std::shared_ptr<const DnsAnswer> answer);
    void finish(std::shared_ptr<const DnsAnswer> answer) noexcept;
    void ask_again() noexcept;
    void fail(Ref<Error> error) noexcept;
    void abandon() noexcept;

    Duration timeout_;
    DnsTicket* ticket_ = nullptr;  // while an answer is expected
    std::shared_ptr<const DnsAnswer> answer_;
    Ref<Error> error_;
    bool is_finished_ = false;
};

}  // namespace detail

/// Looks up a name and fires with its addresses, or with a `DnsError`.
///
/// The system's own function is called, on the lane `dns`, whose 32 threads are for nothing else. Equal lookups that are on their way
/// at the same time, in whatever thread of the process, share one call. A numeric address needs no thread: the event is complete
/// when it is made and awaiting it does not suspend. There is no cache; the system may have one.
/// Thread rule: the thread of its reactor.
/// Lifetime: may be dropped at any time, and may outlive its reactor (see `ReactorEvent`).
/// Cancel rule: a waiter that leaves does not disturb the others. When nobody is left who wants the answer, a call that has not
/// begun is taken back; one that has begun ends by itself and its answer is thrown away. Another `start` asks again.
///
/// @snippet unit/reactor/dns_test.cpp  await_addrinfo
class TA_API DnsAddrinfoEvent final : public detail::DnsEvent {
public:
    /// With a `timeout` the event fails with `Timeout` that long after its start; zero means that only its waiters have limits.
    static Ref<DnsAddrinfoEvent> create(Reactor& reactor, DnsQuery query, Duration timeout = Duration::zero());

    const DnsQuery& query() const noexcept { return query_; }

    /// Empty until the event has fired. Also what it fires with, as `const std::vector<DnsAddress>*`.
    const std::vector<DnsAddress>& addresses() const noexcept;

protected:
    std::string subject() const override;
    Status ask(detail::DnsTicket*& ticket) override;
    void* result() noexcept override;

private:
    DnsAddrinfoEvent(Reactor& reactor, DnsQuery query, Duration timeout) noexcept;

    DnsQuery query_;
};

/// Looks up the name of an address and fires with it, or with a `DnsError`. In everything else like `DnsAddrinfoEvent`.
///
/// Without flags an address that has no name is answered with its digits; with `NI_NAMEREQD` it is an error. `NI_NUMERICHOST`
/// together with `NI_NUMERICSERV` needs no thread.
///
/// @snippet unit/reactor/dns_test.cpp  await_nameinfo
class TA_API DnsNameinfoEvent final : public detail::DnsEvent {
public:
    static Ref<DnsNameinfoEvent> create(
        Reactor& reactor, const SocketAddress& address, int flags = 0, Duration timeout = Duration::zero()
    );

    const SocketAddress& address() const noexcept { return address_; }

    /// Empty until the event has fired. Also what it fires with, as `const DnsName*`.
    const DnsName& name() const noexcept;

protected:
    std::string subject() const override;
    Status ask(detail::DnsTicket*& ticket) override;
    void* result() noexcept override;

private:
    DnsNameinfoEvent(Reactor& reactor, const SocketAddress& address, int flags, Duration timeout) noexcept;

    SocketAddress address_;
    int flags_;
};

}  // namespace trueasync
