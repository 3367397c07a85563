#include "uses.hpp"

#include "../classes/exceptions.hpp"
#include "../error.hpp"
#include "connection.hpp"
#include "ssh.hpp"

#include <algorithm>
#include <string>

namespace trueasync::php {

TA_PHP_THREAD_LOCAL std::unordered_map<const void*, PhpCoroutine*> users;
TA_PHP_THREAD_LOCAL std::vector<Inside> insides;
TA_PHP_THREAD_LOCAL IntrusiveList<DirectWait> turns;
TA_PHP_THREAD_LOCAL zend_object* default_link = nullptr;

namespace {

std::ptrdiff_t use_of(const zend_execute_data* call) noexcept {
    const zif_handler handler = call->func->internal_function.handler;
    return handler == take_write_turn ? 1 : handler == lock_noted ? 2 : 0;
}

const void* default_subject_of(const zend_execute_data* call) noexcept {
    const zend_internal_function& function = call->func->internal_function;
    const bool is_default = default_link != nullptr && function.module == pgsql && function.handler != open_kept &&
                            !zend_string_equals_literal(function.function_name, "pg_connect");
    return is_default ? connection_of(default_link) : nullptr;
}

/// A constructor may ask through the connection that it is given, before its object has it.
const void* subject_of_method(zend_execute_data* call) noexcept {
    zend_object* object = Z_OBJ(call->This);
    const void* connection = connection_of(object);
    if (EXPECTED(connection != object) || EXPECTED((call->func->common.fn_flags & ZEND_ACC_CTOR) == 0) ||
        ZEND_CALL_NUM_ARGS(call) == 0) {
        return connection;
    }
    const zval* given = ZEND_CALL_ARG(call, 1);
    ZVAL_DEREF(given);
    return Z_TYPE_P(given) == IS_OBJECT ? connection_of(Z_OBJ_P(given)) : connection;
}

/// `coroutine`, which does not run, has not come back from its call. Code of PHP may run inside it: an error handler.
bool is_still_inside(const PhpCoroutine& coroutine, const void* subject) noexcept {
    for (zend_execute_data* call = coroutine.vm.current_execute_data; call != nullptr; call = call->prev_execute_data) {
        if (is_guarded(call) && subject_of(call) == subject) {
            return true;
        }
    }
    return false;
}

/// Lies on the stack of the coroutine that waits.
class Turn final : public DirectWait {
public:
    explicit Turn(const void* subject) noexcept
        : DirectWait([](const WaitGuard&) {
              return std::string("another coroutine's call on the same stream or handle");
          }),
          subject_(subject) {}
    const void* subject() const noexcept { return subject_; }

private:
    const void* subject_;
};

/// Who waits for a turn is not inside yet.
bool is_awaiting(const PhpCoroutine& coroutine, const void* subject) noexcept {
    for (DirectWait& wait : turns) {
        if (wait.coroutine() == &coroutine && static_cast<Turn&>(wait).subject() == subject) {
            return true;
        }
    }
    return false;
}

/// The running coroutine itself has not come back from a call on `subject`; what it does now it does inside that.
bool is_inside_itself(const void* subject) noexcept {
    const PhpCoroutine* running = &PhpCoroutine::running();
    if (std::ranges::any_of(insides, [&](const Inside& one) { return one.subject == subject && one.who == running; })) {
        return true;
    }
    for (zend_execute_data* call = EG(current_execute_data)->prev_execute_data; call != nullptr;
         call = call->prev_execute_data) {
        if (is_guarded(call) && subject_of(call) == subject) {
            return true;
        }
    }
    return false;
}

TA_COLD void refuse(const char* use, const char* kind, const PhpCoroutine& other) noexcept {
    zend_throw_exception_ex(
        ce_async_exception, 0,
        "%s: this %s is in use. %s, has not come back from its own call. %s must not use it meanwhile: give each "
        "coroutine its "
        "own, take one from a pool, or await the other coroutine first",
        use, kind, other.info().c_str(), PhpCoroutine::running().info().c_str()
    );
}

bool is_awaited(const void* subject) noexcept {
    for (DirectWait& wait : turns) {
        if (static_cast<Turn&>(wait).subject() == subject) {
            return true;
        }
    }
    return false;
}

/// False: it threw.
TA_COLD bool await_turn(const void* subject) noexcept {
    if (is_inside_itself(subject)) {
        return true;
    }
    do {
        Turn turn(subject);
        turns.push_back(turn);
        const WaitResult result = turn.park();
        turn.ListNode<>::unlink();
        if (!has_arrived(result)) {
            if (turn.is_woken()) {
                wake_next(subject);
            }
            return false;
        }
    } while (other_user(subject) != nullptr);
    return true;
}

/// What it used before it uses no more.
void forget_use(PhpCoroutine& coroutine) noexcept {
    if (const void* subject = std::exchange(coroutine.in_use, nullptr)) {
        users.erase(subject);
        wake_next(subject);
    }
}

void note_user(const void* subject, PhpCoroutine& coroutine) noexcept {
    PhpCoroutine* former = std::exchange(users[subject], &coroutine);
    if (former != nullptr && former != &coroutine && former->in_use == subject) {
        former->in_use = nullptr;
    }
}

TA_COLD void forget_outer_uses(PhpCoroutine& coroutine) noexcept {
    for (const void* subject : std::exchange(coroutine.libraries->outer_uses, {})) {
        const auto found = users.find(subject);
        if (subject != coroutine.in_use && found != users.end() && found->second == &coroutine) {
            users.erase(found);
            wake_next(subject);
        }
    }
}

}  // namespace

const void* subject_of(zend_execute_data* call) noexcept {
    if (Z_TYPE(call->This) == IS_OBJECT) {
        return subject_of_method(call);
    }
    if (ZEND_CALL_NUM_ARGS(call) == 0) {
        return default_subject_of(call);
    }
    const zval* subject = ZEND_CALL_ARG(call, 1);
    ZVAL_DEREF(subject);
    switch (Z_TYPE_P(subject)) {
        case IS_OBJECT:
            return connection_of(Z_OBJ_P(subject));
        case IS_RESOURCE:
            if (ssh2 != nullptr && call->func->internal_function.module == ssh2) {
                return session_of(Z_RES_P(subject));
            }
            return reinterpret_cast<const std::byte*>(Z_RES_P(subject)) + use_of(call);
        default:
            return default_subject_of(call);
    }
}

bool is_guarded(const zend_execute_data* call) noexcept {
    if (call == nullptr || call->func == nullptr || call->func->type != ZEND_INTERNAL_FUNCTION) {
        return false;
    }
    const zif_handler handler = call->func->internal_function.handler;
    return handler == refuse_others || handler == take_turn || handler == take_write_turn || handler == lock_noted ||
           handler == open_kept;
}

PhpCoroutine* find_user(const void* subject) noexcept {
    const PhpCoroutine* running = &PhpCoroutine::running();
    if (const auto found = users.find(subject); found != users.end() && found->second != running &&
                                                is_still_inside(*found->second, subject) &&
                                                !is_awaiting(*found->second, subject)) {
        return found->second;
    }
    const auto inside =
        std::ranges::find_if(insides, [&](const Inside& one) { return one.subject == subject && one.who != running; });
    return inside != insides.end() ? inside->who : nullptr;
}

PhpCoroutine* other_user(const void* subject) noexcept {
    const bool is_alone = subject == nullptr || (PhpCoroutine::running().in_use == subject && insides.empty());
    return is_alone ? nullptr : find_user(subject);
}

void note_inside(const void* subject, bool is_aside) noexcept {
    insides.push_back({subject, &PhpCoroutine::running(), is_aside});
}

void forget_inside(const void* subject) noexcept {
    const auto own = std::ranges::find_if(insides, [&](const Inside& one) {
        return one.who == &PhpCoroutine::running() && one.subject == subject;
    });
    if (own != insides.end()) {
        insides.erase(own);
    }
}

bool has_use_aside() noexcept {
    return std::ranges::any_of(insides, [](const Inside& one) {
        return one.is_aside && one.who == &PhpCoroutine::running();
    });
}

void wake_next(const void* subject) noexcept {
    for (DirectWait& wait : turns) {
        if (static_cast<Turn&>(wait).subject() == subject) {
            if (!wait.is_woken()) {
                wait.wake();
            }
            return;
        }
    }
}

bool begin_turn(const void* subject) noexcept {
    const bool is_free = EXPECTED(other_user(subject) == nullptr) && (EXPECTED(turns.empty()) || !is_awaited(subject));
    return EXPECTED(is_free) || request.is_dying || await_turn(subject);
}

void refuse(const zend_execute_data* call, const PhpCoroutine& other) noexcept {
    const zval* subject = &call->This;
    if (Z_TYPE_P(subject) != IS_OBJECT && ZEND_CALL_NUM_ARGS(call) != 0) {
        subject = ZEND_CALL_ARG(call, 1);
        ZVAL_DEREF(subject);
    }
    const char* kind = Z_TYPE_P(subject) == IS_OBJECT     ? ZSTR_VAL(Z_OBJCE_P(subject)->name)
                       : Z_TYPE_P(subject) == IS_RESOURCE ? "resource"
                                                          : "connection";
    zend_string* function = get_active_function_or_method_name();
    refuse((std::string(ZSTR_VAL(function)) + "()").c_str(), kind, other);
    zend_string_release(function);
}

void note_use(PhpCoroutine& coroutine, zend_execute_data* call) noexcept {
    coroutine.used_by = nullptr;
    if (call == nullptr) {
        return;
    }
    if (!is_guarded(call)) {
        guard_module(call->func->internal_function.module);
        if (!is_guarded(call)) {
            return;
        }
    }
    const void* subject = subject_of(call);
    if (subject != nullptr && subject != coroutine.in_use) {
        forget_use(coroutine);
        coroutine.in_use = subject;
        note_user(subject, coroutine);
    }
    if (is_use_of(resource_of(call), subject)) {
        coroutine.used_by = call->func;
    }
}

void note_outer_uses(PhpCoroutine& coroutine) noexcept {
    if (coroutine.libraries != nullptr) {
        forget_outer_uses(coroutine);
    }
    zend_execute_data* innermost = EG(current_execute_data);
    bool is_inside = false;
    for (zend_execute_data* call = innermost; call != nullptr; call = call->prev_execute_data) {
        if (!is_guarded(call)) {
            continue;
        }
        is_inside = true;
        const void* subject = call != innermost ? subject_of(call) : nullptr;  // the innermost is noted when it waits
        if (subject == nullptr || subject == coroutine.in_use || is_awaiting(coroutine, subject)) {
            continue;
        }
        coroutine.make_libraries().outer_uses.push_back(subject);
        note_user(subject, coroutine);
    }
    coroutine.may_be_nested = is_inside;
    if (!is_inside) {
        forget_use(coroutine);
    }
}

void end_use(PhpCoroutine& coroutine) noexcept {
    forget_use(coroutine);
    if (UNEXPECTED(coroutine.libraries != nullptr)) {
        forget_outer_uses(coroutine);
    }
    if (UNEXPECTED(!insides.empty())) {  // left behind by one that did not come back from its call
        std::erase_if(insides, [&](const Inside& one) { return one.who == &coroutine; });
    }
}

UseAside::UseAside(const void* connection) noexcept : connection_(is_watching() ? connection : nullptr) {
    if (connection_ != nullptr) {
        note_inside(connection_, true);
    }
}

UseAside::~UseAside() {
    if (connection_ != nullptr) {
        forget_inside(connection_);
        end_turn(connection_);
    }
}

bool is_used_by_others(const void* connection) noexcept {
    return request.runtime != nullptr && find_user(connection) != nullptr;
}

bool refuse_aside(const void* connection, zend_object* object, const char* use) noexcept {
    const PhpCoroutine* other = UNEXPECTED(may_look()) ? other_user(connection) : nullptr;
    if (other != nullptr) {
        refuse(use, ZSTR_VAL(object->ce->name), *other);
    }
    return other == nullptr;
}

void await_unused(const void* connection) noexcept {
    if (UNEXPECTED(may_look() && find_user(connection) != nullptr)) {
        const ProtectGuard protect;
        static_cast<void>(begin_turn(connection));
    }
}

bool is_inside_own(const void* connection) noexcept {
    const zend_execute_data* call = EG(current_execute_data);
    return call != nullptr &&
           ((is_guarded(call) && subject_of(EG(current_execute_data)) == connection) || is_inside_itself(connection));
}

}  // namespace trueasync::php
