#pragma once

/// Two writes to one descriptor do not mix: who could write only a part goes on before anybody else begins.

#include "waiting.hpp"

namespace trueasync::hooked {

/// A write that waits in the middle; lies on the stack of its coroutine.
class WriteTurn {
public:
    explicit WriteTurn(int fd) noexcept : fd_(fd) {}
    WriteTurn(const WriteTurn&) = delete;
    WriteTurn& operator=(const WriteTurn&) = delete;
    ~WriteTurn() {
        if (is_taken_) {
            end();
        }
    }

    /// Waits while somebody else is in the middle of a write to the descriptor. Anything but `Ready`: do not begin.
    Waited wait_for_others() noexcept { return TA_LIKELY(first == nullptr) ? Waited::Ready : queue(); }

    /// From now on others wait.
    void take() noexcept {
        if (!is_taken_) {
            is_taken_ = true;
            next_ = first;
            first = this;
        }
    }

private:
    static WriteTurn* find(int fd) noexcept;
    Waited queue() noexcept;
    void end() noexcept;

    static thread_local constinit WriteTurn* first;  // of those in the middle

    int fd_;
    bool is_taken_ = false;
    WriteTurn* next_ = nullptr;
    IntrusiveList<DirectWait> waiting_;
};

}  // namespace trueasync::hooked
