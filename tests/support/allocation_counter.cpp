#include <support/allocation_counter.hpp>

#include <cstdlib>
#include <new>
#include <trueasync/base/export.hpp>

#if !defined(TA_ASAN) && !defined(TA_TSAN)
#define TA_COUNTS_ALLOCATIONS 1
#endif

namespace trueasync::testing {

namespace {

thread_local constinit std::size_t allocations = 0;
thread_local constinit bool is_out_of_memory = false;

#ifdef TA_COUNTS_ALLOCATIONS
void* counted(void* memory) {
    ++allocations;
    if (memory == nullptr || is_out_of_memory) {
        std::free(memory);
        throw std::bad_alloc();
    }
    return memory;
}
#endif

}  // namespace

bool AllocationCounter::works() noexcept {
#ifdef TA_COUNTS_ALLOCATIONS
    return true;
#else
    return false;
#endif
}

std::size_t AllocationCounter::total() noexcept { return allocations; }

NoMemory::NoMemory() noexcept { is_out_of_memory = true; }

NoMemory::~NoMemory() { is_out_of_memory = false; }

}  // namespace trueasync::testing

#ifdef TA_COUNTS_ALLOCATIONS

// The other forms (arrays, nothrow) end here by default.
void* operator new(std::size_t size) { return trueasync::testing::counted(std::malloc(size == 0 ? 1 : size)); }

void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto step = static_cast<std::size_t>(alignment);
    return trueasync::testing::counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

#endif
