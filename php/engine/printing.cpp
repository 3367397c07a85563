#include "printing.hpp"

#include "../classes/coroutine.hpp"
#include "error_log.hpp"
#include "request.hpp"

#include <cstring>
#include <string>
#include <trueasync/runtime/wait.hpp>
#include <utility>
#include <vector>

namespace trueasync::php {

namespace {

decltype(sapi_module.ub_write) write_before = nullptr;
decltype(sapi_module.flush) flush_before = nullptr;
decltype(sapi_module.send_headers) send_headers_before = nullptr;
decltype(sapi_module.log_message) log_before = nullptr;

TA_PHP_THREAD_LOCAL PhpCoroutine* printer = nullptr;
TA_PHP_THREAD_LOCAL IntrusiveList<DirectWait> waiting;

/// Printed where nobody can wait, while somebody else was inside.
struct Late {
    static constexpr int kPage = -1;
    std::string text;
    int log_type = kPage;
};
using LateTexts = std::vector<Late>;
TA_PHP_THREAD_LOCAL LateTexts* late = nullptr;

TA_COLD void keep_for_later(const char* text, size_t size, int log_type = Late::kPage) {
    if (late == nullptr) {
        late = new LateTexts;
    }
    late->push_back({std::string(text, size), log_type});
}

/// If the reader has gone this is left by a jump, and the rest goes with him.
TA_COLD void print_late() {
    while (const LateTexts* texts = std::exchange(late, nullptr)) {
        for (const Late& each : *texts) {
            if (each.log_type == Late::kPage) {
                write_before(each.text.data(), each.text.size());
            } else {
                log_before(each.text.c_str(), each.log_type);
            }
        }
        delete texts;
    }
}

/// Who has waited longest is inside from here on, so that nobody comes in before him.
void let_next_in() noexcept {
    DirectWait* next = waiting.pop_front();
    printer = next != nullptr ? static_cast<PhpCoroutine*>(next->coroutine()) : nullptr;
    if (UNEXPECTED(next != nullptr)) {
        next->wake();
    }
}

/// May suspend. False: it cannot wait.
TA_COLD bool await_turn(PhpCoroutine& self) noexcept {
    constexpr int kMost = 3;                        // a shutdown cancels again who is stuck, and refuses him at last
    if (CG(in_compilation) || had_fatal_error()) {  // the compiler's state is one for all
        return false;
    }
    note_logging();
    for (int times = 0; printer != &self && times < kMost;) {
        DirectWait turn([](const WaitGuard&) { return std::string("what another coroutine prints"); });
        waiting.push_back(turn);
        const WaitResult result = turn.park();
        turn.ListNode<>::unlink();
        if (result != WaitResult::Ready) {
            ++times;
            Ref<Error> error = Scheduler::take_wait_error();
            if (result != WaitResult::Cancelled) {
                break;
            }
            Scheduler::current()->cancel(self, std::move(error));  // comes again when all is printed
        }
        if (printer == nullptr) {
            printer = &self;
        }
    }
    return printer == &self;
}

/// `print` when it is the running coroutine's turn, `delay` when there is none to be had. PHP takes a write that fails for a reader who has gone,
/// and ends the script on the spot: a cancellation waits until all is written.
template <typename Print, typename Delay>
auto print_alone(Print&& print, Delay&& delay) -> decltype(print()) {
    if (request.runtime == nullptr) {
        return print();
    }
    PhpCoroutine* self = request.is_in_scheduler ? nullptr : static_cast<PhpCoroutine*>(Scheduler::current_coroutine());
    if (self == nullptr || request.is_dying) {
        return printer == nullptr || printer == self ? print() : delay();
    }
    if (self->is_printing) {
        return print();
    }
    decltype(print()) result{};
    bool has_left = false;
    {
        const ProtectGuard protect;
        if (UNEXPECTED(printer != nullptr) && !await_turn(*self)) {
            return delay();
        }
        printer = self;
        self->is_printing = true;
        zend_try {
            result = print();
            if (UNEXPECTED(late != nullptr)) {
                print_late();
            }
        }
        zend_catch { has_left = true; }
        zend_end_try();
        self->is_printing = false;
        let_next_in();
    }
    if (UNEXPECTED(has_left)) {
        zend_bailout();
    }
    return result;
}

size_t write(const char* text, size_t size) {
    const TextOnItsWay way(text);
    return print_alone(
        [=] { return write_before(text, size); },
        [=] {
            keep_for_later(text, size);
            return size;
        }
    );
}

void flush(void* context) {
    print_alone(
        [=] {
            flush_before(context);
            return true;
        },
        [] { return false; }  // who is inside sends it
    );
}

/// What they consist of is written, and comes in its place.
int send_headers(sapi_headers_struct* headers) {
    const TextOnItsWay way(nullptr);
    const auto send = [=] { return send_headers_before(headers); };
    return print_alone(send, send);
}

void log_message(const char* text, int type) {
    print_alone(
        [=] {
            log_before(text, type);
            return true;
        },
        [=] {
            keep_for_later(text, std::strlen(text), type);
            return true;
        }
    );
}

template <typename Function>
void replace(Function& current, Function& before, Function own) noexcept {
    if (current != nullptr) {
        before = std::exchange(current, own);
    }
}

}  // namespace

void begin_whole_output() noexcept {
    if (write_before == nullptr) {
        replace(sapi_module.ub_write, write_before, write);
        replace(sapi_module.flush, flush_before, flush);
        replace(sapi_module.send_headers, send_headers_before, send_headers);
        replace(sapi_module.log_message, log_before, log_message);
    }
}

void end_whole_output() noexcept {
    printer = nullptr;
    if (UNEXPECTED(late != nullptr)) {
        zend_try { print_late(); }
        zend_end_try();
    }
}

}  // namespace trueasync::php
