#include <trueasync/base/place.hpp>

#include <new>

namespace trueasync {

PlaceNote::PlaceNote(const Place& place) noexcept {
    if (Place* own = place.is_known() ? new (std::nothrow) Place(place) : nullptr) {
        word_ = reinterpret_cast<std::uintptr_t>(own) | kOwn;
    }
}

Place PlaceNote::get() const noexcept {
    if (is_own()) {
        return *reinterpret_cast<const Place*>(word_ & ~kOwn);
    }
    const auto where = std::bit_cast<std::source_location>(word_);
    return where.line() != 0 ? Place(where) : Place();
}

void PlaceNote::drop() noexcept { delete reinterpret_cast<Place*>(word_ & ~kOwn); }

std::string to_string(const Place& place) {
    if (!place.is_known()) {
        return "unknown";
    }
    return std::string(place.file) + ":" + std::to_string(place.line);
}

}  // namespace trueasync
