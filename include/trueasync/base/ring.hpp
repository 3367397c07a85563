#pragma once

/// @file trueasync/base/ring.hpp
/// A growing FIFO in one array.

#include <cstddef>
#include <memory>
#include <utility>

namespace trueasync {

/// First in, first out; grows by doubling and never shrinks, so a warm ring allocates nothing.
/// Thread rule: none of its own; belongs to one thread.
template <typename T>
class Ring {
public:
    Ring() = default;
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    bool empty() const noexcept { return head_ == tail_; }
    std::size_t size() const noexcept { return tail_ - head_; }
    std::size_t capacity() const noexcept { return capacity_; }

    void push_back(T value) {
        if (size() == capacity_) {
            grow();
        }
        items_[tail_++ & (capacity_ - 1)] = std::move(value);
    }

    /// Precondition: not empty.
    T pop_front() noexcept { return std::move(items_[head_++ & (capacity_ - 1)]); }

private:
    void grow() {
        const std::size_t wider = capacity_ == 0 ? 8 : capacity_ * 2;
        auto items = std::make_unique<T[]>(wider);
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) {
            items[i] = std::move(items_[(head_ + i) & (capacity_ - 1)]);
        }
        items_ = std::move(items);
        capacity_ = wider;
        head_ = 0;
        tail_ = count;
    }

    std::unique_ptr<T[]> items_;
    std::size_t capacity_ = 0;
    std::size_t head_ = 0;  // both only grow; the difference is the size
    std::size_t tail_ = 0;
};

}  // namespace trueasync
