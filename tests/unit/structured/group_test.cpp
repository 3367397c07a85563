#include <trueasync/structured/group.hpp>

#include <memory>
#include <string>
#include <support/coro_test.hpp>
#include <support/fake_events.hpp>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

/// A value as a host has it: counted, and moved by stealing the count.
struct HostValue {
    HostValue() = default;
    explicit HostValue(int number) : held(std::make_shared<int>(number)) {}
    std::shared_ptr<int> held;
};

/// A coroutine of a host's own kind.
class HostCoroutine final : public Coroutine {
public:
    explicit HostCoroutine(std::function<HostValue()> body) : body_(std::move(body)) {}
    void* result() noexcept override { return &value_; }

protected:
    void run() override {
        try {
            value_ = body_();
        } catch (...) {
            fail(detail::to_error());
        }
        body_ = nullptr;
    }
    void drop_body() noexcept override { body_ = nullptr; }

private:
    std::function<HostValue()> body_;
    HostValue value_;
};

using HostGroup = GroupOf<HostValue>;

Ref<Coroutine> task(std::function<HostValue()> body) { return make_ref<HostCoroutine>(std::move(body)); }

CORO_TEST(GroupEvent, CoreWithoutAFrontDoor) {
    /// [group_core]
    auto group = make_ref<HostGroup>(GroupKind::Group, GroupLimits{}, ScopeEvent::current());
    ASSERT_EQ(group->spawn(task([] { return HostValue(1); })), WaitResult::Ready);
    ASSERT_EQ(group->spawn(task([] { return HostValue(2); }), "two"), WaitResult::Ready);
    const auto all = group->all();
    ASSERT_EQ(wait_future(*all), WaitResult::Ready);
    group->handle_dropped();
    /// [group_core]
    ASSERT_EQ(all->get().size(), 2U);
    EXPECT_EQ(all->get()[1].first, TaskKey("two"));
    EXPECT_EQ(*all->get()[1].second.held, 2);
    EXPECT_EQ(group->info(), "TaskGroup(total=2, active=0)");
    EXPECT_EQ(group->type(), EventType::Group);
}

CORO_TEST(GroupEvent, LivesInStorageOfTheHost) {
    FakeCollector host;
    auto& group = host.make<HostGroup>(GroupKind::Group, GroupLimits{}, nullptr);
    ASSERT_EQ(
        group.spawn(task([] {
            suspend();
            return HostValue(1);
        })),
        WaitResult::Ready
    );
    group.release();
    EXPECT_EQ(host.sweep(), 0U) << "its tasks hold it";
    settle();
    EXPECT_EQ(host.sweep(), 1U);
}

CORO_TEST(GroupEvent, ValuesAreShownToACollectorAndFreed) {
    const HostValue value(7);
    {
        const auto group = make_ref<HostGroup>(GroupKind::Group, GroupLimits{}, nullptr);
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(group->spawn(task([&] { return value; })), WaitResult::Ready);
        }
        settle();
        int sum = 0;
        group->each_value([&](HostValue& held) { sum += *held.held; });
        EXPECT_EQ(sum, 700);
        EXPECT_EQ(value.held.use_count(), 101);
        group->handle_dropped();
    }
    EXPECT_EQ(value.held.use_count(), 1);
}

CORO_TEST(GroupEvent, FiresWhenItIsShutAndFinished) {
    const auto group = make_ref<HostGroup>(GroupKind::Group, GroupLimits{}, nullptr);
    ASSERT_EQ(group->spawn(task([] { return HostValue(1); })), WaitResult::Ready);
    auto waiter = spawn([&] { return wait_for(*group); });
    settle();
    EXPECT_FALSE(waiter.is_finished());
    group->shut();
    EXPECT_EQ(await(waiter), WaitResult::Ready);
    EXPECT_EQ(wait_for(*group), WaitResult::Ready) << "for who comes late too";
}

CORO_TEST(GroupEvent, TaskWithHandlersForItsEndKeepsItsScope) {
    std::string seen;
    struct Handler final : ScopeErrorHandler {
        explicit Handler(std::string& text) : seen(text) {}
        Ref<Error> call(ScopeEvent&, Coroutine&, Error& error) override {
            seen = error.message();
            return {};
        }
        std::string& seen;
    };
    const auto scope = ScopeEvent::create();
    scope->set_error_handler(std::make_shared<Handler>(seen));
    {
        const auto group = make_ref<HostGroup>(GroupKind::Group, GroupLimits{}, scope.get());
        const auto one = task([] { return HostValue(1); });
        std::unique_ptr<FinallyHandler> handler = detail::make_finally([] { throw std::runtime_error("F"); });
        one->add_finally(handler);
        ASSERT_EQ(group->spawn(one), WaitResult::Ready);
        settle(2);
        group->handle_dropped();
    }
    settle();
    EXPECT_EQ(seen, "std::runtime_error: F");
}

CORO_TEST(GroupEvent, TaskMayBeAwaitedByOthersToo) {
    const auto group = make_ref<HostGroup>(GroupKind::Group, GroupLimits{}, nullptr);
    const auto one = task([]() -> HostValue { throw std::runtime_error("E"); });
    ASSERT_EQ(group->spawn(one), WaitResult::Ready);
    EXPECT_EQ(wait_for(*one), WaitResult::Failed);
    EXPECT_TRUE(group->is_finished());
    EXPECT_NE(group->error_at(0), nullptr);
    group->handle_dropped();
}

CORO_TEST(GroupEvent, ScopeCountsTheTasks) {
    const auto parent = ScopeEvent::create();
    parent->set_safe(true);
    const auto group = make_ref<HostGroup>(GroupKind::Group, GroupLimits{}, parent.get());
    const auto sleeper = [] {
        return task([] {
            sleep_for(1ms);
            return HostValue(1);
        });
    };
    ASSERT_EQ(group->spawn(sleeper()), WaitResult::Ready);
    EXPECT_FALSE(parent->is_finished());
    EXPECT_EQ(parent->unfinished().size(), 1U);
    EXPECT_EQ(parent->await_completion(), WaitResult::Ready);
    EXPECT_TRUE(group->is_finished());
    ASSERT_EQ(group->spawn(sleeper()), WaitResult::Ready);
    suspend();
    ASSERT_EQ(group->spawn(sleeper()), WaitResult::Ready);
    parent->cancel();
    EXPECT_FALSE(parent->is_finished()) << "one has not begun, and is not ended yet";
    settle();
    EXPECT_TRUE(parent->is_finished()) << "the other is a zombie";
    EXPECT_FALSE(parent->is_closed());
    EXPECT_FALSE(group->is_finished());
    EXPECT_EQ(parent->await_after_cancellation(), WaitResult::Ready);
    EXPECT_TRUE(group->is_finished());
    EXPECT_TRUE(parent->is_closed());
    EXPECT_NE(group->error_at(2), nullptr);
    group->handle_dropped();
}

CORO_TEST(GroupEvent, OldChunksGoWhenASetLivesLong) {
    const auto set = make_ref<HostGroup>(GroupKind::Set, GroupLimits{}, nullptr);
    GroupEvent::Cursor cursor;
    ASSERT_EQ(
        set->spawn(task([] {
            sleep_for(1h);
            return HostValue(-1);
        })),
        WaitResult::Ready
    );
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(set->spawn(task([i] { return HostValue(i); })), WaitResult::Ready);
        std::optional<std::uint64_t> found;
        ASSERT_EQ(set->next(cursor, found), WaitResult::Ready);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(*set->take(*found).held, i);
        set->remove(*found);
    }
    EXPECT_EQ(set->count(), 1U);
    set->cancel();
    std::optional<std::uint64_t> found;
    ASSERT_EQ(set->next(cursor, found), WaitResult::Ready);
    EXPECT_EQ(*found, 0U);
    set->remove(*found);
    EXPECT_EQ(set->count(), 0U);
    set->handle_dropped();
}

}  // namespace
}  // namespace trueasync::testing
