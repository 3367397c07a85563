#pragma once

/// What a stock PHP keeps about the code that runs now, to be exchanged at every switch.

#include <php.h>
#include <zend_fibers.h>

#include <cstddef>
#include <trueasync/runtime/stack_pool.hpp>
#include <type_traits>
#include <utility>

constexpr std::size_t kFirstPage = 2048;      // the first VM stack page of a coroutine, part of its C stack
constexpr std::size_t kNextPages = 16384;     // those the engine adds when it needs more; a power of two
constexpr std::size_t kStackReserve = 16384;  // left for C code when the engine says that the stack is full

inline zend_internal_function root_function = {};  // of the outermost frame on each VM stack

// clang-format off
#define PROBE_VM_FIELDS(X) \
    X(vm_stack) X(vm_stack_top) X(vm_stack_end) X(vm_stack_page_size) X(current_execute_data) X(error_reporting) \
    X(jit_trace_num) X(bailout) X(active_fiber) X(current_fiber_context) X(exception) X(prev_exception) \
    X(opline_before_exception) X(error_handling) X(exception_class) PROBE_STACK_FIELDS(X) PROBE_OBSERVER_FIELDS(X)
#if PHP_VERSION_ID >= 80300 && defined(ZEND_CHECK_STACK_LIMIT)
#define PROBE_STACK_FIELDS(X) X(stack_base) X(stack_limit)
#else
#define PROBE_STACK_FIELDS(X)
#endif
#if PHP_VERSION_ID >= 80400
#define PROBE_OBSERVER_FIELDS(X) X(current_observed_frame)
#else
#define PROBE_OBSERVER_FIELDS(X)
#endif
// clang-format on

/// What the engine keeps about the code that runs now.
struct VmState {
#define PROBE_DECLARE(field) std::remove_reference_t<decltype(EG(field))> field;
    PROBE_VM_FIELDS(PROBE_DECLARE)
#undef PROBE_DECLARE

    static inline VmState* loaded = nullptr;

    void save() noexcept {
#define PROBE_SAVE(field) field = EG(field);
        PROBE_VM_FIELDS(PROBE_SAVE)
#undef PROBE_SAVE
    }

    void load() noexcept {
#define PROBE_LOAD(field) EG(field) = field;
        PROBE_VM_FIELDS(PROBE_LOAD)
#undef PROBE_LOAD
        loaded = this;
    }

    /// A fresh state on a VM stack that begins with `page`. Keeps `error_reporting`.
    void begin(
        std::byte (&page)[kFirstPage], zend_fiber_context* fiber, [[maybe_unused]] trueasync::Stack c_stack
    ) noexcept {
        const int level = error_reporting;
        *this = {};
        error_reporting = level;
        current_fiber_context = fiber;
        vm_stack = reinterpret_cast<zend_vm_stack>(page);
        vm_stack->prev = nullptr;
        vm_stack->end = vm_stack_end = reinterpret_cast<zval*>(page + kFirstPage);
        vm_stack->top = ZEND_VM_STACK_ELEMENTS(vm_stack);
        current_execute_data = reinterpret_cast<zend_execute_data*>(vm_stack->top);
        *current_execute_data = {};
        current_execute_data->func = reinterpret_cast<zend_function*>(&root_function);
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
