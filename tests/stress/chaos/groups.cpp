// Task groups and sets, and the concurrent iterator.

#include <algorithm>
#include <numeric>
#include <stress/chaos/chaos.hpp>

namespace trueasync::chaos {
namespace {

/// Every group must have ended when all coroutines have.
template <typename Group>
std::shared_ptr<Group> open_group(Run& run, TaskLimits limits = {}) {
    auto group = std::make_shared<Group>(limits);
    run.watch(Ref<GroupEvent>(&group->event()));
    run.at_end([event = Ref<GroupEvent>(&group->event())] {
        expect(event->is_finished() && event->running() == 0, "a group has tasks left");
        expect(event->is_shut() && event->scope().is_closed(), "a group has not ended");
    });
    return group;
}

TaskLimits some_limits(Run& run) {
    TaskLimits limits;
    limits.concurrency = run.random.pick(3);
    if (run.random.one_in(2)) {
        limits.queue_limit = run.random.pick(3);
    }
    return limits;
}

auto task(Run& run, int number) {
    return [&run, number, value = Counted(number)] {
        const Lingering lingering(run);
        for (unsigned i = 0; i < run.random.pick(3); ++i) {
            pause(run);
        }
        if (run.random.one_in(4)) {
            throw Mishap();
        }
        return Counted(number);
    };
}

template <typename Group>
void fill(Run& run, Group& group, int count) {
    for (int i = 0; i < count; ++i) {
        if (run.random.one_in(4)) {
            group.spawn_with_key("task " + std::to_string(i), task(run, i));
        } else {
            group.spawn(task(run, i));
        }
    }
}

void ask(Run& run, TaskGroup<Counted>& group) {
    tolerate([&] {
        switch (run.random.pick(3)) {
            case 0:
                group.all(run.random.one_in(2), some_limit(run));
                break;
            case 1:
                expect(group.race(some_limit(run)).number() >= 0, "a result was taken away");
                break;
            default:
                expect(group.any(some_limit(run)).number() >= 0, "a result was taken away");
        }
    });
}

SCENARIO(group_questions) {
    const auto group = open_group<TaskGroup<Counted>>(run);
    fill(run, *group, 1 + static_cast<int>(run.random.pick(5)));
    for (int i = 0; i < 3; ++i) {
        spawn([&run, group] {
            ask(run, *group);
            pause(run);
            ask(run, *group);
        });
    }
    group->close();
    group->await_completion();
    expect(group->results().size() + group->errors().size() == group->count(), "outcomes do not add up");
    expect(group->all(true).size() == group->results().size(), "outcomes do not add up");
}

/// Those who add wait for room.
SCENARIO(group_limits) {
    const TaskLimits limits = some_limits(run);
    const auto group = open_group<TaskGroup<Counted>>(run, limits);
    const auto running = std::make_shared<unsigned>(0);
    const auto closing = when_dropped([group] { group->close(); });
    for (int i = 0; i < 3; ++i) {
        spawn([&run, group, closing, limits, running] {
            for (int count = 0; count < 4; ++count) {
                tolerate([&] {
                    group->spawn([&run, limits, running] {
                        ++*running;
                        const auto leaving = when_dropped([&] { --*running; });
                        expect(limits.concurrency == 0 || *running <= limits.concurrency, "too many at a time");
                        pause(run);
                        return Counted(1);
                    });
                });
            }
        });
    }
    pause(run);
    tolerate([&] { group->all(true, some_limit(run)); });
}

SCENARIO(group_iteration) {
    const auto group = open_group<TaskGroup<Counted>>(run, some_limits(run));
    const auto closing = when_dropped([group] { group->close(); });
    for (int i = 0; i < 2; ++i) {
        spawn([&run, group] {
            auto reader = group->outcomes();
            std::size_t seen = 0;
            for (;;) {
                std::optional<TaskOutcome<Counted>> outcome;
                const bool is_in_time = tolerate([&] { outcome = reader.next(some_limit(run)); });
                if (is_in_time && !outcome.has_value()) {
                    break;
                }
                seen += outcome.has_value() ? 1 : 0;
                pause(run);
            }
            expect(seen == group->count(), "an outcome was not seen once");
        });
    }
    spawn([&run, group, closing] { tolerate([&] { fill(run, *group, 6); }); });
}

SCENARIO(group_cancelled) {
    const auto group = open_group<TaskGroup<Counted>>(run, some_limits(run));
    const auto finals = std::make_shared<int>(0);
    group->finally([&run, finals] {
        ++*finals;
        pause(run);
    });
    run.at_end([finals] { expect(*finals == 1, "a handler for an end was not called once"); });
    spawn([&run, group] { tolerate([&] { fill(run, *group, 6); }); });
    spawn([&run, group] {
        pause(run);
        if (group->count() != 0) {
            try {
                ask(run, *group);
            } catch (const Cancellation&) {}
        }
    });
    pause(run);
    switch (run.random.pick(4)) {
        case 0:
            group->cancel("enough");
            break;
        case 1:
            group->dispose();
            break;
        case 2:
            group->close();
            break;
        default:
            return;  // dropped, when the others have done with it
    }
    group->await_completion();
}

/// Each outcome goes to one who asks; nothing is lost when those are cancelled.
SCENARIO(set_next) {
    const auto set = open_group<TaskSet<Counted>>(run, some_limits(run));
    const auto closing = when_dropped([set] { set->close(); });
    struct Counts {
        std::size_t added = 0;
        std::size_t taken = 0;
    };
    const auto counts = std::make_shared<Counts>();
    run.at_end([event = Ref<GroupEvent>(&set->event()), counts] {
        expect(counts->added == counts->taken + event->count(), "an outcome was lost");
    });
    for (int i = 0; i < 2; ++i) {
        spawn([&run, set, counts] {
            for (;;) {
                std::optional<TaskOutcome<Counted>> outcome;
                const bool is_in_time = tolerate([&] { outcome = set->next(some_limit(run)); });
                if (is_in_time && !outcome.has_value()) {
                    break;
                }
                counts->taken += outcome.has_value() ? 1 : 0;
                pause(run);
            }
        });
    }
    spawn([&run, set, counts, closing] {
        for (int i = 0; i < 6; ++i) {
            if (tolerate([&] { set->spawn(task(run, i)); })) {
                ++counts->added;
            }
        }
    });
}

void join(Run& run, TaskSet<Counted>& set) {
    switch (run.random.pick(3)) {
        case 0:
            set.join_next(some_limit(run));
            break;
        case 1:
            set.join_any(some_limit(run));
            break;
        default:
            set.join_all(run.random.one_in(2), some_limit(run));
    }
}

SCENARIO(set_joins) {
    const auto set = open_group<TaskSet<Counted>>(run, some_limits(run));
    const auto closing = when_dropped([set] { set->close(); });
    for (int i = 0; i < 2; ++i) {
        spawn([&run, set] {
            pause(run);
            for (int count = 0; count < 3 && set->count() != 0; ++count) {
                tolerate([&] {
                    try {
                        join(run, *set);
                    } catch (const AsyncError& error) {
                        if (error.code() != ErrorCode::IllegalState) {  // the other one has taken the last
                            throw;
                        }
                    }
                });
                pause(run);
            }
        });
    }
    fill(run, *set, 5);
    pause(run);
    set->close();
    set->await_completion();
}

std::vector<int> numbers(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

SCENARIO(iterate_all) {
    IterateSettings settings;
    settings.concurrency = run.random.pick(4);
    settings.cancels_pending = run.random.one_in(2);
    const std::vector<int> elements = numbers(static_cast<int>(run.random.pick(8)));
    std::vector<int> calls(elements.size());
    unsigned running = 0;
    iterate(
        elements,
        [&](int element) {
            ++calls[static_cast<std::size_t>(element)];
            ++running;
            const auto leaving = when_dropped([&] { --running; });
            expect(settings.concurrency == 0 || running <= settings.concurrency, "too many at a time");
            const Lingering lingering(run);
            const Counted value(element);
            if (run.random.one_in(2)) {
                pause(run);
            }
            if (run.random.one_in(4)) {
                spawn([&run] { pause(run); });
            }
        },
        settings
    );
    expect(std::ranges::all_of(calls, [](int count) { return count == 1; }), "an element was left out, or came twice");
}

SCENARIO(iterate_ended_early) {
    IterateSettings settings;
    settings.concurrency = run.random.pick(4);
    unsigned running = 0;
    const auto check = when_dropped([&] { expect(running == 0, "a callback outlived its iteration"); });
    tolerate([&] {
        iterate(
            numbers(8),
            [&](int element) {
                ++running;
                const auto leaving = when_dropped([&] { --running; });
                const Lingering lingering(run);
                pause(run);
                if (run.random.one_in(6)) {
                    throw Mishap();
                }
                return element < 5 || !run.random.one_in(3);
            },
            settings
        );
    });
}

/// One inside the other, in a scope that may go.
SCENARIO(iterate_nested) {
    Scope scope;
    const auto made = scope.spawn([&run] {
        iterate(numbers(4), [&](int count) {
            pause(run);
            iterate(numbers(count), [&](int) { pause(run); }, {.concurrency = 2});
        });
    });
    tolerate([&] { scope.await_completion(some_limit(run)); });
}

}  // namespace
}  // namespace trueasync::chaos
