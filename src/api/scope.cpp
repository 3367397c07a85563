#include <trueasync/api/scope.hpp>

#include "io.hpp"

namespace trueasync {

namespace detail {

void spawn_into(Coroutine& coroutine, Owner& owner) {
    Ref<Coroutine> holder = Ref<Coroutine>::adopt(&coroutine);
    need_reactor("spawn");
    check(Scheduler::current()->spawn(coroutine, &owner));
    static_cast<void>(holder.detach());  // the caller's again
}

void call_finally(FinallyHandler& handler) {
    if (const Ref<Error> error = handler.call()) {
        throw_error(error);
    }
}

}  // namespace detail

Scope::Scope(std::source_location where) : event_(ScopeEvent::create(nullptr, Place(where))) {}

Scope Scope::inherit(std::source_location where) {
    return Scope(ScopeEvent::create(ScopeEvent::current(), Place(where)));
}

Scope Scope::inherit(const Scope& parent, std::source_location where) {
    return Scope(ScopeEvent::create(parent.event_.get(), Place(where)));
}

Scope::~Scope() {
    if (event_ != nullptr) {
        event_->handle_dropped();
    }
}

Scope& Scope::as_not_safely() noexcept {
    event_->set_safe(false);
    return *this;
}

Scope& Scope::allow_zombies() noexcept {
    event_->set_safe(true);
    return *this;
}

void Scope::cancel(std::string message) {
    event_->cancel(message.empty() ? Ref<Error>() : Error::cancellation(CancelReason::UserRequest, std::move(message)));
}

}  // namespace trueasync
