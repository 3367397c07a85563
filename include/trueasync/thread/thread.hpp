#pragma once

/// @file trueasync/thread/thread.hpp
/// One thread, and the event of its end.

#include <atomic>
#include <memory>
#include <string>
#include <trueasync/reactor/loop_return.hpp>
#include <trueasync/reactor/reactor_event.hpp>
#include <trueasync/runtime/finally.hpp>

namespace trueasync {

/// What a thread does. Made on the loop's thread and destroyed there, or by the thread when the loop has closed.
class TA_API ThreadBody {
public:
    ThreadBody() = default;
    ThreadBody(const ThreadBody&) = delete;
    ThreadBody& operator=(const ThreadBody&) = delete;
    virtual ~ThreadBody() = default;

    /// On the new thread. Returns what it failed with, or null; what it throws counts as that.
    virtual Ref<Error> run() = 0;

    /// What the event fires with after success.
    virtual void* result() noexcept { return nullptr; }

    /// Any thread.
    bool is_stop_requested() const noexcept { return is_stopping_.load(std::memory_order_relaxed); }

private:
    friend class ThreadEvent;

    std::atomic<bool> is_stopping_ = false;
};

/// Fires when a thread has ended, with its result or its error.
///
/// The thread runs from the start and needs nobody who waits; who waits keeps the loop alive. All signals are blocked on it.
/// Thread rule: the thread of its reactor.
/// Lifetime: may be dropped at any time, and may outlive its reactor (see `ReactorEvent`): the thread goes on with what it owns and its outcome is
/// thrown away. `wait_for_all` is for who must know that none is left.
/// Cancel rule: a waiter that leaves disturbs nobody; a thread cannot be cancelled, only asked to stop.
class TA_API ThreadEvent final : public ReactorEvent {
public:
    /// Null, and `status` says why, when the system refuses a thread.
    static Ref<ThreadEvent> create(
        Reactor& reactor, std::unique_ptr<ThreadBody> body, std::string name, Status& status
    );

    bool is_running() const noexcept { return job_ != nullptr; }
    bool is_completed() const noexcept { return is_finished_; }
    bool is_cancelled() const noexcept { return error_ != nullptr && error_->is_cancellation(); }
    Error* error() const noexcept { return error_.get(); }
    /// What it was made with; null while the thread works with it.
    ThreadBody* body() const noexcept { return body_.get(); }

    /// `is_stop_requested` of the body becomes true.
    void request_stop() noexcept;
    /// Nothing for one that has ended; refused while it runs.
    [[nodiscard]] Status cancel() noexcept;

    /// Called when it has ended; at once, in a coroutine of its own, when it has already.
    void add_finally(std::unique_ptr<FinallyHandler> handler, const Place& where = {});
    const FinallyList& finally_list() const noexcept { return finally_; }

    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `Thread(name, running)`; the other words are done, failed, closed.
    std::string info() const override;

    /// Threads of this library that have not ended, those of pools included, in the whole process. Any thread.
    static std::size_t live() noexcept;
    /// Blocks until there are none; false when that took longer than `patience`. Any thread.
    static bool wait_for_all(Duration patience);

protected:
    void on_destroy() noexcept override;
    Error* unhandled_error() const noexcept override { return error_.get(); }

private:
    class Job;

    ThreadEvent(Reactor& reactor, std::string name) noexcept;
    ~ThreadEvent() override;
    void finish(Job& job) noexcept;
    void run_finally(const Place& where) noexcept;

    std::string name_;
    Job* job_ = nullptr;  // until it is done
    std::unique_ptr<ThreadBody> body_;
    Ref<Error> error_;
    FinallyList finally_;
    bool is_finished_ = false;
};

}  // namespace trueasync
