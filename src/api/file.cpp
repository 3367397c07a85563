#include <trueasync/api/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <trueasync/api/run_blocking.hpp>

#include "io.hpp"

namespace trueasync {

namespace {

using detail::check;
using detail::collect;
using detail::need_io;
using detail::need_reactor;
using detail::throw_system;

/// Runs `function`, which owns what it works with, on a thread for files.
template <typename F>
std::invoke_result_t<F&> on_thread(
    Reactor& reactor, std::string name, F function, const Limit& limit, std::source_location where
) {
    using Task = detail::TypedTask<F, std::invoke_result_t<F&>>;
    auto body = std::make_unique<Task>(std::move(function));
    Task& task = *body;
    const auto event = TaskEvent::create(reactor, std::move(body), std::move(name), WorkLane::file());
    await(event, limit, where);
    return std::move(task.value());
}

/// What a thread has opened; closed again if nobody takes it.
struct Opened {
    std::unique_ptr<SharedDescriptor> descriptor;
    int error = 0;
};

struct Answer {
    std::uint64_t value = 0;
    int error = 0;
};

Answer answer_of(int result) noexcept { return {0, result == 0 ? 0 : errno}; }

int flags_of(OpenMode mode) noexcept {
    int flags = O_CLOEXEC | O_NOCTTY;
    flags |= !has(mode, OpenMode::Write) && !has(mode, OpenMode::Append) ? O_RDONLY
             : has(mode, OpenMode::Read)                                 ? O_RDWR
                                                                         : O_WRONLY;
    flags |= has(mode, OpenMode::Create) ? O_CREAT : 0;
    flags |= has(mode, OpenMode::Truncate) ? O_TRUNC : 0;
    flags |= has(mode, OpenMode::Append) ? O_APPEND : 0;
    flags |= has(mode, OpenMode::Exclusive) ? O_EXCL : 0;
    return flags;
}

IoState state_of(int flags) noexcept {
    switch (flags & O_ACCMODE) {
        case O_RDONLY:
            return IoState::Readable;
        case O_WRONLY:
            return IoState::Writable;
        default:
            return IoState::Both;
    }
}

}  // namespace

// --- files

File File::open(std::string path, OpenMode mode, const Limit& limit, unsigned permissions, std::source_location where) {
    Reactor& reactor = need_reactor("open");
    const int flags = flags_of(mode);
    Opened opened = on_thread(
        reactor, "open " + path,
        [path, flags, permissions] {
            Opened result;
            int fd = -1;
            do {
                fd = ::open(path.c_str(), flags, static_cast<mode_t>(permissions));
            } while (fd < 0 && errno == EINTR);
            result.error = fd < 0 ? errno : 0;
            result.descriptor = std::make_unique<SharedDescriptor>(fd);
            return result;
        },
        limit, where
    );
    if (opened.error != 0) {
        throw_system(opened.error, "open " + path);
    }
    File file;
    const int fd = opened.descriptor->get();
    announce_opened(fd);
    opened.descriptor->release();
    file.io_ = IoEvent::create(reactor, fd, IoKind::File, state_of(flags));
    file.path_ = std::move(path);
    return file;
}

File& File::operator=(File&& other) noexcept {
    if (this != &other) {
        close();
        io_ = std::move(other.io_);
        path_ = std::move(other.path_);
    }
    return *this;
}

void File::close() noexcept {
    if (io_ != nullptr) {
        io_->close_descriptor();
    }
}

IoEvent& File::need(const char* verb) const {
    need_reactor(verb);
    if (!is_open()) {
        throw_system(EBADF, std::string(verb) + " " + (path_.empty() ? "a file that is not open" : path_));
    }
    return *io_;
}

/// The error names the file, which says more than the descriptor.
void File::finish(IoRequest& request, const char* verb, const Limit& limit, std::source_location where) const {
    const WaitResult result = wait_for(request, limit, where);
    if (TA_LIKELY(result == WaitResult::Ready)) {
        return;
    }
    if (result == WaitResult::Failed) {
        const Ref<Error> error = Scheduler::take_wait_error();
        if (const int number = SystemError::number_of(error.get()); number != 0) {
            throw_system(number, std::string(verb) + " " + path_);
        }
        detail::throw_error(error);
    }
    detail::throw_wait_error(result);
}

std::size_t File::read(std::span<std::byte> buffer, const Limit& limit, std::source_location where) {
    const Ref<IoRequest> request = need("read").read(buffer.size());
    finish(*request, "read", limit, where);
    const auto bytes = request->data();
    std::copy(bytes.begin(), bytes.end(), buffer.begin());
    return bytes.size();
}

std::size_t File::read_at(
    std::uint64_t offset, std::span<std::byte> buffer, const Limit& limit, std::source_location where
) {
    const Ref<IoRequest> request = need("read").read_at(offset, buffer.size());
    finish(*request, "read", limit, where);
    const auto bytes = request->data();
    std::copy(bytes.begin(), bytes.end(), buffer.begin());
    return bytes.size();
}

std::string File::read_all(std::size_t most, const Limit& limit, std::source_location where) {
    const Limit whole = limit.fixed(need_reactor("read").now());
    return collect(most, path_, [&](std::span<std::byte> buffer) { return read(buffer, whole, where); });
}

void File::write(std::string_view data, const Limit& limit, std::source_location where) {
    finish(*need("write").write(data), "write", limit, where);
}

void File::write_at(std::uint64_t offset, std::string_view data, const Limit& limit, std::source_location where) {
    finish(*need("write").write_at(offset, data), "write", limit, where);
}

/// `function(fd)` on a thread, for what has no request.
template <typename F>
std::uint64_t File::call(const char* verb, F&& function, const Limit& limit, std::source_location where) const {
    IoEvent& io = need(verb);
    std::string attempted = std::string(verb) + " " + path_;
    const Answer answer = on_thread(
        *io.reactor(), attempted,
        [descriptor = io.share_descriptor(), function = std::forward<F>(function)] {
            return function(descriptor->get());
        },
        limit, where
    );
    if (answer.error != 0) {
        throw_system(answer.error, std::move(attempted));
    }
    return answer.value;
}

void File::append(std::string_view data, const Limit& limit, std::source_location where) {
    call(
        "append to",
        [data = std::string(data)](int fd) -> Answer {
            struct stat status {};
            if (::fstat(fd, &status) != 0) {
                return {0, errno};
            }
            for (std::size_t done = 0; done < data.size();) {
                const ssize_t count =
                    ::pwrite(fd, data.data() + done, data.size() - done, status.st_size + static_cast<off_t>(done));
                if (count < 0 && errno != EINTR) {
                    return {0, errno};
                }
                done += count > 0 ? static_cast<std::size_t>(count) : 0;
            }
            return {};
        },
        limit, where
    );
}

std::uint64_t File::size(const Limit& limit, std::source_location where) {
    return call(
        "look at",
        [](int fd) -> Answer {
            struct stat status {};
            if (::fstat(fd, &status) != 0) {
                return {0, errno};
            }
            return {static_cast<std::uint64_t>(status.st_size), 0};
        },
        limit, where
    );
}

void File::sync(const Limit& limit, std::source_location where) {
    call(
        "sync", [](int fd) { return answer_of(::fsync(fd)); }, limit, where
    );
}

void File::truncate(std::uint64_t size, const Limit& limit, std::source_location where) {
    call(
        "truncate", [size](int fd) { return answer_of(::ftruncate(fd, static_cast<off_t>(size))); }, limit, where
    );
}

// --- pipes

PipeEnd::PipeEnd(int number, bool is_output) {
    const std::string attempted = "use fd " + std::to_string(number);
    struct stat status {};
    if (::fstat(number, &status) != 0) {
        throw_system(errno, attempted);
    }
#if defined(__linux__)
    // Opened anew it can be made non-blocking without doing so to those who share it. Not for a file: the position is shared.
    if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
        const std::string path = "/proc/self/fd/" + std::to_string(number);
        const int flags = (is_output ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
        descriptor_ = OwnedDescriptor(::open(path.c_str(), flags));
    }
#else
    static_cast<void>(is_output);
#endif
    if (!descriptor_) {
        descriptor_ = OwnedDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, 3));
        if (!descriptor_) {
            throw_system(errno, attempted);
        }
        const int flags = ::fcntl(number, F_GETFL);
        if ((flags & O_NONBLOCK) == 0 && !S_ISREG(status.st_mode)) {
            is_blocking_else_ = ::fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0;
        }
    }
    announce_opened(descriptor());
}

PipeEnd::PipeEnd(PipeEnd&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), is_blocking_else_(std::exchange(other.is_blocking_else_, false)) {}

PipeEnd& PipeEnd::operator=(PipeEnd&& other) noexcept {
    if (this != &other) {
        close();
        descriptor_ = std::move(other.descriptor_);
        is_blocking_else_ = std::exchange(other.is_blocking_else_, false);
    }
    return *this;
}

void PipeEnd::close() noexcept {
    if (std::exchange(is_blocking_else_, false) && descriptor_) {
        ::fcntl(descriptor(), F_SETFL, ::fcntl(descriptor(), F_GETFL) & ~O_NONBLOCK);
    }
    descriptor_.close();
}

std::string PipeEnd::name() const { return is_open() ? "fd " + std::to_string(descriptor()) : "a closed pipe"; }

std::size_t PipeReader::read(std::span<std::byte> buffer, const Limit& limit, std::source_location where) {
    const IoOutcome outcome = DescriptorIo(need_io("read"), descriptor(), limit, where).read(buffer);
    check(outcome, [&] { return "read " + name(); });
    return outcome.count;
}

std::string PipeReader::read_all(std::size_t most, const Limit& limit, std::source_location where) {
    const Limit whole = limit.fixed(need_io("read").now());
    return collect(most, name(), [&](std::span<std::byte> buffer) { return read(buffer, whole, where); });
}

void PipeWriter::write(std::string_view data, const Limit& limit, std::source_location where) {
    check(DescriptorIo(need_io("write"), descriptor(), limit, where).write(std::as_bytes(std::span(data))), [&] {
        return "write " + name();
    });
}

Pipe Pipe::make() {
    int ends[2] = {-1, -1};
#if defined(__linux__)
    const int result = ::pipe2(ends, O_NONBLOCK | O_CLOEXEC);
#else
    const int result = ::pipe(ends);
#endif
    if (result != 0) {
        throw_system(errno, "make a pipe");
    }
    Pipe pipe{PipeReader(OwnedDescriptor(ends[0])), PipeWriter(OwnedDescriptor(ends[1]))};
    for (const int end : ends) {
#if !defined(__linux__)
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
        ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK);
#endif
        announce_opened(end);
    }
    return pipe;
}

}  // namespace trueasync
