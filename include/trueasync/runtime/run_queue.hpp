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
    /// The one behind the head; null if there is none.
    TA_INLINE Coroutine* second() const noexcept { return tail_ != nullptr ? head_->next_ : nullptr; }

    void push_back(Coroutine& coroutine) noexcept {
        if (head_ == nullptr) {
            head_ = &coroutine;
            return;
        }
        (tail_ != nullptr ? tail_ : head_)->next_ = &coroutine;
        tail_ = &coroutine;
    }

    void push_front(Coroutine& coroutine) noexcept {
        if (head_ != nullptr) {
            coroutine.next_ = head_;
            if (tail_ == nullptr) {
                tail_ = head_;
            }
        }
        head_ = &coroutine;
    }

    /// Null when empty.
    TA_INLINE Coroutine* pop() noexcept {
        Coroutine* first = head_;
        if (first != nullptr) {
            drop_head();
        }
        return first;
    }

    /// Takes the head off. Precondition: not empty.
    TA_INLINE void drop_head() noexcept {
        if (tail_ == nullptr) {
            head_ = nullptr;
            return;
        }
        head_ = head_->next_;
        if (head_ == tail_) {
            tail_ = nullptr;
        }
    }

    /// `coroutine` to the tail and the head off, in one step. Precondition: not empty.
    /// With one in the queue nothing is read back that was written just before, which is what a yield between two would wait for.
    TA_INLINE void rotate(Coroutine& coroutine) noexcept {
        if (tail_ == nullptr) {
            head_ = &coroutine;
            return;
        }
        tail_->next_ = &coroutine;
        head_ = head_->next_;
        asm volatile("" : : : "memory");  // two stores, not one vector store: the next turn reads each of them back
        tail_ = &coroutine;
    }

    template <typename Visit>
    void each(Visit&& visit) const {
        Coroutine* const last = tail_ != nullptr ? tail_ : head_;
        for (Coroutine* coroutine = head_; coroutine != nullptr;) {
            Coroutine* const next = coroutine == last ? nullptr : coroutine->next_;
            visit(*coroutine);
            coroutine = next;
        }
    }

    std::size_t size() const noexcept {
        std::size_t count = 0;
        each([&count](const Coroutine&) { ++count; });
        return count;
    }

private:
    // The links: tail_ is null with one in the queue, too, which then costs one store to come and one to go. The tail's own `next_`
    // means nothing.
    Coroutine* head_ = nullptr;
    Coroutine* tail_ = nullptr;
};

}  // namespace trueasync
