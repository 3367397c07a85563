#include <trueasync/runtime/host_hook.hpp>

#include <functional>
#include <map>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

/// An interpreter with one global frame stack, which each coroutine believes to be its own.
class FakeInterpreter final : public HostHook {
public:
    void start(Coroutine& coroutine) noexcept override {
        log(coroutine, "start");
        frames.clear();
        frames.push_back("root " + std::to_string(coroutine.id()));
    }
    void leave(Coroutine& coroutine) noexcept override {
        log(coroutine, "leave");
        saved_[&coroutine] = std::exchange(frames, {});
    }
    void enter(Coroutine& coroutine) noexcept override {
        log(coroutine, "enter");
        const auto found = saved_.find(&coroutine);
        ASSERT_NE(found, saved_.end()) << "entered without having been left";
        frames = std::move(found->second);
        saved_.erase(found);
    }
    void finish(Coroutine& coroutine) noexcept override {
        log(coroutine, "finish");
        if (!is_main(coroutine)) {
            EXPECT_EQ(frames, std::vector<std::string>{"root " + std::to_string(coroutine.id())});
        }
        frames.clear();
    }
    void woke() noexcept override {
        ++wakes;
        EXPECT_EQ(Scheduler::suspend(std::source_location()), WaitResult::Refused) << "this is no place to suspend";
        Scheduler::take_wait_error();
        if (on_woke) {
            std::exchange(on_woke, nullptr)();
        }
    }

    void coming(const Coroutine& soon, const Coroutine* later, Ahead step) noexcept override {
        if (step == Ahead::Stack) {
            comings += std::to_string(soon.id()) + (later != nullptr ? "," + std::to_string(later->id()) : "") + " ";
        }
        steps += std::to_string(static_cast<int>(step));
    }

    /// What a body does: pushes frames, suspends in between, finds them again.
    void call(int depth) {
        const std::string frame = std::to_string(current().id()) + "." + std::to_string(depth);
        frames.push_back(frame);
        suspend();
        EXPECT_EQ(frames.back(), frame);
        if (depth > 0) {
            call(depth - 1);
        }
        suspend();
        EXPECT_EQ(frames.back(), frame);
        frames.pop_back();
    }

    std::string calls_of(const Coroutine& coroutine) { return calls_[coroutine.id()]; }
    bool has_saved() const { return !saved_.empty(); }

    std::vector<std::string> frames;
    int wakes = 0;
    std::string comings;
    std::string steps;
    std::function<void()> on_woke;

private:
    static bool is_main(const Coroutine& coroutine) { return coroutine.id() == 1; }
    void log(const Coroutine& coroutine, const char* what) {
        EXPECT_TRUE(coroutine.is_running()) << what << " of " << coroutine.info();
        calls_[coroutine.id()] += std::string(what) + " ";
    }

    std::map<const Coroutine*, std::vector<std::string>> saved_;
    std::map<std::uint32_t, std::string> calls_;
};

CORO_TEST(HostHook, IsToldOfStartLeaveEnterFinish) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    EXPECT_EQ(scheduler().host_hook(), &host);
    auto child = spawn([] {
        suspend();
        sleep_for(1ms);
    });
    suspend();
    await(child);
    EXPECT_EQ(host.calls_of(child.coroutine()), "start leave enter leave enter finish ");
    EXPECT_EQ(host.calls_of(scheduler().main()), "leave enter leave enter ");
    EXPECT_FALSE(host.has_saved());
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, StateIsReallySavedAndRestored) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    host.frames = {"main"};
    std::vector<Handle<void>> children;
    for (int i = 0; i < 5; ++i) {
        children.push_back(spawn([&host, i] { host.call(3 + i); }));
    }
    for (const auto& child : children) {
        await(child);
        EXPECT_EQ(host.frames, std::vector<std::string>{"main"});
    }
    EXPECT_FALSE(host.has_saved());
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, MutedIsToldOfLongWaysOnly) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    host.frames = {"main"};
    const auto by_hand = [&host](auto&& wait) {
        const std::vector<std::string> frames = host.frames;
        Scheduler::mute_hook(current());
        wait();
        Scheduler::unmute_hook(current());
        host.frames = frames;
    };
    const auto take_turns = [&] {
        for (int i = 0; i < 10; ++i) {
            by_hand([] { suspend(); });
        }
    };
    auto child = spawn([&] {
        take_turns();
        by_hand([] { sleep_for(1ms); });
        suspend();
    });
    take_turns();
    EXPECT_EQ(host.calls_of(child.coroutine()), "start leave ") << "the first stop is a long one";
    EXPECT_EQ(host.calls_of(scheduler().main()), "leave ") << "as is the one that starts somebody";
    by_hand([&] { await(child); });
    EXPECT_EQ(host.calls_of(child.coroutine()), "start leave leave finish ");
    EXPECT_EQ(host.frames, std::vector<std::string>{"main"});
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, MayStopSimplyWithoutBeingTold) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    host.frames = {"main"};
    const auto stop = [&host] {
        std::vector<std::string> frames;
        Coroutine* self = Scheduler::suspend_simple(std::source_location(), [&](Coroutine& leaving) {
            EXPECT_EQ(&leaving, &current());
            frames = std::exchange(host.frames, {"nobody"});
        });
        if (self != nullptr) {
            EXPECT_EQ(self, &current());
            EXPECT_TRUE(Scheduler::is_undisturbed_but_hooked(*self));
            host.frames = frames;
        }
        return self != nullptr;
    };
    const auto stop_muted = [&host] {
        const std::vector<std::string> frames = host.frames;
        Scheduler::mute_hook(current());
        suspend();
        Scheduler::unmute_hook(current());
        host.frames = frames;
    };
    EXPECT_FALSE(stop()) << "nobody is ready";
    auto child = spawn([&] {
        stop_muted();
        stop_muted();
        host.frames.emplace_back("child");
        for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(stop());
            EXPECT_EQ(host.frames.back(), "child");
        }
        host.frames.pop_back();
        suspend();
    });
    EXPECT_FALSE(stop()) << "who has not begun is special";
    stop_muted();
    stop_muted();
    const std::string calls = host.calls_of(child.coroutine());
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(stop());
        EXPECT_EQ(host.frames, std::vector<std::string>{"main"});
    }
    EXPECT_EQ(host.calls_of(child.coroutine()), calls);
    stop_muted();
    EXPECT_FALSE(stop()) << "who was told that it leaves must be told that it is back";
    await(child);
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, IsBalancedForHandedOverContexts) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    host.frames = {"main"};
    std::vector<Handle<void>> children;
    for (int i = 0; i < 5; ++i) {
        children.push_back(spawn([&host] { EXPECT_EQ(host.frames.size(), 1U); }));
    }
    await(children.back());
    EXPECT_EQ(scheduler().stats().handovers, 4U);
    for (const auto& child : children) {
        EXPECT_EQ(host.calls_of(child.coroutine()), "start finish ");
    }
    EXPECT_EQ(host.frames, std::vector<std::string>{"main"});
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, NeverStartedOnesAreNotTold) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    auto child = spawn([] {});
    child.cancel();
    EXPECT_THROW(await(child), Cancellation);
    EXPECT_EQ(host.calls_of(child.coroutine()), "");
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, CancelledAndFailedOnesAreFinished) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    auto cancelled = spawn([] { sleep_for(1h); });
    auto failed = spawn([] { throw std::runtime_error("no"); });
    suspend();
    cancelled.cancel();
    EXPECT_THROW(await(cancelled), Cancellation);
    EXPECT_THROW(await(failed), std::runtime_error);
    EXPECT_EQ(host.calls_of(cancelled.coroutine()), "start leave enter finish ");
    EXPECT_EQ(host.calls_of(failed.coroutine()), "start finish ");
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, MaySpawnAfterASleep) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    std::string order;
    host.on_woke = [&order] { spawn([&order] { order += "spawned "; }); };
    suspend();
    EXPECT_EQ(host.wakes, 0) << "nobody has slept";
    sleep_for(1ms);
    order += "main ";
    suspend();
    EXPECT_EQ(order, "main spawned ");
    EXPECT_EQ(host.wakes, 1);
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, IsToldWhoComesNextButOne) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    std::vector<Handle<void>> sleepers;
    for (int i = 0; i < 4; ++i) {
        sleepers.push_back(spawn([] { sleep_for(1ms); }));  // 2 to 5, all of them ready at the same moment
    }
    for (auto& sleeper : sleepers) {
        await(sleeper);
    }
    // When 2 ends 3 runs next: 4 comes soon and 5 later. When 3 ends main is ready too, since it waited for 2.
    EXPECT_EQ(host.comings.substr(0, host.comings.find(' ')), "4,5") << host.comings;
    EXPECT_NE(host.comings.find("5,1 "), std::string::npos) << host.comings;
    EXPECT_NE(host.comings.find(" 1 "), std::string::npos) << "nobody behind main: " << host.comings;
    EXPECT_EQ(host.steps.substr(0, 6), "012012");
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, IsToldWhoComesNextInSteps) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    Scheduler::look_ahead_in_steps();
    Scheduler::look_on();
    EXPECT_EQ(host.steps, "") << "nobody is ready";
    auto first = spawn([&] {
        suspend();
        Scheduler::look_ahead_in_steps();  // the second is next, then main
        EXPECT_EQ(host.comings, "3,1 ");
        EXPECT_EQ(host.steps, "0");
        Scheduler::look_on();
        EXPECT_EQ(host.steps, "01");
        Scheduler::look_on();
        Scheduler::look_on();
        EXPECT_EQ(host.steps, "012") << "there is nothing left to be fetched";
    });
    auto second = spawn([] {
        suspend();
        suspend();
    });
    suspend();
    suspend();
    suspend();
    await(first);
    await(second);
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, SleepingLoopIsInNobodysState) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    host.frames = {"main"};
    std::size_t frames_in_loop = 99;
    const auto timer = call_after(1ms, [&] { frames_in_loop = host.frames.size(); });
    sleep_for(2ms);
    EXPECT_EQ(frames_in_loop, 0U);  // main's state was saved before the loop slept
    EXPECT_EQ(host.frames, std::vector<std::string>{"main"});
    scheduler().set_host_hook(nullptr);
}

CORO_TEST(HostHook, WorksTogetherWithSwitchHandlers) {
    FakeInterpreter host;
    scheduler().set_host_hook(&host);
    struct Data {
        FakeInterpreter& host;
        std::string trace;
    } data{host, {}};
    auto child = spawn([] { suspend(); });
    child.coroutine().add_switch_handler(
        {[](Coroutine&, SwitchKind kind, void* raw) {
             auto& self = *static_cast<Data*>(raw);
             self.trace += std::to_string(static_cast<int>(kind)) + ":" + std::to_string(self.host.frames.size()) + " ";
             return true;
         },
         &data}
    );
    suspend();
    await(child);
    EXPECT_EQ(data.trace, "0:1 1:1 0:1 2:1 ");  // handlers always see the coroutine's own state
    scheduler().set_host_hook(nullptr);
}

RUNTIME_TEST(HostHook, SetBeforeTheStartSeesMain) {
    FakeInterpreter host;
    SinkScope scope(sink);
    Runtime own(std::make_unique<VirtualReactor>());
    own.scheduler().set_host_hook(&host);
    ASSERT_TRUE(own.start().ok());
    Coroutine& main = own.scheduler().main();
    host.frames = {"main"};
    auto child = spawn([] { sleep_for(1ms); });
    suspend();
    EXPECT_EQ(host.calls_of(main), "leave enter ");
    EXPECT_EQ(host.frames, std::vector<std::string>{"main"});
    EXPECT_EQ(own.finish(), nullptr);  // main ends while the child still sleeps
    EXPECT_EQ(host.calls_of(child.coroutine()), "start leave enter finish ");
}

RUNTIME_TEST(HostHook, MainIsFinishedOnceAndLast) {
    FakeInterpreter host;
    SinkScope scope(sink);
    auto main = make_coroutine([] {});
    Runtime own(std::make_unique<VirtualReactor>());
    own.scheduler().set_host_hook(&host);
    ASSERT_TRUE(own.start(main.get()).ok());
    spawn([] { sleep_for(1ms); });
    suspend();
    EXPECT_EQ(own.finish(), nullptr);
    EXPECT_EQ(host.calls_of(*main), "leave enter finish ") << "nothing may follow the finish";
    EXPECT_FALSE(host.has_saved());
}

CORO_TEST(HostHook, AbsentHookAndHandlersCostNothing) {
    auto other = spawn([] { settle(50); });
    suspend();
    const SchedulerStats before = scheduler().stats();
    settle(20);
    EXPECT_EQ(scheduler().stats().switches - before.switches, 40U);
    EXPECT_EQ(scheduler().stats().ticks, before.ticks);
    await(other);
}

}  // namespace
}  // namespace trueasync::testing
