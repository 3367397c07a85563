#pragma once

/// PHP objects with data of ours in front of them, and `foreach` over such objects.

#include "value.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <trueasync/base/error.hpp>
#include <type_traits>

namespace trueasync::php {

/// What an object shows to the cycle collector.
class Shown {
public:
    void add(Value& value) noexcept { zend_get_gc_buffer_add_zval(buffer_, value.get()); }
    void add(Callable& callable) noexcept { add(callable.function()); }
    void add(zend_object* object) noexcept { zend_get_gc_buffer_add_obj(buffer_, object); }
    /// The exception in it, if nobody else has it: the object that is shown holds it `times` times.
    void add(const Error* error, std::uint32_t times = 1) noexcept;
    void give_to(zval** table, int* count) noexcept { zend_get_gc_buffer_use(buffer_, table, count); }

private:
    zend_get_gc_buffer* buffer_ = zend_get_gc_buffer_create();
};

/// An object of a class that cannot be cloned, with a `Data` in front of it. `Data` is made with the object, destroyed with it, and may have
/// - `show(Shown&)`: what the cycle collector must see;
/// - `dropped()`: the last reference has gone, or the script has ended; PHP code can still run.
template <typename Data>
class ObjectOf {
public:
    /// From the data to the object behind it.
    static constexpr std::size_t kOffset =
        (sizeof(Data) + alignof(zend_object) - 1) / alignof(zend_object) * alignof(zend_object);

    static Data& of(zend_object* object) noexcept {
        return *std::launder(reinterpret_cast<Data*>(reinterpret_cast<std::byte*>(object) - kOffset));
    }
    static Data& of(zval* object) noexcept { return of(Z_OBJ_P(object)); }

    /// One reference.
    static zend_object* create(zend_class_entry* ce) {
        auto* memory = static_cast<std::byte*>(zend_object_alloc(kOffset + sizeof(zend_object), ce));
        auto* object = reinterpret_cast<zend_object*>(memory + kOffset);
        zend_object_std_init(object, ce);
        object_properties_init(object, ce);
        object->handlers = &handlers_;
        new (memory) Data();
        return object;
    }

    /// Those of all such objects, after `register_class`.
    static const zend_object_handlers& handlers() noexcept { return handlers_; }

    /// Objects of `ce` are such ones.
    static void register_class(zend_class_entry* ce) noexcept {
        ce->create_object = create;
        handlers_ = *zend_get_std_object_handlers();
        handlers_.offset = kOffset;
        handlers_.clone_obj = nullptr;
        handlers_.free_obj = [](zend_object* object) {
            zend_object_std_dtor(object);
            std::destroy_at(&of(object));
        };
        if constexpr (requires(Data& data) { data.dropped(); }) {
            handlers_.dtor_obj = [](zend_object* object) {
                const ExceptionPause pause;
                of(object).dropped();
            };
        }
        if constexpr (requires(Data& data, Shown& shown) { data.show(shown); }) {
            handlers_.get_gc = [](zend_object* object, zval** table, int* count) -> HashTable* {
                Shown shown;
                of(object).show(shown);
                shown.give_to(table, count);
                return nullptr;
            };
        }
    }

private:
    static inline zend_object_handlers handlers_;
};

/// `foreach` over an object whose elements come one by one. `Walk` has `bool next(zend_object* source, Value& element)`, which waits when
/// somebody asks whether there is one more, and answers false at the end or when it threw; and it may have `key(zval*)`.
template <typename Walk>
class IteratorOf {
public:
    static zend_object_iterator* create(zval* source) {
        auto* self = new (emalloc(sizeof(IteratorOf))) IteratorOf();
        zend_iterator_init(&self->base_);
        self->base_.funcs = &kFunctions;
        ZVAL_OBJ_COPY(&self->base_.data, Z_OBJ_P(source));
        return &self->base_;
    }

private:
    static IteratorOf& of(zend_object_iterator* base) noexcept { return *reinterpret_cast<IteratorOf*>(base); }

    static void free(zend_object_iterator* base) {
        of(base).element_.reset();
        std::destroy_at(&of(base).walk_);
        zval_ptr_dtor(&base->data);
    }
    /// What the engine wants there is not the same type in all versions.
    using Validity = std::invoke_result_t<decltype(zend_object_iterator_funcs::valid), zend_object_iterator*>;
    static Validity is_valid(zend_object_iterator* base) {
        IteratorOf& self = of(base);
        const bool is_there = self.element_.is_set() || self.walk_.next(Z_OBJ(base->data), self.element_);
        return is_there ? SUCCESS : FAILURE;
    }
    static zval* current(zend_object_iterator* base) {
        return is_valid(base) == SUCCESS ? of(base).element_.get() : nullptr;
    }
    static void key(zend_object_iterator* base, zval* key) {
        if constexpr (requires(Walk& walk) { walk.key(key); }) {
            of(base).walk_.key(key);
        } else {
            ZVAL_LONG(key, of(base).number_);
        }
    }
    static void forward(zend_object_iterator* base) {
        of(base).element_.reset();
        ++of(base).number_;
    }

    static HashTable* show_to_collector(zend_object_iterator* base, zval** table, int* count) {
        Shown shown;
        shown.add(Z_OBJ(base->data));
        shown.add(of(base).element_);
        shown.give_to(table, count);
        return nullptr;
    }

    static constexpr zend_object_iterator_funcs kFunctions = {free,    is_valid, current, key,
                                                              forward, nullptr,  nullptr, show_to_collector};

    zend_object_iterator base_;  // its `data` is the source
    Walk walk_;
    Value element_;
    zend_long number_ = 0;
};

/// What `getIterator` of such an object returns. The engine's object for it shows nothing of the iterator to the collector; this one does.
inline void return_iterator(zval* object, zval* return_value) noexcept {
    struct Returned {
        zend_object object;
        zend_object_iterator* iterator;
    };
    if (zend_create_internal_iterator_zval(return_value, object) != SUCCESS) {
        return;
    }
    static zend_object_handlers handlers;
    handlers = *Z_OBJ_P(return_value)->handlers;
    handlers.get_gc = [](zend_object* returned, zval** table, int* count) -> HashTable* {
        Shown shown;
        shown.add(&reinterpret_cast<Returned*>(returned)->iterator->std);
        shown.give_to(table, count);
        return nullptr;
    };
    Z_OBJ_P(return_value)->handlers = &handlers;
}

}  // namespace trueasync::php
