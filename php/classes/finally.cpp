#include "finally.hpp"

#include "../engine/request.hpp"
#include "../per_thread.hpp"

namespace trueasync::php {

namespace {

TA_PHP_THREAD_LOCAL PerThread<FinallyList> owed;

}  // namespace

void PhpFinally::abandoned() noexcept {
    if (!is_owed_) {
        return;
    }
    if (subject_ != nullptr) {
        argument = Value::adopt(subject_());
    }
    auto later = std::make_unique<PhpFinally>(std::move(callable), std::move(argument), Subject());
    later->set_owed();
    owed->add(std::move(later));
}

Ref<Error> PhpFinally::call() {
    if (UNEXPECTED(is_cut_short())) {
        abandoned();
        return {};
    }
    if (subject_ != nullptr) {
        argument = Value::adopt(subject_());
    }
    zval result;
    const bool is_well = callable.call(&result, 1, argument.get());
    zval_ptr_dtor(&result);
    callable.reset();
    argument.reset();
    return is_well ? Ref<Error>() : take_exception();
}

std::unique_ptr<PhpFinally> make_finally(zval* closure, zend_object* held, PhpFinally::Subject subject) {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    zend_fcall_info_init(closure, 0, &call, &cache, nullptr, nullptr);
    Value argument;
    if (held != nullptr) {
        GC_ADDREF(held);
        argument = Value::adopt(held);
    }
    return std::make_unique<PhpFinally>(Callable(call, cache), std::move(argument), std::move(subject));
}

void call_finally_now(FinallyHandler& handler) noexcept {
    if (const Ref<Error> error = handler.call()) {
        throw_in_php(*error);
    }
}

void start_owed_finally() noexcept {
    owed->run(false, Place(), [](const Ref<Error>& error) { note_uncaught(*error); });
}

bool has_owed_finally() noexcept { return !owed->empty(); }

}  // namespace trueasync::php
