// Futures, chains, and waiting for many.

#include <stress/chaos/chaos.hpp>

namespace trueasync::chaos {
namespace {

/// The side that completes. Who goes without having done so has failed.
class Promise {
public:
    explicit Promise(Run& run) { run.watch(Ref<FutureEvent>(&state_.future().state())); }
    Promise(Promise&&) noexcept = default;
    ~Promise() {
        if (is_held_.get() != nullptr && !state_.is_completed()) {
            state_.fail(Mishap());
        }
    }

    Future<Counted> future() const { return state_.future(); }
    void keep(int number) const { state_.complete(number); }
    void break_it() const { state_.fail(Mishap()); }

private:
    FutureState<Counted> state_;
    std::unique_ptr<char> is_held_ = std::make_unique<char>();  // not by one that was moved from
};

/// A coroutine that keeps its promise, or breaks it.
Future<Counted> promised(Run& run, int number) {
    Promise promise(run);
    Future<Counted> future = promise.future();
    spawn([&run, promise = std::move(promise), number] {
        pause(run);
        run.random.one_in(4) ? promise.break_it() : promise.keep(number);
    });
    return future;
}

Handle<Counted> working(Run& run, int number) {
    return spawn_quiet([&run, number] {
        pause(run);
        if (run.random.one_in(4)) {
            throw Mishap();
        }
        return Counted(number);
    });
}

template <typename T>
std::vector<T> several(Run& run, T (*make)(Run&, int)) {
    std::vector<T> items;
    for (int i = 0, count = static_cast<int>(run.random.pick(5)); i < count; ++i) {
        items.push_back(make(run, i));
        if (run.random.one_in(3)) {
            suspend();
        }
    }
    return items;
}

/// Every outcome of `items` is asked for in one of the ways there are.
template <typename T>
void ask(Run& run, const std::vector<T>& items) {
    const Limit limit = some_limit(run);
    switch (run.random.pick(5)) {
        case 0:
            expect(await_all(items, limit).size() == items.size(), "await_all: too few");
            break;
        case 1:
            for (const auto& outcome : await_settled(items, limit)) {
                expect(outcome.value.has_value() != (outcome.error != nullptr), "await_settled: neither or both");
            }
            break;
        case 2: {
            const auto winner = await_any(items, limit);
            expect(winner.has_value() != items.empty(), "await_any: nobody");
            expect(!winner || winner->value.number() == static_cast<int>(winner->number), "await_any: a wrong value");
            break;
        }
        case 3: {
            const std::size_t enough = run.random.pick(3);
            expect(await_any_of(enough, items, limit).size() >= std::min(enough, items.size()), "await_any_of");
            break;
        }
        default: {
            const auto winner = await_first_success(items, limit);
            expect(winner.has_value() != items.empty(), "await_first_success: nobody");
        }
    }
}

SCENARIO(await_coroutines) {
    for (int i = 0; i < 3; ++i) {
        tolerate([&] { ask(run, several(run, working)); });
    }
}

SCENARIO(await_futures) {
    for (int i = 0; i < 3; ++i) {
        tolerate([&] {
            const auto items = several(run, promised);
            for (const auto& item : items) {
                item.ignore();
            }
            ask(run, items);
        });
    }
}

SCENARIO(await_mixed) {
    const auto coroutine = working(run, 1);
    const auto future = promised(run, 2);
    future.ignore();
    run.watch(Ref<Coroutine>(&coroutine.coroutine()));
    for (int i = 0; i < 2; ++i) {
        spawn([=, &run] {
            const auto timer = TimerEvent::create(Scheduler::current()->reactor(), run.random.duration());
            run.watch(timer);
            tolerate([&] {
                auto [one, two, three] = await_all(coroutine, future, timer);
                expect(one.number() == 1 && two.number() == 2, "a wrong value");
            });
            pause(run);
        });
    }
    tolerate([&] { await(future, coroutine); });
}

/// One completes the next.
SCENARIO(future_relay) {
    const int count = 2 + static_cast<int>(run.random.pick(4));
    Promise first(run);
    Future<Counted> in = first.future();
    std::vector<Handle<void>> runners;
    for (int i = 0; i < count; ++i) {
        Promise out(run);
        Future<Counted> next = out.future();
        runners.push_back(spawn([&run, in, out = std::move(out)] {
            tolerate([&] {
                pause(run);
                const int number = await(in).number();
                pause(run);
                out.keep(number + 1);
            });
        }));
        in = next;
    }
    pause(run);
    first.keep(0);
    tolerate([&] { expect(await(in, some_limit(run)).number() == count, "the sum is wrong"); });
    for (const auto& runner : runners) {
        await(runner);
    }
}

/// Many read one, some of them not for long.
SCENARIO(future_readers) {
    Promise promise(run);
    const Future<Counted> future = promise.future();
    future.ignore();
    const auto stop = Promise(run).future();  // has failed: a token that ends every wait
    stop.ignore();
    for (unsigned i = 0, count = 1 + run.random.pick(5); i < count; ++i) {
        spawn([&run, future, stop] {
            for (int tries = 0; tries < 3; ++tries) {
                tolerate([&] {
                    const bool is_stopped = run.random.one_in(8);
                    const Limit limit = is_stopped ? Limit(stop.state()) : some_limit(run);
                    expect(await(future, limit).number() == 7, "a wrong value");
                    expect(!is_stopped, "a token was overlooked");
                });
                pause(run);
            }
        });
    }
    pause(run);
    if (run.random.one_in(5)) {
        future.cancel("not wanted");
    } else {
        promise.keep(7);
    }
}

/// Links of a chain run in coroutines of their own, which may be cancelled like everybody else; the end of the chain always comes.
SCENARIO(future_chain) {
    auto finals = std::make_shared<int>(0);
    const Future<Counted> source = promised(run, 1);
    const Future<int> end = source
                                .map([&run](const Counted& value) {
                                    pause(run);
                                    if (run.random.one_in(4)) {
                                        throw Mishap();
                                    }
                                    return value.number() + 1;
                                })
                                .recover([&run](const std::exception_ptr&) {
                                    pause(run);
                                    return 2;
                                })
                                .finally([&run, finals] {
                                    ++*finals;
                                    pause(run);
                                });
    run.watch(Ref<FutureEvent>(&end.state()));
    end.ignore();
    run.at_end([=] {
        expect(end.is_completed(), "a chain has no end");
        expect(*finals == 1, "a finally was not called once");
    });
    for (int i = 0; i < 3; ++i) {
        spawn([&run, end] { tolerate([&] { expect(await(end, some_limit(run)) == 2, "a wrong value"); }); });
    }
    tolerate([&] { await(end); });
}

/// `await` of what is there already, of what has failed, and of coroutines that were cancelled.
SCENARIO(future_settled) {
    const auto good = Future<Counted>::completed(3);
    const auto bad = Future<Counted>::failed(std::make_exception_ptr(Mishap()));
    bad.ignore();
    run.watch(Ref<FutureEvent>(&good.state()));
    for (int i = 0; i < 3; ++i) {
        spawn([&run, good, bad] {
            expect(await(good).number() == 3, "a wrong value");
            expect(!tolerate([&] { await(bad); }), "a failure was overlooked");
            pause(run);
            auto child = spawn([&run] { pause(run); });
            child.cancel();
            try {
                await(child);
                violation("a cancelled one ended well");
            } catch (const Cancellation&) {}
        });
    }
    pause(run);
}

}  // namespace
}  // namespace trueasync::chaos
