#pragma once

/// What can only be done by blocking a thread is done by one of a lane, while the coroutine waits.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <trueasync/reactor/task.hpp>
#include <utility>

#include "waiting.hpp"

namespace trueasync::hooked {

/// A text that may be missing, for work that owns it.
inline std::optional<std::string> copy(const char* text) {
    return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
}
inline const char* text_of(const std::optional<std::string>& text) noexcept { return text ? text->c_str() : nullptr; }

/// Runs `work` on a thread of `lane`. `work` owns all that it needs: a coroutine that is cancelled leaves at once and the work goes on without
/// it. With `Ready` the result is in the returned body, which is `work` itself.
template <typename Work>
Waited run_detached(IoReactor& reactor, WorkLane& lane, const char* name, std::unique_ptr<Work>& work) noexcept {
    struct Body final : TaskBody {
        explicit Body(std::unique_ptr<Work> all) noexcept : work(std::move(all)) {}
        void run() override { work->run(); }
        std::unique_ptr<Work> work;
    };
    if (const Waited answer = before_wait(); answer != Waited::Ready) {
        return answer;
    }
    const Ref<TaskEvent> task = TaskEvent::create(reactor, std::make_unique<Body>(std::move(work)), name, lane);
    const Waited waited = after_wait(wait_for(*task));
    if (TaskBody* body = task->body(); waited != Waited::Failed && body != nullptr) {
        work = std::move(static_cast<Body*>(body)->work);
    }
    return waited;
}

/// The same for work that uses what lies on the stack of the caller, who therefore stays until it has been done: cancellation waits.
template <typename Work>
Waited run_attached(IoReactor& reactor, WorkLane& lane, const char* name, Work&& work) noexcept {
    struct Shared {
        enum State : int { Idle, Running, Done, Abandoned };
        std::atomic<int> state = Idle;
    };
    struct Body final : TaskBody {
        Body(std::shared_ptr<Shared> all, Work& what) noexcept : shared(std::move(all)), work(what) {}
        void run() override {
            int idle = Shared::Idle;
            if (shared->state.compare_exchange_strong(idle, Shared::Running)) {
                work();
                shared->state.store(Shared::Done);
                shared->state.notify_all();
            }
        }
        std::shared_ptr<Shared> shared;
        Work& work;
    };
    if (const Waited answer = before_wait(); answer != Waited::Ready) {
        return answer;
    }
    auto shared = std::make_shared<Shared>();
    WaitResult result{};
    {
        const ProtectGuard protect;
        const Ref<TaskEvent> task = TaskEvent::create(reactor, std::make_unique<Body>(shared, work), name, lane);
        result = wait_for(*task);
    }
    if (result != WaitResult::Ready) {
        Scheduler::take_wait_error();
    }
    int idle = Shared::Idle;
    if (shared->state.compare_exchange_strong(idle, Shared::Abandoned)) {
        return Waited::Blocks;
    }
    shared->state.wait(Shared::Running);
    return Waited::Ready;
}

}  // namespace trueasync::hooked
