#include <trueasync/runtime/coroutine.hpp>

#include <trueasync/event/report_sink.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/runtime/scheduler.hpp>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Coroutine, sizeof(Coroutine));

}  // namespace

Coroutine::Rare& Coroutine::rare() {
    if (!has_rare()) {
        rare_ = new Rare;
        note(kHasRare, true);
    }
    return *rare_;
}

void Coroutine::destroy_extras() noexcept {
    if (Owner* owner = this->owner()) {
        owner->on_dispose(*this);
    }
    if (has_rare()) {
        delete rare_;
    }
    if (Error* error = this->error()) {
        error->release();
    }
}

void Coroutine::fail(Ref<Error> error) noexcept {
    const Ref<Error> former = Ref<Error>::adopt(this->error());
    error_ = error.detach();
    note(kFailed, error_ != nullptr);
}

bool Coroutine::is_running() const noexcept { return Scheduler::current_coroutine() == this; }

std::string Coroutine::name() const { return has_rare() ? rare_->name : std::string(); }

void Coroutine::set_name(std::string name) { rare().name = std::move(name); }

void Coroutine::add_switch_handler(SwitchHandler handler) {
    rare().handlers.add(handler);
    attention_ |= kHooks;
    if (is_started() && !is_running()) {
        attention_ |= kEnter;
    }
}

bool Coroutine::add_finally(std::unique_ptr<FinallyHandler>& handler) {
    if (is_finished()) {
        return false;
    }
    rare().finally.add(std::move(handler));
    return true;
}

bool Coroutine::replay(Callback* callback, void** result, Ref<Error>* error) {
    return is_finished() &&
           hand_out(this->error() == nullptr ? this->result() : nullptr, this->error(), callback, result, error);
}

std::string Coroutine::info() const {
    std::string text = "Coroutine " + std::to_string(id_);
    if (const std::string own = name(); !own.empty()) {
        text.append(" '").append(own).append("'");
    }
    text.append(" spawned at ").append(to_string(spawned_at()));
    if (const Place place = suspended_at(); place.is_known() && !is_running() && !is_finished()) {
        text.append(", suspended at ").append(to_string(place));
        if (!place.function.empty()) {
            text.append(" (").append(place.function).append(")");
        }
    }
    return text;
}

Error* Coroutine::unhandled_error() const noexcept {
    return error() != nullptr && !error_->is_cancellation() ? error_ : nullptr;
}

void Coroutine::report_unhandled(Error& error) noexcept {
    if (Scheduler* scheduler = Scheduler::current()) {
        scheduler->runtime().unhandled(this, error);
    } else {
        report_sink().unhandled_error(this, error);
    }
}

}  // namespace trueasync
