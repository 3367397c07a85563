#include <trueasync/api/semaphore.hpp>

namespace trueasync::detail {

std::size_t checked_permits(std::size_t permits) {
    if (permits == 0) {
        throw_error(Error::make(ErrorCode::InvalidArgument, "a semaphore must have at least one permit"));
    }
    return permits;
}

}  // namespace trueasync::detail
