#pragma once

/// Putting an own handler in place of one of the engine's.

#include "../zend.hpp"

#include <cstring>
#include <utility>

namespace trueasync::php {

/// Replaces the handler of a function (or of a method, in the table of its class). Returns the one before; null: there is no such function.
inline zif_handler replace_handler(HashTable* table, const char* name, zif_handler handler) noexcept {
    auto* function = static_cast<zend_function*>(zend_hash_str_find_ptr(table, name, std::strlen(name)));
    if (function == nullptr || function->type != ZEND_INTERNAL_FUNCTION) {
        return nullptr;
    }
    return std::exchange(function->internal_function.handler, handler);
}

}  // namespace trueasync::php
