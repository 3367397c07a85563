#pragma once

/// @file trueasync/transparent/transparent.hpp
/// Blocking calls of any C library in the process suspend the coroutine that makes them, and nothing else.

#include <sys/types.h>
#include <atomic>
#include <string>
#include <trueasync/base/deadline.hpp>
#include <trueasync/base/status.hpp>
#include <trueasync/runtime/coroutine.hpp>
#include <vector>

namespace trueasync {

struct TransparentSettings {
    /// Names of objects that are left as they are, but for what closes descriptors, besides the C library, libuv and our own: the file name or
    /// a beginning of it, such as `libpq.so`.
    std::vector<std::string> skipped_objects;
    /// Names of functions that keep blocking, such as `getaddrinfo`.
    std::vector<std::string> skipped_functions;
    /// Any function of the program that must not be left out: where its own calls cannot be replaced, none are.
    const void* host = nullptr;
};

/// What has been rewritten so far.
struct TransparentStats {
    std::size_t objects = 0;  ///< that call at least one of the functions through us
    std::size_t slots = 0;    ///< places from which they are called
    std::size_t refused = 0;  ///< places that the system would not let us write to
};

/// What an embedding runtime knows better. Set before the first coroutine runs.
class TA_API TransparentHost {
public:
    enum class Answer : std::uint8_t {
        Suspend,  ///< go on
        Block,    ///< not here: the thread blocks, as without us
        Fail,     ///< the call fails with ECANCELED
    };

    TransparentHost() = default;
    TransparentHost(const TransparentHost&) = delete;
    TransparentHost& operator=(const TransparentHost&) = delete;

    /// `coroutine`, which runs, is about to suspend inside a C library.
    virtual Answer may_suspend(Coroutine& coroutine) noexcept = 0;

    /// The same, and if the answer is `Suspend`, nothing but the wait comes before `end_wait`: a host that exchanges its state itself does
    /// it here (`Scheduler::mute_hook`).
    virtual Answer begin_wait(Coroutine& coroutine, int /*fd*/) noexcept { return may_suspend(coroutine); }
    virtual void end_wait(Coroutine& coroutine) noexcept { static_cast<void>(coroutine); }

    /// `coroutine`, which runs, is about to suspend until another has left a mutex. That cannot fail, so it waits also when it was cancelled. False:
    /// not here, the thread blocks.
    virtual bool may_wait_for_lock(Coroutine& coroutine) noexcept { return may_suspend(coroutine) != Answer::Block; }

    /// The coroutine was cancelled inside a C library, whose call is about to fail with ECANCELED. False: it must not fail, and blocks instead.
    virtual bool cancelled(Coroutine& coroutine, Ref<Error> cancellation) noexcept = 0;

    /// A call of `coroutine`, which runs, is about to fail with ECANCELED while it waits for `fd`: what a library speaks over that is in the middle
    /// of something.
    virtual void cut_off(Coroutine& coroutine, int fd) noexcept {
        static_cast<void>(coroutine);
        static_cast<void>(fd);
    }

    /// Whether `coroutine`, which runs, was cancelled inside a C library that has not returned to the host's code since. Asked only while
    /// `cut_offs` is not zero.
    virtual bool is_cut_off(Coroutine& coroutine) noexcept {
        static_cast<void>(coroutine);
        return false;
    }
    /// How many such coroutines there may be.
    std::atomic<std::uint32_t> cut_offs = 0;

    /// A coroutine has asked about its children: `waitpid` is about to return `child` with `status`.
    virtual void child_changed(pid_t child, int status) noexcept {
        static_cast<void>(child);
        static_cast<void>(status);
    }

    /// `waitpid` is about to return while `child` goes on. True: nobody will ask for it any more, and it is collected when it ends.
    virtual bool is_left(pid_t child) noexcept {
        static_cast<void>(child);
        return false;
    }

    /// Whether the code at `caller` gives `gethostbyname_r` memory that another coroutine may free meanwhile. Then only what was looked up ahead
    /// is answered without blocking.
    virtual bool shares_memory(const void* caller) noexcept {
        static_cast<void>(caller);
        return false;
    }

    /// Whether `coroutine`, which runs, is inside a call on a handle that is there for several at once. When it closes a descriptor it does not
    /// wait until others have left theirs, and its `poll` may return early with nothing: another may have taken what there was.
    virtual bool is_in_shared(Coroutine& coroutine) noexcept {
        static_cast<void>(coroutine);
        return false;
    }

protected:
    ~TransparentHost() = default;
};

/// From now on the blocking functions of the C library, called by any object of the process in a coroutine, suspend that coroutine. So do
/// those of objects that are loaded later.
///
/// Works by rewriting the tables through which objects call each other. Left alone: the C library itself, libuv, the object this
/// code is in (with the static library that is the program itself; with the shared one it is not), and what the settings say. Outside
/// coroutines, on threads without a runtime, in the child of a fork and in signal handlers that are set from now on the C library's own
/// functions are called.
/// A coroutine that is cancelled in such a call gets ECANCELED from it and from every later one that would have to wait; the
/// cancellation itself comes at its next suspension point.
///
/// Once per process; a second call does nothing but look for new objects. Fails where the method does not work at all (another
/// system, a processor we do not know, a host that is linked with us or whose pages are sealed): everything then blocks as ever.
/// Thread rule: any thread.
///
/// @snippet unit/transparent/transparent_test.cpp  install
[[nodiscard]] TA_API Status install_transparent(const TransparentSettings& settings = {});

/// Off: every function is the C library's own again, though called through us. On again brings the other behaviour back.
TA_API void set_transparent(bool is_on) noexcept;
TA_API bool is_transparent() noexcept;

/// Null: nobody.
TA_API void set_transparent_host(TransparentHost* host) noexcept;

/// For such code: looks up `name`, so that the next `gethostbyname_r` of the running coroutine for it need not wait. May suspend.
TA_API void look_up_ahead(const char* name) noexcept;
/// The answer was not needed.
TA_API void forget_lookup() noexcept;

/// For the embedding runtime, whose own calls reach the C library: suspends until something can be read, or the end or an error. False:
/// `limit` has passed. At once when the descriptor does not block.
[[nodiscard]] TA_API bool await_readable(int fd, Duration limit) noexcept;

/// For the embedding runtime, whose own calls reach the C library: `read` and `write` as a library's own calls are. May suspend.
[[nodiscard]] TA_API ssize_t suspending_read(int fd, void* buffer, std::size_t size) noexcept;
[[nodiscard]] TA_API ssize_t suspending_write(int fd, const void* data, std::size_t size) noexcept;

/// For the embedding runtime: when the object that `code` lies in calls the function `name` of another one, it calls `hook` from now on. False:
/// it does not, it is ours or it is to be left as it is.
[[nodiscard]] TA_API bool replace_call(const void* code, const char* name, void* hook) noexcept;

/// For the embedding runtime, before it takes down what others use while they wait for `fd`: they fail with EBADF, and so does everybody who
/// begins a call on it, until `end_closing`. When they have left is for the runtime to find out.
TA_API void begin_closing(int fd) noexcept;
TA_API void end_closing(int fd) noexcept;
[[nodiscard]] TA_API bool is_being_closed(int fd) noexcept;

TA_API TransparentStats transparent_stats() noexcept;

}  // namespace trueasync
