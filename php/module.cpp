/// The module: what PHP sees first.

#include "classes/awaitable.hpp"
#include "classes/channel.hpp"
#include "classes/context.hpp"
#include "classes/coroutine.hpp"
#include "classes/cpu.hpp"
#include "classes/exceptions.hpp"
#include "classes/fs_watcher.hpp"
#include "classes/future.hpp"
#include "classes/pool.hpp"
#include "classes/scope.hpp"
#include "classes/task_group.hpp"
#include "classes/timeout.hpp"
#include "engine/request.hpp"
#include "stubs/functions_arginfo.h"
#include "zend.hpp"

#include <trueasync/version.hpp>

using namespace trueasync::php;

PHP_INI_BEGIN()
PHP_INI_ENTRY("async.debug_deadlock", "1", PHP_INI_ALL, nullptr)
PHP_INI_ENTRY("async.stack_size", "512K", PHP_INI_ALL, nullptr)
PHP_INI_END()

static PHP_MINIT_FUNCTION(true_async) {
    REGISTER_INI_ENTRIES();
    register_exceptions();
    register_awaitables();
    register_timeout();
    register_future();
    register_coroutine();
    register_scope();
    register_channel();
    register_context();
    register_task_group();
    register_pool();
    register_cpu();
    register_fs_watcher();
    add_awaitable(ce_coroutine, [](zend_object* object) -> trueasync::Event* { return &PhpCoroutine::of(object); });
    request_minit();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(true_async) {
    request_mshutdown();
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(true_async) {
    request_begin();
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(true_async) {
    request_end();
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(true_async) {
    php_info_print_table_start();
    php_info_print_table_header(2, "TrueAsync", "Enabled");
    php_info_print_table_row(2, "Version", TRUEASYNC_VERSION_STRING);
    php_info_print_table_row(2, "Support", "Enabled");
    php_info_print_table_row(2, "LibUv Reactor", "Enabled");
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

static zend_module_entry module_entry = {
    STANDARD_MODULE_HEADER,
    "true_async",
    ext_functions,
    PHP_MINIT(true_async),
    PHP_MSHUTDOWN(true_async),
    PHP_RINIT(true_async),
    PHP_RSHUTDOWN(true_async),
    PHP_MINFO(true_async),
    TRUEASYNC_VERSION_STRING,
    STANDARD_MODULE_PROPERTIES};

extern "C" __attribute__((visibility("default"))) zend_module_entry* get_module() { return &module_entry; }
