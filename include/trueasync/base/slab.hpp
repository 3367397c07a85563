#pragma once

/// @file trueasync/base/slab.hpp
/// Recycles small blocks per thread: the memory of events and coroutines.

#include <cstddef>
#include <cstdint>
#include <trueasync/base/export.hpp>

namespace trueasync {

/// Blocks of up to `kLargest` bytes in classes of `kStep`; larger ones come from `operator new`.
///
/// A warm allocation is a pop from the thread's own list and a release is a push, whichever thread allocated. Memory
/// stays with the process and is used again; a thread that ends hands its blocks to the others.
/// Under AddressSanitizer every block is an allocation of its own, so that stale pointers are seen.
class Slab {
public:
    static constexpr std::size_t kStep = 64;
    static constexpr std::size_t kLargest = 1024;

    /// Throws `std::bad_alloc` when memory is out.
    static void* allocate(std::size_t size) {
#ifndef TA_ASAN
        if (TA_LIKELY(size <= kLargest)) {
            const std::size_t index = class_of(size);
            if (Block* block = lists_.free[index]; TA_LIKELY(block != nullptr)) {
                lists_.free[index] = block->next;
                return block;
            }
        }
#endif
        return allocate_slow(size);
    }

    static void release(void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifndef TA_ASAN
        if (TA_LIKELY(size <= kLargest)) {
            auto* block = static_cast<Block*>(memory);
            const std::size_t index = class_of(size);
            block->next = lists_.free[index];
            lists_.free[index] = block;
            if (TA_UNLIKELY(block->next == nullptr)) {
                enroll();
            }
            return;
        }
#endif
        release_slow(memory, size);
    }

    /// The same for what comes and goes one at a time: the block released last lies beside the list, and taking it again writes less.
    static void* allocate_kept(std::size_t size) {
#ifndef TA_ASAN
        if (TA_LIKELY(size <= kLargest)) {
            void*& kept = lists_.kept[class_of(size)];
            if (void* block = kept; TA_LIKELY(block != nullptr)) {
                kept = nullptr;
                return block;
            }
        }
#endif
        return allocate(size);
    }

    static void release_kept(void* memory, std::size_t size) noexcept {
#ifndef TA_ASAN
        if (TA_LIKELY(size <= kLargest)) {
            const std::size_t index = class_of(size);
            if (TA_LIKELY(lists_.kept[index] == nullptr && lists_.free[index] != nullptr)) {
                lists_.kept[index] = memory;
                return;
            }
        }
#endif
        release(memory, size);
    }

private:
    struct Block {
        Block* next;
    };
    struct Lists {
        Block* free[kLargest / kStep + 1];
        void* kept[kLargest / kStep + 1];  // only beside a list that is not empty: its thread is enrolled
    };
    friend struct SlabThread;

    static constexpr std::size_t class_of(std::size_t size) noexcept {
        return size == 0 ? 1 : (size + kStep - 1) / kStep;
    }

    // These ask how the library was built, not the caller: a program with AddressSanitizer may use one without.
    TA_API static void* allocate_slow(std::size_t size);
    TA_API static void release_slow(void* memory, std::size_t size) noexcept;
    TA_API static void enroll() noexcept;  // this thread has blocks to hand on when it ends

    TA_API static thread_local constinit Lists lists_ __attribute__((tls_model("initial-exec")));
};

}  // namespace trueasync
