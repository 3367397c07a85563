#include <trueasync/api/pool.hpp>

namespace trueasync::detail {

void check_pool(const Status& status) {
    if (status || status.error()->previous() == nullptr) {
        check(status);
        return;
    }
    for (const Error* error = status.error(); error != nullptr; error = error->previous()) {
        if (error->is_cancellation()) {  // goes before all others, which it brings along
            throw Cancellation(Error::cancellation(error->reason(), error->message(), Ref<Error>(status.error())));
        }
    }
    throw AsyncError(*status.error());
}

}  // namespace trueasync::detail
