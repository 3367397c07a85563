#pragma once

#include <uv.h>
#include <memory>
#include <trueasync/reactor/io_reactor.hpp>
#include <trueasync/reactor/timer_heap.hpp>
#include <trueasync/reactor/trigger.hpp>

namespace trueasync::detail {

/// libuv's loop, our own timers and triggers. How it sleeps is left to the two backends.
class UvReactor : public IoReactor {
public:
    explicit UvReactor(bool is_level_triggered);
    ~UvReactor() override;

    Instant now() noexcept final { return Instant(Duration(static_cast<std::int64_t>(uv_hrtime()))); }
    bool is_alive() const noexcept final;
    Status arm(TimerNode& node, Instant when) final { return timers_.insert(node, when); }
    void disarm(TimerNode& node) noexcept final { timers_.remove(node); }
    void wake_up() noexcept final { triggers_->wake(); }
    TriggerQueue& triggers() noexcept final { return *triggers_; }
    void* native_loop() noexcept final;
    std::vector<std::string> close() final;

    /// False when the system refuses; errno says why.
    bool open() noexcept;

protected:
    /// Opens what the backend sleeps on, around or inside libuv's loop. False: errno says why.
    virtual bool open_backend() noexcept = 0;
    /// Closes as much of it as was opened.
    virtual void close_backend() noexcept = 0;
    /// In the child of a fork: libuv's loop and the wake descriptor are new, the latter under its old number.
    virtual bool fork_backend() noexcept = 0;

    /// Backends call it in their destructors: the base class could no longer reach them.
    void close_loop() noexcept;

    /// What a child has inherited in the kernel belongs to the parent too.
    [[nodiscard]] Status notice_fork() noexcept final { return TA_LIKELY(!is_forked()) ? Status() : after_fork(); }

    /// What is due by now. `rough_now` is not long ago, or nothing far can have come near since.
    void deliver() noexcept;

    uv_loop_t loop_{};
    TimerHeap timers_;
    const Ref<TriggerQueue> triggers_;
    bool is_loop_used_ = false;    // somebody has asked for libuv's loop; until then it has nothing to do
    bool is_fresh_child_ = false;  // nothing may sleep before the first turn has looked at everything

private:
    bool is_forked() const noexcept;
    TA_COLD Status after_fork() noexcept;

    std::uint32_t fork_generation_ = 0;
    bool is_open_ = false;
};

std::unique_ptr<UvReactor> make_portable_reactor();
#if defined(__linux__)
std::unique_ptr<UvReactor> make_epoll_reactor();
#endif

}  // namespace trueasync::detail
