#pragma once

/// @file trueasync/reactor/task.hpp
/// Work that blocks or computes for long, done by a thread while coroutines go on.

#include <memory>
#include <string>
#include <trueasync/reactor/reactor_event.hpp>
#include <trueasync/reactor/work_lane.hpp>

namespace trueasync {

/// What a task does. Made and destroyed on the loop's thread; if the loop has closed meanwhile, destroyed by the lane's.
class TA_API TaskBody {
public:
    TaskBody() = default;
    TaskBody(const TaskBody&) = delete;
    TaskBody& operator=(const TaskBody&) = delete;
    virtual ~TaskBody() = default;

    /// On a thread of the lane, where there is no runtime: nothing of the loop may be touched. What it throws becomes the error
    /// of the event.
    virtual void run() = 0;

    /// What the event fires with, when `run` has returned.
    virtual void* result() noexcept { return nullptr; }
};

/// Fires when the work is done, with its result or its error.
///
/// The work is queued by `start`. A lane whose queue is full refuses with `QueueFull`; nothing waits in silence.
/// Thread rule: the thread of its reactor.
/// Lifetime: may be dropped at any time, and may outlive its reactor (see `ReactorEvent`). What had not begun is not done; what had begun goes on with what it owns, and its
/// result is thrown away.
/// Cancel rule: a waiter that leaves does not disturb the others. When the last one leaves, work that has not begun is taken out of
/// the queue (another `start` queues it again); work that has begun goes on and its result is kept for who asks later.
///
/// @snippet unit/reactor/task_test.cpp  await_task
class TA_API TaskEvent final : public ReactorEvent {
public:
    /// `name` is for people.
    static Ref<TaskEvent> create(
        Reactor& reactor, std::unique_ptr<TaskBody> body, std::string name, WorkLane& lane = WorkLane::work()
    );

    bool is_finished() const noexcept { return is_finished_; }
    /// What the work threw; null when it is not finished or has returned.
    Error* error() const noexcept { return error_.get(); }
    /// What it was made with; null while a thread may be working with it.
    TaskBody* body() const noexcept { return body_.get(); }

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `Task(name, queued)`; the other words are created, running, done, failed, closed.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override;
    void on_destroy() noexcept override;
    Error* unhandled_error() const noexcept override { return error_.get(); }

private:
    class Job;

    TaskEvent(Reactor& reactor, std::string name, WorkLane& lane) noexcept;
    ~TaskEvent() override;
    void finish(Job& job) noexcept;
    void abandon() noexcept;

    WorkLane& lane_;
    std::string name_;
    Job* job_ = nullptr;  // until it is done; then it has given body and error to us
    std::unique_ptr<TaskBody> body_;
    Ref<Error> error_;
    bool is_finished_ = false;
};

}  // namespace trueasync
