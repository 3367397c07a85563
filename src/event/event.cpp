#include <trueasync/event/event.hpp>

#include <unistd.h>
#include <trueasync/event/event_ref.hpp>
#include <trueasync/event/manual_event.hpp>
#include <trueasync/event/report_sink.hpp>

namespace trueasync {

Event* EventHeader::resolve() noexcept {
    return has(EventFlag::Reference) ? static_cast<EventRef*>(this)->event() : static_cast<Event*>(this);
}

ManualEvent::~ManualEvent() { close(); }

Status Event::refuse(ErrorCode code, const char* what) const {
    const char* why = is_closed() ? why_closed() : nullptr;
    return Status::failure(code, (why != nullptr ? std::string(why) + ", " : std::string()) + what + ": " + info());
}

Status Event::add_callback(Callback& callback) {
    if (TA_UNLIKELY(is_closed())) {
        return refuse(ErrorCode::EventClosed, "cannot subscribe to a closed event");
    }
    if (!callbacks_.is_vacant()) {
        flags_ |= kSpecialTrait;
    }
    callbacks_.add(callback);
    return {};
}

bool Event::del_callback(Callback& callback) noexcept { return callbacks_.remove(callback, this); }

Status Event::start() {
    if (is_closed()) {
        return refuse(ErrorCode::EventClosed, "cannot start a closed event");
    }
    if (is_passive()) {
        return {};
    }
    if (loop_ref_count_ == 0) {
        if (Status status = enter_loop(); !status) {
            return status;
        }
        if (state() != EventState::Fired) {  // restarted by one of its own callbacks: `notify` sets the state after
            move_to(EventState::Active);
        }
        if (ActiveEvents* active = active_events()) {
            ++(is_hidden() ? active->hidden : active->visible);
        }
    }
    ++loop_ref_count_;
    return {};
}

Status Event::stop() {
    if (is_closed()) {
        return refuse(ErrorCode::EventClosed, "cannot stop a closed event");
    }
    if (is_passive()) {
        return {};
    }
    if (loop_ref_count_ == 0) {
        return refuse(ErrorCode::IllegalState, "cannot stop an event that was not started");
    }
    if (--loop_ref_count_ == 0) {
        leave_loop_now();
        if (state() != EventState::Fired) {
            move_to(EventState::Stopped);
        }
    }
    return {};
}

void Event::leave_loop_now() noexcept {
    leave_loop();
    if (ActiveEvents* active = active_events()) {
        --(is_hidden() ? active->hidden : active->visible);
    }
}

bool Event::replay(Callback* /*callback*/, void** /*result*/, Ref<Error>* /*error*/) { return false; }

/// What users' code throws while an event is told about concerns nobody who waits for it.
template <typename F>
static void contained(Event& event, const char* what, F&& call) noexcept {
    try {
        call();
    } catch (...) {
        report_sink().warning(Warning::CallbackThrew, &event, what + ExceptionError::capture()->message());
    }
}

bool Event::hand_out(void* value, Error* failure, Callback* callback, void** result, Ref<Error>* error) {
    mark_result_used();
    mark_exception_caught();
    const Ref<Error> kept(failure);
    if (callback != nullptr) {
        contained(*this, "a callback threw: ", [&] { callback->call(*this, value, failure); });
    }
    if (result != nullptr) {
        *result = value;
    }
    if (error != nullptr) {
        *error = kept;
    }
    return true;
}

Status Event::notify_slow(void* result, Error* error) {
    if (TA_UNLIKELY(ends_itself() && !is_closed())) {
        return refuse(ErrorCode::IllegalState, "cannot fire an event that ends by itself");
    }
    return fire(result, error);
}

Status Event::fire(void* result, Error* error) {
    const EventState before = state();
    if (before == EventState::Closed || (before != EventState::Active && !is_passive())) {
        const auto code = is_closed() ? ErrorCode::EventClosed : ErrorCode::IllegalState;
        return refuse(code, is_closed() ? "cannot fire a closed event" : "cannot fire an event that is not active");
    }
    const Ref<Event> self((flags_ & kEndingTrait) != 0 ? nullptr : this);  // handler or callback may drop the last one
    Notify answer = Notify::Continue;
    if (notify_handler() != nullptr) {
        contained(*this, "a notify handler threw: ", [&] { answer = notify_handler_(*this, result, error); });
    }
    if ((answer == Notify::Stop && !ends_itself()) || is_closed()) {
        if ((flags_ & kRepeatingTrait) == 0 && is_in_loop() && !fires_again()) {  // it has happened: nothing is to come
            loop_ref_count_ = 0;
            leave_loop_now();
            move_to(EventState::Stopped);
        }
        return {};
    }
    move_to(EventState::Fired);
    if (!callbacks_.empty()) {  // someone is there to take it; who has left before does not count
        mark_result_used();
        if (error == nullptr || callbacks_.has_taker()) {
            mark_exception_caught();
        }
    }
    callbacks_.notify(*this, result, error);
    if (state() == EventState::Fired) {
        if ((flags_ & kRepeatingTrait) == 0) {
            close();
        } else if (is_passive()) {
            move_to(before);
        } else {
            move_to(is_in_loop() ? EventState::Active : EventState::Stopped);
        }
    }
    return {};
}

void Event::close() noexcept {
    if (is_closed()) {
        return;
    }
    if (TA_UNLIKELY(ends_itself() && state() != EventState::Fired && !is_ending())) {
        report_sink().warning(Warning::WrongUse, this, "cannot close an event that ends by itself: " + info());
        return;
    }
    set(EventFlag::Closed);
    move_to(EventState::Closed);
    if (std::exchange(loop_ref_count_, 0) != 0) {
        leave_loop_now();
    }
    if (!callbacks_.empty()) {
        const Ref<Event> self((flags_ & kEndingTrait) != 0 ? nullptr : this);  // who is let go may drop the last one
        callbacks_.clear(this);
    }
}

void Event::set_hidden(bool hidden) noexcept {
    if (hidden == is_hidden()) {
        return;
    }
    ActiveEvents* active = is_in_loop() ? active_events() : nullptr;
    if (active != nullptr) {
        --(hidden ? active->visible : active->hidden);
        ++(hidden ? active->hidden : active->visible);
    }
    hidden ? set(EventFlag::Hidden) : clear(EventFlag::Hidden);
}

void Event::become_host_object(std::uint32_t offset) noexcept {
    set(EventFlag::HostObject);
    set(EventFlag::NoFreeMemory);
    count_or_offset_ = -static_cast<std::int32_t>(offset);
}

void Event::hold_host_object(std::uint32_t offset) noexcept {
    if (has(EventFlag::ObjectRef)) {  // one at a time: the new one takes the place of the old
        clear(EventFlag::ObjectRef);
        host_objects().release(*reinterpret_cast<void**>(reinterpret_cast<std::byte*>(this) + extra_offset_));
    }
    extra_offset_ = offset;
    set(EventFlag::ObjectRef);
    host_objects().add_ref(*reinterpret_cast<void**>(reinterpret_cast<std::byte*>(this) + offset));
}

std::uint32_t Event::ref_count() const noexcept {
    return has(EventFlag::HostObject) ? host_objects().ref_count(const_cast<Event*>(this)->host_object())
                                      : static_cast<std::uint32_t>(count_or_offset_);
}

void Event::release_slow() noexcept {
    if (has(EventFlag::HostObject)) {
        host_objects().release(host_object());
    } else {
        dispose();
    }
}

void Event::dispose() noexcept {
    if (has(EventFlag::HostObject)) {
        host_objects().release(host_object());
        return;
    }
    if (count_or_offset_ == 0) {
        report_sink().warning(
            Warning::ReleasedPastZero, this, "an event was released more often than it was referenced: " + info()
        );
        return;
    }
    if (--count_or_offset_ == 0 && (flags_ & kEndingTrait) == 0) {
        destroy();
    }
}

void Event::report_leftovers() noexcept {
    if (!has(EventFlag::ResultUsed) && has_unused_result()) {
        mark_result_used();
        report_sink().warning(Warning::UnusedResult, this, "a result was never used: " + info());
    }
    if (!has(EventFlag::ExceptionCaught) && !has(EventFlag::ExceptionHandled)) {
        if (Error* error = unhandled_error()) {
            mark_exception_handled();
            report_unhandled(*error);
        }
    }
}

void Event::report_unhandled(Error& error) noexcept { report_sink().unhandled_error(this, error); }

void Event::destroy() noexcept {
    flags_ |= kEndingTrait;
    report_leftovers();
    if (!is_passive()) {
        on_destroy();
    }
    close();
    if (TA_UNLIKELY(has(EventFlag::CloseDescriptor) || has(EventFlag::ObjectRef))) {
        let_go();
    }
    if (is_passive() || !close_async()) {
        finish_destroy();
    }
}

/// What the flags say the event holds.
void Event::let_go() noexcept {
    if (has(EventFlag::CloseDescriptor)) {
        clear(EventFlag::CloseDescriptor);
        if (const int fd = descriptor(); fd >= 0) {
            ::close(fd);
        }
    }
    if (has(EventFlag::ObjectRef)) {
        clear(EventFlag::ObjectRef);
        host_objects().release(*reinterpret_cast<void**>(reinterpret_cast<std::byte*>(this) + extra_offset_));
    }
}

void Event::end_easily() noexcept { delete this; }

void Event::finish_destroy() noexcept {
    if (has(EventFlag::NoFreeMemory)) {
        this->~Event();
    } else {
        delete this;
    }
}

std::string Event::info() const { return std::string(to_string(type())) + "(" + std::string(to_string(state())) + ")"; }

}  // namespace trueasync
