#pragma once

/// The tables through which the objects of a process call each other's functions.

#include <cstddef>
#include <span>
#include <string_view>

namespace trueasync::hooked {

/// A function that is replaced.
struct Replacement {
    const char* name;
    void* original;
    void* hook;
};

struct RewriteCounts {
    std::size_t objects = 0;
    std::size_t slots = 0;
    std::size_t refused = 0;
};

/// What an object of that path is to call in place of the originals; empty: it is left alone.
using Choice = std::span<const Replacement> (*)(std::string_view path);

/// Lets every loaded object call the hooks chosen for it, except the one that this code is in. What calls them already is not counted.
/// False: this system or processor is not known, or the calls of the object that `host` lies in do not reach the hooks.
bool rewrite_objects(Choice choose, RewriteCounts& counts, const void* host = nullptr) noexcept;

/// The same for the one object that `code` lies in. False: none of its calls reach the hooks, or not all.
bool rewrite_object(
    const void* code, std::span<const Replacement> replacements, bool (*is_left_out)(std::string_view path)
) noexcept;

/// True if objects have come or gone since the last call.
bool have_objects_changed() noexcept;

}  // namespace trueasync::hooked
