#include <trueasync/base/slab.hpp>

#include <pthread.h>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace trueasync {

thread_local constinit Slab::Lists Slab::lists_ __attribute__((tls_model("initial-exec"))) = {};

/// Blocks of ended threads, and every chunk ever taken (kept reachable, so that leak checkers see them as in use).
struct SlabThread {
    static constexpr std::size_t kChunk = std::size_t{64} * 1024;

    struct Shared {
        // A fork while another thread holds the mutex would leave it locked in the child for good.
        Shared() {
            pthread_atfork(
                [] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); }, [] { shared().mutex.unlock(); }
            );
        }

        std::mutex mutex;
        Slab::Lists free = {};
        std::vector<void*> chunks;
    };

    // Never destroyed: threads may end after static destructors have begun.
    static Shared& shared() {
        static auto* instance = new Shared;
        return *instance;
    }

    ~SlabThread() {
        Shared& all = shared();
        const std::lock_guard lock(all.mutex);
        const auto hand_on = [&all](Slab::Block* block, std::size_t index) {
            block->next = all.free.free[index];
            all.free.free[index] = block;
        };
        for (std::size_t index = 0; index <= Slab::kLargest / Slab::kStep; ++index) {
            if (void* kept = std::exchange(Slab::lists_.kept[index], nullptr)) {
                hand_on(static_cast<Slab::Block*>(kept), index);
            }
            while (Slab::Block* block = Slab::lists_.free[index]) {
                Slab::lists_.free[index] = block->next;
                hand_on(block, index);
            }
        }
    }

    void refill(std::size_t index) {
        Shared& all = shared();
        const std::lock_guard lock(all.mutex);
        if (all.free.free[index] != nullptr) {
            Slab::lists_.free[index] = all.free.free[index];
            all.free.free[index] = nullptr;
            return;
        }
        const std::size_t size = index * Slab::kStep;
        all.chunks.push_back(nullptr);  // grows geometrically; `reserve(size() + 1)` would copy all each time
        auto* chunk = static_cast<std::byte*>(::operator new(kChunk, std::align_val_t{Slab::kStep}));
        all.chunks.back() = chunk;
        for (std::size_t offset = kChunk / size * size; offset >= size; offset -= size) {
            auto* block = reinterpret_cast<Slab::Block*>(chunk + offset - size);
            block->next = Slab::lists_.free[index];
            Slab::lists_.free[index] = block;
        }
    }
};

static SlabThread& this_thread() {
    static thread_local SlabThread thread;
    return thread;
}

void* Slab::allocate_slow(std::size_t size) {
#ifndef TA_ASAN
    if (size <= kLargest) {
        const std::size_t index = class_of(size);
        if (lists_.free[index] == nullptr) {
            this_thread().refill(index);
        }
        Block* block = lists_.free[index];
        lists_.free[index] = block->next;
        return block;
    }
#endif
    return ::operator new(size, std::align_val_t{kStep});
}

void Slab::release_slow(void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifndef TA_ASAN
    if (size <= kLargest) {
        auto* block = static_cast<Block*>(memory);
        block->next = std::exchange(lists_.free[class_of(size)], block);
        this_thread();
        return;
    }
#endif
    ::operator delete(memory, std::align_val_t{kStep});
}

void Slab::enroll() noexcept { this_thread(); }

}  // namespace trueasync
