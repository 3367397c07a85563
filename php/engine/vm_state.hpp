#pragma once

/// What a stock PHP keeps about the code that runs now, to be exchanged at every switch. Without it two coroutines would share a stack
/// of frames, an exception in flight and a bailout point.

#include "../zend.hpp"

#include <cstddef>
#include <trueasync/runtime/stack_pool.hpp>
#include <type_traits>
#include <utility>

namespace trueasync::php {

constexpr std::size_t kFirstPage =
    1536;  // the first VM stack page of a coroutine, part of its C stack: one page for both
constexpr std::size_t kNextPages = 16384;     // those the engine adds when it needs more; a power of two
constexpr std::size_t kStackReserve = 32768;  // left for C code when the engine says that the stack is full

// clang-format off
#define TA_VM_FIELDS(X) \
    X(vm_stack) X(vm_stack_top) X(vm_stack_end) X(vm_stack_page_size) X(current_execute_data) X(error_reporting) \
    X(jit_trace_num) X(bailout) X(active_fiber) X(current_fiber_context) X(exception) X(prev_exception) \
    X(opline_before_exception) X(error_handling) X(exception_class) TA_VM_STACK_FIELDS(X) TA_VM_OBSERVER_FIELDS(X)
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

struct VmState {
#define TA_VM_DECLARE(field) std::remove_reference_t<decltype(EG(field))> field;
    TA_VM_FIELDS(TA_VM_DECLARE)
#undef TA_VM_DECLARE

    void save() noexcept {
#define TA_VM_SAVE(field) field = EG(field);
        TA_VM_FIELDS(TA_VM_SAVE)
#undef TA_VM_SAVE
    }

    /// The same once more, when those who observe the engine have been told that it is another's turn: what they watch stays as it was.
    void save_again() noexcept {
#if PHP_VERSION_ID >= 80400
        zend_execute_data* const observed = current_observed_frame;
        save();
        current_observed_frame = observed;
#else
        save();
#endif
    }

    void load() const noexcept {
#define TA_VM_LOAD(field) EG(field) = field;
        TA_VM_FIELDS(TA_VM_LOAD)
#undef TA_VM_LOAD
    }

    /// A fresh state on a VM stack that begins with `page`, whose outermost frame belongs to `root`.
    TA_INLINE void begin(
        std::byte (&page)[kFirstPage],
        zend_function* root,
        int level,
        zend_fiber_context* fiber,
        [[maybe_unused]] Stack c_stack
    ) noexcept {
        *this = {};
        error_reporting = level;
        current_fiber_context = fiber;
        vm_stack = reinterpret_cast<zend_vm_stack>(page);
        vm_stack->prev = nullptr;
        vm_stack->end = vm_stack_end = reinterpret_cast<zval*>(page + kFirstPage);
        vm_stack->top = ZEND_VM_STACK_ELEMENTS(vm_stack);
        current_execute_data = reinterpret_cast<zend_execute_data*>(vm_stack->top);
        *current_execute_data = {};
        current_execute_data->func = root;
        vm_stack_top = vm_stack->top + ZEND_CALL_FRAME_SLOT;
        vm_stack_page_size = kNextPages;
#if PHP_VERSION_ID >= 80300 && defined(ZEND_CHECK_STACK_LIMIT)
        stack_base = c_stack.top;
        stack_limit = c_stack ? c_stack.base + kStackReserve : nullptr;
#endif
    }

    /// Frees the pages that the engine has added.
    void end() noexcept {
        while (vm_stack != nullptr && vm_stack->prev != nullptr) {
            efree(std::exchange(vm_stack, vm_stack->prev));
        }
        vm_stack = nullptr;
    }
};

}  // namespace trueasync::php
