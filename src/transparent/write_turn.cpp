#include "write_turn.hpp"

#include <string>

#include "kind.hpp"

namespace trueasync::hooked {

thread_local constinit WriteTurn* WriteTurn::first = nullptr;

WriteTurn* WriteTurn::find(int fd) noexcept {
    WriteTurn* turn = first;
    while (turn != nullptr && turn->fd_ != fd) {
        turn = turn->next_;
    }
    return turn;
}

Waited WriteTurn::queue() noexcept {
    const std::uint32_t files = files_of(fd_);
    for (WriteTurn* other = find(fd_); other != nullptr; other = find(fd_)) {
        if (is_non_blocking(fd_)) {  // who is in the middle began before it was made so
            errno = EAGAIN;
            return Waited::Failed;
        }
        if (const Waited answer = before_wait(); answer != Waited::Ready) {
            return answer;
        }
        DirectWait wait([](const WaitGuard&) { return std::string("another coroutine's write to the same descriptor"); }
        );
        other->waiting_.push_back(wait);
        if (const Waited waited = after_wait(wait.park()); waited != Waited::Ready) {
            return waited;
        }
        if (is_closing(fd_) || files_of(fd_) != files) {
            errno = EBADF;
            return Waited::Failed;
        }
    }
    return Waited::Ready;
}

void WriteTurn::end() noexcept {
    for (WriteTurn** link = &first; *link != nullptr; link = &(*link)->next_) {
        if (*link == this) {
            *link = next_;
            break;
        }
    }
    while (DirectWait* wait = waiting_.pop_front()) {
        wait->wake();
    }
}

}  // namespace trueasync::hooked
