#pragma once

/// @file trueasync/event/event.hpp
/// The base of everything one can wait for.

#include <cstddef>
#include <string>
#include <trueasync/base/slab.hpp>
#include <trueasync/base/status.hpp>
#include <trueasync/event/callback_list.hpp>
#include <trueasync/event/event_flags.hpp>
#include <trueasync/event/event_types.hpp>
#include <trueasync/event/host_objects.hpp>

namespace trueasync {

class Event;

/// The first words of an event and of an `EventRef`: enough to tell which of the two it is.
class TA_API EventHeader {
public:
    EventHeader(const EventHeader&) = delete;
    EventHeader& operator=(const EventHeader&) = delete;

    bool has(EventFlag flag) const noexcept { return (flags_ & bit(flag)) != 0; }

    /// The event itself, also when this is a reference to one. Null when the reference is empty.
    Event* resolve() noexcept;

    /// The host's object that this is part of; null for counted objects.
    void* host_object() noexcept {
        return has(EventFlag::HostObject) ? reinterpret_cast<std::byte*>(this) - count_or_offset_ : nullptr;
    }

protected:
    explicit EventHeader(std::uint32_t flags, std::int32_t references = 1) noexcept
        : flags_(flags), count_or_offset_(references) {}
    virtual ~EventHeader() = default;

    void set(EventFlag flag) noexcept { flags_ |= bit(flag); }
    void clear(EventFlag flag) noexcept { flags_ &= ~bit(flag); }

    std::uint32_t flags_;               // flags 0-10, state 16-18, traits 14, 15 and 19-23, type 24-31
    std::uint32_t extra_offset_ = 0;    // where additional data lies, counted from the event
    std::int32_t count_or_offset_;      // references; with `HostObject` the distance from the host's object, below zero
    std::uint32_t loop_ref_count_ = 0;  // how many want it in the loop
};

/// How many visible events are in a loop; what deadlock detection reads. The reactor owns one.
struct ActiveEvents {
    std::size_t visible = 0;
    std::size_t hidden = 0;
};

/// Whether an event fires once and is then closed, or may fire again.
enum class Firing : std::uint8_t { OneShot, Repeating };

/// Something that may happen, and those who want to know: coroutine, future, channel, timer, descriptor, signal.
///
/// Thread rule: an event belongs to the thread of its runtime; only `TriggerEvent::fire` may be called elsewhere.
/// Lifetime: counted (born with one reference, ended by the last `release`), or an object of the host (flag
/// `HostObject`) which then counts; the storage may belong to somebody else (`NoFreeMemory`). While it notifies, an
/// event holds a reference to itself.
/// Cancel rule: a waiter that leaves unsubscribes and stops what it started; the event goes on for the others.
///
/// @snippet unit/event/event_test.cpp  late_subscriber
class TA_API Event : public EventHeader {
public:
    /// What a notify handler decides.
    enum class Notify : std::uint8_t { Continue, Stop };

    /// Called before the callbacks; may change result and error, or stop the notification. The end of a coroutine or a future cannot
    /// be stopped: whoever waits is told all the same.
    using NotifyHandler = Notify (*)(Event& event, void*& result, Error*& error);

    // --- the eight methods

    /// Subscribes. Refused with `EventClosed` once closed (ask `replay` then).
    [[nodiscard]] virtual Status add_callback(Callback& callback);

    /// Unsubscribes and calls the callback's `dispose`. False when it was not subscribed.
    virtual bool del_callback(Callback& callback) noexcept;

    /// Puts the event into its loop. Events that need none do nothing. Counted: each start wants its stop.
    [[nodiscard]] virtual Status start();

    /// Undoes one start; the last one takes the event out of the loop.
    [[nodiscard]] virtual Status stop();

    /// Gives a late subscriber the result of a completed event: calls `callback` at once, or copies result and error
    /// out, whichever pointers are given. False when there is nothing to replay.
    virtual bool replay(Callback* callback, void** result, Ref<Error>* error);

    /// Gives up one reference; the last one ends the event. `release` comes here for the last one only; types that
    /// override this say `use_own_dispose`.
    virtual void dispose() noexcept;

    /// One line for a person: what this is and what state it is in.
    virtual std::string info() const;

    void set_notify_handler(NotifyHandler handler) noexcept {
        notify_handler_ = handler;
        flags_ = handler != nullptr ? flags_ | kHandlerTrait : flags_ & ~kHandlerTrait;
    }
    NotifyHandler notify_handler() const noexcept { return (flags_ & kHandlerTrait) != 0 ? notify_handler_ : nullptr; }

    // --- firing and closing

    /// Fires: the handler, then everyone subscribed; then a one-shot event closes and a repeating one returns to where it
    /// was. Refused when closed, for loop events that are not active, and for coroutines and futures, which end by themselves.
    Status notify(void* result, Error* error) {
        // The common case: an event that stays open and has one coroutine waiting, which is only queued.
        if (Callback* only = callbacks_.only();
            TA_LIKELY(only != nullptr && only->is_single_wake() && (flags_ & kFiringBits) == kRepeatingTrait)) {
            callbacks_.take_only();
            only->call(*this, result, error);
            return {};
        }
        return notify_slow(result, error);
    }

    /// Ends the event's life: nothing fires any more, subscribers are let go. Closing twice does nothing. A coroutine or a future that
    /// has not ended stays as it is; that somebody tried is reported.
    void close() noexcept;

    // --- counting

    void add_ref() noexcept {
        if (TA_LIKELY(!has(EventFlag::HostObject))) {
            ++count_or_offset_;
        } else {
            host_objects().add_ref(host_object());
        }
    }
    TA_INLINE void release() noexcept {
        if (TA_UNLIKELY(!release_shared())) {
            release_last();
        }
    }
    /// Gives up a reference that is not the last one. False: nothing was done; it may be the last, or the host counts.
    TA_INLINE bool release_shared() noexcept {
        if (TA_LIKELY(count_or_offset_ > 1)) {
            --count_or_offset_;
            return true;
        }
        return false;
    }
    std::uint32_t ref_count() const noexcept;

    /// `release` when this is likely the last reference.
    __attribute__((noinline)) void release_last() noexcept {
        if (TA_LIKELY(can_end_easily())) {
            end_easily();  // complete, taken, nothing held: as `dispose` would
        } else {
            release_slow();
        }
    }

    /// Ends a host-managed event when the host frees its object: runs the destructor, frees no memory.
    void host_free() noexcept { destroy(); }

    // --- what it is

    EventType type() const noexcept { return static_cast<EventType>(flags_ >> kTypeShift); }
    EventState state() const noexcept { return static_cast<EventState>(flags_ >> kStateShift & kStateMask); }
    bool is_closed() const noexcept { return has(EventFlag::Closed); }
    bool is_hidden() const noexcept { return has(EventFlag::Hidden); }
    /// The last reference has gone.
    bool is_ending() const noexcept { return (flags_ & kEndingTrait) != 0; }
    bool is_in_loop() const noexcept { return loop_ref_count_ != 0; }
    std::uint32_t loop_ref_count() const noexcept { return loop_ref_count_; }
    std::size_t callback_count() const noexcept { return callbacks_.size(); }
    const CallbackList& callbacks() const noexcept { return callbacks_; }

    /// True when `start` and `stop` do nothing for this type, so that a waiter need not call them.
    bool is_passive() const noexcept { return (flags_ & kLoopTrait) == 0; }

    /// True when subscribing is just that: an open event that needs no start, with the subscription of this class.
    bool is_simple() const noexcept { return (flags_ & (kLoopTrait | kOwnSubscriptionTrait | kClosedBit)) == 0; }

    /// The descriptor that `CloseDescriptor` speaks of; -1 when there is none.
    virtual int descriptor() const noexcept { return -1; }

    // --- flags that others may set

    void mark_result_used() noexcept {
        if (!has(EventFlag::ResultUsed)) {
            set(EventFlag::ResultUsed);
        }
    }
    void mark_exception_caught() noexcept { set(EventFlag::ExceptionCaught); }
    void mark_exception_handled() noexcept { set(EventFlag::ExceptionHandled); }
    void mark_host_value_result() noexcept { set(EventFlag::HostValueResult); }
    void mark_close_descriptor() noexcept { set(EventFlag::CloseDescriptor); }
    void mark_no_free_memory() noexcept { set(EventFlag::NoFreeMemory); }

    /// Hides or shows the event; corrects the count when it is in the loop.
    void set_hidden(bool hidden) noexcept;

    /// Hands counting to the host, whose object lies `offset` bytes behind the start of the event. The first
    /// reference is the host's own.
    void become_host_object(std::uint32_t offset) noexcept;

    /// Takes a reference to a host object, kept in the pointer at `offset` behind the event and released at its end.
    void hold_host_object(std::uint32_t offset) noexcept;

    std::uint32_t extra_offset() const noexcept { return extra_offset_; }

    // Events come from the slab; a host constructs them in place instead.
    static void* operator new(std::size_t size) { return Slab::allocate(size); }
    static void* operator new(std::size_t /*size*/, void* place) noexcept { return place; }
    static void operator delete(void* memory, std::size_t size) noexcept { Slab::release(memory, size); }
    static void operator delete(void* /*memory*/, void* /*place*/) noexcept {}

protected:
    explicit Event(EventType type, Firing firing = Firing::OneShot, std::int32_t references = 1) noexcept
        : EventHeader(
              static_cast<std::uint32_t>(type) << kTypeShift | (firing == Firing::Repeating ? kRepeatingTrait : 0),
              references
          ) {}
    ~Event() override = default;

    /// For loop events: the real work of the first start and of the last stop.
    [[nodiscard]] virtual Status enter_loop() { return {}; }
    virtual void leave_loop() noexcept {}

    /// Asked when a notify handler has stopped the notification of a one-shot loop event: whether it may still fire. If not, it leaves
    /// the loop.
    virtual bool fires_again() const noexcept { return false; }

    /// A closed event may say why; part of every refusal. Null when there is nothing to say.
    virtual const char* why_closed() const noexcept { return nullptr; }

    /// Where a loop event is counted; null for events that need no loop.
    virtual ActiveEvents* active_events() noexcept { return nullptr; }

    /// Asked at the end, when `ResultUsed` is not set.
    virtual bool has_unused_result() const noexcept { return false; }

    /// Asked at the end, when neither `ExceptionCaught` nor `ExceptionHandled` is set.
    virtual Error* unhandled_error() const noexcept { return nullptr; }

    /// Where an unhandled error goes: to the sink, unless a type knows better.
    virtual void report_unhandled(Error& error) noexcept;

    /// Runs the destructor and frees the memory, for an event that holds nothing any more. A type whose destructor would have nothing
    /// to do may only free.
    virtual void end_easily() noexcept;

    bool can_end_easily() const noexcept { return (flags_ & kEndBits) == kEasyEnd && count_or_offset_ == 1; }

    /// Last words of a loop event, while the object is still whole.
    virtual void on_destroy() noexcept {}

    /// Asked at the end of loop events, after closing. True: the loop still uses the memory and will call `finish_destroy` when it has
    /// let go (libuv handles close asynchronously).
    virtual bool close_async() noexcept { return false; }

    /// The loop has let go: runs the destructor and frees the memory.
    void finish_destroy() noexcept;

    /// The end of every `replay`: gives `value` and `failure` to whoever asks, and notes that they were taken. True.
    bool hand_out(void* value, Error* failure, Callback* callback, void** result, Ref<Error>* error);

    /// `notify` for the type itself.
    Status fire(void* result, Error* error);

    /// Constructors of loop events call this: `start` and `stop` then count and reach `enter_loop`, `leave_loop`.
    void use_loop() noexcept { flags_ |= kLoopTrait; }

    /// Constructors of types that override `add_callback` or `del_callback` call this.
    void use_own_subscription() noexcept { flags_ |= kOwnSubscriptionTrait; }

    /// Constructors of types that override `dispose` call this.
    void use_own_dispose() noexcept { flags_ |= kOwnDisposeTrait; }

    /// Warns about an unused result or an unhandled error, once.
    void report_leftovers() noexcept;

    CallbackList callbacks_;

    /// There was more than one subscriber, or the type has more to look at when it ends. Without it a closed event holds nothing of
    /// which its base classes would have to let go.
    static constexpr std::uint32_t kSpecialTrait = 1U << 14;

private:
    friend class EventHeader;
    friend class Scheduler;
    friend class Waker;

    static constexpr unsigned kStateShift = 16;
    static constexpr std::uint32_t kStateMask = 7;
    static constexpr std::uint32_t kOwnDisposeTrait = 1U << 15;
    static constexpr std::uint32_t kEndingTrait = 1U << 19;  // the last reference is gone: borrowing ends nothing
    static constexpr std::uint32_t kRepeatingTrait = 1U << 20;
    static constexpr std::uint32_t kLoopTrait = 1U << 21;
    static constexpr std::uint32_t kOwnSubscriptionTrait = 1U << 22;
    static constexpr std::uint32_t kHandlerTrait = 1U << 23;  // a notify handler is set
    static constexpr std::uint32_t kClosedBit = bit(EventFlag::Closed);
    static constexpr std::uint32_t kFiringBits = kRepeatingTrait | kLoopTrait | kHandlerTrait | kClosedBit;
    /// What has to be looked at when the last reference goes, and how it looks when there is nothing to do.
    static constexpr std::uint32_t kEasyEnd =
        bit(EventFlag::Closed) | bit(EventFlag::ResultUsed) | bit(EventFlag::ExceptionCaught);
    static constexpr std::uint32_t kEndBits = kEasyEnd | bit(EventFlag::HostObject) | bit(EventFlag::NoFreeMemory) |
                                              bit(EventFlag::ObjectRef) | bit(EventFlag::CloseDescriptor) | kLoopTrait |
                                              kOwnDisposeTrait | kEndingTrait;
    static constexpr unsigned kTypeShift = 24;

    void move_to(EventState state) noexcept {
        flags_ = (flags_ & ~(kStateMask << kStateShift)) | static_cast<std::uint32_t>(state) << kStateShift;
    }
    Status notify_slow(void* result, Error* error);
    /// Only the type itself knows its end.
    bool ends_itself() const noexcept { return type() == EventType::Coroutine || type() == EventType::Future; }
    Status refuse(ErrorCode code, const char* what) const;
    void leave_loop_now() noexcept;
    void let_go() noexcept;
    void release_slow() noexcept;
    void destroy() noexcept;

    NotifyHandler notify_handler_;  // means nothing without its trait
};

}  // namespace trueasync
