#include <trueasync/event/callback.hpp>

#include <gtest/gtest.h>

#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::Life;
using testing::PassiveEvent;
using testing::Subscriber;
using testing::subscriber;

class Watched : public Subscriber {
public:
    explicit Watched(int& ended) : ended_(ended) {}

protected:
    ~Watched() override { ++ended_; }

private:
    int& ended_;
};

// Part of another object, as the callbacks of a waker are.
class Embedded final : public Subscriber {
public:
    ~Embedded() override = default;
    int destructions = 0;

protected:
    void destroy() noexcept override { ++destructions; }
};

TEST(Callback, IsBornWithOneReference) {
    const auto callback = subscriber();
    EXPECT_EQ(callback->ref_count(), 1u);
    EXPECT_FALSE(callback->is_single_wake());
}

TEST(Callback, EndsWithItsLastReference) {
    int ended = 0;
    auto callback = make_ref<Watched>(ended);
    callback->add_ref();
    EXPECT_EQ(callback->ref_count(), 2u);
    callback->release();
    EXPECT_EQ(ended, 0);
    callback.reset();
    EXPECT_EQ(ended, 1);
}

TEST(Callback, EventAndAnotherHolderShareIt) {
    Life life;
    int ended = 0;
    auto event = PassiveEvent::create(life, Firing::Repeating);
    auto holder = make_ref<Watched>(ended);
    ASSERT_TRUE(event->add_callback(*holder));
    EXPECT_EQ(holder->ref_count(), 2u);
    event->notify(nullptr, nullptr).ignore();
    event.reset();
    EXPECT_EQ(ended, 0) << "the event has gone, the other holder has not";
    EXPECT_EQ(holder->ref_count(), 1u);
    EXPECT_EQ(holder->calls, 1);
    holder.reset();
    EXPECT_EQ(ended, 1);
}

TEST(Callback, EventMayBeTheLastHolder) {
    Life life;
    int ended = 0;
    auto event = PassiveEvent::create(life);
    auto holder = make_ref<Watched>(ended);
    ASSERT_TRUE(event->add_callback(*holder));
    holder.reset();
    EXPECT_EQ(ended, 0);
    event.reset();
    EXPECT_EQ(ended, 1);
}

TEST(Callback, DisposeGivesUpTheReferenceOfTheEvent) {
    const auto callback = subscriber();
    callback->add_ref();
    callback->dispose(nullptr);
    EXPECT_EQ(callback->ref_count(), 1u);
    EXPECT_EQ(callback->disposals, 1);
}

TEST(Callback, MayLieInsideAnotherObject) {
    Life life;
    Embedded callback;
    {
        const auto event = PassiveEvent::create(life);
        ASSERT_TRUE(event->add_callback(callback));
        callback.release();  // the first reference: only the event holds it now
        EXPECT_EQ(callback.destructions, 0);
    }
    EXPECT_EQ(callback.destructions, 1);
    EXPECT_EQ(callback.disposals, 1);
}

}  // namespace
}  // namespace trueasync
