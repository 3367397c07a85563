#include "proc.hpp"

#include "in_use.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <sys/wait.h>
#include <ext/standard/proc_open.h>

#include <unordered_map>

namespace trueasync::php {

namespace {

constexpr std::size_t kMostNoted = 1024;  // children that others wait for are noted too

zif_handler close_before = nullptr;
std::unordered_map<pid_t, int> ended;

/// The engine does this itself, and then looks whether somebody waits for the exit code: another coroutine may have changed that meanwhile.
void close_pipes(const zend_resource& resource, const zend_execute_data* call) noexcept {
    const auto process = [&] {
        return static_cast<php_process_handle*>(resource.ptr);
    };  // others may close it meanwhile
    for (int i = 0; process() != nullptr && i < process()->npipes; ++i) {
        if (process()->pipes[i] == nullptr || !let_others_leave(process()->pipes[i], call) || process() == nullptr) {
            continue;
        }
        if (zend_resource* pipe = std::exchange(process()->pipes[i], nullptr)) {
            GC_DELREF(pipe);
            zend_list_close(pipe);
        }
    }
}

ZEND_NAMED_FUNCTION(close_process) {
    zval* argument = ZEND_NUM_ARGS() == 1 ? ZEND_CALL_ARG(execute_data, 1) : nullptr;
    pid_t child = -1;
    if (argument != nullptr && Z_TYPE_P(argument) == IS_RESOURCE && Z_RES_P(argument)->ptr != nullptr &&
        std::strcmp(zend_rsrc_list_get_rsrc_type(Z_RES_P(argument)), "process") == 0) {
        child = static_cast<php_process_handle*>(Z_RES_P(argument)->ptr)->child;
        close_pipes(*Z_RES_P(argument), execute_data);
    }
    close_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    const auto found = ended.find(child);
    if (found != ended.end()) {
        const int status = found->second;
        ended.erase(found);
        RETVAL_LONG(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
    }
}

}  // namespace

void note_child(pid_t child, int status) noexcept {
    if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
        return;
    }
    if (ended.size() >= kMostNoted) {
        ended.clear();
    }
    ended[child] = status;
}

void proc_minit() { close_before = replace_handler(CG(function_table), "proc_close", close_process); }

void proc_request_end() noexcept { ended.clear(); }

}  // namespace trueasync::php
