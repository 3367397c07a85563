#include <trueasync/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <support/allocation_counter.hpp>
#include <support/coro_test.hpp>
#include <support/fake_events.hpp>

namespace trueasync {
namespace {

using testing::AllocationCounter;
using testing::Life;
using testing::NoMemory;
using testing::PassiveEvent;
using testing::RecordingSink;
using testing::SinkScope;
using testing::Subscriber;
using testing::subscriber;

// A list, its event, and subscribers that write their number down when they are called.
class CallbackListTest : public ::testing::Test {
protected:
    Ref<Subscriber> number(int value, std::function<void()> action = {}) {
        return subscriber([this, value, action](Event&, void*, Error*) {
            order.push_back(value);
            if (action) {
                action();
            }
        });
    }
    void notify() { list.notify(*event, nullptr, nullptr); }
    std::vector<int> notified() {
        order.clear();
        notify();
        return order;
    }

    Life life;
    Ref<PassiveEvent> event = PassiveEvent::create(life, Firing::Repeating);
    CallbackList list;
    std::vector<int> order;
};

using Order = std::vector<int>;

// A test `CallbackList.name` in the fixture above, which cannot have that name itself.
#define LIST_TEST(name) \
    GTEST_TEST_(CallbackList, name, CallbackListTest, ::testing::internal::GetTypeId<CallbackListTest>())

LIST_TEST(StartsEmpty) {
    EXPECT_EQ(list.size(), 0u);
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(list.is_notifying());
    EXPECT_EQ(list.only(), nullptr);
    EXPECT_EQ(notified(), Order{});
}

LIST_TEST(CallsInOrderOfSubscription) {
    std::vector<Ref<Subscriber>> all;
    Order expected;
    for (int i = 0; i < 20; ++i) {
        all.push_back(number(i));
        list.add(*all.back());
        expected.push_back(i);
        EXPECT_EQ(list.size(), static_cast<std::size_t>(i) + 1);
    }
    EXPECT_EQ(notified(), expected);
    EXPECT_EQ(notified(), expected) << "and again the next time";
}

LIST_TEST(HandsOnResultAndError) {
    int value = 0;
    const auto error = Error::make(ErrorCode::Timeout);
    const auto callback = subscriber();
    list.add(*callback);
    list.notify(*event, &value, error.get());
    EXPECT_EQ(callback->last_result, &value);
    EXPECT_EQ(callback->last_code, ErrorCode::Timeout);
    notify();
    EXPECT_EQ(callback->last_result, nullptr);
    EXPECT_FALSE(callback->has_error);
}

LIST_TEST(AddTakesAReferenceAndRemoveDisposes) {
    const auto callback = subscriber();
    list.add(*callback);
    EXPECT_EQ(callback->ref_count(), 2u);
    EXPECT_TRUE(list.remove(*callback, event.get()));
    EXPECT_EQ(callback->ref_count(), 1u);
    EXPECT_EQ(callback->disposals, 1);
    EXPECT_EQ(callback->disposed_by, event.get());
    EXPECT_TRUE(list.empty());
}

LIST_TEST(RemovingAStrangerDoesNothing) {
    const auto callback = subscriber();
    const auto stranger = subscriber();
    EXPECT_FALSE(list.remove(*stranger, event.get()));
    list.add(*callback);
    EXPECT_FALSE(list.remove(*stranger, event.get()));
    list.add(*number(2));
    EXPECT_FALSE(list.remove(*stranger, event.get()));
    EXPECT_EQ(stranger->disposals, 0);
    EXPECT_EQ(list.size(), 2u);
    EXPECT_TRUE(list.remove(*callback, event.get()));
    EXPECT_FALSE(list.remove(*callback, event.get())) << "only once";
    EXPECT_EQ(callback->disposals, 1);
}

LIST_TEST(LastTakesThePlaceOfTheRemoved) {
    std::array<Ref<Subscriber>, 5> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = number(static_cast<int>(i));
        list.add(*all[i]);
    }
    EXPECT_TRUE(list.remove(*all[1], event.get()));
    EXPECT_EQ(notified(), (Order{0, 4, 2, 3}));
    EXPECT_TRUE(list.remove(*all[0], event.get()));
    EXPECT_EQ(notified(), (Order{3, 4, 2}));
    EXPECT_TRUE(list.remove(*all[2], event.get())) << "the last itself";
    EXPECT_EQ(notified(), (Order{3, 4}));
    EXPECT_TRUE(list.remove(*all[4], event.get())) << "one that has moved";
    EXPECT_TRUE(list.remove(*all[3], event.get()));
    EXPECT_EQ(notified(), Order{});
}

LIST_TEST(SameCallbackTwiceIsCalledTwice) {
    const auto twice = number(1);
    const auto other = number(2);
    list.add(*twice);
    list.add(*other);
    list.add(*twice);
    EXPECT_EQ(twice->ref_count(), 3u);
    EXPECT_EQ(notified(), (Order{1, 2, 1}));
    EXPECT_TRUE(list.remove(*twice, event.get()));
    EXPECT_EQ(notified(), (Order{1, 2}));
    EXPECT_TRUE(list.remove(*twice, event.get()));
    EXPECT_FALSE(list.remove(*twice, event.get()));
    EXPECT_EQ(notified(), (Order{2}));
    EXPECT_EQ(twice->ref_count(), 1u);
}

LIST_TEST(OneCallbackMayBeInTwoLists) {
    CallbackList second;
    const auto shared = number(1);
    const auto filler = number(9);
    second.add(*filler);
    second.add(*filler);
    list.add(*number(8));
    list.add(*shared);
    second.add(*shared);
    EXPECT_TRUE(list.remove(*shared, event.get())) << "its hint speaks of the other list";
    EXPECT_EQ(notified(), (Order{8}));
    EXPECT_TRUE(second.remove(*shared, event.get()));
    EXPECT_EQ(second.size(), 2u);
    EXPECT_EQ(shared->ref_count(), 1u);
}

LIST_TEST(CallbackMayRemoveItself) {
    std::array<Ref<Subscriber>, 3> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = number(static_cast<int>(i), [&, i] { EXPECT_TRUE(list.remove(*all[i], event.get())); });
        list.add(*all[i]);
    }
    EXPECT_EQ(notified(), (Order{0, 1, 2})) << "nobody is left out because somebody left";
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(all[0]->ref_count(), 1u);
    EXPECT_EQ(notified(), Order{});
}

LIST_TEST(OnlyCallbackMayRemoveItself) {
    Ref<Subscriber> only;
    only = number(1, [&] {
        EXPECT_TRUE(list.remove(*only, event.get()));
        EXPECT_TRUE(list.empty());
        EXPECT_EQ(only->disposals, 1) << "at once, not after the notification";
    });
    list.add(*only);
    EXPECT_EQ(notified(), (Order{1}));
    EXPECT_EQ(notified(), Order{});
    list.add(*only);
    EXPECT_EQ(list.size(), 1u);
    list.clear(event.get());
}

LIST_TEST(CallbackMayGoWhileItRuns) {
    Subscriber* only = nullptr;
    Ref<Subscriber> owner = number(1, [&] {
        owner.reset();
        EXPECT_TRUE(list.remove(*only, event.get()));
        EXPECT_EQ(only->ref_count(), 1u) << "the notification holds it";
    });
    only = owner.get();
    list.add(*only);
    EXPECT_EQ(notified(), (Order{1}));
}

LIST_TEST(RemovedBeforeItsTurnIsNotCalled) {
    Ref<Subscriber> later = number(3);
    const auto first = number(1, [&] { list.remove(*later, event.get()); });
    list.add(*first);
    list.add(*number(2));
    list.add(*later);
    list.add(*number(4));
    EXPECT_EQ(notified(), (Order{1, 2, 4}));
    EXPECT_EQ(notified(), (Order{1, 2, 4})) << "and the gap is closed in order";
    EXPECT_EQ(list.size(), 3u);
}

LIST_TEST(RemovingOneCalledBeforeSkipsNobody) {
    const auto first = number(1);
    const auto second = number(2, [&] { list.remove(*first, event.get()); });
    list.add(*first);
    list.add(*second);
    list.add(*number(3));
    EXPECT_EQ(notified(), (Order{1, 2, 3}));
    EXPECT_EQ(notified(), (Order{2, 3}));
}

LIST_TEST(RemovalAfterANotificationFindsEveryone) {
    std::array<Ref<Subscriber>, 6> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = number(static_cast<int>(i));
        list.add(*all[i]);
    }
    const auto remover = number(9, [&] {
        list.remove(*all[0], event.get());
        list.remove(*all[3], event.get());
    });
    list.add(*remover);
    notify();
    list.remove(*remover, event.get());
    for (const std::size_t i : {1U, 2U, 4U, 5U}) {
        EXPECT_TRUE(list.remove(*all[i], event.get())) << i;
    }
    EXPECT_TRUE(list.empty());
}

LIST_TEST(AddedWhileNotifyingIsCalledFromTheNextTime) {
    std::vector<Ref<Subscriber>> added;
    const auto first = number(1, [&] {
        if (added.size() < 8) {  // enough to move the array
            for (int i = 0; i < 8; ++i) {
                added.push_back(number(10 + i));
                list.add(*added.back());
            }
        }
    });
    list.add(*first);
    list.add(*number(2));
    EXPECT_EQ(notified(), (Order{1, 2}));
    EXPECT_EQ(notified(), (Order{1, 2, 10, 11, 12, 13, 14, 15, 16, 17}));
}

LIST_TEST(LeavingAndComingBackIsANewSubscription) {
    Ref<Subscriber> second = number(2);
    const auto first = number(1, [&] {
        list.remove(*second, event.get());
        list.add(*second);
    });
    list.add(*first);
    list.add(*second);
    EXPECT_EQ(notified(), (Order{1}));
    EXPECT_EQ(list.size(), 2u);
}

LIST_TEST(CallbackMayNotifyAgain) {
    int depth = 0;
    const auto first = number(1, [&] {
        EXPECT_TRUE(list.is_notifying());
        if (++depth < 3) {
            notify();
        }
        --depth;
    });
    list.add(*first);
    list.add(*number(2));
    EXPECT_EQ(notified(), (Order{1, 1, 1, 2, 2, 2}));
    EXPECT_FALSE(list.is_notifying());
}

LIST_TEST(NestedNotificationCallsWhoeverCameMeanwhile) {
    const auto late = number(3);
    bool nested = false;
    const auto first = number(1, [&] {
        if (!std::exchange(nested, true)) {
            list.add(*late);
            notify();
        }
    });
    list.add(*first);
    list.add(*number(2));
    EXPECT_EQ(notified(), (Order{1, 1, 2, 3, 2})) << "the inner one calls the new one, the outer one does not";
}

LIST_TEST(RemovalInANestedNotificationReachesTheOuter) {
    const auto last = number(3);
    bool nested = false;
    const auto first = number(1, [&] {
        if (!std::exchange(nested, true)) {
            notify();
        }
    });
    const auto second = number(2, [&] { list.remove(*last, event.get()); });
    list.add(*first);
    list.add(*second);
    list.add(*last);
    EXPECT_EQ(notified(), (Order{1, 1, 2, 2}));
    EXPECT_EQ(list.size(), 2u);
}

LIST_TEST(ThrowingCallbackIsContained) {
    RecordingSink sink;
    const SinkScope scope(sink);
    list.add(*number(1));
    list.add(*number(2, [] { throw std::runtime_error("boom"); }));
    list.add(*number(3, [] { throw 42; }));
    list.add(*number(4));
    EXPECT_EQ(notified(), (Order{1, 2, 3, 4}));
    ASSERT_EQ(sink.warnings.size(), 2u);
    EXPECT_EQ(sink.warnings[0].kind, Warning::CallbackThrew);
    EXPECT_NE(sink.warnings[0].text.find("boom"), std::string::npos) << sink.warnings[0].text;
    EXPECT_EQ(sink.warnings[1].kind, Warning::CallbackThrew);
    EXPECT_FALSE(list.is_notifying());
    EXPECT_EQ(list.size(), 4u) << "it stays subscribed";
}

LIST_TEST(ClearDisposesEveryoneOnce) {
    std::array<Ref<Subscriber>, 4> all;
    for (auto& callback : all) {
        callback = subscriber();
        list.add(*callback);
    }
    list.clear(event.get());
    EXPECT_TRUE(list.empty());
    for (const auto& callback : all) {
        EXPECT_EQ(callback->disposals, 1);
        EXPECT_EQ(callback->disposed_by, event.get());
        EXPECT_EQ(callback->ref_count(), 1u);
    }
    list.clear(event.get());
    EXPECT_EQ(all[0]->disposals, 1);
}

LIST_TEST(ClearWhileNotifyingCallsNobodyElse) {
    const auto second = number(2);
    list.add(*number(1, [&] {
        list.clear(event.get());
        EXPECT_TRUE(list.empty());
    }));
    list.add(*second);
    EXPECT_EQ(notified(), (Order{1}));
    EXPECT_EQ(second->disposals, 1);
    list.add(*second);
    EXPECT_EQ(notified(), (Order{2})) << "usable again";
}

LIST_TEST(DisposeMayRemoveOthers) {
    for (const bool while_notifying : {false, true}) {
        std::array<Ref<Subscriber>, 4> all;
        for (auto& callback : all) {
            callback = subscriber();
            list.add(*callback);
        }
        all[3]->on_dispose = [&](Event*) { list.remove(*all[1], event.get()); };
        all[0]->on_dispose = [&](Event*) { list.remove(*all[2], event.get()); };
        if (while_notifying) {
            list.add(*number(1, [&] { list.clear(event.get()); }));
            notify();
        } else {
            list.clear(event.get());
        }
        EXPECT_TRUE(list.empty());
        for (const auto& callback : all) {
            EXPECT_EQ(callback->disposals, 1);
        }
    }
}

LIST_TEST(EndOfTheListDisposesEveryone) {
    const auto first = subscriber();
    const auto second = subscriber();
    {
        CallbackList ending;
        ending.add(*first);
        ending.add(*second);
    }
    EXPECT_EQ(first->disposals, 1);
    EXPECT_EQ(second->disposals, 1);
    EXPECT_EQ(first->disposed_by, nullptr) << "there is no event any more";
}

LIST_TEST(OnlyAndTakeOnly) {
    const auto first = subscriber();
    const auto second = subscriber();
    list.add(*first);
    EXPECT_EQ(list.only(), first.get());
    list.add(*second);
    EXPECT_EQ(list.only(), nullptr) << "there are two";
    list.remove(*first, event.get());
    EXPECT_EQ(list.only(), second.get());
    list.take_only();
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(second->disposals, 0);
    EXPECT_EQ(second->ref_count(), 2u) << "the reference of the list is the caller's now";
    second->release();
}

LIST_TEST(PutOnlyFillsAnEmptyList) {
    const auto callback = number(1);
    callback->add_ref();  // the list's reference, counted by the caller
    list.put_only(*callback);
    EXPECT_EQ(list.only(), callback.get());
    EXPECT_EQ(notified(), (Order{1}));
    list.add(*number(2));
    EXPECT_EQ(notified(), (Order{1, 2}));
    EXPECT_TRUE(list.remove(*callback, event.get()));
    EXPECT_EQ(callback->ref_count(), 1u);
}

LIST_TEST(PutOnlyForgetsAnOlderPlace) {
    // The hint of a callback that was in another place before must not lead to a wrong one.
    const auto callback = number(1);
    CallbackList other;
    other.add(*number(8));
    other.add(*callback);
    EXPECT_TRUE(other.remove(*callback, event.get()));
    callback->add_ref();
    list.put_only(*callback);
    list.add(*number(2));
    EXPECT_TRUE(list.remove(*callback, event.get()));
    EXPECT_EQ(notified(), (Order{2}));
}

LIST_TEST(NobodyIsTheOnlyOneWhileSomebodyIterates) {
    const auto callback = number(1, [&] { EXPECT_EQ(list.only(), nullptr); });
    list.add(*callback);
    EXPECT_EQ(list.only(), callback.get());
    EXPECT_EQ(notified(), (Order{1}));
}

LIST_TEST(EachVisitsEveryone) {
    const auto first = number(1);
    const auto second = number(2);
    const auto third = number(3);
    std::set<Callback*> seen;
    const auto look = [&] {
        seen.clear();
        list.each([&](Callback& callback) { seen.insert(&callback); });
    };
    list.add(*first);
    list.add(*second);
    list.add(*third);
    look();
    EXPECT_EQ(seen, (std::set<Callback*>{first.get(), second.get(), third.get()}));
    const auto remover = number(4, [&] {
        list.remove(*second, event.get());
        look();
    });
    list.add(*remover);
    notify();
    EXPECT_EQ(seen, (std::set<Callback*>{first.get(), third.get(), remover.get()})) << "no gaps";
}

LIST_TEST(FirstCallbackAllocatesNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    const auto first = subscriber();
    const auto second = subscriber();
    {
        const AllocationCounter allocations;
        for (int i = 0; i < 10; ++i) {
            list.add(*first);
            notify();
            list.remove(*first, event.get());
        }
        EXPECT_EQ(allocations.count(), 0u);
    }
    list.add(*first);
    const AllocationCounter allocations;
    list.add(*second);
    EXPECT_EQ(allocations.count(), 1u);
    list.remove(*second, event.get());
    list.add(*second);
    EXPECT_EQ(allocations.count(), 1u) << "the array stays";
}

LIST_TEST(AddWithoutMemoryChangesNothing) {
    if (!AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    const auto first = number(1);
    const auto second = number(2);
    list.add(*first);
    bool threw = false;
    try {
        const NoMemory none;
        list.add(*second);
    } catch (const std::bad_alloc&) {
        threw = true;
    }
    EXPECT_TRUE(threw);
    EXPECT_EQ(list.size(), 1u);
    EXPECT_EQ(second->ref_count(), 1u) << "the reference for a subscription that never was";
    EXPECT_EQ(notified(), (Order{1}));
    if (second->ref_count() == 2) {
        second->release();
    }
}

// Random subscribing, unsubscribing and notifying, from outside and from callbacks at any depth, against the rule:
// a notification calls exactly those, once each, who were there when it began and did not leave before their turn.
class RandomWalk {
public:
    explicit RandomWalk(unsigned seed) : random_(seed) {
        for (std::size_t id = 0; id < kCallbacks; ++id) {
            callbacks_[id] = subscriber([this, id](Event&, void*, Error*) { called(id); });
        }
    }

    void step() {
        switch (random_() % 8) {
            case 0:
            case 1:
            case 2:
                add(random_() % kCallbacks);
                break;
            case 3:
            case 4:
            case 5:
                remove(random_() % kCallbacks);
                break;
            case 6:
                notify();
                break;
            default:
                if (random_() % 16 == 0) {
                    clear();
                }
                break;
        }
        EXPECT_EQ(list_.size(), present_.size());
        EXPECT_EQ(list_.empty(), present_.empty());
        EXPECT_EQ(list_.is_notifying(), !frames_.empty());
    }

    void check() {
        std::set<std::size_t> listed;
        list_.each([&](Callback& callback) {
            for (std::size_t id = 0; id < kCallbacks; ++id) {
                if (callbacks_[id].get() == &callback) {
                    EXPECT_TRUE(listed.insert(id).second) << "twice in the list";
                }
            }
        });
        EXPECT_EQ(listed, present_);
        for (std::size_t id = 0; id < kCallbacks; ++id) {
            EXPECT_EQ(callbacks_[id]->ref_count(), 1 + present_.count(id));
            EXPECT_EQ(callbacks_[id]->disposals, expected_disposals_[id]);
        }
    }

    std::size_t deepest() const { return deepest_; }

private:
    static constexpr std::size_t kCallbacks = 12;
    static constexpr std::size_t kDepth = 4;

    void add(std::size_t id) {
        if (present_.insert(id).second) {
            list_.add(*callbacks_[id]);
        }
    }

    void remove(std::size_t id) {
        const bool was_there = present_.erase(id) != 0;
        left(id, was_there);
        EXPECT_EQ(list_.remove(*callbacks_[id], event_.get()), was_there);
    }

    void clear() {
        for (const std::size_t id : present_) {
            left(id, true);
        }
        present_.clear();
        list_.clear(event_.get());
    }

    void left(std::size_t id, bool was_there) {
        expected_disposals_[id] += was_there ? 1 : 0;
        for (auto& waiting : frames_) {
            waiting.erase(id);
        }
    }

    void notify() {
        if (frames_.size() == kDepth) {
            return;
        }
        frames_.push_back(present_);
        deepest_ = std::max(deepest_, frames_.size());
        list_.notify(*event_, nullptr, nullptr);
        EXPECT_TRUE(frames_.back().empty()) << "somebody was not called";
        frames_.pop_back();
    }

    void called(std::size_t id) {
        EXPECT_EQ(frames_.back().erase(id), 1u) << "called twice, too late or too early: " << id;
        for (unsigned steps = random_() % 3; steps > 0; --steps) {
            step();
        }
    }

    std::mt19937 random_;
    Life life_;
    Ref<PassiveEvent> event_ = PassiveEvent::create(life_, Firing::Repeating);
    CallbackList list_;
    std::array<Ref<Subscriber>, kCallbacks> callbacks_;
    std::array<int, kCallbacks> expected_disposals_ = {};
    std::set<std::size_t> present_;
    std::vector<std::set<std::size_t>> frames_;  // for each notification under way: who is still to be called
    std::size_t deepest_ = 0;
};

LIST_TEST(KeepsTheRuleOnRandomWalks) {
    for (const unsigned seed : {1U, 20260729U, 3141592653U}) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomWalk walk(seed);
        for (int i = 0; i < 7000; ++i) {
            walk.step();
            walk.check();
            ASSERT_FALSE(HasFailure()) << "step " << i;
        }
        EXPECT_EQ(walk.deepest(), 4u) << "the walk is worth something";
    }
}

}  // namespace
}  // namespace trueasync
