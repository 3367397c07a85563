#pragma once

/// @file trueasync/reactor/spawner.hpp
/// Starting programs.

#include <sys/types.h>
#include <cstdint>
#include <optional>
#include <string>
#include <trueasync/base/status.hpp>
#include <vector>

namespace trueasync {

/// What a child gets as its standard input, output or error.
class Stdio {
public:
    enum class Kind : std::uint8_t { Inherit, Pipe, Null, Descriptor, Output };

    /// The same as ours.
    static constexpr Stdio inherit() noexcept { return {Kind::Inherit, -1}; }
    /// A new pipe, whose other end is ours: non-blocking, and closed in every program that is started.
    static constexpr Stdio pipe() noexcept { return {Kind::Pipe, -1}; }
    /// `/dev/null`.
    static constexpr Stdio null() noexcept { return {Kind::Null, -1}; }
    /// A descriptor of the caller, which stays his.
    static constexpr Stdio descriptor(int fd) noexcept { return {Kind::Descriptor, fd}; }
    /// For the standard error only: wherever the output goes, `2>&1`.
    static constexpr Stdio to_output() noexcept { return {Kind::Output, -1}; }

    Kind kind() const noexcept { return kind_; }
    int fd() const noexcept { return fd_; }

private:
    constexpr Stdio(Kind kind, int fd) noexcept : kind_(kind), fd_(fd) {}

    Kind kind_;
    int fd_;
};

struct ProcessOptions {
    /// The program and its arguments. A program without a slash is searched in our PATH; a relative path is seen from the working directory.
    std::vector<std::string> argv = {};
    /// `NAME=value` each; ours when not given.
    std::optional<std::vector<std::string>> environment = {};
    /// Ours when empty.
    std::string working_directory = {};
    Stdio in = Stdio::inherit();
    Stdio out = Stdio::inherit();
    Stdio err = Stdio::inherit();
    /// The child leads a new process group, so that a signal can reach all its children too.
    bool has_own_group = false;
};

/// A child, and our ends of its pipes (-1 where there is none), which belong to the caller.
struct SpawnedProcess {
    pid_t pid = -1;
    int in = -1;
    int out = -1;
    int err = -1;
};

/// Starts a program. Never suspends; the calling thread stands still until the program has begun.
///
/// The child has an empty signal mask and default actions. Whoever starts it has to collect it (`ProcessEvent`). What the system
/// refuses comes with the errno: "spawn /no/such: ENOENT (no such file or directory)". Nothing is left open after a failure.
/// Thread rule: any thread.
[[nodiscard]] TA_API Status spawn_process(const ProcessOptions& options, SpawnedProcess& process);

}  // namespace trueasync
