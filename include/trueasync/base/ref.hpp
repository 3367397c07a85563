#pragma once

/// @file trueasync/base/ref.hpp
/// Owning pointer to an object that counts its own references.

#include <cstddef>
#include <type_traits>
#include <utility>

namespace trueasync {

/// Holds one reference to a `T` with `add_ref()` and `release()`.
///
/// What a reference *is* belongs to the object: an event managed by an embedding runtime hands both calls to that
/// runtime, so a `Ref` works the same for both lives.
/// Thread rule: as the object's; events and errors belong to one thread.
template <typename T>
class Ref {
public:
    constexpr Ref() noexcept = default;
    constexpr Ref(std::nullptr_t) noexcept {}

    /// Takes a new reference.
    explicit Ref(T* object) noexcept : object_(object) {
        if (object_ != nullptr) {
            object_->add_ref();
        }
    }

    /// Takes over a reference that the caller already holds (every object is born with one).
    static Ref adopt(T* object) noexcept { return Ref(object, Adopt{}); }

    Ref(const Ref& other) noexcept : Ref(other.object_) {}
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}

    template <typename U>
        requires std::is_convertible_v<U*, T*>
    Ref(const Ref<U>& other) noexcept : Ref(static_cast<T*>(other.get())) {}

    template <typename U>
        requires std::is_convertible_v<U*, T*>
    Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}

    Ref& operator=(const Ref& other) noexcept {
        Ref copy(other);  // first, so that assigning to oneself is safe
        swap(copy);
        return *this;
    }
    Ref& operator=(Ref&& other) noexcept {
        Ref(std::move(other)).swap(*this);
        return *this;
    }

    ~Ref() {
        if (object_ != nullptr) {
            object_->release();
        }
    }

    void reset() noexcept {
        if (object_ != nullptr) {
            std::exchange(object_, nullptr)->release();
        }
    }

    /// Takes over a reference into an empty `Ref`, without looking at what it held.
    void set_adopted(T* object) noexcept { object_ = object; }

    /// Gives the reference away; the caller must release it.
    [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }

    void swap(Ref& other) noexcept { std::swap(object_, other.object_); }

    T* get() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }

    friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }
    friend bool operator==(const Ref& a, std::nullptr_t) noexcept { return a.object_ == nullptr; }

private:
    struct Adopt {};
    Ref(T* object, Adopt /*adopt*/) noexcept : object_(object) {}

    T* object_ = nullptr;
};

/// Creates a `T` and owns its first reference.
template <typename T, typename... Args>
Ref<T> make_ref(Args&&... args) {
    return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace trueasync
