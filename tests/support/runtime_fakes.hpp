#pragma once

/// @file support/runtime_fakes.hpp
/// Stand-ins for what the runtime calls: bodies, microtasks, callbacks, loop events, owners, hosts.

#include <functional>
#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>
#include <utility>
#include <vector>

#if defined(TA_ASAN)
#include <sanitizer/lsan_interface.h>
#endif

namespace trueasync::testing {

/// A coroutine made of a function, for what `spawn` does not offer: a priority or a cancellation before the spawn, an
/// owner.
class FunctionCoroutine final : public Coroutine {
public:
    explicit FunctionCoroutine(std::function<void()> body, std::source_location where = std::source_location::current())
        : Coroutine(where), body_(std::move(body)) {}

protected:
    void run() override {
        try {
            body_();
        } catch (...) {
            fail(detail::to_error());
        }
        body_ = nullptr;
    }

private:
    std::function<void()> body_;
};

inline Ref<FunctionCoroutine> make_coroutine(
    std::function<void()> body, std::source_location where = std::source_location::current()
) {
    return make_ref<FunctionCoroutine>(std::move(body), where);
}

/// Spawns with high priority: it goes to the head of the queue whenever it is made ready.
inline Ref<FunctionCoroutine> spawn_high(
    std::function<void()> body, std::source_location where = std::source_location::current()
) {
    Ref<FunctionCoroutine> coroutine = make_coroutine(std::move(body), where);
    coroutine->set_priority(Priority::High);
    EXPECT_TRUE(Scheduler::current()->spawn(*coroutine).ok());
    return coroutine;
}

/// A microtask made of a function; counts its ends.
class FunctionMicrotask final : public Microtask {
public:
    explicit FunctionMicrotask(std::function<Status()> body, int* destroyed = nullptr)
        : body_(std::move(body)), destroyed_(destroyed) {}
    ~FunctionMicrotask() override {
        if (destroyed_ != nullptr) {
            ++*destroyed_;
        }
    }
    Status run() override { return body_(); }

private:
    std::function<Status()> body_;
    int* destroyed_;
};

inline Ref<FunctionMicrotask> make_microtask(std::function<Status()> body, int* destroyed = nullptr) {
    return make_ref<FunctionMicrotask>(std::move(body), destroyed);
}

/// Queues a function as a microtask.
inline void add_microtask(std::function<void()> body) {
    auto task = make_microtask([body = std::move(body)] {
        body();
        return Status();
    });
    Scheduler::current()->add_microtask(*task);
}

/// A callback made of a function. The caller subscribes it and drops its own reference, or keeps it to unsubscribe.
class FunctionCallback final : public Callback {
public:
    explicit FunctionCallback(std::function<void()> body) : body_(std::move(body)) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { body_(); }

private:
    std::function<void()> body_;
};

/// Subscribes a function for as long as the event lives.
inline void subscribe(Event& event, std::function<void()> body) {
    const auto callback = make_ref<FunctionCallback>(std::move(body));
    EXPECT_TRUE(event.add_callback(*callback).ok());
}

/// A one-shot timer that calls a function on the loop, and counts as visible until then.
inline Ref<TimerEvent> call_after(Duration delay, std::function<void()> body, Duration period = Duration::zero()) {
    auto timer = TimerEvent::create(Scheduler::current()->reactor(), delay, period);
    subscribe(*timer, std::move(body));
    EXPECT_TRUE(timer->start().ok());
    return timer;
}

/// An event that needs a loop and tells what was done to it.
class FakeLoopEvent final : public Event {
public:
    explicit FakeLoopEvent(Firing firing = Firing::OneShot)
        : Event(EventType::Event, firing), active_(Scheduler::current()->reactor().active()) {
        use_loop();
    }

    Status start() override {
        ++starts;
        if (is_start_failing) {
            return Status::failure(ErrorCode::System, "this event does not start");
        }
        Status status = Event::start();
        if (status && is_firing_in_start) {
            notify(nullptr, nullptr).ignore();
        }
        return status;
    }
    Status stop() override {
        ++stops;
        return Event::stop();
    }

    int starts = 0;
    int stops = 0;
    int entered = 0;
    int left = 0;
    bool is_start_failing = false;
    bool is_firing_in_start = false;

protected:
    Status enter_loop() override {
        ++entered;
        return {};
    }
    void leave_loop() noexcept override { ++left; }
    ActiveEvents* active_events() noexcept override { return &active_; }

private:
    ActiveEvents& active_;
};

inline Ref<FakeLoopEvent> make_loop_event(Firing firing = Firing::OneShot) { return make_ref<FakeLoopEvent>(firing); }

/// Cancels whoever was spawned last: a helper coroutine, of which nobody has a handle.
inline void cancel_youngest() {
    Scheduler& scheduler = *Scheduler::current();
    scheduler.cancel(scheduler.alive().back(), Error::cancellation(CancelReason::UserRequest, "youngest"));
}

/// Nothing of any wait is left: not in the loop, not in the coroutine.
inline void expect_clean(const Coroutine& coroutine) {
    auto& clock = static_cast<VirtualReactor&>(Scheduler::current()->reactor());
    EXPECT_EQ(clock.timer_count(), 0U);
    EXPECT_EQ(clock.active().visible, 0U);
    EXPECT_EQ(clock.active().hidden, 0U);
    EXPECT_EQ(coroutine.wait(), nullptr);
    EXPECT_EQ(coroutine.waker().size(), 0U);
    EXPECT_FALSE(coroutine.waker().has_fired());
}

inline void expect_clean(const Event& event) {
    EXPECT_EQ(event.callback_count(), 0U) << event.info();
    EXPECT_EQ(event.loop_ref_count(), 0U) << event.info();
}

/// Destructors on an abandoned stack do not run, by contract: what is allocated while one of these lives is not called
/// leaked.
class LeaksExpected {
public:
#if defined(TA_ASAN)
    LeaksExpected() { __lsan_disable(); }
    ~LeaksExpected() { __lsan_enable(); }
#else
    LeaksExpected() {}
    ~LeaksExpected() {}
#endif
    LeaksExpected(const LeaksExpected&) = delete;
    LeaksExpected& operator=(const LeaksExpected&) = delete;
};

/// The text of the `std::runtime_error` that `body` throws; empty when it throws nothing.
template <typename F>
std::string what_of(F&& body) {
    try {
        body();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

/// Whether `body` throws an `E`. A function, because lines inside the argument of a macro are all the same.
template <typename E, typename F>
bool throws(F&& body) {
    try {
        body();
    } catch (const E&) {
        return true;
    }
    return false;
}

/// Whether a text contains another.
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// `file:line`, as reports print it.
inline std::string place_of(const std::source_location& where) { return to_string(Place(where)); }

}  // namespace trueasync::testing
