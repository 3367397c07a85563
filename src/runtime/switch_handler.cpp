#include <trueasync/runtime/switch_handler.hpp>

#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/coroutine.hpp>

namespace trueasync {

void SwitchHandlers::fire(Coroutine& coroutine, SwitchKind kind) noexcept {
    std::size_t kept = 0;
    const std::size_t count = handlers_.size();
    for (std::size_t i = 0; i < count; ++i) {
        const SwitchHandler handler = handlers_[i];  // a copy: a handler that adds may move the array
        bool keep = false;
        try {
            keep = handler.function(coroutine, kind, handler.data);
        } catch (...) {
            report_sink().warning(
                Warning::CallbackThrew, &coroutine,
                "a switch handler threw and was removed: " + ExceptionError::capture()->message()
            );
        }
        if (keep) {
            handlers_[kept++] = handler;
        }
    }
    handlers_.erase(
        handlers_.begin() + static_cast<std::ptrdiff_t>(kept), handlers_.begin() + static_cast<std::ptrdiff_t>(count)
    );
}

}  // namespace trueasync
