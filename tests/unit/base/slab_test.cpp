#include <trueasync/base/slab.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <support/allocation_counter.hpp>
#include <support/threads.hpp>

namespace trueasync {
namespace {

#if defined(TA_ASAN)
constexpr bool kRecycles = false;
#else
constexpr bool kRecycles = true;
#endif

struct Blocks {
    explicit Blocks(std::size_t block_size) : size(block_size) {}

    void allocate(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(Slab::allocate(size));
        }
    }
    void release() {
        for (void* block : all) {
            Slab::release(block, size);
        }
        all.clear();
    }

    std::size_t size;
    std::vector<void*> all;
};

// How many blocks of `size` this thread takes until it has got all of `wanted`; 0 when it gets some of them never.
std::size_t allocations_until(std::set<void*> wanted, std::size_t size) {
    Blocks taken(size);
    std::size_t count = 0;
    while (!wanted.empty() && count < 20'000) {
        taken.allocate(1);
        wanted.erase(taken.all.back());
        ++count;
    }
    taken.release();
    return wanted.empty() ? count : 0;
}

TEST(Slab, BlocksOfEverySizeAreUsableAndAligned) {
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (std::size_t size = 1; size <= Slab::kLargest + 200; size += 13) {
        void* const block = Slab::allocate(size);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % Slab::kStep, 0u);
        std::memset(block, static_cast<int>(size & 0xff), size);
        blocks.emplace_back(block, size);
    }
    for (const auto& [block, size] : blocks) {
        const auto* bytes = static_cast<const unsigned char*>(block);
        ASSERT_EQ(bytes[0], size & 0xff) << "overwritten by a neighbour";
        ASSERT_EQ(bytes[size - 1], size & 0xff);
        Slab::release(block, size);
    }
}

TEST(Slab, BlocksDoNotOverlap) {
    Blocks blocks(192);
    blocks.allocate(2000);
    std::set<std::uintptr_t> starts;
    for (void* block : blocks.all) {
        starts.insert(reinterpret_cast<std::uintptr_t>(block));
    }
    ASSERT_EQ(starts.size(), blocks.all.size());
    for (auto start = starts.begin(); std::next(start) != starts.end(); ++start) {
        ASSERT_GE(*std::next(start) - *start, 192u);
    }
    blocks.release();
}

TEST(Slab, NothingIsASizeToo) {
    EXPECT_EXIT(
        {
            void* const block = Slab::allocate(0);
            Slab::release(block, 0);
            std::_Exit(block != nullptr ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), ""
    );
}

TEST(Slab, ReleasedBlockIsTheNextOne) {
    if (!kRecycles) {
        GTEST_SKIP() << "under AddressSanitizer every block is an allocation of its own";
    }
    void* const first = Slab::allocate(300);
    void* const second = Slab::allocate(300);
    Slab::release(first, 300);
    Slab::release(second, 300);
    EXPECT_EQ(Slab::allocate(300), second);
    EXPECT_EQ(Slab::allocate(300), first);
    Slab::release(first, 300);
    Slab::release(second, 300);
}

TEST(Slab, KeptBlockComesBeforeTheList) {
    if (!kRecycles) {
        GTEST_SKIP() << "under AddressSanitizer every block is an allocation of its own";
    }
    constexpr std::size_t kSize = 12 * Slab::kStep;
    void* const first = Slab::allocate(kSize);
    void* const second = Slab::allocate(kSize);
    Slab::release_kept(first, kSize);
    Slab::release_kept(second, kSize);  // one is kept already: to the list
    EXPECT_EQ(Slab::allocate_kept(kSize), first);
    EXPECT_EQ(Slab::allocate_kept(kSize), second);
    Slab::release_kept(first, kSize);
    EXPECT_NE(Slab::allocate(kSize), first) << "a kept block is in no list";
    EXPECT_EQ(Slab::allocate_kept(kSize), first);
}

TEST(Slab, ThreadThatEndsHandsItsKeptBlockOn) {
    if (!kRecycles) {
        GTEST_SKIP() << "under AddressSanitizer every block is an allocation of its own";
    }
    constexpr std::size_t kSize = 11 * Slab::kStep;
    std::set<void*> kept;
    std::thread([&] {
        void* const block = Slab::allocate(kSize);
        kept.insert(block);
        Slab::release_kept(block, kSize);
    }).join();
    EXPECT_GT(allocations_until(kept, kSize), 0u);
}

TEST(Slab, SizesOfOneClassShareBlocks) {
    if (!kRecycles) {
        GTEST_SKIP() << "under AddressSanitizer every block is an allocation of its own";
    }
    void* const block = Slab::allocate(65);
    Slab::release(block, 65);
    void* const larger = Slab::allocate(128);
    EXPECT_EQ(larger, block);
    void* const next_class = Slab::allocate(129);
    Slab::release(larger, 128);
    EXPECT_NE(next_class, block);
    Slab::release(next_class, 129);
}

TEST(Slab, WarmPathAllocatesNothing) {
    if (!kRecycles || !testing::AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    Blocks blocks(448);
    blocks.allocate(100);
    blocks.release();
    blocks.all.reserve(100);
    const testing::AllocationCounter allocations;
    blocks.allocate(100);
    EXPECT_EQ(allocations.count(), 0u);
    blocks.release();
}

TEST(Slab, LargeBlocksComeFromOperatorNew) {
    if (!testing::AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    const testing::AllocationCounter allocations;
    Slab::release(Slab::allocate(Slab::kLargest + 1), Slab::kLargest + 1);
    Slab::release(Slab::allocate(Slab::kLargest + 1), Slab::kLargest + 1);
    EXPECT_EQ(allocations.count(), 2u);
}

TEST(Slab, ThrowsWhenMemoryIsOut) {
    if (!kRecycles || !testing::AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    const testing::NoMemory none;
    bool large_threw = false;
    bool small_threw = false;
    try {
        Slab::release(Slab::allocate(1 << 20), 1 << 20);
    } catch (const std::bad_alloc&) {
        large_threw = true;
    }
    void* chain = nullptr;  // every block of this class, linked through its first word
    try {
        for (;;) {
            void* const block = Slab::allocate(Slab::kLargest);
            *static_cast<void**>(block) = chain;
            chain = block;
        }
    } catch (const std::bad_alloc&) {
        small_threw = true;
    }
    while (chain != nullptr) {
        Slab::release(std::exchange(chain, *static_cast<void**>(chain)), Slab::kLargest);
    }
    EXPECT_TRUE(large_threw);
    EXPECT_TRUE(small_threw);
}

TEST(Slab, ThreadThatEndsHandsItsBlocksOn) {
    if (!kRecycles) {
        GTEST_SKIP() << "under AddressSanitizer every block is an allocation of its own";
    }
    constexpr std::size_t kSize = 15 * Slab::kStep;
    std::set<void*> used;
    std::thread([&] {
        Blocks blocks(kSize);
        blocks.allocate(200);
        used.insert(blocks.all.begin(), blocks.all.end());
        blocks.release();
    }).join();
    EXPECT_GT(allocations_until(used, kSize), 0u);
}

TEST(Slab, BlocksMayBeReleasedOnAnotherThread) {
    if (!kRecycles) {
        GTEST_SKIP() << "under AddressSanitizer every block is an allocation of its own";
    }
    constexpr std::size_t kSize = 14 * Slab::kStep;
    Blocks blocks(kSize);
    blocks.allocate(200);
    const std::set<void*> handed(blocks.all.begin(), blocks.all.end());
    std::size_t found = 0;
    std::thread([&] {
        blocks.release();
        found = allocations_until(handed, kSize);
    }).join();
    EXPECT_EQ(found, handed.size()) << "a release is a push to the list of the thread that releases";
}

TEST(Slab, ThreadThatOnlyReleasedHandsItsBlocksOn) {
    if (!kRecycles) {
        GTEST_SKIP() << "under AddressSanitizer every block is an allocation of its own";
    }
    constexpr std::size_t kSize = 13 * Slab::kStep;
    Blocks blocks(kSize);
    blocks.allocate(200);
    const std::set<void*> handed(blocks.all.begin(), blocks.all.end());
    std::thread([&] { blocks.release(); }).join();
    EXPECT_GT(allocations_until(handed, kSize), 0u) << "the blocks died with the thread that released them";
}

TEST(Slab, ManyThreadsShareWhatTheyLeave) {
    constexpr std::size_t kSize = 12 * Slab::kStep;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int round = 0; round < 20; ++round) {
                Blocks blocks(kSize);
                blocks.allocate(100);
                for (void* block : blocks.all) {
                    std::memset(block, 0x5a, kSize);
                }
                blocks.release();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    Blocks blocks(kSize);
    blocks.allocate(400);
    EXPECT_EQ(std::set<void*>(blocks.all.begin(), blocks.all.end()).size(), 400u);
    blocks.release();
}

TEST(Slab, ForkWhileAnotherThreadTakesBlocks) {
#if defined(TA_ASAN) || defined(TA_TSAN)
    GTEST_SKIP() << "sanitizers bring an allocator that a fork may leave locked";
#endif
    constexpr std::size_t kSize = 13 * Slab::kStep;
    std::atomic<bool> is_over = false;
    std::thread other([&] {
        while (!is_over) {  // threads that end hand on what they have, under the lock
            std::thread([] { Slab::release(Slab::allocate(kSize), kSize); }).join();
        }
    });
    for (int i = 0; i < 30; ++i) {
        EXPECT_EQ(
            trueasync::testing::in_child([] { return Slab::allocate(kSize + Slab::kStep) != nullptr ? 0 : 1; }), 0
        );
    }
    is_over = true;
    other.join();
}

}  // namespace
}  // namespace trueasync
