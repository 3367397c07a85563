#include "file_job.hpp"

#include <sys/types.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync {

namespace detail {

void FileJob::run() noexcept {
    const int fd = descriptor->get();
    while (moved < size) {
        std::byte* bytes = buffer.get() + moved;
        const std::size_t rest = std::min<std::size_t>(size - moved, SSIZE_MAX);
        const auto at = static_cast<off_t>(offset + moved);
        ssize_t count = 0;
        if (operation == IoOperation::Read) {
            count = place == Place::Offset ? ::pread(fd, bytes, rest, at) : ::read(fd, bytes, rest);
        } else {
            count = place == Place::Offset ? ::pwrite(fd, bytes, rest, at) : ::write(fd, bytes, rest);
        }
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            error = errno;
            return;
        }
        moved += static_cast<std::size_t>(count);
        if (operation == IoOperation::Read || count == 0) {
            return;
        }
    }
}

void FileJob::done() noexcept {
    const Ref<IoRequest> wanted(std::exchange(request, nullptr));
    const Ref<IoEvent> handle(std::exchange(io, nullptr));
    if (handle != nullptr) {
        handle->sequential_done(*this, wanted != nullptr);
    }
    if (wanted != nullptr) {
        wanted->finish_job(*this);
    }
    if (!is_torn()) {
        delete this;
    }
}

void FileJob::detach() noexcept {
    if (request != nullptr) {
        std::exchange(request, nullptr)->job_ = nullptr;
    }
    if (io != nullptr) {
        std::exchange(io, nullptr)->sequential_ = nullptr;
    }
}

}  // namespace detail

// --- the part of requests and handles that is about files

void IoRequest::finish_job(detail::FileJob& job) noexcept {
    job_ = nullptr;
    if (job.is_lost()) {
        finish(Error::make(
            ErrorCode::System, "the process forked before it could " + attempted() + "; that goes on in the parent only"
        ));
        return;
    }
    buffer_ = std::move(job.buffer);
    transferred_ = job.moved;
    position_ = job.offset;
    if (operation_ == IoOperation::Read && job.error == 0) {
        io_->record_end(transferred_ == 0 && wanted_ != 0);
    }
    finish(job.error != 0 ? SystemError::make(job.error, attempted()) : Ref<Error>());
}

Status IoEvent::start_job(IoRequest& request, std::uint64_t offset) noexcept {
    if (reactor() == nullptr) {
        return refuse_ended();
    }
    auto job = std::make_unique<detail::FileJob>();
    const bool is_append = request.operation_ == IoOperation::Write && is(IoState::Append);
    job->descriptor = descriptor_;
    job->buffer = std::move(request.buffer_);
    job->size = request.wanted_;
    job->offset = offset;
    job->operation = request.operation_;
    job->place = is_append                                                      ? detail::FileJob::Place::End
                 : is_seekable_ || request.where_ == IoRequest::Where::AtOffset ? detail::FileJob::Place::Offset
                                                                                : detail::FileJob::Place::Here;
    if (Status status = WorkLane::file().submit(*reactor(), *job); !status) {
        return status;
    }
    job->request = &request;
    if (request.where_ == IoRequest::Where::Sequential) {
        job->io = this;
        sequential_ = job.get();
    }
    request.job_ = job.release();
    return {};
}

void IoEvent::start_next() noexcept {
    const Ref<IoEvent> keep(is_ending() ? nullptr : this);
    while (sequential_ == nullptr && !reads_.requests.empty()) {
        IoRequest& request = reads_.requests.front();
        if (request.is_closed()) {
            request.ListNode<detail::IoQueueTag>::unlink();
            continue;
        }
        if (Status status = start_job(request, position_); !status) {
            request.finish(status.take());
        }
    }
}

/// A read that nobody waits for any more has not moved anything; a write has.
void IoEvent::sequential_done(detail::FileJob& job, bool is_wanted) noexcept {
    sequential_ = nullptr;
    const bool is_moved = is_wanted || job.operation == IoOperation::Write;
    if (is_moved && !job.is_lost() && job.place == detail::FileJob::Place::Offset) {
        position_ = job.offset + job.moved;
    }
    if (job.request == nullptr && !reads_.requests.empty() && reads_.requests.front().job_ == &job) {
        reads_.requests.pop_front();  // the one that is done
    }
    start_next();
}

}  // namespace trueasync
