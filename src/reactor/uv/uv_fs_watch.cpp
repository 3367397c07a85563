#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <trueasync/reactor/system_error.hpp>

#include "../fs_watch_backend.hpp"
#include "uv_loop.hpp"

namespace trueasync::detail {

namespace {

/// Lives until libuv has closed it.
struct Handle {
    uv_fs_event_t uv{};
    std::optional<FsWatchSink> sink;
    bool is_file = false;
};

void on_change(uv_fs_event_t* uv, const char* file, int events, int status) {
    auto* handle = static_cast<Handle*>(uv->data);
    if (!handle->sink.has_value()) {
        return;
    }
    FsWatchSink& sink = *handle->sink;
    struct stat now {};
    if (status != 0) {
        sink.end(SystemError::make(-status, "watch " + sink.path()));
    } else if (sink.is_full()) {
        sink.report(FsChange::Kind::Overflow, "");
    } else {
        // libuv gives the name of a watched file, and on some systems none at all.
        const auto kind = (events & UV_RENAME) != 0 ? FsChange::Kind::Rename : FsChange::Kind::Change;
        const bool is_gone =
            kind == FsChange::Kind::Rename && ::stat(sink.path().c_str(), &now) != 0 && errno == ENOENT;
        sink.report(kind, handle->is_file || is_gone || file == nullptr ? "" : file);
        if (is_gone) {
            sink.end(SystemError::make(ENOENT, "watch " + sink.path() + ", which was removed"));
        }
    }
    sink.done();
}

class UvFsWatch final : public FsWatchBackend {
public:
    explicit UvFsWatch(Handle* handle) noexcept : handle_(handle) {}
    ~UvFsWatch() override {
        handle_->sink.reset();
        uv_close(reinterpret_cast<uv_handle_t*>(&handle_->uv), [](uv_handle_t* closed) {
            delete static_cast<Handle*>(closed->data);
        });
    }

private:
    Handle* handle_;
};

}  // namespace

Status make_uv_fs_watch(IoReactor& io, FsWatchSink sink, std::unique_ptr<FsWatchBackend>& backend) {
    const std::string attempted = "watch " + sink.path();
#if !defined(__APPLE__) && !defined(_WIN32)
    if (sink.is_recursive()) {
        return system_failure(ENOTSUP, attempted + " with all below it");
    }
#endif
    auto* handle = new Handle();
    handle->sink.emplace(sink);
    handle->uv.data = handle;
    if (const int status = uv_fs_event_init(uv_loop_of(io), &handle->uv); status != 0) {
        delete handle;
        return system_failure(-status, attempted);
    }
    auto watch = std::make_unique<UvFsWatch>(handle);
    struct stat now {};
    handle->is_file = ::stat(sink.path().c_str(), &now) == 0 && !S_ISDIR(now.st_mode);
    const unsigned flags = sink.is_recursive() ? UV_FS_EVENT_RECURSIVE : 0;
    if (const int status = uv_fs_event_start(&handle->uv, &on_change, sink.path().c_str(), flags); status != 0) {
        return system_failure(-status, attempted);
    }
    backend = std::move(watch);
    return {};
}

}  // namespace trueasync::detail
