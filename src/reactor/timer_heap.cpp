#include <trueasync/reactor/timer_heap.hpp>

#include <algorithm>
#include <new>

namespace trueasync {

Status TimerHeap::insert(TimerNode& node, Instant when) {
    remove(node);
    if (TA_UNLIKELY(!has_room())) {
        return Status::failure(ErrorCode::OutOfMemory, "no memory for one more timer");
    }
    node.when = when;
    const Entry entry{std::max(when, earliest_), next_sequence_++, &node};
    if (!fits_row(entry) || !push_row(entry)) {
        push_heap(entry);
    }
    return {};
}

void TimerHeap::remove(TimerNode& node) noexcept {
    if (!node.is_armed()) {
        return;
    }
    const std::uint32_t index = node.heap_index;
    node.heap_index = TimerNode::kNotArmed;
    if ((index & kInRow) != 0) {
        remove_from_row(index);
    } else {
        remove_from_heap(index);
    }
}

void TimerHeap::fire_due(Instant now) noexcept {
    const std::uint64_t begun = next_sequence_;
    earliest_ = now;
    while (!empty() && front().when <= now && front().sequence < begun) {
        TimerNode& node = *front().node;
        remove(node);
        if (row_count_ > kAhead) {
            __builtin_prefetch(row_at(row_begin_ + kAhead).node, 1);
        }
        node.on_deadline();
    }
    earliest_ = {};
}

const TimerHeap::Entry& TimerHeap::front() const noexcept {
    if (row_count_ == 0) {
        return heap_.front();
    }
    const Entry& first = row_at(row_begin_);
    return heap_.empty() || first < heap_.front() ? first : heap_.front();
}

/// All of them could lie in the heap: what was armed once can be armed again without memory.
bool TimerHeap::has_room() noexcept {
    if (TA_LIKELY(size() < heap_.capacity())) {
        return true;
    }
    try {
        heap_.reserve(std::max<std::size_t>(16, 2 * heap_.capacity()));
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// --- the heap

void TimerHeap::push_heap(const Entry& entry) noexcept {
    heap_.push_back(entry);  // there is room
    sift_up(heap_.size() - 1, entry);
}

void TimerHeap::remove_from_heap(std::size_t index) noexcept {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (index != heap_.size()) {
        sift_up(index, last);
        sift_down(last.node->heap_index, last);
    }
}

void TimerHeap::place(std::size_t index, const Entry& entry) noexcept {
    heap_[index] = entry;
    entry.node->heap_index = static_cast<std::uint32_t>(index);
}

void TimerHeap::sift_up(std::size_t index, const Entry& entry) noexcept {
    while (index != 0) {
        const std::size_t parent = (index - 1) / kChildren;
        if (!(entry < heap_[parent])) {
            break;
        }
        place(index, heap_[parent]);
        index = parent;
    }
    place(index, entry);
}

void TimerHeap::sift_down(std::size_t index, const Entry& entry) noexcept {
    for (;;) {
        const std::size_t first = index * kChildren + 1;
        if (first >= heap_.size()) {
            break;
        }
        const std::size_t end = std::min(first + kChildren, heap_.size());
        std::size_t least = first;
        for (std::size_t child = first + 1; child < end; ++child) {
            if (heap_[child] < heap_[least]) {
                least = child;
            }
        }
        if (!(heap_[least] < entry)) {
            break;
        }
        place(index, heap_[least]);
        index = least;
    }
    place(index, entry);
}

// --- the row

/// Behind its last one, and soon after it: one that is far away would keep the next ones out for long. A row that has become short is
/// given up instead, for the one that may begin here.
bool TimerHeap::fits_row(const Entry& entry) noexcept {
    if (row_count_ == 0) {
        return true;
    }
    const Entry& last = row_at(row_end_ - 1);
    if (last < entry && entry.when - last.when <= kGap) {
        return true;
    }
    if (row_count_ > kShortRow) {
        return false;
    }
    while (row_count_ != 0) {
        const Entry first = row_at(row_begin_);
        remove_from_row(row_begin_);
        push_heap(first);
    }
    return true;
}

/// False when there is no memory.
bool TimerHeap::push_row(const Entry& entry) noexcept {
    if (row_end_ - row_begin_ == row_.size()) {
        if (row_count_ <= row_.size() / 2 && row_count_ != 0) {
            close_row();
        } else if (!widen_row()) {
            return false;
        }
    }
    row_at(row_end_) = entry;
    entry.node->heap_index = kInRow | (row_end_ & (kPlaces - 1));
    ++row_end_;
    ++row_count_;
    return true;
}

/// Puts them close together, over the gaps that others have left.
void TimerHeap::close_row() noexcept {
    std::uint32_t to = row_begin_;
    for (std::uint32_t from = row_begin_; from != row_end_; ++from) {
        if (const Entry entry = row_at(from); entry.node != nullptr) {
            entry.node->heap_index = kInRow | (to & (kPlaces - 1));
            row_at(to++) = entry;
        }
    }
    row_end_ = to;
}

bool TimerHeap::widen_row() noexcept {
    if (row_.size() == kPlaces) {
        return false;
    }
    try {
        std::vector<Entry> wider(std::max<std::size_t>(16, 2 * row_.size()));
        for (std::uint32_t place = row_begin_; place != row_end_; ++place) {
            wider[place & (wider.size() - 1)] = row_at(place);
        }
        row_ = std::move(wider);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void TimerHeap::remove_from_row(std::uint32_t place) noexcept {
    row_at(place).node = nullptr;
    --row_count_;
    while (row_begin_ != row_end_ && row_at(row_begin_).node == nullptr) {
        ++row_begin_;
    }
    while (row_begin_ != row_end_ && row_at(row_end_ - 1).node == nullptr) {
        --row_end_;
    }
}

}  // namespace trueasync
