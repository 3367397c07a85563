/// The smallest PHP extension on this core: proves that a stock PHP can spawn, suspend and await over the public headers alone.
///
/// Shown here: a coroutine that is a PHP object, counted by PHP (`HostObjects`); the engine's state exchanged at every switch
/// (`HostHook`); the script as main coroutine; PHP exceptions, exit() and fatal errors that cross coroutines without a C++
/// exception. Left out, for the real extension: observers, output layers, autoloading, destructors called by the cycle collector.

#include "vm_state.hpp"

#include <zend_exceptions.h>

#include <memory>
#include <trueasync/debug/dump.hpp>
#include <trueasync/reactor/uv_reactor.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/runtime/wait.hpp>

using namespace trueasync;

namespace {

/// The engine's state while no coroutine runs: between two of them, and in the scheduler. What PHP code runs there
/// (destructors of objects that the runtime lets go) must not suspend.
VmState scheduler_vm;
alignas(zval) std::byte scheduler_page[kFirstPage];

/// A PHP exception on its way from one coroutine to another.
class PhpError final : public Error {
public:
    explicit PhpError(zend_object* thrown)
        : Error(ErrorCode::Exception, std::string("PHP exception ") + ZSTR_VAL(thrown->ce->name), {}),
          thrown_(thrown) {}
    ~PhpError() override { OBJ_RELEASE(thrown_); }

    zend_object* thrown() const noexcept { return thrown_; }

private:
    zend_object* thrown_;
};

/// Where PHP code stands: the innermost frame that has a source line.
Place php_place(const zend_execute_data* frame) {
    while (frame != nullptr && (frame->func == nullptr || !ZEND_USER_CODE(frame->func->type))) {
        frame = frame->prev_execute_data;
    }
    return frame != nullptr ? Place(ZSTR_VAL(frame->func->op_array.filename), frame->opline->lineno) : Place();
}

/// Lies in front of its `zend_object`, in one piece of memory that belongs to PHP.
class PhpCoroutine final : public Coroutine {
public:
    PhpCoroutine() : Coroutine(std::source_location()) {
        ZVAL_UNDEF(&callable);
        ZVAL_UNDEF(&value);
        vm.error_reporting = EG(error_reporting);
        become_host_object(sizeof(PhpCoroutine));
    }
    ~PhpCoroutine() override {
        zval_ptr_dtor(&callable);
        zval_ptr_dtor(&value);
    }

    static PhpCoroutine& of(zend_object* object) {
        return *reinterpret_cast<PhpCoroutine*>(reinterpret_cast<std::byte*>(object) - sizeof(PhpCoroutine));
    }

    void run() override;
    void* result() noexcept override { return &value; }
    Place spawned_at() const override { return spawn_place; }
    Place suspended_at() const override { return php_place(vm.current_execute_data); }

    zval callable;  // both are shown to the cycle collector
    zval value;
    VmState vm = {};
    zend_fiber_context fiber = {};  // lets native fibers work inside
    Place spawn_place;
};
static_assert(sizeof(PhpCoroutine) % alignof(zend_object) == 0);

zend_class_entry* coroutine_class = nullptr;
zend_class_entry* cancellation_class = nullptr;
std::unique_ptr<Runtime> runtime;
PhpCoroutine* main_coroutine = nullptr;
bool has_bailed_out = false;

void PhpCoroutine::run() {
    alignas(zval) std::byte page[kFirstPage];
    fiber.status = ZEND_FIBER_STATUS_RUNNING;
    vm.begin(page, &fiber, runtime->stacks().stack_at(context().stack_top()));
    vm.load();
    zend_try {
        call_user_function(nullptr, nullptr, &callable, &value, 0, nullptr);
        zval_ptr_dtor(&callable);
        ZVAL_UNDEF(&callable);
        if (ref_count() == 1) {  // only the runtime knows it: let the value go here, where destructors may suspend
            zval_ptr_dtor(&value);
            ZVAL_UNDEF(&value);
        }
        if (EG(exception) != nullptr && zend_is_unwind_exit(EG(exception))) {
            zend_clear_exception();
            runtime->shutdown();  // exit() ends the script, not just this coroutine
        } else if (EG(exception) != nullptr && instanceof_function(EG(exception)->ce, cancellation_class)) {
            fail(Error::cancellation(CancelReason::UserRequest, "Coroutine cancelled"));  // as it came, it goes
            zend_clear_exception();
        } else if (EG(exception) != nullptr) {
            GC_ADDREF(EG(exception));
            fail(make_ref<PhpError>(EG(exception)));
            zend_clear_exception();
        }
    }
    zend_catch {
        has_bailed_out = true;
        runtime->shutdown();
    }
    zend_end_try();
    vm.save();
    scheduler_vm.load();
    vm.end();
}

class PhpHook final : public HostHook {
public:
    void start(Coroutine& /*coroutine*/) noexcept override {}  // in `run`, on whose stack the first VM page lies
    void leave(Coroutine& coroutine) noexcept override {
        static_cast<PhpCoroutine&>(coroutine).vm.save();
        scheduler_vm.load();
    }
    void enter(Coroutine& coroutine) noexcept override { static_cast<PhpCoroutine&>(coroutine).vm.load(); }
    void finish(Coroutine& coroutine) noexcept override {
        if (&coroutine != main_coroutine) {
            static_cast<PhpCoroutine&>(coroutine).vm.end();  // left behind by one that was abandoned
        }
    }
};

class PhpObjects final : public HostObjects {
public:
    void add_ref(void* object) noexcept override { GC_ADDREF(static_cast<zend_object*>(object)); }
    void release(void* object) noexcept override {
        const bool was_clear = EG(exception) == nullptr;
        OBJ_RELEASE(static_cast<zend_object*>(object));
        if (was_clear && EG(exception) != nullptr) {
            zend_exception_error(EG(exception), E_WARNING);  // of a destructor; it concerns no PHP code that waits here
        }
    }
    std::uint32_t ref_count(const void* object) const noexcept override {
        return GC_REFCOUNT(static_cast<const zend_object*>(object));
    }
};

/// Errors that nobody took are PHP's to report; the other reports go to standard error.
class PhpReports final : public StreamReportSink {
public:
    void unhandled_error(const Event* /*event*/, const Error& error) noexcept override {
        const auto* php = dynamic_cast<const PhpError*>(&error);
        if (php != nullptr && (EG(flags) & EG_FLAGS_OBJECT_STORE_NO_REUSE) == 0) {  // PHP code can still run
            GC_ADDREF(php->thrown());
            zend_exception_error(php->thrown(), E_ERROR);
        } else {
            zend_error(E_WARNING, "%s", error.describe().c_str());
        }
    }
};

PhpHook hook;
PhpObjects objects;
PhpReports reports;
zend_object_handlers coroutine_handlers;

zend_object* create_coroutine(zend_class_entry* ce) {
    auto* memory = static_cast<std::byte*>(zend_object_alloc(sizeof(PhpCoroutine) + sizeof(zend_object), ce));
    new (memory) PhpCoroutine();
    auto* object = reinterpret_cast<zend_object*>(memory + sizeof(PhpCoroutine));
    zend_object_std_init(object, ce);
    object_properties_init(object, ce);
    object->handlers = &coroutine_handlers;
    return object;
}

void free_coroutine(zend_object* object) {
    PhpCoroutine::of(object).host_free();
    zend_object_std_dtor(object);
}

HashTable* show_to_collector(zend_object* object, zval** table, int* count) {
    PhpCoroutine& coroutine = PhpCoroutine::of(object);
    zend_get_gc_buffer* buffer = zend_get_gc_buffer_create();
    zend_get_gc_buffer_add_zval(buffer, &coroutine.callable);
    zend_get_gc_buffer_add_zval(buffer, &coroutine.value);
    if (const auto* php = dynamic_cast<const PhpError*>(coroutine.error()); php != nullptr && php->ref_count() == 1) {
        zend_get_gc_buffer_add_obj(buffer, php->thrown());
    }
    zend_get_gc_buffer_use(buffer, table, count);
    return nullptr;
}

zend_function* refuse_constructor(zend_object* /*object*/) {
    zend_throw_error(nullptr, "A probe\\Coroutine comes from probe\\spawn()");
    return nullptr;
}

/// The one place where the core's errors become PHP exceptions.
void throw_in_php(const Error& error) {
    if (const auto* php = dynamic_cast<const PhpError*>(&error)) {
        GC_ADDREF(php->thrown());
        zend_throw_exception_internal(php->thrown());
    } else if (error.reason() == CancelReason::Shutdown) {
        zend_throw_unwind_exit();  // no catch block sees it
    } else {
        zend_throw_error(error.is_cancellation() ? cancellation_class : nullptr, "%s", error.describe().c_str());
    }
}

bool may_suspend() {
    if (VmState::loaded != &scheduler_vm) {
        return true;
    }
    zend_throw_error(nullptr, "The scheduler is letting this object go: its destructor cannot suspend");
    return false;
}

/// After a wait: true when it went well, else throws.
bool has_arrived(WaitResult result) {
    if (EXPECTED(result == WaitResult::Ready)) {
        return true;
    }
    Ref<Error> error = Scheduler::take_wait_error();
    if (has_bailed_out && Scheduler::current_coroutine() == main_coroutine) {
        error.reset();
        zend_bailout();  // a fatal error in a coroutine ends the script
    }
    throw_in_php(*error);
    return false;
}

/// The script is done: runs what is left.
void finish_runtime() {
    if (runtime == nullptr || Scheduler::current_coroutine() != main_coroutine) {
        return;
    }
    if (CG(unclean_shutdown)) {
        runtime->shutdown();
    }
    runtime->finish();  // what it returns has been reported
    runtime.reset();
    OBJ_RELEASE(static_cast<zend_object*>(std::exchange(main_coroutine, nullptr)->host_object()));
}

}  // namespace

// clang-format off
ZEND_BEGIN_ARG_INFO_EX(arginfo_none, 0, 0, 0) ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO_EX(arginfo_spawn, 0, 0, 1) ZEND_ARG_CALLABLE_INFO(0, function, 0) ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO_EX(arginfo_await, 0, 0, 1) ZEND_ARG_OBJ_INFO(0, coroutine, probe\\Coroutine, 0) ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO_EX(arginfo_delay, 0, 0, 1) ZEND_ARG_TYPE_INFO(0, milliseconds, IS_LONG, 0) ZEND_END_ARG_INFO()
    // clang-format on

    PHP_FUNCTION(spawn) {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_FUNC(call, cache)
    ZEND_PARSE_PARAMETERS_END();
    if (runtime == nullptr) {
        zend_throw_error(nullptr, "The script has ended: nothing can be spawned");
        return;
    }
    zend_object* object = create_coroutine(coroutine_class);
    PhpCoroutine& coroutine = PhpCoroutine::of(object);
    ZVAL_COPY(&coroutine.callable, &call.function_name);
    coroutine.spawn_place = php_place(execute_data);
    if (const Status status = runtime->scheduler().spawn(coroutine); !status) {
        OBJ_RELEASE(object);
        throw_in_php(*status.error());
        return;
    }
    RETURN_OBJ(object);
}

PHP_FUNCTION(suspend) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (may_suspend()) {
        has_arrived(Scheduler::suspend(std::source_location()));
    }
}

PHP_FUNCTION(delay) {
    zend_long milliseconds = 0;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(milliseconds)
    ZEND_PARSE_PARAMETERS_END();
    if (may_suspend()) {
        has_arrived(sleep_until(Deadline::after(std::chrono::milliseconds(milliseconds))));
    }
}

PHP_FUNCTION(await) {
    zend_object* object = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(object, coroutine_class)
    ZEND_PARSE_PARAMETERS_END();
    PhpCoroutine& coroutine = PhpCoroutine::of(object);
    if (!coroutine.is_finished() && !(may_suspend() && has_arrived(wait_for(coroutine)))) {
        return;
    }
    Ref<Error> error;
    coroutine.replay(nullptr, nullptr, &error);
    if (error != nullptr) {
        throw_in_php(*error);
    } else {
        RETURN_COPY(&coroutine.value);
    }
}

PHP_FUNCTION(drain) {
    ZEND_PARSE_PARAMETERS_NONE();
    finish_runtime();
}

static PHP_MINIT_FUNCTION(probe) {
    root_function.type = ZEND_INTERNAL_FUNCTION;
    zend_class_entry ce;
    INIT_NS_CLASS_ENTRY(ce, "probe", "Coroutine", nullptr);
    coroutine_class = zend_register_internal_class(&ce);
    coroutine_class->ce_flags |= ZEND_ACC_FINAL | ZEND_ACC_NO_DYNAMIC_PROPERTIES | ZEND_ACC_NOT_SERIALIZABLE;
    coroutine_class->create_object = create_coroutine;
    INIT_NS_CLASS_ENTRY(ce, "probe", "Cancellation", nullptr);
    cancellation_class = zend_register_internal_class_ex(&ce, zend_ce_error);
    coroutine_handlers = *zend_get_std_object_handlers();
    coroutine_handlers.offset = sizeof(PhpCoroutine);
    coroutine_handlers.free_obj = free_coroutine;
    coroutine_handlers.clone_obj = nullptr;
    coroutine_handlers.get_gc = show_to_collector;
    coroutine_handlers.get_constructor = refuse_constructor;
    set_host_objects(&objects);
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(probe) {
    set_host_objects(nullptr);
    return SUCCESS;
}

/// The running script becomes the main coroutine. It is over when its shutdown functions run; ours is the first of them.
static PHP_RINIT_FUNCTION(probe) {
    has_bailed_out = false;
    scheduler_vm.error_reporting = EG(error_reporting);
    scheduler_vm.begin(scheduler_page, EG(main_fiber_context), {});
    main_coroutine = &PhpCoroutine::of(create_coroutine(coroutine_class));
    main_coroutine->set_name("main");
    VmState::loaded = &main_coroutine->vm;
    set_report_sink(&reports);
    runtime = std::make_unique<Runtime>(make_uv_reactor());
    runtime->scheduler().set_host_hook(&hook);
    if (!runtime->start(main_coroutine)) {
        return FAILURE;
    }
    zval function;
    zval argument;
    zval ignored;
    ZVAL_STRING(&function, "register_shutdown_function");
    ZVAL_STRING(&argument, "probe\\drain");
    call_user_function(nullptr, nullptr, &function, &ignored, 1, &argument);
    zval_ptr_dtor(&argument);
    zval_ptr_dtor(&function);
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(probe) {
    finish_runtime();  // when the shutdown functions were not run to their end
    return SUCCESS;
}

// clang-format off
static const zend_function_entry functions[] = {
    ZEND_NS_FE("probe", spawn, arginfo_spawn)
    ZEND_NS_FE("probe", suspend, arginfo_none)
    ZEND_NS_FE("probe", delay, arginfo_delay)
    ZEND_NS_FE("probe", await, arginfo_await)
    ZEND_NS_FE("probe", drain, arginfo_none)
    PHP_FE_END
};

static zend_module_entry module_entry = {
    STANDARD_MODULE_HEADER, "probe", functions, PHP_MINIT(probe), PHP_MSHUTDOWN(probe), PHP_RINIT(probe),
    PHP_RSHUTDOWN(probe), nullptr, "1", STANDARD_MODULE_PROPERTIES
};
// clang-format on

extern "C" __attribute__((visibility("default"))) zend_module_entry* get_module() { return &module_entry; }
