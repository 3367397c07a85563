#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elsewhere.hpp"
#include "hooks.hpp"
#include "state.hpp"

namespace trueasync::hooked {

namespace {

struct AddressLookup {
    ~AddressLookup() {
        if (result != nullptr) {
            ::freeaddrinfo(result);
        }
    }
    void run() noexcept {
        h_errno = 0;
        code = ::getaddrinfo(text_of(host), text_of(service), has_hints ? &hints : nullptr, &result);
        error = errno;
        left_behind = h_errno;
    }

    std::optional<std::string> host;
    std::optional<std::string> service;
    addrinfo hints{};
    bool has_hints = false;
    addrinfo* result = nullptr;
    int code = 0;
    int error = 0;
    int left_behind = 0;
};

struct NameLookup {
    void run() noexcept {
        code = ::getnameinfo(
            reinterpret_cast<const sockaddr*>(&address), size, host.data(), static_cast<socklen_t>(host.size()),
            service.data(), static_cast<socklen_t>(service.size()), flags
        );
        error = errno;
    }

    sockaddr_storage address{};
    socklen_t size = 0;
    std::string host;
    std::string service;
    int flags = 0;
    int code = 0;
    int error = 0;
};

/// All that the old functions are asked and answer.
struct HostLookup {
    void run() noexcept {
        for (buffer.resize(1024);; buffer.resize(buffer.size() * 2)) {
            h_errno = 0;
            code = address.empty() ? ::gethostbyname2_r(
                                         name.c_str(), family, &room, buffer.data(), buffer.size(), &result, &host_error
                                     )
                                   : ::gethostbyaddr_r(
                                         address.data(), static_cast<socklen_t>(address.size()), family, &room,
                                         buffer.data(), buffer.size(), &result, &host_error
                                     );
            error = errno;
            left_behind = h_errno;
            if (code != ERANGE || buffer.size() > (1U << 20)) {
                return;
            }
        }
    }

    std::string name;
    std::string address;  // empty: the name is looked up
    int family = AF_INET;
    std::vector<char> buffer;
    hostent room{};
    hostent* result = nullptr;
    int code = 0;
    int error = 0;
    int host_error = 0;
    int left_behind = 0;
};

/// What the resolver has set on the thread that asked it, if anything.
void leave_behind(int host_error) noexcept {
    if (host_error != 0) {
        h_errno = host_error;
    }
}

/// Memory that somebody else owns, given out in pieces.
class Arena {
public:
    Arena(char* begin, std::size_t size) noexcept : next_(begin), end_(begin + size) {}

    /// Null when it is full.
    template <typename T>
    T* take(std::size_t count) noexcept {
        const std::size_t gap = (alignof(T) - reinterpret_cast<std::uintptr_t>(next_) % alignof(T)) % alignof(T);
        if (static_cast<std::size_t>(end_ - next_) < gap + count * sizeof(T)) {
            return nullptr;
        }
        T* piece = reinterpret_cast<T*>(next_ + gap);
        next_ += gap + count * sizeof(T);
        return piece;
    }

    char* copy(const char* data, std::size_t size) noexcept {
        char* piece = take<char>(size);
        return piece != nullptr ? static_cast<char*>(std::memcpy(piece, data, size)) : nullptr;
    }

private:
    char* next_;
    char* end_;
};

/// A list that ends with null, of pieces whose sizes `size_of` tells. Null when it does not fit.
template <typename SizeOf>
char** copy_list(Arena& arena, char* const* list, SizeOf&& size_of) noexcept {
    std::size_t count = 0;
    while (list != nullptr && list[count] != nullptr) {
        ++count;
    }
    char** result = arena.take<char*>(count + 1);
    for (std::size_t i = 0; result != nullptr && i < count; ++i) {
        result[i] = arena.copy(list[i], size_of(list[i]));
        if (result[i] == nullptr) {
            return nullptr;
        }
    }
    if (result != nullptr) {
        result[count] = nullptr;
    }
    return result;
}

bool copy_host(const hostent& from, hostent& to, char* buffer, std::size_t size) noexcept {
    Arena arena(buffer, size);
    const auto text_size = [](const char* text) { return std::strlen(text) + 1; };
    to = from;
    to.h_addr_list =
        copy_list(arena, from.h_addr_list, [&](const char*) { return static_cast<std::size_t>(from.h_length); });
    to.h_aliases = copy_list(arena, from.h_aliases, text_size);
    to.h_name = arena.copy(from.h_name, text_size(from.h_name));
    return to.h_addr_list != nullptr && to.h_aliases != nullptr && to.h_name != nullptr;
}

std::unique_ptr<HostLookup> by_name(const char* name, int family) {
    auto lookup = std::make_unique<HostLookup>();
    lookup->name = name;
    lookup->family = family;
    return lookup;
}

std::unique_ptr<HostLookup> by_address(const void* address, socklen_t length, int family) {
    auto lookup = std::make_unique<HostLookup>();
    lookup->address.assign(static_cast<const char*>(address), length);
    lookup->family = family;
    return lookup;
}

/// What stays between calls. Made when it is needed: there is little thread-local memory for libraries that are loaded later.
struct Hosts {
    std::map<std::uint64_t, std::unique_ptr<HostLookup>> kept_answers;  // looked up ahead; by coroutine
    hostent room{};                                                     // for callers who give none
    std::vector<char> buffer;
};

Hosts& hosts() {
    thread_local std::unique_ptr<Hosts> made;
    if (made == nullptr) {
        made = std::make_unique<Hosts>();
    }
    return *made;
}

std::unique_ptr<HostLookup> take_answer(const HostLookup& lookup) {
    std::unique_ptr<HostLookup> answer;
    auto& kept_answers = hosts().kept_answers;
    if (const auto kept = kept_answers.find(detail::hot.current->id()); kept != kept_answers.end()) {
        answer = std::move(kept->second);
        kept_answers.erase(kept);
    }
    const bool is_same = answer != nullptr && answer->name == lookup.name && answer->address == lookup.address &&
                         answer->family == lookup.family;
    return is_same ? std::move(answer) : nullptr;
}

int fill(
    const HostLookup& lookup, hostent* room, char* buffer, std::size_t size, hostent** result, int* error
) noexcept {
    const KeepErrno keep;
    leave_behind(lookup.left_behind);
    *error = lookup.host_error;
    if (lookup.result == nullptr) {
        errno = lookup.error;
        return lookup.code;
    }
    if (!copy_host(*lookup.result, *room, buffer, size)) {
        *error = NETDB_INTERNAL;
        errno = ERANGE;
        return ERANGE;
    }
    *result = room;
    return keep(0);
}

/// The form with the caller's memory. `block` is the original, which is called also when that memory might be gone after a wait.
template <typename Block>
int look_up_host(
    IoReactor& reactor,
    std::unique_ptr<HostLookup> lookup,
    hostent* room,
    char* buffer,
    std::size_t size,
    hostent** result,
    int* error,
    const void* caller,
    Block&& block
) noexcept {
    *result = nullptr;
    TransparentHost* host = state.host;
    const bool is_shared = host != nullptr && caller != nullptr && host->shares_memory(caller);
    if (is_shared) {
        if (const auto answer = take_answer(*lookup)) {
            return fill(*answer, room, buffer, size, result, error);
        }
        return block();
    }
    switch (run_detached(reactor, WorkLane::dns(), "gethostbyname", lookup)) {
        case Waited::Failed:
            *error = NETDB_INTERNAL;
            return errno;
        case Waited::Blocks:
            return block();
        default:
            break;
    }
    return fill(*lookup, room, buffer, size, result, error);
}

/// The form with memory of the C library: ours, one for each thread, valid until the next call.
template <typename Block>
hostent* look_up_host(IoReactor& reactor, std::unique_ptr<HostLookup> lookup, Block&& block) noexcept {
    Hosts& own = hosts();
    own.buffer.resize(std::size_t{64} << 10);
    hostent* result = nullptr;
    bool is_blocked = false;
    const auto give_up = [&] {
        is_blocked = true;
        return 0;
    };
    static_cast<void>(look_up_host(
        reactor, std::move(lookup), &own.room, own.buffer.data(), own.buffer.size(), &result, &h_errno, nullptr, give_up
    ));
    return is_blocked ? block() : result;
}

}  // namespace

int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** result) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return ::getaddrinfo(host, service, hints, result);
    }
    const KeepErrno keep;
    addrinfo numeric = hints != nullptr ? *hints : addrinfo{};
    numeric.ai_flags = hints != nullptr ? hints->ai_flags : AI_V4MAPPED | AI_ADDRCONFIG;
    numeric.ai_flags |= AI_NUMERICHOST;
    const int code =
        host == nullptr ? ::getaddrinfo(host, service, hints, result) : ::getaddrinfo(host, service, &numeric, result);
    if (host == nullptr || code != EAI_NONAME) {
        for (addrinfo* one = code == 0 ? *result : nullptr; one != nullptr; one = one->ai_next) {
            one->ai_flags = hints != nullptr ? hints->ai_flags : one->ai_flags & ~AI_NUMERICHOST;
        }
        // Needs no server, but a lookup always lets the others run.
        if (wait_time(Deadline::after(Duration::zero())) == Waited::Failed) {
            const int error = errno;
            if (code == 0) {
                ::freeaddrinfo(std::exchange(*result, nullptr));  // libpq frees what it finds, whatever we say
            }
            errno = error;
            return EAI_SYSTEM;
        }
        return code == 0 ? keep(0) : code;
    }
    auto lookup = std::make_unique<AddressLookup>();
    lookup->host = copy(host);
    lookup->service = copy(service);
    lookup->has_hints = hints != nullptr;
    lookup->hints = numeric;
    lookup->hints.ai_flags = hints != nullptr ? hints->ai_flags : 0;
    switch (run_detached(*reactor, WorkLane::dns(), "getaddrinfo", lookup)) {
        case Waited::Failed:
            return EAI_SYSTEM;
        case Waited::Blocks:
            return ::getaddrinfo(host, service, hints, result);
        default:
            break;
    }
    *result = std::exchange(lookup->result, nullptr);
    leave_behind(lookup->left_behind);
    errno = lookup->error;
    return lookup->code == 0 ? keep(0) : lookup->code;
}

int getnameinfo(
    const sockaddr* address,
    socklen_t size,
    char* host,
    socklen_t host_size,
    char* service,
    socklen_t service_size,
    int flags
) {
    const auto original = [&] { return ::getnameinfo(address, size, host, host_size, service, service_size, flags); };
    const bool is_local = host == nullptr || host_size == 0 || (flags & NI_NUMERICHOST) != 0;
    IoReactor* reactor = is_local || size > sizeof(sockaddr_storage) ? nullptr : suspending_reactor();
    if (reactor == nullptr) {
        return original();
    }
    const KeepErrno keep;
    auto lookup = std::make_unique<NameLookup>();
    std::memcpy(&lookup->address, address, size);
    lookup->size = size;
    lookup->host.resize(host_size);
    lookup->service.resize(service != nullptr ? service_size : 0);
    lookup->flags = flags;
    switch (run_detached(*reactor, WorkLane::dns(), "getnameinfo", lookup)) {
        case Waited::Failed:
            return EAI_SYSTEM;
        case Waited::Blocks:
            return original();
        default:
            break;
    }
    errno = lookup->error;
    if (lookup->code != 0) {
        return lookup->code;
    }
    std::copy_n(lookup->host.data(), lookup->host.size(), host);
    if (!lookup->service.empty()) {
        std::copy_n(lookup->service.data(), lookup->service.size(), service);
    }
    return keep(0);
}

hostent* gethostbyname2(const char* name, int family) {
    IoReactor* reactor = suspending_reactor();
    const auto original = [&] { return ::gethostbyname2(name, family); };
    return reactor == nullptr ? original() : look_up_host(*reactor, by_name(name, family), original);
}

hostent* gethostbyname(const char* name) {
    IoReactor* reactor = suspending_reactor();
    const auto original = [&] { return ::gethostbyname(name); };
    return reactor == nullptr ? original() : look_up_host(*reactor, by_name(name, AF_INET), original);
}

hostent* gethostbyaddr(const void* address, socklen_t length, int family) {
    IoReactor* reactor = length != 0 ? suspending_reactor() : nullptr;
    const auto original = [&] { return ::gethostbyaddr(address, length, family); };
    return reactor == nullptr ? original() : look_up_host(*reactor, by_address(address, length, family), original);
}

int gethostbyname2_r(
    const char* name, int family, hostent* room, char* buffer, size_t size, hostent** result, int* error
) {
    const void* caller = __builtin_return_address(0);
    IoReactor* reactor = suspending_reactor();
    const auto original = [&] { return ::gethostbyname2_r(name, family, room, buffer, size, result, error); };
    return reactor == nullptr
               ? original()
               : look_up_host(*reactor, by_name(name, family), room, buffer, size, result, error, caller, original);
}

int gethostbyname_r(const char* name, hostent* room, char* buffer, size_t size, hostent** result, int* error) {
    const void* caller = __builtin_return_address(0);
    IoReactor* reactor = suspending_reactor();
    const auto original = [&] { return ::gethostbyname_r(name, room, buffer, size, result, error); };
    return reactor == nullptr
               ? original()
               : look_up_host(*reactor, by_name(name, AF_INET), room, buffer, size, result, error, caller, original);
}

int gethostbyaddr_r(
    const void* address,
    socklen_t length,
    int family,
    hostent* room,
    char* buffer,
    size_t size,
    hostent** result,
    int* error
) {
    const void* caller = __builtin_return_address(0);
    IoReactor* reactor = length != 0 ? suspending_reactor() : nullptr;
    const auto original = [&] { return ::gethostbyaddr_r(address, length, family, room, buffer, size, result, error); };
    return reactor == nullptr
               ? original()
               : look_up_host(
                     *reactor, by_address(address, length, family), room, buffer, size, result, error, caller, original
                 );
}

}  // namespace trueasync::hooked

namespace trueasync {

void look_up_ahead(const char* name) noexcept {
    using namespace hooked;
    if (IoReactor* reactor = suspending_reactor()) {
        const std::uint64_t id = detail::hot.current->id();
        std::unique_ptr<HostLookup> lookup = by_name(name, AF_INET);
        if (run_detached(*reactor, WorkLane::dns(), "gethostbyname", lookup) == Waited::Ready) {
            hosts().kept_answers[id] = std::move(lookup);
        }
    }
}

void forget_lookup() noexcept {
    if (detail::hot.current != nullptr) {
        hooked::hosts().kept_answers.erase(detail::hot.current->id());
    }
}

}  // namespace trueasync
