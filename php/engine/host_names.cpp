#include "host_names.hpp"

#include "replace.hpp"
#include "request.hpp"

#include <arpa/inet.h>

#include <trueasync/transparent/transparent.hpp>

#include <cstdint>

namespace trueasync::php {

namespace {

constexpr std::size_t kLongestName = 255;

/// What is no name of a host is left to the function itself.
bool is_name(const zval* argument) noexcept {
    return Z_TYPE_P(argument) == IS_STRING && Z_STRLEN_P(argument) > 0 && Z_STRLEN_P(argument) <= kLongestName &&
           std::strpbrk(Z_STRVAL_P(argument), "/:") == nullptr &&
           std::strlen(Z_STRVAL_P(argument)) == Z_STRLEN_P(argument);
}

/// The functions for sockets take an address as it is.
template <std::uint32_t Position>
bool is_looked_up(const zval* argument) noexcept {
    in_addr address{};
    return is_name(argument) && (Position == 1 || inet_pton(AF_INET, Z_STRVAL_P(argument), &address) != 1);
}

/// A function whose argument `Position` may be the name of a host.
template <std::uint32_t Position, int Which>
struct Guarded {
    static inline zif_handler before = nullptr;

    static void call(INTERNAL_FUNCTION_PARAMETERS) {
        const bool can_wait = request.runtime != nullptr && !request.is_in_scheduler && ZEND_NUM_ARGS() >= Position;
        if (can_wait && is_looked_up<Position>(ZEND_CALL_ARG(execute_data, Position))) {
            look_up_ahead(Z_STRVAL_P(ZEND_CALL_ARG(execute_data, Position)));
            if (EG(exception) != nullptr) {
                return;
            }
        }
        before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        if (can_wait) {
            forget_lookup();
        }
    }

    static void install(const char* name) noexcept {
        if (before == nullptr) {
            before = replace_handler(CG(function_table), name, call);
        }
    }
};

}  // namespace

void guard_host_names() {
    Guarded<1, 0>::install("gethostbyname");
    Guarded<1, 1>::install("gethostbynamel");
    Guarded<2, 0>::install("socket_connect");
    Guarded<2, 1>::install("socket_bind");
    Guarded<5, 0>::install("socket_sendto");
}

}  // namespace trueasync::php
