#pragma once

/// `Async\Coroutine`: the core's coroutine and the PHP object are one piece of memory.

#include "../engine/compare.hpp"
#include "../engine/error_handler.hpp"
#include "../engine/error_log.hpp"
#include "../engine/fiber_block.hpp"
#include "../engine/gc.hpp"
#include "../engine/observer.hpp"
#include "../engine/output.hpp"
#include "../engine/pcntl.hpp"
#include "../engine/request.hpp"
#include "../engine/serialize.hpp"
#include "../engine/soap.hpp"
#include "../engine/vm_state.hpp"
#include "../engine/wrapper.hpp"
#include "../error.hpp"

#include <cstdint>
#include <memory>
#include <trueasync/runtime/coroutine.hpp>
#include <trueasync/runtime/helper.hpp>
#include <trueasync/runtime/scheduler.hpp>
#include <vector>

namespace trueasync::php {

inline zend_class_entry* ce_coroutine = nullptr;

/// Where a stream lies that somebody waits in, or did last: only to be fetched ahead, not to be read.
struct StreamMemory {
    const void* self = nullptr;
    const void* data = nullptr;    // of its transport
    const void* buffer = nullptr;  // where the next byte goes
};

/// Lies in front of its `zend_object`, in memory that belongs to PHP.
class PhpCoroutine final : public Coroutine {
public:
    /// The memory, the event in it and the object behind it; one reference.
    static PhpCoroutine* create() noexcept;
    static PhpCoroutine& of(zend_object* object) noexcept {
        return *reinterpret_cast<PhpCoroutine*>(reinterpret_cast<std::byte*>(object) - sizeof(PhpCoroutine));
    }
    zend_object* object() noexcept { return static_cast<zend_object*>(host_object()); }

    void* result() noexcept override { return value.get(); }
    Place spawned_at() const override;
    Place suspended_at() const override;

    Callable callable;
    std::vector<Value> arguments;  // and behind them, if some have names, an array of those
    std::unique_ptr<HelperBody> helper;
    Value value;
    struct LibraryWait {
        const zend_execute_data* call = nullptr;
        const zend_function* function = nullptr;
        int fd = -1;
        bool operator==(const LibraryWait&) const = default;
    };
    LibraryWait last_wait;  // for a descriptor: what its library is at work on
    /// What few have: a cancellation that was thrown inside a C library, and calls further out than the one it waits in.
    struct Libraries {
        zend_object* cut_off = nullptr;  // counted
        bool is_cut_off_aside = false;   // it is not in flight at the moment
        // The calls of internal functions in which it was thrown, one inside the other, if it was in any.
        const zend_execute_data* cut_off_from = nullptr;
        const zend_execute_data* cut_off_to = nullptr;
        std::vector<const void*> outer_uses;  // what they work on, inside which code of PHP waits
        std::vector<LibraryWait> outer_waits;
    };
    std::unique_ptr<Libraries> libraries;
    Libraries& make_libraries() {
        if (libraries == nullptr) {
            libraries = std::make_unique<Libraries>();
        }
        return *libraries;
    }
    zend_object* cut_off() const noexcept { return libraries != nullptr ? libraries->cut_off : nullptr; }
    bool is_cut_off_aside() const noexcept { return libraries != nullptr && libraries->is_cut_off_aside; }
    const void* in_use = nullptr;  // what it works on while it waits inside a function of an extension, or did last
    const zend_function* used_by = nullptr;  // the function, if that is a resource
    void* tls = nullptr;                     // of the stream it waits in, see engine/tls.hpp
    StreamMemory stream;                     // of the same, to be fetched ahead
    bool may_be_nested = false;              // inside a guarded call that may run code of PHP, see engine/in_use.hpp
    bool is_printing = false;                // see engine/printing.hpp
    bool keeps_value : 1 = false;            // somebody will ask for it who holds no object
    bool has_named_arguments : 1 = false;

private:
    friend class WaitWindow;
    bool is_loaded_ = true;  // while it runs: the engine's state is its own

public:
    std::uint32_t spawn_line = 0;
    Value spawn_file;  // a string, or nothing
    VmState vm;
    zend_fiber_context fiber = {};  // lets native fibers work inside

    /// What it needs when its turn comes: the object, and later, when that is there, what it points to.
    TA_INLINE void prefetch_self() const noexcept { prefetch(this, 0, sizeof(PhpCoroutine) + sizeof(zend_object)); }
    TA_INLINE void prefetch(Ahead step) const noexcept {
        const void* stack = Coroutine::context().registers().stack();
        switch (step) {
            case Ahead::Stack:
                prefetch(stack, -128, 0);
                if (stream.self != nullptr) {
                    // On a page of its own, which is looked up together with the stack's.
                    __builtin_prefetch(stream.buffer);
                }
                break;
            case Ahead::Frames:
                prefetch(stack, 640, 1088);
                prefetch(vm.current_execute_data, -128, 128);
                prefetch(Coroutine::context().stack_top(), -192, 0);
                break;
            default:
                if (in_use != nullptr) {
                    prefetch(in_use, 0, 64);
                }
                if (stream.self != nullptr) {
                    prefetch(stream.self, 0, sizeof(php_stream));
                    prefetch(stream.data, 0, 128);
                }
        }
    }

    /// Nobody holds it any more: an error that nobody has seen is reported.
    void drop_handle() noexcept {
        if (is_finished() && error() != nullptr) {
            report_leftovers();
        }
    }
    /// The object is being freed.
    void end() noexcept {
        if (EXPECTED(is_finished() && is_bare())) {
            this->~PhpCoroutine();
        } else {
            host_free();
        }
    }

    /// The engine's state is exchanged for the scheduler's, and back.
    void leave() noexcept;
    TA_INLINE void enter() noexcept {
        is_loaded_ = true;
        load(EG(current_execute_data) != vm.current_execute_data);
    }

    /// The running one stops for the next, if nothing is special about either. Null: nothing was done. Else the running one, back again.
    static TA_INLINE Coroutine* suspend_simple() noexcept {
        Coroutine* self = Scheduler::suspend_simple(std::source_location(), [](Coroutine& leaving) {
            static_cast<PhpCoroutine&>(leaving).save();
        });
        if (EXPECTED(self != nullptr)) {
            static_cast<PhpCoroutine*>(self)->load(true);
        }
        return self;
    }

    /// The running one; there is one whenever PHP code may suspend.
    static PhpCoroutine& running() noexcept { return static_cast<PhpCoroutine&>(*detail::hot_here().current); }

protected:
    void run() override;
    void drop_body() noexcept override;
    void drop_unstarted() noexcept;
    void drop_parts() noexcept;

private:
    PhpCoroutine();
    ~PhpCoroutine() override = default;

    /// Any address will do.
    static TA_INLINE void prefetch(const void* around, std::intptr_t begin, std::intptr_t end) noexcept {
#pragma GCC unroll 16
        for (std::intptr_t at = begin; at < end; at += 64) {
            __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(around) + at));
        }
    }

    TA_INLINE void save() noexcept {
        vm.save_changing();
        if (UNEXPECTED(has_state_aside() || may_be_nested)) {
            save_aside();
        }
        observe_switch(vm.current_fiber_context, EG(main_fiber_context));
    }
    TA_INLINE void load(bool has_left) noexcept {
        observe_switch(EG(main_fiber_context), vm.current_fiber_context);
        if (EXPECTED(has_left)) {
            vm.load();
        }  // else what it has now may be newer
        if (UNEXPECTED(aside_ != nullptr)) {
            load_aside();
        }
        request.is_in_scheduler = false;
        if (UNEXPECTED(request.is_dying)) {
            throw_exit(zend_create_unwind_exit());
        }
    }

    void run_body() noexcept;
    TA_COLD void end_body() noexcept;

    /// What few take with them when they leave.
    struct Aside {
        OutputState output;
        CompareState compare;
        SerializeState serialize;
        SignalHandlerState signal_handler;
        CollectorState collector;
        ErrorHandlerState error_handler;
        FiberBlock fiber_block;
        WrapperState wrapper;
        SoapState soap;
        ErrorLogState error_log;
    };
    static TA_INLINE bool has_state_aside() noexcept {
        return OutputState::is_in_use() || CompareState::is_in_use() || SerializeState::is_in_use() ||
               ErrorHandlerState::is_in_use() || request.has_rare_state;
    }
    TA_COLD void save_aside() noexcept;
    TA_COLD void load_aside() noexcept;

    std::unique_ptr<Aside> aside_;
};

#if defined(__x86_64__) && PHP_VERSION_ID < 80300 && !defined(TRUEASYNC_CONTEXT_BOOST) && !defined(TA_ASAN) && \
    !defined(TA_TSAN)
static_assert(sizeof(PhpCoroutine) + sizeof(zend_object) <= 768, "the next size that PHP has for memory is 896");
#endif

/// Around one wait of the running coroutine: the engine's state is exchanged right here, so that nothing keeps the core from its short ways.
/// What a long one calls meanwhile still finds the coroutine's own.
class WaitWindow {
public:
    TA_INLINE WaitWindow() noexcept { open(PhpCoroutine::running()); }
    WaitWindow(const WaitWindow&) = delete;
    WaitWindow& operator=(const WaitWindow&) = delete;
    TA_INLINE ~WaitWindow() { close(PhpCoroutine::running()); }

    static TA_INLINE void open(PhpCoroutine& self) noexcept {
        self.is_loaded_ = false;
        self.save();
        Scheduler::mute_hook(self);
    }
    static TA_INLINE void close(PhpCoroutine& self) noexcept {
        Scheduler::unmute_hook(self);
        if (EXPECTED(!self.is_loaded_)) {  // else the hook has done it
            self.enter();
        }
    }
};

/// Makes helper coroutines of PHP's kind.
class PhpHelpers final : public HelperFactory {
public:
    Ref<Coroutine> make(std::unique_ptr<HelperBody> body, const Place& where) override;
};

/// A callable and the arguments that it will get, as they were given to a function of ours.
struct Task {
    zend_fcall_info call = empty_fcall_info;
    zend_fcall_info_cache cache = empty_fcall_info_cache;
    zval* arguments = nullptr;
    int count = 0;
    HashTable* named = nullptr;
};

/// `callable $task, mixed ...$args`, the last parameters.
#define TA_PARAM_TASK(task)             \
    Z_PARAM_FUNC(task.call, task.cache) \
    Z_PARAM_VARIADIC_WITH_NAMED(task.arguments, task.count, task.named)

/// The closure that is the only argument, if it is one: most tasks are, and nothing has to be asked about them. Null: look closer.
inline zend_object* only_closure(const zend_execute_data* execute_data) noexcept {
    const zval* only = ZEND_CALL_ARG(execute_data, 1);
    const bool is_alone =
        ZEND_NUM_ARGS() == 1 && (ZEND_CALL_INFO(execute_data) & ZEND_CALL_HAS_EXTRA_NAMED_PARAMS) == 0;
    return is_alone && Z_TYPE_P(only) == IS_OBJECT && Z_OBJCE_P(only) == zend_ce_closure ? Z_OBJ_P(only) : nullptr;
}

/// A coroutine that will do it, not queued yet; one reference.
PhpCoroutine* make_coroutine(zend_object* closure) noexcept;
PhpCoroutine* make_coroutine(Callable callable) noexcept;
PhpCoroutine* make_coroutine(const Task& task) noexcept;

/// Spawns it into `owner`; the object goes to `return_value`. False: it threw, and the coroutine is gone.
bool spawn_coroutine(PhpCoroutine* coroutine, Owner* owner, zval* return_value) noexcept;

void register_coroutine();

}  // namespace trueasync::php
