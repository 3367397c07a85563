#pragma once

/// @file support/pool_script.hpp
/// A pool of numbers whose hooks do what a test says.

#include <functional>
#include <optional>
#include <set>
#include <support/coro_test.hpp>
#include <trueasync/sync/pool.hpp>

namespace trueasync::testing {

/// Resources are numbers; every call is written down.
class Script final : public PoolHooks<int> {
public:
    Ref<Error> create(std::optional<int>& slot) override {
        const int made = next++;
        log.push_back("create " + std::to_string(made));
        if (on_create) {
            if (Ref<Error> error = on_create(made)) {
                return error;
            }
        }
        alive.insert(made);
        slot.emplace(made);
        return {};
    }
    Ref<Error> destroy(int& resource) override {
        log.push_back("destroy " + std::to_string(resource));
        EXPECT_EQ(alive.erase(resource), 1U) << "destroyed twice, or never made: " << resource;
        return on_destroy ? on_destroy(resource) : Ref<Error>();
    }
    Ref<Error> check(PoolCheck question, int& resource, bool& answer) override {
        const char* names[] = {"health ", "acquire ", "release "};
        log.push_back(names[static_cast<int>(question)] + std::to_string(resource));
        answer = true;
        return on_check ? on_check(question, resource, answer) : Ref<Error>();
    }

    std::vector<std::string> take_log() { return std::exchange(log, {}); }

    int next = 1;
    std::vector<std::string> log;
    std::set<int> alive;
    std::function<Ref<Error>(int)> on_create;
    std::function<Ref<Error>(int)> on_destroy;
    std::function<Ref<Error>(PoolCheck, int, bool&)> on_check;
};

using IntPool = PoolOf<int>;
using Log = std::vector<std::string>;

struct Kit {
    explicit Kit(PoolSettings settings = {}) {
        auto hooks = std::make_unique<Script>();
        script = hooks.get();
        pool = make_ref<IntPool>(settings, std::move(hooks));
    }
    /// 0 when it did not come to it; `last` says why.
    int acquire(const WaitLimit& limit = {}) {
        std::optional<int> slot;
        last = pool->acquire(slot, limit);
        if (last != WaitResult::Ready) {
            EXPECT_FALSE(slot.has_value());
            error = Scheduler::take_wait_error();
        }
        return slot.value_or(0);
    }
    int try_acquire() {
        std::optional<int> slot;
        Status status = pool->try_acquire(slot);
        error = status.take();
        return slot.value_or(0);
    }
    void release(int resource) { EXPECT_TRUE(pool->give_back(resource).ok()); }

    Script* script = nullptr;
    Ref<IntPool> pool;
    WaitResult last = WaitResult::Ready;
    Ref<Error> error;
};

inline PoolSettings limits(std::size_t min, std::size_t max) {
    PoolSettings settings;
    settings.min = min;
    settings.max = max;
    return settings;
}

inline Ref<Error> failure(std::string text) { return Error::make(ErrorCode::Exception, std::move(text)); }

}  // namespace trueasync::testing
