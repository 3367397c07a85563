#include <trueasync/base/intrusive_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

namespace trueasync {
namespace {

struct Ready;
struct All;

struct Item : ListNode<Ready>, ListNode<All> {
    explicit Item(int number) : value(number) {}
    int value;
};

using ReadyList = IntrusiveList<Item, Ready>;
using AllList = IntrusiveList<Item, All>;

bool is_ready(const Item& item) { return static_cast<const ListNode<Ready>&>(item).is_linked(); }

void leave_ready(Item& item) { static_cast<ListNode<Ready>&>(item).unlink(); }

template <typename List>
std::vector<int> values(const List& list) {
    std::vector<int> found;
    for (const Item& item : list) {
        found.push_back(item.value);
    }
    return found;
}

TEST(IntrusiveList, StartsEmpty) {
    ReadyList list;
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.pop_front(), nullptr);
    EXPECT_TRUE(values(list).empty());
}

TEST(IntrusiveList, PushesAtBothEnds) {
    Item one(1);
    Item two(2);
    Item three(3);
    ReadyList list;
    list.push_back(two);
    list.push_back(three);
    list.push_front(one);
    EXPECT_EQ(values(list), (std::vector{1, 2, 3}));
    EXPECT_EQ(&list.front(), &one);
    EXPECT_FALSE(list.empty());
}

TEST(IntrusiveList, PopsInOrder) {
    Item one(1);
    Item two(2);
    ReadyList list;
    list.push_back(one);
    list.push_back(two);
    EXPECT_EQ(list.pop_front(), &one);
    EXPECT_FALSE(is_ready(one));
    EXPECT_EQ(list.pop_front(), &two);
    EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, UnlinksFromAnywhere) {
    Item one(1);
    Item two(2);
    Item three(3);
    ReadyList list;
    for (Item* item : {&one, &two, &three}) {
        list.push_back(*item);
    }
    leave_ready(two);
    EXPECT_EQ(values(list), (std::vector{1, 3}));
    leave_ready(three);
    leave_ready(one);
    EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, UnlinkOutsideAnyListDoesNothing) {
    Item item(1);
    leave_ready(item);
    EXPECT_FALSE(is_ready(item));
    ReadyList list;
    list.push_back(item);
    leave_ready(item);
    leave_ready(item);
    EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, KnowsWhetherANodeIsLinked) {
    Item item(1);
    EXPECT_FALSE(is_ready(item));
    ReadyList list;
    list.push_back(item);
    EXPECT_TRUE(is_ready(item)) << "also as the only one";
}

TEST(IntrusiveList, ElementMayComeBack) {
    Item one(1);
    Item two(2);
    ReadyList list;
    list.push_back(one);
    list.push_back(two);
    list.push_back(*list.pop_front());
    EXPECT_EQ(values(list), (std::vector{2, 1}));
}

TEST(IntrusiveList, TagsTellMembershipsApart) {
    Item one(1);
    Item two(2);
    ReadyList ready;
    AllList all;
    all.push_back(one);
    all.push_back(two);
    ready.push_back(two);
    EXPECT_FALSE(is_ready(one));
    EXPECT_EQ(ready.pop_front(), &two);
    EXPECT_EQ(values(all), (std::vector{1, 2}));
}

TEST(IntrusiveList, EndOfTheListUnlinksItsElements) {
    Item one(1);
    Item two(2);
    {
        ReadyList list;
        list.push_back(one);
        list.push_back(two);
    }
    EXPECT_FALSE(is_ready(one));
    EXPECT_FALSE(is_ready(two));
    ReadyList other;
    other.push_back(one);
    EXPECT_EQ(values(other), (std::vector{1}));
}

TEST(IntrusiveList, SortsAndKeepsTheOrderOfEquals) {
    for (const int size : {0, 1, 2, 3, 7, 100, 1000}) {
        std::deque<Item> items;
        ReadyList list;
        unsigned random = 12345;
        for (int i = 0; i < size; ++i) {
            random = random * 1664525U + 1013904223U;
            list.push_back(items.emplace_back(static_cast<int>(random >> 24) * 1000 + i));
        }
        const auto key = [](const Item& item) { return item.value / 1000; };
        list.sort([&](const Item& a, const Item& b) { return key(a) < key(b); });
        std::vector<int> expected;
        for (const Item& item : items) {
            expected.push_back(item.value);
        }
        std::stable_sort(expected.begin(), expected.end(), [](int a, int b) { return a / 1000 < b / 1000; });
        EXPECT_EQ(values(list), expected);
        for (Item& item : items) {  // linked both ways
            leave_ready(item);
        }
        EXPECT_TRUE(list.empty());
    }
}

TEST(IntrusiveList, WritesThroughItsIterators) {
    Item one(1);
    ReadyList list;
    list.push_back(one);
    for (Item& item : list) {
        item.value = 7;
    }
    EXPECT_EQ(one.value, 7);
}

}  // namespace
}  // namespace trueasync
