#pragma once

/// @file trueasync/runtime/finally.hpp
/// Handlers for the end of a coroutine, a scope or a group.

#include <functional>
#include <memory>
#include <trueasync/base/error.hpp>
#include <trueasync/base/place.hpp>
#include <vector>

namespace trueasync {

class Owner;

/// Called once when what it belongs to has ended. Knows its argument itself.
class TA_API FinallyHandler {
public:
    virtual ~FinallyHandler() = default;

    /// May suspend. Returns what it failed with, or null; what it throws counts as that.
    virtual Ref<Error> call() = 0;

    /// In place of `call` when the coroutine that calls the handlers has come to its end before: a fatal error of a host does that.
    virtual void abandoned() noexcept {}
};

/// Handlers in the order they were added.
class TA_API FinallyList {
public:
    bool empty() const noexcept { return handlers_.empty(); }
    void add(std::unique_ptr<FinallyHandler> handler) { handlers_.push_back(std::move(handler)); }

    /// Gets what the handlers failed with: one error as it is, several as a `CompositeError`.
    using Report = std::function<void(Ref<Error>)>;

    /// Runs all in one helper coroutine, at the head of the queue or at its tail; the list is empty afterwards. All run, whatever one
    /// of them does. Works during a shutdown too. At the head the coroutine belongs to `owner`.
    void run(bool at_head, const Place& where, Report report, Owner* owner = nullptr) noexcept;

    /// For a host: called by `run` when no runtime runs on this thread, to start one. If it does not, handlers are called right there.
    using StartFn = void (*)();
    static void set_start(StartFn start) noexcept;
    /// Does that; for others that have something to run.
    static void start_if_none() noexcept;

    /// Calls `visit(FinallyHandler&)` for everyone; for a host's collector.
    template <typename Visit>
    void each(Visit&& visit) const {
        for (const std::unique_ptr<FinallyHandler>& handler : handlers_) {
            visit(*handler);
        }
    }

private:
    std::vector<std::unique_ptr<FinallyHandler>> handlers_;
};

}  // namespace trueasync
