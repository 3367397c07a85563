#pragma once

/// @file trueasync/runtime/run_queue.hpp
/// The ready coroutines, in order.

#include <cstddef>
#include <trueasync/runtime/coroutine.hpp>

namespace trueasync {

/// A list through the coroutines themselves: measured faster than a ring, and queueing allocates nothing. High priority
/// goes to the head, normal to the tail; taking is always from the head. A coroutine is in it at most once
/// (`WakerState::Queued` or `Ignored`).
class RunQueue {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    Coroutine* head() const noexcept { return head_; }

    void push_back(Coroutine& coroutine) noexcept {
        coroutine.next_ = nullptr;
        if (head_ == nullptr) {
            head_ = &coroutine;
        } else {
            tail_->next_ = &coroutine;
        }
        tail_ = &coroutine;
    }

    void push_front(Coroutine& coroutine) noexcept {
        coroutine.next_ = head_;
        if (head_ == nullptr) {
            tail_ = &coroutine;
        }
        head_ = &coroutine;
    }

    /// Null when empty.
    Coroutine* pop() noexcept {
        Coroutine* first = head_;
        if (first != nullptr) {
            head_ = first->next_;
        }
        return first;
    }

    /// `coroutine` to the tail and the head off, in one step. Precondition: not empty.
    TA_INLINE Coroutine& rotate(Coroutine& coroutine) noexcept {
        coroutine.next_ = nullptr;
        tail_->next_ = &coroutine;
        tail_ = &coroutine;
        Coroutine& first = *head_;
        head_ = first.next_;
        return first;
    }

    std::size_t size() const noexcept {
        std::size_t count = 0;
        for (const Coroutine* c = head_; c != nullptr; c = c->next_) {
            ++count;
        }
        return count;
    }

private:
    Coroutine* head_ = nullptr;
    Coroutine* tail_ = nullptr;  // meaningless while head_ is null
};

}  // namespace trueasync
