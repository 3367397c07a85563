#include <trueasync/reactor/spawner.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <trueasync/reactor/system_error.hpp>
#include <utility>

#include "orphans.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): not declared everywhere

namespace trueasync {

namespace {

/// Closes what it holds.
class Holder {
public:
    Holder() noexcept = default;
    explicit Holder(int fd) noexcept : fd_(fd) {}
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    Holder(Holder&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Holder& operator=(Holder&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Holder() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    int get() const noexcept { return fd_; }
    int release() noexcept { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

/// Zero, or the errno.
int make_pipe(Holder& from, Holder& to) noexcept {
    int ends[2] = {-1, -1};
#if defined(__linux__)
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
    }
#else
    if (::pipe(ends) != 0) {
        return errno;
    }
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    from = Holder(ends[0]);
    to = Holder(ends[1]);
    return 0;
}

/// posix_spawn's two objects, freed on every way out.
class SpawnPlan {
public:
    SpawnPlan() noexcept {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

class Spawner {
public:
    explicit Spawner(const ProcessOptions& options) noexcept : options_(options) {}

    /// Zero, or the errno.
    int run(SpawnedProcess& process) {
        set_attributes();
        if (!options_.working_directory.empty()) {
            const char* directory = options_.working_directory.c_str();
            if (const int failure = posix_spawn_file_actions_addchdir_np(&plan_.actions, directory); failure != 0) {
                return failure;
            }
        }
        const Stdio streams[] = {options_.in, options_.out, options_.err};
        for (int target = 0; target < 3; ++target) {
            if (const int failure = prepare(target, streams[target]); failure != 0) {
                return failure;
            }
        }
        for (int target = 0; target < 3; ++target) {
            if (const int failure = connect(target, streams[target]); failure != 0) {
                return failure;
            }
        }
        std::vector<char*> argv = pointers(options_.argv);
        std::vector<char*> environment;
        if (options_.environment.has_value()) {
            environment = pointers(*options_.environment);
        }
        const int failure = posix_spawnp(
            &process.pid, argv.front(), &plan_.actions, &plan_.attributes, argv.data(),
            options_.environment.has_value() ? environment.data() : environ
        );
        if (failure == 0) {
            process.in = ours_[0].release();
            process.out = ours_[1].release();
            process.err = ours_[2].release();
        } else {
            process.pid = -1;
        }
        return failure;
    }

private:
    static std::vector<char*> pointers(const std::vector<std::string>& strings) {
        std::vector<char*> result;
        result.reserve(strings.size() + 1);
        for (const std::string& string : strings) {
            result.push_back(const_cast<char*>(string.c_str()));
        }
        result.push_back(nullptr);
        return result;
    }

    void set_attributes() noexcept {
        sigset_t set;
        sigemptyset(&set);
        posix_spawnattr_setsigmask(&plan_.attributes, &set);
        sigfillset(&set);
        posix_spawnattr_setsigdefault(&plan_.attributes, &set);
        short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
        if (options_.has_own_group) {
            posix_spawnattr_setpgroup(&plan_.attributes, 0);
            flags |= POSIX_SPAWN_SETPGROUP;
        }
        posix_spawnattr_setflags(&plan_.attributes, flags);
    }

    /// Opens what the parent has to open. The child's side never has a number below three: the child fills those one after the other, and
    /// one may be needed after its place was taken.
    int prepare(int target, const Stdio& stream) noexcept {
        Holder theirs;
        if (stream.kind() == Stdio::Kind::Pipe) {
            Holder from;
            Holder to;
            if (const int failure = make_pipe(from, to); failure != 0) {
                return failure;
            }
            if (target != 0) {
                std::swap(from, to);
            }
            theirs = std::move(from);
            ours_[target] = std::move(to);
            const int fd = ours_[target].get();
            ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
        } else if (stream.kind() == Stdio::Kind::Descriptor) {
            if (::fcntl(stream.fd(), F_GETFD) < 0) {
                return errno;
            }
            if (stream.fd() >= 3) {
                return 0;  // used as it is
            }
        } else {
            return 0;
        }
        const int low = theirs.get() >= 0 ? theirs.get() : stream.fd();
        if (low < 3) {
            const int high = ::fcntl(low, F_DUPFD_CLOEXEC, 3);
            if (high < 0) {
                return errno;
            }
            theirs = Holder(high);
        }
        theirs_[target] = std::move(theirs);
        return 0;
    }

    /// Tells the child how to get it.
    int connect(int target, const Stdio& stream) noexcept {
        switch (stream.kind()) {
            case Stdio::Kind::Inherit:
                return 0;
            case Stdio::Kind::Null:
                return posix_spawn_file_actions_addopen(
                    &plan_.actions, target, "/dev/null", target == 0 ? O_RDONLY : O_WRONLY, 0
                );
            case Stdio::Kind::Output:
                return target == 2 ? posix_spawn_file_actions_adddup2(&plan_.actions, 1, 2) : EINVAL;
            case Stdio::Kind::Pipe:
            case Stdio::Kind::Descriptor:
                break;
        }
        const int fd = theirs_[target].get() >= 0 ? theirs_[target].get() : stream.fd();
        return posix_spawn_file_actions_adddup2(&plan_.actions, fd, target);
    }

    const ProcessOptions& options_;
    SpawnPlan plan_;
    Holder ours_[3];
    Holder theirs_[3];
};

}  // namespace

Status spawn_process(const ProcessOptions& options, SpawnedProcess& process) {
    if (options.argv.empty() || options.argv.front().empty()) {
        return system_failure(EINVAL, "spawn a program without a name");
    }
    detail::collect_orphans();
    const int failure = Spawner(options).run(process);
    if (failure == 0) {
        return {};
    }
    const std::string& directory = options.working_directory;
    return system_failure(failure, "spawn " + options.argv.front() + (directory.empty() ? "" : " in " + directory));
}

}  // namespace trueasync
