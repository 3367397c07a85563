#include "transfer.hpp"

#include "classes/future.hpp"
#include "classes/thread.hpp"

#include <zend_weakrefs.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace trueasync::php {

namespace {

bool has_dynamic_properties(zend_object* object) noexcept {
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

/// A closure, opened.
struct ClosureParts {
    explicit ClosureParts(zend_object* closure) noexcept {
        closure->handlers->get_closure(closure, &called_scope, &function, &self, true);
    }
    bool is_user() const noexcept { return function->type == ZEND_USER_FUNCTION; }
    /// What it has captured, and its static variables; may be null.
    HashTable* variables() const noexcept {
        return is_user() ? static_cast<HashTable*>(ZEND_MAP_PTR_GET(function->op_array.static_variables_ptr)) : nullptr;
    }

    zend_class_entry* called_scope = nullptr;
    zend_function* function = nullptr;
    zend_object* self = nullptr;
};

/// The engine does not export it.
zend_class_entry* weak_map_class() noexcept {
    static auto* const ce =
        static_cast<zend_class_entry*>(zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("weakmap")));
    return ce;
}

zend_object* referent_of(zend_object* reference) noexcept {
    zval referent;
    zend_call_known_instance_method_with_0_params(
        static_cast<zend_function*>(zend_hash_str_find_ptr(&zend_ce_weakref->function_table, ZEND_STRL("get"))),
        reference, &referent
    );
    if (Z_TYPE(referent) != IS_OBJECT) {
        return nullptr;
    }
    Z_DELREF(referent);  // somebody else has it, or there would be none
    return Z_OBJ(referent);
}

/// Calls `step(key, value)` for each entry until it says false.
template <typename Step>
bool each_entry(zend_object* weak_map, Step&& step) noexcept {
    zval map;
    ZVAL_OBJ(&map, weak_map);
    zend_object_iterator* entries = weak_map->ce->get_iterator(weak_map->ce, &map, 0);
    bool is_well = true;
    for (entries->funcs->rewind(entries); is_well && entries->funcs->valid(entries) == SUCCESS;
         entries->funcs->move_forward(entries)) {
        zval key;
        entries->funcs->get_current_key(entries, &key);
        zval* value = entries->funcs->get_current_data(entries);
        ZVAL_DEREF(value);
        is_well = step(Z_OBJ(key), value);
        zval_ptr_dtor(&key);
    }
    zend_iterator_dtor(entries);
    return is_well;
}

/// The objects that a value holds, as far as they are copied: not those that only weak references and keys of weak maps know.
class Reach {
public:
    explicit Reach(zval* root) noexcept {
        walk(root);
        for (bool is_more = true; is_more;) {
            is_more = false;
            for (std::size_t i = 0; i < maps_.size(); ++i) {
                each_entry(maps_[i], [&](zend_object* key, zval* value) {
                    if (contains(key) && values_.insert(value).second) {
                        is_more = true;
                        walk(value);
                    }
                    return true;
                });
            }
        }
    }
    bool contains(zend_object* object) const noexcept { return objects_.contains(object); }

private:
    void walk(zval* root) noexcept {
        std::vector<zval*> left{root};
        while (!left.empty()) {
            zval* value = left.back();
            left.pop_back();
            ZVAL_DEREF(value);
            if (Z_TYPE_P(value) == IS_ARRAY) {
                add_all(Z_ARRVAL_P(value), left);
            } else if (Z_TYPE_P(value) == IS_OBJECT && objects_.insert(Z_OBJ_P(value)).second) {
                add_parts(Z_OBJ_P(value), left);
            }
        }
    }

    void add_parts(zend_object* object, std::vector<zval*>& left) noexcept {
        if (object->ce == zend_ce_closure) {
            const ClosureParts parts(object);
            if (HashTable* variables = parts.variables()) {
                add_all(variables, left);
            }
            if (parts.self != nullptr && objects_.insert(parts.self).second) {
                add_parts(parts.self, left);
            }
        } else if (object->ce == weak_map_class()) {
            maps_.push_back(object);
        } else {
            for (int i = 0; i < object->ce->default_properties_count; ++i) {
                left.push_back(OBJ_PROP_NUM(object, i));
            }
        }
    }

    static void add_all(HashTable* table, std::vector<zval*>& left) noexcept {
        zval* value = nullptr;
        ZEND_HASH_FOREACH_VAL(table, value) { left.push_back(value); }
        ZEND_HASH_FOREACH_END();
    }

    std::unordered_set<zend_object*> objects_;
    std::unordered_set<zval*> values_;  // of maps, that were walked
    std::vector<zend_object*> maps_;
};

class Transfer {
public:
    explicit Transfer(zval* root) noexcept : root_(root) {}

    bool run(zval* target) noexcept {
        const bool is_done = copy(root_, target);
        if (is_done) {
            for (const auto& [from, made] : copies_) {
                GC_DEL_FLAGS(made, IS_OBJ_DESTRUCTOR_CALLED);
            }
        } else {
            for (zend_object* state : given_states_) {
                take_back_future_state(state);
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
        if (source->ce == zend_ce_weakref) {
            return copy_weak_reference(source, target);
        }
        if (source->ce == weak_map_class()) {
            return copy_weak_map(source, target);
        }
        if (source->ce == ce_future_state) {
            return move_future_state(source, target);
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

    /// A declaration in its code, which another thread could not repeat; null: there is none.
    static const zend_op* declaration_in(const zend_op_array& code) noexcept {
        for (const zend_op* op = code.opcodes; op != code.opcodes + code.last; ++op) {
            if (op->opcode == ZEND_DECLARE_CLASS || op->opcode == ZEND_DECLARE_CLASS_DELAYED ||
                op->opcode == ZEND_DECLARE_ANON_CLASS || op->opcode == ZEND_DECLARE_FUNCTION) {
                return op;
            }
        }
        for (std::uint32_t i = 0; i < code.num_dynamic_func_defs; ++i) {
            if (const zend_op* found = declaration_in(*code.dynamic_func_defs[i])) {
                return found;
            }
        }
        return nullptr;
    }

    static bool refuse_closure(const zend_op_array& code, const char* why, std::uint32_t line) noexcept {
        zend_throw_error(
            nullptr, "Cannot transfer closure to another thread: %s at %s:%u", why, ZSTR_VAL(code.filename), line
        );
        return false;
    }

    static bool may_pass(const zend_function& function) noexcept {
        if (function.type != ZEND_USER_FUNCTION || (function.common.fn_flags & ZEND_ACC_FAKE_CLOSURE) != 0) {
            return true;
        }
        const zend_op_array& code = function.op_array;
        if (captures_by_reference(code)) {
            return refuse("Cannot transfer a PHP reference between threads");
        }
        if (code.scope != nullptr && (code.scope->ce_flags & ZEND_ACC_ANON_CLASS) != 0) {
            return refuse_closure(code, "it belongs to an anonymous class", code.line_start);
        }
        const zend_op* declaration = declaration_in(code);
        return declaration == nullptr || refuse_closure(code, "illegal class declaration", declaration->lineno);
    }

    bool copy_closure(zend_object* source, zval* target) noexcept {
        const ClosureParts parts(source);
        if (!may_pass(*parts.function)) {
            return false;
        }
        zval bound;
        ZVAL_UNDEF(&bound);
        if (parts.self != nullptr && !copy_object(parts.self, &bound)) {
            zval_ptr_dtor(&bound);
            return false;
        }
        zend_create_closure(
            target, parts.function, parts.function->common.scope, parts.called_scope,
            parts.self != nullptr ? &bound : nullptr
        );
        zval_ptr_dtor(&bound);
        copies_.emplace(source, Z_OBJ_P(target));
        HashTable* variables = ClosureParts(Z_OBJ_P(target)).variables();
        return variables == nullptr || copy_variables(variables);
    }

    /// What it has captured, and its static variables, which go on from where they are.
    bool copy_variables(HashTable* variables) noexcept {
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

    const Reach& reach() noexcept {
        if (reach_ == nullptr) {
            reach_ = std::make_unique<Reach>(root_);
        }
        return *reach_;
    }

    /// The copy of an object that is held somewhere in the transfer, though that place may come later.
    bool copy_ahead(zend_object* source, zval& made) noexcept {
        Value kept;
        if (!copy_object(source, kept.get())) {
            return false;
        }
        ZVAL_COPY_VALUE(&made, kept.get());
        ahead_.push_back(std::move(kept));
        return true;
    }

    bool copy_weak_reference(zend_object* source, zval* target) noexcept {
        zend_object* referent = referent_of(source);
        zval made;
        Value nobody;  // goes at once
        if (referent != nullptr && reach().contains(referent)) {
            if (!copy_ahead(referent, made)) {
                return false;
            }
        } else {
            object_init(nobody.get());
            ZVAL_COPY_VALUE(&made, nobody.get());
        }
        zend_call_known_function(
            static_cast<zend_function*>(zend_hash_str_find_ptr(&zend_ce_weakref->function_table, ZEND_STRL("create"))),
            nullptr, zend_ce_weakref, target, 1, &made, nullptr
        );
        copies_.emplace(source, Z_OBJ_P(target));
        return true;
    }

    bool copy_weak_map(zend_object* source, zval* target) noexcept {
        object_init_ex(target, weak_map_class());
        zend_object* map = Z_OBJ_P(target);
        copies_.emplace(source, map);
        return each_entry(source, [&](zend_object* key, zval* value) {
            zval made_key;
            Value made;
            if (!reach().contains(key)) {
                return true;
            }
            if (!copy_ahead(key, made_key) || !copy(value, made.get())) {
                return false;
            }
            map->handlers->write_dimension(map, &made_key, made.get());
            return true;
        });
    }

    bool move_future_state(zend_object* source, zval* target) noexcept {
        zend_object* given = give_future_state(source);
        if (given == nullptr) {
            return false;
        }
        ZVAL_OBJ(target, given);
        given_states_.push_back(source);
        copies_.emplace(source, given);
        return true;
    }

    zval* root_;
    std::unique_ptr<Reach> reach_;  // only made for weak things
    std::vector<Value> ahead_;
    std::vector<zend_object*> given_states_;
    std::unordered_map<zend_object*, zend_object*> copies_;
    int depth_ = 0;
};

}  // namespace

bool transfer(zval* source, Value& copy) noexcept {
    ZVAL_DEREF(source);
    if (Transfer(source).run(copy.get())) {
        return true;
    }
    copy.reset();
    return false;
}

}  // namespace trueasync::php
