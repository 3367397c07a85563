#include <arpa/nameser.h>

#include "elsewhere.hpp"
#include "hooks.hpp"

namespace trueasync::hooked {

namespace {

/// The resolver waits inside the C library, with the caller's memory: a thread does it. Cancellation waits for the answer.
template <typename Query>
int query(Query&& ask) noexcept {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return ask();
    }
    const KeepErrno keep;
    int result = -1;
    int error = 0;
    int host_error = 0;
    const Waited waited = run_attached(*reactor, WorkLane::dns(), "resolver query", [&] {
        result = ask();
        error = errno;
        host_error = h_errno;
    });
    switch (waited) {
        case Waited::Ready:
            h_errno = host_error;
            errno = error;
            return keep(result);
        case Waited::Blocks:
            return ask();
        default:
            h_errno = TRY_AGAIN;
            return -1;
    }
}

/// The thread's own settings of the resolver, for another thread: other coroutines may ask meanwhile. What the pointers in it lead to is copied
/// too, since a query writes there.
class Settings {
public:
    Settings() noexcept {
        unsigned char packet[HFIXEDSZ + QFIXEDSZ + 8];
        ::res_mkquery(QUERY, "a", C_IN, T_A, nullptr, 0, nullptr, packet, sizeof(packet));  // up to date from here on
        copy_ = _res;
        copy_.options &= ~static_cast<unsigned long>(RES_STAYOPEN);
        copy_._vcsock = -1;
        copy_._flags = 0;
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

/// The same for functions that take them from the thread they run on.
template <typename Original, typename Query>
int query_here(Original&& original, Query&& ask) noexcept {
    if (suspending_reactor() == nullptr) {
        return original();
    }
    Settings settings;
    return query([&] { return ask(settings.get()); });
}

}  // namespace

int res_query(const char* name, int kind, int type, unsigned char* answer, int size) {
    return query_here(
        [&] { return ::res_query(name, kind, type, answer, size); },
        [&](res_state resolver) { return ::res_nquery(resolver, name, kind, type, answer, size); }
    );
}

int res_search(const char* name, int kind, int type, unsigned char* answer, int size) {
    return query_here(
        [&] { return ::res_search(name, kind, type, answer, size); },
        [&](res_state resolver) { return ::res_nsearch(resolver, name, kind, type, answer, size); }
    );
}

int res_querydomain(const char* name, const char* domain, int kind, int type, unsigned char* answer, int size) {
    return query_here(
        [&] { return ::res_querydomain(name, domain, kind, type, answer, size); },
        [&](res_state resolver) { return ::res_nquerydomain(resolver, name, domain, kind, type, answer, size); }
    );
}

int res_send(const unsigned char* question, int length, unsigned char* answer, int size) {
    return query_here(
        [&] { return ::res_send(question, length, answer, size); },
        [&](res_state resolver) { return ::res_nsend(resolver, question, length, answer, size); }
    );
}

int res_nquery(res_state resolver, const char* name, int kind, int type, unsigned char* answer, int size) {
    return query([&] { return ::res_nquery(resolver, name, kind, type, answer, size); });
}

int res_nsearch(res_state resolver, const char* name, int kind, int type, unsigned char* answer, int size) {
    return query([&] { return ::res_nsearch(resolver, name, kind, type, answer, size); });
}

int res_nquerydomain(
    res_state resolver, const char* name, const char* domain, int kind, int type, unsigned char* answer, int size
) {
    return query([&] { return ::res_nquerydomain(resolver, name, domain, kind, type, answer, size); });
}

int res_nsend(res_state resolver, const unsigned char* question, int length, unsigned char* answer, int size) {
    return query([&] { return ::res_nsend(resolver, question, length, answer, size); });
}

}  // namespace trueasync::hooked
