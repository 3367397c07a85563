#pragma once

/// @file trueasync/api/watch.hpp
/// Watching files and directories.

#include <source_location>
#include <string>
#include <trueasync/api/await.hpp>
#include <trueasync/reactor/fs_watch.hpp>

namespace trueasync {

/// Notices everything that happens at a path for as long as it lives; see `FsWatchEvent` for what that is.
///
/// Thread rule: the thread of the runtime it was made in, which it may outlive. Watching keeps no program alive, waiting does.
/// Cancel safety: a cancelled `next` loses nothing.
///
/// @snippet unit/api/watch_test.cpp  watch
class TA_API Watch {
public:
    /// Throws `AsyncError`: `System` with the errno ("watch /no/such: ENOENT ..."), `NotRunning` outside `run`.
    explicit Watch(std::string path, bool is_recursive = false);
    Watch(Watch&&) noexcept = default;
    Watch& operator=(Watch&&) noexcept = default;
    ~Watch() = default;

    /// The next change, oldest first. May suspend; does not when there is one. If several coroutines ask, each change goes to one of them.
    /// Throws `AsyncError` (`System`, ENOENT) once the watched path was removed, `TimeoutError`, `Cancellation`.
    FsChange next(const Limit& limit = {}, std::source_location where = std::source_location::current());

    FsWatchEvent& event() const noexcept { return *event_; }

private:
    Ref<FsWatchEvent> event_;
    std::size_t waiting_ = 0;
};

/// Begins to watch a file or directory. Does not suspend.
inline Watch watch(std::string path, bool is_recursive = false) { return Watch(std::move(path), is_recursive); }

}  // namespace trueasync
