#pragma once

/// @file trueasync/reactor/loop_return.hpp
/// The way back from other threads to a loop's thread.

#include <memory>
#include <mutex>
#include <thread>
#include <trueasync/base/intrusive_list.hpp>
#include <trueasync/base/status.hpp>
#include <trueasync/reactor/trigger.hpp>

namespace trueasync {

class LoopReturns;

/// Something that is out with another thread and comes back once.
///
/// Life: `expect` (loop's thread), `post` (any thread), then exactly one of `done` (loop's thread) and `drop`. Until then the item
/// must stay alive; whoever waited for it leaves by cutting the item off, not by destroying it.
/// After a fork everything that was out is lost in the child, whose other threads do not exist: there `done` comes at the next turn of
/// the loop, and `is_lost` says so.
class TA_API ReturnItem : private ListNode<ReturnItem> {
public:
    ReturnItem() = default;
    ReturnItem(const ReturnItem&) = delete;
    ReturnItem& operator=(const ReturnItem&) = delete;

    /// It is back, on the loop's thread. The item may be expected anew or destroy itself.
    virtual void done() noexcept = 0;

    /// The loop is closing: forget everything that belongs to it. On the loop's thread, followed by `drop` sooner or later.
    virtual void detach() noexcept = 0;

    /// The loop has closed; nothing more will come. On whichever thread: only free what the item owns, and the item.
    virtual void drop() noexcept = 0;

    /// The loop is closing: takes the item back from where it is. True: nobody will post it. Loop's thread.
    virtual bool recall() noexcept { return false; }

    /// Another thread was changing it when the process forked, and this is the child: it must not even be freed.
    virtual bool is_torn() const noexcept { return false; }

    /// Out, or back and not yet delivered. Loop's thread.
    bool is_expected() const noexcept { return returns_ != nullptr; }

    /// In `done`: the process forked meanwhile and this is the child.
    bool is_lost() const noexcept { return is_lost_; }

    /// Announces the item to the loop of `reactor`. Loop's thread. Refused once the reactor has closed.
    [[nodiscard]] Status expect(Reactor& reactor);

    /// Takes the announcement back: nobody will post. Loop's thread.
    void forget() noexcept;

    /// Sends it home. Any thread, once. The caller must not touch the item afterwards.
    void post() noexcept;

protected:
    virtual ~ReturnItem() = default;

private:
    friend class LoopReturns;
    friend class IntrusiveList<ReturnItem, ReturnItem>;

    std::shared_ptr<LoopReturns> returns_;
    ReturnItem* next_posted_ = nullptr;  // guarded by the mutex of `returns_`
    bool is_posted_ = false;             // the same
    bool is_lost_ = false;
};

/// One per reactor, made when it is first needed: what is out, and what has come back. One hidden trigger serves all; however much
/// comes back before the loop gets to it, the loop is woken once.
class TA_API LoopReturns final : public std::enable_shared_from_this<LoopReturns> {
public:
    /// The one of `reactor`, made when there is none; null when the reactor has closed. Loop's thread.
    static std::shared_ptr<LoopReturns> of(Reactor& reactor);

    LoopReturns(const LoopReturns&) = delete;
    LoopReturns& operator=(const LoopReturns&) = delete;
    ~LoopReturns();

    /// How many items are out or not yet delivered. Loop's thread.
    std::size_t expected() const noexcept { return expected_; }

    // For fork: between the two calls nothing comes back.
    void before_fork() noexcept { mutex_.lock(); }
    void after_fork(bool is_child) noexcept;

private:
    friend class ReturnItem;

    class Listener;

    explicit LoopReturns(Reactor& reactor);
    void deliver() noexcept;
    [[nodiscard]] Status expect(ReturnItem& item);
    void end(ReturnItem& item) noexcept;
    void post(ReturnItem& item) noexcept;
    void close() noexcept;
    void append(ReturnItem& item) noexcept;
    void collect() noexcept;
    void rest() noexcept;

    const std::thread::id thread_ = std::this_thread::get_id();
    Ref<TriggerEvent> trigger_;
    IntrusiveList<ReturnItem, ReturnItem> out_;
    std::size_t expected_ = 0;
    ReturnItem* delivering_ = nullptr;  // taken over by the loop, in order
    bool is_delivering_ = false;
    bool is_closing_ = false;  // on the loop's side, before `is_closed_`

    std::mutex mutex_;
    ReturnItem* posted_ = nullptr;        // guarded by mutex_
    ReturnItem** posted_end_ = &posted_;  // guarded by mutex_
    bool is_closed_ = false;              // guarded by mutex_
};

}  // namespace trueasync
