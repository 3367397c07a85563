#include <trueasync/reactor/fs_watcher.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace trueasync {

/// Subscribes to the changes. Not a part of the watcher: the source may hold it a little longer.
class FsWatcher::Listener final : public Callback {
public:
    explicit Listener(FsWatcher& watcher) noexcept : watcher_(&watcher) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override {
        if (watcher_ != nullptr) {
            watcher_->drain();
        }
    }
    void leave() noexcept { watcher_ = nullptr; }

private:
    FsWatcher* watcher_;
};

FsWatcher::FsWatcher(Reactor& reactor, std::string path, FsWatcherSettings settings) noexcept
    : ReactorEvent(reactor, EventType::FsWatch, Firing::Repeating),
      path_(std::move(path)),
      settings_(std::move(settings)),
      burst_end_(*this, &FsWatcher::end_burst),
      late_fire_(*this, &FsWatcher::fire) {
    use_own_subscription();
    for (std::string& extension : settings_.extensions) {
        if (!extension.starts_with('.')) {
            extension.insert(0, ".");
        }
    }
    set_hidden(true);
}

FsWatcher::~FsWatcher() = default;

Ref<FsWatcher> FsWatcher::create(Reactor& reactor, std::string path, FsWatcherSettings settings) {
    return Ref<FsWatcher>::adopt(new FsWatcher(reactor, std::move(path), std::move(settings)));
}

Status FsWatcher::open() {
    if (reactor() == nullptr) {
        return refuse_ended();
    }
    if (!path_.empty()) {
        source_ = FsWatchEvent::create(*reactor(), path_, settings_.is_recursive);
        source_->set_hidden(true);
        listener_ = Ref<Listener>::adopt(new Listener(*this));
        Status status = source_->add_callback(*listener_);
        if (status) {
            status = source_->start();
        }
        if (!status) {
            stop_watching();
            return status;
        }
    }
    return start();
}

void FsWatcher::stop_watching() noexcept {
    if (Reactor* loop = reactor()) {
        for (Alarm* alarm : {&burst_end_, &late_fire_}) {
            if (alarm->is_armed()) {
                loop->disarm(*alarm);
            }
        }
    }
    const Ref<FsWatchEvent> source = std::exchange(source_, {});
    const Ref<Listener> listener = std::exchange(listener_, {});
    if (source != nullptr) {
        listener->leave();
        source->del_callback(*listener);
        source->close();
    }
}

void FsWatcher::end() noexcept {
    if (has_ended_) {
        return;
    }
    const Ref<FsWatcher> held(this);
    has_ended_ = true;
    stop_watching();
    if (!callbacks_.empty()) {
        notify(nullptr, nullptr).ignore();
    }
    close();
}

void FsWatcher::on_reactor_close() noexcept {
    has_ended_ = true;
    stop_watching();
}

void FsWatcher::on_destroy() noexcept {
    has_ended_ = true;
    stop_watching();
}

bool FsWatcher::counts(const std::string& name) const noexcept {
    const auto is_same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return settings_.extensions.empty() ||
           std::any_of(settings_.extensions.begin(), settings_.extensions.end(), [&](const std::string& extension) {
               return name.size() >= extension.size() &&
                      std::equal(extension.begin(), extension.end(), name.end() - std::ssize(extension), is_same);
           });
}

void FsWatcher::note(const FsChange& change) {
    FsNotice notice;
    notice.is_renamed = change.kind != FsChange::Kind::Change;
    notice.is_changed = change.kind != FsChange::Kind::Rename;
    notice.name = change.name;
    if (change.name.empty()) {
        const std::size_t end = path_.find_last_not_of('/');
        const std::string whole = path_.substr(0, end == std::string::npos ? 0 : end + 1);
        notice.name = whole.substr(whole.rfind('/') + 1);
    }
    if (has_ended_ || reactor() == nullptr || (change.kind != FsChange::Kind::Overflow && !counts(*notice.name))) {
        return;
    }
    if (settings_.debounce <= Duration::zero()) {
        keep(std::move(notice));
        return;
    }
    const Instant now = reactor()->now();
    if (!burst_end_.is_armed()) {
        burst_ = FsNotice();
        burst_began_ = now;
    }
    burst_.is_renamed |= notice.is_renamed;
    burst_.is_changed |= notice.is_changed;
    Instant when = now + settings_.debounce;
    if (settings_.max_hold > Duration::zero()) {
        when = std::min(when, burst_began_ + settings_.max_hold);
    }
    if (!reactor()->arm(burst_end_, when)) {
        end_burst();  // no memory for a timer: better early than never
    }
}

void FsWatcher::end_burst() noexcept {
    keep(burst_);
    fire();
}

void FsWatcher::keep(FsNotice notice) {
    if (settings_.coalesces) {
        FsNotice*& same = by_name_[notice.name.value_or("")];
        if (same != nullptr) {
            same->is_renamed |= notice.is_renamed;
            same->is_changed |= notice.is_changed;
            return;
        }
        notices_.push_back(std::move(notice));
        same = &notices_.back();
    } else {
        notices_.push_back(std::move(notice));
    }
}

void FsWatcher::drain() noexcept {
    const Ref<FsWatcher> held(this);
    FsChange change;
    while (source_ != nullptr && notices_.size() < kMost && source_->take(change)) {
        note(change);
    }
    fire();
    if (source_ != nullptr && source_->error() != nullptr && source_->pending() == 0) {
        end();
    }
}

void FsWatcher::fire() noexcept {
    if (!callbacks_.empty() && !notices_.empty()) {
        notify(&notices_.front(), nullptr).ignore();
    }
}

bool FsWatcher::take(FsNotice& notice) {
    if (notices_.empty()) {
        return false;
    }
    notice = std::move(notices_.front());
    notices_.pop_front();
    by_name_.erase(notice.name.value_or(""));
    if (source_ != nullptr && source_->pending() != 0) {
        drain();
    }
    return true;
}

WaitResult FsWatcher::next(std::optional<FsNotice>& notice, const WaitLimit& limit, std::source_location where) {
    Scheduler* scheduler = Scheduler::current();
    const WaitLimit whole = scheduler != nullptr ? limit.fixed(scheduler->reactor().now()) : limit;
    const Ref<FsWatcher> held(this);
    notice.emplace();
    while (!take(*notice)) {
        if (has_ended_) {
            notice.reset();
            return WaitResult::Ready;
        }
        if (const WaitResult result = wait_for(*this, whole, where); result != WaitResult::Ready) {
            notice.reset();
            return result;
        }
    }
    return WaitResult::Ready;
}

Status FsWatcher::add_callback(Callback& callback) {
    Status status = Event::add_callback(callback);
    set_hidden(callbacks_.empty());
    if (status && !notices_.empty()) {
        status = reactor()->arm(late_fire_, reactor()->now());  // not at once: the wait has to begin first
        if (!status) {
            del_callback(callback);
        }
    }
    return status;
}

bool FsWatcher::del_callback(Callback& callback) noexcept {
    const bool was_there = Event::del_callback(callback);
    set_hidden(callbacks_.empty());
    return was_there;
}

bool FsWatcher::replay(Callback* callback, void** result, Ref<Error>* error) {
    return has_ended_ && hand_out(nullptr, nullptr, callback, result, error);
}

std::string FsWatcher::info() const {
    return "FsWatcher(" + path_ + ", pending=" + std::to_string(notices_.size()) + ")";
}

}  // namespace trueasync
