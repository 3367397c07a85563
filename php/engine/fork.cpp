#include "fork.hpp"

#include "../classes/coroutine.hpp"
#include "replace.hpp"
#include "request.hpp"
#include "test_main.hpp"
#include "transparent.hpp"

namespace trueasync::php {

namespace {

zif_handler fork_before = nullptr;

ZEND_NAMED_FUNCTION(guarded_fork) {
    const std::size_t usual = is_main_in_coroutine() ? 2 : 1;
    const Coroutine* running = Scheduler::current_coroutine();
    const bool is_other = running != nullptr && running != request.main && !is_main_in_coroutine();  // main has ended
    if (request.runtime != nullptr && (is_other || request.runtime->scheduler().alive_count() > usual)) {
        zend_throw_error(
            nullptr,
            "Cannot fork() while coroutines other than the main one are running. fork() is only allowed when just the "
            "main coroutine is active."
        );
        return;
    }
    fork_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (request.runtime != nullptr && Z_TYPE_P(return_value) == IS_LONG && Z_LVAL_P(return_value) == 0) {
        begin_transparent_io();
    }
}

}  // namespace

void guard_fork() {
    if (fork_before == nullptr) {
        fork_before = replace_handler(CG(function_table), "pcntl_fork", guarded_fork);
    }
}

}  // namespace trueasync::php
