#include <fcntl.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <new>
#include <trueasync/reactor/system_error.hpp>

#include "uv_base.hpp"

namespace trueasync::detail {

namespace {

constexpr PollMask kBothWays = PollMask::Readable | PollMask::Writable;

int to_uv(PollMask mask) noexcept {
    return (any(mask & PollMask::Readable) ? UV_READABLE : 0) | (any(mask & PollMask::Writable) ? UV_WRITABLE : 0) |
           (any(mask & PollMask::Disconnect) ? UV_DISCONNECT : 0) |
           (any(mask & PollMask::Priority) ? UV_PRIORITIZED : 0);
}

PollMask from_uv(int events) noexcept {
    return ((events & UV_READABLE) != 0 ? PollMask::Readable : PollMask::None) |
           ((events & UV_WRITABLE) != 0 ? PollMask::Writable : PollMask::None) |
           ((events & UV_DISCONNECT) != 0 ? PollMask::Disconnect | PollMask::Readable : PollMask::None) |
           ((events & UV_PRIORITIZED) != 0 ? PollMask::Priority : PollMask::None);
}

/// What the reactor keeps of a descriptor. The handle exists only while somebody waits: libuv ends the process when it finds
/// one whose descriptor was closed.
struct Record {
    uv_poll_t* handle = nullptr;
    PollMask asked = PollMask::None;
    dev_t device = 0;
    ino_t inode = 0;
};

/// libuv alone: one `uv_timer` stands for the nearest deadline, one `uv_poll` for everyone who waits for a descriptor.
class PortableReactor final : public UvReactor {
public:
    PortableReactor() : UvReactor(true) {}
    ~PortableReactor() override {
        close_loop();
        for (int fd = 0; fd < static_cast<int>(table_.size()); ++fd) {
            delete static_cast<Record*>(table_.find(fd)->handle);
        }
    }

    Status execute(bool no_wait) override {
        if (Status status = notice_fork(); !status) {
            return status;
        }
        ++stats_.turns;
        bool is_due = is_fresh_child_ || (!timers_.empty() && timers_.nearest() <= now());
        is_fresh_child_ = false;
        if (has_pending()) {
            is_due = look_at_pending() || is_due;
        }
        if (no_wait || is_due || !triggers_->begin_sleep()) {
            uv_run(&loop_, UV_RUN_NOWAIT);
        } else {
            ++stats_.sleeps;
            sleep();
            triggers_->end_sleep();
        }
        rough_now();
        deliver();
        return {};
    }

protected:
    bool open_backend() noexcept override {
        if (const int status = uv_poll_init(&loop_, &wake_, triggers_->descriptor()); status != 0) {
            errno = -status;
            return false;
        }
        wake_.data = &*triggers_;
        listen();
        return uv_timer_init(&loop_, &timer_) == 0;
    }

    void close_backend() noexcept override {
        for (int fd = 0; fd < static_cast<int>(table_.size()); ++fd) {
            if (auto* record = static_cast<Record*>(table_.find(fd)->handle)) {
                drop_handle(*record);
            }
        }
    }

    bool fork_backend() noexcept override {
        listen();
        for (int fd = 0; fd < static_cast<int>(table_.size()); ++fd) {
            if (table_.find(fd)->state == Descriptor::State::Registered) {
                pend(fd, *table_.find(fd));  // it may have been closed since
            }
        }
        return true;
    }

    Status attach(int fd, Descriptor& descriptor, PollMask mask) noexcept override {
        if (!is_same_file(fd, descriptor)) {
            detach(fd, descriptor);
            lose(fd, descriptor, DescriptorWait::End::Reused);
        }
        if (descriptor.state == Descriptor::State::AlwaysReady ||
            (descriptor.handle != nullptr && static_cast<Record*>(descriptor.handle)->handle != nullptr)) {
            return {};
        }
        const int failure = open_handle(fd, descriptor);
        if (failure == 0) {
            descriptor.state = Descriptor::State::Registered;
            descriptor.registered = PollMask::All;
            descriptor.ready = PollMask::None;
            return {};
        }
        if (failure != EPERM) {
            return system_failure(failure, "poll fd " + std::to_string(fd) + " for " + to_string(mask));
        }
        descriptor.state = Descriptor::State::AlwaysReady;
        descriptor.registered = PollMask::All;
        descriptor.ready = kBothWays;
        return {};
    }

    bool is_same_file(int fd, Descriptor& descriptor) noexcept override {
        const auto* record = static_cast<const Record*>(descriptor.handle);
        struct stat now {};
        return record == nullptr ||
               (fstat(fd, &now) == 0 && now.st_dev == record->device && now.st_ino == record->inode);
    }

    void detach(int /*fd*/, Descriptor& descriptor) noexcept override {
        if (auto* record = static_cast<Record*>(std::exchange(descriptor.handle, nullptr))) {
            drop_handle(*record);
            delete record;
        }
    }

private:
    void listen() noexcept {
        uv_poll_start(&wake_, UV_READABLE, [](uv_poll_t* wake, int, int) {
            static_cast<TriggerQueue*>(wake->data)->drain();
        });
    }

    void drop_handle(Record& record) noexcept {
        record.asked = PollMask::None;
        if (uv_poll_t* handle = std::exchange(record.handle, nullptr)) {
            ++stats_.controls;
            uv_close(reinterpret_cast<uv_handle_t*>(handle), [](uv_handle_t* closed) {
                delete reinterpret_cast<uv_poll_t*>(closed);
            });
        }
    }

    /// Zero, or the errno.
    int open_handle(int fd, Descriptor& descriptor) noexcept {
        struct stat now {};
        if (fstat(fd, &now) != 0) {
            return errno;
        }
        auto* record = static_cast<Record*>(descriptor.handle);
        if (record == nullptr) {
            descriptor.handle = record = new (std::nothrow) Record;
        }
        auto* handle = new (std::nothrow) uv_poll_t;
        if (record == nullptr || handle == nullptr) {
            delete handle;
            return ENOMEM;
        }
        record->device = now.st_dev;
        record->inode = now.st_ino;
        ++stats_.controls;
        const int flags = fcntl(fd, F_GETFL);
        const int status = uv_poll_init(&loop_, handle, fd);
        if (status == 0 && (flags & O_NONBLOCK) == 0) {
            fcntl(fd, F_SETFL, flags);  // libuv has made it non-blocking; that is not ours to decide
        }
        if (status != 0) {
            delete handle;
            return -status;
        }
        handle->data = this;
        record->handle = handle;
        return 0;
    }

    static void on_poll(uv_poll_t* handle, int status, int events) noexcept {
        auto* reactor = static_cast<PortableReactor*>(handle->data);
        uv_os_fd_t fd{};
        if (uv_fileno(reinterpret_cast<uv_handle_t*>(handle), &fd) != 0) {
            return;
        }
        Descriptor& descriptor = *reactor->table_.find(fd);
        PollMask what = from_uv(events);
        if (status != 0) {  // an error condition of the descriptor: libuv has stopped the handle
            static_cast<Record*>(descriptor.handle)->asked = PollMask::None;
            what = kBothWays | PollMask::Disconnect;
        }
        descriptor.ready |= what;
        reactor->report(fd, descriptor, what);
        reactor->pend(fd, descriptor);
    }

    /// Asks for what is wanted now. True: do not sleep.
    bool look_at_pending() noexcept {
        bool has_reported = false;
        each_pending([&](int fd, Descriptor& descriptor) {
            if (descriptor.state == Descriptor::State::AlwaysReady) {
                if (!descriptor.watches.empty()) {
                    has_reported = report(fd, descriptor, kBothWays) || has_reported;
                }
                return;
            }
            auto* record = static_cast<Record*>(descriptor.handle);
            if (record == nullptr || record->handle == nullptr) {
                return;
            }
            const PollMask wanted = descriptor.wanted();
            if (!any(wanted)) {
                drop_handle(*record);
                descriptor.state = Descriptor::State::Unknown;
                descriptor.registered = PollMask::None;
            } else if (!is_same_file(fd, descriptor)) {
                detach(fd, descriptor);
                lose(fd, descriptor, DescriptorWait::End::Reused);
                has_reported = true;
            } else if (wanted != record->asked) {
                ++stats_.controls;
                record->asked = wanted;
                uv_poll_start(record->handle, to_uv(wanted), [](uv_poll_t* handle, int status, int events) {
                    on_poll(handle, status, events);
                });
            }
        });
        return has_reported;
    }

    void sleep() noexcept {
        if (!timers_.empty()) {
            uv_update_time(&loop_);  // after CPU work the loop's clock is old and a timer would come early
            const Duration left = timers_.nearest() - now();
            const auto wait = std::chrono::ceil<std::chrono::milliseconds>(std::max(left, Duration::zero()));
            // Stopping the loop in the callback is what keeps libuv before 1.45 from sleeping once more.
            uv_timer_start(
                &timer_, [](uv_timer_t* timer) { uv_stop(timer->loop); }, static_cast<std::uint64_t>(wait.count()), 0
            );
        }
        uv_run(&loop_, UV_RUN_ONCE);
        uv_timer_stop(&timer_);
    }

    uv_poll_t wake_{};
    uv_timer_t timer_{};
};

}  // namespace

std::unique_ptr<UvReactor> make_portable_reactor() { return std::make_unique<PortableReactor>(); }

}  // namespace trueasync::detail
