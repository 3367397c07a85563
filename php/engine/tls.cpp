#include "tls.hpp"

#include <fcntl.h>

#include <cstring>
#include <utility>

namespace trueasync::php {

void look_for_tls(const php_stream_ops* ops) noexcept {
    if (std::strcmp(ops->label, "tcp_socket/ssl") == 0) {
        tls_ops = ops;
    }
}

void end_tls_wait_slow(PhpCoroutine& coroutine) noexcept {
    auto* tls = static_cast<php_netstream_data_t*>(std::exchange(coroutine.tls, nullptr));
    tls->is_blocked = 0;
    ::fcntl(tls->socket, F_SETFL, ::fcntl(tls->socket, F_GETFL) | O_NONBLOCK);  // whoever came meanwhile has cleared it
}

}  // namespace trueasync::php
