#include <trueasync/api/barrier.hpp>

namespace trueasync::detail {

std::size_t checked_parties(std::size_t parties) {
    if (parties == 0) {
        throw_error(Error::make(ErrorCode::InvalidArgument, "a barrier must have at least one party"));
    }
    return parties;
}

}  // namespace trueasync::detail
