#include <trueasync/transparent/transparent.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include <cerrno>
#include <support/descriptors.hpp>
#include <thread>
#include <transparent/got.hpp>
#include <transparent/hooks.hpp>

namespace trueasync::testing {
namespace {

/// The library that blocks, loaded after the hooks were installed.
struct Library {
    Library() {
        /// [install]
        EXPECT_TRUE(install_transparent()
        );  // before or after `run`: what C libraries do in coroutines suspends from now on
        /// [install]
        void* handle = hooked::dlopen(TRUEASYNC_BLOCKING, RTLD_NOW);
        EXPECT_NE(handle, nullptr) << dlerror();
        find(usleep, handle, "blocking_usleep");
        find(read, handle, "blocking_read");
        find(write, handle, "blocking_write");
        find(poll, handle, "blocking_poll");
        find(close, handle, "blocking_close");
        find(open_object, handle, "blocking_dlopen");
        find(find_symbol, handle, "blocking_dlsym");
        find(lock, handle, "blocking_lock");
        find(getppid, handle, "blocking_getppid");
        sleep = *static_cast<unsigned (**)(unsigned)>(dlsym(handle, "blocking_sleep"));
    }

    int (*usleep)(unsigned) = nullptr;
    ssize_t (*read)(int, void*, size_t) = nullptr;
    ssize_t (*write)(int, const void*, size_t) = nullptr;
    int (*poll)(int, short, int) = nullptr;
    int (*close)(int) = nullptr;
    void* (*open_object)(const char*) = nullptr;
    void* (*find_symbol)(const char*) = nullptr;
    int (*lock)(pthread_mutex_t*) = nullptr;
    pid_t (*getppid)() = nullptr;
    unsigned (*sleep)(unsigned) = nullptr;

private:
    template <typename F>
    static void find(F& function, void* handle, const char* name) {
        function = reinterpret_cast<F>(dlsym(handle, name));
        EXPECT_NE(function, nullptr) << name;
    }
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

class Transparent : public ::testing::Test {
protected:
    void SetUp() override { library(); }

    /// Runs the body on the real reactor.
    static void in_runtime(const std::function<void()>& body) { trueasync::run(body); }

    /// Blocking ends.
    static FdPair blocking_pair() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        return {Fd(ends[0]), Fd(ends[1])};
    }
};

TEST_F(Transparent, SleepsOfALibraryLoadedLaterOverlap) {
    in_runtime([] {
        const auto begin = std::chrono::steady_clock::now();
        std::vector<Handle<void>> all;
        for (int i = 0; i < 20; ++i) {
            all.push_back(spawn([] { EXPECT_EQ(library().usleep(50'000), 0); }));
        }
        for (auto& one : all) {
            await(one);
        }
        const auto took = std::chrono::steady_clock::now() - begin;
        EXPECT_GE(took, 50ms);
        EXPECT_LT(took, 500ms);
    });
}

TEST_F(Transparent, AReaderWaitsWhileAnotherCoroutineWrites) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        std::string order;
        auto reader = spawn([&, fd = *a] {
            char buffer[16] = {};
            order += "wait ";
            EXPECT_EQ(library().read(fd, buffer, sizeof(buffer)), 5);
            EXPECT_EQ(std::string(buffer), "hello");
            order += "read ";
        });
        auto writer = spawn([&, fd = *b] {
            order += "write ";
            EXPECT_EQ(library().write(fd, "hello", 5), 5);
        });
        await(reader);
        await(writer);
        EXPECT_EQ(order, "wait write read ");
    });
}

TEST_F(Transparent, AMutexOfALibraryKeepsCoroutinesApart) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    in_runtime([&] {
        auto [a, b] = blocking_pair();
        std::string order;
        auto holder = spawn([&, fd = *a] {
            EXPECT_EQ(library().lock(&mutex), 0);
            char byte = 0;
            EXPECT_EQ(library().read(fd, &byte, 1), 1);
            order += "read ";
            EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
        });
        auto waiter = spawn([&] {
            EXPECT_EQ(library().lock(&mutex), 0);
            order += "next ";
            EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
        });
        suspend();
        EXPECT_EQ(library().write(*b, "x", 1), 1);
        await(waiter);
        await(holder);
        EXPECT_EQ(order, "read next ");
    });
}

TEST_F(Transparent, APointerInDataIsReplacedToo) { EXPECT_EQ(library().sleep, &hooked::sleep); }

TEST_F(Transparent, OneCallOfOneObjectIsReplaced) {
    constexpr auto kHook = +[]() -> pid_t { return -7; };
    const auto* code = reinterpret_cast<const void*>(library().getppid);
    EXPECT_FALSE(replace_call(code, "getpid", reinterpret_cast<void*>(kHook)));  // it does not call that
    EXPECT_FALSE(replace_call(reinterpret_cast<const void*>(&::getppid), "getppid", reinterpret_cast<void*>(kHook)));
    EXPECT_EQ(library().getppid(), ::getppid());
    EXPECT_TRUE(replace_call(code, "getppid", reinterpret_cast<void*>(kHook)));
    EXPECT_EQ(library().getppid(), -7);
    EXPECT_NE(::getppid(), -7);
}

TEST_F(Transparent, ReadAndWriteForTheHostSuspend) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        auto reader = spawn([fd = *a] {
            char got[8] = {};
            EXPECT_EQ(suspending_read(fd, got, sizeof(got)), 4);
            EXPECT_STREQ(got, "pong");
        });
        auto writer = spawn([fd = *b] { EXPECT_EQ(suspending_write(fd, "pong", 4), 4); });
        await(reader);
        await(writer);
    });
}

TEST_F(Transparent, WhoAsksForAFunctionByNameGetsTheReplacement) {
    EXPECT_EQ(hooked::dlsym(RTLD_DEFAULT, "usleep"), reinterpret_cast<void*>(&hooked::usleep));
    bool has_version = false;
    for (const char* version : {"GLIBC_2.2.5", "GLIBC_2.17"}) {
        void* found = ::dlvsym(RTLD_DEFAULT, "usleep", version);
        has_version = has_version || found != nullptr;
        EXPECT_EQ(
            hooked::dlvsym(RTLD_DEFAULT, "usleep", version),
            found != nullptr ? reinterpret_cast<void*>(&hooked::usleep) : nullptr
        );
    }
    EXPECT_TRUE(has_version);
    EXPECT_EQ(hooked::dlvsym(RTLD_DEFAULT, "usleep", "GLIBC_0.0"), nullptr);
    EXPECT_EQ(hooked::dlsym(RTLD_DEFAULT, "strlen"), ::dlsym(RTLD_DEFAULT, "strlen"));
}

TEST_F(Transparent, WhoAsksTheLoaderIsTheCaller) {
    EXPECT_EQ(library().find_symbol("usleep"), reinterpret_cast<void*>(&hooked::usleep));
    // Loaded for itself only: nobody else finds its functions, nor what lies where it looks for objects.
    EXPECT_EQ(library().find_symbol("blocking_usleep"), reinterpret_cast<void*>(library().usleep));
    EXPECT_EQ(hooked::dlsym(RTLD_DEFAULT, "blocking_usleep"), nullptr);
}

TEST_F(Transparent, WhatLiesBesideTheCallerIsLoadedForIt) {
#if defined(TA_ASAN) || defined(TA_TSAN)
    GTEST_SKIP() << "the sanitizer asks the loader in its own name";
#endif
    EXPECT_EQ(hooked::dlopen("libtrueasync_beside.so", RTLD_NOW), nullptr);
    void* beside = library().open_object("libtrueasync_beside.so");
    ASSERT_NE(beside, nullptr) << dlerror();
    auto* sleep_there = reinterpret_cast<int (*)(unsigned)>(hooked::dlsym(beside, "beside_usleep"));
    ASSERT_NE(sleep_there, nullptr);
    in_runtime([&] {
        bool has_run = false;
        auto other = spawn([&] { has_run = true; });
        EXPECT_EQ(sleep_there(1000), 0);
        EXPECT_TRUE(has_run);
        await(other);
    });
}

TEST_F(Transparent, ANumberThatAThreadHasClosedIsLookedAtAgain) {
    in_runtime([] {
        int number = -1;
        {
            auto [in, out] = blocking_pair();
            auto writer = spawn([fd = *out] { EXPECT_EQ(library().write(fd, "x", 1), 1); });
            char byte = 0;
            EXPECT_EQ(library().read(*in, &byte, 1), 1);
            await(writer);
            number = in.release();
            std::thread([&] { EXPECT_EQ(library().close(number), 0); }).join();
        }
        auto [in, out] = blocking_pair();
        ASSERT_EQ(::dup2(*in, number), number);
        const Fd again(number);
        const timeval limit{5, 0};
        EXPECT_EQ(::setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
        auto writer = spawn([fd = *out] { EXPECT_EQ(library().write(fd, "y", 1), 1); });
        char byte = 0;
        EXPECT_EQ(library().read(number, &byte, 1), 1);
        EXPECT_EQ(byte, 'y');
        await(writer);
    });
}

TEST_F(Transparent, WhatIsInstalledIsCounted) {
    const TransparentStats stats = transparent_stats();
    EXPECT_GE(stats.objects, 1U);
    EXPECT_GE(stats.slots, 6U);
    EXPECT_EQ(stats.refused, 0U);
    EXPECT_TRUE(install_transparent());  // once more does no harm
    EXPECT_EQ(transparent_stats().slots, stats.slots);
}

TEST_F(Transparent, AHostWhoseCallsDoNotReachUsIsTold) {
    static const hooked::Replacement one{
        "usleep", reinterpret_cast<void*>(&::usleep), reinterpret_cast<void*>(&hooked::usleep)};
    const auto does_reach = [&](const void* host) {
        hooked::RewriteCounts counts;
        const auto choose = [](std::string_view path) {
            const bool is_other = !path.empty() && path != TRUEASYNC_BLOCKING;
            return is_other ? std::span<const hooked::Replacement>() : std::span(&one, 1);
        };
        return hooked::rewrite_objects(choose, counts, host);
    };
    EXPECT_TRUE(does_reach(nullptr));
    EXPECT_TRUE(does_reach(reinterpret_cast<const void*>(library().usleep)));
    EXPECT_FALSE(does_reach(reinterpret_cast<const void*>(&hooked::rewrite_objects)));  // linked with us
}

TEST_F(Transparent, OutsideCoroutinesTheOriginalIsCalled) {
    auto [a, b] = blocking_pair();
    errno = 77;
    EXPECT_EQ(library().write(*b, "x", 1), 1);
    char buffer[4];
    EXPECT_EQ(library().read(*a, buffer, sizeof(buffer)), 1);
    EXPECT_EQ(library().usleep(1), 0);
    EXPECT_EQ(errno, 77);
}

TEST_F(Transparent, TurnedOffItBlocks) {
    in_runtime([] {
        set_transparent(false);
        bool has_run = false;
        auto other = spawn([&] { has_run = true; });
        library().usleep(1000);
        EXPECT_FALSE(has_run);
        set_transparent(true);
        library().usleep(1000);
        EXPECT_TRUE(has_run);
        await(other);
    });
}

TEST_F(Transparent, ErrnoIsKeptByACallThatSucceeds) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        auto writer = spawn([fd = *b] {
            errno = 5;
            EXPECT_EQ(library().write(fd, "x", 1), 1);
        });
        errno = 77;
        char buffer[4];
        EXPECT_EQ(library().read(*a, buffer, sizeof(buffer)), 1);
        EXPECT_EQ(errno, 77);
        await(writer);
    });
}

TEST_F(Transparent, ACancelledCallFailsUntilTheCancellationIsThrown) {
    in_runtime([] {
        auto [a, b] = blocking_pair();
        int first = 0;
        int second = 0;
        auto reader = spawn([&, fd = *a] {
            char buffer[4];
            EXPECT_EQ(library().read(fd, buffer, sizeof(buffer)), -1);
            first = errno;
            EXPECT_EQ(library().poll(fd, POLLIN, 1000), -1);
            second = errno;
            suspend();
            ADD_FAILURE() << "not thrown";
        });
        suspend();
        reader.cancel();
        EXPECT_THROW(await(reader), Cancellation);
        EXPECT_EQ(first, ECANCELED);
        EXPECT_EQ(second, ECANCELED);
    });
}

TEST_F(Transparent, TheChildOfAForkBlocks) {
    in_runtime([] {
        const pid_t child = ::fork();
        if (child == 0) {
            _exit(is_transparent() ? 1 : 0);
        }
        int status = -1;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_TRUE(is_transparent());
    });
}

}  // namespace
}  // namespace trueasync::testing
