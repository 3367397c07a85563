#pragma once

/// What a stock PHP keeps about the code that runs now, to be exchanged at every switch. Without it two coroutines would share a stack
/// of frames, an exception in flight and a bailout point.

#include "../zend.hpp"

#include <cstddef>
#include <cstring>
#include <trueasync/runtime/stack_pool.hpp>
#include <type_traits>
#include <utility>

namespace trueasync::php {

constexpr std::size_t kFirstPage =
    1536;  // the first VM stack page of a coroutine, part of its C stack: one page for both
constexpr std::size_t kNextPages = 16384;     // those the engine adds when it needs more; a power of two
constexpr std::size_t kStackReserve = 32768;  // left for C code when the engine says that the stack is full

/// The function of an outermost frame. No trace shows it; a warning that comes up there begins as if it came from the main script.
inline void init_root_function(zend_internal_function& function) {
    function.type = ZEND_INTERNAL_FUNCTION;
    function.function_name = zend_string_init_interned("main", sizeof("main") - 1, true);
}

// clang-format off
// Pairs are neighbours in the engine and copied as one. What the engine writes all the time is in none of them: half of a pair that has just
// been written cannot be read together with the other half without a stall.
#define TA_VM_PAIRS(X) \
    X(vm_stack_end, vm_stack) X(exception, prev_exception) X(current_fiber_context, active_fiber) \
    X(error_handling, exception_class)
#define TA_VM_FIELDS(X) \
    X(vm_stack_top) X(current_execute_data) X(error_reporting) X(jit_trace_num) X(bailout) X(opline_before_exception) \
    TA_VM_OBSERVER_FIELDS(X)
// What stays as it is while a coroutine lives, unless it is inside a native fiber.
#define TA_VM_CONSTANTS(X) X(vm_stack_page_size) TA_VM_STACK_FIELDS(X)
#if PHP_VERSION_ID >= 80300 && defined(ZEND_CHECK_STACK_LIMIT)
#define TA_VM_STACK_FIELDS(X) X(stack_base) X(stack_limit)
#else
#define TA_VM_STACK_FIELDS(X)
#endif
#if PHP_VERSION_ID >= 80400
#define TA_VM_OBSERVER_FIELDS(X) X(current_observed_frame)
#else
#define TA_VM_OBSERVER_FIELDS(X)
#endif
// clang-format on

/// Whether two of the engine's fields stand side by side in this version.
#define TA_VM_ADJOINS(first, second) \
    (offsetof(zend_executor_globals, second) == offsetof(zend_executor_globals, first) + sizeof(void*))

/// Two pointers at once where they are neighbours on both sides; in a `VmState` they always are.
template <typename First, typename Second>
TA_INLINE void copy_pair(
    First& to_first, Second& to_second, const First& first, const Second& second, bool is_adjacent
) noexcept {
    static_assert(sizeof(First) <= sizeof(void*) && sizeof(Second) == sizeof(void*));
    if (is_adjacent) {
        std::memcpy(static_cast<void*>(&to_first), static_cast<const void*>(&first), 2 * sizeof(void*));
    } else {
        to_first = first;
        to_second = second;
    }
}

struct VmState {
#define TA_VM_DECLARE(field) std::remove_reference_t<decltype(EG(field))> field;
#define TA_VM_DECLARE_PAIR(first, second) TA_VM_DECLARE(first) TA_VM_DECLARE(second)
    TA_VM_PAIRS(TA_VM_DECLARE_PAIR)
    TA_VM_FIELDS(TA_VM_DECLARE)
    TA_VM_CONSTANTS(TA_VM_DECLARE)
#undef TA_VM_DECLARE
#undef TA_VM_DECLARE_PAIR

    void save() noexcept {
        save_constants();
        save_changing();
    }
    TA_INLINE void save_constants() noexcept {
#define TA_VM_SAVE(field) field = EG(field);
        TA_VM_CONSTANTS(TA_VM_SAVE)
    }
    /// All but what stays as it is.
    TA_INLINE void save_changing() noexcept {
#define TA_VM_SAVE_PAIR(first, second) copy_pair(first, second, EG(first), EG(second), TA_VM_ADJOINS(first, second));
        TA_VM_PAIRS(TA_VM_SAVE_PAIR)
        TA_VM_FIELDS(TA_VM_SAVE)
#undef TA_VM_SAVE
#undef TA_VM_SAVE_PAIR
    }

    /// The same when those who observe the engine have been told that it is another's turn: what they watch stays as it was.
    void save_unobserved() noexcept {
#if PHP_VERSION_ID >= 80400
        zend_execute_data* const observed = current_observed_frame;
        save_changing();
        current_observed_frame = observed;
#else
        save_changing();
#endif
    }

    TA_INLINE void load() const noexcept {
#define TA_VM_LOAD(field) EG(field) = field;
#define TA_VM_LOAD_PAIR(first, second) copy_pair(EG(first), EG(second), first, second, TA_VM_ADJOINS(first, second));
        TA_VM_PAIRS(TA_VM_LOAD_PAIR)
        TA_VM_FIELDS(TA_VM_LOAD)
        TA_VM_CONSTANTS(TA_VM_LOAD)
#undef TA_VM_LOAD
#undef TA_VM_LOAD_PAIR
    }

    /// A fresh state on a VM stack that begins with `page`, whose outermost frame belongs to `root`.
    void begin(
        std::byte (&page)[kFirstPage], zend_function* root, int level, zend_fiber_context* fiber, Stack c_stack
    ) noexcept {
        *this = {};
        fill(*this, page, root, level, fiber, c_stack);
    }

    /// The same right in the engine.
    static TA_INLINE void begin_here(
        std::byte (&page)[kFirstPage], zend_function* root, int level, zend_fiber_context* fiber, Stack c_stack
    ) noexcept {
        fill(engine(), page, root, level, fiber, c_stack);
    }

    /// Frees the pages that the engine has added.
    void end() noexcept {
        while (vm_stack != nullptr && vm_stack->prev != nullptr) {
            efree(std::exchange(vm_stack, vm_stack->prev));
        }
        vm_stack = nullptr;
    }

private:
    static TA_INLINE zend_executor_globals& engine() noexcept {
        auto* bailout = reinterpret_cast<std::byte*>(&EG(bailout));
        return *reinterpret_cast<zend_executor_globals*>(bailout - offsetof(zend_executor_globals, bailout));
    }

    /// `State` is the engine's or ours: the fields have the same names.
    template <typename State>
    static TA_INLINE void fill(
        State& state,
        std::byte (&page)[kFirstPage],
        zend_function* root,
        int level,
        zend_fiber_context* fiber,
        [[maybe_unused]] Stack c_stack
    ) noexcept {
        auto* stack = reinterpret_cast<zend_vm_stack>(page);
        auto* end = reinterpret_cast<zval*>(page + kFirstPage);
        auto* frame = reinterpret_cast<zend_execute_data*>(ZEND_VM_STACK_ELEMENTS(stack));
        *frame = {};
        frame->func = root;
        stack->prev = nullptr;
        stack->top = ZEND_VM_STACK_ELEMENTS(stack);
        stack->end = end;
        state.vm_stack = stack;
        state.vm_stack_top = stack->top + ZEND_CALL_FRAME_SLOT;
        state.vm_stack_end = end;
        state.vm_stack_page_size = kNextPages;
        state.current_execute_data = frame;
        state.error_reporting = level;
        state.jit_trace_num = 0;
        state.bailout = nullptr;
        state.active_fiber = nullptr;
        state.current_fiber_context = fiber;
        state.exception = nullptr;
        state.prev_exception = nullptr;
        state.opline_before_exception = nullptr;
        state.error_handling = EH_NORMAL;
        state.exception_class = nullptr;
#if PHP_VERSION_ID >= 80300 && defined(ZEND_CHECK_STACK_LIMIT)
        state.stack_base = c_stack.top;
        state.stack_limit = c_stack ? c_stack.base + kStackReserve : nullptr;
#endif
#if PHP_VERSION_ID >= 80400
        state.current_observed_frame = nullptr;
#endif
    }
};

}  // namespace trueasync::php
