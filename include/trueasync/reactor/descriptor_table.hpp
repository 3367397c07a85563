#pragma once

/// @file trueasync/reactor/descriptor_table.hpp
/// What a reactor knows about each descriptor, and who waits for it.

#include <cstdint>
#include <memory>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/reactor/poll_mask.hpp>
#include <trueasync/runtime/wait.hpp>
#include <vector>

namespace trueasync {

class IoReactor;

/// The place of a watch in the list of its descriptor.
struct WatchTag;

/// An event's interest in a descriptor; see `IoReactor::watch`. Part of the event.
class TA_API DescriptorWatch : public ListNode<WatchTag> {
public:
    DescriptorWatch(int fd, PollMask wanted) noexcept : fd_(fd), wanted_(wanted) {}
    DescriptorWatch(const DescriptorWatch&) = delete;
    DescriptorWatch& operator=(const DescriptorWatch&) = delete;

    int watched_descriptor() const noexcept { return fd_; }
    PollMask wanted() const noexcept { return wanted_; }
    bool is_watching() const noexcept { return is_linked(); }

    /// Something of what is wanted has happened; `what` may hold more than that. Comes again in every turn while it is so. May do anything,
    /// also end the watch or close the descriptor, but must not suspend.
    virtual void on_ready(PollMask what) noexcept = 0;

    /// The descriptor is gone: closed through the reactor, or its number was found to belong to another file. The watch has
    /// ended.
    virtual void on_lost(Error& error) noexcept = 0;

protected:
    virtual ~DescriptorWatch() { unlink(); }

    /// Means the same file as `other`, whatever has happened to the number since.
    void bind_as(const DescriptorWatch& other) noexcept { generation_ = other.generation_; }

private:
    friend class IoReactor;

    int fd_;
    std::uint32_t generation_ = 0;  // of the file it is meant for
    PollMask wanted_;
};

/// The interest of a suspended coroutine in a descriptor; lies on its stack.
class DescriptorWait final : public DirectWait {
public:
    enum class End : std::uint8_t { None, Closed, Reused };

    DescriptorWait(int fd, PollMask wanted, std::source_location where) noexcept
        : DirectWait(where, kDescriptorWait), fd_(fd), wanted_(wanted) {}

    int descriptor() const noexcept { return fd_; }
    PollMask wanted() const noexcept { return wanted_; }

    /// A deadline that its descriptor keeps; see `IoReactor::park_ready`.
    Instant deadline() const noexcept { return deadline_; }
    void set_deadline(Instant deadline) noexcept { deadline_ = deadline; }
    using DirectWait::expire;

    /// Whether the descriptor went away while it was waited for, and how.
    End end() const noexcept { return end_; }
    void set_end(End end) noexcept { end_ = end; }

private:
    TA_API static const Kind kDescriptorWait;

    Instant deadline_ = Instant::max();
    int fd_;
    PollMask wanted_;
    End end_ = End::None;
};

/// What is known of one descriptor.
struct Descriptor {
    enum class State : std::uint8_t {
        Unknown,      ///< not registered
        Registered,   ///< the kernel reports what happens
        AlwaysReady,  ///< a file that cannot be waited for: reading and writing never say "later"
    };

    /// What it means when a read does not fill its buffer. For whoever reads by himself.
    enum class ShortRead : std::uint8_t {
        Unknown,
        Drained,  ///< there was no more
        Local,    ///< a unix socket: there was no more, unless descriptors were sent along
        Nothing,  ///< there may be more
    };

    IntrusiveList<DescriptorWait> waits;
    IntrusiveList<DescriptorWatch, WatchTag> watches;
    void* handle = nullptr;        // the backend's
    std::uint32_t generation = 0;  // counts the files that had this number
    PollMask registered{};         // what the kernel is asked for
    PollMask ready{};              // what it has said, and nobody has found to be over since
    PollMask sticky{};             // that part of it which stays: ends and errors
    State state = State::Unknown;
    bool is_pending = false;    // to be looked at before the next sleep
    std::uint8_t unwanted = 0;  // reports in a row that nobody waited for
    ShortRead short_read = ShortRead::Unknown;
    std::uint32_t files = 0;           // as last heard of; see `IoReactor::mark_drained`
    Instant look_at = Instant::max();  // when the deadlines of its waiters are looked at; see `IoReactor::park_ready`

    bool covers(PollMask mask) const noexcept { return !any(mask & ~registered); }

    /// What its waiters and watches want together.
    PollMask wanted() const noexcept;
};

/// Descriptors by number. Entries stay where they are.
class TA_API DescriptorTable {
public:
    /// Null when nothing is known of it.
    Descriptor* find(int fd) const noexcept {
        const auto index = static_cast<unsigned>(fd);
        return TA_LIKELY(index < size_) ? &chunks_[index / kChunk][index % kChunk] : nullptr;
    }

    /// The entry, made if need be, with those of all numbers below. Null with ENOMEM when memory is out.
    Descriptor* reach(int fd) noexcept;

    /// How many entries there are once that of `fd` is there.
    static std::size_t size_for(int fd) noexcept { return (static_cast<std::size_t>(fd) / kChunk + 1) * kChunk; }

    /// All numbers below have an entry.
    unsigned size() const noexcept { return size_; }

private:
    static constexpr unsigned kChunk = 256;

    std::vector<std::unique_ptr<Descriptor[]>> chunks_;
    unsigned size_ = 0;
};

}  // namespace trueasync
