#include "mentions.hpp"

#include "../zend.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace trueasync::php {

namespace {

struct Search {
    bool is_found = false;
    std::uint32_t files = 0;  // how many had been included at the last look
    std::uint32_t functions = 0;
    std::uint32_t classes = 0;
};
TA_PHP_THREAD_LOCAL Search search;

bool is_word(const zval& literal) noexcept {
    if (Z_TYPE(literal) != IS_STRING || Z_STRLEN(literal) <= 6) {
        return false;
    }
    const std::string_view text(Z_STRVAL(literal), Z_STRLEN(literal));
    return text == "getcoroutine" || text.starts_with("async\\") || text.starts_with("Async\\");
}

bool has_words(const zend_op_array& code) noexcept {
    return std::any_of(code.literals, code.literals + code.last_literal, is_word) ||
           std::any_of(
               code.dynamic_func_defs, code.dynamic_func_defs + code.num_dynamic_func_defs,
               [](const zend_op_array* inner) { return has_words(*inner); }
           );
}

bool has_words(const zend_function& function) noexcept {
    return function.type == ZEND_USER_FUNCTION && has_words(function.op_array);
}

/// Of those from number `begin` on, which is moved to the end.
template <typename Test>
bool is_any(const HashTable* table, std::uint32_t& begin, Test&& test) noexcept {
    bool is_found = false;
    for (; begin < table->nNumUsed && !is_found; ++begin) {
        const zval& value = table->arData[begin].val;
        is_found = Z_TYPE(value) != IS_UNDEF && test(Z_PTR(value));
    }
    return is_found;
}

bool is_in_functions() noexcept {
    return is_any(EG(function_table), search.functions, [](void* function) {
        return has_words(*static_cast<zend_function*>(function));
    });
}

bool is_in_classes() noexcept {
    return is_any(EG(class_table), search.classes, [](void* found) {
        const auto& ce = *static_cast<zend_class_entry*>(found);
        std::uint32_t first = 0;
        return ce.type == ZEND_USER_CLASS && is_any(&ce.function_table, first, [](void* method) {
                   return has_words(*static_cast<zend_function*>(method));
               });
    });
}

/// Code outside of functions is known to nobody but its frame.
bool is_in_frames() noexcept {
    for (const zend_execute_data* frame = EG(current_execute_data); frame != nullptr;
         frame = frame->prev_execute_data) {
        if (frame->func != nullptr && has_words(*frame->func)) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool mentions_async() noexcept {
    const std::uint32_t files = zend_hash_num_elements(&EG(included_files)) + 1;
    if (!search.is_found && search.files != files) {
        search.files = files;
        search.is_found = is_in_frames() || is_in_functions() || is_in_classes();
    }
    return search.is_found;
}

void mentions_request_begin() noexcept { search = {}; }

}  // namespace trueasync::php
