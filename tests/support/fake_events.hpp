#pragma once

/// @file support/fake_events.hpp
/// Events, subscribers, a loop and a garbage collector that exist in tests only.

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <trueasync/base/status.hpp>
#include <trueasync/event/event.hpp>
#include <trueasync/event/event_ref.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace trueasync::testing {

/// True when `status` is a failure whose message contains `text`.
inline bool says(const Status& status, const std::string& text) {
    return !status.ok() && status.error()->message().find(text) != std::string::npos;
}

/// What happened to an event, to be asked when it is gone.
struct Life {
    int destroyed = 0;
    int last_words = 0;
    int disposed = 0;
};

/// An event that needs no loop.
class PassiveEvent : public Event {
public:
    explicit PassiveEvent(Life& life, Firing firing = Firing::OneShot, EventType type = EventType::Event) noexcept
        : Event(type, firing), life_(life) {}
    ~PassiveEvent() override { ++life_.destroyed; }

    static Ref<PassiveEvent> create(Life& life, Firing firing = Firing::OneShot) {
        return make_ref<PassiveEvent>(life, firing);
    }

protected:
    void on_destroy() noexcept override { ++life_.last_words; }

    Life& life_;
};

/// A loop that closes handles asynchronously, as libuv does.
class FakeLoop {
public:
    ActiveEvents active;

    /// Like `uv_close`: `finish` is called on the next turn.
    void close(std::function<void()> finish) { closing_.push_back(std::move(finish)); }
    std::size_t closing() const noexcept { return closing_.size(); }
    void turn() {
        for (const auto& finish : std::exchange(closing_, {})) {
            finish();
        }
    }

private:
    std::vector<std::function<void()>> closing_;
};

/// An event of a `FakeLoop`.
class LoopEvent : public Event {
public:
    explicit LoopEvent(FakeLoop& loop, Life& life, Firing firing = Firing::Repeating) noexcept
        : Event(EventType::Timer, firing), loop_(loop), life_(life) {
        use_loop();
    }
    ~LoopEvent() override { ++life_.destroyed; }

    static Ref<LoopEvent> create(FakeLoop& loop, Life& life, Firing firing = Firing::Repeating) {
        return make_ref<LoopEvent>(loop, life, firing);
    }

    int entered = 0;
    int left = 0;
    ErrorCode entering_fails_with = ErrorCode::Cancelled;  // `Cancelled`: it does not fail
    bool closes_later = false;
    std::function<void()> last_words;

protected:
    [[nodiscard]] Status enter_loop() override {
        ++entered;
        return entering_fails_with == ErrorCode::Cancelled ? Status() : Status::failure(entering_fails_with);
    }
    void leave_loop() noexcept override { ++left; }
    ActiveEvents* active_events() noexcept override { return &loop_.active; }
    void on_destroy() noexcept override {
        ++life_.last_words;
        if (last_words) {
            last_words();
        }
    }
    bool close_async() noexcept override {
        if (closes_later) {
            loop_.close([this] { finish_destroy(); });
        }
        return closes_later;
    }

private:
    FakeLoop& loop_;
    Life& life_;
};

/// An event that keeps its result, as coroutines and futures do.
class ResultEvent : public PassiveEvent {
public:
    explicit ResultEvent(Life& life) noexcept : PassiveEvent(life, Firing::OneShot, EventType::Future) {}

    void complete(int value) {
        value_ = value;
        has_value_ = true;
        fire(&value_, nullptr).ignore();
    }
    void fail(Ref<Error> error) {
        error_ = std::move(error);
        fire(nullptr, error_.get()).ignore();
    }

    bool replay(Callback* callback, void** result, Ref<Error>* error) override {
        return (has_value_ || error_ != nullptr) &&
               hand_out(has_value_ ? &value_ : nullptr, error_.get(), callback, result, error);
    }

    std::string info() const override { return is_closed() ? "FutureState(completed)" : "FutureState(pending)"; }

    using Event::report_leftovers;

protected:
    bool has_unused_result() const noexcept override { return has_value_; }
    Error* unhandled_error() const noexcept override { return error_.get(); }

private:
    int value_ = 0;
    bool has_value_ = false;
    Ref<Error> error_;
};

/// An event with a descriptor.
class DescriptorEvent : public PassiveEvent {
public:
    DescriptorEvent(Life& life, int fd) noexcept : PassiveEvent(life), fd_(fd) {}

    int descriptor() const noexcept override { return fd_; }

private:
    int fd_;
};

/// An event with a pointer to a host object behind its own fields.
class HoldingEvent : public PassiveEvent {
public:
    HoldingEvent(Life& life, void* object) noexcept : PassiveEvent(life), object_(object) {}

    void hold() noexcept {
        hold_host_object(
            static_cast<std::uint32_t>(reinterpret_cast<std::byte*>(&object_) - reinterpret_cast<std::byte*>(this))
        );
    }
    void* held() noexcept { return *reinterpret_cast<void**>(reinterpret_cast<std::byte*>(this) + extra_offset()); }

private:
    void* object_;
};

/// Storage for an event that belongs to the test; the event has the flag `NoFreeMemory`.
template <typename T>
class InPlace {
public:
    template <typename... Args>
    explicit InPlace(Args&&... args) : event_(new(storage_) T(std::forward<Args>(args)...)) {
        event_->mark_no_free_memory();
    }
    InPlace(const InPlace&) = delete;
    InPlace& operator=(const InPlace&) = delete;

    T& operator*() noexcept { return *event_; }
    T* operator->() noexcept { return event_; }

private:
    alignas(T) std::byte storage_[sizeof(T)];
    T* event_;
};

/// A subscriber that runs a function and counts. Counted: `subscriber()` makes one.
class Subscriber : public Callback {
public:
    using Fn = std::function<void(Event& event, void* result, Error* error)>;

    explicit Subscriber(Fn fn = {}) : fn_(std::move(fn)) {}

    void call(Event& event, void* result, Error* error) override {
        ++calls;
        last_result = result;
        last_code = error != nullptr ? error->code() : ErrorCode::System;
        has_error = error != nullptr;
        if (fn_) {
            const Fn fn = fn_;  // the subscriber may go while it runs
            fn(event, result, error);
        }
    }
    void dispose(Event* event) noexcept override {
        ++disposals;
        disposed_by = event;
        if (on_dispose) {
            const auto fn = on_dispose;
            fn(event);
        }
        Callback::dispose(event);
    }

    int calls = 0;
    int disposals = 0;
    Event* disposed_by = nullptr;
    void* last_result = nullptr;
    bool has_error = false;
    ErrorCode last_code = ErrorCode::System;
    std::function<void(Event*)> on_dispose;

protected:
    ~Subscriber() override = default;

private:
    Fn fn_;
};

inline Ref<Subscriber> subscriber(Subscriber::Fn fn = {}) { return make_ref<Subscriber>(std::move(fn)); }

/// A host that counts its own objects and frees them in a sweep, like a language with a garbage collector.
///
/// Each object is an event or an `EventRef`, constructed in place, with the host's `Object` behind it.
class FakeCollector final : public HostObjects {
public:
    struct Object {
        std::uint32_t references = 1;
        void (*end)(Object& object) = nullptr;
        std::unique_ptr<std::byte[]> memory;
        EventHeader* header = nullptr;
    };

    FakeCollector() { set_host_objects(this); }
    ~FakeCollector() override {
        sweep();
        set_host_objects(nullptr);
    }
    FakeCollector(const FakeCollector&) = delete;
    FakeCollector& operator=(const FakeCollector&) = delete;

    /// A new object of the host that is a `T`; the caller holds its first reference.
    template <typename T, typename... Args>
    T& make(Args&&... args) {
        static_assert(alignof(T) <= alignof(std::max_align_t) && sizeof(T) % alignof(Object) == 0);
        std::unique_ptr<std::byte[]> memory(new std::byte[sizeof(T) + sizeof(Object)]);
        T* const header = new (memory.get()) T(std::forward<Args>(args)...);
        auto* const object = new (memory.get() + sizeof(T)) Object;
        object->memory = std::move(memory);
        object->header = header;
        object->end = [](Object& self) {
            if constexpr (std::is_base_of_v<Event, T>) {
                static_cast<T*>(self.header)->host_free();
            } else {
                static_cast<T*>(self.header)->~T();
            }
        };
        header->become_host_object(static_cast<std::uint32_t>(sizeof(T)));
        objects_.push_back(object);
        return *header;
    }

    void add_ref(void* object) noexcept override { ++static_cast<Object*>(object)->references; }
    void release(void* object) noexcept override { --static_cast<Object*>(object)->references; }
    std::uint32_t ref_count(const void* object) const noexcept override {
        return static_cast<const Object*>(object)->references;
    }

    /// Frees what nobody refers to, and what only that referred to. Returns how many objects went.
    std::size_t sweep() {
        std::size_t freed = 0;
        for (bool again = true; again;) {
            again = false;
            for (std::size_t i = 0; i < objects_.size(); ++i) {
                if (objects_[i]->references == 0) {
                    Object* const object = objects_[i];
                    objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(i));
                    object->end(*object);
                    const auto memory = std::move(object->memory);
                    object->~Object();
                    ++freed;
                    again = true;
                    break;
                }
            }
        }
        return freed;
    }

    std::size_t live() const noexcept { return objects_.size(); }

private:
    std::vector<Object*> objects_;
};

}  // namespace trueasync::testing
