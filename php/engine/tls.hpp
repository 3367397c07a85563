#pragma once

/// PHP makes the descriptor of a TLS stream non-blocking for the length of a call and calls the stream so. Another coroutine that came meanwhile
/// would believe it: its `fwrite` would stop in the middle, its `fread` would find nothing.

#include "../classes/coroutine.hpp"
#include "in_use.hpp"

#include <main/php_network.h>

namespace trueasync::php {

/// The operations of PHP's streams that can speak TLS, which are those of all TCP streams where PHP has OpenSSL. Known when one was seen.
inline const php_stream_ops* tls_ops = nullptr;
TA_COLD void look_for_tls(const php_stream_ops* ops) noexcept;

/// What belongs to a stream that does speak TLS; null for all others. The structure is not in PHP's headers: what all sockets have, and behind
/// it OpenSSL's handle.
TA_INLINE php_netstream_data_t* tls_of(const php_stream* stream) noexcept {
    if (stream->ops != tls_ops) {
        if (EXPECTED(tls_ops != nullptr)) {
            return nullptr;
        }
        look_for_tls(stream->ops);
        if (stream->ops != tls_ops) {
            return nullptr;
        }
    }
    struct Secure {
        php_netstream_data_t common;
        void* handle;
    };
    auto* data = static_cast<Secure*>(stream->abstract);
    return UNEXPECTED(data != nullptr && data->handle != nullptr) ? &data->common : nullptr;
}

/// The coroutine, which runs, waits for a descriptor inside a call on this stream (null: on none): to others it is what it was before.
TA_INLINE void begin_tls_wait_in(PhpCoroutine& coroutine, const php_stream* stream, int fd) noexcept {
    if (php_netstream_data_t* tls = stream != nullptr ? tls_of(stream) : nullptr;
        UNEXPECTED(tls != nullptr) && tls->is_blocked == 0 &&
        tls->socket == fd) {  // one that never blocks does not wait
        coroutine.tls = tls;
        tls->is_blocked = 1;
    }
}
TA_INLINE void begin_tls_wait(PhpCoroutine& coroutine, const php_stream* stream, int fd) noexcept {
    if (stream == nullptr) {
        coroutine.stream = {};
        return;
    }
    coroutine.stream = {stream, stream->abstract, stream->readbuf + stream->writepos};
    begin_tls_wait_in(coroutine, stream, fd);
}

/// It goes on.
TA_COLD void end_tls_wait_slow(PhpCoroutine& coroutine) noexcept;
TA_INLINE void end_tls_wait(PhpCoroutine& coroutine) noexcept {
    if (UNEXPECTED(coroutine.tls != nullptr)) {
        end_tls_wait_slow(coroutine);
    }
}

}  // namespace trueasync::php
