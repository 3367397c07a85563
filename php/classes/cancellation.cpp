#include "cancellation.hpp"

#include "../engine/replace.hpp"
#include "../error.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

namespace trueasync::php {

namespace {

using ImplementHook = int (*)(zend_class_entry*, zend_class_entry*);
ImplementHook implement_throwable = nullptr;

/// The engine lets only classes below Exception and Error implement Throwable. Ours may, too.
int accept_third_root(zend_class_entry* interface, zend_class_entry* ce) {
    const zend_class_entry* root = ce;
    while (root != ce_cancellation && (root->ce_flags & ZEND_ACC_RESOLVED_PARENT) != 0 && root->parent != nullptr) {
        root = root->parent;
    }
    while (root != ce_cancellation && root->type == ZEND_INTERNAL_CLASS && root->parent != nullptr) {
        root = root->parent;
    }
    return root == ce_cancellation || ce_cancellation == nullptr ? SUCCESS : implement_throwable(interface, ce);
}

// --- properties

zend_object_handlers handlers;
std::array<zend_property_info, 4> properties;  // the protected ones: message, code, file, line
zend_object* (*create_before)(zend_class_entry*) = nullptr;

const zend_property_info* info_of(const zend_class_entry* ce, zend_string* name) noexcept {
    return static_cast<const zend_property_info*>(zend_hash_find_ptr(&ce->properties_info, name));
}

/// The class that was the first to declare it, which PHP 8.4 asks for when it is protected.
const zend_class_entry* owner_of(const zend_property_info* info) noexcept {
#if PHP_VERSION_ID >= 80400
    return info->prototype->ce;
#else
    return info->ce;
#endif
}

/// The private properties are Error's, and the engine, when it reads any, says that it is Error, which is not related to our classes any more.
/// While this lives, the one who asks may see a protected property if it could were they still related.
class Relation {
public:
    Relation(const zend_object* object, zend_string* name) noexcept : before_(EG(fake_scope)) {
        const zend_property_info* info = info_of(object->ce, name);
        if (info == nullptr || (info->flags & ZEND_ACC_PROTECTED) == 0) {
            return;
        }
        const zend_class_entry* asks = before_ != nullptr ? before_ : zend_get_executed_scope();
        if (asks == zend_ce_error ||
            (asks != nullptr && owner_of(info) == zend_ce_error && instanceof_function(asks, ce_cancellation))) {
            EG(fake_scope) = const_cast<zend_class_entry*>(owner_of(info));
        }
    }
    ~Relation() { EG(fake_scope) = before_; }
    Relation(const Relation&) = delete;
    Relation& operator=(const Relation&) = delete;

private:
    std::remove_reference_t<decltype(EG(fake_scope))> before_;
};

zval* read(zend_object* object, zend_string* name, int type, void** cache, zval* space) {
    const Relation relation(object, name);
    return zend_std_read_property(object, name, type, cache, space);
}

zval* write(zend_object* object, zend_string* name, zval* value, void** cache) {
    const Relation relation(object, name);
    return zend_std_write_property(object, name, value, cache);
}

zval* find(zend_object* object, zend_string* name, int type, void** cache) {
    const Relation relation(object, name);
    return zend_std_get_property_ptr_ptr(object, name, type, cache);
}

int has(zend_object* object, zend_string* name, int kind, void** cache) {
    const Relation relation(object, name);
    return zend_std_has_property(object, name, kind, cache);
}

void unset(zend_object* object, zend_string* name, void** cache) {
    const Relation relation(object, name);
    zend_std_unset_property(object, name, cache);
}

/// The engine writes to `file` and `line` in the name of Error, before the object has our handlers.
zend_object* create(zend_class_entry* ce) {
    ce_cancellation->parent = zend_ce_error;
    zend_object* object = create_before(ce);
    ce_cancellation->parent = nullptr;
    object->handlers = &handlers;
    return object;
}

// --- casts to string

zif_handler cast_before = nullptr;

/// The engine marks each exception of a chain that it has been at, and takes the marks away again, but at the first that is neither an Exception
/// nor an Error it stops: that one, and all before it, would count as visited for good.
ZEND_NAMED_FUNCTION(cast) {
    std::vector<zend_object*> chain;
    bool has_third_root = false;
    for (zend_object* link = Z_OBJ_P(ZEND_THIS); link != nullptr && !GC_IS_RECURSIVE(link); link = previous_of(link)) {
        if (std::ranges::find(chain, link) != chain.end()) {
            break;
        }
        chain.push_back(link);
        has_third_root = has_third_root || instanceof_function(link->ce, ce_cancellation);
    }
    cast_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (has_third_root) {
        for (zend_object* link : chain) {
            GC_TRY_UNPROTECT_RECURSION(link);
        }
    }
}

zend_result (*post_startup_before)() = nullptr;

/// Each internal class has a copy.
zend_result watch_casts() {
    constexpr const char* kName = "__tostring";
    cast_before = replace_handler(&zend_ce_exception->function_table, kName, cast);
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(CG(class_table), each) {
        HashTable& methods = static_cast<zend_class_entry*>(Z_PTR_P(each))->function_table;
        const auto* method =
            static_cast<const zend_function*>(zend_hash_str_find_ptr(&methods, kName, std::strlen(kName)));
        if (method != nullptr && method->type == ZEND_INTERNAL_FUNCTION &&
            method->internal_function.handler == cast_before) {
            replace_handler(&methods, kName, cast);
        }
    }
    ZEND_HASH_FOREACH_END();
    return post_startup_before != nullptr ? post_startup_before() : SUCCESS;
}

/// What came from Error is its own: reflection asks whether an object is of the class that has declared what it is asked for. Private
/// properties stay as they are, since only Error may read them.
/// The engine frees what a class has declared itself: at its end they are Error's again.
void set_owner_of_members(zend_class_entry* owner) noexcept {
    zend_class_entry& ce = *ce_cancellation;
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(&ce.function_table, each) {
        static_cast<zend_function*>(Z_PTR_P(each))->common.scope = owner;
    }
    ZEND_HASH_FOREACH_END();
    for (zend_property_info& property : properties) {
        property.ce = owner;
    }
}

/// Classes share what they know about their properties with those they come from.
void copy_properties() noexcept {
    zend_class_entry& ce = *ce_cancellation;
    zend_property_info* copy = properties.data();
    zval* each = nullptr;
    ZEND_HASH_FOREACH_VAL(&ce.properties_info, each) {
        auto* property = static_cast<zend_property_info*>(Z_PTR_P(each));
        if ((property->flags & ZEND_ACC_PROTECTED) != 0) {
            *copy = *property;
            Z_PTR_P(each) = copy;
            ce.properties_info_table[OBJ_PROP_TO_NUM(property->offset)] = copy;
            ++copy;
        }
    }
    ZEND_HASH_FOREACH_END();
}

zend_function* own_method(const char* name) noexcept {
    return static_cast<zend_function*>(zend_hash_str_find_ptr(&ce_cancellation->function_table, name, std::strlen(name))
    );
}

}  // namespace

void unregister_cancellation() noexcept { set_owner_of_members(zend_ce_error); }

/// Registered below Error, for its properties and methods, then cut off from it.
void register_cancellation() {
    zend_class_entry ce;
    INIT_CLASS_ENTRY(ce, "Cancellation", nullptr);
    ce_cancellation = zend_register_internal_class_ex(&ce, zend_ce_error);
    ce_cancellation->parent = nullptr;
    copy_properties();
    set_owner_of_members(ce_cancellation);
    ce_cancellation->constructor = own_method("__construct");
    ce_cancellation->__tostring = own_method("__tostring");
    create_before = std::exchange(ce_cancellation->create_object, create);
    implement_throwable = zend_ce_throwable->interface_gets_implemented;
    zend_ce_throwable->interface_gets_implemented = accept_third_root;
    post_startup_before = std::exchange(zend_post_startup_cb, watch_casts);
    handlers = *zend_get_std_object_handlers();
    handlers.clone_obj = nullptr;  // as of all throwables
    handlers.read_property = read;
    handlers.write_property = write;
    handlers.get_property_ptr_ptr = find;
    handlers.has_property = has;
    handlers.unset_property = unset;
#if PHP_VERSION_ID >= 80300
    ce_cancellation->default_object_handlers = &handlers;
#endif
}

}  // namespace trueasync::php
