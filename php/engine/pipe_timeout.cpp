#include "pipe_timeout.hpp"

#include "../per_thread.hpp"
#include "../zend.hpp"

#include <sys/stat.h>
#include <sys/time.h>

#include <chrono>
#include <trueasync/transparent/transparent.hpp>
#include <unordered_map>
#include <utility>

namespace trueasync::php {

namespace {

struct Limit {
    Duration duration;
    bool has_passed = false;  // before the last read got anything
};

TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<const php_stream*, Limit>> limits;
php_stream_ops before;

int descriptor_of(php_stream* stream) noexcept {
    int fd = -1;
    constexpr int kHow = PHP_STREAM_AS_FD_FOR_SELECT | PHP_STREAM_CAST_INTERNAL;
    return php_stream_cast(stream, kHow, reinterpret_cast<void**>(&fd), 0) == SUCCESS ? fd : -1;
}

bool is_pipe(int fd) noexcept {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

ssize_t read_in_time(php_stream* stream, char* buffer, size_t size) {
    if (limits->empty()) {
        return before.read(stream, buffer, size);
    }
    const auto found = limits->find(stream);
    if (found != limits->end() && !await_readable(descriptor_of(stream), found->second.duration)) {
        if (const auto again = limits->find(stream); again != limits->end()) {  // others ran meanwhile
            again->second.has_passed = true;
        }
        return -1;
    }
    if (const auto again = limits->find(stream); again != limits->end()) {
        again->second.has_passed = false;
    }
    return before.read(stream, buffer, size);
}

int close(php_stream* stream, int close_handle) {
    limits->erase(stream);
    return before.close(stream, close_handle);
}

int set_option(php_stream* stream, int option, int value, void* argument) {
    if (option == PHP_STREAM_OPTION_READ_TIMEOUT && is_pipe(descriptor_of(stream))) {
        const auto* limit = static_cast<const timeval*>(argument);
        limits->erase(stream);
        if (limit->tv_sec >= 0) {
            (*limits)[stream].duration =
                std::chrono::seconds(limit->tv_sec) + std::chrono::microseconds(limit->tv_usec);
        }
        return PHP_STREAM_OPTION_RETURN_OK;
    }
    const int result = before.set_option(stream, option, value, argument);
    if (option == PHP_STREAM_OPTION_META_DATA_API && result == PHP_STREAM_OPTION_RETURN_OK) {
        if (const auto found = limits->find(stream); found != limits->end() && found->second.has_passed) {
            add_assoc_bool(static_cast<zval*>(argument), "timed_out", true);
        }
    }
    return result;
}

}  // namespace

void pipe_timeout_minit() {
    before = php_stream_stdio_ops;
    php_stream_stdio_ops.read = read_in_time;
    php_stream_stdio_ops.close = close;
    php_stream_stdio_ops.set_option = set_option;
}

}  // namespace trueasync::php
