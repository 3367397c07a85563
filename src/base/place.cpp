#include <trueasync/base/place.hpp>

namespace trueasync {

std::string to_string(const Place& place) {
    if (!place.is_known()) {
        return "unknown";
    }
    return std::string(place.file) + ":" + std::to_string(place.line);
}

}  // namespace trueasync
