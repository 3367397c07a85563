#pragma once

#include <atomic>
#include <memory>
#include <trueasync/reactor/fs_watch.hpp>
#include <trueasync/reactor/io_reactor.hpp>

namespace trueasync::detail {

/// What a backend may say to its event.
class FsWatchSink {
public:
    explicit FsWatchSink(FsWatchEvent& event) noexcept : event_(event) {}

    const std::string& path() const noexcept { return event_.path_; }
    bool is_recursive() const noexcept { return event_.is_recursive_; }

    void report(FsChange::Kind kind, std::string name);
    /// Nothing will come any more.
    void end(Ref<Error> error) noexcept;
    /// All is reported that there was. May end the backend.
    void done() noexcept { event_.fire(); }
    /// Enough for now: the system keeps the rest, or says that it could not.
    bool is_full() const noexcept { return event_.changes_.size() >= kMost; }

    static constexpr std::size_t kMost = 8192;

private:
    FsWatchEvent& event_;
};

/// Watches as long as it lives.
class FsWatchBackend {
public:
    FsWatchBackend() = default;
    FsWatchBackend(const FsWatchBackend&) = delete;
    FsWatchBackend& operator=(const FsWatchBackend&) = delete;
    virtual ~FsWatchBackend() = default;

    /// The sink has room again.
    virtual void resume() noexcept {}

    /// The child of a fork has to begin anew.
    virtual bool is_lost_by_fork() const noexcept { return false; }
};

using MakeFsWatch = Status (*)(IoReactor& io, FsWatchSink sink, std::unique_ptr<FsWatchBackend>& backend);

Status make_uv_fs_watch(IoReactor& io, FsWatchSink sink, std::unique_ptr<FsWatchBackend>& backend);
#if defined(__linux__)
Status make_inotify_watch(IoReactor& io, FsWatchSink sink, std::unique_ptr<FsWatchBackend>& backend);
#endif

/// Tests set it, to have libuv where there is a better way.
extern std::atomic<bool> is_inotify_off;

}  // namespace trueasync::detail
