/// The smallest PHP extension on this core: a stock PHP spawns, suspends and awaits over the public headers. It shows the three seams: a
/// coroutine in storage that PHP owns and counts, the engine's state exchanged at every switch, the script as main coroutine. What a user
/// needs beyond that is in php/.

#include "../../php/engine/vm_state.hpp"

#include <memory>
#include <trueasync/reactor/uv_reactor.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <trueasync/runtime/wait.hpp>

using namespace trueasync;

namespace {

zend_internal_function root_function = {};  // of the outermost frame on each VM stack
zend_class_entry* coroutine_class = nullptr;
zend_object_handlers coroutine_handlers;

/// A PHP exception on its way from one coroutine to another.
struct PhpError final : Error {
    explicit PhpError(zend_object* object)
        : Error(ErrorCode::Exception, ZSTR_VAL(object->ce->name), {}), thrown(object) {}
    ~PhpError() override { OBJ_RELEASE(thrown); }

    zend_object* thrown;
};

void throw_in_php(const Error& error) {
    if (const auto* php = dynamic_cast<const PhpError*>(&error)) {
        GC_ADDREF(php->thrown);
        zend_throw_exception_internal(php->thrown);
    } else {
        zend_throw_error(nullptr, "%s", error.message().c_str());
    }
}

/// Lies in front of its `zend_object`, in one piece of memory that belongs to PHP.
struct PhpCoroutine final : Coroutine {
    PhpCoroutine() : Coroutine(std::source_location()) { become_host_object(sizeof(PhpCoroutine)); }
    ~PhpCoroutine() override {
        zval_ptr_dtor(&callable);
        zval_ptr_dtor(&value);
    }

    static PhpCoroutine& of(zend_object* object) { return reinterpret_cast<PhpCoroutine*>(object)[-1]; }

    void run() override {
        alignas(zval) std::byte page[php::kFirstPage];
        vm.begin(page, reinterpret_cast<zend_function*>(&root_function), EG(error_reporting), &fiber, {});
        vm.load();
        call_user_function(nullptr, nullptr, &callable, &value, 0, nullptr);
        if (EG(exception) != nullptr) {
            GC_ADDREF(EG(exception));
            fail(make_ref<PhpError>(EG(exception)));
            zend_clear_exception();
        }
        vm.save();
        vm.end();
    }
    void* result() noexcept override { return &value; }

    zval callable = {};
    zval value = {};
    php::VmState vm = {};
    zend_fiber_context fiber = {};  // lets native fibers work inside
};

zend_object* create_coroutine(zend_class_entry* ce) {
    void* memory = zend_object_alloc(sizeof(PhpCoroutine) + sizeof(zend_object), ce);
    auto* object = reinterpret_cast<zend_object*>(new (memory) PhpCoroutine() + 1);
    zend_object_std_init(object, ce);
    object->handlers = &coroutine_handlers;
    return object;
}

struct PhpHook final : HostHook {
    void start(Coroutine& /*coroutine*/) noexcept override {}  // in `run`, on whose stack the first VM page lies
    void leave(Coroutine& coroutine) noexcept override { static_cast<PhpCoroutine&>(coroutine).vm.save(); }
    void enter(Coroutine& coroutine) noexcept override { static_cast<PhpCoroutine&>(coroutine).vm.load(); }
    void finish(Coroutine& /*coroutine*/) noexcept override {}
} hook;

struct PhpObjects final : HostObjects {
    void add_ref(void* object) noexcept override { GC_ADDREF(static_cast<zend_object*>(object)); }
    void release(void* object) noexcept override { OBJ_RELEASE(static_cast<zend_object*>(object)); }
    std::uint32_t ref_count(const void* object) const noexcept override {
        return GC_REFCOUNT(static_cast<const zend_object*>(object));
    }
} objects;

std::unique_ptr<Runtime> runtime;
zend_object* main_object = nullptr;

}  // namespace

ZEND_BEGIN_ARG_INFO_EX(arginfo_none, 0, 0, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO_EX(arginfo_one, 0, 0, 1)
ZEND_ARG_INFO(0, argument)
ZEND_END_ARG_INFO()

static PHP_FUNCTION(spawn) {
    zval* callable = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(callable)
    ZEND_PARSE_PARAMETERS_END();
    zend_object* object = create_coroutine(coroutine_class);
    ZVAL_COPY(&PhpCoroutine::of(object).callable, callable);
    RETVAL_OBJ(object);
    if (const Status status = runtime->scheduler().spawn(PhpCoroutine::of(object)); !status) {
        throw_in_php(*status.error());
    }
}

static PHP_FUNCTION(suspend) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (Scheduler::suspend(std::source_location()) != WaitResult::Ready) {
        throw_in_php(*Scheduler::take_wait_error());
    }
}

static PHP_FUNCTION(await) {
    zend_object* object = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(object, coroutine_class)
    ZEND_PARSE_PARAMETERS_END();
    PhpCoroutine& coroutine = PhpCoroutine::of(object);
    if (!coroutine.is_finished() && wait_for(coroutine) != WaitResult::Ready) {
        return throw_in_php(*Scheduler::take_wait_error());
    }
    Ref<Error> error;
    coroutine.replay(nullptr, nullptr, &error);
    if (error != nullptr) {
        return throw_in_php(*error);
    }
    RETURN_COPY(&coroutine.value);
}

static PHP_MINIT_FUNCTION(probe) {
    root_function.type = ZEND_INTERNAL_FUNCTION;
    zend_class_entry ce;
    INIT_NS_CLASS_ENTRY(ce, "probe", "Coroutine", nullptr);
    coroutine_class = zend_register_internal_class(&ce);
    coroutine_class->create_object = create_coroutine;
    coroutine_handlers = *zend_get_std_object_handlers();
    coroutine_handlers.offset = sizeof(PhpCoroutine);
    coroutine_handlers.free_obj = [](zend_object* object) {
        PhpCoroutine::of(object).host_free();
        zend_object_std_dtor(object);
    };
    set_host_objects(&objects);
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(probe) {
    runtime = std::make_unique<Runtime>(make_uv_reactor());
    runtime->scheduler().set_host_hook(&hook);
    main_object = create_coroutine(coroutine_class);
    return runtime->start(&PhpCoroutine::of(main_object)) ? SUCCESS : FAILURE;
}

static PHP_RSHUTDOWN_FUNCTION(probe) {
    runtime->finish();  // runs what is left
    runtime.reset();
    OBJ_RELEASE(main_object);
    return SUCCESS;
}

// clang-format off
static const zend_function_entry functions[] = {
    ZEND_NS_FE("probe", spawn, arginfo_one) ZEND_NS_FE("probe", suspend, arginfo_none) ZEND_NS_FE("probe", await, arginfo_one) PHP_FE_END
};
static zend_module_entry module_entry = {
    STANDARD_MODULE_HEADER, "probe", functions, PHP_MINIT(probe), nullptr, PHP_RINIT(probe), PHP_RSHUTDOWN(probe), nullptr, "1",
    STANDARD_MODULE_PROPERTIES
};
// clang-format on
extern "C" __attribute__((visibility("default"))) zend_module_entry* get_module() { return &module_entry; }
