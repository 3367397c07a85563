#pragma once

/// @file trueasync/base/intrusive_list.hpp
/// A doubly linked list whose nodes are part of the elements.

#include <cstddef>
#include <utility>

namespace trueasync {

/// One membership in one list. `Tag` tells several memberships of one type apart.
template <typename Tag = void>
struct ListNode {
    ListNode* list_prev;
    ListNode* list_next;

    ListNode() noexcept : list_prev(nullptr), list_next(nullptr) {}
    /// Means nothing until it is put into a list: for whoever knows by other means whether it is in one.
    struct Unset {};
    explicit ListNode(Unset /*unset*/) noexcept {}
    ListNode(const ListNode&) = delete;
    ListNode& operator=(const ListNode&) = delete;

    bool is_linked() const noexcept { return list_next != nullptr; }

    /// Leaves the list; does nothing when in none.
    void unlink() noexcept {
        if (list_next != nullptr) {
            list_prev->list_next = list_next;
            list_next->list_prev = list_prev;
            list_prev = list_next = nullptr;
        }
    }
};

/// Allocates nothing, owns nothing: an element leaves the list before it dies.
template <typename T, typename Tag = void>
class IntrusiveList {
public:
    using Node = ListNode<Tag>;

    IntrusiveList() noexcept { root_.list_prev = root_.list_next = &root_; }
    IntrusiveList(const IntrusiveList&) = delete;
    IntrusiveList& operator=(const IntrusiveList&) = delete;
    ~IntrusiveList() {
        while (!empty()) {
            root_.list_next->unlink();
        }
    }

    bool empty() const noexcept { return root_.list_next == &root_; }
    T& front() noexcept { return element(root_.list_next); }
    T& back() noexcept { return element(root_.list_prev); }

    void push_back(T& item) noexcept { insert_before(root_, item); }
    void push_front(T& item) noexcept { insert_before(*root_.list_next, item); }

    /// Null when empty.
    T* pop_front() noexcept {
        if (empty()) {
            return nullptr;
        }
        T& item = front();
        static_cast<Node&>(item).unlink();
        return &item;
    }

    /// By merging; allocates nothing, keeps the order of equals.
    template <typename Less>
    void sort(const Less& less) {
        Node* runs[kRuns] = {};
        for (Node* node = root_.list_next; node != &root_;) {
            Node* run = std::exchange(node, node->list_next);
            run->list_next = nullptr;
            std::size_t i = 0;
            for (; i + 1 < kRuns && runs[i] != nullptr; ++i) {
                run = merge(std::exchange(runs[i], nullptr), run, less);
            }
            runs[i] = runs[i] != nullptr ? merge(runs[i], run, less) : run;
        }
        Node* all = nullptr;
        for (Node* run : runs) {
            all = merge(run, all, less);
        }
        Node* last = &root_;
        for (; all != nullptr; last = std::exchange(all, all->list_next)) {
            all->list_prev = last;
            last->list_next = all;
        }
        last->list_next = &root_;
        root_.list_prev = last;
    }

    class Iterator {
    public:
        explicit Iterator(Node* node) noexcept : node_(node) {}
        T& operator*() const noexcept { return element(node_); }
        Iterator& operator++() noexcept {
            node_ = node_->list_next;
            return *this;
        }
        bool operator==(const Iterator&) const noexcept = default;

    private:
        Node* node_;
    };

    Iterator begin() const noexcept { return Iterator(root_.list_next); }
    Iterator end() const noexcept { return Iterator(const_cast<Node*>(&root_)); }

private:
    static T& element(Node* node) noexcept { return static_cast<T&>(*node); }

    static constexpr std::size_t kRuns = 48;  // the last one would be 2^47 long

    /// Two lists through `list_next` that end with null become one; the elements of `a` come first among equals.
    template <typename Less>
    static Node* merge(Node* a, Node* b, const Less& less) {
        Node* first = nullptr;
        Node** end = &first;
        while (a != nullptr && b != nullptr) {
            Node*& smaller = less(element(b), element(a)) ? b : a;
            *end = smaller;
            end = &smaller->list_next;
            smaller = *end;
        }
        *end = a != nullptr ? a : b;
        return first;
    }

    static void insert_before(Node& where, T& item) noexcept {
        Node& node = item;
        node.list_prev = where.list_prev;
        node.list_next = &where;
        where.list_prev->list_next = &node;
        where.list_prev = &node;
    }

    Node root_;
};

}  // namespace trueasync
