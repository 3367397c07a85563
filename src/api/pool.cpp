#include <trueasync/api/pool.hpp>

#include <trueasync/event/report_sink.hpp>

namespace trueasync::detail {

void check_pool(const Status& status) {
    if (!status && status.error()->previous() != nullptr) {
        throw AsyncError(*status.error());
    }
    check(status);
}

void report_pool(const Event& pool, const Status& status) noexcept {
    if (!status && !status.error()->is_cancellation()) {
        report_sink().unhandled_error(&pool, *status.error());
    }
}

}  // namespace trueasync::detail
