#include "tls.hpp"

#include "../classes/coroutine.hpp"
#include "in_use.hpp"

#include <fcntl.h>
#include <main/php_network.h>

#include <cstring>

namespace trueasync::php {

namespace {

/// What PHP's sockets and its TLS streams begin with; null for everything but TLS.
php_netstream_data_t* tls_of(zend_execute_data* call) noexcept {
    if (call == nullptr || call->func == nullptr || call->func->type != ZEND_INTERNAL_FUNCTION) {
        return nullptr;
    }
    const php_stream* stream = stream_of(call);
    if (EXPECTED(stream == nullptr || stream->ops == &php_stream_socket_ops || stream->ops == &php_stream_stdio_ops)) {
        return nullptr;
    }
    return std::strcmp(stream->ops->label, "tcp_socket/ssl") == 0 ? static_cast<php_netstream_data_t*>(stream->abstract)
                                                                  : nullptr;
}

}  // namespace

void begin_tls_wait(PhpCoroutine& coroutine) noexcept {
    php_netstream_data_t* tls = tls_of(EG(current_execute_data));
    if (UNEXPECTED(tls != nullptr && tls->is_blocked == 0)) {  // one that never blocks does not wait
        coroutine.tls = tls;
        tls->is_blocked = 1;
    }
}

void end_tls_wait(PhpCoroutine& coroutine) noexcept {
    if (auto* tls = static_cast<php_netstream_data_t*>(std::exchange(coroutine.tls, nullptr));
        UNEXPECTED(tls != nullptr)) {
        tls->is_blocked = 0;
        ::fcntl(
            tls->socket, F_SETFL, ::fcntl(tls->socket, F_GETFL) | O_NONBLOCK
        );  // whoever came meanwhile has cleared it
    }
}

}  // namespace trueasync::php
