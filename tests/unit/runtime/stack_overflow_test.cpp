#include <trueasync/runtime/stack_overflow.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <support/valgrind.hpp>
#include <thread>

namespace trueasync {
namespace {

#if defined(TA_ASAN) || defined(TA_TSAN)
constexpr bool kSanitizer = true;
#else
constexpr bool kSanitizer = false;
#endif

constexpr std::string_view kReport = "trueasync: stack overflow in ";

struct Outcome {
    int signal = 0;
    int exit_code = 0;
    std::string text;  // what the child wrote to stderr

    bool reported() const { return text.find(kReport) != std::string::npos; }

    // A sanitizer ends the process itself, after a report of its own.
    bool died_of(int expected) const { return kSanitizer ? signal != 0 || exit_code != 0 : signal == expected; }
};

// Runs the body in a child: a crash is its normal end.
Outcome run_in_child(const std::function<void()>& body) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::alarm(10);
        body();
        ::_exit(0);
    }
    ::close(ends[1]);
    Outcome outcome;
    char buffer[4096];
    for (;;) {
        const ssize_t count = ::read(ends[0], buffer, sizeof(buffer));
        if (count > 0) {
            outcome.text.append(buffer, static_cast<std::size_t>(count));
        } else if (count == 0 || errno != EINTR) {
            break;
        }
    }
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return outcome;
}

void say(std::string_view text) {
    [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
}

ucontext_t main_context;
ucontext_t stack_context;
void (*stack_body)();

void on_stack() {
    stack_body();
    ::swapcontext(&stack_context, &main_context);
}

void run_on(Stack stack, void (*body)()) {
    ::getcontext(&stack_context);
    stack_context.uc_stack.ss_sp = stack.base;
    stack_context.uc_stack.ss_size = stack.size();
    stack_context.uc_link = nullptr;
    stack_body = body;
    ::makecontext(&stack_context, on_stack, 0);
    ::swapcontext(&main_context, &stack_context);
}

#if defined(__clang__)
#pragma clang diagnostic ignored "-Winfinite-recursion"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#endif
[[gnu::noinline]] int recurse(int depth) {
    volatile char frame[256];
    frame[0] = static_cast<char>(depth);
    const int deeper = recurse(depth + 1);
    return deeper + frame[0];
}

void overflow() { recurse(0); }

std::size_t describe(char* buffer, std::size_t size, void* context) noexcept {
    return std::string_view(static_cast<const char*>(context)).copy(buffer, size);
}

char worker_name[] = "coroutine #7 'worker' (spawned at main.cpp:12)";

volatile std::uintptr_t nowhere = 16;

void crash() { *reinterpret_cast<volatile int*>(nowhere) = 1; }

void exit_with_42(int) {
    say("host handler");
    ::_exit(42);
}

void exit_with_43(int, siginfo_t* info, void* context) {
    say(info != nullptr && context != nullptr ? "host siginfo handler" : "bad arguments");
    ::_exit(43);
}

void return_from_handler(int) { say("host returns"); }

void set_handler(int signal, void (*handler)(int), int flags = 0) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ::sigaction(signal, &action, nullptr);
}

bool is_default(int signal) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

int mprotect_only(void* address, std::size_t bytes, GuardKind kind) noexcept {
    return kind == GuardKind::Madvise ? EINVAL : ::mprotect(address, bytes, PROT_NONE);
}

TEST(OverflowGuard, NamesTheCoroutineAndDies) {
    const Outcome outcome = run_in_child([] {
        /// [overflow_guard]
        StackPool pool({.stack_size = 128 * 1024});
        const OverflowGuard guard(pool, describe, worker_name);
        /// [overflow_guard]
        run_on(pool.acquire(), overflow);
    });
    const std::string start =
        "trueasync: stack overflow in coroutine #7 'worker' (spawned at main.cpp:12): the stack of 128 KiB is used up "
        "(guard page hit at 0x";
    const std::string end = "). Use a larger stack size or less recursion.\n";
    const std::size_t from = outcome.text.find(start);
    const std::size_t stop = outcome.text.find(end);
    ASSERT_NE(from, std::string::npos) << outcome.text;
    ASSERT_NE(stop, std::string::npos) << outcome.text;
    const std::string address = outcome.text.substr(from + start.size(), stop - from - start.size());
    EXPECT_EQ(address.find_first_not_of("0123456789abcdef"), std::string::npos) << address;
    EXPECT_TRUE(outcome.died_of(SIGSEGV)) << outcome.signal;
    if (!kSanitizer) {
        EXPECT_EQ(from, 0u);
        EXPECT_EQ(outcome.text.size(), stop + end.size()) << "one line, once";
    }
}

TEST(OverflowGuard, ReportsTheAddressOfTheGuard) {
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        const OverflowGuard guard(pool);
        const Stack stack = pool.acquire();
        char line[64];
        std::snprintf(line, sizeof(line), "base %p\n", static_cast<void*>(stack.base));
        say(line);
        run_on(stack, overflow);
    });
    unsigned long base = 0;
    unsigned long hit = 0;
    ASSERT_EQ(std::sscanf(outcome.text.c_str(), "base %lx", &base), 1);
    const std::size_t at = outcome.text.find("hit at ");
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(std::sscanf(outcome.text.c_str() + at, "hit at %lx", &hit), 1);
    EXPECT_LT(hit, base);
    EXPECT_LE(base - hit, 2ul * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)));
}

TEST(OverflowGuard, WorksWithMprotectGuards) {
    const Outcome outcome = run_in_child([] {
        StackPool pool({}, {nullptr, mprotect_only, nullptr});
        const OverflowGuard guard(pool, describe, worker_name);
        run_on(pool.acquire(), overflow);
    });
    EXPECT_TRUE(outcome.reported()) << outcome.text;
    EXPECT_TRUE(outcome.died_of(SIGSEGV)) << outcome.signal;
}

TEST(OverflowGuard, WorksWithoutDescription) {
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        const OverflowGuard guard(pool);
        run_on(pool.acquire(), overflow);
    });
    EXPECT_NE(outcome.text.find("stack overflow in a coroutine: the stack of 256 KiB"), std::string::npos);
}

TEST(OverflowGuard, CutsALongDescription) {
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        const auto endless = [](char* buffer, std::size_t size, void*) noexcept -> std::size_t {
            std::memset(buffer, 'x', size);
            return size + 1000;
        };
        const OverflowGuard guard(pool, endless);
        run_on(pool.acquire(), overflow);
    });
    EXPECT_NE(outcome.text.find("xxx: the stack of 256 KiB is used up"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("less recursion.\n"), std::string::npos);
}

TEST(OverflowGuard, WorksOnAnotherThread) {
    const Outcome outcome = run_in_child([] {
        std::thread([] {
            StackPool pool;
            const OverflowGuard guard(pool, describe, worker_name);
            run_on(pool.acquire(), overflow);
        }).join();
    });
    EXPECT_TRUE(outcome.reported()) << outcome.text;
    EXPECT_TRUE(outcome.died_of(SIGSEGV)) << outcome.signal;
}

TEST(OverflowGuard, FindsTheRightPoolOfSeveral) {
    const Outcome outcome = run_in_child([] {
        StackPool small({.stack_size = 64 * 1024});
        StackPool large({.stack_size = 512 * 1024});
        char small_name[] = "small";
        char large_name[] = "large";
        const OverflowGuard small_guard(small, describe, small_name);
        const OverflowGuard large_guard(large, describe, large_name);
        run_on(small.acquire(), overflow);
    });
    EXPECT_NE(outcome.text.find("stack overflow in small: the stack of 64 KiB"), std::string::npos) << outcome.text;
}

TEST(OverflowGuard, GuardsMayGoInAnyOrder) {
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        StackPool other;
        auto* const first = new OverflowGuard(other);
        auto* const second = new OverflowGuard(pool, describe, worker_name);
        delete first;
        run_on(pool.acquire(), overflow);
        delete second;
    });
    EXPECT_TRUE(outcome.reported()) << outcome.text;
    EXPECT_TRUE(outcome.died_of(SIGSEGV)) << outcome.signal;
}

TEST(OverflowGuard, OrdinaryCrashIsUnchanged) {
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        const OverflowGuard guard(pool, describe, worker_name);
        run_on(pool.acquire(), crash);
    });
    EXPECT_FALSE(outcome.reported());
    EXPECT_TRUE(outcome.died_of(SIGSEGV)) << outcome.signal;
    if (!kSanitizer) {
        EXPECT_EQ(outcome.text, "");
    }
}

TEST(OverflowGuard, WildPointerIntoAGuardIsNoOverflow) {
#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
    GTEST_SKIP() << "the stack pointer is not read on this platform";
#endif
    if (testing::on_valgrind()) {
        GTEST_SKIP() << "valgrind repeats a faulting instruction with stale registers";
    }
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        const OverflowGuard guard(pool, describe, worker_name);
        *reinterpret_cast<volatile char*>(pool.acquire().base - 1) = 1;  // from the thread's own stack
    });
    EXPECT_FALSE(outcome.reported()) << outcome.text;
    EXPECT_TRUE(outcome.died_of(SIGSEGV)) << outcome.signal;
}

TEST(OverflowGuard, SentSignalsKeepTheirDefault) {
    for (const int signal : {SIGSEGV, SIGBUS}) {
        const Outcome outcome = run_in_child([signal] {
            StackPool pool;
            const OverflowGuard guard(pool, describe, worker_name);
            ::raise(signal);
        });
        EXPECT_FALSE(outcome.reported());
        EXPECT_TRUE(outcome.died_of(signal)) << outcome.signal;
    }
}

TEST(OverflowGuard, SentSignalStaysIgnored) {
    const Outcome outcome = run_in_child([] {
        set_handler(SIGSEGV, SIG_IGN);
        StackPool pool;
        const OverflowGuard guard(pool, describe, worker_name);
        ::raise(SIGSEGV);
        say("alive");
        crash();
    });
    EXPECT_EQ(outcome.text.substr(0, 5), "alive");
    EXPECT_EQ(outcome.signal, SIGSEGV) << "a real fault cannot be ignored";
}

TEST(OverflowGuard, ChainsToTheHost) {
    for (void (*const body)() : {overflow, crash}) {
        const Outcome outcome = run_in_child([body] {
            set_handler(SIGSEGV, exit_with_42);
            StackPool pool;
            const OverflowGuard guard(pool, describe, worker_name);
            run_on(pool.acquire(), body);
        });
        EXPECT_EQ(outcome.reported(), body == overflow);
        EXPECT_NE(outcome.text.find("host handler"), std::string::npos);
        EXPECT_EQ(outcome.exit_code, 42);
    }
}

TEST(OverflowGuard, ChainsToTheHostWithSiginfo) {
    const Outcome outcome = run_in_child([] {
        struct sigaction action = {};
        action.sa_sigaction = exit_with_43;
        action.sa_flags = SA_SIGINFO;
        ::sigaction(SIGSEGV, &action, nullptr);
        StackPool pool;
        const OverflowGuard guard(pool, describe, worker_name);
        run_on(pool.acquire(), overflow);
    });
    EXPECT_TRUE(outcome.reported());
    EXPECT_NE(outcome.text.find("host siginfo handler"), std::string::npos);
    EXPECT_EQ(outcome.exit_code, 43);
}

TEST(OverflowGuard, DiesWhenTheHostReturnsFromAnOverflow) {
    const Outcome outcome = run_in_child([] {
        set_handler(SIGSEGV, return_from_handler);
        StackPool pool;
        const OverflowGuard guard(pool, describe, worker_name);
        run_on(pool.acquire(), overflow);
    });
    EXPECT_TRUE(outcome.reported());
    EXPECT_EQ(outcome.text.find(kReport), outcome.text.rfind(kReport)) << "reported once";
    EXPECT_NE(outcome.text.find("host returns"), std::string::npos);
    EXPECT_EQ(outcome.signal, SIGSEGV);
}

void* repaired_page = nullptr;

void repair(int) {
    ::mprotect(repaired_page, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_READ | PROT_WRITE);
}

TEST(OverflowGuard, HostMayRepairItsOwnFaults) {
    const Outcome outcome = run_in_child([] {
        repaired_page = ::mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        set_handler(SIGSEGV, repair);
        set_handler(SIGBUS, repair);
        StackPool pool;
        const OverflowGuard guard(pool, describe, worker_name);
        *static_cast<volatile char*>(repaired_page) = 1;
        ::_exit(7);
    });
    EXPECT_EQ(outcome.exit_code, 7);
}

TEST(OverflowGuard, ResetHandRunsOnce) {
    const Outcome outcome = run_in_child([] {
        set_handler(SIGSEGV, return_from_handler, static_cast<int>(SA_RESETHAND));
        StackPool pool;
        const OverflowGuard guard(pool, describe, worker_name);
        ::raise(SIGSEGV);
        ::raise(SIGSEGV);
    });
    EXPECT_EQ(outcome.text, "host returns");
    EXPECT_EQ(outcome.signal, SIGSEGV);
}

TEST(OverflowGuard, PutsThePreviousHandlerBack) {
    const Outcome outcome = run_in_child([] {
        set_handler(SIGSEGV, exit_with_42);
        set_handler(SIGBUS, SIG_DFL);
        StackPool pool;
        {
            const OverflowGuard first(pool);
            const OverflowGuard second(pool);
            if (!first.is_active() || !second.is_active() || is_default(SIGBUS)) {
                ::_exit(1);
            }
        }
        struct sigaction action = {};
        ::sigaction(SIGSEGV, nullptr, &action);
        ::_exit(is_default(SIGBUS) && action.sa_handler == exit_with_42 ? 0 : 2);
    });
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.signal, 0);
}

TEST(OverflowGuard, LeavesALaterHandlerOfTheHost) {
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        {
            const OverflowGuard guard(pool);
            set_handler(SIGSEGV, exit_with_42);
        }
        struct sigaction action = {};
        ::sigaction(SIGSEGV, nullptr, &action);
        if (action.sa_handler != exit_with_42) {
            ::_exit(1);
        }
        const OverflowGuard again(pool);  // must not form a circle with a host that chains
        ::sigaction(SIGSEGV, nullptr, &action);
        ::_exit(action.sa_handler == exit_with_42 ? 0 : 2);
    });
    EXPECT_EQ(outcome.exit_code, 0);
}

TEST(OverflowGuard, ComesBackAfterTheHostResetTheSignal) {
    const Outcome outcome = run_in_child([] {
        StackPool pool;
        {
            const OverflowGuard guard(pool);
            set_handler(SIGSEGV, SIG_DFL);
        }
        const OverflowGuard again(pool, describe, worker_name);
        run_on(pool.acquire(), overflow);
    });
    EXPECT_TRUE(outcome.reported());
    EXPECT_EQ(outcome.signal, SIGSEGV);
}

TEST(OverflowGuard, KeepsAnExistingSignalStack) {
    const Outcome outcome = run_in_child([] {
        static char memory[64 * 1024];
        stack_t mine = {};
        mine.ss_sp = memory;
        mine.ss_size = sizeof(memory);
        ::sigaltstack(&mine, nullptr);
        StackPool pool;
        stack_t current = {};
        {
            const OverflowGuard guard(pool);
            ::sigaltstack(nullptr, &current);
            if (current.ss_sp != memory) {
                ::_exit(1);
            }
        }
        ::sigaltstack(nullptr, &current);
        ::_exit(current.ss_sp == memory && (current.ss_flags & SS_DISABLE) == 0 ? 0 : 2);
    });
    EXPECT_EQ(outcome.exit_code, 0);
}

TEST(OverflowGuard, TakesItsSignalStackAway) {
    const Outcome outcome = run_in_child([] {
        stack_t disabled = {};
        disabled.ss_flags = SS_DISABLE;
        ::sigaltstack(&disabled, nullptr);
        StackPool pool;
        stack_t current = {};
        {
            const OverflowGuard guard(pool);
            ::sigaltstack(nullptr, &current);
            if ((current.ss_flags & SS_DISABLE) != 0) {
                ::_exit(1);
            }
        }
        ::sigaltstack(nullptr, &current);
        ::_exit((current.ss_flags & SS_DISABLE) != 0 ? 0 : 2);
    });
    EXPECT_EQ(outcome.exit_code, 0);
}

TEST(OverflowGuard, ManyThreadsInstallAtOnce) {
    const Outcome outcome = run_in_child([] {
        set_handler(SIGSEGV, SIG_DFL);
        std::thread threads[8];
        for (std::thread& thread : threads) {
            thread = std::thread([] {
                StackPool pool;
                for (int i = 0; i < 200; ++i) {
                    const OverflowGuard guard(pool);
                    if (!guard.is_active()) {
                        ::_exit(1);
                    }
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        ::_exit(is_default(SIGSEGV) ? 0 : 2);
    });
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.signal, 0);
}

TEST(OverflowReporter, IsCounted) {
    const Outcome outcome = run_in_child([] {
        set_handler(SIGSEGV, SIG_DFL);
        if (!install_overflow_reporter() || !install_overflow_reporter()) {
            ::_exit(1);
        }
        uninstall_overflow_reporter();
        if (is_default(SIGSEGV)) {
            ::_exit(2);
        }
        uninstall_overflow_reporter();
        uninstall_overflow_reporter();  // one too many does nothing
        ::_exit(is_default(SIGSEGV) ? 0 : 3);
    });
    EXPECT_EQ(outcome.exit_code, 0);
}

}  // namespace
}  // namespace trueasync
