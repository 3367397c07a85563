#include <trueasync/api/watch.hpp>

namespace trueasync {

Watch::Watch(std::string path, bool is_recursive) {
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        detail::throw_error(
            Error::make(ErrorCode::NotRunning, "watch needs a running runtime: call it inside trueasync::run")
        );
    }
    event_ = FsWatchEvent::create(scheduler->reactor(), std::move(path), is_recursive);
    event_->set_hidden(true);
    detail::check(event_->start());
}

FsChange Watch::next(const Limit& limit, std::source_location where) {
    const Deadline deadline = limit.deadline();
    const Limit whole = deadline.is_never() || Scheduler::current() == nullptr
                            ? limit
                            : Limit(Deadline::at(deadline.resolve(Scheduler::current()->reactor().now())));
    FsChange change;
    while (!event_->take(change)) {
        ++waiting_;
        event_->set_hidden(false);
        const WaitResult result = detail::wait_long(*event_, whole, where);
        event_->set_hidden(--waiting_ == 0);
        detail::check(result);
    }
    return change;
}

}  // namespace trueasync
