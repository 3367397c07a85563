#include "thread/pool_crew.hpp"

#include <algorithm>
#include <trueasync/event/report_sink.hpp>

namespace trueasync::detail {

Status PoolTaskScope::admit() noexcept {
    return has_root_ended_ ? Status(Error::make(ErrorCode::ScopeClosed)) : Status();
}

void PoolTaskScope::adopt(Coroutine& coroutine) noexcept {
    if (root_ == nullptr) {
        root_ = &coroutine;
        PoolTaskCoroutine::set(*task_, &coroutine);
    }
    coroutines_.push_back(&coroutine);
}

bool PoolTaskScope::finished(Coroutine& coroutine, Error* error) noexcept {
    coroutine.set_owner(nullptr);
    std::erase(coroutines_, &coroutine);
    if (&coroutine == root_) {
        PoolTaskCoroutine::set(*task_, nullptr);
        has_root_ended_ = true;
        if (error_ == nullptr) {
            error_ = Ref<Error>(error);  // it never ran, or was cancelled at its end
        }
        const std::vector<Coroutine*> left = coroutines_;
        for (Coroutine* one : left) {
            Scheduler::current()->cancel(
                *one, Error::cancellation(CancelReason::UserRequest, "the task that it belonged to has ended")
            );
        }
    } else if (error != nullptr && !error->is_cancellation() && !coroutine.has(EventFlag::ExceptionCaught) && coroutine.ref_count() == 1) {
        report_sink().unhandled_error(&coroutine, *error);  // a task must not end its worker
    }
    if (has_root_ended_ && coroutines_.empty()) {
        end_(*task_, portable_error(std::move(error_)));
        delete this;
    }
    return true;
}

}  // namespace trueasync::detail
