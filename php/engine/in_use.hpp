#pragma once

/// While a coroutine waits inside a function of an extension, what the function works on is in the middle of something: another coroutine
/// that used it would mix up a protocol or a buffer. A connection refuses the other, reads of a stream take turns, and who closes one lets the
/// others leave first.

#include "../zend.hpp"

#include <cstdint>
#include <trueasync/base/export.hpp>

namespace trueasync::php {

class PhpCoroutine;

/// `coroutine`, which runs, is about to suspend, perhaps inside such a function: `call`, null if the innermost
/// one is no such function.
void note_use(PhpCoroutine& coroutine, zend_execute_data* call) noexcept;

/// The same for calls further out: code of PHP that the innermost of them has called is about to suspend.
TA_COLD void note_outer_uses(PhpCoroutine& coroutine) noexcept;

/// It is over.
void end_use(PhpCoroutine& coroutine) noexcept;

/// What `call` waits for was cut off: its library goes on to use the connection as if nothing had been asked.
bool keeps_connection(zend_execute_data* call) noexcept;

/// `call` is about to close the stream: whoever is inside another call on it leaves first. May suspend. False: it threw.
bool let_others_leave(const zend_resource* resource, const zend_execute_data* call) noexcept;

/// Uses of a connection that are no calls, by the running coroutine. Noted as long as this lives.
class UseAside {
public:
    explicit UseAside(const void* connection) noexcept;
    UseAside(const UseAside&) = delete;
    UseAside& operator=(const UseAside&) = delete;
    ~UseAside();

private:
    const void* connection_;
};

/// Somebody else is inside a call on it.
bool is_used_by_others(const void* connection) noexcept;
/// If so, an exception says so. False: it threw.
bool refuse_aside(const void* connection, zend_object* object, const char* use) noexcept;
/// Waits until nobody is, whether it is cancelled or not.
void await_unused(const void* connection) noexcept;
/// The running coroutine is inside one itself.
bool is_inside_own(const void* connection) noexcept;

/// From now on others are refused while `function` works on a connection: one that is in no table.
void guard_method(zend_function* function, zend_module_entry* module) noexcept;

/// While one lives others find the running coroutine inside `call`, also while code of PHP that the call runs waits for something else.
class InsideCall {
public:
    explicit InsideCall(zend_execute_data* call) noexcept;
    InsideCall(const InsideCall&) = delete;
    InsideCall& operator=(const InsideCall&) = delete;
    ~InsideCall();

private:
    const void* subject_;
};

/// Waits until nobody else is inside a call on what `call` works on. May suspend. False: it threw.
bool await_others(zend_execute_data* call) noexcept;

inline int stream_types[2];  // of resources

/// The first (or another) argument of a function; null if that is no resource.
TA_INLINE zend_resource* resource_of(zend_execute_data* call, std::uint32_t number = 1) noexcept {
    if (UNEXPECTED(ZEND_CALL_NUM_ARGS(call) < number)) {
        return nullptr;
    }
    const zval* argument = ZEND_CALL_ARG(call, number);
    ZVAL_DEREF(argument);
    return Z_TYPE_P(argument) == IS_RESOURCE ? Z_RES_P(argument) : nullptr;
}

/// Whether what is in use is this resource, in one of its uses; never with null.
TA_INLINE bool is_use_of(const zend_resource* resource, const void* in_use) noexcept {
    constexpr std::uintptr_t kUses = 7;
    return resource != nullptr &&
           reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(in_use) & ~kUses) == resource;
}

/// The stream that is the first argument of a function; null if it is none.
TA_INLINE php_stream* stream_of(const zend_resource* resource) noexcept {
    const bool is_stream =
        resource != nullptr && (resource->type == stream_types[0] || resource->type == stream_types[1]);
    return is_stream ? static_cast<php_stream*>(resource->ptr) : nullptr;
}
TA_INLINE php_stream* stream_of(zend_execute_data* call) noexcept { return stream_of(resource_of(call)); }

void in_use_minit();
void in_use_request_end();

}  // namespace trueasync::php
