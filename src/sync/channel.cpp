#include <trueasync/sync/channel.hpp>

#include <algorithm>

namespace trueasync {

using detail::Waiter;

namespace {

[[maybe_unused]] const bool registered = detail::register_event_size(EventType::Channel, sizeof(ChannelEvent));

}  // namespace

std::string_view to_string(ChannelCloseReason reason) noexcept {
    switch (reason) {
        case ChannelCloseReason::Explicit:
            return "explicit";
        case ChannelCloseReason::Disposed:
            return "disposed";
        case ChannelCloseReason::NoProducers:
            return "no producers timeout";
        case ChannelCloseReason::NoConsumers:
            return "no consumers timeout";
        case ChannelCloseReason::Deadlock:
            return "deadlock";
        case ChannelCloseReason::ScopeDisposed:
            return "scope disposed";
    }
    return "unknown";
}

ChannelError::ChannelError(ChannelCloseReason reason)
    : Error(ErrorCode::ChannelClosed, std::string(to_string(ErrorCode::ChannelClosed)), {}), reason_(reason) {}

Ref<Error> ChannelError::make(ChannelCloseReason reason) { return Ref<Error>::adopt(new ChannelError(reason)); }

const ChannelError* ChannelError::of(const Error* error) noexcept {
    return error != nullptr && error->code() == ErrorCode::ChannelClosed ? dynamic_cast<const ChannelError*>(error)
                                                                         : nullptr;
}

/// The timeouts: a timer for each side, which runs while somebody waits there.
class ChannelEvent::Watch final : public StuckHandler {
public:
    Watch(ChannelEvent& channel, const ChannelSettings& settings) noexcept
        : channel_(channel),
          is_hard_(settings.hard_timeouts),
          producers_{settings.no_producer_timeout, ChannelCloseReason::NoProducers, {}},
          consumers_{settings.no_consumer_timeout, ChannelCloseReason::NoConsumers, {}} {}
    ~Watch() override { stop(); }

    void update(bool is_receiving, bool is_somebody_waiting, bool is_new) noexcept {
        Side& side = is_receiving ? producers_ : consumers_;
        if (!is_somebody_waiting) {
            side.disarm();
        } else if (is_new && side.timeout > Duration::zero()) {
            arm(side);
        }
    }

    void stop() noexcept {
        unlink();
        producers_.drop();
        consumers_.drop();
    }

    /// Nothing but the timeouts is left to happen: why wait for them?
    bool relieve() noexcept override {
        if (!producers_.is_armed() && !consumers_.is_armed()) {
            return false;
        }
        channel_.close(ChannelCloseReason::Deadlock);
        return !detail::hot.queue.empty();
    }

private:
    class Expiry final : public Callback {
    public:
        Expiry(ChannelEvent& channel, ChannelCloseReason reason) noexcept : channel_(channel), reason_(reason) {}
        void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { channel_.close(reason_); }

    private:
        ChannelEvent& channel_;  // takes the timer along when it goes
        ChannelCloseReason reason_;
    };

    struct Side {
        Duration timeout;
        ChannelCloseReason reason;
        Ref<TimerEvent> timer;

        bool is_armed() const noexcept { return timer != nullptr && timer->is_in_loop(); }
        void disarm() noexcept {
            if (is_armed()) {
                timer->stop().ignore();
            }
        }
        void drop() noexcept {
            if (timer != nullptr) {
                timer->close();
                timer.reset();
            }
        }
    };

    void arm(Side& side) noexcept {
        Scheduler* scheduler = Scheduler::current();
        if (scheduler == nullptr) {
            return;
        }
        side.disarm();
        if (side.timer == nullptr || side.timer->is_closed()) {
            side.timer = TimerEvent::create(scheduler->reactor(), side.timeout);
            side.timer->set_hidden(!is_hard_);
            const Ref<Expiry> expiry = make_ref<Expiry>(channel_, side.reason);
            side.timer->add_callback(*expiry).ignore();
        }
        side.timer->start().ignore();  // without memory for it the wait is as long as it is
        if (!is_hard_ && !is_linked()) {
            scheduler->add_stuck_handler(*this);
        }
    }

    ChannelEvent& channel_;
    bool is_hard_;
    Side producers_;
    Side consumers_;
};

ChannelEvent::ChannelEvent(const ChannelSettings& settings) noexcept
    : Event(EventType::Channel, Firing::Repeating), capacity_(settings.capacity) {
    if (settings.no_producer_timeout > Duration::zero() || settings.no_consumer_timeout > Duration::zero()) {
        watch_ = std::make_unique<Watch>(*this, settings);
        is_plain_ = false;
    }
    if (Owner* owner = settings.has_owner ? Scheduler::current_owner() : nullptr) {
        owner->attach(belonging_);
    }
}

ChannelEvent::~ChannelEvent() = default;

void ChannelEvent::set_room(std::uint32_t room) noexcept {
    if (place_limit_ != 0) {
        place_limit_ = std::min(room, place_count());
    }
}

// --- waiting

void ChannelEvent::enter(Waiter& waiter, std::uint8_t kind) noexcept {
    if (kind == kReceiver) {
        receivers_.push_back(waiter);
        update_watch(receivers_, true);
        return;
    }
    if (kind == kSender) {
        senders_.push_back(waiter);
    } else if (kind == kOffer) {
        offers_.push_back(waiter);
        note_offers();
    } else {
        put(waiter.value());
        placed_ = &waiter;
        announce();  // no receiver waits, but somebody may watch
    }
    update_watch(senders_, true);
}

void ChannelEvent::leave(Waiter& waiter, std::uint8_t kind) noexcept {
    if (waiter.is_served()) {
        if (kind == kReceiver) {
            hand_on_value();
        } else if (kind == kSender) {
            hand_on_place();
        }
        return;
    }
    if (!waiter.is_waiting()) {
        return;
    }
    if (kind == kReceiver) {
        receivers_.remove(waiter);
        update_watch(receivers_, false);
    } else if (kind == kSender) {
        senders_.remove(waiter);
        update_watch(senders_, false);
    } else if (kind == kOffer) {
        offers_.remove(waiter);
        note_offers();
        update_watch(senders_, false);
    } else {
        withdraw();
        serve_place();
        update_watch(senders_, false);
    }
}

void ChannelEvent::abandon(Coroutine& coroutine, std::uint8_t kind) noexcept {
    if (kind == kPlaced) {
        if (placed_ != nullptr && placed_->is_of(coroutine)) {
            leave(*placed_, kind);
        }
    } else if (Waiter* waiter = (kind == kReceiver ? receivers_ : senders_).find(coroutine)) {
        leave(*waiter, kind);
    } else if (kind == kReceiver && held() > free_values_) {  // it was told: in a closed channel perhaps that there is nothing
        hand_on_value();
    } else if (kind == kSender && reserved_places_ != 0) {
        hand_on_place();
    }
}

bool ChannelEvent::is_waiting(const Coroutine& coroutine, std::uint8_t kind) const noexcept {
    if (kind == kPlaced) {
        return placed_ != nullptr && placed_->is_of(coroutine);
    }
    return (kind == kReceiver ? receivers_ : senders_).find(coroutine) != nullptr;
}

/// Gives the value that lies there back to its sender.
void ChannelEvent::withdraw() noexcept {
    take_back(std::exchange(placed_, nullptr)->value());
    --free_values_;
}

void ChannelEvent::hand_on_value() noexcept {
    if (!receivers_.empty()) {
        serve_first(receivers_);
        return;
    }
    ++free_values_;
    if (!callbacks_.is_vacant()) {
        fire();
    }
}

void ChannelEvent::hand_on_place() noexcept {
    --reserved_places_;
    serve_place();
}

void ChannelEvent::serve_place() noexcept {
    if (!senders_.empty() && has_free_place()) {
        ++reserved_places_;
        serve_first(senders_);
    } else if (TA_UNLIKELY(!offers_.empty())) {
        match_offers();
    }
}

bool ChannelEvent::take_offer() noexcept {
    if (!has_free_place()) {
        return false;
    }
    Waiter* offer = nullptr;
    offers_.each([&offer](Waiter& one) {
        if (offer == nullptr && !one.group()->is_over()) {
            offer = &one;
        }
    });
    if (offer == nullptr) {
        return false;
    }
    ++free_values_;
    accept(*offer);
    return true;
}

/// Takes the value of an offer into the slot.
void ChannelEvent::accept(Waiter& offer) noexcept {
    offers_.remove(offer);
    note_offers();
    put(offer.value());
    offer.tell(Waiter::State::Served);
    update_watch(senders_, true);
}

/// The slot has become free while receivers wait: the first pair that may meet.
void ChannelEvent::match_offers() noexcept {
    if (!has_free_place()) {
        return;
    }
    Waiter* offer = nullptr;
    Waiter* receiver = nullptr;
    offers_.each([&](Waiter& one) {
        receivers_.each([&](Waiter& other) {
            if (receiver == nullptr && one.group() != other.group() && !one.group()->is_over()) {
                offer = &one;
                receiver = &other;
            }
        });
    });
    if (receiver == nullptr) {
        return;
    }
    receivers_.remove(*receiver);
    accept(*offer);
    update_watch(receivers_, true);
    receiver->tell(Waiter::State::Served);
}

void ChannelEvent::serve_senders() noexcept {
    if (placed_ != nullptr) {
        std::exchange(placed_, nullptr)->tell(Waiter::State::Served);
        update_watch(senders_, true);
    }
    serve_place();
}

WaitResult ChannelEvent::wait_in(
    detail::WaitPlace<ChannelEvent>& place,
    void* value,
    const WaitLimit& limit,
    std::source_location where,
    bool& is_served
) noexcept {
    return detail::wait_in_line(place, value, limit, where, is_plain_ && callbacks_.is_vacant(), is_served);
}

WaitResult ChannelEvent::refuse_closed() const noexcept {
    return Scheduler::refuse(closed_error(), WaitResult::Failed);
}

WaitResult ChannelEvent::end_claim(Waiter& waiter, std::source_location where) noexcept {
    if (const WaitResult result = Scheduler::arrived(*Scheduler::current_coroutine()); result != WaitResult::Ready) {
        leave(waiter, kReceiver);
        return result;
    }
    if (waiter.is_served()) {
        return WaitResult::Ready;
    }
    leave(waiter, kReceiver);
    return claim({}, where);
}

WaitResult ChannelEvent::claim_slow(std::source_location where) noexcept { return claim({}, where); }

WaitResult ChannelEvent::claim(const WaitLimit& limit, std::source_location where) noexcept {
    if (const WaitResult result = detail::check_limit(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const WaitLimit rest = detail::fix_limit(limit);
    for (;;) {
        if (try_claim()) {
            return WaitResult::Ready;
        }
        if (is_closed()) {
            return refuse_closed();
        }
        bool is_served = false;
        const WaitResult result = wait_in(receiving_, nullptr, rest, where, is_served);
        if (result != WaitResult::Ready || is_served) {
            return result;
        }
    }
}

bool ChannelEvent::try_claim() noexcept {
    if (!has_free_value() && !pull_offer()) {
        return false;
    }
    if (held() != free_values_) {
        bring_forward(held() - free_values_);
    }
    --free_values_;
    return true;
}

WaitResult ChannelEvent::try_deliver(void* value, bool has_place) noexcept {
    if (is_closed()) {
        return refuse_closed();
    }
    const std::uint32_t others = reserved_places_ - (has_place ? 1U : 0U);
    if (held() + others >= place_count() || (capacity_ == 0 && receivers_.empty())) {
        return WaitResult::TimedOut;
    }
    if (!put(value)) {
        return Scheduler::refuse(ErrorCode::OutOfMemory, "no memory for one more value of a channel");
    }
    reserved_places_ = others;
    announce();
    return WaitResult::Ready;
}

WaitResult ChannelEvent::send_slow(void* value, std::source_location where) noexcept {
    return send_long(value, {}, where);
}

WaitResult ChannelEvent::send_long(void* value, const WaitLimit& limit, std::source_location where) noexcept {
    if (const WaitResult result = detail::check_limit(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const WaitLimit rest = detail::fix_limit(limit);
    for (;;) {
        if (is_closed()) {
            return refuse_closed();
        }
        if (held() + reserved_places_ < place_count()) {
            break;
        }
        bool is_served = false;
        const WaitResult result = wait_in(sending_, value, rest, where, is_served);
        if (result != WaitResult::Ready) {
            return result;
        }
        if (is_served) {
            --reserved_places_;
        }
    }
    if (capacity_ == 0 && receivers_.empty()) {
        bool is_served = false;
        const WaitResult result = wait_in(placing_, value, rest, where, is_served);
        if (result != WaitResult::Ready || is_served) {
            serve_place();  // for the next, if this one could not even begin
            return result;
        }
        return refuse_closed();
    }
    if (!put(value)) {
        serve_place();
        return Scheduler::refuse(ErrorCode::OutOfMemory, "no memory for one more value of a channel");
    }
    announce();
    return WaitResult::Ready;
}

// --- closing

void ChannelEvent::close(ChannelCloseReason reason) noexcept {
    if (place_limit_ == 0) {
        return;
    }
    const Ref<Event> self(is_ending() ? nullptr : this);  // who is told may drop the last one
    reason_ = reason;
    place_limit_ = 0;
    is_plain_ = false;
    belonging_.unlink();
    if (watch_ != nullptr) {
        watch_->stop();
    }
    if (!callbacks_.empty()) {
        const Ref<Error> error = has_free_value() ? nullptr : closed_error();
        notify(nullptr, error.get()).ignore();
    }
    Event::close();
    while (!receivers_.empty()) {
        receivers_.pop_front().tell(Waiter::State::Ended);
    }
    if (Waiter* placed = placed_) {
        withdraw();
        placed->tell(Waiter::State::Ended);
    }
    while (!senders_.empty()) {
        senders_.pop_front().tell(Waiter::State::Ended);
    }
    while (!offers_.empty()) {
        offers_.pop_front().tell(Waiter::State::Ended);
    }
}

void ChannelEvent::update_watch(const detail::WaiterList& list, bool is_new) noexcept {
    if (watch_ != nullptr && place_limit_ != 0) {
        const bool is_receiving = &list == &receivers_;
        const bool is_more = !is_receiving && (placed_ != nullptr || !offers_.empty());
        watch_->update(is_receiving, !list.empty() || is_more, is_new);
    }
}

// --- as an event

void ChannelEvent::fire() noexcept { notify(nullptr, nullptr).ignore(); }

bool ChannelEvent::replay(Callback* callback, void** result, Ref<Error>* error) {
    if (!is_closed()) {
        return false;
    }
    const Ref<Error> closed = has_free_value() ? nullptr : closed_error();
    return hand_out(nullptr, closed.get(), callback, result, error);
}

std::string ChannelEvent::info() const {
    return "Channel(capacity=" + std::to_string(capacity_) + ", receivers=" + std::to_string(waiting_receivers()) +
           ", senders=" + std::to_string(waiting_senders()) + ", reserved=" + std::to_string(reserved_values()) + "/" +
           std::to_string(reserved_places_) + ")";
}

}  // namespace trueasync
