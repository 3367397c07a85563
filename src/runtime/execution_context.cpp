#include <trueasync/runtime/execution_context.hpp>

#include <pthread.h>

#if defined(TA_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TA_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(TRUEASYNC_CONTEXT_BOOST)

extern "C" {
struct trueasync_transfer {
    void* fcontext;
    void* data;
};
trueasync_transfer jump_fcontext(void* to, void* data);
void* make_fcontext(void* stack_top, std::size_t size, void (*function)(trueasync_transfer));
}

namespace trueasync::detail {

namespace {

/// What the leaving side tells the arriving one. Lies on the stack that was left, which stays as it is.
struct Passage {
    Registers* from;
    Registers* to;
};

void note_departure(const trueasync_transfer& arrived) noexcept {
    static_cast<Passage*>(arrived.data)->from->fcontext = arrived.fcontext;
}

void boost_entry(trueasync_transfer arrived) {
    note_departure(arrived);
    static_cast<Passage*>(arrived.data)->to->entry();
}

}  // namespace

void switch_registers(Registers& from, Registers& to) noexcept {
    Passage passage{&from, &to};
    note_departure(jump_fcontext(to.fcontext, &passage));
}

void prepare_registers(Registers& registers, void* stack_top, void (*entry)()) noexcept {
    // Boost only computes the start of its frame from the top; the size is not used.
    registers.fcontext = make_fcontext(stack_top, 0, boost_entry);
    registers.entry = entry;
}

}  // namespace trueasync::detail

#elif defined(__aarch64__)

// Unwinding ends here: there is nothing below a coroutine's first frame.
asm(R"(
.text
.globl trueasync_entry_aarch64
.type trueasync_entry_aarch64, %function
.p2align 4
trueasync_entry_aarch64:
    .cfi_startproc
    .cfi_undefined x30
    hint #36
    mov x29, xzr
    mov x30, xzr
    ldr x0, [sp]
    blr x0
    brk #1
    .cfi_endproc
.size trueasync_entry_aarch64, .-trueasync_entry_aarch64
)");

#endif

namespace trueasync {

void ExecutionContext::adopt_thread() noexcept {
    stack_top_ = nullptr;
#if defined(TA_ASAN) && defined(__linux__)
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void* base = nullptr;
        std::size_t size = 0;
        pthread_attr_getstack(&attributes, &base, &size);
        pthread_attr_destroy(&attributes);
        stack_base_ = static_cast<std::byte*>(base);
        stack_top_ = stack_base_ + size;
    }
#endif
#if defined(TA_TSAN)
    fiber_ = __tsan_get_current_fiber();
#endif
}

#if defined(TA_ASAN)

void ExecutionContext::annotate_created() noexcept {}

void ExecutionContext::annotate_leaving(void** fake_stack, const ExecutionContext& to) noexcept {
    __sanitizer_start_switch_fiber(
        fake_stack, to.stack_base_, static_cast<std::size_t>(to.stack_top_ - to.stack_base_)
    );
}

void ExecutionContext::annotate_arrived(void* fake_stack) noexcept {
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}

void ExecutionContext::annotate_destroyed(void* /*fiber*/) noexcept {}

#elif defined(TA_TSAN)

void ExecutionContext::annotate_created() noexcept { fiber_ = __tsan_create_fiber(0); }

void ExecutionContext::annotate_leaving(void** /*fake_stack*/, const ExecutionContext& to) noexcept {
    __tsan_switch_to_fiber(to.fiber_, 0);
}

void ExecutionContext::annotate_arrived(void* /*fake_stack*/) noexcept {}

void ExecutionContext::annotate_destroyed(void* fiber) noexcept {
    if (fiber != nullptr) {
        __tsan_destroy_fiber(fiber);
    }
}

#endif

}  // namespace trueasync
