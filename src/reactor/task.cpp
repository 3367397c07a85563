#include <trueasync/reactor/task.hpp>

#include <utility>

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Task, sizeof(TaskEvent));

}  // namespace

/// What the lane works with. Belongs to the event until it runs without one.
class TaskEvent::Job final : public WorkItem {
public:
    explicit Job(std::unique_ptr<TaskBody> work) noexcept : body(std::move(work)) {}

    void run() noexcept override {
        try {
            body->run();
        } catch (...) {
            error = ExceptionError::capture();
        }
    }
    void done() noexcept override {
        if (event != nullptr) {
            event->finish(*this);
        }
        if (!is_torn()) {
            delete this;
        }
    }
    void detach() noexcept override {
        if (event != nullptr) {
            std::exchange(event, nullptr)->abandon();
        }
    }
    void drop() noexcept override { delete this; }

    std::unique_ptr<TaskBody> body;
    Ref<Error> error;
    TaskEvent* event = nullptr;
};

TaskEvent::TaskEvent(Reactor& reactor, std::string name, WorkLane& lane) noexcept
    : ReactorEvent(reactor, EventType::Task), lane_(lane), name_(std::move(name)) {}

TaskEvent::~TaskEvent() = default;

Ref<TaskEvent> TaskEvent::create(Reactor& reactor, std::unique_ptr<TaskBody> body, std::string name, WorkLane& lane) {
    auto event = Ref<TaskEvent>::adopt(new TaskEvent(reactor, std::move(name), lane));
    event->job_ = new Job(std::move(body));
    event->job_->event = event.get();
    return event;
}

Status TaskEvent::enter_loop() {
    if (job_ == nullptr) {
        return Status::failure(
            ErrorCode::IllegalState, "the task has ended, and a notify handler kept it from those who waited: " + info()
        );
    }
    if (job_->is_expected()) {
        return {};  // a thread was at it when the last waiter left
    }
    return lane_.submit(*reactor(), *job_);
}

void TaskEvent::leave_loop() noexcept {
    if (job_ != nullptr && job_->is_expected()) {
        static_cast<void>(lane_.cancel(*job_));  // too late: it goes on
    }
}

void TaskEvent::on_destroy() noexcept {
    if (job_ == nullptr) {
        return;
    }
    Job* job = std::exchange(job_, nullptr);
    job->event = nullptr;
    if (!job->is_expected() || lane_.cancel(*job)) {
        delete job;
    }
}

void TaskEvent::finish(Job& job) noexcept {
    job_ = nullptr;
    if (is_closed()) {
        return;
    }
    is_finished_ = true;
    if (job.is_lost()) {
        error_ = Error::make(
            ErrorCode::System,
            "the process forked before the task '" + name_ + "' had ended; it goes on in the parent only"
        );
    } else {
        body_ = std::move(job.body);
        error_ = std::move(job.error);
    }
    if (is_in_loop()) {
        notify(error_ == nullptr && body_ != nullptr ? body_->result() : nullptr, error_.get()).ignore();
    } else {
        close();  // who asks later gets it from `replay`
    }
}

/// The loop closes; the job goes on without us.
void TaskEvent::abandon() noexcept {
    job_ = nullptr;
    close();
}

bool TaskEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    void* value = error_ == nullptr && body_ != nullptr ? body_->result() : nullptr;
    return is_finished_ && is_closed() && hand_out(value, error_.get(), callback, result, error);
}

std::string TaskEvent::info() const {
    const char* phase = "created";
    if (is_finished_) {
        phase = error_ == nullptr ? "done" : "failed";
    } else if (job_ == nullptr || is_closed()) {
        phase = "closed";
    } else if (job_->is_expected()) {
        phase = job_->state() == LaneItem::State::Queued ? "queued" : "running";
    }
    return "Task(" + name_ + ", " + phase + ")";
}

}  // namespace trueasync
