#include <trueasync/event/callback_list.hpp>

#include <trueasync/event/event.hpp>
#include <trueasync/event/report_sink.hpp>
#include <utility>

namespace trueasync {

void CallbackList::destroy() noexcept {
    clear(nullptr);
    if (capacity_ != 0) {
        delete[] rest_;
    }
}

void CallbackList::append(Callback& callback) {
    if (length_ - 1 == capacity_) {
        const std::uint32_t wider = capacity_ == 0 ? 3 : capacity_ * 2 + 1;
        auto** rest = new Callback*[wider];
        for (std::uint32_t i = 0; i < capacity_; ++i) {
            rest[i] = rest_[i];
        }
        if (capacity_ != 0) {
            delete[] rest_;
        }
        rest_ = rest;
        capacity_ = wider;
    }
    rest_[length_++ - 1] = &callback;
}

bool CallbackList::remove_slow(Callback& callback, Event* event) noexcept {
    std::uint32_t index = callback.slot_;
    if (index >= length_ || at(index) != &callback) {
        // Added to another event since, or moved by a removal: look for it.
        for (index = 0; index < length_ && at(index) != &callback; ++index) {}
        if (index == length_) {
            return false;
        }
    }
    if (depth_ != 0) {
        at(index) = nullptr;
        ++holes_;
    } else {
        Callback* last = at(length_ - 1);
        at(index) = last;
        last->slot_ = index;
        at(--length_) = nullptr;
    }
    callback.dispose(event);
    return true;
}

bool CallbackList::has_taker() const noexcept {
    bool is_there = false;
    each([&is_there](const Callback& callback) { is_there = is_there || callback.takes_error(); });
    return is_there;
}

void CallbackList::notify(Event& event, void* result, Error* error) noexcept {
    const std::uint32_t end = length_;
    ++depth_;
    for (std::uint32_t i = 0; i < end; ++i) {
        Callback* callback = at(i);
        if (callback == nullptr) {
            continue;
        }
        if (callback->is_single_wake()) {
            at(i) = nullptr;
            ++holes_;
        }
        callback->add_ref();
        try {
            callback->call(event, result, error);
        } catch (...) {
            report_sink().warning(
                Warning::CallbackThrew, &event, "a callback threw: " + ExceptionError::capture()->message()
            );
        }
        callback->release();
    }
    if (--depth_ == 0 && holes_ != 0) {
        close_gaps();
    }
}

void CallbackList::clear(Event* event) noexcept {
    // In the order of subscription, leaving gaps as a removal during a notification does: who is let go may do anything.
    ++depth_;
    for (std::uint32_t i = 0; i < length_; ++i) {
        if (Callback* callback = std::exchange(at(i), nullptr)) {
            ++holes_;
            callback->dispose(event);
        }
    }
    if (--depth_ == 0 && holes_ != 0) {
        close_gaps();
    }
}

void CallbackList::close_gaps() noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < length_; ++i) {
        if (Callback* callback = at(i)) {
            callback->slot_ = kept;
            at(i) = nullptr;
            at(kept++) = callback;
        }
    }
    length_ = kept;
    holes_ = 0;
}

}  // namespace trueasync
