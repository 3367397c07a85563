#pragma once

/// `Async\Coroutine`: the core's coroutine and the PHP object are one piece of memory.

#include "../engine/compare.hpp"
#include "../engine/error_handler.hpp"
#include "../engine/fiber_block.hpp"
#include "../engine/output.hpp"
#include "../engine/vm_state.hpp"
#include "../value.hpp"

#include <memory>
#include <trueasync/runtime/coroutine.hpp>
#include <trueasync/runtime/helper.hpp>
#include <vector>

namespace trueasync::php {

inline zend_class_entry* ce_coroutine = nullptr;

/// Lies in front of its `zend_object`, in memory that belongs to PHP.
class PhpCoroutine final : public Coroutine {
public:
    /// The memory, the event in it and the object behind it; one reference.
    static PhpCoroutine* create();
    static PhpCoroutine& of(zend_object* object) noexcept {
        return *reinterpret_cast<PhpCoroutine*>(reinterpret_cast<std::byte*>(object) - sizeof(PhpCoroutine));
    }
    zend_object* object() noexcept { return static_cast<zend_object*>(host_object()); }

    void* result() noexcept override { return value.get(); }
    Place spawned_at() const override { return spawn_place; }
    Place suspended_at() const override;

    Callable callable;
    std::vector<Value> arguments;
    Value named_arguments;  // an array, or nothing
    std::unique_ptr<HelperBody> helper;
    Value value;
    zend_object* cut_off = nullptr;  // counted; the cancellation that was thrown inside a C library
    bool is_cut_off_aside = false;   // it is not in flight at the moment
    bool keeps_value = false;        // somebody will ask for it who holds no object
    Place spawn_place;
    Value spawn_file;  // keeps the text of the place
    VmState vm = {};
    zend_fiber_context fiber = {};  // lets native fibers work inside
    OutputState output;
    CompareState compare;
    ErrorHandlerState error_handler;
    FiberBlock fiber_block;

    /// Nobody holds it any more: an error that nobody has seen is reported.
    void drop_handle() noexcept {
        if (is_finished()) {
            report_leftovers();
        }
    }

    /// The engine's state is exchanged for the scheduler's, and back.
    void leave() noexcept;
    void enter() noexcept;

protected:
    void run() override;
    void drop_body() noexcept override;

private:
    PhpCoroutine();
    ~PhpCoroutine() override = default;

    void run_body() noexcept;
};

/// Makes helper coroutines of PHP's kind.
class PhpHelpers final : public HelperFactory {
public:
    Ref<Coroutine> make(std::unique_ptr<HelperBody> body, const Place& where) override;
};

/// A callable and the arguments that it will get, as they were given to a function of ours.
struct Task {
    zend_fcall_info call = empty_fcall_info;
    zend_fcall_info_cache cache = empty_fcall_info_cache;
    zval* arguments = nullptr;
    int count = 0;
    HashTable* named = nullptr;
};

/// `callable $task, mixed ...$args`, the last parameters.
#define TA_PARAM_TASK(task)             \
    Z_PARAM_FUNC(task.call, task.cache) \
    Z_PARAM_VARIADIC_WITH_NAMED(task.arguments, task.count, task.named)

/// A coroutine that will do it, not queued yet; one reference.
PhpCoroutine* make_coroutine(const Task& task) noexcept;

/// Spawns it into `owner`; the object goes to `return_value`. False: it threw.
bool spawn_coroutine(const Task& task, Owner* owner, zval* return_value) noexcept;

void register_coroutine();

}  // namespace trueasync::php
