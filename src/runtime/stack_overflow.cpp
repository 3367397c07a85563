#include <trueasync/runtime/stack_overflow.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace trueasync {

namespace {

#if defined(__ELF__)
#define TA_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define TA_INITIAL_EXEC
#endif

constexpr std::size_t kSignalStackSize = 64 * 1024;  // a chained handler may unwind and symbolise
constexpr std::size_t kDescriptionSize = 512;

struct ThreadState {
    OverflowGuard* guards = nullptr;
    void* signal_stack = nullptr;  // only when it is ours
    std::size_t signal_stack_size = 0;
};

constinit thread_local ThreadState thread_state TA_INITIAL_EXEC;

struct SignalSlot {
    int signal = 0;
    bool set = false;  // ours is installed, perhaps behind a later one of the host
    struct sigaction previous = {};
};

std::mutex install_mutex;
std::size_t installs = 0;
constinit SignalSlot signal_slots[] = {{SIGSEGV, false, {}}, {SIGBUS, false, {}}};

/// One line of text without stdio, which is not async-signal-safe.
class Line {
public:
    Line& text(std::string_view text) noexcept {
        const std::size_t count = std::min(text.size(), sizeof(buffer_) - size_);
        std::copy_n(text.data(), count, buffer_ + size_);
        size_ += count;
        return *this;
    }

    Line& number(std::uintptr_t value, unsigned base) noexcept {
        char digits[20];
        std::size_t at = sizeof(digits);
        do {
            digits[--at] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value != 0);
        return text({digits + at, sizeof(digits) - at});
    }

    void write_to(int fd) const noexcept {
        for (std::size_t done = 0; done < size_;) {
            const ssize_t count = ::write(fd, buffer_ + done, size_ - done);
            if (count > 0) {
                done += static_cast<std::size_t>(count);
            } else if (count == 0 || errno != EINTR) {
                return;
            }
        }
    }

private:
    char buffer_[kDescriptionSize + 256];
    std::size_t size_ = 0;
};

/// Whether the thread was running at the end of this stack. A wild pointer into a guard is not an overflow.
bool runs_on([[maybe_unused]] Stack stack, [[maybe_unused]] const void* context) noexcept {
    std::uintptr_t pointer = 0;
#if defined(__linux__) && defined(__x86_64__)
    pointer = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__linux__) && defined(__aarch64__)
    pointer = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#endif
    // A large frame moves the stack pointer beyond the guard before the first touch.
    const auto top = reinterpret_cast<std::uintptr_t>(stack.top);
    return pointer == 0 || (pointer <= top && top - pointer <= 2 * stack.size());
}

}  // namespace

namespace detail {

struct OverflowReporter {
    static bool install() noexcept {
        const std::lock_guard lock(install_mutex);
        bool all_set = true;
        for (SignalSlot& slot : signal_slots) {
            if (!slot.set || is_unhandled(slot.signal)) {
                struct sigaction ours = {};
                ours.sa_sigaction = on_fault;
                ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
                ::sigemptyset(&ours.sa_mask);
                // Known before ours can run: another thread may fault in between.
                slot.set = ::sigaction(slot.signal, nullptr, &slot.previous) == 0 &&
                           ::sigaction(slot.signal, &ours, nullptr) == 0;
            }
            all_set = all_set && slot.set;
        }
        if (all_set) {
            ++installs;
        } else if (installs == 0) {
            restore();
        }
        return all_set;
    }

    static void uninstall() noexcept {
        const std::lock_guard lock(install_mutex);
        if (installs != 0 && --installs == 0) {
            restore();
        }
    }

    static void restore() noexcept {
        for (SignalSlot& slot : signal_slots) {
            if (slot.set && is_ours(slot.signal)) {
                ::sigaction(slot.signal, &slot.previous, nullptr);
                slot.set = false;
            }
        }
    }

    static bool is_ours(int signal) noexcept {
        struct sigaction current = {};
        return ::sigaction(signal, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) != 0 &&
               current.sa_sigaction == on_fault;
    }

    static bool is_unhandled(int signal) noexcept {
        struct sigaction current = {};
        return ::sigaction(signal, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
               (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN);
    }

    static void on_fault(int signal, siginfo_t* info, void* context) noexcept {
        const int saved_errno = errno;
        const bool overflow = report(info, context);
        chain(signal, info, context);
        if (overflow && is_ours(signal)) {
            set_default(signal);  // the host's handler returned: the fault cannot be repaired
        }
        errno = saved_errno;
    }

    static bool report(const siginfo_t* info, const void* context) noexcept {
        if (!is_synchronous(info)) {
            return false;
        }
        for (const OverflowGuard* guard = thread_state.guards; guard != nullptr; guard = guard->next_) {
            const Stack stack = guard->pool_.guarded_by(info->si_addr);
            if (!stack || !runs_on(stack, context)) {
                continue;
            }
            char description[kDescriptionSize];
            std::size_t size = 0;
            if (guard->describe_ != nullptr) {
                size =
                    std::min(guard->describe_(description, sizeof(description), guard->context_), sizeof(description));
            }
            Line line;
            line.text("trueasync: stack overflow in ")
                .text(size != 0 ? std::string_view(description, size) : std::string_view("a coroutine"))
                .text(": the stack of ")
                .number(guard->pool_.settings().stack_size / 1024, 10)
                .text(" KiB is used up (guard page hit at 0x")
                .number(reinterpret_cast<std::uintptr_t>(info->si_addr), 16)
                .text("). Use a larger stack size or less recursion.\n")
                .write_to(STDERR_FILENO);
            return true;
        }
        return false;
    }

    /// Sent by the kernel for the current instruction, not by kill() or raise().
    static bool is_synchronous(const siginfo_t* info) noexcept {
#if defined(BUS_MCEERR_AO)
        if (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO) {
            return false;  // a memory error found in the background
        }
#endif
        return info->si_code > 0;
    }

    static void chain(int signal, siginfo_t* info, void* context) noexcept {
        SignalSlot& slot = signal_slots[signal == SIGSEGV ? 0 : 1];
        const struct sigaction previous = slot.previous;
        const bool has_info = (previous.sa_flags & SA_SIGINFO) != 0;
        if (!has_info && previous.sa_handler == SIG_IGN && !is_synchronous(info)) {
            return;
        }
        if (!has_info && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
            set_default(signal);
            if (!is_synchronous(info)) {
                ::raise(signal);  // blocked until this handler returns
            }
            return;  // a synchronous fault happens again, now with its default action
        }

        if ((previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
            slot.previous = {};  // SIG_DFL
        }
        ::sigset_t mask = previous.sa_mask;
        ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
        if ((previous.sa_flags & SA_NODEFER) != 0) {
            ::sigemptyset(&mask);
            ::sigaddset(&mask, signal);
            ::pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
        }
        if (has_info) {
            previous.sa_sigaction(signal, info, context);
        } else {
            previous.sa_handler(signal);
        }
    }

    static void set_default(int signal) noexcept {
        struct sigaction action = {};
        action.sa_handler = SIG_DFL;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(signal, &action, nullptr);
    }

    static bool enter_thread(OverflowGuard* guard) noexcept {
        guard->next_ = thread_state.guards;
        thread_state.guards = guard;
        stack_t current = {};
        if (::sigaltstack(nullptr, &current) != 0) {
            return false;
        }
        if ((current.ss_flags & SS_DISABLE) == 0) {
            return true;  // ours, or the host's
        }
        std::size_t size = kSignalStackSize;
#if defined(_SC_SIGSTKSZ)
        size = std::max(size, static_cast<std::size_t>(std::max(0L, ::sysconf(_SC_SIGSTKSZ))));
#endif
        void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            return false;
        }
        stack_t ours = {};
        ours.ss_sp = memory;
        ours.ss_size = size;
        if (::sigaltstack(&ours, nullptr) != 0) {
            ::munmap(memory, size);
            return false;
        }
        free_signal_stack();  // one that the host had switched off
        thread_state.signal_stack = memory;
        thread_state.signal_stack_size = size;
        return true;
    }

    static void leave_thread(const OverflowGuard* guard) noexcept {
        OverflowGuard** link = &thread_state.guards;
        while (*link != nullptr && *link != guard) {
            link = &(*link)->next_;
        }
        if (*link != nullptr) {
            *link = guard->next_;
        }
        if (thread_state.guards != nullptr || thread_state.signal_stack == nullptr) {
            return;
        }
        stack_t current = {};
        if (::sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE) == 0 &&
            current.ss_sp == thread_state.signal_stack) {
            stack_t disabled = {};
            disabled.ss_flags = SS_DISABLE;
            disabled.ss_size = thread_state.signal_stack_size;  // macOS checks it
            ::sigaltstack(&disabled, nullptr);
        }
        free_signal_stack();
    }

    static void free_signal_stack() noexcept {
        if (thread_state.signal_stack != nullptr) {
            ::munmap(thread_state.signal_stack, thread_state.signal_stack_size);
            thread_state.signal_stack = nullptr;
        }
    }

    static void enable(OverflowGuard* guard) noexcept {
        guard->installed_ = install();
        const bool has_stack = enter_thread(guard);
        guard->active_ = guard->installed_ && has_stack;
    }

    static void disable(const OverflowGuard* guard) noexcept {
        leave_thread(guard);
        if (guard->installed_) {
            uninstall();
        }
    }
};

}  // namespace detail

using detail::OverflowReporter;

bool install_overflow_reporter() noexcept { return OverflowReporter::install(); }

void uninstall_overflow_reporter() noexcept { OverflowReporter::uninstall(); }

OverflowGuard::OverflowGuard(const StackPool& pool, DescribeFn describe, void* context) noexcept
    : pool_(pool), describe_(describe), context_(context) {
    OverflowReporter::enable(this);
}

OverflowGuard::~OverflowGuard() { OverflowReporter::disable(this); }

}  // namespace trueasync
