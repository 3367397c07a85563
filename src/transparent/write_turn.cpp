#include "write_turn.hpp"

#include <string>

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
    for (WriteTurn* other = find(fd_); other != nullptr; other = find(fd_)) {
        if (const Waited answer = before_wait(); answer != Waited::Ready) {
            return answer;
        }
        DirectWait wait([](const WaitGuard&) { return std::string("another coroutine's write to the same descriptor"); }
        );
        other->waiting_.push_back(wait);
        if (const Waited waited = after_wait(wait.park()); waited != Waited::Ready) {
            return waited;
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
