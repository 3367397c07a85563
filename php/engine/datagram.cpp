#include "datagram.hpp"

#include "in_use.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <php_network.h>
#include <sys/time.h>
#include <ext/standard/file.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <trueasync/transparent/transparent.hpp>

namespace trueasync::php {

namespace {

zif_handler receive_before = nullptr;

/// Null: it is no socket that blocks, or has the limit that all have from the beginning.
php_netstream_data_t* limited(const php_stream* stream) noexcept {
    const std::string_view kind = stream->ops->label;
    const bool is_socket = kind == "udp_socket" || kind == "udg_socket" || kind == "unix_socket" ||
                           kind == "generic_socket" || kind.starts_with("tcp_socket");
    auto* data = is_socket ? static_cast<php_netstream_data_t*>(stream->abstract) : nullptr;
    if (data == nullptr || data->is_blocked == 0 || data->timeout.tv_sec < 0) {
        return nullptr;
    }
    const bool is_common = data->timeout.tv_sec == FG(default_socket_timeout) && data->timeout.tv_usec == 0;
    return is_common ? nullptr : data;
}

ZEND_NAMED_FUNCTION(receive) {
    constexpr std::uint32_t kFlags = 3;
    const bool is_known = request.runtime != nullptr && !request.is_in_scheduler;
    const zval* flags = ZEND_NUM_ARGS() >= kFlags ? ZEND_CALL_ARG(execute_data, kFlags) : nullptr;
    const bool is_usual = flags == nullptr || (Z_TYPE_P(flags) == IS_LONG && (Z_LVAL_P(flags) & STREAM_OOB) == 0);
    php_stream* stream = is_known && is_usual ? stream_of(execute_data) : nullptr;
    const bool has_read_ahead = stream != nullptr && stream->writepos > stream->readpos;
    if (stream != nullptr && !has_read_ahead) {
        if (php_netstream_data_t* data = limited(stream)) {
            const timeval limit = data->timeout;
            data->timeout_event = 0;
            const bool is_in_time = await_readable(
                data->socket, std::chrono::seconds(limit.tv_sec) + std::chrono::microseconds(limit.tv_usec)
            );
            if (!is_in_time && stream_of(execute_data) == stream) {  // others ran meanwhile
                data->timeout_event = 1;
                RETURN_FALSE;
            }
        }
    }
    receive_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

}  // namespace

void datagram_minit() { receive_before = replace_handler(CG(function_table), "stream_socket_recvfrom", receive); }

}  // namespace trueasync::php
