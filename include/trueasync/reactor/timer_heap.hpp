#pragma once

/// @file trueasync/reactor/timer_heap.hpp
/// The armed deadlines of one reactor, nearest first.

#include <algorithm>
#include <trueasync/runtime/reactor.hpp>
#include <vector>

namespace trueasync {

/// Nodes that belong to others. Deadlines that come in their own order, as those of many equal delays do, stand in a row, where each
/// comes and goes in constant time; the others lie in a heap with four children per node. Equal deadlines keep the order in
/// which they were armed.
class TA_API TimerHeap {
public:
    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return heap_.size() + row_count_; }
    Instant nearest() const noexcept {
        const Instant in_heap = heap_.empty() ? Instant::max() : heap_.front().when;
        return row_count_ == 0 ? in_heap : std::min(in_heap, row_at(row_begin_).when);
    }

    /// Fails only when memory is out, and never for a node that is armed, or was when it began to fire.
    [[nodiscard]] Status insert(TimerNode& node, Instant when);
    void remove(TimerNode& node) noexcept;

    /// Takes out and calls every node whose deadline is not after `now`, in order. Nodes armed meanwhile wait for the next
    /// call, so that a timer that arms itself again for at once cannot hold the loop.
    void fire_due(Instant now) noexcept;

private:
    static constexpr std::size_t kChildren = 4;
    static constexpr std::uint32_t kInRow = 1U << 31;  // in `heap_index`, above the place in the row
    static constexpr std::uint32_t kPlaces = 1U << 30;
    static constexpr std::uint32_t kShortRow = 4;
    static constexpr std::uint32_t kAhead = 6;
    static constexpr Duration kGap = std::chrono::milliseconds(10);

    /// The key lies beside the pointer, so that sifting does not touch the nodes.
    struct Entry {
        Instant when;
        std::uint64_t sequence;
        TimerNode* node;  // null in the row: has been taken out
        bool operator<(const Entry& other) const noexcept {
            return when != other.when ? when < other.when : sequence < other.sequence;
        }
    };

    const Entry& front() const noexcept;  // of all
    bool has_room() noexcept;

    void place(std::size_t index, const Entry& entry) noexcept;
    void sift_up(std::size_t index, const Entry& entry) noexcept;
    void sift_down(std::size_t index, const Entry& entry) noexcept;
    void push_heap(const Entry& entry) noexcept;
    void remove_from_heap(std::size_t index) noexcept;

    Entry& row_at(std::uint32_t place) noexcept { return row_[place & (row_.size() - 1)]; }
    const Entry& row_at(std::uint32_t place) const noexcept { return row_[place & (row_.size() - 1)]; }
    bool fits_row(const Entry& entry) noexcept;
    bool push_row(const Entry& entry) noexcept;
    void close_row() noexcept;
    bool widen_row() noexcept;
    void remove_from_row(std::uint32_t place) noexcept;

    std::vector<Entry> heap_;
    // A ring; places count on and on. Its first and its last entry are armed.
    std::vector<Entry> row_;
    std::uint32_t row_begin_ = 0;
    std::uint32_t row_end_ = 0;
    std::uint32_t row_count_ = 0;  // without those that have been taken out
    std::uint64_t next_sequence_ = 0;
    // No entry is earlier, so that differences do not overflow. While `fire_due` runs: newcomers go behind what is due.
    Instant earliest_{};
};

}  // namespace trueasync
