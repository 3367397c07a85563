/// The module: what PHP sees first.

#include "classes/awaitable.hpp"
#include "classes/cancellation.hpp"
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
#include "classes/thread.hpp"
#include "classes/timeout.hpp"
#include "engine/alone.hpp"
#include "engine/imap.hpp"
#include "engine/match_memory.hpp"
#include "engine/pdo.hpp"
#include "engine/request.hpp"
#include "engine/soap.hpp"
#include "settings.hpp"
#include "stubs/functions_arginfo.h"
#include "zend.hpp"

#include <trueasync/version.hpp>

using namespace trueasync::php;

static PHP_MINIT_FUNCTION(true_async) {
    register_settings(type, module_number);
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
    register_thread();
    add_awaitable(ce_coroutine, [](zend_object* object) -> trueasync::Event* { return &PhpCoroutine::of(object); });
    request_minit();
    soap_minit();
    pdo_minit();
    alone_minit();
    match_memory_minit();
    imap_minit();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(true_async) {
    request_mshutdown();
    unregister_cancellation();
    unregister_settings(type, module_number);
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

static PHP_MINFO_FUNCTION(true_async) { show_module(zend_module); }

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
