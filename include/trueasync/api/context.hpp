#pragma once

/// @file trueasync/api/context.hpp
/// Values that belong to a scope and are found by everything below it.

#include <any>
#include <memory>
#include <string>
#include <trueasync/api/exceptions.hpp>
#include <trueasync/structured/context.hpp>

namespace trueasync {

namespace detail {

struct ContextKeyInfo {
    std::string name;
};

using ContextKeyId = std::shared_ptr<const ContextKeyInfo>;

struct ContextKeyTraits {
    using Hash = std::hash<ContextKeyId>;
    using Equal = std::equal_to<ContextKeyId>;
    static std::string describe(const ContextKeyId& key) { return "\"" + key->name + "\""; }
};

using ContextStore = ContextOf<ContextKeyId, std::any, ContextKeyTraits>;

}  // namespace detail

/// The key of a value of type `T`. Two keys are different whatever their names; copies are the same. The name is for messages.
template <typename T>
class ContextKey {
public:
    explicit ContextKey(std::string name) : id_(std::make_shared<detail::ContextKeyInfo>(std::move(name))) {}
    const detail::ContextKeyId& id() const noexcept { return id_; }

private:
    detail::ContextKeyId id_;
};

/// A store of values. A handle: copies are the same store.
///
/// @snippet unit/api/context_test.cpp  context
class TA_API Context {
public:
    /// One that belongs to nobody.
    Context() : store_(make_ref<detail::ContextStore>()) {}
    explicit Context(Ref<detail::ContextStore> store) noexcept : store_(std::move(store)) {}

    /// Of the running coroutine's scope, shared by all its coroutines. Throws `AsyncError` where there is no scope.
    static Context current();
    /// Private to the running coroutine: sees nothing of its scope.
    static Context of_coroutine();

    /// Here, then in the contexts of the scopes above; null when it is nowhere. The pointer holds until the key is set or unset.
    template <typename T>
    T* find(const ContextKey<T>& key) const {
        return std::any_cast<T>(store_->find(key.id()));
    }
    /// The same, but a missing one throws `AsyncError` (`KeyNotFound`).
    template <typename T>
    T& get(const ContextKey<T>& key) const {
        return need(find(key), key.id());
    }
    template <typename T>
    bool has(const ContextKey<T>& key) const {
        return find(key) != nullptr;
    }

    /// Here only.
    template <typename T>
    T* find_local(const ContextKey<T>& key) const {
        return std::any_cast<T>(store_->find_local(key.id()));
    }
    template <typename T>
    T& get_local(const ContextKey<T>& key) const {
        return need(find_local(key), key.id());
    }
    template <typename T>
    bool has_local(const ContextKey<T>& key) const {
        return find_local(key) != nullptr;
    }

    /// Throws `AsyncError` (`DuplicateKey`) when it is here already and is not to be replaced; one above is only hidden.
    template <typename T>
    const Context& set(const ContextKey<T>& key, std::type_identity_t<T> value, bool replace = false) const {
        detail::check(store_->set(key.id(), std::any(std::in_place_type<T>, std::move(value)), replace));
        return *this;
    }
    template <typename T>
    const Context& unset(const ContextKey<T>& key) const {
        store_->unset(key.id());
        return *this;
    }

    friend bool operator==(const Context& a, const Context& b) noexcept { return a.store_ == b.store_; }

private:
    template <typename T>
    static T& need(T* value, const detail::ContextKeyId& key) {
        if (value == nullptr) {
            detail::throw_error(detail::ContextStore::not_found(key));
        }
        return *value;
    }

    Ref<detail::ContextStore> store_;
};

}  // namespace trueasync
