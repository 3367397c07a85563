#include <trueasync/reactor/timer.hpp>
#include <trueasync/reactor/uv_reactor.hpp>

#include <dlfcn.h>

#include <ctime>
#include <support/coro_test.hpp>

// Run by `clock.jumps`, with tests/clock preloaded; it repeats the other tests of timers there too.

namespace trueasync::testing {
namespace {

class ClockJump : public ::testing::TestWithParam<Backend> {
protected:
    void SetUp() override {
        if (push_ == nullptr) {
            GTEST_SKIP() << "no jumping clock is preloaded: ctest -R clock.jumps";
        }
    }

    void in_runtime(const std::function<void()>& body) {
        RunOptions options;
        options.reactor = make_uv_reactor(GetParam());
        run([&] { body(); }, std::move(options));
    }

    void push(Duration forward) { push_(forward.count()); }

private:
    using Push = void (*)(std::int64_t nanoseconds);
    Push push_ = reinterpret_cast<Push>(dlsym(RTLD_DEFAULT, "push_steady_clock"));
};

INSTANTIATE_TEST_SUITE_P(
    Backends,
    ClockJump,
    ::testing::Values(Backend::Best, Backend::Portable),
    [](const auto& test) { return test.param == Backend::Best ? "Best" : "Portable"; }
);

TEST_P(ClockJump, WallClockDoesJump) {
    const auto first = std::time(nullptr);
    const auto second = std::time(nullptr);
    EXPECT_GT(std::abs(second - first), 100'000);
}

TEST_P(ClockJump, SteadyClockForwardFiresWhatIsDueOnceAndInOrder) {
    in_runtime([&] {
        std::vector<int> order;
        std::vector<Handle<void>> sleepers;
        for (const int hours : {3, 1, 2}) {
            sleepers.push_back(spawn([&order, hours] {
                sleep_for(hours * 1h);
                order.push_back(hours);
            }));
        }
        auto late = spawn([] { sleep_for(100h); });
        suspend();
        push(5h);
        for (const auto& sleeper : sleepers) {
            await(sleeper);
        }
        EXPECT_EQ(order, (std::vector{1, 2, 3}));
        EXPECT_FALSE(late.is_finished());
        late.cancel();
    });
}

TEST_P(ClockJump, PeriodicTimerDoesNotCatchUp) {
    in_runtime([&] {
        Reactor& reactor = Scheduler::current()->reactor();
        auto timer = TimerEvent::create(reactor, 1h, 1h);
        ASSERT_TRUE(timer->start());
        push(10h);
        await(timer);
        EXPECT_GT(timer->deadline(), reactor.now());
        ASSERT_TRUE(timer->stop());
    });
}

}  // namespace
}  // namespace trueasync::testing
