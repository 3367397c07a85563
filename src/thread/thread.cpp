#include <trueasync/thread/thread.hpp>

#include <trueasync/runtime/runtime.hpp>
#include <trueasync/thread/remote_future.hpp>
#include <utility>

#include "thread/os_thread.hpp"
#include "thread/thread_end.hpp"

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Thread, sizeof(ThreadEvent));

}  // namespace

/// What the thread works with, and its way home.
class ThreadEvent::Job final : public ReturnItem {
public:
    explicit Job(std::unique_ptr<ThreadBody> work) noexcept : body(std::move(work)) {}

    void run() noexcept {
        try {
            error = portable_error(body->run());
        } catch (...) {
            error = ExceptionError::capture();
        }
        detail::close_channels_of_this_thread();
        post();
    }
    void done() noexcept override {
        if (event != nullptr) {
            std::exchange(event, nullptr)->finish(*this);
        }
        if (!is_torn()) {
            delete this;
        }
    }
    void detach() noexcept override {
        if (event != nullptr) {
            ThreadEvent& left = *std::exchange(event, nullptr);
            left.job_ = nullptr;
            left.close();
        }
    }
    void drop() noexcept override { delete this; }
    bool is_torn() const noexcept override { return is_lost(); }

    std::unique_ptr<ThreadBody> body;
    Ref<Error> error;
    ThreadEvent* event = nullptr;
};

ThreadEvent::ThreadEvent(Reactor& reactor, std::string name) noexcept
    : ReactorEvent(reactor, EventType::Thread), name_(std::move(name)) {}

ThreadEvent::~ThreadEvent() = default;

Ref<ThreadEvent> ThreadEvent::create(
    Reactor& reactor, std::unique_ptr<ThreadBody> body, std::string name, Status& status
) {
    auto event = Ref<ThreadEvent>::adopt(new ThreadEvent(reactor, name));
    auto job = std::make_unique<Job>(std::move(body));
    status = job->expect(reactor);
    if (!status) {
        return {};
    }
    status = detail::start_thread(name, [raw = job.get()] { raw->run(); });
    if (!status) {
        job->forget();
        return {};
    }
    job->event = event.get();
    event->job_ = job.release();
    return event;
}

void ThreadEvent::request_stop() noexcept {
    if (job_ != nullptr) {
        job_->body->is_stopping_.store(true, std::memory_order_relaxed);
    }
}

Status ThreadEvent::cancel() noexcept {
    return job_ == nullptr ? Status()
                           : Status::failure(ErrorCode::IllegalState, "Thread cancellation is not yet implemented");
}

void ThreadEvent::add_finally(std::unique_ptr<FinallyHandler> handler, const Place& where) {
    finally_.add(std::move(handler));
    if (is_finished_) {
        run_finally(where);
    }
}

void ThreadEvent::run_finally(const Place& where) noexcept {
    if (!finally_.empty()) {
        finally_.run(false, where, [self = Ref<ThreadEvent>(this)](const Ref<Error>& error) {
            if (Runtime* runtime = Runtime::current()) {
                runtime->unhandled(self.get(), *error);
            }
        });
    }
}

void ThreadEvent::on_destroy() noexcept {
    if (job_ != nullptr) {
        std::exchange(job_, nullptr)->event = nullptr;
    }
}

void ThreadEvent::finish(Job& job) noexcept {
    const Ref<ThreadEvent> kept(this);
    job_ = nullptr;
    is_finished_ = true;
    if (job.is_lost()) {
        error_ = Error::make(
            ErrorCode::ThreadFailed, "the process forked; the thread '" + name_ + "' goes on in the parent only"
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
    run_finally({});
}

bool ThreadEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    void* value = error_ == nullptr && body_ != nullptr ? body_->result() : nullptr;
    return is_finished_ && is_closed() && hand_out(value, error_.get(), callback, result, error);
}

std::string ThreadEvent::info() const {
    const char* phase = job_ != nullptr ? "running" : "closed";
    if (is_finished_) {
        phase = error_ == nullptr ? "done" : "failed";
    }
    return "Thread(" + name_ + ", " + phase + ")";
}

std::size_t ThreadEvent::live() noexcept { return detail::live_threads(); }

bool ThreadEvent::wait_for_all(Duration patience) { return detail::wait_for_threads(patience); }

}  // namespace trueasync
