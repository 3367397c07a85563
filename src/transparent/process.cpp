#include <spawn.h>
#include <map>
#include <memory>
#include <mutex>
#include <trueasync/reactor/work_lane.hpp>

#include "hooks.hpp"
#include "kind.hpp"
#include "reactor/orphans.hpp"
#include "reactor/pidfd.hpp"
#include "state.hpp"
#include "waiting.hpp"

namespace trueasync::hooked {

namespace {

/// Waits until `child` can have changed: by its descriptor, or, where there is none for what is asked, with pauses.
class ChildWait {
public:
    ChildWait(IoReactor& reactor, pid_t child, bool is_about_ends) noexcept
        : reactor_(reactor), fd_(child > 0 && is_about_ends ? detail::open_pidfd(child) : -1) {
        if (fd_ >= 0) {
            reactor_.descriptor_opened(fd_);
        }
    }
    ChildWait(const ChildWait&) = delete;
    ChildWait& operator=(const ChildWait&) = delete;
    ~ChildWait() {
        if (fd_ >= 0) {
            const int error = errno;
            reactor_.descriptor_closing(fd_);
            ::close(fd_);
            errno = error;
        }
    }
    Waited wait() noexcept {
        return fd_ >= 0 ? wait_descriptor(reactor_, fd_, PollMask::Readable, Deadline::never()) : backoff_.wait();
    }

private:
    IoReactor& reactor_;
    int fd_;
    Backoff backoff_;
};

/// `attempt` asks without waiting and returns `nothing` when there is nothing to tell; `block` waits.
template <typename Attempt, typename Block>
int wait_for_child(IoReactor& reactor, pid_t child, bool is_about_ends, Attempt&& attempt, Block&& block) noexcept {
    const KeepErrno keep;
    int result = attempt();
    if (result != 0) {
        return keep(result);
    }
    for (ChildWait wait(reactor, child, is_about_ends); result == 0; result = attempt()) {
        switch (wait.wait()) {
            case Waited::Failed:
                return -1;
            case Waited::Blocks:
                return keep(block());
            default:
                break;
        }
    }
    return keep(result);
}

pid_t await_child(IoReactor& reactor, pid_t child, int* status, int options, rusage* usage) noexcept {
    if ((options & WNOHANG) != 0) {
        return ::wait4(child, status, options, usage);
    }
    return wait_for_child(
        reactor, child, (options & (WUNTRACED | WCONTINUED)) == 0,
        [&] { return ::wait4(child, status, options | WNOHANG, usage); },
        [&] { return ::wait4(child, status, options, usage); }
    );
}

/// For children that nobody else knows of. Others run meanwhile, also when it has ended already. If the wait is cut short somebody else will
/// collect it.
int status_of(pid_t child) noexcept {
    IoReactor* reactor = suspending_reactor();
    int status = -1;
    if (reactor != nullptr && wait_time(Deadline::after(Duration::zero())) == Waited::Failed) {
        detail::adopt_orphan(child);
        errno = ECANCELED;
        return -1;
    }
    pid_t result = -1;
    do {
        result = reactor != nullptr ? await_child(*reactor, child, &status, 0, nullptr) : ::waitpid(child, &status, 0);
    } while (result < 0 && errno == EINTR);
    if (result < 0 && errno == ECANCELED) {
        detail::adopt_orphan(child);
        errno = ECANCELED;
    }
    return result < 0 ? -1 : status;
}

/// The streams of `popen`, with their children. Never destroyed.
struct Pipes {
    std::mutex mutex;
    std::map<FILE*, pid_t> children;
    std::atomic<bool> has_been_used = false;
};

Pipes& pipes() {
    static auto* all = new Pipes;
    return *all;
}

/// -1 when there is no such stream.
pid_t take_child(FILE* stream) noexcept {
    Pipes& all = pipes();
    const std::lock_guard lock(all.mutex);
    const auto found = all.children.find(stream);
    const pid_t child = found != all.children.end() ? found->second : -1;
    if (child > 0) {
        all.children.erase(found);
    }
    return child;
}

/// Closes a stream of the C library's own `popen`, which alone knows its child and waits for it. Goes on when nobody waits any more.
class LibraryClose final : public LaneItem {
public:
    struct Outcome {
        std::atomic<int> status = -1;
        std::atomic<int> error = 0;
    };
    /// Closes `end` when it is done.
    LibraryClose(FILE* stream, int end) noexcept : stream_(stream), end_(end) {}

    std::shared_ptr<Outcome> outcome() const noexcept { return outcome_; }
    void execute() noexcept override {
        outcome_->status = ::pclose(stream_);
        outcome_->error = errno;
        ::close(end_);
        delete this;
    }

private:
    FILE* stream_;
    int end_;
    std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>();
};

int close_in_library(FILE* stream) noexcept {
    if (Scheduler* scheduler = is_on() && !is_in_signal_handler() ? Scheduler::current() : nullptr) {
        const int fd = ::fileno(stream);
        if (IoReactor* reactor = scheduler->reactor().io(); reactor != nullptr && fd >= 0) {
            reactor->descriptor_closing(fd);
            set_kind(fd, Kind::Unknown);
        }
    }
    IoReactor* reactor = suspending_reactor();
    int ends[2] = {-1, -1};
    if (reactor == nullptr || ::pipe2(ends, O_CLOEXEC) != 0) {
        return ::pclose(stream);
    }
    const KeepErrno keep;
    wait_time(Deadline::after(Duration::zero()));  // who waited for the stream leaves first
    static auto* lane = new WorkLane({.name = "pclose", .max_threads = 64});
    auto* close = new LibraryClose(stream, ends[1]);
    const std::shared_ptr<LibraryClose::Outcome> outcome = close->outcome();
    reactor->descriptor_opened(ends[0]);
    if (!lane->submit(*close)) {
        close->execute();
    }
    const Waited waited = wait_descriptor(*reactor, ends[0], PollMask::Readable, Deadline::never());
    const int error = errno;
    if (waited == Waited::Blocks) {
        char byte = 0;
        ::read(ends[0], &byte, 1);
    }
    reactor->descriptor_closing(ends[0]);
    ::close(ends[0]);
    errno = waited == Waited::Failed ? error : outcome->error.load();
    return waited == Waited::Failed ? -1 : keep(outcome->status.load());
}

int run_shell(
    const char* command,
    posix_spawn_file_actions_t* actions,
    pid_t& child,
    const posix_spawnattr_t* attributes = nullptr
) noexcept {
    detail::collect_orphans();
    char shell[] = "sh";
    char option[] = "-c";
    char* arguments[] = {shell, option, const_cast<char*>(command), nullptr};
    return ::posix_spawn(&child, "/bin/sh", actions, attributes, arguments, environ);
}

/// What `system` does to the signals of the process until its command has ended: the terminal's are for the command, and a handler that
/// collects all children must not get ours. Several at once are as one.
class CommandSignals {
public:
    CommandSignals() noexcept {
        const std::lock_guard lock(mutex);
        if (running++ == 0) {
            struct sigaction ignore {};
            ignore.sa_handler = SIG_IGN;
            ::sigaction(SIGINT, &ignore, &interrupt);
            ::sigaction(SIGQUIT, &ignore, &quit);
        }
        sigset_t none;
        sigset_t child;
        ::sigemptyset(&none);
        ::sigemptyset(&child);
        ::sigaddset(&child, SIGCHLD);
        sigset_t mask;
        ::pthread_sigmask(SIG_BLOCK, &child, &mask);
        if (here++ == 0) {
            is_ours = ::sigismember(&mask, SIGCHLD) == 0;
        }
        if (is_ours) {
            ::sigdelset(&mask, SIGCHLD);
        }
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawnattr_setsigmask(&attributes_, &mask);
        for (const auto& [number, before] : {std::pair(SIGINT, &interrupt), std::pair(SIGQUIT, &quit)}) {
            if (before->sa_handler != SIG_IGN) {
                ::sigaddset(&none, number);
            }
        }
        ::posix_spawnattr_setsigdefault(&attributes_, &none);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    CommandSignals(const CommandSignals&) = delete;
    CommandSignals& operator=(const CommandSignals&) = delete;
    ~CommandSignals() {
        const int error = errno;
        ::posix_spawnattr_destroy(&attributes_);
        {
            const std::lock_guard lock(mutex);
            if (--running == 0) {
                ::sigaction(SIGINT, &interrupt, nullptr);
                ::sigaction(SIGQUIT, &quit, nullptr);
            }
        }
        if (--here == 0 && is_ours) {
            sigset_t child;
            ::sigemptyset(&child);
            ::sigaddset(&child, SIGCHLD);
            ::pthread_sigmask(SIG_UNBLOCK, &child, nullptr);
        }
        errno = error;
    }
    const posix_spawnattr_t* attributes() const noexcept { return &attributes_; }

private:
    static inline std::mutex mutex;
    static inline int running = 0;
    static inline struct sigaction interrupt {};
    static inline struct sigaction quit {};
    static inline thread_local int here = 0;
    static inline thread_local bool is_ours = false;  // that children's ends are blocked

    posix_spawnattr_t attributes_{};
};

}  // namespace

pid_t wait4(pid_t child, int* status, int options, rusage* usage) {
    IoReactor* reactor = suspending_reactor();
    if (reactor == nullptr) {
        return ::wait4(child, status, options, usage);
    }
    detail::collect_orphans();
    int own_status = 0;
    int* result = status != nullptr ? status : &own_status;
    const pid_t ended = await_child(*reactor, child, result, options, usage);
    TransparentHost* host = state.host;
    if (ended > 0 && host != nullptr) {
        host->child_changed(ended, *result);
    } else if (child > 0 && host != nullptr && (ended == 0 || errno == ECANCELED) && host->is_left(child)) {
        const int error = errno;
        detail::adopt_orphan(child);
        errno = error;
    }
    return ended;
}

pid_t waitpid(pid_t child, int* status, int options) { return hooked::wait4(child, status, options, nullptr); }
pid_t wait3(int* status, int options, rusage* usage) { return hooked::wait4(-1, status, options, usage); }
pid_t wait(int* status) { return hooked::wait4(-1, status, 0, nullptr); }

int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
    IoReactor* reactor = (options & WNOHANG) == 0 ? suspending_reactor() : nullptr;
    if (reactor == nullptr) {
        return ::waitid(type, id, info, options);
    }
    siginfo_t own_info{};
    info = info != nullptr ? info : &own_info;
    const int result = wait_for_child(
        *reactor, type == P_PID ? static_cast<pid_t>(id) : -1, (options & (WSTOPPED | WCONTINUED)) == 0,
        [&] {
            info->si_pid = 0;
            const int answer = ::waitid(type, id, info, options | WNOHANG);
            return answer == 0 && info->si_pid != 0 ? 1 : answer;
        },
        [&] { return ::waitid(type, id, info, options) == 0 ? 1 : -1; }
    );
    return result > 0 ? 0 : result;
}

FILE* popen(const char* command, const char* mode) {
    if (suspending_reactor() == nullptr) {
        return ::popen(command, mode);
    }
    bool reads = false;
    bool writes = false;
    bool is_kept_from_others = false;
    for (const char* letter = mode; *letter != '\0'; ++letter) {
        reads = reads || *letter == 'r';
        writes = writes || *letter == 'w';
        is_kept_from_others = is_kept_from_others || *letter == 'e';
    }
    if (reads == writes) {
        errno = EINVAL;
        return nullptr;
    }
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return nullptr;
    }
    const int ours = reads ? ends[0] : ends[1];
    int theirs = reads ? ends[1] : ends[0];
    const int place = reads ? STDOUT_FILENO : STDIN_FILENO;
    if (theirs == place) {  // duplicated onto itself it would stay close-on-exec
        const int other = ::fcntl(theirs, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        ::close(theirs);
        theirs = other;
    }
    Pipes& all = pipes();
    all.has_been_used = true;
    const std::lock_guard lock(all.mutex);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const auto& [stream, pid] : all.children) {  // as POSIX has it: children know nothing of each other's pipes
        if (::fileno(stream) != place) {
            ::posix_spawn_file_actions_addclose(&actions, ::fileno(stream));
        }
    }
    ::posix_spawn_file_actions_adddup2(&actions, theirs, place);
    pid_t child = -1;
    const int error = theirs < 0 ? errno : run_shell(command, &actions, child);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(theirs);
    FILE* stream = error == 0 ? ::fdopen(ours, reads ? "r" : "w") : nullptr;
    if (stream == nullptr) {
        const int reason = error != 0 ? error : errno;
        ::close(ours);
        errno = reason;
        return nullptr;
    }
    if (!is_kept_from_others) {
        ::fcntl(ours, F_SETFD, 0);
    }
    set_kind(ours, Kind::Unknown);
    all.children[stream] = child;
    return stream;
}

int pclose(FILE* stream) {
    const pid_t child = take_child(stream);
    if (child < 0) {
        return close_in_library(stream);
    }
    hooked::fclose(stream);
    return status_of(child);
}

bool has_child(FILE* stream) noexcept {
    Pipes& all = pipes();
    if (TA_LIKELY(!all.has_been_used.load(std::memory_order_relaxed))) {
        return false;
    }
    const std::lock_guard lock(all.mutex);
    return all.children.contains(stream);
}

int system(const char* command) {
    pid_t child = -1;
    if (command == nullptr || suspending_reactor() == nullptr) {
        return ::system(command);
    }
    const CommandSignals signals;
    if (run_shell(command, nullptr, child, signals.attributes()) != 0) {
        return 127 << 8;  // what a shell that cannot be run would have returned
    }
    return status_of(child);
}

}  // namespace trueasync::hooked

#if defined(__x86_64__) || defined(__aarch64__)

/// With a runtime on this thread the child, whose calls come to us as well, would take its parent's descriptors for its own. Elsewhere it shares
/// the memory as ever.
extern "C" [[gnu::used, gnu::visibility("hidden")]] void* trueasync_choose_vfork() noexcept {
    using trueasync::Scheduler;
    const bool is_shared = !trueasync::hooked::is_on() || Scheduler::current() == nullptr;
    return is_shared ? reinterpret_cast<void*>(&::vfork) : reinterpret_cast<void*>(&::fork);
}

// Both return to our caller: the child of a vfork goes on with the stack below it, so none of our frames may be there.
#if defined(__x86_64__)
asm(R"(
    .pushsection .text
    .p2align 4
    .globl trueasync_hooked_vfork
    .hidden trueasync_hooked_vfork
    .type trueasync_hooked_vfork, @function
trueasync_hooked_vfork:
    .cfi_startproc
    endbr64
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call trueasync_choose_vfork
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size trueasync_hooked_vfork, . - trueasync_hooked_vfork
    .popsection
)");
#else
asm(R"(
    .pushsection .text
    .p2align 4
    .globl trueasync_hooked_vfork
    .hidden trueasync_hooked_vfork
    .type trueasync_hooked_vfork, %function
trueasync_hooked_vfork:
    .cfi_startproc
    hint #34
    stp x29, x30, [sp, #-16]!
    .cfi_adjust_cfa_offset 16
    bl trueasync_choose_vfork
    ldp x29, x30, [sp], #16
    .cfi_adjust_cfa_offset -16
    mov x16, x0
    br x16
    .cfi_endproc
    .size trueasync_hooked_vfork, . - trueasync_hooked_vfork
    .popsection
)");
#endif

#else

extern "C" pid_t trueasync_hooked_vfork() { return ::fork(); }

#endif
