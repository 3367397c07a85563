// Pools whose hooks suspend and fail.

#include <set>
#include <stress/chaos/chaos.hpp>

namespace trueasync::chaos {
namespace {

/// Which resources there are: each is destroyed once.
struct Stock {
    int made = 0;
    std::set<int> alive;
};

using Resource = Counted;

void maybe_pause(Run& run) {
    if (run.random.one_in(3)) {
        pause(run);
    }
}

void maybe_fail(Run& run, unsigned one_in) {
    if (one_in != 0 && run.random.one_in(one_in)) {
        throw Mishap();
    }
}

struct Habits {
    unsigned failing_one_in = 0;  // how rare it is that a hook fails; 0: none does
    bool has_checks = false;
    Duration health = Duration::zero();
};

std::shared_ptr<Pool<Resource>> open_pool(Run& run, const Habits& habits, std::size_t min, std::size_t max) {
    const auto stock = std::make_shared<Stock>();
    PoolOptions<Resource> options;
    options.min = min;
    options.max = max;
    options.factory = [&run, stock, habits, max] {
        maybe_pause(run);
        maybe_fail(run, habits.failing_one_in);
        stock->alive.insert(++stock->made);
        expect(stock->alive.size() <= max, "there are too many resources");
        return Resource(stock->made);
    };
    options.destructor = [&run, stock, habits](Resource& resource) {
        expect(stock->alive.erase(resource.number()) == 1, "a resource was destroyed twice");
        maybe_pause(run);
        maybe_fail(run, habits.failing_one_in);
    };
    const auto check = [&run, habits](Resource&) {
        maybe_pause(run);
        maybe_fail(run, habits.failing_one_in);
        return !run.random.one_in(4);
    };
    if (habits.has_checks) {
        options.before_acquire = check;
        options.before_release = check;
    }
    if (habits.health != Duration::zero()) {
        options.healthcheck = check;
        options.healthcheck_interval = habits.health;
    }
    run.at_end([stock] { expect(stock->alive.empty(), "a resource was not destroyed"); });
    auto pool = std::make_shared<Pool<Resource>>(std::move(options));
    run.watch(Ref<PoolEvent>(&pool->event()));
    run.at_end([event = Ref<PoolEvent>(&pool->event())] {
        expect(event->waiting_count() == 0 && event->reserved_count() == 0, "somebody waits in a pool");
        expect(event->active_count() == 0 && event->idle_count() == 0, "a pool has resources left");
        expect(event->stats().created == event->stats().destroyed, "resources do not add up");
    });
    return pool;
}

void use(Run& run, Pool<Resource>& pool, std::set<int>& lent, const Limit& limit = {}) {
    tolerate([&] {
        auto lease = pool.acquire(limit);
        const int number = lease->number();
        expect(lent.insert(number).second, "a resource was lent twice");
        {
            const auto returning = when_dropped([&] { lent.erase(number); });
            maybe_pause(run);
        }
        if (run.random.one_in(2)) {
            lease.release();
        }
    });
}

std::vector<Handle<void>> users(
    Run& run, const std::shared_ptr<Pool<Resource>>& pool, int count, unsigned limit_one_in
) {
    const auto lent = std::make_shared<std::set<int>>();
    std::vector<Handle<void>> all;
    for (int i = 0; i < count; ++i) {
        all.push_back(spawn([&run, pool, lent, limit_one_in] {
            for (int times = 0; times < 3; ++times) {
                use(run, *pool, *lent, limit_one_in != 0 ? some_limit(run, limit_one_in) : Limit());
                maybe_pause(run);
            }
        }));
    }
    return all;
}

void join(const std::vector<Handle<void>>& all) {
    for (const auto& one : all) {
        await(one);
    }
}

SCENARIO(pool_plain) { join(users(run, open_pool(run, {}, run.random.pick(2), 1 + run.random.pick(2)), 4, 0)); }

SCENARIO(pool_limits) {
    const auto pool = open_pool(run, {}, 0, 1 + run.random.pick(2));
    const auto all = users(run, pool, 4, 2);
    spawn([&run, pool] {
        for (int i = 0; i < 4; ++i) {
            tolerate([&] {
                if (auto lease = pool->try_acquire()) {
                    pause(run);
                }
            });
            suspend();
        }
    });
    join(all);
}

SCENARIO(pool_failing) {
    Habits habits;
    habits.failing_one_in = 4;
    habits.has_checks = run.random.one_in(2);
    tolerate([&] { join(users(run, open_pool(run, habits, run.random.pick(2), 1 + run.random.pick(2)), 4, 3)); });
}

SCENARIO(pool_health) {
    Habits habits;
    habits.failing_one_in = run.random.one_in(2) ? 6 : 0;
    habits.has_checks = run.random.one_in(2);
    habits.health = run.random.duration();
    tolerate([&] {
        const auto pool = open_pool(run, habits, 1 + run.random.pick(2), 2);
        const auto all = users(run, pool, 3, 4);
        for (int i = 0; i < 5; ++i) {
            sleep_for(run.random.duration());
        }
        join(all);
    });
}

SCENARIO(pool_closed_early) {
    Habits habits;
    habits.has_checks = run.random.one_in(2);
    habits.failing_one_in = run.random.one_in(2) ? 6 : 0;
    tolerate([&] {
        const auto pool = open_pool(run, habits, 1, 2);
        const auto all = users(run, pool, 4, 4);
        pause(run);
        try {
            pool->close();
        } catch (const AsyncError&) {  // of several destructors
        }
        join(all);
    });
}

/// Opens after a rejected resource, recovers when asked often enough.
class Fuse final : public CircuitBreakerStrategy {
public:
    explicit Fuse(Run& run) : run_(run) {}
    Ref<Error> report_success(PoolEvent& source) override {
        source.activate();
        return {};
    }
    Ref<Error> report_failure(PoolEvent& source, Error& /*error*/) override {
        if (run_.random.one_in(2)) {
            source.deactivate();
        }
        return {};
    }
    Ref<Error> should_recover(bool& answer) override {
        answer = run_.random.one_in(2);
        return {};
    }

private:
    Run& run_;
};

SCENARIO(pool_breaker) {
    Habits habits;
    habits.has_checks = true;
    const auto pool = open_pool(run, habits, 0, 1 + run.random.pick(2));
    pool->set_strategy(std::make_shared<Fuse>(run));
    join(users(run, pool, 4, 4));
}

/// A lease outlives its pool.
SCENARIO(pool_outlived) {
    auto pool = open_pool(run, {}, 0, 2);
    auto lease = std::make_shared<Pool<Resource>::Lease>(pool->acquire());
    spawn([&run, lease] { pause(run); });
    pool.reset();
    pause(run);
}

}  // namespace
}  // namespace trueasync::chaos
