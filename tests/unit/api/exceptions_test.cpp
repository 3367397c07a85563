#include <trueasync/api/exceptions.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

struct Custom {
    int code;
    std::string text;
};

class Derived : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

static_assert(!std::is_base_of_v<std::exception, Cancellation>, "catch (const std::exception&) must not swallow it");
static_assert(std::is_base_of_v<AsyncError, TimeoutError>);
static_assert(std::is_base_of_v<AsyncError, DeadlockError>);
static_assert(std::is_base_of_v<std::runtime_error, AsyncError>);

CORO_TEST(Exceptions, OfAnyTypeCrossToTheAwaiter) {
    auto number = spawn([] { throw 5; });
    auto text = spawn([] { throw "literal"; });
    auto custom = spawn([]() -> int { throw Custom{7, "custom"}; });
    auto derived = spawn([] {
        suspend();
        throw Derived("derived");
    });
    EXPECT_THROW(await(number), int);
    EXPECT_THROW(await(text), const char*);
    try {
        await(custom);
        FAIL();
    } catch (const Custom& caught) {
        EXPECT_EQ(caught.code, 7);
        EXPECT_EQ(caught.text, "custom");
    }
    EXPECT_THROW(await(derived), Derived) << "not sliced";
}

CORO_TEST(Exceptions, SameObjectForEveryAwaiter) {
    auto failing = spawn([] {
        sleep_for(1ms);
        throw Derived("shared");
    });
    std::vector<Handle<const void*>> awaiters;
    for (int i = 0; i < 3; ++i) {
        awaiters.push_back(spawn([&]() -> const void* {
            try {
                await(failing);
            } catch (const Derived& caught) {
                return &caught;
            }
            return nullptr;
        }));
    }
    const void* first = await(awaiters[0]);
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(await(awaiters[1]), first);
    EXPECT_EQ(await(awaiters[2]), first);
    try {
        await(failing);  // and for who asks later
        FAIL();
    } catch (const Derived& caught) {
        EXPECT_EQ(&caught, first);
    }
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(Exceptions, TravelThroughAChainOfAwaits) {
    auto inner = spawn([]() -> int { throw Custom{1, "deep"}; });
    auto middle = spawn([&] { return await(inner); });
    auto outer = spawn([&] { return await(middle); });
    EXPECT_THROW(await(outer), Custom);
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(Exceptions, TakenByAnAwaiterAreNotReported) {
    {
        auto failing = spawn([] { throw 1; });
        EXPECT_THROW(await(failing), int);
    }
    settle();
    EXPECT_TRUE(sink.unhandled.empty());
}

CORO_TEST(Exceptions, HandlerMaySuspend) {
    // The exception being handled belongs to the coroutine, not to the thread.
    std::vector<std::string> seen;
    std::vector<Handle<void>> handles;
    for (const char* name : {"a", "b", "c"}) {
        handles.push_back(spawn([&seen, name] {
            try {
                throw std::runtime_error(name);
            } catch (const std::runtime_error& error) {
                suspend();
                sleep_for(1ms);
                try {
                    throw;
                } catch (const std::runtime_error& again) {
                    seen.emplace_back(again.what());
                }
                EXPECT_STREQ(error.what(), name);
            }
            EXPECT_EQ(std::current_exception(), nullptr);
        }));
    }
    for (const auto& handle : handles) {
        await(handle);
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(std::current_exception(), nullptr);
}

CORO_TEST(Exceptions, DestructorMaySuspendWhileUnwinding) {
    struct Slow {
        ~Slow() {
            EXPECT_EQ(std::uncaught_exceptions(), 1);
            suspend();
            EXPECT_EQ(std::uncaught_exceptions(), 1);
        }
    };
    auto first = spawn([] {
        const Slow slow;
        throw 1;
    });
    auto second = spawn([] {
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(std::uncaught_exceptions(), 0);
            EXPECT_EQ(std::current_exception(), nullptr);
            suspend();
        }
    });
    EXPECT_THROW(await(first), int);
    await(second);
}

CORO_TEST(Exceptions, SpawnedInsideAHandlerStartsClean) {
    try {
        throw 1;
    } catch (int) {
        auto handle = spawn([] { return std::current_exception() == nullptr; });
        EXPECT_TRUE(await(handle));
        EXPECT_NE(std::current_exception(), nullptr);
    }
}

CORO_TEST(Exceptions, CatchingEveryStdExceptionDoesNotSwallowACancellation) {
    bool was_swallowed = false;
    auto worker = spawn([&] {
        for (;;) {
            try {
                sleep_for(1h);
            } catch (const std::exception&) {
                was_swallowed = true;
            }
        }
    });
    settle();
    worker.cancel();
    EXPECT_THROW(await(worker), Cancellation);
    EXPECT_FALSE(was_swallowed);
}

CORO_TEST(Exceptions, ThrownTimeoutErrorKeepsItsType) {
    auto worker = spawn([] {
        ManualEvent never;
        await(never, timeout(5ms));
    });
    try {
        await(worker);
        FAIL();
    } catch (const TimeoutError& error) {
        EXPECT_EQ(error.code(), ErrorCode::Timeout);
        EXPECT_STREQ(error.what(), "Timeout occurred after 5 milliseconds");
    }
}

CORO_TEST(Exceptions, ErrorsBecomeTheClassOfTheirCode) {
    EXPECT_THROW(detail::throw_error(Error::cancellation(CancelReason::UserRequest)), Cancellation);
    EXPECT_THROW(detail::throw_error(Error::make(ErrorCode::Timeout)), TimeoutError);
    EXPECT_THROW(detail::throw_error(Error::make(ErrorCode::Deadlock)), DeadlockError);
    EXPECT_EQ(code_of([] { detail::throw_error(Error::make(ErrorCode::System)); }), ErrorCode::System);
    try {
        detail::throw_error(Error::make(ErrorCode::System, "write", Error::make(ErrorCode::OutOfMemory, "disk")));
    } catch (const AsyncError& error) {
        EXPECT_STREQ(error.what(), "write; caused by: disk");
    }
}

CORO_TEST(Exceptions, BecomeErrorsAndBackUnchanged) {
    Ref<Error> error;
    try {
        throw Derived("there and back");
    } catch (...) {
        error = detail::to_error();
    }
    EXPECT_EQ(error->code(), ErrorCode::Exception);
    EXPECT_NE(error->message().find("there and back"), std::string::npos);
    EXPECT_THROW(detail::throw_error(error), Derived);
    try {
        throw 3;
    } catch (...) {
        error = detail::to_error();
    }
    EXPECT_THROW(detail::throw_error(error), int);
    const auto cancellation = Error::cancellation(CancelReason::Shutdown, "stop");
    try {
        throw Cancellation(cancellation);
    } catch (...) {
        EXPECT_EQ(detail::to_error(), cancellation) << "the very same error, not a wrapped one";
    }
}

RUNTIME_TEST(Exceptions, AreFreedWhenNobodyHoldsThem) {
    struct Tracked {
        explicit Tracked(std::shared_ptr<int> data_) : data(std::move(data_)) {}
        std::shared_ptr<int> data;
    };
    auto data = std::make_shared<int>(1);
    in_runtime([&] {
        auto failing = spawn([&] { throw Tracked(data); });
        EXPECT_THROW(await(failing), Tracked);
        EXPECT_EQ(data.use_count(), 2) << "the handle can still be asked";
    });
    EXPECT_EQ(data.use_count(), 1);
}

}  // namespace
}  // namespace trueasync::testing
