#include "proc.hpp"

#include "../per_thread.hpp"
#include "in_use.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ext/standard/proc_open.h>

#include <chrono>
#include <trueasync/reactor/io_reactor.hpp>
#include <trueasync/transparent/transparent.hpp>
#include <unordered_map>
#include <unordered_set>

namespace trueasync::php {

namespace {

constexpr std::size_t kMostNoted = 1024;  // children that others wait for are noted too

zif_handler close_before = nullptr;
std::unordered_map<pid_t, int> ended;
TA_PHP_THREAD_LOCAL PerThread<std::unordered_set<pid_t>> closing;  // somebody waits for their end

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

/// The child has not ended, and nobody has collected it.
bool is_running(pid_t child) noexcept {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/// The engine gives up the resource before it waits. While we wait others can still use it, and so can whoever is cancelled here. Does nothing where
/// the kernel has no descriptors of processes.
void await_end([[maybe_unused]] pid_t child) noexcept {
#if defined(SYS_pidfd_open)
    constexpr Duration kLong = std::chrono::hours(24 * 365);
    if (request.runtime == nullptr || request.is_in_scheduler || request.is_dying || EG(exception) != nullptr ||
        !is_running(child)) {
        return;
    }
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0U));
    IoReactor* reactor = request.runtime->scheduler().reactor().io();
    if (fd >= 0 && reactor != nullptr) {
        reactor->descriptor_opened(fd);
        static_cast<void>(await_readable(fd, kLong));
        reactor->descriptor_closing(fd);
    }
    if (fd >= 0) {
        ::close(fd);
    }
#endif
}

ZEND_NAMED_FUNCTION(close_process) {
    zval* argument = ZEND_NUM_ARGS() == 1 ? ZEND_CALL_ARG(execute_data, 1) : nullptr;
    pid_t child = -1;
    if (argument != nullptr && Z_TYPE_P(argument) == IS_RESOURCE && Z_RES_P(argument)->ptr != nullptr &&
        std::strcmp(zend_rsrc_list_get_rsrc_type(Z_RES_P(argument)), "process") == 0) {
        child = static_cast<php_process_handle*>(Z_RES_P(argument)->ptr)->child;
        if (!closing->insert(child).second) {
            zend_type_error("proc_close(): another coroutine closes this process");
            return;
        }
        close_pipes(*Z_RES_P(argument), execute_data);
        await_end(child);
        closing->erase(child);
        if (EG(exception) != nullptr) {
            return;
        }
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

void proc_request_end() noexcept {
    ended.clear();
    closing->clear();
}

}  // namespace trueasync::php
