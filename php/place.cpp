#include "place.hpp"

namespace trueasync::php {

Place place_of(const zend_execute_data* frame) noexcept {
    frame = user_frame(frame);
    if (frame == nullptr) {
        return {};
    }
    const zend_string* file = frame->func->op_array.filename;
    return {std::string_view(ZSTR_VAL(file), ZSTR_LEN(file)), frame->opline->lineno};
}

Place place_here(Value& file) noexcept {
    const zend_execute_data* frame = user_frame(EG(current_execute_data));
    if (frame != nullptr) {
        zval text;
        ZVAL_STR(&text, frame->func->op_array.filename);
        file = Value(&text);
    }
    return place_of(frame);
}

void return_place(const Place& place, zval* return_value) noexcept {
    array_init_size(return_value, 2);
    if (place.is_known()) {
        add_next_index_stringl(return_value, place.file.data(), place.file.size());
    } else {
        add_next_index_null(return_value);
    }
    add_next_index_long(return_value, place.line);
}

void return_location(const Place& place, zval* return_value) noexcept {
    const std::string text = to_string(place);
    ZVAL_STRINGL(return_value, text.data(), text.size());
}

}  // namespace trueasync::php
