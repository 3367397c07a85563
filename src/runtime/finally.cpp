#include <trueasync/runtime/finally.hpp>
#include <trueasync/runtime/helper.hpp>
#include <trueasync/runtime/runtime.hpp>

namespace trueasync {

namespace {

FinallyList::StartFn start_runtime = nullptr;

class FinallyBody final : public HelperBody {
public:
    FinallyBody(std::vector<std::unique_ptr<FinallyHandler>> handlers, FinallyList::Report report)
        : handlers_(std::move(handlers)), report_(std::move(report)) {}

    ~FinallyBody() override {
        while (next_ < handlers_.size()) {
            handlers_[next_++]->abandoned();
        }
    }

    Ref<Error> run() override {
        std::vector<Ref<Error>> errors;
        while (next_ < handlers_.size()) {
            std::unique_ptr<FinallyHandler>& handler = handlers_[next_++];
            Ref<Error> error;
            try {
                error = handler->call();
            } catch (...) {
                error = ExceptionError::capture();
            }
            handler.reset();
            if (error != nullptr && !error->is_cancellation()) {  // one that was cancelled has not failed
                errors.push_back(std::move(error));
            }
        }
        if (!errors.empty()) {
            report_(errors.size() == 1 ? std::move(errors.front()) : CompositeError::make(std::move(errors)));
        }
        return {};
    }

    bool must_begin() const noexcept override { return true; }
    bool cleans_up() const noexcept override { return true; }

private:
    std::vector<std::unique_ptr<FinallyHandler>> handlers_;
    std::size_t next_ = 0;
    FinallyList::Report report_;
};

}  // namespace

void FinallyList::set_start(StartFn start) noexcept { start_runtime = start; }

void FinallyList::start_if_none() noexcept {
    if (Scheduler::current() == nullptr && start_runtime != nullptr) {
        start_runtime();
    }
}

void FinallyList::run(bool at_head, const Place& where, Report report, Owner* owner) noexcept {
    if (handlers_.empty()) {
        return;
    }
    auto body = std::make_unique<FinallyBody>(std::exchange(handlers_, {}), std::move(report));
    start_if_none();
    Scheduler* scheduler = Scheduler::current();
    if (scheduler == nullptr) {
        body->run();  // the runtime has gone: nobody is disturbed
        return;
    }
    const Status status =
        scheduler->spawn_helper(std::move(body), where, at_head ? Priority::High : Priority::Normal, owner);
    if (!status) {
        Runtime::current()->unhandled(nullptr, *status.error());
    }
}

}  // namespace trueasync
