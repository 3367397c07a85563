#include "fs_watcher.hpp"

#include "../engine/request.hpp"
#include "../error.hpp"
#include "../object.hpp"
#include "../stubs/fs_watcher_arginfo.h"
#include "awaitable.hpp"

#include <algorithm>
#include <trueasync/reactor/fs_watcher.hpp>

namespace trueasync::php {

namespace {

zend_class_entry* ce_fs_event = nullptr;
zend_class_entry* ce_fs_watcher = nullptr;

struct WatcherData {
    Ref<FsWatcher> watcher;

    ~WatcherData() {
        if (watcher != nullptr) {
            watcher->end();
        }
    }
};
using WatcherObject = ObjectOf<WatcherData>;

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

struct WatcherWalk {
    bool next(zend_object* source, Value& element) {
        const Ref<FsWatcher> watcher = WatcherObject::of(source).watcher;
        if (watcher->has_ended() && watcher->pending() == 0) {
            return false;
        }
        std::optional<FsNotice> notice;
        if ((watcher->pending() == 0 && !may_suspend()) || !has_arrived(watcher->next(notice)) || !notice.has_value()) {
            return false;
        }
        make_event(*watcher, *notice, element.get());
        return true;
    }
};

zend_object_iterator* get_iterator(zend_class_entry* /*ce*/, zval* object, int by_reference) {
    if (by_reference != 0) {
        zend_throw_error(nullptr, "An iterator cannot be used with foreach by reference");
        return nullptr;
    }
    if (WatcherObject::of(object).watcher == nullptr) {
        zend_throw_error(nullptr, "FileSystemWatcher was not constructed");
        return nullptr;
    }
    return IteratorOf<WatcherWalk>::create(object);
}

}  // namespace

void register_fs_watcher() {
    ce_fs_event = register_class_Async_FileSystemEvent();
    ce_fs_watcher = register_class_Async_FileSystemWatcher(ce_awaitable, zend_ce_aggregate);
    ce_fs_watcher->get_iterator = get_iterator;
    WatcherObject::register_class(ce_fs_watcher);
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
    WatcherData& self = WatcherObject::of(ZEND_THIS);
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
    if (const Ref<FsWatcher> watcher = WatcherObject::of(ZEND_THIS).watcher) {
        watcher->end();
    }
}

ZEND_METHOD(Async_FileSystemWatcher, isClosed) {
    ZEND_PARSE_PARAMETERS_NONE();
    const Ref<FsWatcher>& watcher = WatcherObject::of(ZEND_THIS).watcher;
    RETURN_BOOL(watcher == nullptr || watcher->has_ended());
}

ZEND_METHOD(Async_FileSystemWatcher, getIterator) {
    ZEND_PARSE_PARAMETERS_NONE();
    return_iterator(ZEND_THIS, return_value);
}
