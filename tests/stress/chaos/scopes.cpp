// Scopes in every way they end, their handlers, and contexts.

#include <stress/chaos/chaos.hpp>

namespace trueasync::chaos {
namespace {

/// Every scope must have ended when all coroutines have.
std::shared_ptr<Scope> open_scope(Run& run, const Scope* parent = nullptr) {
    auto scope = std::make_shared<Scope>(parent != nullptr ? Scope::inherit(*parent) : Scope());
    run.watch(Ref<ScopeEvent>(&scope->event()));
    run.at_end([event = Ref<ScopeEvent>(&scope->event())] {
        expect(event->is_finished() && event->unfinished().empty(), "a scope has coroutines left");
        expect(event->is_closed(), "a scope has not ended");
    });
    return scope;
}

/// Something to do for a while, with children of its own.
void toil(Run& run, unsigned depth) {
    const Lingering lingering(run);
    pause(run);
    for (unsigned i = 0; depth != 0 && i < run.random.pick(3); ++i) {
        tolerate([&] { spawn([&run, depth] { toil(run, depth - 1); }); });  // refused to a zombie
    }
    pause(run);
}

void fill(Run& run, Scope& scope, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        scope.spawn([&run] { toil(run, 2); });
    }
}

SCENARIO(scope_tree) {
    const auto parent = open_scope(run);
    std::vector<std::shared_ptr<Scope>> children;
    for (unsigned i = 0; i < 1 + run.random.pick(3); ++i) {
        const auto child = open_scope(run, run.random.one_in(2) || children.empty() ? parent.get() : children[0].get());
        fill(run, *child, 1 + run.random.pick(3));
        children.push_back(child);
    }
    fill(run, *parent, 1);
    for (const auto& child : children) {
        tolerate([&] { child->await_completion(some_limit(run)); });
    }
    parent->await_completion();
    expect(parent->is_finished(), "a completed scope is not finished");
}

SCENARIO(scope_cancel) {
    const auto parent = open_scope(run);
    const auto child = open_scope(run, parent.get());
    fill(run, *parent, 2);
    fill(run, *child, 2);
    spawn([&run, child] {
        try {
            child->await_completion(some_limit(run));
        } catch (const TimeoutError&) {
        } catch (const Cancellation&) {}
    });
    pause(run);
    run.random.one_in(2) ? parent->cancel("enough") : child->cancel();
    expect(!tolerate([&] { child->spawn([] {}); }), "a cancelled scope took a coroutine");
    child->await_after_cancellation();
    parent->cancel();
    parent->await_after_cancellation();
    expect(parent->is_closed() && child->is_closed(), "a cancelled scope has not ended");
}

/// What has begun runs to its end.
SCENARIO(scope_zombies) {
    const auto scope = open_scope(run);
    if (run.random.one_in(2)) {
        scope->allow_zombies();
    }
    fill(run, *scope, 3);
    pause(run);
    switch (run.random.pick(3)) {
        case 0:
            scope->cancel();
            break;
        case 1:
            scope->dispose_safely();
            break;
        default:
            return;  // dropped
    }
    pause(run);
    if (run.random.one_in(3)) {
        scope->cancel();  // zombies too
    }
    tolerate([&] { scope->await_after_cancellation(some_limit(run)); });
}

SCENARIO(scope_disposed_after) {
    const auto scope = open_scope(run);
    const auto child = open_scope(run, scope.get());
    fill(run, *scope, 2);
    fill(run, *child, 1);
    scope->dispose_after(run.random.duration());
    if (run.random.one_in(3)) {
        scope->dispose_after(run.random.duration());
    }
    spawn([&run, child] {
        pause(run);
        tolerate([&] { fill(run, *child, 1); });
    });
    try {
        scope->await_completion();
    } catch (const Cancellation&) {
        if (scope->is_cancelled()) {
            scope->await_after_cancellation();
        }
        throw;
    }
}

SCENARIO(scope_dropped) {
    std::vector<Handle<void>> members;
    {
        const auto scope = open_scope(run);
        for (int i = 0; i < 3; ++i) {
            members.push_back(scope->spawn([&run] {
                for (int turns = 0; turns < 5; ++turns) {
                    pause(run);
                }
            }));
        }
        pause(run);
    }
    for (const auto& member : members) {
        try {
            await(member);
        } catch (const Cancellation&) {}
    }
}

/// Errors that nobody awaits find a handler, or those who wait for the scope.
SCENARIO(scope_errors) {
    const auto handled = std::make_shared<unsigned>(0);
    const auto thrown = std::make_shared<unsigned>(0);
    const auto top = open_scope(run);
    const auto child = open_scope(run, top.get());
    top->on_error([handled](const std::exception_ptr&) { ++*handled; });
    if (run.random.one_in(2)) {
        top->on_child_error([handled](const std::exception_ptr&) { ++*handled; });
    }
    for (unsigned i = 0; i < 1 + run.random.pick(4); ++i) {
        (run.random.one_in(2) ? top : child)->spawn([&run, thrown] {
            pause(run);
            if (run.random.one_in(2)) {
                ++*thrown;
                throw Mishap();
            }
        });
    }
    const auto told = std::make_shared<unsigned>(0);
    spawn([&run, child, told] {
        try {
            child->await_completion(some_limit(run));
        } catch (const TimeoutError&) {
        } catch (const Mishap&) {
            ++*told;
        }
    });
    run.at_end([&run, handled, thrown, told] {
        expect(*handled + *told <= *thrown, "an error was told twice");
        expect(!run.was_calm() || *handled + *told == *thrown, "an error was lost");
    });
    tolerate([&] { top->await_completion(); });
    tolerate([&] { child->await_completion(); });
}

SCENARIO(scope_finally) {
    const auto scope = open_scope(run);
    struct Calls {
        unsigned added = 0;
        unsigned made = 0;
    };
    const auto calls = std::make_shared<Calls>();
    const auto add = [&run, calls](auto& to) {
        ++calls->added;
        to.finally([&run, calls] {
            ++calls->made;
            pause(run);
        });
    };
    run.at_end([calls] { expect(calls->added == calls->made, "a handler for an end was not called once"); });
    add(*scope);
    for (int i = 0; i < 3; ++i) {
        const auto member = scope->spawn([&run] { toil(run, 1); });
        add(member);
        if (run.random.one_in(2)) {
            add(member);
        }
    }
    const auto plain = spawn([&run] { toil(run, 1); });
    add(plain);
    pause(run);
    run.random.one_in(2) ? scope->cancel() : scope->dispose_safely();
    scope->await_after_cancellation();
    await(plain);
}

/// Values are found from below as long as somebody looks for them.
SCENARIO(scope_context) {
    static const ContextKey<Counted> key("number");
    const auto top = open_scope(run);
    const auto child = open_scope(run, top.get());
    top->context().set(key, 1);
    if (run.random.one_in(2)) {
        child->context().set(key, 2);
    }
    for (int i = 0; i < 3; ++i) {
        child->spawn([&run, i] {
            const int before = Context::current().get(key).number();
            Context::of_coroutine().set(key, 10 + i);
            pause(run);
            expect(Context::of_coroutine().get(key).number() == 10 + i, "a private value was lost");
            expect(Context::current().get(key).number() >= before, "a value went away");
            if (i == 0) {
                Context::current().set(key, 3, true);
            }
            pause(run);
            spawn([&run] {
                pause(run);
                expect(Context::current().has(key), "a value is not found from below");
            });
        });
    }
    tolerate([&] { child->await_completion(some_limit(run)); });
    top->await_completion();
}

}  // namespace
}  // namespace trueasync::chaos
