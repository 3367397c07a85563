#include <trueasync/reactor/uv_reactor.hpp>

#include "uv_base.hpp"

namespace trueasync {

std::unique_ptr<Reactor> make_uv_reactor([[maybe_unused]] Backend backend) {
    std::unique_ptr<detail::UvReactor> reactor;
#if defined(__linux__)
    if (backend == Backend::Best) {
        reactor = detail::make_epoll_reactor();
    }
#endif
    if (reactor == nullptr) {
        reactor = detail::make_portable_reactor();
    }
    if (!reactor->open()) {
        return nullptr;
    }
    return reactor;
}

}  // namespace trueasync
