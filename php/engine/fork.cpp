#include "fork.hpp"

#include "request.hpp"

#include <utility>

namespace trueasync::php {

namespace {

zif_handler fork_before = nullptr;

ZEND_NAMED_FUNCTION(guarded_fork) {
    if (request.runtime != nullptr && request.runtime->scheduler().alive_count() > 1) {
        zend_throw_error(
            nullptr,
            "Cannot fork() while coroutines other than the main one are running. fork() is only allowed when just the "
            "main "
            "coroutine is active."
        );
        return;
    }
    fork_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

}  // namespace

void guard_fork() {
    if (fork_before != nullptr) {
        return;
    }
    auto* function = static_cast<zend_internal_function*>(
        zend_hash_str_find_ptr(CG(function_table), "pcntl_fork", sizeof("pcntl_fork") - 1)
    );
    if (function != nullptr && function->type == ZEND_INTERNAL_FUNCTION) {
        fork_before = std::exchange(function->handler, guarded_fork);
    }
}

}  // namespace trueasync::php
