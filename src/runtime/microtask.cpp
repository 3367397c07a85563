#include <trueasync/runtime/microtask.hpp>

namespace trueasync {

Status MicrotaskQueue::run_all() {
    while (!tasks_.empty()) {
        const auto task = Ref<Microtask>::adopt(tasks_.pop_front());
        if (task->is_cancelled()) {
            continue;
        }
        try {
            if (Status status = task->run(); !status) {
                return status;
            }
        } catch (...) {
            return Status(ExceptionError::capture());
        }
    }
    return {};
}

void MicrotaskQueue::clear() noexcept {
    while (!tasks_.empty()) {
        tasks_.pop_front()->release();
    }
}

}  // namespace trueasync
