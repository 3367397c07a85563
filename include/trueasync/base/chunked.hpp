#pragma once

/// @file trueasync/base/chunked.hpp
/// Room for elements that never move.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace trueasync {

/// Uninitialised room for elements 0, 1, 2, ...; the user says how many, constructs and destroys them. Chunks double in size, so there
/// are few, and an address stays what it is.
template <typename T>
class Chunked {
public:
    T* at(std::uint32_t index) noexcept {
        const std::uint32_t shifted = index + kFirst;
        const auto chunk = static_cast<std::uint32_t>(std::bit_width(shifted)) - kFirstBits;
        return reinterpret_cast<T*>(chunks_[chunk].get()) + (shifted - (kFirst << chunk));
    }
    const T* at(std::uint32_t index) const noexcept { return const_cast<Chunked*>(this)->at(index); }

    /// Makes room for one element behind `count`.
    void grow(std::uint32_t count) {
        const std::uint32_t shifted = count + kFirst;
        if (std::has_single_bit(shifted)) {
            const auto chunk = static_cast<std::uint32_t>(std::bit_width(shifted)) - kFirstBits;
            if (chunks_[chunk] == nullptr) {
                chunks_[chunk] = std::make_unique_for_overwrite<Room[]>(std::size_t{kFirst} << chunk);
            }
        }
    }

private:
    struct alignas(T) Room {
        std::byte bytes[sizeof(T)];
    };
    static constexpr std::uint32_t kFirst = 8;
    static constexpr std::uint32_t kFirstBits = 4;  // bit_width(kFirst)
    static constexpr std::size_t kChunks = 28;

    std::unique_ptr<Room[]> chunks_[kChunks];
};

}  // namespace trueasync
