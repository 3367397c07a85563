#include <trueasync/thread/thread_pool.hpp>

#include <algorithm>
#include <cerrno>
#include <trueasync/event/report_sink.hpp>
#include <trueasync/reactor/uv_reactor.hpp>
#include <trueasync/runtime/runtime.hpp>
#include <utility>

#include "reactor/fork_generation.hpp"
#include "thread/os_thread.hpp"
#include "thread/pool_crew.hpp"
#include "thread/thread_end.hpp"

namespace trueasync {

namespace {

/// The pool whose worker this thread is.
thread_local const ThreadPoolCore* own_pool = nullptr;

/// On the worker's loop: somebody wants tasks to be cancelled.
class CancelListener final : public Callback {
public:
    explicit CancelListener(std::function<void()> body) noexcept : body_(std::move(body)) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { body_(); }

private:
    const std::function<void()> body_;
};

Ref<Error> cancelled_error(const char* message) { return Error::cancellation(CancelReason::UserRequest, message); }

}  // namespace

ThreadTask::~ThreadTask() = default;

void ThreadTask::abandon() noexcept {
    if (pool_ != nullptr) {
        pool_->cancel_task(*this);
    }
}

// --- making and asking

ThreadPoolCore::ThreadPoolCore(ThreadPoolSettings settings) noexcept
    : settings_(std::move(settings)), fork_generation_(detail::fork_generation()) {}

ThreadPoolCore::~ThreadPoolCore() = default;

std::shared_ptr<ThreadPoolCore> ThreadPoolCore::create(ThreadPoolSettings settings, Status& status) {
    detail::watch_forks();
    if (settings.workers == 0) {
        settings.workers = available_parallelism();
    }
    if (settings.queue_size == 0) {
        settings.queue_size = settings.workers * 4;
    }
    std::shared_ptr<ThreadPoolCore> pool(new ThreadPoolCore(std::move(settings)));
    const Lock lock(pool->mutex_);
    status = pool->start_crew();
    return status ? pool : nullptr;
}

bool ThreadPoolCore::is_forked() const noexcept { return fork_generation_ != detail::fork_generation(); }

Status ThreadPoolCore::refusal() const {
    if (is_closed_) {
        return Status(Error::make(ErrorCode::ThreadPoolClosed));
    }
    if (crews_.back()->live == 0) {
        return Status::failure(ErrorCode::ThreadFailed, "ThreadPool has no workers");
    }
    return {};
}

Status ThreadPoolCore::refuse_forked() const {
    return Status::failure(
        ErrorCode::ThreadFailed, "the process forked; the workers of the pool exist in the parent only"
    );
}

bool ThreadPoolCore::is_closed() const noexcept {
    if (is_forked()) {
        return true;
    }
    const Lock lock(mutex_);
    return is_closed_;
}

std::size_t ThreadPoolCore::pending_count() const noexcept {
    if (is_forked()) {
        return 0;
    }
    const Lock lock(mutex_);
    std::size_t count = 0;
    for (const auto& crew : crews_) {
        count += crew->queued;
    }
    return count;
}

std::size_t ThreadPoolCore::worker_count() const noexcept {
    if (is_forked()) {
        return 0;
    }
    const Lock lock(mutex_);
    std::size_t count = 0;
    for (const auto& crew : crews_) {
        count += crew->live;
    }
    return count;
}

std::string ThreadPoolCore::info() const {
    return "ThreadPool(workers=" + std::to_string(worker_count()) + ", pending=" + std::to_string(pending_count()) +
           ", running=" + std::to_string(running_count()) + ", completed=" + std::to_string(completed_count()) + ")";
}

// --- submitting

WaitResult ThreadPoolCore::submit(
    Ref<ThreadTask> task, FutureEvent& future, const WaitLimit& limit, std::source_location where
) noexcept {
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        return Scheduler::refuse(ErrorCode::NotRunning, "a task is submitted from a thread with a runtime");
    }
    if (is_forked()) {
        return Scheduler::refuse(refuse_forked().take());
    }
    const WaitLimit fixed = limit.is_none() ? limit : limit.fixed(scheduler->reactor().now());
    Lock lock(mutex_);
    for (bool has_waited = false;; has_waited = true) {
        if (Status status = refusal(); !status) {
            return Scheduler::refuse(status.take());
        }
        if (crews_.back()->queued < settings_.queue_size) {
            break;
        }
        const WaitResult result =
            submitters_.wait(lock, shared_from_this(), {"ThreadPool(queue is full)", has_waited, fixed, where});
        if (result != WaitResult::Ready) {
            return result;
        }
    }
    if (Status status = task->connect(scheduler->reactor(), future); !status) {
        return Scheduler::refuse(status.take());
    }
    Crew& crew = *crews_.back();
    task->pool_ = shared_from_this();
    task->crew_ = &crew;
    task->state_ = ThreadTask::State::Queued;
    crew.queue.push_back(*task.detach());
    ++crew.queued;
    if (settings_.has_runtime) {
        crew.idle_workers.wake_one();
        return WaitResult::Ready;
    }
    const bool is_wake_needed = crew.needs_wake();
    const std::shared_ptr<Crew> kept = crews_.back();
    lock.unlock();
    if (is_wake_needed) {
        kept->wake.notify_one();
    }
    return WaitResult::Ready;
}

// --- cancelling

/// On the thread of the task's future.
void ThreadPoolCore::cancel_task(ThreadTask& task) noexcept {
    task.is_stopping_.store(true, std::memory_order_relaxed);
    if (is_forked()) {
        return;
    }
    Lock lock(mutex_);
    if (task.state_ == ThreadTask::State::Running) {
        stop_task(task);
        return;
    }
    if (task.state_ != ThreadTask::State::Queued) {
        return;
    }
    static_cast<ListNode<ThreadTask>&>(task).unlink();
    --task.crew_->queued;
    task.state_ = ThreadTask::State::Ended;
    completed_.fetch_add(1, std::memory_order_relaxed);
    submitters_.wake_one();
    lock.unlock();
    const auto queued = Ref<ThreadTask>::adopt(&task);
    task.drop_body();
}

/// Asks a running one. Under the mutex.
void ThreadPoolCore::stop_task(ThreadTask& task) noexcept {
    task.is_stopping_.store(true, std::memory_order_relaxed);
    Worker& worker = *task.worker_;
    if (worker.trigger != nullptr) {
        worker.to_cancel.emplace_back(&task);
        worker.trigger->fire();
    }
}

void ThreadPoolCore::reject_queued(Lock& lock, Crew& crew, Error* cause) noexcept {
    std::vector<Ref<ThreadTask>> rejected;
    while (ThreadTask* task = crew.queue.pop_front()) {
        task->state_ = ThreadTask::State::Ended;
        rejected.push_back(Ref<ThreadTask>::adopt(task));
    }
    crew.queued = 0;
    completed_.fetch_add(rejected.size(), std::memory_order_relaxed);
    lock.unlock();
    for (const Ref<ThreadTask>& task : rejected) {
        task->drop_body();
        if (task->claim()) {
            task->settle(
                cause != nullptr ? portable_error(Ref<Error>(cause)) : cancelled_error("ThreadPool cancelled")
            );
        }
    }
    lock.lock();
}

void ThreadPoolCore::retire(Crew& crew) noexcept {
    crew.is_retiring = true;
    crew.wake_all();
}

void ThreadPoolCore::close() noexcept {
    if (is_forked()) {
        return;
    }
    const Lock lock(mutex_);
    is_closed_ = true;
    for (const auto& crew : crews_) {
        retire(*crew);
    }
    submitters_.wake_all();
}

void ThreadPoolCore::close_now(Lock& lock, Error* cause) noexcept {
    is_closed_ = true;
    const std::vector<std::shared_ptr<Crew>> crews = crews_;
    for (const auto& crew : crews) {
        retire(*crew);
        reject_queued(lock, *crew, cause);
    }
    submitters_.wake_all();
}

void ThreadPoolCore::cancel() noexcept {
    if (is_forked()) {
        return;
    }
    Lock lock(mutex_);
    close_now(lock, nullptr);
    if (!settings_.has_runtime || !settings_.is_cancelling_running) {
        return;
    }
    for (const auto& crew : crews_) {
        for (Worker* worker : crew->workers) {
            for (ThreadTask& task : worker->running) {
                stop_task(task);
            }
        }
    }
}

bool ThreadPoolCore::stop(Duration patience) noexcept {
    if (is_forked()) {
        return true;
    }
    const std::shared_ptr<ThreadPoolCore> kept = shared_from_this();
    Lock lock(mutex_);
    close_now(lock, nullptr);
    for (const auto& crew : crews_) {
        for (Worker* worker : crew->workers) {
            for (ThreadTask& task : worker->running) {
                stop_task(task);
            }
        }
    }
    const auto has_ended = [this] {
        return std::all_of(crews_.begin(), crews_.end(), [](const auto& crew) { return crew->live == 0; });
    };
    if (own_pool == this) {
        return has_ended();  // a worker does not wait for itself
    }
    Scheduler* scheduler = Scheduler::current();
    const WaitLimit limit =
        WaitLimit(Deadline::after(patience))
            .fixed(scheduler != nullptr ? scheduler->reactor().now() : std::chrono::steady_clock::now());
    ProtectGuard protect;
    while (!has_ended()) {
        if (observers_.wait(lock, kept, {"ThreadPool(stopping)", false, limit}) != WaitResult::Ready) {
            break;
        }
    }
    return lock.owns_lock() && has_ended();
}

// --- workers

Status ThreadPoolCore::start_crew() {
    const auto crew = std::make_shared<Crew>();
    Status status;
    for (std::size_t i = 0; i < settings_.workers && status; ++i) {
        status = detail::start_thread("ta-" + settings_.name, [pool = shared_from_this(), crew] { pool->work(crew); });
        crew->live += status ? 1 : 0;
    }
    if (crew->live == 0) {
        return status;
    }
    crews_.push_back(crew);
    return {};
}

void ThreadPoolCore::work(const std::shared_ptr<Crew>& crew) noexcept {
    own_pool = this;
    Worker worker;
    {
        const Lock lock(mutex_);
        crew->workers.push_back(&worker);
    }
    if (settings_.has_runtime) {
        work_in_runtime(crew, worker);
    } else if (const Ref<Error> error = boot()) {
        boot_failed(error);
    } else {
        serve_plain(*crew, worker);
    }
    {
        const Lock lock(mutex_);
        std::erase(crew->workers, &worker);
    }
    own_pool = nullptr;
    detail::close_channels_of_this_thread();
    leave(*crew);
}

Ref<Error> ThreadPoolCore::boot() noexcept {
    try {
        return settings_.bootloader ? settings_.bootloader() : Ref<Error>();
    } catch (...) {
        return ExceptionError::capture();
    }
}

void ThreadPoolCore::boot_failed(const Ref<Error>& error) noexcept {
    report_sink().unhandled_error(nullptr, *error);
    Lock lock(mutex_);
    close_now(lock, error.get());
}

/// The last thing a worker does.
void ThreadPoolCore::leave(Crew& crew) noexcept {
    Lock lock(mutex_);
    if (--crew.live != 0) {
        return;
    }
    if (crew.queued != 0) {
        const Ref<Error> cause = Error::make(ErrorCode::ThreadFailed, "ThreadPool has no workers");
        reject_queued(lock, crew, cause.get());
    }
    if (&crew != crews_.back().get()) {
        std::erase_if(crews_, [&crew](const auto& other) { return other.get() == &crew; });
    }
    submitters_.wake_all();
    observers_.wake_all();
}

Ref<ThreadTask> ThreadPoolCore::take(Crew& crew, Worker& worker) noexcept {
    ThreadTask* task = crew.queue.pop_front();
    if (task == nullptr) {
        return {};
    }
    --crew.queued;
    task->state_ = ThreadTask::State::Running;
    task->worker_ = &worker;
    worker.running.push_back(*task);
    ++worker.count;
    running_.fetch_add(1, std::memory_order_relaxed);
    submitters_.wake_one();
    return Ref<ThreadTask>::adopt(task);
}

void ThreadPoolCore::ended(ThreadTask& task, Ref<Error> error) noexcept {
    {
        const Lock lock(mutex_);
        static_cast<ListNode<ThreadTask>&>(task).unlink();
        task.state_ = ThreadTask::State::Ended;
        Worker& worker = *std::exchange(task.worker_, nullptr);
        --worker.count;
        worker.own.wake_one();
        running_.fetch_sub(1, std::memory_order_relaxed);
        completed_.fetch_add(1, std::memory_order_relaxed);
    }
    if (task.claim()) {
        task.settle(std::move(error));
    }
}

void ThreadPoolCore::serve_plain(Crew& crew, Worker& worker) noexcept {
    Lock lock(mutex_);
    for (;;) {
        if (const Ref<ThreadTask> task = take(crew, worker)) {
            lock.unlock();
            Ref<Error> error = task->run();
            task->drop_body();
            ended(*task, portable_error(std::move(error)));
            lock.lock();
            continue;
        }
        if (crew.is_retiring) {
            return;
        }
        if (!crew.is_looking) {
            crew.is_looking = true;
            lock.unlock();
            crew.look_around.until([&crew] { return crew.queued != 0 || crew.is_retiring; });
            lock.lock();
            crew.is_looking = false;
            if (crew.queued != 0 || crew.is_retiring) {
                continue;
            }
        }
        ++crew.idle;
        crew.wake.wait(lock);
        --crew.idle;
    }
}

void ThreadPoolCore::work_in_runtime(const std::shared_ptr<Crew>& crew, Worker& worker) noexcept {
    std::unique_ptr<Reactor> reactor = make_uv_reactor();
    if (reactor == nullptr) {
        boot_failed(Error::make(ErrorCode::System, "no event loop for a worker: errno " + std::to_string(errno)));
        return;
    }
    Runtime runtime(std::move(reactor));
    if (Status status = runtime.start(); !status) {
        boot_failed(Ref<Error>(status.error()));
        return;
    }
    if (const Ref<Error> error = boot()) {
        boot_failed(error);
    } else {
        const Ref<TriggerEvent> trigger = TriggerEvent::create(runtime.reactor());
        trigger->set_hidden(true);
        const Ref<Callback> listener = make_ref<CancelListener>([this, &worker, &runtime] {
            std::vector<Ref<ThreadTask>> tasks;
            {
                const Lock lock(mutex_);
                tasks.swap(worker.to_cancel);
            }
            for (const Ref<ThreadTask>& task : tasks) {
                if (task->coroutine_ != nullptr) {
                    runtime.scheduler().cancel(*task->coroutine_, cancelled_error("the task was cancelled"));
                }
            }
        });
        if (trigger->add_callback(*listener) && trigger->start()) {
            {
                const Lock lock(mutex_);
                worker.trigger = trigger;
            }
            serve_coroutines(*crew, worker);
            const Lock lock(mutex_);
            worker.trigger.reset();
            worker.to_cancel.clear();
        }
        trigger->close();
    }
    runtime.finish();
}

void ThreadPoolCore::serve_coroutines(Crew& crew, Worker& worker) noexcept {
    const std::shared_ptr<ThreadPoolCore> kept = shared_from_this();
    Lock lock(mutex_);
    WaitResult result = WaitResult::Ready;
    while (result == WaitResult::Ready) {
        const bool is_full = settings_.concurrency != 0 && worker.count >= settings_.concurrency;
        if (Ref<ThreadTask> task = is_full ? Ref<ThreadTask>() : take(crew, worker)) {
            lock.unlock();
            start_task(std::move(task));
            lock.lock();
        } else if (is_full) {
            result = worker.own.wait(lock, kept, {"ThreadPool(as many tasks as allowed)"});
        } else if (crew.is_retiring) {
            break;
        } else {
            result = crew.idle_workers.wait(lock, kept, {"ThreadPool(queue is empty)"});
        }
    }
    ProtectGuard protect;  // a worker that is shut down ends its tasks all the same
    for (int refusals = 0; worker.count != 0 && refusals < 2;) {
        result = worker.own.wait(lock, kept, {"ThreadPool(tasks are running)"});
        refusals += result != WaitResult::Ready ? 1 : 0;
    }
}

void ThreadPoolCore::start_task(Ref<ThreadTask> task) noexcept {
    const auto end = [this](ThreadTask& ended_task, Ref<Error> error) { ended(ended_task, std::move(error)); };
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): out of memory is the end
    auto* scope = new detail::PoolTaskScope(task, end);
    const auto coroutine = make_ref<detail::PoolTaskCoroutine>(task, *scope);
    if (Status status = Scheduler::current()->spawn(*coroutine, scope); !status) {
        delete scope;
        task->drop_body();
        ended(*task, portable_error(status.take()));
    }
}

// --- reload

WaitResult ThreadPoolCore::reload(const WaitLimit& limit, std::source_location where) noexcept {
    if (is_forked()) {
        return Scheduler::refuse(refuse_forked().take());
    }
    if (own_pool == this) {
        return Scheduler::refuse(ErrorCode::IllegalState, "a task cannot wait for its own worker to end");
    }
    const std::shared_ptr<ThreadPoolCore> kept = shared_from_this();
    Lock lock(mutex_);
    const std::size_t target = rotations_ + (is_rotating_ ? 2 : 1);
    const auto wait = [&] {
        return observers_.wait(lock, kept, {"ThreadPool(workers are replaced)", false, limit, where});
    };
    while (rotations_ < target) {
        if (is_rotating_) {
            if (const WaitResult result = wait(); result != WaitResult::Ready) {
                return result;
            }
            continue;
        }
        if (is_closed_) {
            return Scheduler::refuse(Error::make(ErrorCode::ThreadPoolClosed));
        }
        const std::shared_ptr<Crew> old = crews_.back();
        if (Status status = start_crew(); !status) {
            return Scheduler::refuse(status.take());
        }
        is_rotating_ = true;
        retire(*old);
        submitters_.wake_all();
        WaitResult result = WaitResult::Ready;
        while (old->live != 0 && result == WaitResult::Ready) {
            result = wait();
        }
        if (!lock.owns_lock()) {
            return result;
        }
        if (old->live == 0) {
            std::erase(crews_, old);
        }
        is_rotating_ = false;
        ++rotations_;
        observers_.wake_all();
        if (result != WaitResult::Ready) {
            return result;
        }
    }
    return WaitResult::Ready;
}

}  // namespace trueasync
