#include <trueasync/runtime/execution_context.hpp>

#include <array>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

// --- exceptions belong to their coroutine

CORO_TEST(ExecutionContext, CoroutinesThatSuspendInsideCatchKeepTheirExceptions) {
    const auto body = [](const char* text) {
        return [text] {
            try {
                throw std::runtime_error(text);
            } catch (const std::runtime_error& error) {
                for (int i = 0; i < 5; ++i) {
                    suspend();
                    EXPECT_STREQ(error.what(), text);
                }
                throw;  // which one, if not its own?
            }
        };
    };
    auto a = spawn(body("of a"));
    auto b = spawn(body("of b"));
    auto c = spawn(body("of c"));
    settle(20);
    EXPECT_EQ(what_of([&] { await(a); }), "of a");
    EXPECT_EQ(what_of([&] { await(b); }), "of b");
    EXPECT_EQ(what_of([&] { await(c); }), "of c");
}

CORO_TEST(ExecutionContext, ParkingInsideCatchKeepsTheException) {
    ManualEvent event;
    const auto body = [&](const char* text) {
        return [&event, text] {
            try {
                throw std::runtime_error(text);
            } catch (const std::runtime_error&) {
                await(event);
                sleep_for(1ms);
                throw;
            }
        };
    };
    auto a = spawn(body("of a"));
    auto b = spawn(body("of b"));
    suspend();
    event.notify();
    EXPECT_EQ(what_of([&] { await(b); }), "of b");
    EXPECT_EQ(what_of([&] { await(a); }), "of a");
}

CORO_TEST(ExecutionContext, NestedCatchesAreKept) {
    const auto body = [](int number) {
        return [number] {
            std::string trace;
            try {
                throw number;
            } catch (int outer) {
                suspend();
                try {
                    throw std::to_string(number);
                } catch (const std::string& inner) {
                    suspend();
                    try {
                        throw;
                    } catch (const std::string& again) {
                        suspend();
                        trace += again + inner;
                    }
                }
                suspend();
                try {
                    throw;
                } catch (int again) {
                    trace += std::to_string(outer + again);
                }
            }
            return trace;
        };
    };
    auto a = spawn(body(1));
    auto b = spawn(body(2));
    settle(10);
    EXPECT_EQ(await(a), "112");
    EXPECT_EQ(await(b), "224");
}

CORO_TEST(ExecutionContext, CurrentExceptionAfterAResume) {
    auto child = spawn([] {
        EXPECT_EQ(std::current_exception(), nullptr);
        try {
            throw std::logic_error("mine");
        } catch (...) {
            const std::exception_ptr before = std::current_exception();
            suspend();
            EXPECT_EQ(std::current_exception(), before);
        }
        EXPECT_EQ(std::current_exception(), nullptr);
    });
    suspend();
    EXPECT_EQ(std::current_exception(), nullptr);  // that of the child is not ours
    try {
        throw 1;
    } catch (int) {
        suspend();
        EXPECT_NE(std::current_exception(), nullptr);
    }
    await(child);
}

struct SuspendsWhenItGoes {
    int expected;
    bool* is_done;
    ~SuspendsWhenItGoes() {
        EXPECT_EQ(std::uncaught_exceptions(), expected);
        suspend();
        EXPECT_EQ(std::uncaught_exceptions(), expected);
        sleep_for(1ms);
        EXPECT_EQ(std::uncaught_exceptions(), expected);
        *is_done = true;
    }
};

CORO_TEST(ExecutionContext, SuspendingInADestructorDuringUnwinding) {
    bool a_done = false;
    bool b_done = false;
    bool c_done = false;
    auto a = spawn([&] {
        const SuspendsWhenItGoes guard{1, &a_done};
        throw std::runtime_error("of a");
    });
    auto b = spawn([&] { const SuspendsWhenItGoes guard{0, &b_done}; });
    auto c = spawn([&] {
        const SuspendsWhenItGoes guard{1, &c_done};
        throw std::runtime_error("of c");
    });
    suspend();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(what_of([&] { await(a); }), "of a");
    await(b);
    EXPECT_EQ(what_of([&] { await(c); }), "of c");
    EXPECT_TRUE(a_done && b_done && c_done);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
}

CORO_TEST(ExecutionContext, UnwindingMainMaySuspendToo) {
    bool is_done = false;
    auto other = spawn([] {
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(std::uncaught_exceptions(), 0);
            try {
                throw i;
            } catch (int) {
                suspend();
            }
        }
    });
    EXPECT_EQ(
        what_of([&] {
            const SuspendsWhenItGoes guard{1, &is_done};
            throw std::runtime_error("of main");
        }),
        "of main"
    );
    EXPECT_TRUE(is_done);
    await(other);
}

CORO_TEST(ExecutionContext, ReactorCallbacksHaveTheirOwnExceptionState) {
    std::string trace;
    const auto timer = call_after(1ms, [&] {
        EXPECT_EQ(std::current_exception(), nullptr);
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        try {
            throw std::logic_error("callback");
        } catch (const std::logic_error& error) {
            trace += error.what();
        }
    });
    try {
        throw std::runtime_error("outer");
    } catch (...) {
        sleep_for(2ms);
        trace += what_of([] { throw; });
    }
    EXPECT_EQ(trace, "callbackouter");
}

CORO_TEST(ExecutionContext, NewCoroutineStartsWithoutExceptions) {
    try {
        throw std::runtime_error("outer");
    } catch (const std::runtime_error&) {
        auto child = spawn([] {
            EXPECT_EQ(std::current_exception(), nullptr);
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        });
        await(child);
        EXPECT_EQ(what_of([] { throw; }), "outer");
    }
}

CORO_TEST(ExecutionContext, HandedOverContextStartsWithoutExceptions) {
    auto first = spawn([] { throw std::runtime_error("of the first"); });
    auto second = spawn([] {
        EXPECT_EQ(std::current_exception(), nullptr);
        EXPECT_EQ(std::uncaught_exceptions(), 0);
    });
    await(second);
    EXPECT_EQ(scheduler().stats().handovers, 1U);
    EXPECT_EQ(what_of([&] { await(first); }), "of the first");
}

CORO_TEST(ExecutionContext, ExceptionsAreThrownAndCaughtAfterSwitches) {
    std::vector<Handle<int>> children;
    for (int c = 0; c < 4; ++c) {
        children.push_back(spawn([c] {
            int caught = 0;
            for (int i = 0; i < 50; ++i) {
                try {
                    suspend();
                    throw c * 1000 + i;
                } catch (int value) {
                    caught += value == c * 1000 + i ? 1 : 0;
                }
            }
            return caught;
        }));
    }
    for (const auto& child : children) {
        EXPECT_EQ(await(child), 50);
    }
}

int thrower(int depth) {
    if (depth == 0) {
        suspend();
        throw std::runtime_error("from the depth");
    }
    return thrower(depth - 1) + 1;
}

CORO_TEST(ExecutionContext, ExceptionsCrossManyFrames) {
    auto a = spawn([] { return what_of([] { thrower(200); }); });
    auto b = spawn([] { return what_of([] { thrower(100); }); });
    EXPECT_EQ(await(a), "from the depth");
    EXPECT_EQ(await(b), "from the depth");
}

// --- registers

/// Keeps more values alive across switches than there are callee-saved registers; returns what became of them.
template <typename T>
[[gnu::noinline]] T juggle(T seed, int rounds) {
    T a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11, f = seed * 13, g = seed * 17, h = seed * 19;
    for (int i = 0; i < rounds; ++i) {
        suspend();
        const T t = a;
        a = b + 1;
        b = c + 2;
        c = d + 3;
        d = e + 4;
        e = f + 5;
        f = g + 6;
        g = h + 7;
        h = t + 8;
    }
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

template <typename T>
T juggle_alone(T seed, int rounds) {
    T values[8] = {seed, seed * 3, seed * 5, seed * 7, seed * 11, seed * 13, seed * 17, seed * 19};
    for (int i = 0; i < rounds; ++i) {
        const T first = values[0];
        for (int k = 0; k < 7; ++k) {
            values[k] = values[k + 1] + static_cast<T>(k + 1);
        }
        values[7] = first + 8;
    }
    T sum = 0;
    for (int k = 0; k < 8; ++k) {
        sum += static_cast<T>(k + 1) * values[k];
    }
    return sum;
}

template <typename T>
void check_juggling(T step) {
    std::vector<Handle<T>> children;
    for (int i = 1; i <= 6; ++i) {
        children.push_back(spawn([i, step] { return juggle<T>(static_cast<T>(i) * step, 40 + i); }));
    }
    EXPECT_EQ(juggle<T>(step, 30), juggle_alone<T>(step, 30));
    for (int i = 1; i <= 6; ++i) {
        EXPECT_EQ(await(children[static_cast<std::size_t>(i - 1)]), juggle_alone<T>(static_cast<T>(i) * step, 40 + i))
            << i;
    }
}

CORO_TEST(ExecutionContext, IntegersSurviveSwitches) { check_juggling<std::uint64_t>(0x0123456789abcdefULL); }

CORO_TEST(ExecutionContext, DoublesSurviveSwitches) { check_juggling<double>(0.5); }

CORO_TEST(ExecutionContext, FloatsSurviveSwitches) { check_juggling<float>(0.25F); }

CORO_TEST(ExecutionContext, LongDoublesSurviveSwitches) { check_juggling<long double>(0.125L); }

CORO_TEST(ExecutionContext, FirstFrameIsAligned) {
    auto child = spawn([] {
        alignas(64) std::array<char, 64> block{};
        std::uintptr_t address = reinterpret_cast<std::uintptr_t>(block.data());
        asm volatile("" : "+r"(address));
        EXPECT_EQ(address % 64, 0U);
        EXPECT_NE(std::to_string(std::sqrt(2.0)).find("1.414"), std::string::npos);  // uses aligned vector stores
        suspend();
        block[0] = 1;
        return static_cast<int>(block[0]);
    });
    EXPECT_EQ(await(child), 1);
}

CORO_TEST(ExecutionContext, VariablesOnTheStackSurviveSwitches) {
    std::vector<Handle<bool>> children;
    for (unsigned char fill = 1; fill <= 5; ++fill) {
        children.push_back(spawn([fill] {
            std::array<unsigned char, 20000> block;
            block.fill(fill);
            bool is_whole = true;
            for (int i = 0; i < 10; ++i) {
                suspend();
                for (const unsigned char byte : block) {
                    is_whole = is_whole && byte == fill;
                }
            }
            return is_whole;
        }));
    }
    for (const auto& child : children) {
        EXPECT_TRUE(await(child));
    }
}

// --- stacks

[[gnu::noinline]] int dig(int depth) {
    volatile char frame[64];
    frame[0] = static_cast<char>(depth);
    if (depth == 0) {
        suspend();
        return 0;
    }
    if (depth % 100 == 0) {
        suspend();
    }
    return dig(depth - 1) + (frame[0] == static_cast<char>(depth) ? 1 : 0);
}

CORO_TEST(ExecutionContext, DeepRecursion) {
#if defined(TA_ASAN) || defined(TA_TSAN)
    constexpr int kDepth = 300;
#else
    constexpr int kDepth = 1000;  // of 256 KiB
#endif
    auto a = spawn([] { return dig(kDepth); });
    auto b = spawn([] { return dig(kDepth / 2); });
    EXPECT_EQ(await(a), kDepth);
    EXPECT_EQ(await(b), kDepth / 2);
    EXPECT_EQ(dig(kDepth), kDepth);
}

std::size_t stack_size() { return Scheduler::current()->stacks().stack_at(current().context().stack_top()).size(); }

CORO_TEST(ExecutionContext, MainKeepsTheThreadsStack) {
    [[maybe_unused]] const auto is_in_pool = [] {
        const char here = 0;
        const char* address = &here;
        return scheduler().stacks().contains(address);
    };
#if !defined(TA_ASAN)  // locals may lie on the fake stack there
    EXPECT_FALSE(is_in_pool());
    EXPECT_TRUE(await(spawn(is_in_pool)));
    suspend();
    EXPECT_FALSE(is_in_pool());
#endif
    auto child = spawn([] { return stack_size(); });
    EXPECT_GT(await(child), 200U * 1024U);
}

RUNTIME_TEST(ExecutionContext, StackSizeIsASetting) {
    RuntimeSettings settings;
    settings.stacks.stack_size = 2 * 1024 * 1024;
    in_runtime(
        [] {
            auto child = spawn([] { return stack_size(); });
            EXPECT_GE(await(child), 2U * 1024U * 1024U - 64U * 1024U);
        },
        settings
    );
}

}  // namespace
}  // namespace trueasync::testing
