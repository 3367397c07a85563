#pragma once

/// @file trueasync/reactor/io_reactor.hpp
/// What events with descriptors need from a reactor.

#include <memory>
#include <trueasync/reactor/descriptor_table.hpp>
#include <trueasync/runtime/reactor.hpp>
#include <unordered_map>

namespace trueasync {

/// What a reactor has done so far. Plain integers of its thread.
struct IoReactorStats {
    std::uint64_t turns = 0;          ///< calls of `execute`
    std::uint64_t sleeps = 0;         ///< those that could block
    std::uint64_t reports = 0;        ///< what the kernel has said about descriptors
    std::uint64_t controls = 0;       ///< changes of what it is asked for
    std::uint64_t interruptions = 0;  ///< sleeps that ended by a signal, or because the kernel felt like it
};

/// A reactor that knows descriptors. There is one registration for each descriptor, however many wait for it and for whatever.
///
/// A registration lasts until the descriptor is closed, so whoever closes one that was waited for says so first
/// (`descriptor_closing`). Whoever does not runs into what the kernel does: waiters are not told, and a number that is used again is noticed
/// only when an event begins to watch it.
///
/// After a fork the child has a working reactor of its own: whatever was registered is registered again, at the latest in the next
/// turn. The parent notices nothing. Only the thread that forked goes on in a child, so fork on the reactor's thread.
/// Thread rule: that of the reactor.
class TA_API IoReactor : public Reactor {
public:
    IoReactor* io() noexcept final { return this; }

    /// libuv's loop, for the few types that use a handle of it; `detail::uv_loop_of` in `src/reactor/uv/uv_loop.hpp` gives it its
    /// type. Ask for it anew each time: this is where a child of a fork is noticed. Its clock may be old, and nothing but
    /// the reactor may run it. Handles that are no longer wanted are closed in `ReactorEvent::on_reactor_close` at the latest.
    virtual void* native_loop() noexcept = 0;

    // --- events that wait for descriptors; coroutines use `wait_ready` (poll.hpp)

    /// Binds a new watch to the file that has the number now: when that is seen to be another one later, the watch is refused.
    void introduce(DescriptorWatch& watch) noexcept;

    /// Begins to report to `watch`, from the next turn on, as long as what it wants is the case. Refused with the errno when the
    /// descriptor cannot be watched, and when it is no longer the one the watch was made for.
    [[nodiscard]] Status watch(DescriptorWatch& watch) noexcept;
    void unwatch(DescriptorWatch& watch) noexcept;

    // --- the life of descriptors

    /// The number belongs to a new file. What is known of an earlier one is forgotten. For whoever makes descriptors.
    void descriptor_opened(int fd) noexcept;

    /// The descriptor is about to be closed. Everyone who waits for it is woken with EBADF.
    void descriptor_closing(int fd) noexcept;

    // --- readiness, for whoever reads and writes by himself

    /// A read or write has just said EAGAIN: waiting for it means sleeping. Nothing may suspend between the two.
    void mark_drained(int fd, PollMask mask) noexcept {
        if (Descriptor* descriptor = table_.find(fd); TA_LIKELY(descriptor != nullptr)) {
            descriptor->ready &= ~mask;
            descriptor->sticky &= ~mask;
        }
    }

    /// The same for who counts the files that have had each number, also on other threads: with another count than the last time it is looked
    /// whether what is known is still about the file that has the number now.
    void mark_drained(int fd, PollMask mask, std::uint32_t files) noexcept {
        if (Descriptor* descriptor = table_.find(fd); TA_LIKELY(descriptor != nullptr)) {
            if (TA_UNLIKELY(descriptor->files != files)) {
                look_again(fd, *descriptor, files);
            }
            descriptor->ready &= ~mask;
            descriptor->sticky &= ~mask;
        }
    }

    /// A read or write on a stream has just moved less than it was given room for: the next one would say EAGAIN, unless the end or an error
    /// is to come, or urgent data is there, where reads stop. Saves that attempt.
    void mark_short(int fd, PollMask mask) noexcept {
        if (Descriptor* descriptor = table_.find(fd); TA_LIKELY(descriptor != nullptr)) {
            descriptor->ready &= ~mask | descriptor->sticky;
        }
    }

    /// Remembered until the descriptor is closed.
    void set_short_read(int fd, Descriptor::ShortRead what) noexcept {
        if (Descriptor* descriptor = table_.find(fd)) {
            descriptor->short_read = what;
        }
    }

    /// What is known to be the case, or was when it was last looked at. Never a system call.
    PollMask readiness(int fd) const noexcept {
        const Descriptor* descriptor = table_.find(fd);
        return descriptor != nullptr ? descriptor->ready : PollMask::None;
    }

    const Descriptor* find(int fd) const noexcept { return table_.find(fd); }
    const IoReactorStats& io_stats() const noexcept { return stats_; }

    /// Deadlines at least this far away are kept cheaply, and may be met a thousandth of their delay later: as with `poll(2)`, whose timers
    /// the kernel lets slip by that much.
    void set_far(Duration delay) noexcept { far_ = delay; }

    /// Makes a delay a point in time.
    Deadline fixed(Deadline deadline) noexcept;

    /// Suspends until something of `mask` is ready; the long way of `wait_ready`.
    ///
    /// A far deadline is not armed and disarmed with each wait: one timer of the descriptor stays, looks at the deadlines of those who
    /// wait when it fires, and goes on to the nearest of them.
    WaitResult park_ready(int fd, PollMask mask, const WaitLimit& limit, std::source_location where) noexcept;

protected:
    explicit IoReactor(bool is_level_triggered) noexcept;
    ~IoReactor() override;

    /// Asks the kernel for `mask` too, and for a report if it is the case already. Calls `lose` if it finds that the number belongs to
    /// another file now, and then begins anew with that one.
    [[nodiscard]] virtual Status attach(int fd, Descriptor& descriptor, PollMask mask) noexcept = 0;

    /// Whether what is known about the descriptor is still about the file that has the number. True also when nothing is known.
    virtual bool is_same_file(int fd, Descriptor& descriptor) noexcept = 0;

    /// Takes the descriptor out of the kernel's hands, if it is still in them.
    virtual void detach(int fd, Descriptor& descriptor) noexcept = 0;

    /// Whether this is the child of a fork and could not be made to work. Before anything that reaches the kernel.
    [[nodiscard]] virtual Status notice_fork() noexcept = 0;

    /// The kernel says `what`. Wakes those who wait for it; false when there is none.
    bool report(int fd, Descriptor& descriptor, PollMask what) noexcept;

    /// The clock as of the last tick of the system: some milliseconds behind, and much cheaper.
    Instant rough_now() noexcept;
    Duration far() const noexcept { return far_; }
    bool is_far(Instant when) const noexcept { return when > rough_now_ && when - rough_now_ >= far_; }

    /// Timers of descriptors that are armed; nobody may wait for what they would look at.
    std::size_t far_timers() const noexcept { return far_timers_; }

    /// Everyone who waits is told that the descriptor has gone; the entry is as new.
    void lose(int fd, Descriptor& descriptor, DescriptorWait::End end) noexcept;

    /// Before the next sleep the backend looks at it again.
    void pend(int fd, Descriptor& descriptor) noexcept {
        if (!descriptor.is_pending) {
            descriptor.is_pending = true;
            pending_.push_back(fd);  // there is room: see `reach`
        }
    }

    /// Calls `look(fd, descriptor)` for what was pending when it began.
    template <typename F>
    void each_pending(F&& look) {
        const std::size_t count = pending_.size();
        for (std::size_t i = 0; i < count; ++i) {
            Descriptor& descriptor = *table_.find(pending_[i]);
            descriptor.is_pending = false;
            look(pending_[i], descriptor);
        }
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    }

    bool has_pending() const noexcept { return !pending_.empty(); }

    DescriptorTable table_;
    IoReactorStats stats_;

private:
    class FarTimer;

    Descriptor* reach(int fd) noexcept;
    bool keep_deadline(DescriptorWait& wait, Descriptor& descriptor, Deadline deadline) noexcept;
    bool look_at(int fd, Descriptor& descriptor, Instant when) noexcept;
    void look(int fd, Instant now) noexcept;
    TA_COLD void look_again(int fd, Descriptor& descriptor, std::uint32_t files) noexcept;
    bool report_to_watches(int fd, Descriptor& descriptor, PollMask what) noexcept;

    std::vector<int> pending_;
    IntrusiveList<DescriptorWatch, WatchTag> reporting_;  // of one descriptor, not yet told
    int reporting_fd_ = -1;
    std::unordered_map<int, std::unique_ptr<FarTimer>> timers_of_descriptors_;
    std::size_t far_timers_ = 0;
    Instant rough_now_{};
    Duration far_ = std::chrono::seconds(10);
    const bool is_level_triggered_;
};

}  // namespace trueasync
