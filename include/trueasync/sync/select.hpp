#pragma once

/// @file trueasync/sync/select.hpp
/// Waiting for the first of several channel operations and events.

#include <span>
#include <trueasync/sync/channel.hpp>

namespace trueasync {

class Selection;

inline constexpr std::size_t kNoCase = SIZE_MAX;

/// One thing that a select may do. Lies on the stack of the one who selects; for one select at a time.
class TA_API SelectCase {
public:
    SelectCase(const SelectCase&) = delete;
    SelectCase& operator=(const SelectCase&) = delete;

protected:
    SelectCase() noexcept = default;
    virtual ~SelectCase() = default;

private:
    friend class Selection;

    /// Does it, if that needs no waiting. `TimedOut`: not now; everything else is the result of the select.
    virtual WaitResult attempt() noexcept = 0;
    /// Takes part in a wait.
    virtual void enter(Selection& selection) noexcept = 0;
    /// Takes no part any more; what it was served with goes to others.
    virtual void leave() noexcept {}
    /// It was told, and its coroutine runs: as `attempt`.
    virtual WaitResult finish() noexcept { return attempt(); }
    /// Of those that an event fires.
    virtual bool is_for(const Event* /*event*/) const noexcept { return false; }
    virtual void describe(std::vector<std::string>& /*lines*/) const {}

    std::size_t turn_ = 0;  // of all cases of a select: in which order they are tried
};

/// Sends to a channel or receives from it.
class TA_API ChannelCase : public SelectCase, protected detail::Waiter {
protected:
    ChannelCase(ChannelEvent& channel, std::uint8_t kind, void* value = nullptr) noexcept
        : Waiter(&ChannelCase::told, value), channel_(channel), kind_(kind) {
        give_up();
    }

    ChannelEvent& channel_;
    const std::uint8_t kind_;

private:
    void enter(Selection& selection) noexcept final;
    void leave() noexcept final;
    void describe(std::vector<std::string>& lines) const final { lines.push_back(channel_.info()); }
    static void told(Waiter& waiter, State state) noexcept;

    Selection* selection_ = nullptr;  // while it takes part
};

/// Receives. When it was chosen the value is the caller's own, to be taken at once with `ChannelOf::take_claimed`.
class TA_API ReceiveCase final : public ChannelCase {
public:
    explicit ReceiveCase(ChannelEvent& channel) noexcept : ChannelCase(channel, ChannelEvent::kReceiver) {}
    ~ReceiveCase() override = default;

private:
    WaitResult attempt() noexcept override;
    WaitResult finish() noexcept override;
};

/// Sends. When it was chosen `value` was moved from; else it is as it was.
class TA_API SendCase final : public ChannelCase {
public:
    template <typename T>
    SendCase(ChannelOf<T>& channel, T& value) noexcept
        : ChannelCase(channel, channel.capacity() == 0 ? ChannelEvent::kOffer : ChannelEvent::kSender, &value) {}
    ~SendCase() override = default;

private:
    WaitResult attempt() noexcept override;
    WaitResult finish() noexcept override;
};

/// Any event that fires: a timer, the end of a coroutine, a future, a descriptor. One that has an error makes the select `Failed` with it.
class TA_API EventCase final : public SelectCase {
public:
    explicit EventCase(Event& event) noexcept : event_(event) {}
    ~EventCase() override = default;

private:
    WaitResult attempt() noexcept override;
    void enter(Selection& selection) noexcept override;
    bool is_for(const Event* event) const noexcept override { return event == &event_; }

    Event& event_;
};

/// Waits until one of the cases can be done, and does it. May suspend. Nothing else is taken or sent, however it ends: what a case was
/// served with that was not chosen goes to others.
///
/// `chosen` tells which one was done (`Ready`) or has failed (its channel is closed, its event came with an error); it is `kNoCase` when
/// none was, and something else has ended the select. Among several that are ready chance decides, each alike: see `seed_select`.
/// A select does not meet itself: it may both send to a channel and receive from it. On an unbuffered channel those who wait in `send`
/// go before it.
/// Cancel rule: as for `send` and `recv` of a channel.
TA_API WaitResult select(
    std::span<SelectCase* const> cases,
    std::size_t& chosen,
    const WaitLimit& limit = {},
    std::source_location where = std::source_location::current()
) noexcept;

/// The same without waiting. `TimedOut`: none can be done now. Never suspends.
TA_API WaitResult try_select(std::span<SelectCase* const> cases, std::size_t& chosen) noexcept;

/// Makes the choices of this thread repeatable.
TA_API void seed_select(std::uint64_t seed) noexcept;

}  // namespace trueasync
