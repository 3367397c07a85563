#pragma once

/// A thread that reads by number must find its file there: who closes the descriptor waits for it.

#include <utility>

namespace trueasync::hooked {

/// Lies on the stack of the coroutine that has asked the thread.
class ThreadRead {
public:
    explicit ThreadRead(int fd) noexcept : fd_(fd), next_(std::exchange(first, this)) {}
    ThreadRead(const ThreadRead&) = delete;
    ThreadRead& operator=(const ThreadRead&) = delete;
    ~ThreadRead() {
        ThreadRead** link = &first;
        while (*link != this) {
            link = &(*link)->next_;
        }
        *link = next_;
    }

    /// On this thread's account.
    static bool is_at(int fd) noexcept {
        const ThreadRead* one = first;
        while (one != nullptr && one->fd_ != fd) {
            one = one->next_;
        }
        return one != nullptr;
    }

private:
    static inline thread_local constinit ThreadRead* first = nullptr;

    int fd_;
    ThreadRead* next_;
};

}  // namespace trueasync::hooked
