#include <trueasync/api/watch.hpp>

#include "io.hpp"

namespace trueasync {

Watch::Watch(std::string path, bool is_recursive) {
    event_ = FsWatchEvent::create(detail::need_reactor("watch"), std::move(path), is_recursive);
    event_->set_hidden(true);
    detail::check(event_->start());
}

FsChange Watch::next(const Limit& limit, std::source_location where) {
    Scheduler* scheduler = Scheduler::current();
    const Limit whole = scheduler != nullptr ? Limit(limit.fixed(scheduler->reactor().now())) : limit;
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
