#pragma once

/// @file trueasync/reactor/fs_watcher.hpp
/// Changes of files and directories, put together as a reader wants them.

#include <deque>
#include <optional>
#include <string>
#include <trueasync/reactor/fs_watch.hpp>
#include <trueasync/runtime/wait.hpp>
#include <unordered_map>
#include <vector>

namespace trueasync {

struct FsWatcherSettings {
    bool is_recursive = false;
    /// What waits to be taken about the same name becomes one notice. Otherwise each change is one, in order.
    bool coalesces = true;
    /// When not zero, all changes of a burst become one notice without a name, once this long nothing has changed.
    Duration debounce{};
    /// When not zero, the notice of a burst comes at most this long after its first change.
    Duration max_hold{};
    /// When not empty, only names with one of these extensions count; with or without a dot in front, upper or lower case.
    std::vector<std::string> extensions = {};
};

/// What has happened to a file; at least one of the two is true.
struct FsNotice {
    std::optional<std::string>
        name;  ///< as seen from the watched path, of which it is the last part for the watched thing itself
    bool is_renamed = false;  ///< it has appeared, vanished, or got another name
    bool is_changed = false;  ///< its content or its attributes

    bool operator==(const FsNotice&) const = default;
};

/// Watches a path from `open` to `end` and keeps notices for whoever takes them; fires when there are some, and at the end.
///
/// Ends by itself when the watched thing is removed, and with its reactor. What is kept by then can still be taken; what a burst still
/// holds is dropped. When nobody takes them, notices pile up to 8192 (`FsWatchEvent` keeps the rest, or reports that some are missing:
/// as a notice with both flags).
/// Thread rule: that of its reactor.
/// Lifetime: may be dropped while open, and may outlive its reactor. Keeps the program alive only while somebody waits.
/// Cancel rule: a cancelled `next` loses nothing. Of several readers each notice goes to one.
///
/// @snippet unit/reactor/fs_watcher_test.cpp  next_notice
class TA_API FsWatcher final : public ReactorEvent {
public:
    static constexpr std::size_t kMost = 8192;

    /// Without a path nothing is watched; changes then come by `note` alone.
    static Ref<FsWatcher> create(Reactor& reactor, std::string path, FsWatcherSettings settings = {});

    /// Begins to watch. Fails with what `FsWatchEvent` fails with.
    [[nodiscard]] Status open();
    /// Stops; whoever waits is woken.
    void end() noexcept;
    bool has_ended() const noexcept { return has_ended_; }

    const std::string& path() const noexcept { return path_; }

    /// A change was seen.
    void note(const FsChange& change);

    /// The oldest notice; false when there is none.
    bool take(FsNotice& notice);
    std::size_t pending() const noexcept { return notices_.size(); }

    /// Waits for the next notice, which is empty when it has ended and all are taken. May suspend.
    WaitResult next(
        std::optional<FsNotice>& notice,
        const WaitLimit& limit = {},
        std::source_location where = std::source_location::current()
    );

    [[nodiscard]] Status add_callback(Callback& callback) override;
    bool del_callback(Callback& callback) noexcept override;
    /// Once it has ended.
    bool replay(Callback* callback, void** result, Ref<Error>* error) override;

    /// `FsWatcher(/path, pending=2)`.
    std::string info() const override;

protected:
    void on_reactor_close() noexcept override;
    void on_destroy() noexcept override;

private:
    class Listener;

    /// Calls a method when its time has come.
    class Alarm final : public TimerNode {
    public:
        Alarm(FsWatcher& watcher, void (FsWatcher::*action)() noexcept) noexcept : watcher_(watcher), action_(action) {}
        void on_deadline() noexcept override { (watcher_.*action_)(); }

    private:
        FsWatcher& watcher_;
        void (FsWatcher::*action_)() noexcept;
    };

    FsWatcher(Reactor& reactor, std::string path, FsWatcherSettings settings) noexcept;
    ~FsWatcher() override;

    bool counts(const std::string& name) const noexcept;
    void keep(FsNotice notice);
    void drain() noexcept;
    void fire() noexcept;
    void end_burst() noexcept;
    void stop_watching() noexcept;

    std::string path_;
    FsWatcherSettings settings_;
    Ref<FsWatchEvent> source_;
    Ref<Listener> listener_;
    std::deque<FsNotice> notices_;
    std::unordered_map<std::string, FsNotice*> by_name_;  // when coalescing; the empty name stands for none
    FsNotice burst_;
    Instant burst_began_{};
    Alarm burst_end_;
    Alarm late_fire_;  // for those who subscribe when there is something already
    bool has_ended_ = false;
};

}  // namespace trueasync
