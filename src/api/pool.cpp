#include <trueasync/api/pool.hpp>

namespace trueasync::detail {

void check_pool(const Status& status) {
    if (!status && status.error()->previous() != nullptr) {
        throw AsyncError(*status.error());
    }
    check(status);
}

}  // namespace trueasync::detail
