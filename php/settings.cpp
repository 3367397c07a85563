#include "settings.hpp"

#include "engine/request.hpp"

#include <uv.h>
#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <trueasync/runtime/scheduler.hpp>
#include <trueasync/version.hpp>

namespace trueasync::php {

namespace {

constexpr std::size_t kSmallestStack = 64 * 1024;  // less than that is used up by a look-up of a name

/// What is mapped beside what was asked for. PHP 8.3 and later stop before the end of a stack, and their calls take a little more of it.
constexpr std::size_t extra_stack([[maybe_unused]] std::size_t size) {
#if PHP_VERSION_ID >= 80300 && defined(ZEND_CHECK_STACK_LIMIT)
    return kStackReserve + size / 16;
#else
    return 0;
#endif
}

zend_string* value_of(const char* setting) {
    const auto* entry =
        static_cast<zend_ini_entry*>(zend_hash_str_find_ptr(EG(ini_directives), setting, strlen(setting)));
    return entry->value != nullptr ? entry->value : zend_empty_string;
}

std::size_t asked_stack_size() {
    const bool is_fiber_size = cfg_get_entry(ZEND_STRL("async.stack_size")) == nullptr && EG(fiber_stack_size) != 0 &&
                               cfg_get_entry(ZEND_STRL("fiber.stack_size")) != nullptr;
    if (is_fiber_size) {
        return std::max(kSmallestStack, static_cast<std::size_t>(EG(fiber_stack_size)));
    }
    zend_string* name = zend_string_init(ZEND_STRL("async.stack_size"), false);
    const zend_long size = zend_ini_parse_quantity_warn(value_of("async.stack_size"), name);
    zend_string_release(name);
    return std::max(kSmallestStack, static_cast<std::size_t>(size));
}

bool parse_bound(const zend_string* text, std::size_t& bound) {
    const char* end = ZSTR_VAL(text) + ZSTR_LEN(text);
    const auto [rest, error] = std::from_chars(ZSTR_VAL(text), end, bound);
    return error == std::errc() && rest == end && bound <= UINT32_MAX;
}

std::size_t bound_of(const char* setting) {
    std::size_t bound = 0;
    parse_bound(value_of(setting), bound);
    return bound;
}

/// A new bound holds at once, whatever runs.
ZEND_INI_MH(change_bound) {
    std::size_t bound = 0;
    if (new_value == nullptr || !parse_bound(new_value, bound)) {
        return FAILURE;
    }
    if (stage == ZEND_INI_STAGE_RUNTIME && request.runtime != nullptr) {
        const bool is_min = zend_string_equals_literal(entry->name, "async.stack_pool_min");
        request.runtime->stacks().set_bounds(
            is_min ? bound : bound_of("async.stack_pool_min"), is_min ? bound_of("async.stack_pool_max") : bound
        );
    }
    return SUCCESS;
}

PHP_INI_BEGIN()
PHP_INI_ENTRY("async.debug_deadlock", "1", PHP_INI_ALL, nullptr)
PHP_INI_ENTRY("async.stack_size", "512K", PHP_INI_ALL, nullptr)
PHP_INI_ENTRY("async.stack_pool_min", "64", PHP_INI_ALL, change_bound)
PHP_INI_ENTRY("async.stack_pool_max", "131072", PHP_INI_ALL, change_bound)
PHP_INI_ENTRY("async.transparent_io", "1", PHP_INI_SYSTEM, nullptr)
PHP_INI_ENTRY("async.transparent_io_skip_objects", "", PHP_INI_SYSTEM, nullptr)
PHP_INI_ENTRY("async.transparent_io_skip_functions", "", PHP_INI_SYSTEM, nullptr)
PHP_INI_ENTRY("async.test_main_in_coroutine", "0", PHP_INI_SYSTEM, nullptr)
PHP_INI_END()

std::vector<std::string> words_of(const char* setting) {
    std::vector<std::string> words;
    std::istringstream text(ZSTR_VAL(value_of(setting)));
    for (std::string word; std::getline(text, word, ',');) {
        word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
        if (!word.empty()) {
            words.push_back(std::move(word));
        }
    }
    return words;
}

void row(const char* name, const std::string& value) { php_info_print_table_row(2, name, value.c_str()); }

const char* name_of(GuardKind kind) {
    switch (kind) {
        case GuardKind::Madvise:
            return "madvise";
        case GuardKind::Mprotect:
            return "mprotect";
        default:
            return "none";
    }
}

}  // namespace

std::size_t stack_size() {
    StackPoolSettings settings;
    settings.stack_size = asked_stack_size();
    return StackPool(settings).settings().stack_size;  // rounded
}

StackPoolSettings stack_settings() {
    StackPoolSettings settings;
    settings.stack_size = stack_size();
    settings.stack_size += extra_stack(settings.stack_size);
    settings.color_span = 512;  // so that what a waiting coroutine has on its stack is one page
    settings.max_idle = bound_of("async.stack_pool_max");
    settings.min_idle = std::min(bound_of("async.stack_pool_min"), settings.max_idle);
    return settings;
}

TransparentSettings transparent_settings() {
    return {words_of("async.transparent_io_skip_objects"), words_of("async.transparent_io_skip_functions")};
}

void register_settings(int type, int module_number) { REGISTER_INI_ENTRIES(); }
void unregister_settings(int type, int module_number) { UNREGISTER_INI_ENTRIES(); }

void show_module(zend_module_entry* zend_module) {
    php_info_print_table_start();
    php_info_print_table_header(2, "TrueAsync", "Enabled");
    row("Version", TRUEASYNC_VERSION_STRING);
    row("LibUv Reactor", "Enabled");
    row("Built for PHP", PHP_VERSION);
    row("libuv", uv_version_string());
    row("Thread-safe build", USING_ZTS ? "yes" : "no");
    php_info_print_table_end();

    php_info_print_table_start();
    php_info_print_table_header(2, "State", "");
    if (request.runtime == nullptr) {
        row("Scheduler", "not started");
    } else {
        const StackPoolStats stacks = request.runtime->stacks().stats();
        row("Scheduler", "running");
        row("Coroutines", std::to_string(request.runtime->scheduler().alive_count()));
        row("Stacks in use", std::to_string(stacks.live));
        row("Stacks kept warm", std::to_string(stacks.idle));
        row("Address space of stacks", std::to_string(stacks.virtual_bytes));
        row("Guard of stacks", name_of(stacks.guard));
    }
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

}  // namespace trueasync::php
