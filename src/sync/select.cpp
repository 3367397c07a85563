#include <trueasync/sync/select.hpp>

namespace trueasync {

namespace {

thread_local constinit std::uint64_t choices = 0x9E3779B97F4A7C15ULL;

/// xorshift64*: plenty for an order.
std::size_t choose(std::size_t count) noexcept {
    choices ^= choices >> 12;
    choices ^= choices << 25;
    choices ^= choices >> 27;
    return static_cast<std::size_t>((choices * 0x2545F4914F6CDD1DULL) >> 33) % count;
}

}  // namespace

void seed_select(std::uint64_t seed) noexcept { choices = seed != 0 ? seed : 1; }

/// One wait of a select.
class Selection final : public DirectWait, public detail::WaiterGroup {
public:
    Selection(std::span<SelectCase* const> cases, std::source_location where) noexcept
        : DirectWait(where, kSelect), cases_(cases) {}

    /// `TimedOut` with `is_over` unset: look again.
    WaitResult run(const WaitLimit& limit, std::size_t& chosen, bool& is_over) noexcept;

    /// One attempt at each case, in any order.
    static WaitResult attempt_all(std::span<SelectCase* const> cases, std::size_t& chosen) noexcept;

    void told(SelectCase& one) noexcept;

    /// Something has woken it.
    bool is_over() const noexcept override { return is_decided() || coroutine()->is_queued(); }

private:
    static const Kind kSelect;

    bool is_decided() const noexcept { return winner_ != nullptr || fired() != nullptr; }
    void leave_all_but(const SelectCase* one) noexcept {
        for (SelectCase* other : cases_) {
            if (other != one) {
                other->leave();
            }
        }
    }

    std::span<SelectCase* const> cases_;
    SelectCase* winner_ = nullptr;
};

const Wait::Kind Selection::kSelect = {
    [](const Wait& wait, std::vector<std::string>& lines) {
        const auto& self = static_cast<const Selection&>(wait);
        for (const SelectCase* one : self.cases_) {
            one->describe(lines);
        }
        self.describe_guard(lines);
    },
    [](Wait& wait, Coroutine& /*coroutine*/) noexcept {
        auto& self = static_cast<Selection&>(wait);
        self.leave_all_but(nullptr);
        self.leave();
    },
    [](const Wait& wait, const Coroutine& /*coroutine*/) noexcept {
        return static_cast<const Selection&>(wait).is_decided();
    },
};

/// The first that is told wins. An event that has fired before it has won already.
void Selection::told(SelectCase& one) noexcept {
    if (is_decided()) {
        one.leave();
        return;
    }
    winner_ = &one;
    leave_all_but(&one);
    wake();
}

WaitResult Selection::attempt_all(std::span<SelectCase* const> cases, std::size_t& chosen) noexcept {
    for (std::size_t i = 0; i < cases.size(); ++i) {  // a shuffle
        const std::size_t other = choose(i + 1);
        cases[i]->turn_ = cases[other]->turn_;
        cases[other]->turn_ = i;
    }
    for (const SelectCase* place : cases) {
        const std::size_t index = place->turn_;
        if (const WaitResult result = cases[index]->attempt(); result != WaitResult::TimedOut) {
            chosen = index;
            return result;
        }
    }
    return WaitResult::TimedOut;
}

WaitResult Selection::run(const WaitLimit& limit, std::size_t& chosen, bool& is_over) noexcept {
    is_over = true;
    if (result() != WaitResult::Ready) {
        return result();
    }
    limit.add_to(*this);  // first: of two that have fired already it counts
    for (SelectCase* one : cases_) {
        if (!is_decided()) {
            one->enter(*this);
        }
    }
    const WaitResult outcome = park(limit.deadline());
    if (outcome != WaitResult::Ready || winner_ == nullptr) {
        leave_all_but(nullptr);
    }
    if (outcome != WaitResult::Ready) {
        return outcome;
    }
    for (std::size_t i = 0; i < cases_.size(); ++i) {
        if (winner_ != nullptr ? cases_[i] == winner_ : fired() != nullptr && cases_[i]->is_for(fired()->event())) {
            chosen = i;
        }
    }
    if (winner_ != nullptr) {
        return winner_->finish();
    }
    is_over = fired() != nullptr;
    if (!is_over) {
        return WaitResult::TimedOut;
    }
    return fired()->error() != nullptr ? Scheduler::refuse(Ref<Error>(fired()->error()), WaitResult::Failed)
                                       : WaitResult::Ready;
}

// --- the cases

void ChannelCase::told(Waiter& waiter, State /*state*/) noexcept {
    auto& self = static_cast<ChannelCase&>(waiter);
    self.selection_->told(self);
}

void ChannelCase::enter(Selection& selection) noexcept {
    selection_ = &selection;
    join(selection);
    channel_.enter(*this, kind_);
}

void ChannelCase::leave() noexcept {
    channel_.leave(*this, kind_);
    give_up();
}

WaitResult ReceiveCase::attempt() noexcept {
    if (channel_.try_claim()) {
        return WaitResult::Ready;
    }
    return channel_.is_closed() ? channel_.refuse_closed() : WaitResult::TimedOut;
}

WaitResult ReceiveCase::finish() noexcept {
    if (!is_served()) {
        return attempt();
    }
    give_up();  // the value is the caller's now
    return WaitResult::Ready;
}

WaitResult SendCase::attempt() noexcept { return channel_.try_deliver(value(), false); }

WaitResult SendCase::finish() noexcept {
    if (!is_served()) {
        return channel_.refuse_closed();
    }
    give_up();
    if (kind_ == ChannelEvent::kOffer) {
        return WaitResult::Ready;  // it was taken
    }
    const WaitResult result = channel_.try_deliver(value(), true);
    if (result != WaitResult::Ready) {
        channel_.hand_on_place();
    }
    return result;
}

WaitResult EventCase::attempt() noexcept {
    Ref<Error> error;
    if (!event_.is_closed() || !event_.replay(nullptr, nullptr, &error)) {
        return WaitResult::TimedOut;
    }
    return error != nullptr ? Scheduler::refuse(std::move(error), WaitResult::Failed) : WaitResult::Ready;
}

void EventCase::enter(Selection& selection) noexcept { selection.add(event_); }

// --- the select

WaitResult select(
    std::span<SelectCase* const> cases, std::size_t& chosen, const WaitLimit& limit, std::source_location where
) noexcept {
    chosen = kNoCase;
    if (const WaitResult result = detail::check_limit(limit, where); result != WaitResult::Ready) {
        return result;
    }
    const WaitLimit rest = detail::fix_limit(limit);
    for (;;) {
        WaitResult result = Selection::attempt_all(cases, chosen);
        bool is_over = result != WaitResult::TimedOut;
        if (!is_over) {
            Selection selection(cases, where);
            result = selection.run(rest, chosen, is_over);
        }
        if (is_over) {
            return result;
        }
    }
}

WaitResult try_select(std::span<SelectCase* const> cases, std::size_t& chosen) noexcept {
    chosen = kNoCase;
    return Selection::attempt_all(cases, chosen);
}

}  // namespace trueasync
