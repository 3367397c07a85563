#pragma once

/// Who is inside which call, for the guards of in_use.hpp.

#include "../classes/coroutine.hpp"
#include "../zend.hpp"
#include "in_use.hpp"

#include <cstddef>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/runtime/wait.hpp>
#include <unordered_map>
#include <vector>

namespace trueasync::php {

ZEND_NAMED_FUNCTION(refuse_others);
ZEND_NAMED_FUNCTION(take_turn);
ZEND_NAMED_FUNCTION(take_write_turn);
ZEND_NAMED_FUNCTION(lock_noted);
ZEND_NAMED_FUNCTION(open_kept);

/// At the latest when somebody waits in one of its functions for the first time. Classes of the program that extend one of the module's have copies.
TA_COLD void guard_module(const zend_module_entry* module) noexcept;

/// Who was last inside a function of each. Whether he still is his frame says.
extern TA_PHP_THREAD_LOCAL std::unordered_map<const void*, PhpCoroutine*> users;

/// Those inside functions on streams that are written in PHP: they wait in code of their own, for something else. And those whose use of a
/// connection is no call.
struct Inside {
    const void* subject;
    PhpCoroutine* who;
    bool is_aside = false;
};
extern TA_PHP_THREAD_LOCAL std::vector<Inside> insides;

extern TA_PHP_THREAD_LOCAL IntrusiveList<DirectWait> turns;

/// What functions of pgsql work on that are given no connection: the last that was opened. It is the extension's own, which holds it.
extern TA_PHP_THREAD_LOCAL zend_object* default_link;
inline const zend_module_entry* pgsql = nullptr;

/// Reading, writing and locking a stream do not mind each other: to us they are three things, told apart by addresses that lie in one resource.
constexpr std::ptrdiff_t kUses = 3;
constexpr std::ptrdiff_t kOtherUse = 2;  // minds nobody, but who closes the stream

TA_INLINE bool is_watching() noexcept { return request.runtime != nullptr && !request.is_in_scheduler; }
TA_INLINE bool may_look() noexcept { return is_watching() && !(users.empty() && insides.empty()); }

/// What a call works on: its object, or its first argument if that is an object or a resource. Null: nothing.
const void* subject_of(zend_execute_data* call) noexcept;
bool is_guarded(const zend_execute_data* call) noexcept;

/// The coroutine that waits inside a function that works on `subject`, if it is not the running one.
PhpCoroutine* find_user(const void* subject) noexcept;
PhpCoroutine* other_user(const void* subject) noexcept;

void note_inside(const void* subject, bool is_aside = false) noexcept;
void forget_inside(const void* subject) noexcept;
bool has_use_aside() noexcept;

/// Others who wait have come first. May suspend. False: it threw.
bool begin_turn(const void* subject) noexcept;
/// Who is told stays in the list until his turn has begun, so that nobody comes in before him.
TA_COLD void wake_next(const void* subject) noexcept;
TA_INLINE void end_turn(const void* subject) noexcept {
    if (UNEXPECTED(!turns.empty())) {
        wake_next(subject);
    }
}

TA_COLD void refuse(const zend_execute_data* call, const PhpCoroutine& other) noexcept;

}  // namespace trueasync::php
