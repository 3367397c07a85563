#include "transfer.hpp"

#include "classes/thread.hpp"

#include <unordered_map>

namespace trueasync::php {

namespace {

class Transfer {
public:
    bool run(zval* source, zval* target) noexcept {
        const bool is_done = copy(source, target);
        if (is_done) {
            for (const auto& [from, made] : copies_) {
                GC_DEL_FLAGS(made, IS_OBJ_DESTRUCTOR_CALLED);
            }
        }
        return is_done;
    }

private:
    bool copy(zval* source, zval* target) noexcept {
        ZVAL_UNDEF(target);
        switch (Z_TYPE_P(source)) {
            case IS_REFERENCE:
                return Z_REFCOUNT_P(source) == 1 ? copy(Z_REFVAL_P(source), target)
                                                 : refuse("Cannot transfer a PHP reference between threads");
            case IS_ARRAY:
                return deeper([&] { return copy_array(source, target); });
            case IS_OBJECT:
                return deeper([&] { return copy_object(Z_OBJ_P(source), target); });
            case IS_RESOURCE:
                return refuse("Cannot transfer a resource between threads");
            default:
                ZVAL_COPY(target, source);
                return true;
        }
    }

    static constexpr int kDeepest = 512;

    static bool refuse(const char* why) noexcept {
        zend_throw_error(nullptr, "%s", why);
        return false;
    }

    template <typename Step>
    bool deeper(Step&& step) noexcept {
        if (depth_ == kDeepest) {
            return refuse("Cannot transfer a value that is nested deeper than 512 levels between threads");
        }
        ++depth_;
        const bool is_done = step();
        --depth_;
        return is_done;
    }

    bool copy_array(zval* source, zval* target) noexcept {
        if ((GC_FLAGS(Z_ARRVAL_P(source)) & GC_IMMUTABLE) != 0) {
            ZVAL_COPY_VALUE(target, source);
            return true;
        }
        array_init_size(target, zend_hash_num_elements(Z_ARRVAL_P(source)));
        zend_ulong number = 0;
        zend_string* name = nullptr;
        zval* element = nullptr;
        ZEND_HASH_FOREACH_KEY_VAL(Z_ARRVAL_P(source), number, name, element) {
            zval inner;
            if (!copy(element, &inner)) {
                zval_ptr_dtor(&inner);
                return false;
            }
            if (name != nullptr) {
                zend_hash_add_new(Z_ARRVAL_P(target), name, &inner);
            } else {
                zend_hash_index_add_new(Z_ARRVAL_P(target), number, &inner);
            }
        }
        ZEND_HASH_FOREACH_END();
        Z_ARRVAL_P(target)->nNextFreeElement = Z_ARRVAL_P(source)->nNextFreeElement;
        return true;
    }

    bool copy_object(zend_object* source, zval* target) noexcept {
        if (const auto found = copies_.find(source); found != copies_.end()) {
            ZVAL_OBJ_COPY(target, found->second);
            return true;
        }
        if ((source->ce->ce_flags & ZEND_ACC_ENUM) != 0 || is_shared_between_threads(source)) {
            ZVAL_OBJ_COPY(target, source);
            return true;
        }
        if (source->ce == zend_ce_closure) {
            return copy_closure(source, target);
        }
        // Objects with more in them than their properties know themselves how they are copied; nobody has asked them.
        if (source->handlers->offset != 0 || (source->ce->create_object != nullptr && !is_throwable(source))) {
            zend_throw_error(
                nullptr, "Cannot transfer an object of class %s between threads", ZSTR_VAL(source->ce->name)
            );
            return false;
        }
        if (has_dynamic_properties(source)) {
            return refuse("Cannot transfer object with dynamic properties between threads");
        }
        object_init_ex(target, source->ce);
        zend_object* made = Z_OBJ_P(target);
        GC_ADD_FLAGS(made, IS_OBJ_DESTRUCTOR_CALLED);  // until all is copied
        copies_.emplace(source, made);
        for (int i = 0; i < source->ce->default_properties_count; ++i) {
            zval* slot = OBJ_PROP_NUM(made, i);
            const std::uint32_t flags = Z_PROP_FLAG_P(OBJ_PROP_NUM(source, i));
            zval inner;
            if (!copy(OBJ_PROP_NUM(source, i), &inner)) {
                zval_ptr_dtor(&inner);
                return false;
            }
            zval_ptr_dtor(slot);
            ZVAL_COPY_VALUE(slot, &inner);
            Z_PROP_FLAG_P(slot) = flags;
        }
        return true;
    }

    static bool is_throwable(const zend_object* object) noexcept {
        return instanceof_function(object->ce, zend_ce_throwable);
    }

    static bool has_dynamic_properties(zend_object* object) noexcept {
        if (object->properties == nullptr) {
            return false;
        }
        zval* property = nullptr;
        ZEND_HASH_FOREACH_VAL(object->properties, property) {
            if (Z_TYPE_P(property) != IS_INDIRECT) {
                return true;
            }
        }
        ZEND_HASH_FOREACH_END();
        return false;
    }

    /// A variable of the outer function, not one of its own.
    static bool captures_by_reference(const zend_op_array& code) noexcept {
        for (const zend_op* op = code.opcodes; op != code.opcodes + code.last; ++op) {
            constexpr std::uint32_t kBoth = ZEND_BIND_REF | ZEND_BIND_EXPLICIT;
            if (op->opcode == ZEND_BIND_STATIC && (op->extended_value & kBoth) == kBoth) {
                return true;
            }
        }
        return false;
    }

    bool copy_closure(zend_object* source, zval* target) noexcept {
        zend_class_entry* called_scope = nullptr;
        zend_function* function = nullptr;
        zend_object* self = nullptr;
        source->handlers->get_closure(source, &called_scope, &function, &self, true);
        if (function->type == ZEND_USER_FUNCTION && captures_by_reference(function->op_array)) {
            return refuse("Cannot transfer a PHP reference between threads");
        }
        zval bound;
        ZVAL_UNDEF(&bound);
        if (self != nullptr && !copy_object(self, &bound)) {
            zval_ptr_dtor(&bound);
            return false;
        }
        zend_create_closure(target, function, function->common.scope, called_scope, self != nullptr ? &bound : nullptr);
        zval_ptr_dtor(&bound);
        copies_.emplace(source, Z_OBJ_P(target));
        zend_function* copied = nullptr;
        Z_OBJ_P(target)->handlers->get_closure(Z_OBJ_P(target), &called_scope, &copied, &self, true);
        return copied->type != ZEND_USER_FUNCTION || copy_variables(copied->op_array);
    }

    /// What it has captured, and its static variables, which go on from where they are.
    bool copy_variables(const zend_op_array& code) noexcept {
        auto* variables = static_cast<HashTable*>(ZEND_MAP_PTR_GET(code.static_variables_ptr));
        if (variables == nullptr) {
            return true;
        }
        zval* variable = nullptr;
        ZEND_HASH_FOREACH_VAL(variables, variable) {
            zval* value = variable;
            ZVAL_DEREF(value);  // static ones are references
            zval inner;
            if (!copy(value, &inner)) {
                zval_ptr_dtor(&inner);
                return false;
            }
            zval_ptr_dtor(variable);
            ZVAL_COPY_VALUE(variable, &inner);
        }
        ZEND_HASH_FOREACH_END();
        return true;
    }

    std::unordered_map<zend_object*, zend_object*> copies_;
    int depth_ = 0;
};

}  // namespace

bool transfer(zval* source, Value& copy) noexcept {
    ZVAL_DEREF(source);
    if (Transfer().run(source, copy.get())) {
        return true;
    }
    copy.reset();
    return false;
}

}  // namespace trueasync::php
