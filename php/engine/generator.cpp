#include "generator.hpp"

#include "../zend.hpp"

#include <utility>

namespace trueasync::php {

namespace {

zend_object_handlers handlers;
void (*destroy_before)(zend_object*) = nullptr;
zend_object* (*create_before)(zend_class_entry*) = nullptr;

/// Then the engine knows what to do.
bool is_in_native_fiber([[maybe_unused]] zend_generator* generator) {
#if PHP_VERSION_ID >= 80201
    return (zend_generator_get_current(generator)->flags & ZEND_GENERATOR_IN_FIBER) != 0;
#else
    return false;
#endif
}

void destroy_generator(zend_object* object) {
    auto* generator = reinterpret_cast<zend_generator*>(object);
    const auto flags = generator->flags | zend_generator_get_current(generator)->flags;
    if ((flags & ZEND_GENERATOR_CURRENTLY_RUNNING) != 0 && !is_in_native_fiber(generator)) {
        GC_DEL_FLAGS(object, IS_OBJ_DESTRUCTOR_CALLED);  // not yet: it goes when its coroutine lets it go
        return;
    }
    destroy_before(object);
}

zend_object* create_generator(zend_class_entry* ce) {
    zend_object* object = create_before(ce);
    if (UNEXPECTED(destroy_before == nullptr)) {  // the engine hides its own: the first object shows them
        handlers = *object->handlers;
        destroy_before = std::exchange(handlers.dtor_obj, destroy_generator);
    }
    object->handlers = &handlers;
    return object;
}

}  // namespace

void generator_minit() { create_before = std::exchange(zend_ce_generator->create_object, create_generator); }

}  // namespace trueasync::php
