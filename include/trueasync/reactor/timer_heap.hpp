#pragma once

/// @file trueasync/reactor/timer_heap.hpp
/// The armed deadlines of one reactor, nearest first.

#include <trueasync/runtime/reactor.hpp>
#include <vector>

namespace trueasync {

/// A heap with four children per node, over nodes that belong to others. Equal deadlines keep the order in which they
/// were armed.
class TA_API TimerHeap {
public:
    bool empty() const noexcept { return nodes_.empty(); }
    std::size_t size() const noexcept { return nodes_.size(); }
    Instant nearest() const noexcept { return nodes_.empty() ? Instant::max() : nodes_.front().when; }

    /// Fails only when memory is out.
    [[nodiscard]] Status insert(TimerNode& node, Instant when);
    void remove(TimerNode& node) noexcept;

    /// Takes out and calls every node whose deadline is not after `now`, in order. Nodes armed meanwhile wait for the next
    /// call, so that a timer that arms itself again for at once cannot hold the loop.
    void fire_due(Instant now) noexcept;

private:
    static constexpr std::size_t kChildren = 4;

    /// The key lies beside the pointer, so that sifting does not touch the nodes.
    struct Entry {
        Instant when;
        std::uint64_t sequence;
        TimerNode* node;
        bool operator<(const Entry& other) const noexcept {
            return when != other.when ? when < other.when : sequence < other.sequence;
        }
    };

    void place(std::size_t index, const Entry& entry) noexcept;
    void sift_up(std::size_t index, const Entry& entry) noexcept;
    void sift_down(std::size_t index, const Entry& entry) noexcept;

    std::vector<Entry> nodes_;
    std::uint64_t next_sequence_ = 0;
    Instant firing_until_ = Instant::min();  // while `fire_due` runs: newcomers go behind what is due
};

}  // namespace trueasync
