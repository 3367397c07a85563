#include <arpa/nameser.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "elsewhere.hpp"
#include "hooks.hpp"

namespace trueasync::hooked {

namespace {

/// Settings of the resolver for another thread. What the pointers in them lead to is copied too, since a query writes there.
class Settings {
public:
    explicit Settings(const struct __res_state& from) noexcept : copy_(from) {
        copy_.options &= ~static_cast<unsigned long>(RES_STAYOPEN);
        copy_._vcsock = -1;
        copy_._flags = 0;
        for (char*& domain : copy_.dnsrch) {
            if (domain != nullptr) {
                domain = copy_.defdname + (domain - from.defdname);
            }
        }
        for (int i = 0; i < MAXNS; ++i) {
            copy_._u._ext.nssocks[i] = -1;
            sockaddr_in6*& address = copy_._u._ext.nsaddrs[i];
            if (address != nullptr) {
                addresses_[i] = *address;
            }
            if (address != nullptr || copy_.nsaddr_list[i].sin_family != 0) {
                address = &addresses_[i];
            }
        }
    }
    Settings(const Settings&) = delete;
    Settings& operator=(const Settings&) = delete;

    res_state get() noexcept { return &copy_; }

private:
    struct __res_state copy_;
    sockaddr_in6 addresses_[MAXNS]{};
};

/// A question with all that it needs: who is cancelled leaves at once, and the thread goes on without him.
template <typename Ask>
struct Query {
    Query(const struct __res_state& from, const unsigned char* answer, std::size_t room, const Ask& question)
        : settings(from), ask(question), packet(std::make_unique_for_overwrite<unsigned char[]>(room)) {
        std::copy_n(answer, room, packet.get());  // a query that fails leaves some of it as it was
    }
    void run() noexcept {
        result = ask(settings.get(), packet.get());
        error = errno;
        host_error = h_errno;
    }

    Settings settings;
    Ask ask;
    std::unique_ptr<unsigned char[]> packet;
    int result = -1;
    int error = 0;
    int host_error = 0;
};

/// The resolver waits inside the C library: a thread does it, by `ask(settings, packet)`.
template <typename Block, typename Ask>
int query(res_state resolver, unsigned char* answer, int size, Block&& block, const Ask& ask) noexcept {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return block();
    }
    const KeepErrno keep;
    unsigned char packet[HFIXEDSZ + QFIXEDSZ + 8];
    ::res_nmkquery(
        resolver, QUERY, "a", C_IN, T_A, nullptr, 0, nullptr, packet, sizeof(packet)
    );  // up to date from here on
    const auto room = static_cast<std::size_t>(std::max(size, 0));
    auto work = std::make_unique<Query<Ask>>(*resolver, answer, room, ask);
    switch (run_detached(*reactor, WorkLane::dns(), "resolver query", work)) {
        case Waited::Failed:
            resolver->res_h_errno = TRY_AGAIN;
            h_errno = TRY_AGAIN;
            return -1;
        case Waited::Blocks:
            return block();
        default:
            break;
    }
    std::copy_n(work->packet.get(), room, answer);
    resolver->res_h_errno = work->settings.get()->res_h_errno;
    h_errno = work->host_error;
    errno = work->error;
    return keep(work->result);
}

/// For functions that take the settings from the thread they run on.
template <typename Block, typename Ask>
int query_here(unsigned char* answer, int size, Block&& block, const Ask& ask) noexcept {
    if (suspending_reactor() == nullptr) {
        return block();
    }
    unsigned char packet[HFIXEDSZ + QFIXEDSZ + 8];
    ::res_mkquery(
        QUERY, "a", C_IN, T_A, nullptr, 0, nullptr, packet, sizeof(packet)
    );  // reads what has changed on the disk
    return query(&_res, answer, size, block, ask);
}

/// For those that are given them.
template <typename Ask>
int query_with(res_state resolver, unsigned char* answer, int size, const Ask& ask) noexcept {
    return query(
        resolver, answer, size, [&] { return ask(resolver, answer); }, ask
    );
}

auto ask_query(const char* name, int kind, int type, int size) {
    return [name = std::string(name), kind, type, size](res_state resolver, unsigned char* packet) {
        return ::res_nquery(resolver, name.c_str(), kind, type, packet, size);
    };
}

auto ask_search(const char* name, int kind, int type, int size) {
    return [name = std::string(name), kind, type, size](res_state resolver, unsigned char* packet) {
        return ::res_nsearch(resolver, name.c_str(), kind, type, packet, size);
    };
}

auto ask_domain(const char* name, const char* domain, int kind, int type, int size) {
    return
        [name = std::string(name), domain = copy(domain), kind, type, size](res_state resolver, unsigned char* packet) {
            return ::res_nquerydomain(resolver, name.c_str(), text_of(domain), kind, type, packet, size);
        };
}

auto ask_send(const unsigned char* question, int length, int size) {
    return [question = std::vector(question, question + length), size](res_state resolver, unsigned char* packet) {
        return ::res_nsend(resolver, question.data(), static_cast<int>(question.size()), packet, size);
    };
}

}  // namespace

int res_query(const char* name, int kind, int type, unsigned char* answer, int size) {
    return query_here(
        answer, size, [&] { return ::res_query(name, kind, type, answer, size); }, ask_query(name, kind, type, size)
    );
}

int res_search(const char* name, int kind, int type, unsigned char* answer, int size) {
    return query_here(
        answer, size, [&] { return ::res_search(name, kind, type, answer, size); }, ask_search(name, kind, type, size)
    );
}

int res_querydomain(const char* name, const char* domain, int kind, int type, unsigned char* answer, int size) {
    return query_here(
        answer, size, [&] { return ::res_querydomain(name, domain, kind, type, answer, size); },
        ask_domain(name, domain, kind, type, size)
    );
}

int res_send(const unsigned char* question, int length, unsigned char* answer, int size) {
    return query_here(
        answer, size, [&] { return ::res_send(question, length, answer, size); }, ask_send(question, length, size)
    );
}

int res_nquery(res_state resolver, const char* name, int kind, int type, unsigned char* answer, int size) {
    return query_with(resolver, answer, size, ask_query(name, kind, type, size));
}

int res_nsearch(res_state resolver, const char* name, int kind, int type, unsigned char* answer, int size) {
    return query_with(resolver, answer, size, ask_search(name, kind, type, size));
}

int res_nquerydomain(
    res_state resolver, const char* name, const char* domain, int kind, int type, unsigned char* answer, int size
) {
    return query_with(resolver, answer, size, ask_domain(name, domain, kind, type, size));
}

int res_nsend(res_state resolver, const unsigned char* question, int length, unsigned char* answer, int size) {
    return query_with(resolver, answer, size, ask_send(question, length, size));
}

}  // namespace trueasync::hooked
