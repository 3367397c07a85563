#pragma once

/// @file trueasync/runtime/stack_pool.hpp
/// Stacks for coroutines: handed out in a few instructions, given back to the system when the load goes down.

#include <trueasync/base/export.hpp>

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>

#if defined(TA_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace trueasync {

/// One stack, growing down from `top` to `base`. A plain pair of pointers: it owns nothing.
struct Stack {
    std::byte* base = nullptr;  // lowest usable byte, just above the guard
    std::byte* top = nullptr;   // one past the highest usable byte, 64-byte aligned

    explicit operator bool() const noexcept { return top != nullptr; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(top - base); }
};

/// How an overflow is caught. `Madvise` (Linux 6.13) costs no mapping, `Mprotect` costs two per stack.
enum class GuardKind : std::uint8_t { None, Madvise, Mprotect };

struct StackPoolSettings {
    /// Usable bytes and one guard page together. Rounded up to whole pages, at least 16 KiB and two pages. A single frame that is
    /// larger than a page could step over the guard: build code with such frames with `-fstack-clash-protection`.
    std::size_t stack_size = 256 * 1024;
    std::size_t min_idle = 64;      // warm stacks are never trimmed below this
    std::size_t max_idle = 131072;  // warm stacks are never kept above this
    /// The tops of neighbouring stacks are shifted against each other by 64-byte steps within this many bytes, so that
    /// the hot ends of 1,000 stacks do not fight for the same cache sets (43 against 12 ns for touching four lines in
    /// turn). Rounded down to a power of two, at most half a page; 0 puts every top at the end of a page.
    std::size_t color_span = 1024;
    bool guard = true;
};

struct StackPoolStats {
    std::size_t live = 0;           // handed out now
    std::size_t idle = 0;           // warm: released, pages kept
    std::size_t cold = 0;           // address space only: never handed out, or trimmed
    std::size_t peak_live = 0;      // highest `live` so far
    std::size_t slabs = 0;          // mapped regions
    std::size_t virtual_bytes = 0;  // address space of all slabs
    std::uint64_t acquired = 0;     // successful acquire() calls
    std::uint64_t reused = 0;       // of these, served by a warm stack
    std::uint64_t trimmed = 0;      // warm stacks made cold
    std::size_t unguarded = 0;      // stacks that should have a guard and could not get one
    GuardKind guard = GuardKind::None;
};

namespace detail {

/// System calls of the pool, replaceable by tests. A null pointer means the real one.
struct StackPoolHooks {
    void* (*map)(std::size_t bytes) noexcept = nullptr;                                   // null on failure
    int (*protect)(void* address, std::size_t bytes, GuardKind kind) noexcept = nullptr;  // 0 or errno
    void* (*allocate)(std::size_t bytes) noexcept = nullptr;                              // malloc; freed with free()
};

}  // namespace detail

/// Keeps the stacks of one thread's coroutines in large lazily committed regions ("slabs").
///
/// A released stack stays warm (its touched pages are kept) and is the next one handed out. How many stay warm follows
/// the load: an estimate of the need jumps to the peak of live stacks and, over windows of 1,024 releases, decays by
/// one eighth of the distance, unless many more go than come; at most 64 stacks are made cold per window. Address space is returned only by the
/// destructor.
///
/// Thread rule: one owner thread. `contains`, `is_guard` and `guarded_by` are async-signal-safe on that thread.
/// Lifetime: every stack dies with the pool, live ones too; do not destroy the pool while running on one of them.
///
/// @snippet unit/runtime/stack_pool_test.cpp  acquire_release
class TA_API StackPool {
public:
    static constexpr std::size_t kWindow = 1024;   // releases per adaptation step
    static constexpr std::size_t kTrimBatch = 64;  // stacks trimmed per window at most
    static constexpr std::size_t kFirstSlab = 16;  // stacks in the first slab, doubled for each next one
    static constexpr std::size_t kLargestSlab = 1024;
    /// Process-wide bound on mprotect guards: two mappings each must leave the host its half of vm.max_map_count
    /// (65,530). Stacks beyond it are counted in `StackPoolStats::unguarded`. Linux only.
    static constexpr std::size_t kMprotectGuards = 16384;

    /// Reserves nothing: the first slab comes with the first acquire().
    explicit StackPool(StackPoolSettings settings = {}) noexcept;
    StackPool(StackPoolSettings settings, const detail::StackPoolHooks& hooks) noexcept;
    ~StackPool();

    StackPool(const StackPool&) = delete;
    StackPool(StackPool&&) = delete;
    StackPool& operator=(const StackPool&) = delete;
    StackPool& operator=(StackPool&&) = delete;

    /// The most recently released stack, or a cold one. Its content is unspecified. Empty when memory cannot be had;
    /// nothing is lost then and a later call may succeed.
    [[nodiscard]] Stack acquire() noexcept;

    /// Takes a stack back. Never reads, writes or unmaps its memory in this call, so the caller may still be running on
    /// it. Until it has left the stack, it may call neither trim() nor set_bounds(), and acquire() may return the same
    /// stack again.
    void release(Stack stack) noexcept;

    /// Promises a later `acquire_reserved` its address space, so that a coroutine that has not started yet can count on a
    /// stack. False when there is none to be had. A promise that is not used is given back with unreserve().
    [[nodiscard]] bool reserve() noexcept {
        if (--unpromised_ >= 0) [[likely]] {
            return true;
        }
        return reserve_slow();
    }
    void unreserve(std::int32_t count = 1) noexcept { unpromised_ += count; }

    /// Uses a promise: the top of a stack, as acquire() gives it. Null only when even promised memory is not to be had.
    [[nodiscard]] std::byte* acquire_reserved() noexcept;

    /// release() for those who have kept only the top.
    void release_top(std::byte* top) noexcept;

    /// Asked by stats(), which counts a stack that waits as idle.
    void set_spare_probe(bool (*has_spare)() noexcept) noexcept { has_spare_ = has_spare; }

    /// The stack that has this top.
    Stack stack_at(std::byte* top) const noexcept;

    /// Makes all warm stacks above `min_idle` cold now and forgets the estimate: for idle phases and memory pressure.
    void trim() noexcept;

    /// Changes both bounds (`min_idle` is cut to `max_idle`) and trims to the new `max_idle` now. Whatever the bounds,
    /// the newest released stack stays warm until the next call.
    void set_bounds(std::size_t min_idle, std::size_t max_idle) noexcept;

    StackPoolStats stats() const noexcept;

    /// The settings in force, after rounding.
    const StackPoolSettings& settings() const noexcept { return settings_; }

    /// Whether the address lies in a slab of this pool, guards included.
    bool contains(const void* address) const noexcept;

    /// Whether touching the address faults because it is the installed guard of a stack.
    bool is_guard(const void* address) const noexcept { return static_cast<bool>(guarded_by(address)); }

    /// The stack whose installed guard holds the address, or an empty one.
    Stack guarded_by(const void* address) const noexcept;

private:
    struct Slab;

    std::size_t warm_count() const noexcept { return warm_top_ - warm_bottom_; }
    std::byte* slot_end(std::byte* top) const noexcept;
    std::byte* top_of_slot(const Slab& slab, std::byte* slot) const noexcept;
    static void unpoison(Stack stack) noexcept;

    /// Of many stacks the next one has left the caches: fetches what its first frames will need.
    TA_INLINE void prefetch_next() const noexcept {
        if (warm_top_ == warm_bottom_) {
            return;
        }
        const std::byte* const top = warm_[(warm_top_ - 1) & warm_mask_];
#pragma GCC unroll 8
        for (std::ptrdiff_t below = 64; below <= 512; below += 64) {
            __builtin_prefetch(top - below, 1);
        }
    }
    TA_COLD std::byte* acquire_cold() noexcept;
    TA_COLD bool reserve_slow() noexcept;
    std::byte* open_slot() noexcept;
    bool add_slab() noexcept;
    bool grow_lists(std::size_t slots) noexcept;
    bool install_guard(std::byte* slot) noexcept;
    TA_COLD void end_window() noexcept;
    void note_peak() noexcept;
    TA_COLD void drop_oldest(std::size_t count) noexcept;

    // Warm stacks by their tops: a ring whose newest end is a LIFO and whose oldest end is trimmed. It has room for
    // every slot and grows only when empty. Live stacks are not counted: live == touched_ - warm_count().
    std::byte** warm_ = nullptr;
    std::size_t warm_mask_ = 0;
    std::size_t warm_top_ = 0;
    std::size_t warm_bottom_ = 0;
    std::size_t warm_low_ = 0;    // fewest warm stacks since note_peak(): touched_ - warm_low_ is the peak of live ones
    std::size_t warm_limit_ = 1;  // max_idle, but room for the newest one
    std::size_t window_left_ = kWindow;
    std::size_t page_mask_ = 0;
    std::size_t usable_ = 0;  // from the base to the page end at or above the top

    std::size_t touched_ = 0;        // slots that are live or warm
    std::ptrdiff_t unpromised_ = 0;  // slots, live but spare ones too, that nobody was promised
    bool (*has_spare_)() noexcept = nullptr;
    std::byte** trimmed_ = nullptr;
    std::size_t trimmed_count_ = 0;
    std::byte* fresh_ = nullptr;  // next never used slot of the newest slab
    std::atomic<Slab*> slabs_ = nullptr;
    std::size_t slab_count_ = 0;
    std::size_t next_slab_slots_ = kFirstSlab;
    std::size_t total_slots_ = 0;
    std::size_t stride_ = 0;       // distance of slots, an odd number of pages: keeps tops apart in the TLB sets
    std::size_t guard_bytes_ = 0;  // at the low end of a slot; one page, or two to make the stride odd
    std::size_t color_mask_ = 0;

    std::size_t need_ = 0;  // estimate of live stacks
    std::size_t window_peak_ = 0;
    std::size_t window_live_ = 0;  // live ones at the end of the last window
    std::size_t peak_live_ = 0;
    std::uint64_t windows_ = 0;
    std::uint64_t cold_acquired_ = 0;
    std::uint64_t trimmed_total_ = 0;
    std::size_t unguarded_ = 0;
    std::size_t mprotect_guards_ = 0;
    GuardKind guard_ = GuardKind::None;
    StackPoolSettings settings_;
    detail::StackPoolHooks hooks_;
};

inline std::byte* StackPool::slot_end(std::byte* top) const noexcept {
    return top + (-reinterpret_cast<std::uintptr_t>(top) & page_mask_);
}

inline Stack StackPool::stack_at(std::byte* top) const noexcept { return {slot_end(top) - usable_, top}; }

inline void StackPool::unpoison([[maybe_unused]] Stack stack) noexcept {
#if defined(TA_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(stack.base, stack.size());  // frames that never returned leave their poison
#endif
}

TA_INLINE std::byte* StackPool::acquire_reserved() noexcept {
    if (warm_top_ == warm_bottom_) [[unlikely]] {
        return acquire_cold();
    }
    std::byte* const top = warm_[--warm_top_ & warm_mask_];
    prefetch_next();
    unpoison(stack_at(top));
    return top;
}

TA_INLINE Stack StackPool::acquire() noexcept {
    if (!reserve()) [[unlikely]] {
        return {};
    }
    std::byte* const top = acquire_reserved();
    if (top == nullptr) [[unlikely]] {
        unreserve();
        return {};
    }
    return stack_at(top);
}

TA_INLINE void StackPool::release(Stack stack) noexcept {
    assert(stack);
    release_top(stack.top);
}

TA_INLINE void StackPool::release_top(std::byte* top) noexcept {
    ++unpromised_;
    const std::size_t count = warm_count();
    if (count < warm_low_) {
        warm_low_ = count;
    }
    if (count >= warm_limit_) [[unlikely]] {
        drop_oldest(count - warm_limit_ + 1);
    }
    warm_[warm_top_++ & warm_mask_] = top;
    if (--window_left_ == 0) [[unlikely]] {
        end_window();
    }
}

}  // namespace trueasync
