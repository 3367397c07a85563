#include <trueasync/base/ref.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

namespace trueasync {
namespace {

struct Counted {
    explicit Counted(int number = 0) : value(number) {}
    void add_ref() { ++references; }
    void release() { --references; }

    int references = 1;
    int value;
};

struct Derived : Counted {};

// Born on the heap, gone with its last reference.
struct Heap {
    explicit Heap(int& live_objects) : live(live_objects) { ++live; }
    ~Heap() { --live; }
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    void add_ref() { ++references; }
    void release() {
        if (--references == 0) {
            delete this;
        }
    }

    int references = 1;
    int& live;
};

TEST(Ref, EmptyHoldsNothing) {
    const Ref<Counted> ref;
    EXPECT_FALSE(ref);
    EXPECT_EQ(ref.get(), nullptr);
    EXPECT_EQ(ref, nullptr);
    EXPECT_EQ(Ref<Counted>(nullptr), ref);
    EXPECT_EQ(Ref<Counted>(static_cast<Counted*>(nullptr)), ref);
}

TEST(Ref, PointerTakesNewReference) {
    Counted object;
    {
        const Ref<Counted> ref(&object);
        EXPECT_EQ(object.references, 2);
        EXPECT_EQ(ref.get(), &object);
        EXPECT_EQ(&*ref, &object);
        EXPECT_EQ(ref->value, 0);
        EXPECT_TRUE(ref);
    }
    EXPECT_EQ(object.references, 1);
}

TEST(Ref, TakingAReferenceIsExplicit) {
    EXPECT_FALSE((std::is_convertible_v<Counted*, Ref<Counted>>));
    EXPECT_TRUE((std::is_convertible_v<std::nullptr_t, Ref<Counted>>));
}

TEST(Ref, AdoptTakesOverTheFirstReference) {
    Counted object;
    { const auto ref = Ref<Counted>::adopt(&object); }
    EXPECT_EQ(object.references, 0);
    EXPECT_FALSE(Ref<Counted>::adopt(nullptr));
}

TEST(Ref, SetAdoptedTakesOverIntoAnEmptyOne) {
    Counted object;
    {
        Ref<Counted> ref;
        ref.set_adopted(&object);
        EXPECT_EQ(ref.get(), &object);
        EXPECT_EQ(object.references, 1);
    }
    EXPECT_EQ(object.references, 0);
}

TEST(Ref, CopySharesMoveHandsOver) {
    Counted object;
    Ref<Counted> first(&object);
    Ref<Counted> copy(first);
    EXPECT_EQ(object.references, 3);
    Ref<Counted> moved(std::move(first));
    EXPECT_EQ(object.references, 3);
    EXPECT_EQ(first, nullptr);
    EXPECT_EQ(moved, copy);
}

TEST(Ref, AssignmentReleasesWhatWasThere) {
    Counted one;
    Counted two;
    Ref<Counted> ref(&one);
    const Ref<Counted> other(&two);
    ref = other;
    EXPECT_EQ(one.references, 1);
    EXPECT_EQ(two.references, 3);
    ref = Ref<Counted>(&one);
    EXPECT_EQ(one.references, 2);
    EXPECT_EQ(two.references, 2);
    ref = nullptr;
    EXPECT_EQ(one.references, 1);
}

TEST(Ref, AssignmentToItselfKeepsTheObject) {
    int live = 0;
    auto ref = make_ref<Heap>(live);
    Ref<Heap>& same = ref;
    ref = same;
    EXPECT_EQ(live, 1);
    ref = std::move(same);
    EXPECT_EQ(live, 1);
    EXPECT_TRUE(ref);
    EXPECT_EQ(ref->references, 1);
}

TEST(Ref, AssigningTheHeldObjectAgainKeepsIt) {
    int live = 0;
    auto ref = make_ref<Heap>(live);
    ref = Ref<Heap>(ref.get());
    EXPECT_EQ(live, 1);
    EXPECT_EQ(ref->references, 1);
}

TEST(Ref, ConvertsToBase) {
    Derived object;
    Ref<Derived> derived(&object);
    const Ref<Counted> copy(derived);
    EXPECT_EQ(object.references, 3);
    const Ref<Counted> moved(std::move(derived));
    EXPECT_EQ(object.references, 3);
    EXPECT_EQ(derived, nullptr);
    EXPECT_EQ(copy, moved);
    EXPECT_FALSE((std::is_convertible_v<Ref<Counted>, Ref<Derived>>));
}

TEST(Ref, DetachGivesTheReferenceAway) {
    Counted object;
    Ref<Counted> ref(&object);
    EXPECT_EQ(ref.detach(), &object);
    EXPECT_EQ(ref, nullptr);
    EXPECT_EQ(object.references, 2);
}

TEST(Ref, ResetReleasesOnce) {
    Counted object;
    Ref<Counted> ref(&object);
    ref.reset();
    ref.reset();
    EXPECT_EQ(object.references, 1);
}

TEST(Ref, IsEmptyWhileTheObjectEnds) {
    struct Looking {
        void add_ref() {}
        void release() { was_empty = *own == nullptr; }
        Ref<Looking>* own = nullptr;
        bool was_empty = false;
    };
    Looking object;
    Ref<Looking> ref(&object);
    object.own = &ref;
    ref.reset();
    EXPECT_TRUE(object.was_empty) << "the end of an object must not find itself in the reference again";
}

TEST(Ref, SwapMovesNoCounts) {
    Counted one;
    Counted two;
    Ref<Counted> first(&one);
    Ref<Counted> second(&two);
    first.swap(second);
    EXPECT_EQ(first.get(), &two);
    EXPECT_EQ(second.get(), &one);
    EXPECT_EQ(one.references, 2);
    EXPECT_EQ(two.references, 2);
}

TEST(Ref, MakeRefOwnsTheFirstReference) {
    int live = 0;
    {
        const auto ref = make_ref<Heap>(live);
        EXPECT_EQ(live, 1);
        EXPECT_EQ(ref->references, 1);
    }
    EXPECT_EQ(live, 0);
}

TEST(Ref, IsOnePointer) { EXPECT_EQ(sizeof(Ref<Counted>), sizeof(void*)); }

}  // namespace
}  // namespace trueasync
