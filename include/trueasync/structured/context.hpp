#pragma once

/// @file trueasync/structured/context.hpp
/// Values that belong to a scope or a coroutine and are found from below.

#include <trueasync/structured/scope.hpp>
#include <unordered_map>

namespace trueasync {

/// One store, without its keys and values.
///
/// Thread rule: its thread only.
/// Lifetime: counted; a scope holds its own, a coroutine its private one. A context holds the scopes above, not the one it
/// belongs to, so it goes on working when that is gone.
class TA_API ContextNode {
public:
    ContextNode(const ContextNode&) = delete;
    ContextNode& operator=(const ContextNode&) = delete;

    void add_ref() noexcept { ++ref_count_; }
    void release() noexcept {
        if (--ref_count_ == 0) {
            delete this;
        }
    }
    std::uint32_t ref_count() const noexcept { return ref_count_; }

    /// Where a search goes on; null for the context of a root scope, of a coroutine, of nobody.
    ScopeEvent* above() const noexcept { return above_.get(); }

    /// The next context upwards of the same kind; scopes without one are skipped.
    ContextNode* next() const noexcept {
        for (ScopeEvent* scope = above(); scope != nullptr; scope = scope->parent()) {
            if (ContextNode* context = scope->context(); context != nullptr && context->kind_ == kind_) {
                return context;
            }
        }
        return nullptr;
    }

    const void* kind() const noexcept { return kind_; }

protected:
    ContextNode(const void* kind, ScopeEvent* above) noexcept : kind_(kind), above_(above) {}
    virtual ~ContextNode() = default;

private:
    std::uint32_t ref_count_ = 1;
    const void* kind_;
    Ref<ScopeEvent> above_;
};

/// With keys and values of a front door: in C++ typed keys, in a host its strings and objects. `Key` holds what it must keep alive.
///
/// `describe(key)` of `KeyTraits` gives what an error says of a missing key; its `Hash` and `Equal` compare.
template <typename Key, typename Value, typename KeyTraits>
class ContextOf final : public ContextNode {
public:
    explicit ContextOf(ScopeEvent* above = nullptr) noexcept : ContextNode(&kind_of, above) {}

    /// The context of a scope, made on first request.
    static Ref<ContextOf> of(ScopeEvent& scope) {
        if (ContextNode* context = scope.context(); context != nullptr && context->kind() == &kind_of) {
            return Ref<ContextOf>(static_cast<ContextOf*>(context));
        }
        auto context = make_ref<ContextOf>(scope.parent());
        scope.set_context(context);
        return context;
    }

    /// The private context of a coroutine, made on first request; its searches end there.
    static Ref<ContextOf> of(Coroutine& coroutine) {
        if (auto* held = dynamic_cast<Held*>(coroutine.attachment())) {
            return held->context;
        }
        auto held = std::make_unique<Held>();
        held->context = make_ref<ContextOf>();
        Ref<ContextOf> context = held->context;
        coroutine.attach(std::move(held));
        return context;
    }

    /// Here, then in the contexts above; null when there is none.
    Value* find(const Key& key) noexcept {
        for (ContextNode* context = this; context != nullptr; context = context->next()) {
            if (Value* value = static_cast<ContextOf*>(context)->find_local(key)) {
                return value;
            }
        }
        return nullptr;
    }
    Value* find_local(const Key& key) noexcept {
        const auto found = values_.find(key);
        return found != values_.end() ? &found->second : nullptr;
    }

    /// Refused with `DuplicateKey` for a key that is here already, unless it is to be replaced. One above is no conflict.
    [[nodiscard]] Status set(Key key, Value value, bool replaces = false) {
        if (Value* present = find_local(key)) {
            if (!replaces) {
                return Status::failure(ErrorCode::DuplicateKey, "Context key already exists and replace is false");
            }
            const Value former =
                std::exchange(*present, std::move(value));  // goes last: it may do anything when it goes
            return {};
        }
        values_.emplace(std::move(key), std::move(value));
        return {};
    }

    /// False when it was not here.
    bool unset(const Key& key) {
        const auto found = values_.find(key);
        if (found == values_.end()) {
            return false;
        }
        const auto gone = values_.extract(found);
        return true;
    }

    /// What a mandatory search fails with.
    static Ref<Error> not_found(const Key& key) {
        return Error::make(ErrorCode::KeyNotFound, "Context key " + KeyTraits::describe(key) + " not found");
    }

    std::size_t size() const noexcept { return values_.size(); }

    /// Calls `visit(const Key&, Value&)` for everything here; for a host's collector.
    template <typename Visit>
    void each_value(Visit&& visit) {
        for (auto& [key, value] : values_) {
            visit(key, value);
        }
    }

private:
    struct Held final : Attachment {
        Ref<ContextOf> context;
    };
    inline static char kind_of = 0;

    std::unordered_map<Key, Value, typename KeyTraits::Hash, typename KeyTraits::Equal> values_;
};

}  // namespace trueasync
