#include <pthread.h>

#include <atomic>
#include <functional>
#include <support/hooked.hpp>
#include <thread>
#include <utility>

namespace trueasync::testing {
namespace {

using HookedMutex = HookedTest;

/// Of a library.
class Mutex {
public:
    explicit Mutex(int kind = PTHREAD_MUTEX_DEFAULT) {
        pthread_mutexattr_t attributes;
        EXPECT_EQ(pthread_mutexattr_init(&attributes), 0);
        EXPECT_EQ(pthread_mutexattr_settype(&attributes, kind), 0);
        EXPECT_EQ(pthread_mutex_init(&mutex_, &attributes), 0);
        EXPECT_EQ(pthread_mutexattr_destroy(&attributes), 0);
    }
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;
    ~Mutex() { EXPECT_EQ(pthread_mutex_destroy(&mutex_), 0); }

    int lock() { return hooked::pthread_mutex_lock(&mutex_); }
    int unlock() { return pthread_mutex_unlock(&mutex_); }
    bool is_locked() {
        const int result = pthread_mutex_trylock(&mutex_);
        return result != 0 || unlock() != 0;
    }
    pthread_mutex_t& get() { return mutex_; }

private:
    pthread_mutex_t mutex_;
};

void suspend_until(const bool& is_so) {
    while (!is_so) {
        suspend();
    }
}

TEST_F(HookedMutex, OneThatIsFreeIsTakenAtOnce) {
    for (const int kind : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
        Mutex mutex(kind);
        EXPECT_EQ(mutex.lock(), 0);  // outside coroutines
        EXPECT_EQ(mutex.unlock(), 0);
        in_runtime([&] {
            bool has_run = false;
            auto other = spawn([&] { has_run = true; });
            errno = 77;
            EXPECT_EQ(mutex.lock(), 0);
            EXPECT_EQ(errno, 77);
            EXPECT_EQ(mutex.unlock(), 0);
            EXPECT_FALSE(has_run);
            await(other);
        });
    }
}

TEST_F(HookedMutex, WhoWantsOneThatASuspendedCoroutineHoldsWaitsWhileOthersRun) {
    for (const int kind : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP}) {
        Mutex mutex(kind);
        in_runtime([&] {
            std::string order;
            bool may_leave = false;
            auto holder = spawn([&] {
                EXPECT_EQ(mutex.lock(), 0);
                order += "in ";
                suspend_until(may_leave);
                order += "out ";
                EXPECT_EQ(mutex.unlock(), 0);
            });
            auto waiter = spawn([&] {
                errno = 77;
                EXPECT_EQ(mutex.lock(), 0);
                EXPECT_EQ(errno, 77);
                order += "next ";
                EXPECT_EQ(mutex.unlock(), 0);
            });
            auto other = spawn([&] { order += "other "; });
            await(other);
            hooked::usleep(5000);  // some of its pauses
            may_leave = true;
            await(waiter);
            await(holder);
            EXPECT_EQ(order, "in other out next ");
            EXPECT_FALSE(mutex.is_locked());
        });
    }
}

TEST_F(HookedMutex, TheyGetItInTheOrderInWhichTheyCame) {
    Mutex mutex;
    in_runtime([&] {
        std::string order;
        const auto take = [&](char name, int times) {
            return [&, name, times] {
                for (int i = 0; i < times; ++i) {
                    EXPECT_EQ(mutex.lock(), 0);
                    order += name;
                    suspend();  // never while it is free
                    EXPECT_EQ(mutex.unlock(), 0);
                }
            };
        };
        std::vector<Handle<void>> all;
        all.push_back(spawn(take('a', 4)));
        all.push_back(spawn(take('b', 2)));
        all.push_back(spawn(take('c', 1)));
        for (auto& one : all) {
            await(one);
        }
        EXPECT_EQ(order, "abcabaa");
        EXPECT_FALSE(mutex.is_locked());
    });
}

TEST_F(HookedMutex, OneOfAnotherThreadBlocks) {
    Mutex mutex;
    in_runtime([&] {
        std::atomic<bool> is_held = false;
        std::thread holder([&] {
            EXPECT_EQ(mutex.lock(), 0);
            is_held = true;
            const auto limit = std::chrono::steady_clock::now() + 5s;
            // Until somebody blocks.
            while (__atomic_load_n(&mutex.get().__data.__lock, __ATOMIC_RELAXED) != 2 &&
                   std::chrono::steady_clock::now() < limit) {
                std::this_thread::yield();
            }
            EXPECT_LT(std::chrono::steady_clock::now(), limit) << "nobody blocks";
            EXPECT_EQ(mutex.unlock(), 0);
        });
        while (!is_held) {
            std::this_thread::yield();
        }
        bool has_run = false;
        auto other = spawn([&] { has_run = true; });
        EXPECT_EQ(mutex.lock(), 0);
        EXPECT_FALSE(has_run);
        EXPECT_EQ(mutex.unlock(), 0);
        await(other);
        holder.join();
    });
}

TEST_F(HookedMutex, ThoseThatKnowTheirOwnerAnswerAsEver) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the sanitizer takes coroutines for threads, of which only one may have a recursive mutex";
#endif
    Mutex recursive(PTHREAD_MUTEX_RECURSIVE);
    Mutex checking(PTHREAD_MUTEX_ERRORCHECK);
    in_runtime([&] {
        EXPECT_EQ(recursive.lock(), 0);
        EXPECT_EQ(recursive.lock(), 0);
        EXPECT_EQ(checking.lock(), 0);
        EXPECT_EQ(checking.lock(), EDEADLK);
        auto other = spawn([&] {  // to them it is the same thread
            EXPECT_EQ(recursive.lock(), 0);
            EXPECT_EQ(recursive.unlock(), 0);
            EXPECT_EQ(checking.lock(), EDEADLK);
        });
        await(other);
        EXPECT_EQ(checking.unlock(), 0);
        EXPECT_EQ(recursive.unlock(), 0);
        EXPECT_EQ(recursive.unlock(), 0);
    });
}

TEST_F(HookedMutex, WhoIsCancelledGetsItFirst) {
    Mutex mutex;
    in_runtime([&] {
        bool may_leave = false;
        bool has_it = false;
        auto holder = spawn([&] {
            EXPECT_EQ(mutex.lock(), 0);
            suspend_until(may_leave);
            EXPECT_EQ(mutex.unlock(), 0);
        });
        auto waiter = spawn([&] {
            EXPECT_EQ(mutex.lock(), 0);
            has_it = true;
            EXPECT_TRUE(mutex.is_locked());
            EXPECT_EQ(mutex.unlock(), 0);
            suspend();
            ADD_FAILURE() << "not thrown";
        });
        suspend();
        waiter.cancel();
        for (int i = 0; i < 10; ++i) {
            suspend();
        }
        EXPECT_FALSE(has_it);
        may_leave = true;
        EXPECT_THROW(await(waiter), Cancellation);
        EXPECT_TRUE(has_it);
        await(holder);
    });
}

TEST_F(HookedMutex, AShutdownWaitsForWhoHoldsIt) {
    Mutex mutex;
    std::string order;
    in_runtime([&] {
        auto holder = spawn([&] {
            EXPECT_EQ(mutex.lock(), 0);
            try {
                suspend_until(false);
            } catch (const Cancellation&) {
                {
                    const ProtectGuard cleaning_up;
                    hooked::usleep(3000);
                }
                order += "out ";
                EXPECT_EQ(mutex.unlock(), 0);
                throw;
            }
        });
        auto waiter = spawn([&] {
            EXPECT_EQ(mutex.lock(), 0);
            order += "next ";
            EXPECT_EQ(mutex.unlock(), 0);
            try {
                suspend();
            } catch (const Cancellation&) {
                order += "cancelled ";
                throw;
            }
        });
        suspend();
        Runtime::current()->shutdown();
    });
    EXPECT_EQ(order, "out next cancelled ");
    EXPECT_FALSE(mutex.is_locked());
}

TEST_F(HookedMutex, AnAbandonedWaiterIsForgotten) {
    Mutex mutex;
    EXPECT_EQ(mutex.lock(), 0);
    RecordingSink sink;
    RunOptions options;
    options.sink = &sink;
    options.settings.shutdown_grace = Deadline::after(1ms);
    trueasync::run(
        [&] {
            auto waiter = spawn([&] { mutex.lock(); });
            suspend();
            Runtime::current()->shutdown();
        },
        std::move(options)
    );
    ASSERT_EQ(sink.survivors.size(), 1U);
    EXPECT_NE(sink.survivors[0].find("a mutex that another coroutine holds"), std::string::npos);
    EXPECT_EQ(mutex.unlock(), 0);
    in_runtime([&] {
        bool has_run = false;
        auto other = spawn([&] { has_run = true; });
        EXPECT_EQ(mutex.lock(), 0);
        EXPECT_FALSE(has_run);
        EXPECT_EQ(mutex.unlock(), 0);
        await(other);
    });
}

TEST_F(HookedMutex, WhereNobodyCanWaitItIsTakenAsEver) {
    Mutex mutex;
    in_runtime([&] {
        bool may_leave = false;
        auto holder = spawn([&] {
            EXPECT_EQ(mutex.lock(), 0);
            suspend_until(may_leave);
            EXPECT_EQ(mutex.unlock(), 0);
        });
        auto waiter = spawn([&] {
            EXPECT_EQ(mutex.lock(), 0);
            EXPECT_EQ(mutex.unlock(), 0);
        });
        suspend();
        may_leave = true;
        await(holder);
        set_transparent(false);  // though somebody came before
        EXPECT_EQ(mutex.lock(), 0);
        EXPECT_EQ(mutex.unlock(), 0);
        set_transparent(true);
        await(waiter);
    });
}

}  // namespace
}  // namespace trueasync::testing
