#include <trueasync/api/context.hpp>

#include <trueasync/api/await.hpp>
#include <trueasync/api/scope.hpp>

namespace trueasync {

Context Context::current() {
    ScopeEvent* scope = ScopeEvent::current();
    if (scope == nullptr) {
        detail::throw_error(
            Error::make(ErrorCode::IllegalState, "there is no current context: the running coroutine is in no scope")
        );
    }
    return Context(detail::ContextStore::of(*scope));
}

Context Context::of_coroutine() { return Context(detail::ContextStore::of(trueasync::current())); }

Context Scope::context() const { return Context(detail::ContextStore::of(*event_)); }

}  // namespace trueasync
