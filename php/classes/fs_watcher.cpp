#include "fs_watcher.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../stubs/fs_watcher_arginfo.h"
#include "../value.hpp"
#include "awaitable.hpp"

#include <algorithm>
#include <trueasync/reactor/fs_watcher.hpp>

namespace trueasync::php {

namespace {

zend_class_entry* ce_fs_event = nullptr;
zend_class_entry* ce_fs_watcher = nullptr;
zend_object_handlers handlers;

struct WatcherObject {
    Ref<FsWatcher> watcher;
    zend_object std;

    static WatcherObject& of(zend_object* object) noexcept {
        return *reinterpret_cast<WatcherObject*>(reinterpret_cast<std::byte*>(object) - offsetof(WatcherObject, std));
    }
};

zend_object* create(zend_class_entry* ce) {
    auto* self = static_cast<WatcherObject*>(zend_object_alloc(sizeof(WatcherObject), ce));
    new (&self->watcher) Ref<FsWatcher>();
    zend_object_std_init(&self->std, ce);
    object_properties_init(&self->std, ce);
    self->std.handlers = &handlers;
    return &self->std;
}

void free_object(zend_object* object) {
    WatcherObject& self = WatcherObject::of(object);
    if (self.watcher != nullptr) {
        self.watcher->end();
    }
    zend_object_std_dtor(object);
    std::destroy_at(&self.watcher);
}

Event* event_of_watcher(zend_object* object) {
    Event* event = WatcherObject::of(object).watcher.get();
    if (event == nullptr) {
        zend_throw_error(nullptr, "FileSystemWatcher was not constructed");
    }
    return event;
}

void make_event(const FsWatcher& watcher, const FsNotice& notice, zval* result) {
    object_init_ex(result, ce_fs_event);
    zend_object* object = Z_OBJ_P(result);  // in the order of the stub
    ZVAL_STRINGL(OBJ_PROP_NUM(object, 0), watcher.path().data(), watcher.path().size());
    if (notice.name.has_value()) {
        ZVAL_STRINGL(OBJ_PROP_NUM(object, 1), notice.name->data(), notice.name->size());
    } else {
        ZVAL_NULL(OBJ_PROP_NUM(object, 1));
    }
    ZVAL_BOOL(OBJ_PROP_NUM(object, 2), notice.is_renamed);
    ZVAL_BOOL(OBJ_PROP_NUM(object, 3), notice.is_changed);
}

/// What `foreach` walks: the next event is waited for when somebody asks whether there is one.
struct Walk {
    zend_object_iterator base;  // its `data` is the object
    Value current;
    zend_long number;

    static Walk& of(zend_object_iterator* iterator) noexcept { return *reinterpret_cast<Walk*>(iterator); }
    FsWatcher& watcher() noexcept { return *WatcherObject::of(Z_OBJ(base.data)).watcher; }
};

void walk_free(zend_object_iterator* iterator) {
    Walk& walk = Walk::of(iterator);
    walk.current.reset();
    zval_ptr_dtor(&iterator->data);
}

int walk_valid(zend_object_iterator* iterator) {
    Walk& walk = Walk::of(iterator);
    if (walk.current.is_set()) {
        return SUCCESS;
    }
    std::optional<FsNotice> notice;
    FsWatcher& watcher = walk.watcher();
    if (watcher.has_ended() && watcher.pending() == 0) {
        return FAILURE;
    }
    if ((watcher.pending() == 0 && !may_suspend()) || !has_arrived(watcher.next(notice)) || !notice.has_value()) {
        return FAILURE;
    }
    make_event(watcher, *notice, walk.current.get());
    return SUCCESS;
}

zval* walk_current(zend_object_iterator* iterator) {
    Walk& walk = Walk::of(iterator);
    return walk_valid(iterator) == SUCCESS ? walk.current.get() : nullptr;
}

void walk_key(zend_object_iterator* iterator, zval* key) { ZVAL_LONG(key, Walk::of(iterator).number); }

void walk_forward(zend_object_iterator* iterator) {
    Walk& walk = Walk::of(iterator);
    walk.current.reset();
    ++walk.number;
}

const zend_object_iterator_funcs walk_functions = {
    walk_free, walk_valid, walk_current, walk_key, walk_forward, nullptr, nullptr, nullptr,
};

zend_object_iterator* get_iterator(zend_class_entry* /*ce*/, zval* object, int by_reference) {
    if (by_reference != 0) {
        zend_throw_error(nullptr, "An iterator cannot be used with foreach by reference");
        return nullptr;
    }
    if (WatcherObject::of(Z_OBJ_P(object)).watcher == nullptr) {
        zend_throw_error(nullptr, "FileSystemWatcher was not constructed");
        return nullptr;
    }
    auto* walk = static_cast<Walk*>(ecalloc(1, sizeof(Walk)));
    zend_iterator_init(&walk->base);
    ZVAL_OBJ_COPY(&walk->base.data, Z_OBJ_P(object));
    walk->base.funcs = &walk_functions;
    new (&walk->current) Value();
    walk->number = 0;
    return &walk->base;
}

}  // namespace

void register_fs_watcher() {
    ce_fs_event = register_class_Async_FileSystemEvent();
    ce_fs_watcher = register_class_Async_FileSystemWatcher(ce_awaitable, zend_ce_aggregate);
    ce_fs_watcher->create_object = create;
    ce_fs_watcher->get_iterator = get_iterator;
    handlers = *zend_get_std_object_handlers();
    handlers.offset = offsetof(WatcherObject, std);
    handlers.free_obj = free_object;
    handlers.clone_obj = nullptr;
    add_awaitable(ce_fs_watcher, event_of_watcher);
}

}  // namespace trueasync::php

using namespace trueasync;
using namespace trueasync::php;

ZEND_METHOD(Async_FileSystemWatcher, __construct) {
    zend_string* path = nullptr;
    FsWatcherSettings settings;
    zend_long debounce = 0;
    zend_long max_hold = 0;
    HashTable* extensions = nullptr;
    ZEND_PARSE_PARAMETERS_START(1, 6)
    Z_PARAM_PATH_STR(path)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(settings.is_recursive)
    Z_PARAM_BOOL(settings.coalesces)
    Z_PARAM_LONG(debounce)
    Z_PARAM_LONG(max_hold)
    Z_PARAM_ARRAY_HT(extensions)
    ZEND_PARSE_PARAMETERS_END();
    WatcherObject& self = WatcherObject::of(Z_OBJ_P(ZEND_THIS));
    if (self.watcher != nullptr) {
        zend_throw_error(nullptr, "FileSystemWatcher is constructed already");
        return;
    }
    if (ZSTR_LEN(path) == 0) {
        zend_throw_error(nullptr, "Cannot watch an empty path");
        return;
    }
    constexpr zend_long kYear = 366LL * 24 * 3600 * 1000;
    settings.debounce = std::chrono::milliseconds(std::clamp<zend_long>(debounce, 0, kYear));
    settings.max_hold = std::chrono::milliseconds(std::clamp<zend_long>(max_hold, 0, kYear));
    if (extensions != nullptr) {
        zval* extension = nullptr;
        ZEND_HASH_FOREACH_VAL(extensions, extension) {
            zend_string* text = zval_try_get_string(extension);
            if (text == nullptr) {
                return;
            }
            if (ZSTR_LEN(text) != 0) {
                settings.extensions.emplace_back(ZSTR_VAL(text), ZSTR_LEN(text));
            }
            zend_string_release(text);
        }
        ZEND_HASH_FOREACH_END();
    }
    if (!start()) {
        return;
    }
    auto watcher =
        FsWatcher::create(request.runtime->reactor(), std::string(ZSTR_VAL(path), ZSTR_LEN(path)), std::move(settings));
    if (const Status status = watcher->open(); !status) {
        zend_throw_error(nullptr, "Cannot %s", status.error()->message().c_str());
        return;
    }
    self.watcher = std::move(watcher);
}

ZEND_METHOD(Async_FileSystemWatcher, close) {
    ZEND_PARSE_PARAMETERS_NONE();
    if (const Ref<FsWatcher> watcher = WatcherObject::of(Z_OBJ_P(ZEND_THIS)).watcher) {
        watcher->end();
    }
}

ZEND_METHOD(Async_FileSystemWatcher, isClosed) {
    ZEND_PARSE_PARAMETERS_NONE();
    const Ref<FsWatcher>& watcher = WatcherObject::of(Z_OBJ_P(ZEND_THIS)).watcher;
    RETURN_BOOL(watcher == nullptr || watcher->has_ended());
}

ZEND_METHOD(Async_FileSystemWatcher, getIterator) {
    ZEND_PARSE_PARAMETERS_NONE();
    zend_create_internal_iterator_zval(return_value, ZEND_THIS);
}
