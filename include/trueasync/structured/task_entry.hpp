#pragma once

/// @file trueasync/structured/task_entry.hpp
/// Where a group keeps its tasks: a word each, and room for a value.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <trueasync/base/error.hpp>
#include <vector>

namespace trueasync {

class Coroutine;

/// One task in one word.
class TaskEntry {
public:
    constexpr TaskEntry() noexcept = default;  // removed
    static TaskEntry running(Coroutine& task) noexcept { return TaskEntry(reinterpret_cast<std::uintptr_t>(&task)); }
    static constexpr TaskEntry queued() noexcept { return TaskEntry(kQueued); }
    static constexpr TaskEntry succeeded() noexcept { return TaskEntry(kSucceeded); }
    /// Takes the reference over.
    static TaskEntry failed(Ref<Error> error) noexcept {
        return TaskEntry(reinterpret_cast<std::uintptr_t>(error.detach()) | kFailed);
    }

    bool is_removed() const noexcept { return word_ == 0; }
    bool is_running() const noexcept { return word_ != 0 && (word_ & kTags) == 0; }
    bool has_succeeded() const noexcept { return word_ == kSucceeded; }
    bool has_failed() const noexcept { return (word_ & kTags) == kFailed; }
    bool is_settled() const noexcept { return has_succeeded() || has_failed(); }

    Coroutine* task() const noexcept { return is_running() ? reinterpret_cast<Coroutine*>(word_) : nullptr; }
    Error* error() const noexcept { return has_failed() ? reinterpret_cast<Error*>(word_ - kFailed) : nullptr; }

private:
    static constexpr std::uintptr_t kTags = 7;
    static constexpr std::uintptr_t kFailed = 1;
    static constexpr std::uintptr_t kSucceeded = 2;
    static constexpr std::uintptr_t kQueued = 3;

    explicit constexpr TaskEntry(std::uintptr_t word) noexcept : word_(word) {}

    std::uintptr_t word_ = 0;
};

/// Entries by number, in chunks that never move and go when the last of their entries is removed.
class TaskEntries {
public:
    static constexpr std::uint64_t kChunk = 64;

    explicit TaskEntries(std::size_t value_size) noexcept
        : value_offset_(offset_of_value(value_size)), stride_(stride_of(value_size)) {}

    /// Where the value lies, from the entry on: behind it, aligned as a value of that size may want.
    static constexpr std::size_t offset_of_value(std::size_t size) noexcept {
        return size % sizeof(Slot) == 0 ? sizeof(Slot) : sizeof(TaskEntry);
    }

    /// How many there ever were, which is the number of the next one.
    std::uint64_t end() const noexcept { return end_; }
    /// How many are not removed.
    std::uint64_t count() const noexcept { return end_ - removed_; }

    bool needs_chunk() const noexcept { return room_ == 0; }
    void add_chunk() {
        chunks_.reserve(chunks_.size() + 1 > chunks_.capacity() ? chunks_.size() * 2 + 4 : chunks_.size());
        chunks_.emplace_back(new Slot[1 + kChunk * stride_ / sizeof(Slot)]);
        new (chunks_.back().get()) Header();
        next_ = first_of(chunks_.back().get());
        room_ = kChunk;
    }
    /// Precondition: there is a chunk for it.
    std::uint64_t push(TaskEntry entry) noexcept {
        new (next_) TaskEntry(entry);
        next_ += stride_;
        --room_;
        return end_++;
    }

    /// The next one. Precondition: there is a chunk for it.
    TaskEntry* next() const noexcept { return reinterpret_cast<TaskEntry*>(next_); }

    /// Null when its chunk is gone.
    TaskEntry* at(std::uint64_t number) const noexcept {
        Slot* chunk = chunk_of(number);
        return chunk != nullptr ? reinterpret_cast<TaskEntry*>(first_of(chunk) + number % kChunk * stride_) : nullptr;
    }
    void* value_at(std::uint64_t number) const noexcept { return value_of(at(number)); }
    void* value_of(TaskEntry* entry) const noexcept { return reinterpret_cast<std::byte*>(entry) + value_offset_; }

    /// The entry holds nothing any more.
    void remove(std::uint64_t number) noexcept {
        *at(number) = TaskEntry();
        ++removed_;
        Slot* chunk = chunk_of(number);
        if (++reinterpret_cast<Header*>(chunk)->removed == kChunk) {
            chunks_[number / kChunk - first_].reset();
            drop_front();
        }
    }

    /// Calls `visit(number, entry, room)` for each that is not removed, in order, up to `end`.
    template <typename Visit>
    void each(std::uint64_t end, Visit&& visit) const {
        std::uint64_t number = first_ * kChunk;
        for (const std::unique_ptr<Slot[]>& chunk : chunks_) {
            const std::uint64_t chunk_end = number + kChunk < end ? number + kChunk : end;
            if (chunk == nullptr) {
                number = chunk_end;
                continue;
            }
            for (std::byte* place = first_of(chunk.get()); number < chunk_end; ++number, place += stride_) {
                if (auto* entry = reinterpret_cast<TaskEntry*>(place); !entry->is_removed()) {
                    visit(number, *entry, value_of(entry));
                }
            }
        }
    }

private:
    struct alignas(std::max_align_t) Slot {
        std::byte bytes[alignof(std::max_align_t)];
    };
    struct Header {
        std::uint64_t removed = 0;
    };
    static_assert(sizeof(Header) <= sizeof(Slot) && sizeof(Slot) == 2 * sizeof(TaskEntry));

    static constexpr std::size_t stride_of(std::size_t size) noexcept {
        return (offset_of_value(size) + size + sizeof(TaskEntry) - 1) / sizeof(TaskEntry) * sizeof(TaskEntry);
    }

    Slot* chunk_of(std::uint64_t number) const noexcept {
        const std::uint64_t index = number / kChunk - first_;
        return index < chunks_.size() ? chunks_[index].get() : nullptr;
    }
    static std::byte* first_of(Slot* chunk) noexcept { return reinterpret_cast<std::byte*>(chunk + 1); }

    void drop_front() noexcept {
        std::size_t gone = 0;
        while (gone < chunks_.size() && chunks_[gone] == nullptr) {
            ++gone;
        }
        if (gone == chunks_.size() || gone * 2 > chunks_.size()) {  // each is moved at most once for each that went
            chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(gone));
            first_ += gone;
        }
    }

    std::uint64_t end_ = 0;
    std::byte* next_ = nullptr;  // of the last chunk
    std::uint64_t room_ = 0;     // in the last chunk
    std::uint64_t removed_ = 0;
    std::uint64_t first_ = 0;  // the chunk at the front of the list
    std::vector<std::unique_ptr<Slot[]>> chunks_;
    std::size_t value_offset_;
    std::size_t stride_;
};

}  // namespace trueasync
