#pragma once

/// @file trueasync/base/intrusive_list.hpp
/// A doubly linked list whose nodes are part of the elements.

#include <cstddef>

namespace trueasync {

/// One membership in one list. `Tag` tells several memberships of one type apart.
template <typename Tag = void>
struct ListNode {
    ListNode* list_prev = nullptr;
    ListNode* list_next = nullptr;

    ListNode() = default;
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
