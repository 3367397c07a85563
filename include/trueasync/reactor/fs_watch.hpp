#pragma once

/// @file trueasync/reactor/fs_watch.hpp
/// Watching files and directories.

#include <deque>
#include <memory>
#include <string>
#include <trueasync/reactor/reactor_event.hpp>

namespace trueasync {

namespace detail {

class FsWatchBackend;
class FsWatchSink;

}  // namespace detail

/// What has happened to one file.
struct FsChange {
    enum class Kind : std::uint8_t {
        Rename,    ///< it has appeared, vanished, or got another name
        Change,    ///< its content or its attributes are different
        Overflow,  ///< more has happened than could be kept: look for yourself, in `name` if it is not empty
    };

    Kind kind = Kind::Change;
    std::string name;  ///< as seen from the watched path; empty for the watched file or directory itself

    bool operator==(const FsChange&) const = default;
};

/// `Rename a/b`.
TA_API std::string to_string(const FsChange& change);

/// Fires when something has changed at a path, as long as there are changes to `take`; with the oldest, as `const FsChange*`.
///
/// Watches from its start to its stop, so who wants everything keeps it started between the waits. Changes that are equal and come
/// directly one after the other count as one. With `is_recursive` directories below are watched too, also those that are made later
/// (what they contain by then is reported as `Rename`); symbolic links are not followed below the path. If the system cannot keep up, or
/// nobody takes the changes, an `Overflow` says that some are missing. When the watched thing itself is removed, that is reported as
/// `Rename` with an empty name, and the event then ends with the error ENOENT.
/// On Linux each event has an inotify descriptor; elsewhere libuv does it, with what the system offers.
/// Thread rule: that of its reactor.
/// Lifetime: may be dropped while active, and may outlive its reactor.
/// Cancel rule: a waiter that leaves takes nothing with it.
///
/// @snippet unit/reactor/fs_watch_test.cpp  await_change
class TA_API FsWatchEvent final : public ReactorEvent, private TimerNode {
public:
    /// Nothing is checked before `start`.
    static Ref<FsWatchEvent> create(Reactor& reactor, std::string path, bool is_recursive = false);

    const std::string& path() const noexcept { return path_; }
    bool is_recursive() const noexcept { return is_recursive_; }

    /// The oldest change that was not taken; false when there is none.
    bool take(FsChange& change);
    std::size_t pending() const noexcept { return changes_.size(); }

    /// Why it has ended; null while it has not.
    Error* error() const noexcept { return error_.get(); }

    [[nodiscard]] Status add_callback(Callback& callback) override;
    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `FsWatch(/path, recursive)`.
    std::string info() const override;

protected:
    [[nodiscard]] Status enter_loop() override;
    void leave_loop() noexcept override;
    void on_fork() noexcept override;
    void on_deadline() noexcept override { fire(); }

private:
    friend class detail::FsWatchSink;

    FsWatchEvent(Reactor& reactor, std::string path, bool is_recursive) noexcept;
    ~FsWatchEvent() override;

    Status open();
    void fire() noexcept;

    std::string path_;
    bool is_recursive_;
    std::deque<FsChange> changes_;
    std::unique_ptr<detail::FsWatchBackend> backend_;
    Ref<Error> error_;
};

}  // namespace trueasync
