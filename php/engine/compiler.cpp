#include "compiler.hpp"

#include "../classes/coroutine.hpp"
#include "../error.hpp"
#include "request.hpp"

#include <string_view>
#include <trueasync/event/manual_event.hpp>
#include <trueasync/runtime/wait.hpp>
#include <utility>

namespace trueasync::php {

namespace {

struct Compiling {
    const Coroutine* by = nullptr;  // null: the script, before it was a coroutine
    std::size_t depth = 0;
    const zend_execute_data* reads = nullptr;  // the function that reads the innermost file
    Ref<ManualEvent> is_over;                  // if somebody waits
};
TA_PHP_THREAD_LOCAL Compiling compiling;

/// Null: nobody who could wait.
const Coroutine* self() noexcept {
    return request.runtime != nullptr && !request.is_in_scheduler ? Scheduler::current_coroutine() : nullptr;
}

bool is_of_other(const Coroutine* running) noexcept {
    const Coroutine* owner = compiling.by != nullptr ? compiling.by : request.main;
    return compiling.depth != 0 && owner != running;
}

}  // namespace

bool begin_compiling() noexcept {
    const Coroutine* running = self();
    while (UNEXPECTED(running != nullptr && is_of_other(running))) {
        if (compiling.is_over == nullptr) {
            compiling.is_over = ManualEvent::create();
        }
        const Ref<ManualEvent> is_over = compiling.is_over;
        if (!has_arrived(wait_for(*is_over))) {
            return false;
        }
    }
    if (compiling.depth++ == 0) {
        compiling.by = running;
    }
    compiling.reads = EG(current_execute_data);
    return true;
}

void end_compiling() noexcept {
    compiling.reads = nullptr;
    if (--compiling.depth != 0) {
        return;
    }
    compiling.by = nullptr;
    if (const Ref<ManualEvent> is_over = std::exchange(compiling.is_over, {})) {
        is_over->notify();
    }
}

bool is_reading_script() noexcept { return compiling.reads != nullptr && compiling.reads == EG(current_execute_data); }

bool read_ahead(zend_file_handle* handle, int type) noexcept {
    if (self() == nullptr || handle->buf != nullptr || handle->filename == nullptr) {
        return true;
    }
    const char* name = ZSTR_VAL(handle->filename);
    const bool is_plain = std::string_view(name).starts_with("phar://") ||
                          php_stream_locate_url_wrapper(name, nullptr, 0) == &php_plain_files_wrapper;
    char* text = nullptr;
    std::size_t size = 0;
    if (is_plain || zend_stream_fixup(handle, &text, &size) == SUCCESS) {
        return true;
    }
    if (EG(exception) == nullptr) {
        zend_message_dispatcher(type == ZEND_REQUIRE ? ZMSG_FAILED_REQUIRE_FOPEN : ZMSG_FAILED_INCLUDE_FOPEN, name);
    }
    return false;
}

}  // namespace trueasync::php
