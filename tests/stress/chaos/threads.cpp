// Work on other threads, and what comes back from there. Those who wait are cancelled; threads go on to their end.

#include <algorithm>
#include <array>
#include <stress/chaos/chaos.hpp>
#include <trueasync/reactor/loop_return.hpp>

namespace trueasync::chaos {
namespace {

/// Main, when everybody has ended: the threads end by themselves, and what they have sent comes home.
void collect_threads() {
    expect(ThreadEvent::wait_for_all(25s), "a thread did not end");
    Scheduler& scheduler = *Scheduler::current();
    const auto returns = LoopReturns::of(scheduler.reactor());
    while (returns->expected() != 0 || scheduler.alive_count() != 1) {
        suspend();
    }
}

/// Whether a thread gets a loop of its own. Not under the thread sanitizer: libuv closes descriptors by a bare system call, which that does not
/// see, and then it takes the next use of the number for a race.
bool has_loop(Run& run, unsigned one_in) {
#if defined(TA_TSAN)
    constexpr bool kCanHave = false;
#else
    constexpr bool kCanHave = true;
#endif
    return run.random.one_in(one_in) && kCanHave;
}

ThreadOptions some_thread(Run& run) {
    ThreadOptions options;
    options.has_runtime = has_loop(run, 4);
    return options;
}

Counted outcome(int number, bool is_failing) {
    if (is_failing) {
        throw Mishap();
    }
    return {number};
}

/// Asks for the outcomes of `items`, which are numbered from 0, one by one or all at once.
template <typename T>
void ask(Run& run, const std::vector<T>& items) {
    const Limit limit = some_limit(run);
    switch (run.random.pick(3)) {
        case 0: {
            const auto winner = await_any(items, limit);
            expect(winner && winner->value.number() == static_cast<int>(winner->number), "await_any: a wrong value");
            break;
        }
        case 1:
            for (const auto& settled : await_settled(items, limit)) {
                expect(settled.value.has_value() != (settled.error != nullptr), "await_settled: neither or both");
            }
            break;
        default: {
            const unsigned number = run.random.pick(static_cast<unsigned>(items.size()));
            expect(await(items[number], limit).number() == static_cast<int>(number), "a wrong value");
        }
    }
}

/// Several ask for the same.
template <typename T>
void ask_together(Run& run, const std::vector<T>& items) {
    for (unsigned i = 0, count = 1 + run.random.pick(3); i < count; ++i) {
        spawn([&run, items] {
            tolerate([&] { ask(run, items); });
            pause(run);
            tolerate([&] { ask(run, items); });
        });
    }
    tolerate([&] { ask(run, items); });
}

SCENARIO(threads) {
    const auto ended = std::make_shared<int>(0);
    const int count = 1 + static_cast<int>(run.random.pick(3));
    run.at_end([ended, count] {
        collect_threads();
        expect(*ended == count, "the end of a thread was not told, or twice");
    });
    std::vector<Thread<Counted>> threads;
    for (int i = 0; i < count; ++i) {
        threads.push_back(spawn_thread(
            [i, is_failing = run.random.one_in(4), captured = Counted()] { return outcome(i, is_failing); },
            some_thread(run)
        ));
        threads.back().finally([ended] { ++*ended; });
    }
    for (const auto& thread : threads) {
        run.watch(Ref<ThreadEvent>(&thread.event()));
    }
    ask_together(run, threads);
}

SCENARIO(remote_futures) {
    run.at_end(collect_threads);
    std::vector<RemoteFuture<Counted>> futures;
    for (int i = 0, count = 1 + static_cast<int>(run.random.pick(3)); i < count; ++i) {
        auto [future, promise] = remote_future<Counted>();
        future.ignore();
        futures.push_back(future);
        spawn_thread([i, is_failing = run.random.one_in(4), promise = std::move(promise)]() mutable {
            is_failing ? promise.fail(std::make_exception_ptr(Mishap())) : promise.complete(i);
        });
    }
    if (run.random.one_in(3)) {
        spawn([&run, future = futures.back()] {
            pause(run);
            future.cancel();
        });
    }
    ask_together(run, futures);
}

/// A channel, and what became of each letter. Coroutines and threads send and receive.
class Post {
public:
    explicit Post(std::size_t capacity) : channel_(capacity) {}

    const ThreadChannel<Letter>& channel() const noexcept { return channel_; }

    void send(unsigned sender, unsigned number, const Limit& limit = {}) {
        Letter letter(sender, number);
        ++sent_;
        const WaitResult result = channel_.core().send(letter, limit);
        if (letter.is_whole()) {
            expect(result != WaitResult::Ready, "a value was sent and is still there");
            letter.open();
            ++returned_;
        }
        detail::check(result);
    }
    /// Letters of one sender come in order.
    void receive(std::array<unsigned, 4>& last, const Limit& limit = {}) { accept(channel_.recv(limit), last); }

    void check() {
        std::array<unsigned, 4> last{};
        while (auto letter = channel_.is_empty() ? std::nullopt : channel_.try_recv()) {
            accept(std::move(*letter), last);
        }
        expect(sent_ == received_ + returned_, "values do not add up");
    }

private:
    void accept(Letter letter, std::array<unsigned, 4>& last) {
        expect(letter.is_whole(), "a value came in pieces");
        letter.open();
        ++received_;
        expect(std::exchange(last.at(letter.sender()), letter.number()) < letter.number(), "values came out of order");
    }

    ThreadChannel<Letter> channel_;
    std::atomic<unsigned> sent_ = 0;
    std::atomic<unsigned> received_ = 0;
    std::atomic<unsigned> returned_ = 0;
};

/// On a thread, or here, where it may be cancelled.
template <typename F>
void start(Run& run, F body) {
    if (run.random.one_in(2)) {
        spawn_thread([body = std::move(body)]() mutable { body(nullptr); }, some_thread(run));
    } else {
        spawn([&run, body = std::move(body)]() mutable { body(&run); });
    }
}

SCENARIO(thread_channel) {
    const auto post = std::make_shared<Post>(1 + run.random.pick(3));
    run.at_end([post] {
        collect_threads();
        post->check();
    });
    {
        const auto closing = [post](void*) { post->channel().close(); };
        const std::shared_ptr<void> no_senders(nullptr, closing);
        const std::shared_ptr<void> no_receivers(nullptr, closing);
        for (unsigned i = 0, count = 1 + run.random.pick(3); i < count; ++i) {
            start(run, [post, no_senders, i, letters = 1 + run.random.pick(6)](Run* here) {
                for (unsigned number = 1; number <= letters; ++number) {
                    if (!tolerate([&] { post->send(i, number, here != nullptr ? some_limit(*here) : Limit()); }) &&
                        post->channel().is_closed()) {
                        break;
                    }
                }
            });
        }
        for (unsigned i = 0, count = 1 + run.random.pick(3); i < count; ++i) {
            start(run, [post, no_receivers](Run* here) {
                std::array<unsigned, 4> last{};
                for (int patience = 3; here != nullptr && patience != 0; --patience) {
                    tolerate([&] { post->receive(last, some_limit(*here)); });
                    pause(*here);
                }
                while (tolerate([&] { post->receive(last); })) {}
            });
        }
    }
    if (run.random.one_in(4)) {
        pause(run);
        post->channel().close();
    }
}

std::shared_ptr<ThreadPool> open_thread_pool(Run& run) {
    ThreadPoolOptions options;
    options.workers = 1 + run.random.pick(3);
    options.queue_size = 1 + run.random.pick(3);
    options.coroutines = has_loop(run, 2);
    options.concurrency = run.random.pick(3);
    return std::make_shared<ThreadPool>(std::move(options));
}

/// A task, whose captured value must go too.
auto some_task(Run& run, const ThreadPool& pool, int number) {
    const bool has_runtime = pool.core().settings().has_runtime;
    return [number, has_runtime, is_failing = run.random.one_in(4), has_child = run.random.one_in(3),
            captured = Counted()] {
        if (has_runtime) {
            if (has_child) {
                spawn([] { suspend(); });
            }
            suspend();
        }
        return outcome(number, is_failing);
    };
}

/// What can be done to a pool while others use it.
void disturb(Run& run, ThreadPool& pool) {
    pause(run);
    switch (run.random.pick(6)) {
        case 0:
            pool.close();
            break;
        case 1:
            pool.cancel();
            break;
        default:
            tolerate([&] { pool.reload(some_limit(run)); });
    }
}

SCENARIO(thread_pool) {
    const auto pool = open_thread_pool(run);
    const auto submitted = std::make_shared<unsigned>(0);
    run.at_end([pool, submitted] {
        pool->close();
        collect_threads();
        expect(pool->pending_count() == 0 && pool->running_count() == 0, "a pool has tasks left");
        expect(pool->completed_count() == *submitted, "tasks do not add up");
    });
    for (int i = 0, count = 1 + static_cast<int>(run.random.pick(4)); i < count; ++i) {
        spawn([&run, pool, submitted, i] {
            for (int turn = 0; turn < 3; ++turn) {
                tolerate([&] {
                    const auto future = pool->submit(some_task(run, *pool, i), some_limit(run));
                    ++*submitted;
                    future.ignore();
                    if (run.random.one_in(4)) {
                        pause(run);
                        future.cancel();
                    }
                    if (!run.random.one_in(4)) {
                        expect(await(future, some_limit(run)).number() == i, "a wrong value");
                    }
                });
            }
        });
    }
    if (run.random.one_in(2)) {
        disturb(run, *pool);
    }
}

/// The last one who uses it ends it.
SCENARIO(thread_pool_dropped) {
    const auto pool = open_thread_pool(run);
    run.at_end(collect_threads);
    for (int i = 0, count = 1 + static_cast<int>(run.random.pick(3)); i < count; ++i) {
        spawn([&run, pool] {
            tolerate([&] {
                const std::vector<int> items{1, 2, 3};
                const auto doubled = pool->map(items, [is_failing = run.random.one_in(4)](int item) {
                    return outcome(item, is_failing && item == 2);
                });
                expect(std::ranges::equal(doubled, items, {}, &Counted::number), "map: wrong values");
            });
            if (run.random.one_in(3)) {
                tolerate([&] { pool->submit(some_task(run, *pool, 0)).ignore(); });
            }
        });
    }
    if (run.random.one_in(3)) {
        disturb(run, *pool);
    }
}

}  // namespace
}  // namespace trueasync::chaos
