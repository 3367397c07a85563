#include <trueasync/runtime/scheduler.hpp>

#include "runtime/callback_section.hpp"

namespace trueasync {

void Scheduler::set_host_hook(HostHook* hook) noexcept {
    host_hook_ = hook;
    set_accepting(is_accepting_);
    if (hook != nullptr) {
        for (Coroutine& coroutine : alive()) {
            coroutine.attention_ |= Coroutine::kHost;
        }
    }
}

void Scheduler::fire_handlers(Coroutine& coroutine, SwitchKind kind) noexcept {
    if (!coroutine.has_rare() || coroutine.rare_->handlers.empty()) {
        return;
    }
    const CallbackSection section(*this);
    coroutine.rare_->handlers.fire(coroutine, kind);
    if (coroutine.rare_->handlers.empty()) {
        coroutine.attention_ &= ~Coroutine::kHooks;
    }
}

void Scheduler::leave_hooks(Coroutine& coroutine) noexcept {
    fire_handlers(coroutine, SwitchKind::Leave);
    if (host_hook_ != nullptr) {
        host_hook_->leave(coroutine);
    }
    if ((coroutine.attention_ & (Coroutine::kHooks | Coroutine::kHost)) != 0) {
        coroutine.attention_ |= Coroutine::kEnter;  // one with a muted hook comes back by itself
    }
}

void Scheduler::enter_hooks(Coroutine& coroutine) noexcept {
    coroutine.attention_ &= ~Coroutine::kEnter;
    if (host_hook_ != nullptr) {
        host_hook_->enter(coroutine);
    }
    fire_handlers(coroutine, SwitchKind::Enter);
}

}  // namespace trueasync
