#include "transparent.hpp"

#include "../classes/coroutine.hpp"
#include "../error.hpp"
#include "../settings.hpp"
#include "request.hpp"

#include <trueasync/transparent/transparent.hpp>
#include <utility>

namespace trueasync::php {

namespace {

class PhpTransparentHost final : public TransparentHost {
public:
    Answer may_suspend(Coroutine& coroutine) noexcept override {
        if (static_cast<PhpCoroutine&>(coroutine).is_cut_off && EG(exception) != nullptr) {
            return Answer::Fail;
        }
        static_cast<PhpCoroutine&>(coroutine).is_cut_off = false;
        // The compiler's state is one for all.
        return request.is_in_scheduler || request.is_dying || CG(in_compilation) || had_fatal_error() ? Answer::Block
                                                                                                      : Answer::Suspend;
    }

    void cancelled(Coroutine& coroutine, Ref<Error> cancellation) noexcept override {
        static_cast<PhpCoroutine&>(coroutine).is_cut_off = true;
        throw_in_php(*cancellation);
    }
};

PhpTransparentHost host;
bool is_begun = false;

using ErrorCallback = decltype(zend_error_cb);
ErrorCallback error_callback_before = nullptr;

/// A function that was cut short complains about it; the cancellation has been thrown already.
void report_error(int type, zend_string* file, const std::uint32_t line, zend_string* message) {
    const auto* coroutine = static_cast<PhpCoroutine*>(Scheduler::current_coroutine());
    const bool is_mute = coroutine != nullptr && !request.is_in_scheduler && coroutine->is_cut_off &&
                         EG(exception) != nullptr && (type & E_FATAL_ERRORS) == 0;
    if (!is_mute) {
        error_callback_before(type, file, line, message);
    }
}

}  // namespace

void begin_transparent_io() noexcept {
    if (is_begun) {
        return;
    }
    is_begun = true;
    if (!INI_BOOL("async.transparent_io")) {
        return;
    }
    set_transparent_host(&host);
    error_callback_before = std::exchange(zend_error_cb, report_error);
    const Status status = install_transparent(transparent_settings());
    const TransparentStats stats = transparent_stats();
    if (!status || stats.slots == 0 || stats.refused != 0) {
        zend_error(
            E_NOTICE, "Transparent I/O is incomplete, blocking functions may hold up all coroutines: %s",
            !status            ? status.error()->message().c_str()
            : stats.slots == 0 ? "nothing in this process calls the C library through a table that can be rewritten"
                               : "the system has sealed some of the tables that had to be rewritten"
        );
    }
}

}  // namespace trueasync::php
