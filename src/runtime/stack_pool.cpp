#include <trueasync/runtime/stack_pool.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define TA_STACK_POOL_VALGRIND 1
#endif

namespace trueasync {

namespace {

constexpr std::size_t kColorStep = 64;
constexpr std::size_t kSmallestStack = 16 * 1024;
constexpr std::size_t kLargestStack =
    std::numeric_limits<std::size_t>::max() / 4;  // map() refuses it, sums do not wrap

#if defined(__linux__)
// Not yet in the headers of every supported libc.
constexpr int kMadvGuardInstall = 102;
constexpr int kMadvDontneedLocked = 24;
#endif

std::atomic<std::size_t> process_mprotect_guards{0};

std::size_t page_size() noexcept {
    static const std::size_t size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

void* map_memory(std::size_t bytes) noexcept {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
    flags |= MAP_NORESERVE;
#endif
#if defined(__linux__)
    flags |= MAP_STACK;  // elsewhere it may mean a region that grows
#endif
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) {
        return nullptr;
    }
#if defined(MADV_NOHUGEPAGE)
    ::madvise(memory, bytes, MADV_NOHUGEPAGE);
#endif
    return memory;
}

int protect_memory(void* address, std::size_t bytes, GuardKind kind) noexcept {
    if (kind == GuardKind::Madvise) {
#if defined(__linux__)
        return ::madvise(address, bytes, kMadvGuardInstall) == 0 ? 0 : errno;
#else
        return EINVAL;
#endif
    }
    return ::mprotect(address, bytes, PROT_NONE) == 0 ? 0 : errno;
}

void* allocate_memory(std::size_t bytes) noexcept { return std::malloc(bytes); }

void discard_pages(std::byte* begin, std::byte* end) noexcept {
    const auto bytes = static_cast<std::size_t>(end - begin);
#if defined(__linux__)
    if (::madvise(begin, bytes, MADV_DONTNEED) != 0 && errno == EINVAL) {
        ::madvise(begin, bytes, kMadvDontneedLocked);  // mlockall()
    }
#else
    ::madvise(begin, bytes, MADV_FREE);
#endif
}

void unpoison_range([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::byte* end) noexcept {
#if defined(TA_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(begin, static_cast<std::size_t>(end - begin));
#endif
}

}  // namespace

struct StackPool::Slab {
    std::byte* begin;
    std::byte* end;
    std::atomic<std::byte*> guarded_end;  // slots below it have their guard
    unsigned* valgrind_ids;               // one per slot, only under valgrind
    Slab* next;
};

StackPool::StackPool(StackPoolSettings settings) noexcept : StackPool(settings, {}) {}

StackPool::StackPool(StackPoolSettings settings, const detail::StackPoolHooks& hooks) noexcept
    : settings_(settings), hooks_(hooks) {
    hooks_.map = hooks_.map != nullptr ? hooks_.map : map_memory;
    hooks_.protect = hooks_.protect != nullptr ? hooks_.protect : protect_memory;
    hooks_.allocate = hooks_.allocate != nullptr ? hooks_.allocate : allocate_memory;

    const std::size_t page = page_size();
    const std::size_t wanted = std::clamp(settings.stack_size, std::max(kSmallestStack, 2 * page), kLargestStack);
    const std::size_t pages = (wanted + page - 1) / page;
    page_mask_ = page - 1;
    stride_ = (pages | 1) * page;
    usable_ = (settings.guard ? pages - 1 : pages) * page;
    settings_.stack_size = pages * page;
    if (settings.guard) {
        guard_bytes_ = stride_ - usable_;
#if defined(__linux__)
        guard_ = GuardKind::Madvise;
#else
        guard_ = GuardKind::Mprotect;
#endif
    }

    const std::size_t span = std::bit_floor(std::min(settings.color_span, page / 2));
    settings_.color_span = span > kColorStep ? span : 0;
    color_mask_ = settings_.color_span != 0 ? span - 1 : 0;

    set_bounds(settings.min_idle, settings.max_idle);
}

StackPool::~StackPool() {
    Slab* const newest = slabs_.load(std::memory_order_relaxed);
    for (Slab* slab = newest; slab != nullptr;) {
        Slab* const next = slab->next;
#if defined(TA_STACK_POOL_VALGRIND)
        if (slab->valgrind_ids != nullptr) {
            std::byte* const opened_end = slab == newest ? fresh_ : slab->end;
            const auto slots = static_cast<std::size_t>(opened_end - slab->begin) / stride_;
            for (std::size_t i = 0; i < slots; ++i) {
                VALGRIND_STACK_DEREGISTER(slab->valgrind_ids[i]);
            }
            std::free(slab->valgrind_ids);
        }
#endif
        unpoison_range(slab->begin, slab->end);
        ::munmap(slab->begin, static_cast<std::size_t>(slab->end - slab->begin));
        std::free(slab);
        slab = next;
    }
    std::free(warm_);
    process_mprotect_guards.fetch_sub(mprotect_guards_, std::memory_order_relaxed);
}

std::byte* StackPool::acquire_cold() noexcept {
    warm_low_ = 0;
    std::byte* top = nullptr;
    if (trimmed_count_ != 0) {
        top = trimmed_[--trimmed_count_];
        unpoison(stack_at(top));
    } else {
        const Slab* const slab = slabs_.load(std::memory_order_relaxed);
        if ((slab == nullptr || fresh_ == slab->end) && !add_slab()) {
            return nullptr;
        }
        top = open_slot();
    }
    ++touched_;
    ++cold_acquired_;
    return top;
}

bool StackPool::reserve_slow() noexcept {
    if (const Slab* slab = slabs_.load(std::memory_order_relaxed); slab != nullptr) {
        while (fresh_ != slab->end) {  // a new slab becomes the one that fresh slots come from
            trimmed_[trimmed_count_++] = open_slot();
        }
    }
    if (!add_slab()) {
        ++unpromised_;
        return false;
    }
    return true;
}

std::byte* StackPool::top_of_slot(const Slab& slab, std::byte* slot) const noexcept {
    const auto index = static_cast<std::size_t>(slot - slab.begin) / stride_;
    return slot + stride_ - (index * kColorStep & color_mask_);
}

std::byte* StackPool::open_slot() noexcept {
    Slab& slab = *slabs_.load(std::memory_order_relaxed);
    std::byte* const slot = fresh_;
    fresh_ += stride_;
    if (guard_ != GuardKind::None) {
        // Guards of a slab are a prefix: after a failure the next attempt is made in the next slab.
        if (slab.guarded_end.load(std::memory_order_relaxed) == slot && install_guard(slot)) {
            slab.guarded_end.store(fresh_, std::memory_order_release);
        } else {
            ++unguarded_;
        }
    }
#if defined(TA_STACK_POOL_VALGRIND)
    if (slab.valgrind_ids != nullptr) {
        const auto index = static_cast<std::size_t>(slot - slab.begin) / stride_;
        slab.valgrind_ids[index] = static_cast<unsigned>(VALGRIND_STACK_REGISTER(fresh_ - usable_, fresh_));
    }
#endif
    return top_of_slot(slab, slot);
}

bool StackPool::install_guard(std::byte* slot) noexcept {
    if (guard_ == GuardKind::Madvise) {
        const int error = hooks_.protect(slot, guard_bytes_, GuardKind::Madvise);
        if (error == 0) {
            return true;
        }
        if (error == EINVAL) {  // an older kernel, or locked memory
            guard_ = GuardKind::Mprotect;
        }
    }
#if defined(__linux__)
    if (process_mprotect_guards.load(std::memory_order_relaxed) >= kMprotectGuards) {
        return false;
    }
#endif
    if (hooks_.protect(slot, guard_bytes_, GuardKind::Mprotect) != 0) {
        return false;
    }
    process_mprotect_guards.fetch_add(1, std::memory_order_relaxed);
    ++mprotect_guards_;
    return true;
}

bool StackPool::add_slab() noexcept {
    std::size_t slots = next_slab_slots_;
    void* memory = nullptr;
    for (;; slots /= 2) {  // address space may be limited: take what there is
        if (slots <= std::numeric_limits<std::size_t>::max() / stride_) {
            memory = hooks_.map(slots * stride_);
        }
        if (memory != nullptr || slots == 1) {
            break;
        }
    }
    if (memory == nullptr) {
        return false;
    }
    void* const node = grow_lists(total_slots_ + slots) ? hooks_.allocate(sizeof(Slab)) : nullptr;
    if (node == nullptr) {
        ::munmap(memory, slots * stride_);
        return false;
    }
    auto* const begin = static_cast<std::byte*>(memory);
    Slab* const slab =
        new (node) Slab{begin, begin + slots * stride_, begin, nullptr, slabs_.load(std::memory_order_relaxed)};
#if defined(TA_STACK_POOL_VALGRIND)
    if (RUNNING_ON_VALGRIND != 0) {
        slab->valgrind_ids = static_cast<unsigned*>(std::calloc(slots, sizeof(unsigned)));
    }
#endif
    unpoison_range(slab->begin, slab->end);
    slabs_.store(slab, std::memory_order_release);
    fresh_ = begin;
    ++slab_count_;
    total_slots_ += slots;
    unpromised_ += static_cast<std::ptrdiff_t>(slots);
    next_slab_slots_ = std::min(slots * 2, kLargestSlab);
    return true;
}

bool StackPool::grow_lists(std::size_t slots) noexcept {
    const std::size_t capacity = std::bit_ceil(slots);
    if (warm_ != nullptr && capacity <= warm_mask_ + 1) {
        return true;
    }
    auto** const lists = static_cast<std::byte**>(hooks_.allocate(2 * capacity * sizeof(std::byte*)));
    if (lists == nullptr) {
        return false;
    }
    for (std::size_t i = warm_bottom_; i != warm_top_; ++i) {
        lists[i & (capacity - 1)] = warm_[i & warm_mask_];
    }
    std::copy_n(trimmed_, trimmed_count_, lists + capacity);
    std::free(warm_);
    warm_ = lists;
    trimmed_ = lists + capacity;
    warm_mask_ = capacity - 1;
    return true;
}

void StackPool::note_peak() noexcept {
    const std::size_t count = warm_count();
    window_peak_ = std::max(window_peak_, touched_ - std::min(warm_low_, count));
    peak_live_ = std::max(peak_live_, window_peak_);
    warm_low_ = count;
}

void StackPool::end_window() noexcept {
    note_peak();
    window_left_ = kWindow;
    ++windows_;
    const std::size_t count = warm_count();
    const std::size_t live = touched_ - count;
    const bool is_draining = live + kWindow / 2 < std::exchange(window_live_, live);
    if (window_peak_ >= need_) {
        need_ = window_peak_;
    } else if (!is_draining) {  // the end of many that began together does not say that no more will come
        need_ -= (need_ - window_peak_ + 7) / 8;
    }
    window_peak_ = 0;

    const std::size_t spare = need_ > live ? need_ - live : 0;
    const std::size_t keep = std::max<std::size_t>(std::max(spare, settings_.min_idle), 1);
    if (count > keep) {
        drop_oldest(std::min(count - keep, kTrimBatch));
    }
}

void StackPool::drop_oldest(std::size_t count) noexcept {
    note_peak();
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        std::byte* const top = warm_[warm_bottom_++ & warm_mask_];
        std::byte* const slot_stop = slot_end(top);
        std::byte* const slot = slot_stop - stride_;
        // Stacks released in address order go in one call; guards in between survive it.
        if (slot == end) {
            end = slot_stop;
        } else if (slot_stop == begin) {
            begin = slot;
        } else {
            if (begin != nullptr) {
                discard_pages(begin, end);
            }
            begin = slot;
            end = slot_stop;
        }
        trimmed_[trimmed_count_++] = top;
    }
    if (begin != nullptr) {
        discard_pages(begin, end);
    }
    touched_ -= count;
    trimmed_total_ += count;
    warm_low_ = warm_count();
}

void StackPool::trim() noexcept {
    const std::size_t count = warm_count();
    if (count > settings_.min_idle) {
        drop_oldest(count - settings_.min_idle);
    }
    note_peak();
    window_peak_ = 0;
    need_ = touched_ - warm_count();
}

void StackPool::set_bounds(std::size_t min_idle, std::size_t max_idle) noexcept {
    settings_.min_idle = std::min(min_idle, max_idle);
    settings_.max_idle = max_idle;
    warm_limit_ = std::max<std::size_t>(max_idle, 1);
    if (warm_count() > warm_limit_) {
        drop_oldest(warm_count() - warm_limit_);
    }
}

StackPoolStats StackPool::stats() const noexcept {
    const Slab* const slab = slabs_.load(std::memory_order_relaxed);
    const std::size_t fresh = slab != nullptr ? static_cast<std::size_t>(slab->end - fresh_) / stride_ : 0;
    StackPoolStats stats;
    stats.idle = warm_count() + (has_spare_ != nullptr && has_spare_() ? 1 : 0);
    stats.live = touched_ - stats.idle;
    stats.cold = trimmed_count_ + fresh;
    stats.peak_live = std::max({peak_live_, window_peak_, touched_ - std::min(warm_low_, warm_count())});
    stats.slabs = slab_count_;
    stats.virtual_bytes = total_slots_ * stride_;
    stats.acquired = windows_ * kWindow + (kWindow - window_left_) + stats.live;
    stats.reused = stats.acquired - cold_acquired_;
    stats.trimmed = trimmed_total_;
    stats.unguarded = unguarded_;
    stats.guard = guard_;
    return stats;
}

bool StackPool::contains(const void* address) const noexcept {
    const auto* const byte = static_cast<const std::byte*>(address);
    for (const Slab* slab = slabs_.load(std::memory_order_acquire); slab != nullptr; slab = slab->next) {
        if (byte >= slab->begin && byte < slab->end) {
            return true;
        }
    }
    return false;
}

Stack StackPool::guarded_by(const void* address) const noexcept {
    const auto* const byte = static_cast<const std::byte*>(address);
    for (const Slab* slab = slabs_.load(std::memory_order_acquire); slab != nullptr; slab = slab->next) {
        if (byte >= slab->begin && byte < slab->guarded_end.load(std::memory_order_acquire)) {
            const std::size_t offset = static_cast<std::size_t>(byte - slab->begin) % stride_;
            if (offset >= guard_bytes_) {
                return {};
            }
            const std::size_t slot = static_cast<std::size_t>(byte - slab->begin) - offset;
            return stack_at(top_of_slot(*slab, slab->begin + slot));
        }
    }
    return {};
}

}  // namespace trueasync
