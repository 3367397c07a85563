#include <trueasync/reactor/loop_return.hpp>

#include <utility>
#include "reactor/fork_guard.hpp"

namespace trueasync {

// --- the item

Status ReturnItem::expect(Reactor& reactor) {
    const std::shared_ptr<LoopReturns> returns = LoopReturns::of(reactor);
    if (returns == nullptr) {
        return Status::failure(ErrorCode::ShuttingDown, "the event loop has closed: nothing can come back to it");
    }
    return returns->expect(*this);
}

void ReturnItem::forget() noexcept {
    if (const std::shared_ptr<LoopReturns> returns = returns_; returns != nullptr) {
        returns->end(*this);
        returns->rest();
    }
}

void ReturnItem::post() noexcept {
    const std::shared_ptr<LoopReturns> returns = returns_;  // the item may be gone before the call is over
    returns->post(*this);
}

// --- the loop's side

/// What the trigger knows. It ends with the reactor only.
class LoopReturns::Listener final : public Callback {
public:
    explicit Listener(std::shared_ptr<LoopReturns> returns) noexcept : returns_(std::move(returns)) {}
    void call(Event& /*event*/, void* /*result*/, Error* /*error*/) override { returns_->deliver(); }
    void dispose(Event* /*event*/) noexcept override {
        returns_->close();
        release();
    }

private:
    const std::shared_ptr<LoopReturns> returns_;
};

LoopReturns::LoopReturns(Reactor& reactor) : trigger_(TriggerEvent::create(reactor)) { trigger_->set_hidden(true); }

LoopReturns::~LoopReturns() = default;

std::shared_ptr<LoopReturns> LoopReturns::of(Reactor& reactor) {
    std::shared_ptr<LoopReturns>& place = reactor.triggers().returns();
    if (place == nullptr) {
        const std::shared_ptr<LoopReturns> made(new LoopReturns(reactor));
        const Ref<Callback> listener = make_ref<Listener>(made);
        if (!made->trigger_->add_callback(*listener)) {
            return nullptr;
        }
        detail::ForkGuard::instance().add(*made);
        place = made;
    }
    return place;
}

Status LoopReturns::expect(ReturnItem& item) {
    if (is_closing_) {
        return Status::failure(ErrorCode::ShuttingDown, "the event loop is closing: nothing can come back to it");
    }
    if (!trigger_->is_in_loop()) {
        if (Status status = trigger_->start(); !status) {
            return status;
        }
    }
    item.returns_ = shared_from_this();
    item.is_posted_ = item.is_lost_ = false;
    out_.push_back(item);
    ++expected_;
    return {};
}

void LoopReturns::end(ReturnItem& item) noexcept {
    if (item.is_linked()) {
        item.unlink();
        --expected_;
    }
    item.returns_.reset();
}

/// With nothing out the trigger leaves the loop.
void LoopReturns::rest() noexcept {
    if (expected_ == 0 && !is_delivering_ && trigger_ != nullptr && trigger_->is_in_loop()) {
        trigger_->stop().ignore();
    }
}

void LoopReturns::append(ReturnItem& item) noexcept {
    item.is_posted_ = true;
    item.next_posted_ = nullptr;
    *posted_end_ = &item;
    posted_end_ = &item.next_posted_;
}

void LoopReturns::post(ReturnItem& item) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!is_closed_) {
            const bool is_first = posted_ == nullptr;
            append(item);
            if (is_first) {
                trigger_->fire();  // under the lock: `close` cannot end the trigger meanwhile
            }
            return;
        }
    }
    item.drop();
}

/// Moves what has come back behind what is being delivered.
void LoopReturns::collect() noexcept {
    const std::lock_guard lock(mutex_);
    ReturnItem** end = &delivering_;
    while (*end != nullptr) {
        end = &(*end)->next_posted_;
    }
    *end = std::exchange(posted_, nullptr);
    posted_end_ = &posted_;
}

void LoopReturns::deliver() noexcept {
    is_delivering_ = true;
    collect();
    while (ReturnItem* item = delivering_) {
        delivering_ = std::exchange(item->next_posted_, nullptr);
        end(*item);
        item->done();
    }
    is_delivering_ = false;
    rest();
}

/// Everything that is out is cut off, what has come back is dropped.
void LoopReturns::close() noexcept {
    is_closing_ = true;
    detail::ForkGuard::instance().remove(*this);
    trigger_->queue().returns().reset();
    // First everything is cut off, then the door is shut: who finds it shut may end the item on another thread at once.
    while (ReturnItem* item = out_.pop_front()) {
        item->detach();
        if (item->recall()) {
            item->returns_.reset();
            item->drop();
        }
    }
    expected_ = 0;
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
    }
    collect();
    while (ReturnItem* item = delivering_) {
        delivering_ = std::exchange(item->next_posted_, nullptr);
        if (!item->is_torn()) {
            item->drop();
        }
    }
    trigger_.reset();
}

void LoopReturns::after_fork(bool is_child) noexcept {
    // The lists of another thread may have been in the middle of a change, and that thread does not exist here.
    if (is_child && thread_ == std::this_thread::get_id()) {
        bool is_any_lost = false;
        for (ReturnItem& item : out_) {
            if (!item.is_posted_) {
                item.is_lost_ = is_any_lost = true;
                append(item);
            }
        }
        if (is_any_lost) {
            trigger_->fire();
        }
    }
    mutex_.unlock();
}

}  // namespace trueasync
