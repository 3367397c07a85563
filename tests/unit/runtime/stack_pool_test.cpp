#include <trueasync/runtime/stack_pool.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <support/valgrind.hpp>
#include <vector>

namespace trueasync {
namespace {

#if defined(TA_ASAN)
constexpr bool kAsan = true;
#else
constexpr bool kAsan = false;
#endif
#if defined(TA_TSAN)
constexpr bool kTsan = true;
#else
constexpr bool kTsan = false;
#endif

const std::size_t kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

// Replaced system calls. Each test that uses them starts with Faults::reset().
struct Faults {
    static inline int maps_left = -1;  // below zero: no limit
    static inline std::size_t largest_map = 0;
    static inline std::size_t maps = 0;
    static inline int allocations_left = -1;
    static inline int mprotects_left = -1;
    static inline std::size_t protects = 0;

    static void reset() {
        maps_left = allocations_left = mprotects_left = -1;
        largest_map = SIZE_MAX;
        maps = protects = 0;
    }

    static void* map(std::size_t bytes) noexcept {
        ++maps;
        if (bytes > largest_map || (maps_left == 0)) {
            return nullptr;
        }
        if (maps_left > 0) {
            --maps_left;
        }
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        return memory == MAP_FAILED ? nullptr : memory;
    }

    static void* allocate(std::size_t bytes) noexcept {
        if (allocations_left == 0) {
            return nullptr;
        }
        if (allocations_left > 0) {
            --allocations_left;
        }
        return std::malloc(bytes);
    }

    static int mprotect_only(void* address, std::size_t bytes, GuardKind kind) noexcept {
        ++protects;
        if (kind == GuardKind::Madvise) {
            return EINVAL;
        }
        if (mprotects_left == 0) {
            return ENOMEM;
        }
        if (mprotects_left > 0) {
            --mprotects_left;
        }
        return ::mprotect(address, bytes, PROT_NONE) == 0 ? 0 : errno;
    }
};

constexpr detail::StackPoolHooks kMprotectOnly{nullptr, Faults::mprotect_only, nullptr};

// The signal that ends a child which writes one byte to `address`, or 0.
int signal_of_write(std::byte* address) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        std::signal(SIGBUS, SIG_DFL);
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        *reinterpret_cast<volatile unsigned char*>(address) = 1;
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::size_t resident_pages(Stack stack) {
    const auto end = (reinterpret_cast<std::uintptr_t>(stack.top) + kPage - 1) / kPage * kPage;
    const std::size_t bytes = end - reinterpret_cast<std::uintptr_t>(stack.base);
    std::vector<unsigned char> pages(bytes / kPage);
    EXPECT_EQ(::mincore(stack.base, bytes, pages.data()), 0);
    std::size_t count = 0;
    for (const unsigned char page : pages) {
        count += page & 1;
    }
    return count;
}

std::vector<Stack> acquire_many(StackPool& pool, std::size_t count) {
    std::vector<Stack> stacks;
    stacks.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        stacks.push_back(pool.acquire());
        if (!stacks.back()) {
            ADD_FAILURE() << "no stack after " << i;
            stacks.pop_back();
            break;
        }
    }
    return stacks;
}

void release_all(StackPool& pool, std::vector<Stack>& stacks) {
    for (const Stack stack : stacks) {
        pool.release(stack);
    }
    stacks.clear();
}

void run_windows(StackPool& pool, std::size_t windows) {
    for (std::size_t i = 0; i < windows * StackPool::kWindow; ++i) {
        pool.release(pool.acquire());
    }
}

TEST(StackPool, GivesUsableStack) {
    /// [acquire_release]
    StackPool pool({.stack_size = 64 * 1024});
    Stack stack = pool.acquire();
    ASSERT_TRUE(stack);
    std::memset(stack.base, 0x5a, stack.size());
    pool.release(stack);
    /// [acquire_release]
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack.top) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack.base) % kPage, 0u);
    EXPECT_LE(stack.size(), 64 * 1024 - kPage);
    EXPECT_GT(stack.size(), 64 * 1024 - kPage - pool.settings().color_span - 1);
}

TEST(StackPool, EmptyStackIsFalse) {
    EXPECT_FALSE(Stack{});
    EXPECT_EQ(Stack{}.size(), 0u);
}

TEST(StackPool, ReservesNothingBeforeFirstUse) {
    const StackPool pool;
    const StackPoolStats stats = pool.stats();
    EXPECT_EQ(stats.slabs, 0u);
    EXPECT_EQ(stats.virtual_bytes, 0u);
    EXPECT_EQ(stats.live + stats.idle + stats.cold, 0u);
    EXPECT_FALSE(pool.contains(&pool));
    EXPECT_FALSE(pool.is_guard(nullptr));
}

TEST(StackPool, RoundsSizeUpToPages) {
    EXPECT_EQ(StackPool({.stack_size = 64 * 1024 + 1}).settings().stack_size, 64 * 1024 + kPage);
    EXPECT_EQ(StackPool({.stack_size = 0}).settings().stack_size, std::max<std::size_t>(16 * 1024, 2 * kPage));
    EXPECT_EQ(StackPool({.stack_size = 1}).settings().stack_size, std::max<std::size_t>(16 * 1024, 2 * kPage));
}

TEST(StackPool, ReleasedStackIsNextOne) {
    StackPool pool;
    const Stack first = pool.acquire();
    const Stack second = pool.acquire();
    pool.release(first);
    EXPECT_EQ(pool.acquire().base, first.base);
    pool.release(second);
    const Stack again = pool.acquire();
    EXPECT_EQ(again.base, second.base);
    EXPECT_EQ(again.top, second.top);
}

TEST(StackPool, ReusesInLifoOrder) {
    StackPool pool;
    std::vector<Stack> stacks = acquire_many(pool, 200);
    for (const Stack stack : stacks) {
        pool.release(stack);
    }
    for (auto stack = stacks.rbegin(); stack != stacks.rend(); ++stack) {
        ASSERT_EQ(pool.acquire().top, stack->top);
    }
}

TEST(StackPool, StacksDoNotOverlap) {
    StackPool pool({.stack_size = 32 * 1024});
    std::vector<Stack> stacks = acquire_many(pool, 500);
    std::set<std::byte*> edges;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        edges.insert(stacks[i].base);
        std::memset(stacks[i].base, static_cast<int>(i & 0xff), stacks[i].size());
    }
    EXPECT_EQ(edges.size(), stacks.size());
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        ASSERT_EQ(*stacks[i].base, static_cast<std::byte>(i & 0xff));
        ASSERT_EQ(stacks[i].top[-1], static_cast<std::byte>(i & 0xff));
    }
}

TEST(StackPool, ShiftsTopsWithinColorSpan) {
    StackPool colored;
    std::set<std::uintptr_t> offsets;
    for (const Stack stack : acquire_many(colored, 64)) {
        offsets.insert(-reinterpret_cast<std::uintptr_t>(stack.top) % kPage);
    }
    EXPECT_EQ(offsets.size(), 16u);
    EXPECT_EQ(*offsets.rbegin(), 1024u - 64u);

    StackPool plain({.color_span = 0});
    for (const Stack stack : acquire_many(plain, 64)) {
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(stack.top) % kPage, 0u);
        ASSERT_EQ(stack.size(), 256 * 1024 - kPage);
    }
    EXPECT_EQ(StackPool({.color_span = 700}).settings().color_span, 512u);
    EXPECT_EQ(StackPool({.color_span = 1 << 20}).settings().color_span, kPage / 2);
}

TEST(StackPool, SlabsGrowGeometrically) {
    StackPool pool({.stack_size = 16 * 1024});
    std::vector<Stack> stacks = acquire_many(pool, 16);
    EXPECT_EQ(pool.stats().slabs, 1u);
    EXPECT_EQ(pool.stats().cold, 0u);
    stacks.push_back(pool.acquire());
    EXPECT_EQ(pool.stats().slabs, 2u);
    EXPECT_EQ(pool.stats().cold, 31u);
    for (const Stack stack : acquire_many(pool, 2015 + 1024)) {
        stacks.push_back(stack);
    }
    // 16 + 32 + ... + 1024 = 2032, then 1024 each.
    EXPECT_EQ(pool.stats().slabs, 8u);
    EXPECT_EQ(pool.stats().live + pool.stats().cold, 2032u + 1024u);
    const std::size_t slot = (16 * 1024 / kPage | 1) * kPage;
    EXPECT_EQ(pool.stats().virtual_bytes, (2032 + 1024) * slot);
}

TEST(StackPool, CountsWhatItDoes) {
    StackPool pool;
    std::vector<Stack> stacks = acquire_many(pool, 10);
    EXPECT_EQ(pool.stats().live, 10u);
    EXPECT_EQ(pool.stats().peak_live, 10u);
    release_all(pool, stacks);
    stacks = acquire_many(pool, 4);
    const StackPoolStats stats = pool.stats();
    EXPECT_EQ(stats.live, 4u);
    EXPECT_EQ(stats.idle, 6u);
    EXPECT_EQ(stats.cold, 6u);
    EXPECT_EQ(stats.peak_live, 10u);
    EXPECT_EQ(stats.acquired, 14u);
    EXPECT_EQ(stats.reused, 4u);
    EXPECT_EQ(stats.trimmed, 0u);
    EXPECT_EQ(stats.unguarded, 0u);
    EXPECT_NE(stats.guard, GuardKind::None);
}

TEST(StackPool, CountersSurviveWindowsAndTrims) {
    StackPool pool({.min_idle = 2});
    std::vector<Stack> stacks = acquire_many(pool, 50);
    release_all(pool, stacks);
    run_windows(pool, 3);
    pool.trim();
    stacks = acquire_many(pool, 5);
    const StackPoolStats stats = pool.stats();
    EXPECT_EQ(stats.live, 5u);
    EXPECT_EQ(stats.peak_live, 50u);
    EXPECT_EQ(stats.acquired, 50 + 3 * StackPool::kWindow + 5);
    EXPECT_EQ(stats.reused, 3 * StackPool::kWindow + 2);
    EXPECT_EQ(stats.trimmed, 48u);
    EXPECT_EQ(stats.live + stats.idle + stats.cold, 112u);
}

TEST(StackPool, ReusesTrimmedStacksBeforeFreshOnes) {
    StackPool pool({.min_idle = 0});
    std::vector<Stack> stacks = acquire_many(pool, 8);
    std::set<std::byte*> known;
    for (const Stack stack : stacks) {
        known.insert(stack.top);
    }
    release_all(pool, stacks);
    pool.trim();
    for (const Stack stack : acquire_many(pool, 8)) {
        EXPECT_EQ(known.count(stack.top), 1u);
    }
    EXPECT_EQ(pool.stats().cold, 8u);
}

TEST(StackPool, KnowsItsAddresses) {
    StackPool pool;
    StackPool other;
    const Stack stack = pool.acquire();
    const Stack foreign = other.acquire();
    int local = 0;
    EXPECT_TRUE(pool.contains(stack.base));
    EXPECT_TRUE(pool.contains(stack.top - 1));
    EXPECT_TRUE(pool.contains(stack.base - 1));
    EXPECT_FALSE(pool.contains(foreign.base));
    EXPECT_FALSE(pool.contains(&local));

    EXPECT_TRUE(pool.is_guard(stack.base - 1));
    EXPECT_TRUE(pool.is_guard(stack.base - kPage));
    EXPECT_FALSE(pool.is_guard(stack.base));
    EXPECT_FALSE(pool.is_guard(stack.top - 1));
    EXPECT_FALSE(pool.is_guard(foreign.base - 1));
    EXPECT_FALSE(pool.is_guard(&local));
    EXPECT_EQ(pool.guarded_by(stack.base - 1).top, stack.top);
    EXPECT_EQ(pool.guarded_by(stack.base - 1).base, stack.base);
}

TEST(StackPool, InstallsGuardsLazily) {
    Faults::reset();
    StackPool pool({}, kMprotectOnly);
    const Stack stack = pool.acquire();
    EXPECT_EQ(Faults::protects, 2u);  // refused by madvise, then mprotect
    EXPECT_TRUE(pool.is_guard(stack.base - 1));
    const std::size_t slot = pool.stats().virtual_bytes / 16;
    EXPECT_FALSE(pool.is_guard(stack.base - 1 + slot));
    const Stack second = pool.acquire();
    EXPECT_EQ(Faults::protects, 3u);
    EXPECT_EQ(second.base, stack.base + slot);
    EXPECT_TRUE(pool.is_guard(second.base - 1));
    pool.release(second);
    EXPECT_EQ(pool.acquire().base, second.base);
    EXPECT_EQ(Faults::protects, 3u);
}

TEST(StackPool, GuardFaults) {
    StackPool pool;
    for (const Stack stack : acquire_many(pool, 3)) {
        EXPECT_EQ(signal_of_write(stack.base - 1), SIGSEGV);
        EXPECT_EQ(signal_of_write(stack.base - kPage), SIGSEGV);
        EXPECT_EQ(signal_of_write(stack.base), 0);
        EXPECT_EQ(signal_of_write(stack.top - 1), 0);
    }
}

TEST(StackPool, MprotectGuardFaults) {
    Faults::reset();
    StackPool pool({}, kMprotectOnly);
    for (const Stack stack : acquire_many(pool, 3)) {
        const int signal = signal_of_write(stack.base - 1);
        EXPECT_TRUE(signal == SIGSEGV || signal == SIGBUS) << signal;
        EXPECT_EQ(signal_of_write(stack.base), 0);
    }
    EXPECT_EQ(pool.stats().guard, GuardKind::Mprotect);
    EXPECT_EQ(pool.stats().unguarded, 0u);
}

TEST(StackPool, LockedMemoryFallsBackToMprotect) {
#if defined(__linux__)
    if (kAsan || kTsan || testing::on_valgrind()) {
        GTEST_SKIP() << "mlockall() would populate the shadow memory";
    }
    const pid_t child = ::fork();
    if (child == 0) {
        if (::mlockall(MCL_FUTURE) != 0) {
            ::_exit(77);
        }
        StackPool pool({.stack_size = 64 * 1024, .min_idle = 0});
        const Stack stack = pool.acquire();
        if (!stack || pool.stats().guard != GuardKind::Mprotect || !pool.is_guard(stack.base - 1)) {
            ::_exit(1);
        }
        stack.top[-1] = std::byte{1};
        pool.release(stack);
        pool.trim();
        ::_exit(stack.top[-1] == std::byte{0} ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        GTEST_SKIP() << "not allowed to lock memory";
    }
    EXPECT_EQ(WEXITSTATUS(status), 0);
#else
    GTEST_SKIP() << "only Linux has the madvise guard";
#endif
}

TEST(StackPool, GuardSurvivesTrim) {
    Faults::reset();
    StackPool madvised({.min_idle = 0});
    StackPool mprotected({.min_idle = 0}, kMprotectOnly);
    for (StackPool* const pool : {&madvised, &mprotected}) {
        std::vector<Stack> stacks = acquire_many(*pool, 3);
        release_all(*pool, stacks);
        pool->trim();
        for (const Stack stack : acquire_many(*pool, 3)) {
            EXPECT_TRUE(pool->is_guard(stack.base - 1));
            EXPECT_NE(signal_of_write(stack.base - 1), 0);
            EXPECT_EQ(signal_of_write(stack.base), 0);
        }
    }
}

TEST(StackPool, WorksWithoutGuards) {
    StackPool pool({.stack_size = 64 * 1024, .color_span = 0, .guard = false});
    const Stack first = pool.acquire();
    const Stack second = pool.acquire();
    EXPECT_EQ(first.size(), 64u * 1024);
    EXPECT_FALSE(pool.is_guard(second.base - 1));
    EXPECT_EQ(signal_of_write(second.base - 1), 0);
    EXPECT_EQ(pool.stats().guard, GuardKind::None);
    EXPECT_EQ(pool.stats().unguarded, 0u);
}

TEST(StackPool, GoesOnWhenGuardsRunOut) {
    Faults::reset();
    Faults::mprotects_left = 5;
    StackPool pool({}, kMprotectOnly);
    const std::vector<Stack> stacks = acquire_many(pool, 16);
    EXPECT_EQ(pool.stats().unguarded, 11u);
    EXPECT_TRUE(pool.is_guard(stacks[4].base - 1));
    EXPECT_FALSE(pool.is_guard(stacks[5].base - 1));
    EXPECT_EQ(signal_of_write(stacks[5].base - 1), 0);
    Faults::mprotects_left = -1;
    EXPECT_TRUE(pool.is_guard(pool.acquire().base - 1)) << "the next slab tries again";
    EXPECT_EQ(pool.stats().unguarded, 11u);
}

TEST(StackPool, MprotectLeavesMappingsToTheHost) {
    if (kTsan) {
        GTEST_SKIP() << "ThreadSanitizer aborts when a process has too many mappings";
    }
    Faults::reset();
    StackPool pool({.stack_size = 16 * 1024}, kMprotectOnly);
    std::vector<Stack> stacks = acquire_many(pool, testing::on_valgrind() ? 1000 : 40000);
    const std::size_t live = stacks.size();
    EXPECT_EQ(pool.stats().live, live);
    if (live > StackPool::kMprotectGuards) {
        EXPECT_EQ(pool.stats().unguarded, live - StackPool::kMprotectGuards);
    }
    stacks.back().top[-1] = std::byte{1};
}

TEST(StackPool, HundredThousandLive) {
    if (testing::on_valgrind()) {
        GTEST_SKIP() << "valgrind keeps registered stacks in a linear list";
    }
    StackPool pool({.stack_size = kAsan || kTsan ? 16u * 1024 : 256u * 1024});
    std::vector<Stack> stacks = acquire_many(pool, 100'000);
    ASSERT_EQ(stacks.size(), 100'000u);
    if (pool.stats().guard == GuardKind::Madvise) {
        EXPECT_EQ(pool.stats().unguarded, 0u);
    }
    for (const Stack stack : stacks) {
        stack.top[-1] = std::byte{1};
    }
    EXPECT_EQ(pool.stats().live, 100'000u);
    EXPECT_EQ(pool.stats().peak_live, 100'000u);
    EXPECT_TRUE(pool.contains(stacks.front().base));
    EXPECT_TRUE(pool.contains(stacks.back().base));
    EXPECT_EQ(signal_of_write(stacks.back().base), 0);
    release_all(pool, stacks);
    EXPECT_EQ(pool.stats().live, 0u);
    EXPECT_LE(pool.stats().idle, StackPoolSettings().max_idle);
    EXPECT_EQ(acquire_many(pool, 100'000).size(), 100'000u);
}

TEST(StackPool, MillionLive) {
    if (kAsan || kTsan || testing::on_valgrind()) {
        GTEST_SKIP() << "shadow memory for 1,000,000 stacks";
    }
    StackPool pool({.stack_size = 32 * 1024});
    std::vector<Stack> stacks = acquire_many(pool, 1'000'000);
    ASSERT_EQ(stacks.size(), 1'000'000u);
    EXPECT_EQ(pool.stats().live, 1'000'000u);
    release_all(pool, stacks);
    EXPECT_EQ(pool.stats().idle, StackPoolSettings().max_idle);
    EXPECT_EQ(pool.stats().peak_live, 1'000'000u);
}

TEST(StackPool, NeverKeepsMoreThanMaxIdle) {
    StackPool pool({.min_idle = 0, .max_idle = 10});
    std::vector<Stack> stacks = acquire_many(pool, 40);
    for (const Stack stack : stacks) {
        stack.top[-1] = std::byte{1};
    }
    for (const Stack stack : stacks) {
        pool.release(stack);
        ASSERT_LE(pool.stats().idle, 10u);
    }
    EXPECT_EQ(pool.stats().idle, 10u);
    EXPECT_EQ(pool.stats().trimmed, 30u);
    EXPECT_EQ(pool.acquire().top, stacks.back().top);
    EXPECT_EQ(resident_pages(stacks[0]), 0u) << "the oldest ones go first";
    EXPECT_EQ(resident_pages(stacks[29]), 0u);
    EXPECT_EQ(resident_pages(stacks[30]), 1u);
}

TEST(StackPool, NewestReleasedStackIsNeverTouched) {
    StackPool pool({.min_idle = 0, .max_idle = 0});
    const Stack first = pool.acquire();
    const Stack second = pool.acquire();
    first.top[-1] = std::byte{1};
    second.top[-1] = std::byte{2};
    pool.release(first);
    EXPECT_EQ(first.top[-1], std::byte{1});
    pool.release(second);
    EXPECT_EQ(second.top[-1], std::byte{2});
    EXPECT_EQ(first.top[-1], std::byte{0});
    EXPECT_EQ(pool.stats().idle, 1u);
    for (std::size_t i = 0; i < 4 * StackPool::kWindow; ++i) {
        const Stack stack = pool.acquire();
        stack.top[-1] = std::byte{3};
        pool.release(stack);
        ASSERT_EQ(stack.top[-1], std::byte{3});
    }
}

TEST(StackPool, NewestReleasedStackSurvivesEndOfWindow) {
    StackPool pool({.min_idle = 0});
    std::vector<Stack> stacks = acquire_many(pool, StackPool::kWindow);
    for (const Stack stack : stacks) {
        stack.top[-1] = std::byte{7};
    }
    release_all(pool, stacks);
    for (std::size_t i = 0; i < 200 * StackPool::kWindow; ++i) {
        const Stack stack = pool.acquire();
        stack.top[-1] = std::byte{8};
        pool.release(stack);
        ASSERT_EQ(stack.top[-1], std::byte{8});
    }
    EXPECT_EQ(pool.stats().idle, 1u);
}

TEST(StackPool, FollowsLoadUpAtOnceAndDownSlowly) {
    StackPool pool({.min_idle = 16});
    std::vector<Stack> stacks = acquire_many(pool, 1000);
    release_all(pool, stacks);
    run_windows(pool, 1);
    const std::size_t after_peak = pool.stats().idle;
    EXPECT_GE(after_peak, 1000 - StackPool::kTrimBatch) << "the peak belongs to the first window";

    std::size_t idle = after_peak;
    std::size_t windows = 0;
    while (idle > 16 && windows < 200) {
        run_windows(pool, 1);
        ++windows;
        const std::size_t now = pool.stats().idle;
        ASSERT_LE(now, idle);
        ASSERT_LE(idle - now, StackPool::kTrimBatch);
        idle = now;
    }
    EXPECT_EQ(idle, 16u);
    EXPECT_GE(windows, (after_peak - 16) / StackPool::kTrimBatch);
    EXPECT_LT(windows, 60u);
    EXPECT_EQ(pool.stats().trimmed, 1000u - 16u);
    run_windows(pool, 20);
    EXPECT_EQ(pool.stats().idle, 16u) << "never below min_idle";
}

TEST(StackPool, ManyThatEndTogetherStayWarm) {
    StackPool pool({.min_idle = 0});
    for (int round = 0; round < 3; ++round) {
        std::vector<Stack> stacks = acquire_many(pool, 20 * StackPool::kWindow);
        release_all(pool, stacks);
    }
    EXPECT_EQ(pool.stats().trimmed, 0u);
    EXPECT_EQ(pool.stats().idle, 20 * StackPool::kWindow);
    run_windows(pool, 400);
    EXPECT_EQ(pool.stats().idle, 1u) << "but not for ever";
}

TEST(StackPool, SteadyLoadIsNeverTrimmed) {
    StackPool pool({.min_idle = 0});
    for (int round = 0; round < 100; ++round) {
        std::vector<Stack> stacks = acquire_many(pool, 500);
        release_all(pool, stacks);
    }
    EXPECT_EQ(pool.stats().trimmed, 0u);
    EXPECT_EQ(pool.stats().reused, 99u * 500u);
}

TEST(StackPool, TrimDropsToMinIdle) {
    StackPool pool({.min_idle = 3});
    std::vector<Stack> stacks = acquire_many(pool, 30);
    std::vector<Stack> live = acquire_many(pool, 5);
    release_all(pool, stacks);
    pool.trim();
    EXPECT_EQ(pool.stats().idle, 3u);
    EXPECT_EQ(pool.stats().live, 5u);
    EXPECT_EQ(pool.stats().trimmed, 27u);
    pool.trim();
    EXPECT_EQ(pool.stats().trimmed, 27u);
}

TEST(StackPool, TrimGivesMemoryBack) {
    StackPool pool({.min_idle = 1});
    std::vector<Stack> stacks = acquire_many(pool, 20);
    for (const Stack stack : stacks) {
        std::memset(stack.base, 1, stack.size());
        ASSERT_EQ(resident_pages(stack), 256 * 1024 / kPage - 1);
    }
    const std::vector<Stack> copy = stacks;
    release_all(pool, stacks);
    EXPECT_EQ(resident_pages(copy[0]), 256 * 1024 / kPage - 1) << "warm stacks keep their pages";
    pool.trim();
    for (std::size_t i = 0; i + 1 < copy.size(); ++i) {
        EXPECT_EQ(resident_pages(copy[i]), 0u) << i;
    }
    EXPECT_EQ(resident_pages(copy.back()), 256 * 1024 / kPage - 1);
}

TEST(StackPool, TrimMergesInAnyReleaseOrder) {
    StackPool pool({.min_idle = 0});
    std::vector<Stack> stacks = acquire_many(pool, 40);  // two slabs
    for (const Stack stack : stacks) {
        stack.top[-1] = std::byte{1};
    }
    const Stack live = stacks[7];
    for (std::size_t i = 20; i < 40; ++i) {
        pool.release(stacks[i]);
    }
    for (std::size_t i = 20; i-- > 0;) {
        if (i != 7) {
            pool.release(stacks[i]);
        }
    }
    pool.trim();
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        EXPECT_EQ(resident_pages(stacks[i]), i == 7 ? 1u : 0u) << i;
    }
    EXPECT_EQ(live.top[-1], std::byte{1});
}

TEST(StackPool, SetBoundsTakesEffectAtOnce) {
    StackPool pool;
    std::vector<Stack> stacks = acquire_many(pool, 100);
    release_all(pool, stacks);
    pool.set_bounds(50, 20);
    EXPECT_EQ(pool.settings().min_idle, 20u);
    EXPECT_EQ(pool.settings().max_idle, 20u);
    EXPECT_EQ(pool.stats().idle, 20u);
    pool.set_bounds(0, 1000);
    stacks = acquire_many(pool, 100);
    release_all(pool, stacks);
    EXPECT_EQ(pool.stats().idle, 100u);
}

TEST(StackPool, NoMemoryGivesEmptyStack) {
    Faults::reset();
    StackPool pool({}, {Faults::map, nullptr, nullptr});
    Faults::maps_left = 0;
    EXPECT_FALSE(pool.acquire());
    EXPECT_FALSE(pool.acquire());
    EXPECT_EQ(pool.stats().acquired, 0u);
    EXPECT_EQ(pool.stats().slabs, 0u);
    Faults::maps_left = 1;
    std::vector<Stack> stacks = acquire_many(pool, 16);
    EXPECT_FALSE(pool.acquire());
    EXPECT_EQ(pool.stats().live, 16u);
    pool.release(stacks.back());
    EXPECT_EQ(pool.acquire().top, stacks.back().top);
    Faults::maps_left = -1;
    EXPECT_TRUE(pool.acquire());
}

TEST(StackPool, TakesSmallerSlabsWhenMemoryIsShort) {
    Faults::reset();
    StackPool pool({}, {Faults::map, nullptr, nullptr});
    Faults::largest_map = 2 * (256 * 1024 + kPage);
    EXPECT_TRUE(pool.acquire());
    EXPECT_EQ(Faults::maps, 4u);  // 16, 8, 4, 2
    EXPECT_EQ(pool.stats().live + pool.stats().cold, 2u);
    EXPECT_EQ(acquire_many(pool, 9).size(), 9u);
    EXPECT_EQ(pool.stats().slabs, 5u);
}

TEST(StackPool, NoHeapGivesEmptyStack) {
    Faults::reset();
    StackPool pool({}, {Faults::map, nullptr, Faults::allocate});
    for (int left = 0; left < 2; ++left) {  // the lists, then the slab record
        Faults::allocations_left = left;
        EXPECT_FALSE(pool.acquire());
        EXPECT_EQ(pool.stats().slabs, 0u);
        EXPECT_EQ(pool.stats().virtual_bytes, 0u);
    }
    Faults::allocations_left = -1;
    const std::vector<Stack> stacks = acquire_many(pool, 16);
    Faults::allocations_left = 1;
    EXPECT_FALSE(pool.acquire());
    Faults::allocations_left = -1;
    for (const Stack stack : stacks) {
        pool.release(stack);
    }
    EXPECT_EQ(acquire_many(pool, 17).size(), 17u);
}

TEST(StackPool, WarmPathAllocatesNothing) {
    Faults::reset();
    StackPool pool({}, {Faults::map, nullptr, Faults::allocate});
    std::vector<Stack> stacks = acquire_many(pool, 16);
    release_all(pool, stacks);
    Faults::allocations_left = 0;
    Faults::maps_left = 0;
    run_windows(pool, 5);
    EXPECT_EQ(acquire_many(pool, 16).size(), 16u);
    EXPECT_EQ(Faults::maps, 1u);
}

TEST(StackPool, AbsurdSizeGivesEmptyStack) {
    StackPool pool({.stack_size = SIZE_MAX});
    EXPECT_FALSE(pool.acquire());
    StackPool large({.stack_size = std::size_t{1} << 60});
    EXPECT_FALSE(large.acquire());
}

TEST(StackPool, ReturnsAddressSpaceWhenDestroyed) {
    std::byte* base = nullptr;
    {
        StackPool pool;
        base = pool.acquire().base;
    }
    unsigned char page = 0;
    EXPECT_EQ(::mincore(base, kPage, &page), -1);
    EXPECT_EQ(errno, ENOMEM);
}

TEST(StackPool, StalePoisonIsRemoved) {
#if defined(TA_ASAN)
    StackPool pool({.min_idle = 0});
    const Stack stack = pool.acquire();
    ASAN_POISON_MEMORY_REGION(stack.top - 4096, 4096);
    pool.release(stack);
    ASSERT_EQ(pool.acquire().top, stack.top);
    EXPECT_EQ(__asan_region_is_poisoned(stack.base, stack.size()), nullptr);
    ASAN_POISON_MEMORY_REGION(stack.top - 4096, 4096);
    pool.release(stack);
    pool.trim();
    ASSERT_EQ(pool.acquire().top, stack.top);
    EXPECT_EQ(__asan_region_is_poisoned(stack.base, stack.size()), nullptr);
#else
    GTEST_SKIP() << "only with AddressSanitizer";
#endif
}

}  // namespace
}  // namespace trueasync
