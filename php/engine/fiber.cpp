#include "fiber.hpp"

#include "../classes/coroutine.hpp"
#include "../classes/exceptions.hpp"
#include "../error.hpp"
#include "../per_thread.hpp"
#include "gc.hpp"
#include "mentions.hpp"
#include "replace.hpp"
#include "request.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <trueasync/runtime/wait.hpp>
#include <unordered_map>

namespace trueasync::php {

namespace {

/// What passes to one that waits for it, on whose stack it lies.
class Handover {
public:
    /// Waits until something is sent. `place`, where others find this meanwhile, is empty again then. `begin` is called first, unless the wait is
    /// over before it begins.
    template <typename Begin>
    WaitResult await(Handover*& place, Begin&& begin) noexcept {
        DirectWait guard([](const WaitGuard& /*guard*/) { return std::string("Fiber"); });
        if (guard.result() != WaitResult::Ready) {
            return guard.park();
        }
        waiter_ = &guard;
        place = this;
        begin();
        const WaitResult result = guard.park();
        if (place == this) {  // cut short
            place = nullptr;
        }
        return result;
    }

    /// Once, to the one in `place`, if there is one.
    static void send(Handover*& place, Value value, bool is_exception) noexcept {
        if (Handover* const self = std::exchange(place, nullptr)) {
            self->value_ = std::move(value);
            self->is_exception_ = is_exception;
            self->waiter_->wake();
        }
    }
    static void refuse(Handover*& place, Ref<Error> error) noexcept {
        if (place != nullptr) {
            place->error_ = std::move(error);
            send(place, {}, false);
        }
    }

    /// What was sent, into `return_value` or thrown.
    void receive(zval* return_value) noexcept {
        if (error_ != nullptr) {
            throw_in_php(*error_);
        } else if (is_exception_) {
            zval exception;
            value_.move_to(&exception);
            zend_throw_exception_internal(Z_OBJ(exception));
        } else if (value_.is_set()) {
            value_.move_to(return_value);
        }
    }
    /// An exception that would be lost: the wait was cut short after it was sent.
    void receive_exception() noexcept {
        if (is_exception_) {
            receive(nullptr);
        }
    }

private:
    DirectWait* waiter_ = nullptr;
    Value value_;
    Ref<Error> error_;
    bool is_exception_ = false;
};

/// A fiber and who drives it.
struct Drive {
    Ref<PhpCoroutine> coroutine;
    Handover* fiber = nullptr;   // suspended, unless it was told to go on
    Handover* driver = nullptr;  // waits for the fiber to yield
    bool is_held = true;         // the fiber holds its object: it runs, or was told to go on
    bool is_gone = false;        // after a fatal error: the object was freed before its coroutine has unwound
};

TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<zend_fiber*, std::shared_ptr<Drive>>> drives;

std::shared_ptr<Drive> drive_of(zend_fiber* fiber) {
    const auto found = drives->find(fiber);
    return found != drives->end() ? found->second : nullptr;
}

zend_fiber* fiber_of(zend_object* object) { return reinterpret_cast<zend_fiber*>(object); }

zend_class_entry* ce_fiber_error = nullptr;
zend_object_handlers handlers;
void (*destroy_before)(zend_object*) = nullptr;
void (*free_before)(zend_object*) = nullptr;
zend_object* (*create_before)(zend_class_entry*) = nullptr;
zif_handler start_before = nullptr;
zif_handler resume_before = nullptr;
zif_handler throw_before = nullptr;
zif_handler suspend_before = nullptr;

/// The fiber's function, in its coroutine.
class FiberBody final : public HelperBody {
public:
    FiberBody(zend_fiber* fiber, std::shared_ptr<Drive> drive, std::vector<Value> arguments, Value named)
        : fiber_(fiber), drive_(std::move(drive)), arguments_(std::move(arguments)), named_(std::move(named)) {
        GC_ADDREF(&fiber_->std);
    }
    ~FiberBody() override {
        if (fiber_ != nullptr) {  // it has never run
            fiber_->context.status = ZEND_FIBER_STATUS_DEAD;
            fiber_->flags |= ZEND_FIBER_FLAG_THREW;
            if (drive_->coroutine != nullptr && drive_->coroutine->error() != nullptr) {
                Handover::refuse(drive_->driver, Ref<Error>(drive_->coroutine->error()));
            }
            OBJ_RELEASE(&fiber_->std);
        }
    }
    bool is_called() const noexcept override { return true; }

    Ref<Error> run() override {
        EG(active_fiber) = fiber_;
        fiber_->context.status = ZEND_FIBER_STATUS_RUNNING;
        fiber_->stack_bottom = fiber_->execute_data = EG(current_execute_data);
        std::vector<zval> plain(arguments_.size());
        for (std::size_t i = 0; i < plain.size(); ++i) {
            ZVAL_COPY_VALUE(&plain[i], arguments_[i].get());
        }
        zend_fcall_info call = fiber_->fci;  // of our own: the object may go before the call ends
        zend_fcall_info_cache cache = fiber_->fci_cache;
        Value result;
        call.params = plain.data();
        call.param_count = static_cast<std::uint32_t>(plain.size());
        call.named_params = named_.is_set() ? Z_ARRVAL_P(named_.get()) : nullptr;
        call.retval = result.get();
        zend_call_function(&call, &cache);
        arguments_.clear();
        named_.reset();
        EG(active_fiber) = nullptr;
        if (drive_->is_gone) {
            fiber_ = nullptr;
            return {};
        }
        PhpCoroutine::running().value = Value(result.get());
        result.move_to(&fiber_->result);
        fiber_->context.status = ZEND_FIBER_STATUS_DEAD;
        Ref<Error> error;
        if (EG(exception) != nullptr) {
            fiber_->flags |= ZEND_FIBER_FLAG_THREW;
            error = end_with_exception();
        }
        Handover::send(drive_->driver, {}, false);
        zend_fiber* fiber = std::exchange(fiber_, nullptr);
        OBJ_RELEASE(&fiber->std);
        return error;
    }

private:
    /// It is the driver's, and of who awaits the coroutine. Of a fiber that nobody drives it is the coroutine's alone, as `exit()` always is.
    Ref<Error> end_with_exception() noexcept {
        if (zend_is_graceful_exit(EG(exception))) {
            zend_clear_exception();
        } else if (drive_->driver != nullptr && !zend_is_unwind_exit(EG(exception))) {
            zend_object* thrown = EG(exception);
            GC_ADDREF(thrown);
            zend_clear_exception();
            Handover::send(drive_->driver, Value::adopt(thrown), true);
            PhpCoroutine::running().mark_exception_caught();
            return PhpError::share(thrown);
        }
        return {};
    }

    zend_fiber* fiber_;
    std::shared_ptr<Drive> drive_;
    std::vector<Value> arguments_;
    Value named_;
};

/// The fiber runs, or will: it holds its object.
void hold(zend_fiber* fiber, Drive& link) noexcept {
    if (!std::exchange(link.is_held, true)) {
        GC_ADDREF(&fiber->std);
    }
}

/// Waits until the fiber yields or ends. `begin` lets it go on.
template <typename Begin>
void drive(Drive& drive, zval* return_value, Begin&& begin) {
    zend_fiber* const self =
        EG(active_fiber) != nullptr && drives->contains(EG(active_fiber)) ? EG(active_fiber) : nullptr;
    if (self != nullptr) {
        self->execute_data = EG(current_execute_data);  // for reflection
    }
    Handover handover;
    const WaitResult result = handover.await(drive.driver, begin);
    if (self != nullptr && EG(active_fiber) == self) {
        self->execute_data = self->stack_bottom;
    }
    if (has_arrived(result)) {
        handover.receive(return_value);
    } else {
        handover.receive_exception();
    }
}

bool is_ours(zend_fiber* fiber) { return request.runtime != nullptr && drives->contains(fiber); }

void refuse(const char* message) { zend_throw_error(ce_fiber_error, "%s", message); }

ZEND_NAMED_FUNCTION(fiber_start) {
    zend_fiber* fiber = fiber_of(Z_OBJ_P(ZEND_THIS));
    if (request.runtime == nullptr || request.is_in_scheduler || fiber->context.status != ZEND_FIBER_STATUS_INIT ||
        is_ours(fiber)) {
        if (is_ours(fiber)) {
            refuse("Cannot start a fiber that has already been started");
            return;
        }
        start_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    zval* arguments = nullptr;
    std::uint32_t count = 0;
    HashTable* named = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, -1)
    Z_PARAM_VARIADIC_WITH_NAMED(arguments, count, named);
    ZEND_PARSE_PARAMETERS_END();
    std::vector<Value> values;
    for (std::uint32_t i = 0; i < count; ++i) {
        values.emplace_back(&arguments[i]);
    }
    Value names;
    if (named != nullptr) {
        zval array;
        ZVAL_ARR(&array, named);
        names = Value(&array);
    }
    auto link = std::make_shared<Drive>();
    drives->emplace(fiber, link);
    fiber->context.status = ZEND_FIBER_STATUS_RUNNING;
    fiber->stack_bottom = fiber->execute_data = request.scheduler_vm.current_execute_data;  // reflection looks there
    Ref<Coroutine> coroutine;
    if (!check(request.runtime->scheduler().spawn_helper(
            std::make_unique<FiberBody>(fiber, link, std::move(values), std::move(names)), Place(), Priority::Normal,
            Scheduler::current_owner(), &coroutine
        ))) {
        drives->erase(fiber);
        return;
    }
    link->coroutine = Ref<PhpCoroutine>(static_cast<PhpCoroutine*>(coroutine.get()));
    drive(*link, return_value, [] {});
}

/// `resume` and `throw`.
void go_on(zend_fiber* fiber, Value value, bool is_exception, zval* return_value) {
    const std::shared_ptr<Drive> link = drive_of(fiber);
    if (fiber->context.status != ZEND_FIBER_STATUS_SUSPENDED || link->fiber == nullptr) {
        refuse("Cannot resume a fiber that is not suspended");
        return;
    }
    drive(*link, return_value, [&] {
        hold(fiber, *link);
        fiber->context.status = ZEND_FIBER_STATUS_RUNNING;
        Handover::send(link->fiber, std::move(value), is_exception);
    });
}

ZEND_NAMED_FUNCTION(fiber_resume) {
    zend_fiber* fiber = fiber_of(Z_OBJ_P(ZEND_THIS));
    if (!is_ours(fiber)) {
        resume_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    zval* value = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    go_on(fiber, value != nullptr ? Value(value) : Value::null(), false, return_value);
}

ZEND_NAMED_FUNCTION(fiber_throw) {
    zend_fiber* fiber = fiber_of(Z_OBJ_P(ZEND_THIS));
    if (!is_ours(fiber)) {
        throw_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    zend_object* exception = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(exception, zend_ce_throwable)
    ZEND_PARSE_PARAMETERS_END();
    GC_ADDREF(exception);
    go_on(fiber, Value::adopt(exception), true, return_value);
}

ZEND_NAMED_FUNCTION(fiber_suspend) {
    zend_fiber* fiber = EG(active_fiber);
    if (fiber == nullptr || !is_ours(fiber)) {
        suspend_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
        return;
    }
    zval* value = nullptr;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    if ((fiber->flags & ZEND_FIBER_FLAG_DESTROYED) != 0) {
        refuse("Cannot suspend in a force-closed fiber");
        return;
    }
    const std::shared_ptr<Drive> link = drive_of(fiber);
    if (GC_REFCOUNT(&fiber->std) == 1) {  // only it holds itself: who drove it was cancelled and has let it go
        fiber->flags |= ZEND_FIBER_FLAG_DESTROYED;
        zend_throw_exception_internal(zend_create_graceful_exit());
        return;
    }
    Handover handover;
    const WaitResult result = handover.await(link->fiber, [&] {
        fiber->context.status = ZEND_FIBER_STATUS_SUSPENDED;
        fiber->execute_data = execute_data;  // for reflection and the collector
        Handover::send(link->driver, value != nullptr ? Value(value) : Value::null(), false);
        GC_DELREF(&fiber->std);  // whoever holds the object decides whether it goes on
        link->is_held = false;
    });
    if (!link->is_gone) {
        hold(fiber, *link);
        fiber->context.status = ZEND_FIBER_STATUS_RUNNING;
        fiber->execute_data = fiber->stack_bottom;
    }
    if (result != WaitResult::Ready && !link->is_gone && (fiber->flags & ZEND_FIBER_FLAG_DESTROYED) != 0) {
        Scheduler::take_wait_error();  // it is closed, whatever came besides
        handover.receive(return_value);
    } else if (has_arrived(result)) {
        handover.receive(return_value);
    }
}

ZEND_METHOD(Fiber, getCoroutine) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (const std::shared_ptr<Drive> link = drive_of(fiber_of(Z_OBJ_P(ZEND_THIS)));
        link != nullptr && link->coroutine != nullptr) {
        RETURN_OBJ_COPY(link->coroutine->object());
    }
}

/// Ends a suspended fiber as PHP does: its `finally` blocks run, nothing is caught.
void close_fiber(zend_fiber* fiber, Drive& link) {
    fiber->flags |= ZEND_FIBER_FLAG_DESTROYED;
    hold(fiber, link);
    Handover::send(link.fiber, Value::adopt(zend_create_graceful_exit()), true);
}

void destroy_fiber(zend_object* object) {
    zend_fiber* fiber = fiber_of(object);
    const std::shared_ptr<Drive> link = drive_of(fiber);
    if (link == nullptr) {
        destroy_before(object);
        return;
    }
    if (request.runtime == nullptr || fiber->context.status != ZEND_FIBER_STATUS_SUSPENDED) {
        return;
    }
    const ExceptionPause pause;
    if (CollectorState::is_collecting()) {
        // It has others to close too: waits no longer than until this one suspends, as with other destructors.
        link->coroutine->set_priority(Priority::High);
        close_fiber(fiber, *link);
        link->coroutine->set_priority(Priority::Normal);
        if (detail::hot_here().queue.head() == link->coroutine.get()) {
            Scheduler::run_head(std::source_location());
        }
        return;
    }
    close_fiber(fiber, *link);
    if (!request.is_in_scheduler) {
        zval ignored;
        ZVAL_UNDEF(&ignored);
        drive(*link, &ignored, [] {});  // may be cut short; the fiber holds its object until it has unwound
        zval_ptr_dtor(&ignored);
    }
}

void free_fiber(zend_object* object) {
    if (auto found = drives->extract(fiber_of(object))) {  // what goes with it may hold the last of another fiber
        found.mapped()->is_gone = true;
    }
    free_before(object);
}

zend_object* create_fiber(zend_class_entry* ce) {
    zend_object* object = create_before(ce);
    request.has_seen_fiber = true;
    if (request.runtime == nullptr && request.is_open && mentions_async()) {
        start();
    }
    if (UNEXPECTED(free_before == nullptr)) {  // the engine hides its own: the first object shows them
        handlers = *object->handlers;
        destroy_before = std::exchange(handlers.dtor_obj, destroy_fiber);
        free_before = std::exchange(handlers.free_obj, free_fiber);
    }
    object->handlers = &handlers;
    return object;
}

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_get_coroutine, 0, 0, Async\\Coroutine, 1)
ZEND_END_ARG_INFO()

const zend_function_entry added[] = {ZEND_ME(Fiber, getCoroutine, arginfo_get_coroutine, ZEND_ACC_PUBLIC) ZEND_FE_END};

}  // namespace

void fiber_minit() {
    ce_fiber_error =
        static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), "fibererror", sizeof("fibererror") - 1));
    zend_register_functions(zend_ce_fiber, added, &zend_ce_fiber->function_table, MODULE_PERSISTENT);
    HashTable* methods = &zend_ce_fiber->function_table;
    start_before = replace_handler(methods, "start", fiber_start);
    resume_before = replace_handler(methods, "resume", fiber_resume);
    throw_before = replace_handler(methods, "throw", fiber_throw);
    suspend_before = replace_handler(methods, "suspend", fiber_suspend);
    create_before = std::exchange(zend_ce_fiber->create_object, create_fiber);
}

bool FiberRelief::relieve() noexcept {
    std::vector<std::pair<zend_fiber*, std::shared_ptr<Drive>>> suspended;
    for (const auto& [fiber, link] : *drives) {
        if (fiber->context.status == ZEND_FIBER_STATUS_SUSPENDED && link->driver == nullptr) {
            suspended.emplace_back(fiber, link);
        }
    }
    for (const Coroutine& coroutine : request.runtime->scheduler().alive()) {
        const bool is_fiber = std::any_of(suspended.begin(), suspended.end(), [&](const auto& one) {
            return one.second->coroutine.get() == &coroutine;
        });
        if (!is_fiber) {
            return false;  // somebody waits for something: a deadlock like any other
        }
    }
    std::ranges::sort(suspended, {}, [](const auto& one) { return one.second->coroutine->id(); });  // as they began
    for (const auto& [fiber, link] : suspended) {
        close_fiber(fiber, *link);
    }
    return !suspended.empty();
}

/// What goes with one may hold the last of another.
void fiber_request_end() {
    while (!drives->empty()) {
        drives->extract(drives->begin());
    }
}

}  // namespace trueasync::php
