#pragma once

/// @file trueasync/runtime/switch_handler.hpp
/// Hooks on the switches of one coroutine.

#include <cstddef>
#include <cstdint>
#include <trueasync/base/export.hpp>
#include <vector>

namespace trueasync {

class Coroutine;

enum class SwitchKind : std::uint8_t {
    Enter,   ///< the coroutine received control
    Leave,   ///< it suspends
    Finish,  ///< it ends and will not run again
};

/// Returns whether to keep the handler. Runs in the coroutine's own turn: short, no suspending.
using SwitchHandlerFn = bool (*)(Coroutine& coroutine, SwitchKind kind, void* data);

struct SwitchHandler {
    SwitchHandlerFn function = nullptr;
    void* data = nullptr;
};

/// The handlers of one coroutine, called in the order they were added. A handler may add others (called from the next
/// switch on) while it runs. One that throws is removed and reported.
class TA_API SwitchHandlers {
public:
    bool empty() const noexcept { return handlers_.empty(); }
    std::size_t size() const noexcept { return handlers_.size(); }
    void add(SwitchHandler handler) { handlers_.push_back(handler); }
    void add_all(const SwitchHandlers& others) {
        handlers_.insert(handlers_.end(), others.handlers_.begin(), others.handlers_.end());
    }
    void fire(Coroutine& coroutine, SwitchKind kind) noexcept;
    void clear() noexcept { handlers_.clear(); }

private:
    std::vector<SwitchHandler> handlers_;
};

}  // namespace trueasync
