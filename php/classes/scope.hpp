#pragma once

/// `Async\Scope`, and the main scope.

#include "../value.hpp"

#include <trueasync/structured/group.hpp>
#include <trueasync/structured/scope.hpp>

namespace trueasync::php {

inline zend_class_entry* ce_scope = nullptr;
inline zend_class_entry* ce_scope_provider = nullptr;
inline zend_class_entry* ce_spawn_strategy = nullptr;

/// The scope behind an object. Null: it threw, since the constructor was not called.
ScopeEvent* scope_of(zend_object* object) noexcept;

/// The object of a scope, made on demand; a new reference. There is one as long as somebody holds it.
zend_object* scope_object(ScopeEvent& scope) noexcept;

/// The scope of the running code; starts the scheduler. Null: it threw.
ScopeEvent* current_scope() noexcept;
/// The same without starting anything.
ScopeEvent& scope_here() noexcept;

/// The object of a group holds that of the scope above, and shows it to the collector: the group's own scope is no reason to stay then.
void note_group(const GroupEvent& group);
void forget_group(const GroupEvent& group);

/// After a fatal error the engine destroys no objects; scopes still call their handlers.
void scope_request_end();

void register_scope();

}  // namespace trueasync::php
