#include <trueasync/api/process.hpp>

#include <unistd.h>

#include <cerrno>
#include <trueasync/reactor/poll.hpp>
#include <trueasync/reactor/system_error.hpp>
#include <utility>

#include "../reactor/quiet_write.hpp"

namespace trueasync {

namespace {

IoReactor* io_here() noexcept {
    Scheduler* scheduler = Scheduler::current();
    return scheduler != nullptr ? scheduler->reactor().io() : nullptr;
}

IoReactor& need_io(const char* what) {
    IoReactor* io = io_here();
    if (io == nullptr) {
        detail::throw_error(Error::make(
            ErrorCode::NotRunning,
            std::string(what) + " needs a running runtime with a real event loop: call it inside trueasync::run"
        ));
    }
    return *io;
}

[[noreturn]] void throw_system(int number, std::string attempted) {
    detail::throw_error(SystemError::make(number, std::move(attempted)));
}

/// A limit that means the same instant for every wait of one operation.
class Patience {
public:
    Patience(IoReactor& io, const Limit& limit) noexcept
        : io_(io),
          limit_(limit),
          deadline_(
              limit.deadline().is_never() ? Deadline::never() : Deadline::at(limit.deadline().resolve(io.now()))
          ) {}

    void wait(int fd, PollMask mask, std::source_location where) {
        io_.mark_drained(fd, mask);
        if (limit_.is_none() || !deadline_.is_never()) {
            detail::check(wait_ready(io_, fd, mask, deadline_, where));
        } else {
            await(PollEvent::create(io_, fd, mask), limit_, where);
        }
    }

private:
    IoReactor& io_;
    const Limit& limit_;
    Deadline deadline_;
};

}  // namespace

// --- the pipe

PipeEnd::PipeEnd(int fd) noexcept : fd_(fd) {
    if (IoReactor* io = io_here(); io != nullptr && fd >= 0) {
        io->descriptor_opened(fd);
    }
}

PipeEnd& PipeEnd::operator=(PipeEnd&& other) noexcept {
    if (this != &other) {
        close();
        fd_ = other.release();
    }
    return *this;
}

int PipeEnd::release() noexcept { return std::exchange(fd_, -1); }

void PipeEnd::close() noexcept {
    if (fd_ >= 0) {
        if (IoReactor* io = io_here()) {
            io->descriptor_closing(fd_);
        }
        ::close(release());
    }
}

std::size_t PipeEnd::read(std::span<char> room, const Limit& limit, std::source_location where) {
    Patience patience(need_io("reading from a pipe"), limit);
    for (;;) {
        const ssize_t count = ::read(fd_, room.data(), room.size());
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        if (errno == EAGAIN) {
            patience.wait(fd_, PollMask::Readable, where);
        } else if (errno != EINTR) {
            throw_system(errno, "read from a pipe");
        }
    }
}

std::string PipeEnd::read_all(const Limit& limit, std::source_location where) {
    // One instant for the whole: each read would begin to count anew.
    const Limit whole = limit.deadline().is_never()
                            ? limit
                            : Limit(Deadline::at(limit.deadline().resolve(need_io("reading from a pipe").now())));
    std::string all;
    for (;;) {
        const std::size_t size = all.size();
        all.resize(size + std::max<std::size_t>(size / 2, 16 * 1024));
        const std::size_t count = read({all.data() + size, all.size() - size}, whole, where);
        all.resize(size + count);
        if (count == 0) {
            return all;
        }
    }
}

void PipeEnd::write(std::string_view bytes, const Limit& limit, std::source_location where) {
    Patience patience(need_io("writing to a pipe"), limit);
    while (!bytes.empty()) {
        const ssize_t count = detail::quiet_write(fd_, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            patience.wait(fd_, PollMask::Writable, where);
        } else if (errno != EINTR) {
            throw_system(errno, "write to a pipe");
        }
    }
}

// --- the process

Process::Process(Ref<ProcessEvent> event, const SpawnedProcess& process) noexcept
    : event_(std::move(event)), in_(process.in), out_(process.out), err_(process.err) {}

Process& Process::operator=(Process&& other) noexcept {
    if (this != &other) {
        if (event_ != nullptr) {
            event_->abandon();
        }
        event_ = std::move(other.event_);
        in_ = std::move(other.in_);
        out_ = std::move(other.out_);
        err_ = std::move(other.err_);
    }
    return *this;
}

Process::~Process() {
    if (event_ != nullptr) {
        event_->abandon();
    }
}

Process Process::start(const ProcessOptions& options) {
    IoReactor& io = need_io("starting a process");
    SpawnedProcess process;
    detail::check(spawn_process(options, process));
    return {ProcessEvent::create(io, process.pid), process};
}

ProcessExit Process::wait(const Limit& limit, std::source_location where) {
    if (event_->is_finished()) {
        if (event_->error() != nullptr) {
            detail::throw_error(Ref<Error>(event_->error()));
        }
    } else {
        await(event_, limit, where);
    }
    return event_->exit();
}

void Process::kill(int number) { detail::check(event_->kill(number)); }

}  // namespace trueasync
