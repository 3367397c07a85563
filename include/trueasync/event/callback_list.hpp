#pragma once

/// @file trueasync/event/callback_list.hpp
/// The subscribers of one event.

#include <cstddef>
#include <cstdint>
#include <trueasync/event/callback.hpp>

namespace trueasync {

/// Subscribers in order of subscription; the first lies inline, so one waiter allocates nothing.
///
/// Removal is O(1): outside a notification the last one takes the place of the removed one; during a notification the
/// place is emptied and the gaps are closed when the outermost notification ends. So a callback may, while it is being
/// called, remove itself or others, add new ones (they are called from the next notification on) and notify again.
class TA_API CallbackList {
public:
    CallbackList() noexcept {}  // the pointers mean nothing while the counts are zero
    CallbackList(const CallbackList&) = delete;
    CallbackList& operator=(const CallbackList&) = delete;
    ~CallbackList() {
        if (TA_UNLIKELY(!is_bare())) {
            destroy();
        }
    }

    std::size_t size() const noexcept { return length_ - holes_; }
    bool empty() const noexcept { return length_ == holes_; }
    /// Empty, and no notification under way has left gaps.
    bool is_vacant() const noexcept { return length_ == 0; }
    /// Vacant, and without memory of its own: its destructor has nothing to do.
    bool is_bare() const noexcept { return length_ == 0 && capacity_ == 0; }
    bool is_notifying() const noexcept { return depth_ != 0; }

    /// Takes a reference. The same callback may be added twice and is then called twice.
    void add(Callback& callback) {
        if (length_ == 0) {
            first_ = &callback;
            length_ = 1;
        } else {
            append(callback);  // may throw: nothing has changed then
        }
        callback.add_ref();
        callback.slot_ = length_ - 1;
    }

    /// Takes it out and calls its `dispose`. False when it is not in the list.
    bool remove(Callback& callback, Event* event) noexcept {
        if (TA_LIKELY(length_ == 1 && first_ == &callback && depth_ == 0)) {
            length_ = 0;
            callback.dispose(event);
            return true;
        }
        return remove_slow(callback, event);
    }

    /// The only subscriber, if there is just one and nobody iterates; else null.
    Callback* only() const noexcept { return has_one() ? first_ : nullptr; }

    /// Whether there is `only`.
    bool has_one() const noexcept { return length_ == 1 && depth_ == 0; }

    /// Who subscribed first; means nothing in an empty list.
    Callback* first() const noexcept { return first_; }

    /// Makes `callback` the only subscriber of an empty list; it has counted the list's reference itself.
    void put_only(Callback& callback) noexcept {
        first_ = &callback;
        length_ = 1;
    }

    /// Takes out what `only` returned, without `dispose`: its reference goes to the caller.
    void take_only() noexcept { length_ = 0; }

    /// Whether an error would reach somebody.
    bool has_taker() const noexcept;

    /// Calls everyone who was subscribed when it began and still is when their turn comes.
    void notify(Event& event, void* result, Error* error) noexcept;

    /// Removes and disposes everyone.
    void clear(Event* event) noexcept;

    /// Calls `visit(Callback&)` for everyone; for dumps and a host's collector. `visit` must not change the list.
    template <typename Visit>
    void each(Visit&& visit) const {
        for (std::uint32_t i = 0; i < length_; ++i) {
            if (Callback* callback = at(i)) {
                visit(*callback);
            }
        }
    }

private:
    Callback*& at(std::uint32_t index) noexcept { return index == 0 ? first_ : rest_[index - 1]; }
    Callback* at(std::uint32_t index) const noexcept { return index == 0 ? first_ : rest_[index - 1]; }

    void append(Callback& callback);
    void destroy() noexcept;
    bool remove_slow(Callback& callback, Event* event) noexcept;
    void close_gaps() noexcept;

    Callback* first_;
    Callback** rest_;
    std::uint32_t length_ = 0;  // places in use, gaps included
    std::uint32_t holes_ = 0;   // between the two, or one load of both would wait for the last store to one of them
    std::uint32_t capacity_ = 0;
    std::uint32_t depth_ = 0;  // notifications under way; > 0 keeps every element in its place
};

}  // namespace trueasync
