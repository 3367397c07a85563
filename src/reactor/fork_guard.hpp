#pragma once

/// @file reactor/fork_guard.hpp
/// What has to stand still while the process forks.

#include <mutex>
#include <vector>

namespace trueasync {

class LoopReturns;
class WorkLane;

namespace detail {

/// Knows every lane and every way back to a loop. Before a fork it locks them all, in this order: tables (`add_table`), lanes, ways
/// back. A fork in another thread then finds none of them half changed, and the child starts with locks that it can open.
class ForkGuard {
public:
    /// Never destroyed: threads may run on after static destructors have begun.
    static ForkGuard& instance();

    /// A mutex that is held around calls of lanes, and what empties its table in the child.
    void add_table(std::mutex& mutex, void (*after_in_child)() noexcept);

    void add(WorkLane& lane);
    void remove(WorkLane& lane) noexcept;
    void add(LoopReturns& returns);
    void remove(LoopReturns& returns) noexcept;

private:
    struct Table {
        std::mutex* mutex;
        void (*after_in_child)() noexcept;
    };

    ForkGuard();
    void before() noexcept;
    void after(bool is_child) noexcept;

    std::mutex mutex_;
    std::vector<Table> tables_;
    std::vector<WorkLane*> lanes_;
    std::vector<LoopReturns*> returns_;
};

}  // namespace detail

}  // namespace trueasync
