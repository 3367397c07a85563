#include "error.hpp"

#include "classes/channel.hpp"
#include "classes/exceptions.hpp"
#include "classes/pool.hpp"
#include "engine/request.hpp"
#include "object.hpp"

#include <trueasync/sync/channel.hpp>

#include <cstdint>

namespace trueasync::php {

namespace {

/// The class that declares its properties.
zend_class_entry* base_of(const zend_object* thrown) noexcept {
    return instanceof_function(thrown->ce, zend_ce_exception) ? zend_ce_exception : zend_ce_error;
}

bool is_silent(const zend_object* thrown) noexcept {
    return is_exit(thrown) || instanceof_function(thrown->ce, ce_cancellation);
}

std::string message_of(zend_object* thrown) {
    if (is_exit(thrown)) {
        return "exit";
    }
    zval room;
    const zval* message = zend_read_property_ex(base_of(thrown), thrown, ZSTR_KNOWN(ZEND_STR_MESSAGE), true, &room);
    return Z_TYPE_P(message) == IS_STRING ? std::string(Z_STRVAL_P(message), Z_STRLEN_P(message)) : std::string();
}

}  // namespace

bool is_exit(const zend_object* thrown) noexcept {
    return zend_is_unwind_exit(thrown) || zend_is_graceful_exit(thrown);
}

zend_object* previous_of(zend_object* thrown) noexcept {
    zval room;
    const zval* previous = zend_read_property_ex(base_of(thrown), thrown, ZSTR_KNOWN(ZEND_STR_PREVIOUS), true, &room);
    return Z_TYPE_P(previous) == IS_OBJECT ? Z_OBJ_P(previous) : nullptr;
}

PhpError::PhpError(zend_object* thrown)
    : Error(is_silent(thrown) ? ErrorCode::Cancelled : ErrorCode::Exception, message_of(thrown), {}), thrown_(thrown) {}

Ref<Error> PhpError::adopt(zend_object* thrown) { return Ref<Error>::adopt(new PhpError(thrown)); }

zend_object* PhpError::thrown_by(const Error* error) noexcept {
    const auto* php = dynamic_cast<const PhpError*>(error);
    return php != nullptr ? php->thrown_ : nullptr;
}

Ref<Error> take_exception() noexcept {
    zend_object* thrown = EG(exception);
    GC_ADDREF(thrown);
    zend_clear_exception();
    if (zend_is_unwind_exit(thrown) && request.runtime != nullptr) {
        end_script();  // whoever gets to know of it
    }
    return PhpError::adopt(thrown);
}

void throw_exit(zend_object* exit) noexcept {
    if (EG(exception) != nullptr && zend_is_unwind_exit(EG(exception))) {
        OBJ_RELEASE(exit);
        return;
    }
    zend_clear_exception();
    EG(exception) = exit;
    if (zend_execute_data* frame = EG(current_execute_data);
        frame != nullptr && frame->func != nullptr && ZEND_USER_CODE(frame->func->common.type)) {
        zend_rethrow_exception(frame);
    }
}

namespace {

zend_class_entry* class_of(const Error& error) noexcept {
    switch (error.code()) {
        case ErrorCode::Cancelled:
            return error.reason() == CancelReason::Token ? ce_operation_canceled : ce_async_cancellation;
        case ErrorCode::Timeout:
            return ce_timeout_exception;
        case ErrorCode::Deadlock:
            return ce_deadlock_error;
        case ErrorCode::System:
            return ce_io_exception;
        case ErrorCode::Resolve:
            return ce_dns_exception;
        case ErrorCode::ChannelClosed:
            return ce_channel_exception;
        case ErrorCode::PoolClosed:
            return ce_pool_exception;
        case ErrorCode::ServiceUnavailable:
            return ce_service_unavailable;
        case ErrorCode::KeyNotFound:
            return ce_context_exception;
        case ErrorCode::Composite:
            return ce_composite_exception;
        default:
            return ce_async_exception;
    }
}

/// Hangs `previous`, a reference of ours, behind `thrown`, unless it hangs there already.
void add_previous(zend_object* thrown, zend_object* previous) noexcept {
    for (zend_object* link = thrown; link != nullptr; link = previous_of(link)) {
        if (link == previous) {
            OBJ_RELEASE(previous);
            return;
        }
    }
    zend_exception_set_previous(thrown, previous);
}

}  // namespace

zend_object* to_exception(const Error& error) noexcept {
    if (zend_object* thrown = PhpError::thrown_by(&error)) {
        GC_ADDREF(thrown);
        if (error.previous() != nullptr) {
            add_previous(thrown, to_exception(*error.previous()));
        }
        return thrown;
    }
    zend_object* previous = error.previous() != nullptr && error.reason() != CancelReason::Deadlock
                                ? to_exception(*error.previous())
                                : nullptr;
    zend_object* exception = make_exception(class_of(error), error.message().c_str(), previous);
    if (const ChannelError* closed = ChannelError::of(&error)) {
        set_close_reason(exception, static_cast<int>(closed->close_reason()));
    }
    if (const CompositeError* composite = CompositeError::of(&error)) {
        for (const Ref<Error>& one : composite->errors()) {
            add_to_composite(exception, to_exception(*one));
        }
    }
    return exception;
}

void throw_in_php(const Error& error) noexcept {
    if (request.is_dying) {
        throw_exit(zend_create_unwind_exit());
        return;
    }
    zend_object* exception = to_exception(error);
    is_exit(exception) ? throw_exit(exception) : zend_throw_exception_internal(exception);
}

void Shown::add(const Error* error, std::uint32_t times) noexcept {
    if (zend_object* thrown = PhpError::thrown_by(error); thrown != nullptr && error->ref_count() == times) {
        add(thrown);
    }
}

bool check(const Status& status) noexcept {
    if (EXPECTED(status)) {
        return true;
    }
    throw_in_php(*status.error());
    return false;
}

bool has_arrived_slow(WaitResult result) noexcept {
    Ref<Error> error = Scheduler::take_wait_error();
    if (error == nullptr) {  // a deadline
        error = Error::make(ErrorCode::Timeout);
    }
    static_cast<void>(result);
    throw_in_php(*error);
    return false;
}

Ref<Error> make_cancellation(zend_object* given, const char* message) noexcept {
    return given != nullptr ? PhpError::share(given) : PhpError::adopt(make_exception(ce_async_cancellation, message));
}

}  // namespace trueasync::php
