#include <trueasync/api/future.hpp>

namespace trueasync::detail {

std::exception_ptr to_exception(const Ref<Error>& error) noexcept {
    try {
        throw_error(error);
    } catch (...) {
        return std::current_exception();
    }
}

}  // namespace trueasync::detail
