/// `Async\signal()`.

#include "classes/awaitable.hpp"
#include "classes/exceptions.hpp"
#include "classes/future.hpp"
#include "engine/request.hpp"
#include "error.hpp"

#include <trueasync/sync/signal_feed.hpp>

using namespace trueasync;
using namespace trueasync::php;

namespace {

/// Completed with the case of `Async\Signal`.
class SignalFuture final : public SignalFutureOf<PhpFuture> {
public:
    explicit SignalFuture(zend_object* signal) { ZVAL_OBJ_COPY(case_.get(), signal); }

protected:
    void complete_with(int /*number*/) noexcept override { complete(std::move(case_)).ignore(); }
    Ref<Error> make_token_cancellation() noexcept override {
        return make_cancellation(nullptr, "Signal wait cancelled");
    }

private:
    Value case_;
};

}  // namespace

ZEND_FUNCTION(Async_signal) {
    zend_object* signal = nullptr;
    zend_object* token = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_OBJ_OF_CLASS(signal, ce_signal)
    Z_PARAM_OPTIONAL
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, ce_completable)
    ZEND_PARSE_PARAMETERS_END();
    if (!start()) {
        return;
    }
    Event* end = nullptr;
    if (token != nullptr) {
        end = event_of(token);
        if (end == nullptr) {
            return;
        }
        end->mark_result_used();
    }
    const auto number = static_cast<int>(Z_LVAL_P(zend_enum_fetch_case_value(signal)));
    auto future = make_ref<SignalFuture>(signal);
    if (const Status status = future->arm(request.runtime->reactor(), number, end); !status) {
        future->ignore();
        zend_throw_exception(ce_async_exception, status.error()->message().c_str(), 0);
        return;
    }
    RETURN_OBJ(make_future(std::move(future)));
}
