#include "imap.hpp"

#include "request.hpp"
#include "uses.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <trueasync/runtime/wait.hpp>
#include <utility>

namespace trueasync::php {

namespace {

const zend_module_entry* imap = nullptr;
std::map<std::string, zif_handler, std::less<>> before;  // by name: opcache moves the strings of functions

bool may_wait() noexcept { return is_watching() && !request.is_dying; }

/// A call that is cancelled closes its connection: it is noted as a use of one.
template <typename Call>
void call_inside(Call&& call) {
    note_inside(imap, true);
    call();
    forget_inside(imap);
    end_turn(imap);
}

ZEND_NAMED_FUNCTION(call_alone) {
    const zif_handler function =
        before.find(std::string_view(ZSTR_VAL(execute_data->func->common.function_name)))->second;
    if (!may_wait()) {
        function(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    } else if (begin_turn(imap)) {
        call_inside([&] { function(INTERNAL_FUNCTION_PARAM_PASSTHRU); });
    }
}

// --- a connection that is freed takes leave of its server

zend_object* (*create_before)(zend_class_entry*) = nullptr;
zend_object_free_obj_t free_before = nullptr;
zend_object_handlers handlers;

void free_alone(zend_object* object) {
    if (!may_wait()) {
        free_before(object);
        return;
    }
    {
        const ProtectGuard protect;  // nobody else will free it
        if (begin_turn(imap)) {
            call_inside([&] { free_before(object); });
            return;
        }
    }
    free_before(object);
}

zend_object* create(zend_class_entry* ce) {
    zend_object* object = create_before(ce);
    if (free_before == nullptr) {
        handlers = *object->handlers;
        free_before = std::exchange(handlers.free_obj, free_alone);
    }
    object->handlers = &handlers;
    return object;
}

zend_result (*post_startup_before)() = nullptr;

zend_result guard_imap() {
    imap = static_cast<const zend_module_entry*>(zend_hash_str_find_ptr(&module_registry, ZEND_STRL("imap")));
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(CG(function_table), each) {
        zend_internal_function& function = static_cast<zend_function*>(Z_PTR_P(each))->internal_function;
        if (imap != nullptr && function.type == ZEND_INTERNAL_FUNCTION && function.module == imap) {
            before.emplace(ZSTR_VAL(function.function_name), std::exchange(function.handler, call_alone));
        }
    }
    ZEND_HASH_FOREACH_END();
    auto* ce = static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("imap\\connection")));
    if (imap != nullptr && ce != nullptr && ce->create_object != nullptr) {
        create_before = std::exchange(ce->create_object, create);
    }
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

}  // namespace

void imap_minit() noexcept { post_startup_before = std::exchange(zend_post_startup_cb, guard_imap); }

}  // namespace trueasync::php
