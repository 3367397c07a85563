#include "thread/os_thread.hpp"

#include <pthread.h>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <trueasync/reactor/system_error.hpp>

#include "reactor/fork_generation.hpp"

namespace trueasync::detail {

namespace {

struct Live {
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t count = 0;
    std::uint32_t generation = fork_generation();
};

/// Never destroyed: a process may exit while its threads are busy.
Live& live() {
    static auto* all = new Live;
    return *all;
}

struct Start {
    std::string name;
    std::function<void()> body;
};

void* thread_main(void* argument) {
    {
        const std::unique_ptr<Start> start(static_cast<Start*>(argument));
#if defined(__linux__)
        pthread_setname_np(pthread_self(), start->name.substr(0, 15).c_str());
#endif
        start->body();
    }
    const std::lock_guard lock(live().mutex);
    if (--live().count == 0) {
        live().ended.notify_all();
    }
    return nullptr;
}

}  // namespace

Status start_thread(const std::string& name, std::function<void()> body) {
    watch_forks();
    if (Live& all = live(); all.generation != fork_generation()) {  // the others exist in the parent only
        new (&all) Live;
    }
    auto start = std::make_unique<Start>(Start{name, std::move(body)});
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
        sigdelset(&blocked, signal);
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    {
        const std::lock_guard lock(live().mutex);
        ++live().count;
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const int error = pthread_create(&thread, &attributes, &thread_main, start.get());
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        const std::lock_guard lock(live().mutex);
        --live().count;
        return Status(Error::make(
            ErrorCode::ThreadFailed, "the thread '" + name + "' could not be started",
            system_failure(error, "start a thread").take()
        ));
    }
    static_cast<void>(start.release());
    return {};
}

std::size_t live_threads() noexcept {
    if (live().generation != fork_generation()) {
        return 0;
    }
    const std::lock_guard lock(live().mutex);
    return live().count;
}

bool wait_for_threads(std::chrono::nanoseconds patience) {
    if (live().generation != fork_generation()) {
        return true;
    }
    std::unique_lock lock(live().mutex);
    return live().ended.wait_for(lock, patience, [] { return live().count == 0; });
}

}  // namespace trueasync::detail
