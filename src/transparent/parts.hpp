#pragma once

/// Data in several parts, of which a beginning may be done.

#include <sys/uio.h>
#include <algorithm>
#include <climits>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "attempt.hpp"
#include "write_turn.hpp"

namespace trueasync::hooked {

/// What is left to be sent or written. One part needs no memory.
class Parts {
public:
    Parts(const void* data, std::size_t size) noexcept : one_{const_cast<void*>(data), size}, rest_(&one_, 1) {}
    explicit Parts(std::span<const iovec> parts) : many_(parts.begin(), parts.end()), rest_(many_) { advance(0); }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    const iovec* data() const noexcept { return rest_.data(); }
    int count() const noexcept { return static_cast<int>(rest_.size() < IOV_MAX ? rest_.size() : IOV_MAX); }
    bool empty() const noexcept { return rest_.empty(); }
    std::size_t moved() const noexcept { return moved_; }

    void advance(std::size_t size) noexcept {
        moved_ += size;
        while (!rest_.empty() && size >= rest_.front().iov_len) {
            size -= rest_.front().iov_len;
            rest_ = rest_.subspan(1);
        }
        if (!rest_.empty()) {
            rest_.front().iov_base = static_cast<std::byte*>(rest_.front().iov_base) + size;
            rest_.front().iov_len -= size;
        }
    }

    /// No more is wanted.
    void close() noexcept { rest_ = {}; }

private:
    iovec one_{};
    std::vector<iovec> many_;
    std::span<iovec> rest_;
    std::size_t moved_ = 0;
};

/// All of it, as a descriptor that blocks does. `now()` moves a part of what is left without blocking, `block()` with.
template <typename Now, typename Block>
ssize_t move_all(DescriptorCall& call, int fd, Parts& parts, Now&& now, Block&& block) noexcept {
    WriteTurn turn(fd);
    if (const Waited waited = turn.wait_for_others(); TA_UNLIKELY(waited == Waited::Failed)) {
        return -1;
    }
    const auto attempt = [&] {
        const ssize_t result = now();
        if (TA_UNLIKELY(result < 0 && errno == EINPROGRESS) &&
            !is_non_blocking(fd)) {  // a connection that begins with data
            errno = EAGAIN;
        }
        if (TA_UNLIKELY(result < 0 && errno == EAGAIN && parts.moved() != 0)) {
            turn.take();
        }
        return result;
    };
    do {
        const ssize_t result = call.until_done(PollMask::Writable, attempt, block);
        if (result < 0) {
            return parts.moved() != 0 ? static_cast<ssize_t>(parts.moved()) : result;
        }
        parts.advance(static_cast<std::size_t>(result));
    } while (!parts.empty() && !is_non_blocking(fd));
    return static_cast<ssize_t>(parts.moved());
}

/// `whole()`, which does not block, tries all `parts` at once: it mostly does it, and the kernel looks at the pointers before we do. Then
/// `rest(what)` sends the rest.
template <typename Whole, typename Rest>
ssize_t send_all(DescriptorCall& call, int fd, std::span<const iovec> parts, Whole&& whole, Rest&& rest) noexcept {
    WriteTurn turn(fd);
    if (const Waited waited = turn.wait_for_others(); TA_UNLIKELY(waited == Waited::Failed)) {
        return -1;
    }
    const ssize_t result = whole();
    if (result < 0 && errno != EAGAIN && (errno != EINPROGRESS || is_non_blocking(fd))) {
        return result;
    }
    const auto add = [](std::size_t sum, const iovec& one) { return sum + one.iov_len; };
    const std::size_t size = std::accumulate(parts.begin(), parts.end(), std::size_t{0}, add);
    if (result >= 0 && (static_cast<std::size_t>(result) == size || call.kind() != Kind::Stream)) {
        return result;
    }
    Parts left(parts);
    left.advance(static_cast<std::size_t>(std::max<ssize_t>(result, 0)));
    return result >= 0 && is_non_blocking(fd) ? result : rest(left);
}

}  // namespace trueasync::hooked
