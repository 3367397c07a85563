#pragma once

/// ext/soap keeps what it knows of the call that it works on (the description, the class map, whose errors become faults) in variables that
/// are one for all, and waits meanwhile. Without this two clients in two coroutines would use each other's, and a fatal error of a third
/// coroutine would become a fault of one of them.

#include "../zend.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace trueasync::php {

/// One call of a client or a server, not those inside it. Lies on the stack of the coroutine.
class SoapCall {
public:
    static constexpr std::size_t kMostWords = 128;

    SoapCall() noexcept;
    SoapCall(const SoapCall&) = delete;
    SoapCall& operator=(const SoapCall&) = delete;
    ~SoapCall() { running = nullptr; }

    /// For all others everything is as it was before the call.
    void leave() noexcept;
    void enter() noexcept;

    static inline TA_PHP_THREAD_LOCAL SoapCall* running = nullptr;

private:
    static constexpr std::size_t kContext = kMostWords;

    template <typename IsMine>
    void exchange_context(IsMine is_mine) noexcept;

    // What was there before the call. Of a coroutine that does not run: what it has changed.
    std::array<std::uintptr_t, kMostWords> words_;
    std::bitset<kMostWords + 1> changed_;
    zval libxml_context_;  // in which documents are loaded; the same
};

/// The call of a coroutine that does not run.
class SoapState {
public:
    void leave() noexcept {
        if (UNEXPECTED(SoapCall::running != nullptr)) {
            call_ = SoapCall::running;
            call_->leave();
            SoapCall::running = nullptr;
        }
    }
    void enter() noexcept {
        if (UNEXPECTED(call_ != nullptr)) {
            call_->enter();
            SoapCall::running = call_;
            call_ = nullptr;
        }
    }

private:
    SoapCall* call_ = nullptr;
};

/// Before whatever else replaces handlers when all modules are there.
void soap_minit() noexcept;

}  // namespace trueasync::php
