#include "test_main.hpp"

#include "../error.hpp"
#include "output.hpp"
#include "request.hpp"

#include <trueasync/runtime/helper.hpp>
#include <utility>

namespace trueasync::php {

namespace {

/// What the script leaves behind: main takes it over.
struct Ending {
    bool is_there = false;
    bool is_bailout = false;
    zend_object* exception = nullptr;
    OutputState output;
    int error_reporting = 0;
};

class ScriptBody final : public HelperBody {
public:
    ScriptBody(zend_execute_data* frame, Ending& ending) : frame_(frame), ending_(ending) {}

    Ref<Error> run() override {
        frame_->prev_execute_data = EG(current_execute_data);
        EG(current_execute_data) = frame_;
        zend_try { zend_execute_ex(frame_); }
        zend_catch { ending_.is_bailout = true; }
        zend_end_try();
        ending_.exception = std::exchange(EG(exception), nullptr);
        ending_.error_reporting = EG(error_reporting);
        ending_.output.leave();
        ending_.is_there = true;
        return {};
    }

private:
    zend_execute_data* frame_;
    Ending& ending_;
};

/// While it lives objects get numbers that scripts do not come to, so that what a script prints of its own is as without a coroutine.
class HighNumbers {
public:
    HighNumbers() noexcept : is_first_(EG(objects_store).top == 1) {
        if (is_first_) {
            EG(objects_store).top = kFirst;
        }
    }
    ~HighNumbers() {
        if (is_first_) {
            for (int number = 1; number < kFirst; ++number) {
                SET_OBJ_BUCKET_NUMBER(EG(objects_store).object_buckets[number], number + 1 < kFirst ? number + 1 : -1);
            }
            EG(objects_store).free_list_head = 1;
        }
    }
    HighNumbers(const HighNumbers&) = delete;
    HighNumbers& operator=(const HighNumbers&) = delete;

private:
    static constexpr int kFirst = 1000;  // the engine begins with room for 1,024
    bool is_first_;
};

bool spawn_script(zend_execute_data* frame, Ending& ending) {
    const HighNumbers numbers;
    return start() &&
           check(request.runtime->scheduler().spawn_helper(std::make_unique<ScriptBody>(frame, ending), Place()));
}

}  // namespace

void execute_in_coroutine(zend_execute_data* frame) {
    Ending ending;
    if (!spawn_script(frame, ending)) {
        return;
    }
    EG(current_execute_data) = frame->prev_execute_data;
    while (!ending.is_there) {
        static_cast<void>(Scheduler::suspend(std::source_location()));
    }
    EG(error_reporting) = ending.error_reporting;
    EG(exception) = ending.exception;
    ending.output.enter();
    if (ending.is_bailout) {
        zend_bailout();
    }
}

}  // namespace trueasync::php
