#include "finally.hpp"

namespace trueasync::php {

std::unique_ptr<FinallyHandler> make_finally(zval* closure, zend_object* held, PhpFinally::Subject subject) {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    zend_fcall_info_init(closure, 0, &call, &cache, nullptr, nullptr);
    return std::make_unique<PhpFinally>(Callable(call, cache), held, std::move(subject));
}

void call_finally_now(FinallyHandler& handler) noexcept {
    if (const Ref<Error> error = handler.call()) {
        throw_in_php(*error);
    }
}

}  // namespace trueasync::php
