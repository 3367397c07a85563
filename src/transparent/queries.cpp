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

}  // namespace

int res_query(const char* name, int kind, int type, unsigned char* answer, int size) {
    return query([&] { return ::res_query(name, kind, type, answer, size); });
}

int res_search(const char* name, int kind, int type, unsigned char* answer, int size) {
    return query([&] { return ::res_search(name, kind, type, answer, size); });
}

int res_nquery(res_state resolver, const char* name, int kind, int type, unsigned char* answer, int size) {
    return query([&] { return ::res_nquery(resolver, name, kind, type, answer, size); });
}

int res_nsearch(res_state resolver, const char* name, int kind, int type, unsigned char* answer, int size) {
    return query([&] { return ::res_nsearch(resolver, name, kind, type, answer, size); });
}

}  // namespace trueasync::hooked
