#include <trueasync/reactor/signal.hpp>

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <trueasync/reactor/system_error.hpp>
#include <trueasync/reactor/trigger.hpp>

namespace trueasync {

namespace detail {

namespace {

constexpr int kLast = 64;  // a mask has a bit for each

constexpr std::uint64_t bit_of(int number) noexcept { return std::uint64_t{1} << (number - 1); }

/// How often each signal has come. Written by the handler.
constinit std::array<std::atomic<std::uint64_t>, kLast + 1> arrived{};

/// What was there before us, for the handler; null when it is no function.
struct Earlier {
    std::atomic<void*> function = nullptr;
    std::atomic<bool> takes_info = false;
};
constinit std::array<Earlier, kLast + 1> earlier{};

constinit std::atomic<SignalChain> chain = nullptr;

}  // namespace

/// The watches of one loop, and the trigger by which the handler reaches it. Hubs are never freed, only used again: a handler may be
/// looking at one.
class SignalHub {
public:
    // For the handler, in any thread.
    std::atomic<TriggerEvent*> trigger = nullptr;
    std::atomic<std::uint64_t> mask = 0;
    std::atomic<std::uint32_t> users = 0;  // handlers that may be using the trigger
    SignalHub* next = nullptr;             // never changes once it can be seen

    // Of the table.
    Reactor* reactor = nullptr;  // null: free
    std::thread::id thread;
    std::array<std::uint32_t, kLast + 1> counts{};
    std::uint32_t total = 0;

    // Of the loop.
    Ref<TriggerEvent> owned_trigger;
    IntrusiveList<SignalWatch, SignalTag> watches;

    class Listener final : public Callback {
    public:
        explicit Listener(SignalHub& hub) noexcept : hub_(hub) {}
        void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { hub_.deliver(); }

    private:
        SignalHub& hub_;
    };
    Ref<Listener> listener;  // not a part: its trigger may hold it a little longer than the loop has the hub

    void deliver() noexcept {
        IntrusiveList<SignalWatch, SignalTag> left;
        while (SignalWatch* watch = watches.pop_front()) {
            left.push_back(*watch);
        }
        // Each goes back before it is told. If the last one leaves, the hub may belong to another thread: it is not touched again.
        while (SignalWatch* watch = left.pop_front()) {
            watches.push_back(*watch);
            if (watch->is_poked_ || watch->pending_signals() != 0) {
                watch->is_poked_ = false;
                watch->on_signal();
            }
        }
    }
};

namespace {

/// The list that the handler walks.
constinit std::atomic<SignalHub*> first_hub = nullptr;

void call_earlier(int number, siginfo_t* info, void* context) noexcept {
    const Earlier& one = earlier[static_cast<std::size_t>(number)];
    void* const function = one.function.load(std::memory_order_seq_cst);
    const SignalChain wants = chain.load(std::memory_order_relaxed);
    if (function == nullptr || wants == nullptr || !wants(number)) {
        return;
    }
    if (one.takes_info.load(std::memory_order_seq_cst)) {
        reinterpret_cast<void (*)(int, siginfo_t*, void*)>(function)(number, info, context);
    } else {
        reinterpret_cast<void (*)(int)>(function)(number);
    }
}

extern "C" void trueasync_on_signal(int number, siginfo_t* info, void* context) {
    const int before = errno;
    arrived[static_cast<std::size_t>(number)].fetch_add(1, std::memory_order_seq_cst);
    for (SignalHub* hub = first_hub.load(std::memory_order_acquire); hub != nullptr; hub = hub->next) {
        if ((hub->mask.load(std::memory_order_seq_cst) & bit_of(number)) == 0) {
            continue;
        }
        hub->users.fetch_add(1, std::memory_order_seq_cst);
        if (TriggerEvent* trigger = hub->trigger.load(std::memory_order_seq_cst)) {
            trigger->fire();
        }
        hub->users.fetch_sub(1, std::memory_order_release);
    }
    call_earlier(number, info, context);
    errno = before;
}

bool is_ours(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &trueasync_on_signal;
}

bool is_function(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/// Null when a program may wait for it.
const char* why_not(int number) noexcept {
    if (number <= 0 || number > kLast) {
        return "there is no such signal";
    }
    switch (number) {
        case SIGKILL:
        case SIGSTOP:
            return "no program can catch it";
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGTRAP:
        case SIGSYS:
            return "it means a fault in the program, which cannot go on";
        default:
            return nullptr;
    }
}

}  // namespace

class SignalTable {
public:
    static SignalTable& instance() {
        static auto* const table = new SignalTable();  // handlers and threads may still use it at exit
        return *table;
    }

    Status add(SignalWatch& watch, Reactor& reactor) {
        const int number = watch.number_;
        if (const char* reason = why_not(number)) {
            return system_failure(EINVAL, "wait for " + signal_name(number) + ", but " + reason);
        }
        // Made outside the lock, which a fork takes too. Nobody else makes a hub for this loop meanwhile.
        Ref<TriggerEvent> trigger;
        if (!has_hub(reactor)) {
            trigger = TriggerEvent::create(reactor);
            trigger->set_hidden(true);  // keeps nothing alive
            if (Status status = trigger->start(); !status) {
                return status;
            }
        }
        Ref<TriggerEvent> left_over;  // goes after the lock
        const std::lock_guard lock(mutex_);
        SignalHub* hub = trigger == nullptr ? find(reactor) : open(reactor, trigger);
        const auto index = static_cast<std::size_t>(number);
        // What comes from here on counts: it is read before the handler can be there for us.
        watch.seen_ = arrived[index].load(std::memory_order_seq_cst);
        ++hub->total;
        if (hub->counts[index]++ == 0) {
            hub->mask.fetch_or(bit_of(number), std::memory_order_seq_cst);
        }
        if (counts_[index]++ == 0) {
            if (const int failure = install(number); failure != 0) {
                left_over = forget(*hub, number);
                return system_failure(failure, "wait for " + signal_name(number));
            }
        }
        watch.hub_ = hub;
        hub->watches.push_back(watch);
        if (arrived[index].load(std::memory_order_seq_cst) != watch.seen_) {
            hub->owned_trigger->fire();
        }
        return {};
    }

    void remove(SignalWatch& watch) noexcept {
        Ref<TriggerEvent> left_over;
        const std::lock_guard lock(mutex_);
        watch.unlink();
        SignalHub& hub = *std::exchange(watch.hub_, nullptr);
        const auto index = static_cast<std::size_t>(watch.number_);
        if (counts_[index] == 1) {
            restore(watch.number_);
        }
        left_over = forget(hub, watch.number_);
    }

    void reclaim(int number) noexcept {
        const std::lock_guard lock(mutex_);
        struct sigaction present {};
        if (number > 0 && number <= kLast && counts_[static_cast<std::size_t>(number)] != 0 &&
            sigaction(number, nullptr, &present) == 0 && !is_ours(present)) {
            install(number);
        }
    }

private:
    SignalTable() {
        pthread_atfork(
            [] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
            [] {
                instance().after_fork();
                instance().mutex_.unlock();
            }
        );
    }

    static SignalHub* find(const Reactor& reactor) noexcept {
        SignalHub* hub = first_hub.load(std::memory_order_relaxed);
        while (hub != nullptr && hub->reactor != &reactor) {
            hub = hub->next;
        }
        return hub;
    }

    bool has_hub(const Reactor& reactor) noexcept {
        const std::lock_guard lock(mutex_);
        return find(reactor) != nullptr;
    }

    static SignalHub* open(Reactor& reactor, Ref<TriggerEvent> trigger) {
        SignalHub* hub = first_hub.load(std::memory_order_relaxed);
        while (hub != nullptr && hub->reactor != nullptr) {
            hub = hub->next;
        }
        if (hub == nullptr) {
            hub = new SignalHub();
            hub->next = first_hub.load(std::memory_order_relaxed);
            first_hub.store(hub, std::memory_order_release);
        }
        hub->listener = Ref<SignalHub::Listener>::adopt(new SignalHub::Listener(*hub));
        trigger->add_callback(*hub->listener).ignore();  // it has just been started: it is open
        hub->reactor = &reactor;
        hub->thread = std::this_thread::get_id();
        hub->owned_trigger = std::move(trigger);
        hub->trigger.store(hub->owned_trigger.get(), std::memory_order_seq_cst);
        return hub;
    }

    /// One watch less. The last one of a loop gives its hub back; its trigger is returned.
    Ref<TriggerEvent> forget(SignalHub& hub, int number) noexcept {
        const auto index = static_cast<std::size_t>(number);
        --counts_[index];
        if (--hub.counts[index] == 0) {
            hub.mask.fetch_and(~bit_of(number), std::memory_order_seq_cst);
        }
        if (--hub.total != 0) {
            return {};
        }
        hub.trigger.store(nullptr, std::memory_order_seq_cst);
        while (hub.users.load(std::memory_order_seq_cst) != 0) {
            std::this_thread::yield();
        }
        Ref<TriggerEvent> trigger = std::move(hub.owned_trigger);
        const Ref<SignalHub::Listener> listener = std::move(hub.listener);
        trigger->del_callback(*listener);
        hub.reactor = nullptr;
        return trigger;
    }

    /// Zero, or the errno.
    int install(int number) noexcept {
        struct sigaction& previous = previous_[static_cast<std::size_t>(number)];
        struct sigaction action {};
        action.sa_sigaction = &trueasync_on_signal;
        action.sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO;  // a coroutine's stack may be small
        sigfillset(&action.sa_mask);
        if (sigaction(number, nullptr, &previous) == 0) {  // the handler knows it before it can be called
            Earlier& one = earlier[static_cast<std::size_t>(number)];
            const bool takes_info = (previous.sa_flags & SA_SIGINFO) != 0;
            one.takes_info.store(takes_info, std::memory_order_seq_cst);
            one.function.store(
                !is_function(previous) ? nullptr
                : takes_info           ? reinterpret_cast<void*>(previous.sa_sigaction)
                                       : reinterpret_cast<void*>(previous.sa_handler),
                std::memory_order_seq_cst
            );
        }
        return sigaction(number, &action, nullptr) == 0 ? 0 : errno;
    }

    void restore(int number) noexcept {
        struct sigaction present {};
        if (sigaction(number, nullptr, &present) == 0 &&
            is_ours(present)) {  // else the host has put another one there since
            sigaction(number, &previous_[static_cast<std::size_t>(number)], nullptr);
        }
    }

    /// The other threads do not exist here, and what they waited for has its old effect. What came before was the parent's.
    void after_fork() noexcept {
        for (SignalHub* hub = first_hub.load(std::memory_order_relaxed); hub != nullptr; hub = hub->next) {
            hub->users.store(0, std::memory_order_relaxed);
            if (hub->reactor == nullptr) {
                continue;
            }
            if (hub->thread == std::this_thread::get_id()) {
                for (SignalWatch& watch : hub->watches) {
                    watch.take_signals();
                }
                continue;
            }
            hub->mask.store(0, std::memory_order_relaxed);
            hub->trigger.store(nullptr, std::memory_order_relaxed);
            for (int number = 1; number <= kLast; ++number) {
                const auto index = static_cast<std::size_t>(number);
                const std::uint32_t gone = std::exchange(hub->counts[index], 0);
                counts_[index] -= gone;
                if (gone != 0 && counts_[index] == 0) {
                    restore(number);
                }
            }
            hub->reactor =
                reinterpret_cast<Reactor*>(hub);  // not free: its lists belong to a thread that stands still for ever
        }
    }

    std::mutex mutex_;
    std::array<std::uint32_t, kLast + 1> counts_{};
    std::array<struct sigaction, kLast + 1> previous_{};
};

Status SignalWatch::watch_signal(Reactor& reactor) {
    return is_watching_signal() ? Status() : SignalTable::instance().add(*this, reactor);
}

void SignalWatch::unwatch_signal() noexcept {
    if (is_watching_signal()) {
        SignalTable::instance().remove(*this);
    }
}

std::uint64_t SignalWatch::pending_signals() const noexcept {
    return hub_ != nullptr ? arrived[static_cast<std::size_t>(number_)].load(std::memory_order_seq_cst) - seen_ : 0;
}

std::uint64_t SignalWatch::take_signals() noexcept {
    const std::uint64_t count = pending_signals();
    seen_ += count;
    return count;
}

void SignalWatch::poke() noexcept {
    if (hub_ != nullptr) {
        is_poked_ = true;
        hub_->owned_trigger->fire();
    }
}

}  // namespace detail

void set_signal_chain(SignalChain wants) noexcept { detail::chain.store(wants, std::memory_order_relaxed); }

void reclaim_signal(int number) noexcept { detail::SignalTable::instance().reclaim(number); }

std::string signal_name(int number) {
    static constexpr struct {
        int number;
        const char* name;
    } kNames[] = {
        {SIGHUP, "SIGHUP"},
        {SIGINT, "SIGINT"},
        {SIGQUIT, "SIGQUIT"},
        {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"},
        {SIGABRT, "SIGABRT"},
        {SIGBUS, "SIGBUS"},
        {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"},
        {SIGUSR1, "SIGUSR1"},
        {SIGSEGV, "SIGSEGV"},
        {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"},
        {SIGALRM, "SIGALRM"},
        {SIGTERM, "SIGTERM"},
        {SIGCHLD, "SIGCHLD"},
        {SIGCONT, "SIGCONT"},
        {SIGSTOP, "SIGSTOP"},
        {SIGTSTP, "SIGTSTP"},
        {SIGTTIN, "SIGTTIN"},
        {SIGTTOU, "SIGTTOU"},
        {SIGURG, "SIGURG"},
        {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"},
        {SIGVTALRM, "SIGVTALRM"},
        {SIGPROF, "SIGPROF"},
        {SIGIO, "SIGIO"},
        {SIGSYS, "SIGSYS"},
#if defined(SIGWINCH)
        {SIGWINCH, "SIGWINCH"},
#endif
#if defined(SIGPWR)
        {SIGPWR, "SIGPWR"},
#endif
    };
    for (const auto& known : kNames) {
        if (known.number == number) {
            return known.name;
        }
    }
#if defined(SIGRTMIN)
    if (number >= SIGRTMIN && number <= SIGRTMAX) {
        return number == SIGRTMIN ? "SIGRTMIN" : "SIGRTMIN+" + std::to_string(number - SIGRTMIN);
    }
#endif
    return "signal " + std::to_string(number);
}

// --- the event

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Signal, sizeof(SignalEvent));

}  // namespace

SignalEvent::SignalEvent(Reactor& reactor, int number) noexcept
    : ReactorEvent(reactor, EventType::Signal, Firing::Repeating), SignalWatch(number), number_(number) {
    use_own_subscription();
}

Ref<SignalEvent> SignalEvent::create(Reactor& reactor, int number) {
    return Ref<SignalEvent>::adopt(new SignalEvent(reactor, number));
}

Status SignalEvent::enter_loop() { return reactor() != nullptr ? watch_signal(*reactor()) : refuse_ended(); }

Status SignalEvent::add_callback(Callback& callback) {
    Status status = Event::add_callback(callback);
    if (status.ok() && pending_signals() != 0) {  // they came when nobody listened
        poke();
    }
    return status;
}

void SignalEvent::on_signal() noexcept {
    if (callbacks_.empty() || pending_signals() == 0) {
        return;
    }
    count_ = take_signals();
    notify(&number_, nullptr).ignore();
}

std::string SignalEvent::info() const { return "Signal(signum=" + std::to_string(number_) + ")"; }

}  // namespace trueasync
