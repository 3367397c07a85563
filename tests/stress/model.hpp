#pragma once

/// @file stress/model.hpp
/// What the stress program believes: random numbers, events with their history, what a wait is for.

#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stress/random.hpp>
#include <string>
#include <trueasync/reactor/virtual_reactor.hpp>
#include <trueasync/trueasync.hpp>

namespace trueasync::stress {

using namespace std::chrono_literals;

inline constexpr std::size_t kSlots = 64;
inline constexpr std::size_t kEvents = 12;

inline std::uint64_t seed = 0;
inline std::uint64_t step = 0;

[[noreturn]] inline void violation(const std::string& what) {
    std::printf("VIOLATION in step %" PRIu64 " (seed %" PRIu64 "): %s\n%s", step, seed, what.c_str(), dump().c_str());
    std::fflush(stdout);
    std::_Exit(1);
}

inline void expect(bool is_true, const char* what) {
    if (!is_true) [[unlikely]] {
        violation(what);
    }
}

/// Anything that is reported is wrong, except what the driver announced.
class StrictSink final : public ReportSink {
public:
    void warning(Warning kind, const Event* /*event*/, std::string_view text) noexcept override {
        if (kind != Warning::ClosedEvent) {
            violation("warning: " + std::string(text));
        }
    }
    void unhandled_error(const Event* /*event*/, const Error& error) noexcept override {
        violation("unhandled: " + error.describe());
    }
    void deadlock(std::span<const Event* const> /*waiting*/, std::size_t /*active*/) noexcept override {
        violation("deadlock");
    }
    void did_not_stop(std::span<const Event* const> coroutines) noexcept override {
        violation(std::to_string(coroutines.size()) + " coroutines did not stop");
    }
};

/// A manual event and what was done to it. Lives as long as a record speaks of it.
struct Source {
    Ref<ManualEvent> event = ManualEvent::create();
    std::uint64_t notifies = 0;
    bool is_closed = false;
};

class Worker;

/// What a wait is for. Lies beside it, on the same stack.
struct Record {
    struct Watched {
        std::shared_ptr<Source> source;
        std::uint64_t notifies_before = 0;
        bool has_happened() const { return source->notifies != notifies_before || source->is_closed; }
    };
    static constexpr std::size_t kMost = 4;

    Watched watched[kMost];
    std::size_t count = 0;
    Worker* joined = nullptr;
    Instant due = Instant::max();
    bool is_direct = false;
    bool is_handed = false;  // a direct wait: its turn has come
    std::uint64_t sequence = 0;

    void watch(const std::shared_ptr<Source>& source) { watched[count++] = {source, source->notifies}; }
    bool has_event_happened() const {
        for (std::size_t i = 0; i < count; ++i) {
            if (watched[i].has_happened()) {
                return true;
            }
        }
        return false;
    }
    bool must_end(Instant now) const;
};

class DirectRecord : public DirectWait {
public:
    DirectRecord(const Event& source, Record& model) noexcept : DirectWait(source), record(model) {}
    Record& record;
};

/// One round: a program, its events, its bookkeeping.
struct World {
    explicit World(std::uint64_t round_seed) : random(round_seed) {
        for (auto& source : sources) {
            source = std::make_shared<Source>();
        }
    }

    Random random;
    std::shared_ptr<Source> sources[kEvents];
    Ref<TriggerEvent> trigger;
    ManualEvent counter;  // what direct waits name
    IntrusiveList<DirectRecord> queue;
    Ref<Worker> slots[kSlots];
    std::uint64_t direct_sequence = 0;
    std::uint64_t last_handed = 0;
    std::size_t workers_made = 0;
    std::size_t workers_gone = 0;
    std::size_t bodies_begun = 0;
    std::size_t bodies_ended = 0;
    std::size_t tasks_made = 0;
    std::size_t tasks_gone = 0;
    std::size_t children_begun = 0;
    std::size_t children_ended = 0;
    std::uint64_t last_task_run = 0;
    std::uint64_t task_sequence = 0;

    const std::shared_ptr<Source>& any_source() { return sources[random.pick(kEvents)]; }

    void hand_on() {
        if (DirectRecord* wait = queue.pop_front()) {
            expect(wait->record.sequence > last_handed, "direct waiters are not served in order");
            last_handed = wait->record.sequence;
            wait->record.is_handed = true;
            wait->wake();
        }
    }
};

inline World* world = nullptr;

inline VirtualReactor& the_clock() { return static_cast<VirtualReactor&>(Scheduler::current()->reactor()); }

}  // namespace trueasync::stress
