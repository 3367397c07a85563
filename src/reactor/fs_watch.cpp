#include <trueasync/reactor/fs_watch.hpp>

#include <trueasync/reactor/system_error.hpp>
#include <utility>

#include "fs_watch_backend.hpp"

namespace trueasync {

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::FsWatch, sizeof(FsWatchEvent));

}  // namespace

std::string to_string(const FsChange& change) {
    const char* kind = change.kind == FsChange::Kind::Rename   ? "Rename"
                       : change.kind == FsChange::Kind::Change ? "Change"
                                                               : "Overflow";
    return change.name.empty() ? kind : kind + (" " + change.name);
}

namespace detail {

constinit std::atomic<bool> is_inotify_off = false;

void FsWatchSink::report(FsChange::Kind kind, std::string name) {
    FsChange change{kind, std::move(name)};
    if (event_.changes_.empty() || event_.changes_.back() != change) {
        event_.changes_.push_back(std::move(change));
    }
}

void FsWatchSink::end(Ref<Error> error) noexcept { event_.error_ = std::move(error); }

}  // namespace detail

FsWatchEvent::FsWatchEvent(Reactor& reactor, std::string path, bool is_recursive) noexcept
    : ReactorEvent(reactor, EventType::FsWatch, Firing::Repeating),
      path_(std::move(path)),
      is_recursive_(is_recursive) {
    use_own_subscription();
}

FsWatchEvent::~FsWatchEvent() = default;

Ref<FsWatchEvent> FsWatchEvent::create(Reactor& reactor, std::string path, bool is_recursive) {
    return Ref<FsWatchEvent>::adopt(new FsWatchEvent(reactor, std::move(path), is_recursive));
}

Status FsWatchEvent::enter_loop() {
    changes_.clear();
    return open();
}

Status FsWatchEvent::open() {
    IoReactor* io = nullptr;
    if (Status status = find_io(io); !status) {
        return status;
    }
    detail::MakeFsWatch make = &detail::make_uv_fs_watch;
#if defined(__linux__)
    if (!detail::is_inotify_off) {
        make = &detail::make_inotify_watch;
    }
#endif
    return make(*io, detail::FsWatchSink(*this), backend_);
}

void FsWatchEvent::leave_loop() noexcept {
    if (is_armed()) {
        reactor()->disarm(*this);
    }
    backend_.reset();
}

void FsWatchEvent::on_fork() noexcept {
    if (backend_ == nullptr || !backend_->is_lost_by_fork()) {
        return;
    }
    backend_.reset();
    if (Status status = open(); !status) {
        error_ = status.take();
        reactor()->arm(*this, reactor()->now()).ignore();
    }
}

bool FsWatchEvent::take(FsChange& change) {
    if (changes_.empty()) {
        return false;
    }
    change = std::move(changes_.front());
    changes_.pop_front();
    if (backend_ != nullptr && changes_.size() == detail::FsWatchSink::kMost / 2) {
        backend_->resume();
    }
    return true;
}

Status FsWatchEvent::add_callback(Callback& callback) {
    Status status = Event::add_callback(callback);
    if (status.ok() && is_in_loop() && (!changes_.empty() || error_ != nullptr)) {
        status = reactor()->arm(*this, reactor()->now());  // not at once: the wait has to begin first
        if (!status) {
            del_callback(callback);
        }
    }
    return status;
}

void FsWatchEvent::fire() noexcept {
    if (callbacks_.empty()) {
        return;
    }
    if (!changes_.empty()) {
        notify(&changes_.front(), nullptr).ignore();
    } else if (error_ != nullptr) {
        const Ref<FsWatchEvent> keep(this);
        notify(nullptr, error_.get()).ignore();
        close();
    }
}

bool FsWatchEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    if (error_ == nullptr) {
        return false;
    }
    if (callback != nullptr) {
        callback->call(*this, nullptr, error_.get());
        return true;
    }
    if (result != nullptr) {
        *result = nullptr;
    }
    if (error != nullptr) {
        *error = error_;
    }
    return true;
}

std::string FsWatchEvent::info() const { return "FsWatch(" + path_ + (is_recursive_ ? ", recursive)" : ")"); }

}  // namespace trueasync
