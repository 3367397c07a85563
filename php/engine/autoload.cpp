#include "autoload.hpp"

#include "../error.hpp"
#include "../per_thread.hpp"
#include "request.hpp"

#include <memory>
#include <string>
#include <trueasync/event/manual_event.hpp>
#include <trueasync/runtime/wait.hpp>
#include <unordered_map>
#include <utility>

namespace trueasync::php {

namespace {

using Autoload = zend_class_entry* (*)(zend_string*, zend_string*);
Autoload autoload_before = nullptr;

struct Loading {
    Coroutine* by;
    Ref<ManualEvent> is_over;
    bool has_thrown;
};
TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<std::string, std::shared_ptr<Loading>>> loading;

/// What each waits for.
TA_PHP_THREAD_LOCAL PerThread<std::unordered_map<const Coroutine*, const Loading*>> waiting;

/// Whoever loads it needs what `self` is loading, perhaps through others: as if `self` needed it itself.
bool leads_back(const Loading& wanted, const Coroutine* self) {
    for (const Loading* link = &wanted; link->by != self;) {
        const auto next = waiting->find(link->by);
        if (next == waiting->end()) {
            return false;
        }
        link = next->second;
    }
    return true;
}

/// False: it threw.
bool await_loading(const Loading& other, const Coroutine* self) {
    waiting->emplace(self, &other);
    const bool has_come = has_arrived(wait_for(*other.is_over));
    waiting->erase(self);
    return has_come;
}

zend_class_entry* autoload(zend_string* name, zend_string* lower_name) {
    Coroutine* self = request.runtime != nullptr && !request.is_in_scheduler ? Scheduler::current_coroutine() : nullptr;
    if (self == nullptr) {
        return autoload_before(name, lower_name);
    }
    std::string key(ZSTR_VAL(lower_name), ZSTR_LEN(lower_name));
    zend_hash_del(EG(in_autoload), lower_name);  // so that the others come here
    for (auto found = loading->find(key); found != loading->end(); found = loading->find(key)) {
        const std::shared_ptr<Loading> other = found->second;
        if (leads_back(*other, self) || !await_loading(*other, self)) {
            return nullptr;  // it needs itself, or was cancelled
        }
        if (!other->has_thrown) {
            return static_cast<zend_class_entry*>(zend_hash_find_ptr(EG(class_table), lower_name));
        }
    }
    const auto own = std::make_shared<Loading>(Loading{self, ManualEvent::create(), false});
    loading->emplace(key, own);
    zend_class_entry* found = autoload_before(name, lower_name);
    own->has_thrown = EG(exception) != nullptr;
    loading->erase(key);
    own->is_over->notify();
    return found;
}

}  // namespace

void autoload_minit() { autoload_before = std::exchange(zend_autoload, autoload); }

void autoload_request_end() {
    loading->clear();
    waiting->clear();
}

void autoload_mshutdown() {
    if (zend_autoload == autoload) {
        zend_autoload = autoload_before;
    }
}

}  // namespace trueasync::php
