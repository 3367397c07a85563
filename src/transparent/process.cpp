#include <spawn.h>
#include <map>
#include <mutex>

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
};

Pipes& pipes() {
    static auto* all = new Pipes;
    return *all;
}

int run_shell(const char* command, posix_spawn_file_actions_t* actions, pid_t& child) noexcept {
    detail::collect_orphans();
    char shell[] = "sh";
    char option[] = "-c";
    char* arguments[] = {shell, option, const_cast<char*>(command), nullptr};
    return ::posix_spawn(&child, "/bin/sh", actions, nullptr, arguments, environ);
}

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
    IoReactor* reactor = (options & WNOHANG) == 0 && info != nullptr ? suspending_reactor() : nullptr;
    if (reactor == nullptr) {
        return ::waitid(type, id, info, options);
    }
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
    pid_t child = -1;
    {
        Pipes& all = pipes();
        const std::lock_guard lock(all.mutex);
        const auto found = all.children.find(stream);
        if (found == all.children.end()) {
            return ::pclose(stream);
        }
        child = found->second;
        all.children.erase(found);
    }
    hooked::fclose(stream);
    return status_of(child);
}

int system(const char* command) {
    pid_t child = -1;
    if (command == nullptr || suspending_reactor() == nullptr) {
        return ::system(command);
    }
    if (run_shell(command, nullptr, child) != 0) {
        return 127 << 8;  // what a shell that cannot be run would have returned
    }
    return status_of(child);
}

pid_t vfork() { return ::fork(); }

}  // namespace trueasync::hooked
