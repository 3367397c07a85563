#pragma once

/// @file stress/worker.hpp
/// A coroutine that waits in every way there is and checks what ended each wait.

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <stress/model.hpp>
#include <utility>

namespace trueasync::stress {

/// Does some random waits, then ends in one of the ways there are.
class Worker final : public Coroutine {
public:
    explicit Worker(bool is_detachable) : may_fail_(!is_detachable) { ++world->workers_made; }
    ~Worker() override { ++world->workers_gone; }

    void* result() noexcept override { return &value_; }

    const Record* record() const { return record_; }
    bool may_fail() const { return may_fail_; }
    bool has_ended() const { return has_ended_; }
    std::size_t joiners() const { return joiners_; }
    void expect_cancel() { is_cancel_expected_ = true; }
    bool is_cancel_expected() const { return is_cancel_expected_; }

    /// What it must have come to, if anybody asks.
    void check_outcome() {
        expect(is_finished(), "outcome of one that runs");
        if (error() == nullptr) {
            expect(*static_cast<int*>(result()) == value_ && has_ended_, "a result without an end");
        } else if (error()->is_cancellation()) {
            expect(is_cancel_requested(), "cancelled by nobody");
        } else {
            expect(may_fail_ && error()->message().find("stress") != std::string::npos, "an error of nobody");
        }
    }

protected:
    void run() override {
        ++world->bodies_begun;
        Random& random = world->random;
        const unsigned operations = 1 + random.pick(6);
        for (unsigned i = 0; i < operations; ++i) {
            ++step;
            is_delivery_noted_ = false;
            const WaitResult result = operate(random.pick(16));
            if (result == WaitResult::Cancelled) {
                Ref<Error> error = Scheduler::take_wait_error();
                expect(error != nullptr && error->is_cancellation(), "cancelled without an error");
                if (error->reason() == CancelReason::Shutdown || !random.one_in(4)) {
                    end();
                    fail(std::move(error));
                    return;
                }
                note_delivery();  // swallowed: goes on
            }
        }
        end();
        if (may_fail_ && random.one_in(16)) {
            if (random.one_in(4)) {
                throw std::runtime_error("stress exception");
            }
            fail(Error::make(ErrorCode::System, "stress failure"));
        }
    }

private:
    void end() {
        has_ended_ = true;
        ++world->bodies_ended;
    }

    bool is_cancel_explained() const { return is_cancel_expected_ || !Runtime::current()->is_accepting(); }

    /// The request that was made has reached us; once for each wait.
    void note_delivery() {
        if (!is_delivery_noted_) {
            is_delivery_noted_ = true;
            is_cancel_expected_ = false;
        }
    }

    /// While it lives the record says what must end the wait.
    class Recorded {
    public:
        Recorded(Worker& worker, Record& record) : worker_(worker) { worker_.record_ = &record; }
        ~Recorded() { worker_.record_ = nullptr; }
        Recorded(const Recorded&) = delete;
        Recorded& operator=(const Recorded&) = delete;

    private:
        Worker& worker_;
    };

    Deadline deadline(Record& record, unsigned one_in) {
        Random& random = world->random;
        if (!random.one_in(one_in)) {
            return Deadline::never();
        }
        const Duration delay = random.duration();
        record.due = the_clock().now() + delay;
        return Deadline::after(delay);
    }

    void check_end(WaitResult result, const Record& record) {
        switch (result) {
            case WaitResult::Ready:
            case WaitResult::Failed:
            case WaitResult::Refused:
                break;
            case WaitResult::TimedOut:
                expect(the_clock().now() >= record.due, "timed out too early");
                break;
            case WaitResult::Cancelled:
                expect(is_cancel_explained(), "cancelled by nobody");
        }
    }

    WaitResult operate(unsigned which) {
        switch (which) {
            case 0:
            case 1:
                return wait_for_event();
            case 2:
                return wait_for_event_simply();
            case 3:
            case 4:
                return wait_for_several();
            case 5:
            case 6:
                return wait_directly();
            case 7:
                return join_child();
            case 8:
                return sleep();
            case 9:
                return protected_section();
            case 10:
                return wait_with_token();
            case 11:
                world->hand_on();
                return WaitResult::Ready;
            case 13:
                return join_other();
            case 12:
                return suspend_in_handler();
            default: {
                const WaitResult result = yield();
                expect(std::current_exception() == nullptr, "an exception of somebody else");
                return result;
            }
        }
    }

    WaitResult yield() {
        const WaitResult result = Scheduler::suspend(std::source_location::current());
        expect(result == WaitResult::Ready || is_cancel_explained(), "a yield failed");
        expect(std::uncaught_exceptions() == 0, "an exception of somebody else");
        return result;
    }

    WaitResult suspend_in_handler() {
        const std::uint64_t mark = world->random.next();
        try {
            throw mark;
        } catch (const std::uint64_t& caught) {
            const WaitResult result = yield();
            expect(caught == mark, "an exception was mixed up");
            try {
                throw;
            } catch (const std::uint64_t& again) {
                expect(again == mark, "an exception was mixed up");
            }
            return result;
        }
    }

    WaitResult wait_for_event_simply() {
        Record record;
        record.watch(world->any_source());
        const Recorded recorded(*this, record);
        const WaitResult result = wait_for(*record.watched[0].source->event);
        check_end(result, record);
        if (result == WaitResult::Ready) {
            expect(record.has_event_happened(), "woken for nothing");
        }
        return result;
    }

    WaitResult wait_for_event() {
        Record record;
        record.watch(world->any_source());
        const Deadline limit = deadline(record, 2);
        const Recorded recorded(*this, record);
        const WaitResult result = wait_for(*record.watched[0].source->event, limit);
        check_end(result, record);
        if (result == WaitResult::Ready) {
            expect(record.has_event_happened(), "woken for nothing");
        }
        return result;
    }

    WaitResult wait_for_several() {
        Random& random = world->random;
        Record record;
        const unsigned count = 2 + random.pick(3);
        for (unsigned i = 0; i < count; ++i) {
            record.watch(world->any_source());
        }
        const Deadline limit = deadline(record, 3);
        Ref<TimerEvent> timer;
        bool with_trigger = false;
        WaitResult result = WaitResult::Ready;
        {
            const Recorded recorded(*this, record);
            WaitGuard guard;
            for (std::size_t i = 0; i < record.count; ++i) {
                guard.add(*record.watched[i].source->event);
            }
            if (random.one_in(3)) {
                const Duration delay = random.duration();
                timer = TimerEvent::create(the_clock(), delay);
                record.due = std::min(record.due, the_clock().now() + delay);
                guard.add(*timer, random.one_in(2) ? WakeRole::Timeout : WakeRole::Wake);
            }
            if (random.one_in(4)) {
                with_trigger = true;
                guard.add(*world->trigger);
            }
            result = guard.park(limit);
            check_end(result, record);
            if (result == WaitResult::Ready) {
                const Event* fired = guard.fired() != nullptr ? guard.fired()->event() : nullptr;
                const bool is_explained = record.has_event_happened() || (timer != nullptr && fired == timer.get()) ||
                                          (with_trigger && fired == world->trigger.get());
                expect(is_explained, "woken for nothing");
            }
        }
        if (timer != nullptr) {
            expect(timer->callback_count() == 0 && timer->loop_ref_count() == 0, "a timer was left behind");
        }
        expect(wait() == nullptr && waker().size() == 0, "a wait was left behind");
        return result;
    }

    WaitResult wait_directly() {
        Record record;
        record.is_direct = true;
        const Deadline limit = deadline(record, 2);
        const Recorded recorded(*this, record);
        DirectRecord wait(world->counter, record);
        record.sequence = ++world->direct_sequence;
        world->queue.push_back(wait);
        const WaitResult result = wait.park(limit);
        check_end(result, record);
        expect(wait.is_woken() == record.is_handed, "handed on to nobody");
        if (result == WaitResult::Ready) {
            expect(record.is_handed, "woken for nothing");
        } else if (record.is_handed) {
            world->hand_on();  // what was put aside for us goes to the next
        }
        return result;
    }

    WaitResult join_child() {
        Random& random = world->random;
        if (!Runtime::current()->is_accepting()) {
            return yield();
        }
        const unsigned naps = random.pick(3);
        const bool is_failing = random.one_in(8);
        auto child = spawn([naps, is_failing] {
            ++world->children_begun;
            for (unsigned i = 0; i < naps; ++i) {
                suspend();
            }
            ++world->children_ended;
            if (is_failing) {
                throw std::runtime_error("stress child");
            }
            return naps;
        });
        WaitResult result = wait_for(child.coroutine());
        if (result == WaitResult::Ready) {
            expect(child.is_finished() && await(child) == naps, "a joined child without its result");
        } else if (result == WaitResult::Failed) {
            expect(is_failing && child.is_finished(), "a child failed by itself");
            result = WaitResult::Ready;
        } else {
            // Cancelled: the child goes on; its error, if any, must be taken by somebody.
            const Ref<Error> ours = Scheduler::take_wait_error();
            note_delivery();  // what comes from now on is another request
            const ProtectGuard protection;
            const WaitResult rest = wait_for(child.coroutine());
            expect(
                rest == WaitResult::Ready || rest == WaitResult::Failed || rest == WaitResult::Cancelled, "protected"
            );
            if (rest == WaitResult::Cancelled) {  // a shutdown reaches everyone; the child is cancelled too
                child.coroutine().mark_exception_handled();
            }
            Scheduler::refuse(ours, result);
        }
        return result;
    }

    /// Waits for an older one, so that nobody waits in a circle.
    WaitResult join_other() {
        const Ref<Worker> other = world->slots[world->random.pick(kSlots)];
        if (other == nullptr || other->id() >= id()) {
            return WaitResult::Ready;
        }
        Record record;
        record.joined = other.get();
        const Deadline limit = deadline(record, 3);
        const Recorded recorded(*this, record);
        ++other->joiners_;
        const WaitResult result = wait_for(*other, limit);
        --other->joiners_;
        check_end(result, record);
        if (result == WaitResult::Ready || result == WaitResult::Failed) {
            expect(other->is_finished(), "joined one that runs");
            expect((result == WaitResult::Failed) == (other->error() != nullptr), "joined with a wrong result");
            other->check_outcome();
        }
        return result;
    }

    WaitResult sleep() {
        const Instant begun = the_clock().now();
        const Duration delay = world->random.duration();
        Record record;
        record.due = begun + delay;
        const Recorded recorded(*this, record);
        const WaitResult result = sleep_until(Deadline::after(delay));
        if (result == WaitResult::Ready) {
            expect(the_clock().now() >= begun + delay, "woke up early");
        }
        return result;
    }

    WaitResult protected_section() {
        ProtectGuard outer;
        const bool was_expected = is_cancel_expected_;
        {
            ProtectGuard inner;
            for (int i = 0; i < 2; ++i) {
                if (const WaitResult result = Scheduler::suspend(std::source_location::current());
                    result != WaitResult::Ready) {
                    expect(result == WaitResult::Cancelled, "protected");
                    return result;  // a shutdown reaches everyone
                }
            }
            expect(inner.leave() == WaitResult::Ready || was_expected || is_cancel_explained(), "protected");
        }
        return outer.leave();
    }

    WaitResult wait_with_token() {
        Record record;
        record.watch(world->any_source());
        record.watch(world->any_source());
        const Recorded recorded(*this, record);
        WaitGuard guard;
        guard.add(*record.watched[0].source->event);
        guard.add(*record.watched[1].source->event, WakeRole::Cancel);
        const WaitResult result = guard.park();
        if (result == WaitResult::Cancelled && !is_cancel_explained()) {
            expect(record.watched[1].has_happened(), "cancelled by nobody");
            Scheduler::take_wait_error();
            return WaitResult::Ready;  // the wait was cancelled, not we
        }
        if (result == WaitResult::Ready) {
            expect(record.has_event_happened(), "woken for nothing");
        }
        return result;
    }

    const Record* record_ = nullptr;
    std::size_t joiners_ = 0;
    int value_ = 0;
    bool may_fail_;
    bool has_ended_ = false;
    bool is_cancel_expected_ = false;
    bool is_delivery_noted_ = false;
};

inline bool Record::must_end(Instant now) const {
    return has_event_happened() || (is_direct && is_handed) || due <= now ||
           (joined != nullptr && joined->is_finished());
}

}  // namespace trueasync::stress
