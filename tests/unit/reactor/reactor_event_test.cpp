#include <trueasync/reactor/reactor_event.hpp>

#include <atomic>
#include <functional>
#include <support/coro_test.hpp>
#include <thread>
#include <trueasync/reactor/uv_reactor.hpp>

namespace trueasync::testing {
namespace {

/// Calls a function when it is let go. Lies on the test's stack.
class Listener final : public Callback {
public:
    explicit Listener(std::function<void()> on_dispose = [] {}) : on_dispose_(std::move(on_dispose)) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { ++calls; }
    void dispose(Event* event) noexcept override {
        ++disposed;
        on_dispose_();
        Callback::dispose(event);
    }
    int calls = 0;
    int disposed = 0;

private:
    void destroy() noexcept override {}
    std::function<void()> on_dispose_;
};

/// Tells what its reactor does to it.
class FakeReactorEvent final : public ReactorEvent {
public:
    explicit FakeReactorEvent(Reactor& reactor) : ReactorEvent(reactor, EventType::Event, Firing::Repeating) {}
    std::string info() const override { return "Fake"; }
    Status ask_io() const {
        IoReactor* io = nullptr;
        return find_io(io);
    }
    int closes = 0;
    bool had_reactor = false;
    bool was_closed = false;

protected:
    void on_reactor_close() noexcept override {
        ++closes;
        had_reactor = reactor() != nullptr;
        was_closed = is_closed();
    }
};

enum class Kind : std::uint8_t { Virtual, Best, Portable };

class ReactorEvents : public ::testing::TestWithParam<Kind> {
protected:
    RecordingSink sink;

    std::unique_ptr<Reactor> make() {
        if (GetParam() == Kind::Virtual) {
            return std::make_unique<VirtualReactor>();
        }
        return make_uv_reactor(GetParam() == Kind::Best ? Backend::Best : Backend::Portable);
    }
    void in_runtime(const std::function<void(Reactor&)>& body) {
        RunOptions options;
        options.reactor = make();
        options.sink = &sink;
        run([&] { body(Scheduler::current()->reactor()); }, std::move(options));
    }
};

INSTANTIATE_TEST_SUITE_P(
    Reactors,
    ReactorEvents,
    ::testing::Values(Kind::Virtual, Kind::Best, Kind::Portable),
    [](const auto& kind) {
        return std::string(kind.param == Kind::Virtual ? "Virtual" : kind.param == Kind::Best ? "Best" : "Portable");
    }
);

void expect_ended(const Status& status) {
    EXPECT_TRUE(status.is(ErrorCode::EventClosed));
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error()->message().find("the runtime has ended"), std::string::npos) << status.error()->message();
}

TEST_P(ReactorEvents, HandlesOutliveTheRun) {
    /// [outlives]
    Ref<TimerEvent> timer;
    in_runtime([&](Reactor& reactor) {
        timer = TimerEvent::create(reactor, 1h);
        timer->set_hidden(true);  // it would keep `run` going for an hour
        ASSERT_TRUE(timer->start());
    });
    EXPECT_TRUE(timer->is_closed());
    EXPECT_FALSE(timer->start().ok());  // "the runtime has ended"
    /// [outlives]
    EXPECT_EQ(timer->reactor(), nullptr);
    EXPECT_EQ(timer->state(), EventState::Closed);
    EXPECT_FALSE(timer->is_in_loop());
    Listener listener;
    expect_ended(timer->start());
    expect_ended(timer->stop());
    expect_ended(timer->add_callback(listener));
    expect_ended(timer->rearm(1ms));
    expect_ended(timer->notify(nullptr, nullptr));
    timer->set_hidden(false);
    timer->close();
    EXPECT_EQ(timer->info(), "Timer(timeout=3600000ms, once)");
}

TEST_P(ReactorEvents, AwaitAfterTheRunSaysWhy) {
    Ref<TimerEvent> timer;
    in_runtime([&](Reactor& reactor) { timer = TimerEvent::create(reactor, 1ms); });
    in_runtime([&](Reactor&) {
        try {
            await(timer);
            ADD_FAILURE();
        } catch (const AsyncError& error) {
            EXPECT_EQ(error.code(), ErrorCode::EventClosed);
            EXPECT_NE(std::string(error.what()).find("the runtime has ended"), std::string::npos) << error.what();
        }
    });
}

TEST_P(ReactorEvents, TriggerMayBeFiredAfterTheRun) {
    Ref<TriggerEvent> fired;
    Ref<TriggerEvent> another;
    in_runtime([&](Reactor& reactor) {
        fired = TriggerEvent::create(reactor);
        another = TriggerEvent::create(reactor);
        another->set_hidden(true);
        ASSERT_TRUE(another->start());
        fired->fire();
    });
    fired->fire();
    another->fire();
    std::thread([&] { another->fire(); }).join();
    expect_ended(another->start());
    fired.reset();
    another->fire();
}

TEST_P(ReactorEvents, ThreadFiresWhileTheRunEnds) {
    for (int round = 0; round < 20; ++round) {
        Ref<TriggerEvent> trigger;
        std::atomic<bool> is_going = false;
        std::atomic<bool> is_over = false;
        std::thread thread;
        in_runtime([&](Reactor& reactor) {
            trigger = TriggerEvent::create(reactor);
            thread = std::thread([&] {
                while (!is_over.load(std::memory_order_relaxed)) {
                    trigger->fire();
                    is_going.store(true, std::memory_order_relaxed);
                }
            });
            while (!is_going.load(std::memory_order_relaxed)) {
                suspend();
            }
        });
        is_over.store(true, std::memory_order_relaxed);
        thread.join();
    }
}

TEST_P(ReactorEvents, CloseNamesEachThatIsInTheLoop) {
    auto reactor = make();
    auto armed = TimerEvent::create(*reactor, 10ms);
    auto idle = TimerEvent::create(*reactor, 20ms);
    auto trigger = TriggerEvent::create(*reactor);
    ASSERT_TRUE(armed->start());
    ASSERT_TRUE(trigger->start());
    trigger->set_hidden(true);
    EXPECT_EQ(reactor->close(), (std::vector<std::string>{"Timer(timeout=10ms, once)", "Trigger(active)"}));
    EXPECT_TRUE(idle->is_closed());
    EXPECT_EQ(reactor->active().visible, 0U);
    EXPECT_EQ(reactor->active().hidden, 0U);
    EXPECT_TRUE(reactor->close().empty());
    reactor.reset();
    expect_ended(idle->start());
}

TEST_P(ReactorEvents, ReactorThatIsDroppedClosesToo) {
    auto reactor = make();
    auto timer = TimerEvent::create(*reactor, 10ms);
    ASSERT_TRUE(timer->start());
    reactor.reset();
    expect_ended(timer->start());
}

TEST_P(ReactorEvents, ClosedEventIsToldWhileTheReactorIsThere) {
    auto reactor = make();
    auto event = make_ref<FakeReactorEvent>(*reactor);
    ASSERT_TRUE(event->start());
    reactor->close();
    EXPECT_EQ(event->closes, 1);
    EXPECT_TRUE(event->had_reactor);
    EXPECT_TRUE(event->was_closed);
    reactor->close();
    reactor.reset();
    EXPECT_EQ(event->closes, 1);
}

TEST_P(ReactorEvents, MadeWhileTheReactorClosesIsBornClosed) {
    auto reactor = make();
    Ref<TimerEvent> late;
    Listener listener([&] { late = TimerEvent::create(*reactor, 1ms); });
    auto timer = TimerEvent::create(*reactor, 10ms);
    ASSERT_TRUE(timer->add_callback(listener));
    reactor->close();
    ASSERT_NE(late, nullptr);
    expect_ended(late->start());
    EXPECT_EQ(late->reactor(), nullptr);
}

TEST_P(ReactorEvents, LastReferenceOfAnotherGoesWhileTheReactorCloses) {
    auto reactor = make();
    Ref<TimerEvent> first;
    Ref<TimerEvent> third;
    Listener listener([&] {
        first.reset();
        third.reset();
    });
    first = TimerEvent::create(*reactor, 10ms);
    auto second = TimerEvent::create(*reactor, 10ms);
    third = TimerEvent::create(*reactor, 10ms);
    ASSERT_TRUE(first->start());
    ASSERT_TRUE(third->start());
    ASSERT_TRUE(second->add_callback(listener));
    EXPECT_EQ(reactor->close().size(), 1U);
    EXPECT_EQ(listener.disposed, 1);
}

TEST_P(ReactorEvents, OnlyRealReactorsHaveDescriptors) {
    auto reactor = make();
    auto event = make_ref<FakeReactorEvent>(*reactor);
    if (GetParam() == Kind::Virtual) {
        EXPECT_EQ(reactor->io(), nullptr);
        EXPECT_EQ(
            event->ask_io().error()->message(), "this reactor has no descriptors, only timers and triggers: Fake"
        );
    } else {
        EXPECT_NE(reactor->io(), nullptr);
        EXPECT_TRUE(event->ask_io());
    }
    reactor.reset();
    expect_ended(event->ask_io());
}

TEST(ReactorEventNotify, StoppedOneShotLeavesTheLoop) {
    VirtualReactor reactor;
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms);
    ASSERT_TRUE(timer->add_callback(listener));
    timer->set_notify_handler([](Event&, void*&, Error*&) { return Event::Notify::Stop; });
    ASSERT_TRUE(timer->start());
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms);
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(listener.calls, 0);
    EXPECT_EQ(reactor.active().visible, 0U);
    EXPECT_FALSE(timer->is_in_loop());
    EXPECT_EQ(timer->state(), EventState::Stopped);
    timer->set_notify_handler(nullptr);
    ASSERT_TRUE(timer->start());  // and may be started again
    reactor.advance(10ms);
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(listener.calls, 1);
    EXPECT_EQ(reactor.active().visible, 0U);
}

TEST(ReactorEventNotify, HandlerMayProlongATimer) {
    VirtualReactor reactor;
    Listener listener;
    auto timer = TimerEvent::create(reactor, 10ms);
    ASSERT_TRUE(timer->add_callback(listener));
    timer->set_notify_handler([](Event& event, void*&, Error*&) {
        auto& prolonged = static_cast<TimerEvent&>(event);
        prolonged.set_notify_handler(nullptr);
        EXPECT_TRUE(prolonged.rearm(30ms));
        return Event::Notify::Stop;
    });
    ASSERT_TRUE(timer->start());
    reactor.advance(10ms);
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_TRUE(timer->is_in_loop());
    EXPECT_EQ(reactor.active().visible, 1U);
    reactor.advance(30ms);
    ASSERT_TRUE(reactor.execute(true));
    EXPECT_EQ(listener.calls, 1);
    EXPECT_TRUE(timer->is_closed());
}

}  // namespace
}  // namespace trueasync::testing
