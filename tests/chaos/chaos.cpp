#include <chaos/chaos.hpp>
#include <random>
#include <vector>

namespace trueasync::testing {

namespace {

struct State {
    std::mt19937_64 random;
    unsigned per_mille = 0;
    std::uint64_t cancellations = 0;
};

State& state() {
    static State instance;
    return instance;
}

unsigned dice(std::size_t sides) { return static_cast<unsigned>(state().random() % sides); }

/// Between two turns, where whoever is cancelled is in order.
class Blow final : public Microtask {
public:
    Status run() override {
        std::vector<Coroutine*> alive;
        for (Coroutine& coroutine : Scheduler::current()->alive()) {
            alive.push_back(&coroutine);
        }
        if (!alive.empty()) {
            ++state().cancellations;
            Scheduler::current()->cancel(
                *alive[dice(alive.size())], Error::cancellation(CancelReason::UserRequest, "chaos")
            );
        }
        return {};
    }
};

/// Told of every turn.
class Watcher final : public HostHook {
public:
    void start(Coroutine& /*coroutine*/) noexcept override { turn(); }
    void leave(Coroutine& /*coroutine*/) noexcept override {}
    void enter(Coroutine& /*coroutine*/) noexcept override { turn(); }
    void finish(Coroutine& /*coroutine*/) noexcept override {}

private:
    static void turn() noexcept {
        if (dice(1000) < state().per_mille) {
            const auto blow = Ref<Blow>::adopt(new Blow);
            Scheduler::current()->add_microtask(*blow);
        }
    }
};

Watcher watcher;

}  // namespace

void Chaos::begin(std::uint64_t seed, unsigned per_mille) noexcept {
    state().random.seed(seed);
    state().per_mille = per_mille;
}

bool Chaos::is_on() noexcept { return state().per_mille != 0; }

void Chaos::watch_this_runtime() {
    if (is_on() && Scheduler::current()->host_hook() == nullptr) {
        Scheduler::current()->set_host_hook(&watcher);
    }
}

std::uint64_t Chaos::cancellations() noexcept { return state().cancellations; }

}  // namespace trueasync::testing
