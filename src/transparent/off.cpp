/// Where blocking calls cannot be replaced.

#if !defined(__linux__)

#include <cerrno>
#include <trueasync/reactor/system_error.hpp>
#include <trueasync/transparent/transparent.hpp>

namespace trueasync {

Status install_transparent(const TransparentSettings& /*settings*/) {
    return system_failure(ENOTSUP, "replace blocking calls");
}
void set_transparent(bool /*is_on*/) noexcept {}
bool is_transparent() noexcept { return false; }
void set_transparent_host(TransparentHost* /*host*/) noexcept {}
void look_up_ahead(const char* /*name*/) noexcept {}
void forget_lookup() noexcept {}
bool await_readable(int /*fd*/, Duration /*limit*/) noexcept { return true; }
void begin_closing(int /*fd*/) noexcept {}
void end_closing(int /*fd*/) noexcept {}
bool is_being_closed(int /*fd*/) noexcept { return false; }
TransparentStats transparent_stats() noexcept { return {}; }

}  // namespace trueasync

#endif
