#include <trueasync/reactor/timer_heap.hpp>

#include <algorithm>
#include <new>

namespace trueasync {

Status TimerHeap::insert(TimerNode& node, Instant when) {
    const Entry entry{std::max(when, firing_until_), next_sequence_++, &node};
    node.when = when;
    node.sequence = entry.sequence;
    if (node.is_armed()) {
        const std::size_t index = node.heap_index;
        sift_up(index, entry);
        sift_down(node.heap_index, entry);
        return {};
    }
    try {
        nodes_.push_back(entry);
    } catch (const std::bad_alloc&) {
        return Status::failure(ErrorCode::OutOfMemory, "no memory for one more timer");
    }
    sift_up(nodes_.size() - 1, entry);
    return {};
}

void TimerHeap::remove(TimerNode& node) noexcept {
    if (!node.is_armed()) {
        return;
    }
    const std::size_t index = node.heap_index;
    node.heap_index = TimerNode::kNotArmed;
    const Entry last = nodes_.back();
    nodes_.pop_back();
    if (last.node != &node) {
        sift_up(index, last);
        sift_down(last.node->heap_index, last);
    }
}

void TimerHeap::fire_due(Instant now) noexcept {
    const std::uint64_t begun = next_sequence_;
    firing_until_ = now;
    while (!nodes_.empty() && nodes_.front().when <= now && nodes_.front().sequence < begun) {
        TimerNode& node = *nodes_.front().node;
        remove(node);
        node.on_deadline();
    }
    firing_until_ = Instant::min();
}

void TimerHeap::place(std::size_t index, const Entry& entry) noexcept {
    nodes_[index] = entry;
    entry.node->heap_index = static_cast<std::uint32_t>(index);
}

void TimerHeap::sift_up(std::size_t index, const Entry& entry) noexcept {
    while (index != 0) {
        const std::size_t parent = (index - 1) / kChildren;
        if (!(entry < nodes_[parent])) {
            break;
        }
        place(index, nodes_[parent]);
        index = parent;
    }
    place(index, entry);
}

void TimerHeap::sift_down(std::size_t index, const Entry& entry) noexcept {
    for (;;) {
        const std::size_t first = index * kChildren + 1;
        if (first >= nodes_.size()) {
            break;
        }
        const std::size_t end = std::min(first + kChildren, nodes_.size());
        std::size_t least = first;
        for (std::size_t child = first + 1; child < end; ++child) {
            if (nodes_[child] < nodes_[least]) {
                least = child;
            }
        }
        if (!(nodes_[least] < entry)) {
            break;
        }
        place(index, nodes_[least]);
        index = least;
    }
    place(index, entry);
}

}  // namespace trueasync
