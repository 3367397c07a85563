#include <trueasync/api/context.hpp>

#include <string>
#include <support/coro_test.hpp>
#include <trueasync/api/scope.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(Context, ValuesAreFoundFromBelow) {
    /// [context]
    const ContextKey<std::string> user("user");
    Scope request;
    request.context().set(user, "alice");
    auto greeting = request.spawn([&] {
        const Scope inner = Scope::inherit();
        return "hello " + inner.context().get(user);
    });
    /// [context]
    EXPECT_EQ(await(greeting), "hello alice");
}

CORO_TEST(Context, CurrentIsOfTheScopeAndShared) {
    const ContextKey<int> key("number");
    Scope scope;
    scope.spawn([&] {
        EXPECT_EQ(Context::current(), scope.context());
        EXPECT_EQ(Context::current(), Context::current());
        Context::current().set(key, 5);
    });
    scope.await_completion();
    EXPECT_EQ(scope.context().get(key), 5);
    EXPECT_EQ(code_of([] { Context::current(); }), ErrorCode::IllegalState);
}

CORO_TEST(Context, OfTheCoroutineIsPrivate) {
    const ContextKey<int> key("number");
    Scope scope;
    scope.context().set(key, 1);
    scope.spawn([&] {
        EXPECT_FALSE(Context::of_coroutine().has(key));
        Context::of_coroutine().set(key, 2);
        EXPECT_EQ(Context::of_coroutine().get(key), 2);
        EXPECT_EQ(Context::current().get(key), 1);
    });
    scope.spawn([&] { EXPECT_FALSE(Context::of_coroutine().has(key)); });
    scope.await_completion();
}

CORO_TEST(Context, MissingAndPresent) {
    const ContextKey<int> key("number");
    const ContextKey<int> twin("number");
    const Context context;
    EXPECT_EQ(context.find(key), nullptr);
    EXPECT_EQ(code_of([&] { context.get(key); }), ErrorCode::KeyNotFound);
    EXPECT_EQ(code_of([&] { context.get_local(key); }), ErrorCode::KeyNotFound);
    context.set(key, 1);
    EXPECT_FALSE(context.has(twin)) << "keys differ whatever their names";
    EXPECT_TRUE(context.has_local(key));
    EXPECT_EQ(code_of([&] { context.set(key, 2); }), ErrorCode::DuplicateKey);
    EXPECT_EQ(context.set(key, 2, true).get(key), 2);
    EXPECT_FALSE(context.unset(key).has(key));
    try {
        context.get(key);
    } catch (const AsyncError& error) {
        EXPECT_STREQ(error.what(), "Context key \"number\" not found");
    }
}

}  // namespace
}  // namespace trueasync::testing
