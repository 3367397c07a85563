#if defined(__linux__)

#include <dirent.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <trueasync/reactor/system_error.hpp>
#include <unordered_map>
#include <vector>

#include "fs_watch_backend.hpp"

namespace trueasync::detail {

namespace {

constexpr std::uint32_t kWanted =
    IN_ATTRIB | IN_MODIFY | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_MOVED_FROM | IN_MOVED_TO;

class InotifyWatch final : public FsWatchBackend, private DescriptorWatch {
public:
    InotifyWatch(IoReactor& io, FsWatchSink sink, int fd)
        : DescriptorWatch(fd, PollMask::Readable), io_(io), sink_(sink), fd_(fd) {
        io_.descriptor_opened(fd_);
        io_.introduce(*this);
    }
    ~InotifyWatch() override {
        if (!is_lost_) {
            io_.unwatch(*this);
            io_.descriptor_closing(fd_);
            ::close(fd_);
        }
    }

    Status begin() {
        root_ = ::inotify_add_watch(fd_, sink_.path().c_str(), kWanted);
        if (root_ < 0) {
            return refuse(errno, sink_.path());
        }
        directories_[root_] = "";
        if (sink_.is_recursive()) {
            if (const int failure = add_below("", false); failure != 0) {
                return refuse(failure, sink_.path());
            }
        }
        return io_.watch(*this);
    }

    void resume() noexcept override {
        if (!is_watching()) {
            io_.watch(*this).ignore();
        }
    }

    bool is_lost_by_fork() const noexcept override { return true; }  // what the child reads the parent would miss

private:
    static Status refuse(int failure, const std::string& path) {
        const char* advice = failure == ENOSPC ? ", all of fs.inotify.max_user_watches being used"
                             : failure == EMFILE
                                 ? ", all descriptors or all of fs.inotify.max_user_instances being used"
                                 : "";
        return system_failure(failure, "watch " + path + advice);
    }

    void on_ready(PollMask /*what*/) noexcept override {
        while (!sink_.is_full()) {
            const ssize_t size = ::read(fd_, buffer_, sizeof(buffer_));
            if (size <= 0) {
                break;
            }
            for (ssize_t at = 0; at < size;) {
                inotify_event event{};
                std::memcpy(&event, buffer_ + at, sizeof(event));
                see(event, event.len != 0 ? buffer_ + at + sizeof(event) : "");
                at += static_cast<ssize_t>(sizeof(event) + event.len);
            }
        }
        if (sink_.is_full()) {
            io_.unwatch(*this);
        }
        sink_.done();
    }

    void on_lost(Error& error) noexcept override {
        is_lost_ = true;  // whoever closed it has closed it
        sink_.end(Ref<Error>(&error));
        sink_.done();
    }

    void see(const inotify_event& event, const char* file) {
        if ((event.mask & IN_Q_OVERFLOW) != 0) {
            sink_.report(FsChange::Kind::Overflow, "");
            if (sink_.is_recursive()) {
                add_below("", false);  // directories may be among what was missed
            }
            return;
        }
        const auto found = directories_.find(event.wd);
        if (found == directories_.end()) {
            return;  // of a directory that has left
        }
        const bool is_root = event.wd == root_;
        if ((event.mask & IN_IGNORED) != 0) {
            directories_.erase(found);
            if (is_root) {
                sink_.end(SystemError::make(ENOENT, "watch " + sink_.path() + ", which was removed"));
            }
            return;
        }
        if (event.len == 0 && !is_root) {
            return;  // its parent says the same
        }
        if (event.len == 0 && (event.mask & IN_ATTRIB) != 0 && is_removed()) {
            return;  // only its count of links has changed: more is to come
        }
        std::string name = file;
        if (!found->second.empty()) {
            name = found->second + "/" + name;
        }
        const bool is_change = (event.mask & (IN_ATTRIB | IN_MODIFY)) != 0;
        sink_.report(is_change ? FsChange::Kind::Change : FsChange::Kind::Rename, name);
        if (sink_.is_recursive() && (event.mask & IN_ISDIR) != 0 && event.len != 0) {
            if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
                add(name, true);
            } else if ((event.mask & IN_MOVED_FROM) != 0) {
                drop(name);
            }
        }
    }

    bool is_removed() const noexcept {
        struct stat now {};
        return ::stat(sink_.path().c_str(), &now) != 0 && errno == ENOENT;
    }

    std::string full(const std::string& name) const { return name.empty() ? sink_.path() : sink_.path() + "/" + name; }

    /// A directory that was found later, with all it contains.
    void add(const std::string& name, bool is_reporting) {
        if (int failure = add_one(name); failure == 0) {
            failure = add_below(name, is_reporting);
            if (failure != 0) {
                sink_.report(FsChange::Kind::Overflow, name);
            }
        } else if (is_shortage(failure)) {
            sink_.report(FsChange::Kind::Overflow, name);
        }
    }

    static bool is_shortage(int failure) noexcept { return failure == ENOSPC || failure == ENOMEM; }

    /// Zero, or the errno.
    int add_one(const std::string& name) {
        const int watch = ::inotify_add_watch(fd_, full(name).c_str(), kWanted | IN_ONLYDIR | IN_DONT_FOLLOW);
        if (watch < 0) {
            return errno;
        }
        directories_[watch] = name;
        return 0;
    }

    /// Watches every directory below `name`; one that has gone meanwhile, or may not be read, is left out. Zero, or the errno of a
    /// shortage.
    int add_below(const std::string& name, bool is_reporting) {
        std::vector<std::string> left{name};
        while (!left.empty()) {
            const std::string directory = std::move(left.back());
            left.pop_back();
            DIR* stream = ::opendir(full(directory).c_str());
            if (stream == nullptr) {
                continue;
            }
            while (const dirent* entry = ::readdir(stream)) {
                if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) {
                    continue;
                }
                std::string child = directory.empty() ? entry->d_name : directory + "/" + entry->d_name;
                if (is_reporting) {
                    sink_.report(FsChange::Kind::Rename, child);
                }
                if (!is_directory(*entry, child)) {
                    continue;
                }
                if (const int failure = add_one(child); failure == 0) {
                    left.push_back(std::move(child));
                } else if (is_shortage(failure)) {
                    ::closedir(stream);
                    return failure;
                }
            }
            ::closedir(stream);
        }
        return 0;
    }

    bool is_directory(const dirent& entry, const std::string& name) const noexcept {
        if (entry.d_type != DT_UNKNOWN) {
            return entry.d_type == DT_DIR;
        }
        struct stat now {};
        return ::lstat(full(name).c_str(), &now) == 0 && S_ISDIR(now.st_mode);
    }

    /// A directory that was moved away, with all below it.
    void drop(const std::string& name) {
        const std::string below = name + "/";
        for (auto next = directories_.begin(); next != directories_.end();) {
            if (next->second == name || next->second.starts_with(below)) {
                ::inotify_rm_watch(fd_, next->first);
                next = directories_.erase(next);
            } else {
                ++next;
            }
        }
    }

    IoReactor& io_;
    FsWatchSink sink_;
    int fd_;
    int root_ = -1;
    bool is_lost_ = false;
    std::unordered_map<int, std::string> directories_;  // as seen from the watched path
    alignas(inotify_event) char buffer_[16 * 1024];
};

}  // namespace

Status make_inotify_watch(IoReactor& io, FsWatchSink sink, std::unique_ptr<FsWatchBackend>& backend) {
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) {
        return system_failure(errno, "watch " + sink.path());
    }
    auto watch = std::make_unique<InotifyWatch>(io, sink, fd);
    Status status = watch->begin();
    if (status.ok()) {
        backend = std::move(watch);
    }
    return status;
}

}  // namespace trueasync::detail

#endif
