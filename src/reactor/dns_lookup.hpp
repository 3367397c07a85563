#pragma once

/// @file reactor/dns_lookup.hpp
/// Lookups on their way, and those who wait for each.

#include <memory>
#include <string>
#include <trueasync/reactor/dns.hpp>
#include <trueasync/reactor/work_lane.hpp>

namespace trueasync::detail {

class DnsLookup;

/// One event's share in a lookup.
class DnsTicket final : public ReturnItem, private ListNode<DnsTicket> {
public:
    explicit DnsTicket(DnsEvent& owner) noexcept : owner_(&owner) {}

    /// The owner wants no answer any more. Ends the ticket, now or when the answer comes.
    void leave() noexcept;

    void done() noexcept override;
    void detach() noexcept override;
    void drop() noexcept override { delete this; }
    bool recall() noexcept override;

private:
    friend class DnsLookup;
    friend class IntrusiveList<DnsTicket, DnsTicket>;

    ~DnsTicket() override = default;

    DnsEvent* owner_;
    DnsLookup* lookup_ = nullptr;              // guarded by the table's mutex; null once the answer is on its way
    std::shared_ptr<const DnsAnswer> answer_;  // written before it is posted
};

/// A call of the resolver: what is asked, and who has asked it. In the table from its beginning to its end, by its key.
class DnsLookup : public LaneItem {
public:
    ~DnsLookup() override = default;

    /// Joins the lookup with the same key that is on its way, or begins this one.
    static Status join(Reactor& reactor, DnsEvent& owner, std::unique_ptr<DnsLookup> lookup, DnsTicket*& ticket);

    void execute() noexcept final;

protected:
    explicit DnsLookup(std::string key) : key_(std::move(key)) {}

    /// On a thread of the lane.
    virtual void look_up(DnsAnswer& answer) = 0;

private:
    friend class DnsTicket;

    static void after_fork_in_child() noexcept;
    static bool take_out(DnsTicket& ticket) noexcept;

    struct Table;
    static Table& table();

    std::string key_;
    IntrusiveList<DnsTicket, DnsTicket> tickets_;  // guarded by the table's mutex
};

}  // namespace trueasync::detail
