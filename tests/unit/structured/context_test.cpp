#include <trueasync/structured/context.hpp>

#include <memory>
#include <string>
#include <support/coro_test.hpp>
#include <support/fake_events.hpp>
#include <support/runtime_fakes.hpp>
#include <variant>

namespace trueasync::testing {
namespace {

/// An object of a host, which counts.
struct HostThing {};
using Thing = std::shared_ptr<HostThing>;
using HostKey = std::variant<std::string, Thing>;

struct HostKeyTraits {
    using Hash = std::hash<HostKey>;
    using Equal = std::equal_to<HostKey>;
    static std::string describe(const HostKey& key) {
        const auto* text = std::get_if<std::string>(&key);
        return text != nullptr ? "\"" + *text + "\"" : "of type HostThing";
    }
};
using HostContext = ContextOf<HostKey, std::shared_ptr<int>, HostKeyTraits>;

struct OtherTraits {
    using Hash = std::hash<int>;
    using Equal = std::equal_to<int>;
    static std::string describe(int key) { return std::to_string(key); }
};
using OtherContext = ContextOf<int, int, OtherTraits>;

std::shared_ptr<int> value(int number) { return std::make_shared<int>(number); }

TEST(ContextNode, FreeStandingOne) {
    const auto context = make_ref<HostContext>();
    EXPECT_EQ(context->find("a"), nullptr);
    EXPECT_TRUE(context->set("a", value(1)));
    ASSERT_NE(context->find("a"), nullptr);
    EXPECT_EQ(**context->find("a"), 1);
    EXPECT_EQ(context->find_local("a"), context->find("a"));
    EXPECT_EQ(context->above(), nullptr);
    EXPECT_EQ(context->size(), 1U);
}

TEST(ContextNode, SetDoesNotReplaceUnasked) {
    const auto context = make_ref<HostContext>();
    ASSERT_TRUE(context->set("a", value(1)));
    const Status status = context->set("a", value(2));
    EXPECT_TRUE(status.is(ErrorCode::DuplicateKey));
    EXPECT_EQ(status.error()->message(), "Context key already exists and replace is false");
    EXPECT_EQ(**context->find("a"), 1);
    EXPECT_TRUE(context->set("a", value(2), true));
    EXPECT_EQ(**context->find("a"), 2);
    EXPECT_TRUE(context->set("b", value(3), true)) << "nothing to replace is no error";
}

TEST(ContextNode, UnsetIsLocal) {
    const auto scope = ScopeEvent::create();
    const auto child = ScopeEvent::create(scope.get());
    const auto above = HostContext::of(*scope);
    const auto below = HostContext::of(*child);
    ASSERT_TRUE(above->set("a", value(1)));
    EXPECT_FALSE(below->unset("a"));
    EXPECT_NE(below->find("a"), nullptr);
    EXPECT_TRUE(above->unset("a"));
    EXPECT_EQ(below->find("a"), nullptr);
}

TEST(ContextNode, ObjectsAreKeysByIdentityAndAreHeld) {
    const auto context = make_ref<HostContext>();
    Thing key = std::make_shared<HostThing>();
    const Thing other = std::make_shared<HostThing>();
    ASSERT_TRUE(context->set(key, value(1)));
    EXPECT_EQ(key.use_count(), 2);
    EXPECT_NE(context->find(key), nullptr);
    EXPECT_EQ(context->find(other), nullptr);
    context->unset(key);
    EXPECT_EQ(key.use_count(), 1);
}

TEST(ContextNode, MissingKeysAreNamed) {
    EXPECT_EQ(HostContext::not_found("a")->message(), "Context key \"a\" not found");
    EXPECT_EQ(
        HostContext::not_found(std::make_shared<HostThing>())->message(), "Context key of type HostThing not found"
    );
    EXPECT_EQ(HostContext::not_found("a")->code(), ErrorCode::KeyNotFound);
}

TEST(ContextNode, SearchGoesUpAndSkipsScopesWithoutOne) {
    const auto root = ScopeEvent::create();
    const auto middle = ScopeEvent::create(root.get());
    const auto leaf = ScopeEvent::create(middle.get());
    ASSERT_TRUE(HostContext::of(*root)->set("a", value(1)));
    const auto context = HostContext::of(*leaf);
    EXPECT_EQ(middle->context(), nullptr) << "asking makes none";
    ASSERT_NE(context->find("a"), nullptr);
    EXPECT_EQ(context->find_local("a"), nullptr);
    EXPECT_TRUE(context->set("a", value(2))) << "one above is no conflict";
    EXPECT_EQ(**context->find("a"), 2);
    EXPECT_EQ(**HostContext::of(*root)->find("a"), 1);
    const auto other = ScopeEvent::create();
    EXPECT_EQ(HostContext::of(*other)->find("a"), nullptr);
}

TEST(ContextNode, ScopeHasOne) {
    const auto scope = ScopeEvent::create();
    EXPECT_EQ(scope->context(), nullptr);
    const auto context = HostContext::of(*scope);
    EXPECT_EQ(HostContext::of(*scope), context);
    EXPECT_EQ(scope->context(), context.get());
}

TEST(ContextNode, GoesOnWithoutItsScope) {
    Ref<HostContext> context;
    {
        const auto root = ScopeEvent::create();
        const auto scope = ScopeEvent::create(root.get());
        ASSERT_TRUE(HostContext::of(*root)->set("a", value(1)));
        context = HostContext::of(*scope);
    }
    EXPECT_NE(context->find("a"), nullptr);
    EXPECT_EQ(context->ref_count(), 1U);
}

TEST(ContextNode, KindsDoNotMix) {
    const auto root = ScopeEvent::create();
    const auto scope = ScopeEvent::create(root.get());
    ASSERT_TRUE(OtherContext::of(*root)->set(1, 1));
    EXPECT_EQ(HostContext::of(*scope)->find("a"), nullptr);
    EXPECT_EQ(HostContext::of(*scope)->next(), nullptr);
}

TEST(ContextNode, ValuesAreShownToACollector) {
    const auto context = make_ref<HostContext>();
    ASSERT_TRUE(context->set("a", value(1)));
    ASSERT_TRUE(context->set(std::make_shared<HostThing>(), value(2)));
    int sum = 0;
    context->each_value([&](const HostKey&, std::shared_ptr<int>& held) { sum += *held; });
    EXPECT_EQ(sum, 3);
}

CORO_TEST(CoroutineContext, IsPrivateAndThereFromTheFirstToTheLast) {
    const auto scope = ScopeEvent::create();
    ASSERT_TRUE(HostContext::of(*scope)->set("a", value(1)));
    const auto coroutine = make_coroutine([] { suspend(); });
    const auto before = HostContext::of(*coroutine);
    ASSERT_TRUE(scheduler().spawn(*coroutine, scope.get()));
    suspend();
    EXPECT_EQ(HostContext::of(*coroutine), before);
    EXPECT_EQ(before->find("a"), nullptr) << "sees nothing of the scope";
    settle();
    EXPECT_TRUE(coroutine->is_finished());
    EXPECT_EQ(HostContext::of(*coroutine), before);
}

}  // namespace
}  // namespace trueasync::testing
