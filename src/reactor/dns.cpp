#include <trueasync/reactor/dns.hpp>

#include <netdb.h>
#include <atomic>
#include <cerrno>
#include <trueasync/reactor/system_error.hpp>
#include <utility>
#include "reactor/dns_lookup.hpp"

namespace trueasync {

namespace {

[[maybe_unused]] const bool addrinfo_registered =
    detail::register_event_size(EventType::DnsAddrinfo, sizeof(DnsAddrinfoEvent));
[[maybe_unused]] const bool nameinfo_registered =
    detail::register_event_size(EventType::DnsNameinfo, sizeof(DnsNameinfoEvent));

std::atomic<DnsResolver*> replaced_resolver = nullptr;

DnsResolver& current_resolver() {
    static auto* system = new DnsResolver;  // never destroyed: threads may use it to the end
    DnsResolver* replaced = replaced_resolver.load(std::memory_order_acquire);
    return replaced != nullptr ? *replaced : *system;
}

/// Joined with zero bytes, which no part contains.
template <typename... Parts>
std::string make_key(const DnsResolver& resolver, const Parts&... parts) {
    std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(&resolver));
    ((key += '\0', key += parts), ...);
    return key;
}

class AddrinfoLookup final : public detail::DnsLookup {
public:
    AddrinfoLookup(DnsResolver& resolver, const DnsQuery& query)
        : DnsLookup(make_key(
              resolver,
              std::to_string(query.family),
              std::to_string(query.socktype),
              std::to_string(query.protocol),
              std::to_string(query.flags),
              query.host,
              query.service
          )),
          resolver_(resolver),
          query_(query) {}

protected:
    void look_up(detail::DnsAnswer& answer) override {
        answer.eai = resolver_.look_up(query_, answer.addresses);
        answer.system_error = errno;
    }

private:
    DnsResolver& resolver_;
    DnsQuery query_;
};

class NameinfoLookup final : public detail::DnsLookup {
public:
    NameinfoLookup(DnsResolver& resolver, const SocketAddress& address, int flags)
        : DnsLookup(make_key(resolver, "name", address.to_string(), std::to_string(flags))),
          resolver_(resolver),
          address_(address),
          flags_(flags) {}

protected:
    void look_up(detail::DnsAnswer& answer) override {
        answer.eai = resolver_.look_up(address_, flags_, answer.name);
        answer.system_error = errno;
    }

private:
    DnsResolver& resolver_;
    SocketAddress address_;
    int flags_;
};

/// Asks the system in a way that needs no waiting: digits only. Null when there is something to look up.
std::shared_ptr<const detail::DnsAnswer> answer_from_digits(const DnsQuery& query) {
    DnsQuery digits = query;
    digits.flags |= AI_NUMERICHOST | AI_NUMERICSERV;
    auto answer = std::make_shared<detail::DnsAnswer>();
    answer->eai = DnsResolver().look_up(digits, answer->addresses);
    answer->system_error = errno;
    if (answer->eai == EAI_NONAME && digits.flags != query.flags) {
        return nullptr;
    }
    return answer;
}

bool has_zero_byte(const std::string& text) noexcept { return text.find('\0') != std::string::npos; }

bool is_number(const std::string& text) noexcept {
    return text.find_first_not_of("0123456789") == std::string::npos;  // also when empty
}

}  // namespace

// --- errors

DnsError::DnsError(std::string message, int eai) : Error(ErrorCode::Resolve, std::move(message), {}), eai_(eai) {}

Ref<Error> DnsError::make(std::string_view what, int eai, int system_error) {
    const std::string text = eai == EAI_SYSTEM ? errno_name(system_error) : std::string(gai_strerror(eai));
    return Ref<Error>::adopt(new DnsError("resolve " + std::string(what) + ": " + name(eai) + ", " + text, eai));
}

std::string DnsError::name(int eai) {
    switch (eai) {
        case EAI_AGAIN:
            return "EAI_AGAIN";
        case EAI_BADFLAGS:
            return "EAI_BADFLAGS";
        case EAI_FAIL:
            return "EAI_FAIL";
        case EAI_FAMILY:
            return "EAI_FAMILY";
        case EAI_MEMORY:
            return "EAI_MEMORY";
        case EAI_NONAME:
            return "EAI_NONAME";
        case EAI_OVERFLOW:
            return "EAI_OVERFLOW";
        case EAI_SERVICE:
            return "EAI_SERVICE";
        case EAI_SOCKTYPE:
            return "EAI_SOCKTYPE";
        case EAI_SYSTEM:
            return "EAI_SYSTEM";
            // Not in POSIX, but known to most systems.
#if defined(EAI_ADDRFAMILY)
        case EAI_ADDRFAMILY:
            return "EAI_ADDRFAMILY";
#endif
#if defined(EAI_NODATA) && EAI_NODATA != EAI_NONAME
        case EAI_NODATA:
            return "EAI_NODATA";
#endif
        default:
            return "EAI_" + std::to_string(eai);
    }
}

// --- the system's functions

int DnsResolver::look_up(const DnsQuery& query, std::vector<DnsAddress>& addresses) {
    addrinfo hints{};
    hints.ai_family = query.family;
    hints.ai_socktype = query.socktype;
    hints.ai_protocol = query.protocol;
    hints.ai_flags = query.flags;
    addrinfo* list = nullptr;
    errno = 0;
    const int eai = ::getaddrinfo(
        query.host.empty() ? nullptr : query.host.c_str(), query.service.empty() ? nullptr : query.service.c_str(),
        &hints, &list
    );
    if (eai != 0) {
        return eai;
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(list, &::freeaddrinfo);
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
        addresses.push_back(
            {.address = SocketAddress(entry->ai_addr, entry->ai_addrlen),
             .socktype = entry->ai_socktype,
             .protocol = entry->ai_protocol,
             .canonical_name = entry->ai_canonname != nullptr ? entry->ai_canonname : ""}
        );
    }
    return 0;
}

int DnsResolver::look_up(const SocketAddress& address, int flags, DnsName& name) {
    char host[1025] = {};  // NI_MAXHOST and NI_MAXSERV, which not every system shows
    char service[32] = {};
    errno = 0;
    const int eai = ::getnameinfo(address.data(), address.size(), host, sizeof(host), service, sizeof(service), flags);
    if (eai == 0) {
        name = {.host = host, .service = service};
    }
    return eai;
}

DnsResolver* set_dns_resolver(DnsResolver* resolver) noexcept {
    return replaced_resolver.exchange(resolver, std::memory_order_acq_rel);
}

// --- what both events do

namespace detail {

DnsEvent::DnsEvent(EventType type, Reactor& reactor, Duration timeout) noexcept
    : ReactorEvent(reactor, type), timeout_(timeout) {}

Status DnsEvent::enter_loop() {
    if (timeout_ > Duration::zero()) {
        if (Status status = reactor()->arm(*this, Deadline::after(timeout_).resolve(reactor()->now())); !status) {
            return status;
        }
    }
    Status status = ask(ticket_);
    if (!status) {
        reactor()->disarm(*this);
    }
    return status;
}

void DnsEvent::leave_loop() noexcept {
    if (is_armed()) {
        reactor()->disarm(*this);
    }
    if (ticket_ != nullptr) {
        std::exchange(ticket_, nullptr)->leave();
    }
}

void DnsEvent::on_deadline() noexcept {
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(timeout_);
    fail(Error::make(
        ErrorCode::Timeout, "resolve " + subject() + ": no answer within " + std::to_string(limit.count()) + " ms"
    ));
}

void DnsEvent::take(std::shared_ptr<const DnsAnswer> answer) {
    is_finished_ = true;
    answer_ = std::move(answer);
    if (answer_->eai != 0) {
        error_ = DnsError::make(subject(), answer_->eai, answer_->system_error);
    }
}

void DnsEvent::answer_at_once(std::shared_ptr<const DnsAnswer> answer) {
    take(std::move(answer));
    close();
}

void DnsEvent::finish(std::shared_ptr<const DnsAnswer> answer) noexcept {
    ticket_ = nullptr;
    take(std::move(answer));
    notify(error_ == nullptr ? result() : nullptr, error_.get()).ignore();
}

void DnsEvent::ask_again() noexcept {
    ticket_ = nullptr;
    if (Status status = ask(ticket_); !status) {
        fail(status.take());
    }
}

void DnsEvent::fail(Ref<Error> error) noexcept {
    is_finished_ = true;
    error_ = std::move(error);
    notify(nullptr, error_.get()).ignore();
}

/// The loop closes.
void DnsEvent::abandon() noexcept {
    ticket_ = nullptr;
    close();
}

bool DnsEvent::replay(Callback* callback, void** result_out, Ref<Error>* error_out) {
    return is_finished_ && is_closed() &&
           hand_out(error_ == nullptr ? result() : nullptr, error_.get(), callback, result_out, error_out);
}

std::string DnsEvent::info() const {
    std::string phase(to_string(state()));
    if (is_finished_) {
        phase = error_ == nullptr ? "done" : "failed";
    }
    return std::string(to_string(type())) + "(" + subject() + ", " + phase + ")";
}

}  // namespace detail

// --- names to addresses

DnsAddrinfoEvent::DnsAddrinfoEvent(Reactor& reactor, DnsQuery query, Duration timeout) noexcept
    : DnsEvent(EventType::DnsAddrinfo, reactor, timeout), query_(std::move(query)) {}

Ref<DnsAddrinfoEvent> DnsAddrinfoEvent::create(Reactor& reactor, DnsQuery query, Duration timeout) {
    auto event = Ref<DnsAddrinfoEvent>::adopt(new DnsAddrinfoEvent(reactor, std::move(query), timeout));
    if (has_zero_byte(event->query_.host) || has_zero_byte(event->query_.service)) {
        // The system would look up what stands before it, which is not what was asked.
        event->answer_at_once(std::make_shared<detail::DnsAnswer>(EAI_NONAME));
    } else if (auto answer = answer_from_digits(event->query_)) {
        event->answer_at_once(std::move(answer));
    }
    return event;
}

const std::vector<DnsAddress>& DnsAddrinfoEvent::addresses() const noexcept {
    static const std::vector<DnsAddress> nothing;
    return answer() != nullptr ? answer()->addresses : nothing;
}

std::string DnsAddrinfoEvent::subject() const {
    const std::string host = query_.host.empty() ? "(this machine)" : query_.host;
    return is_number(query_.service) ? host : host + ":" + query_.service;
}

Status DnsAddrinfoEvent::ask(detail::DnsTicket*& ticket) {
    return detail::DnsLookup::join(
        *reactor(), *this, std::make_unique<AddrinfoLookup>(current_resolver(), query_), ticket
    );
}

void* DnsAddrinfoEvent::result() noexcept { return const_cast<std::vector<DnsAddress>*>(&addresses()); }

// --- addresses to names

DnsNameinfoEvent::DnsNameinfoEvent(Reactor& reactor, const SocketAddress& address, int flags, Duration timeout) noexcept
    : DnsEvent(EventType::DnsNameinfo, reactor, timeout), address_(address), flags_(flags) {}

Ref<DnsNameinfoEvent> DnsNameinfoEvent::create(
    Reactor& reactor, const SocketAddress& address, int flags, Duration timeout
) {
    auto event = Ref<DnsNameinfoEvent>::adopt(new DnsNameinfoEvent(reactor, address, flags, timeout));
    constexpr int kDigits = NI_NUMERICHOST | NI_NUMERICSERV;
    if ((flags & kDigits) == kDigits || !address.is_ip()) {
        auto answer = std::make_shared<detail::DnsAnswer>();
        answer->eai = DnsResolver().look_up(address, flags, answer->name);
        answer->system_error = errno;
        event->answer_at_once(std::move(answer));
    }
    return event;
}

const DnsName& DnsNameinfoEvent::name() const noexcept {
    static const DnsName nothing;
    return answer() != nullptr ? answer()->name : nothing;
}

std::string DnsNameinfoEvent::subject() const { return address_.is_ip() ? address_.ip() : address_.to_string(); }

Status DnsNameinfoEvent::ask(detail::DnsTicket*& ticket) {
    return detail::DnsLookup::join(
        *reactor(), *this, std::make_unique<NameinfoLookup>(current_resolver(), address_, flags_), ticket
    );
}

void* DnsNameinfoEvent::result() noexcept { return const_cast<DnsName*>(&name()); }

}  // namespace trueasync
