#pragma once

/// @file support/busy_lane.hpp
/// The lane for files with no thread to spare.

#include <array>
#include <atomic>
#include <support/threads.hpp>
#include <trueasync/reactor/work_lane.hpp>

namespace trueasync::testing {

/// Keeps every thread for files busy while it lives, so that what is queued stays queued.
class BusyLane {
public:
    BusyLane() {
        for (Blocker& blocker : blockers_) {
            blocker.owner = this;
            EXPECT_TRUE(WorkLane::file().submit(blocker));
        }
        EXPECT_TRUE(eventually([this] {
            for (Blocker& blocker : blockers_) {
                if (blocker.state() != LaneItem::State::Running) {
                    return false;
                }
            }
            return true;
        }));
    }
    ~BusyLane() { end(); }
    BusyLane(const BusyLane&) = delete;
    BusyLane& operator=(const BusyLane&) = delete;
    void end() {
        gate_.open();
        EXPECT_TRUE(eventually([this] { return ended_ == kThreads; }));
    }

private:
    static constexpr int kThreads = 16;
    struct Blocker final : LaneItem {
        void execute() noexcept override {
            owner->gate_.wait();
            ++owner->ended_;
        }
        BusyLane* owner = nullptr;
    };

    Gate gate_;
    std::atomic<int> ended_ = 0;
    std::array<Blocker, kThreads> blockers_;
};

}  // namespace trueasync::testing
