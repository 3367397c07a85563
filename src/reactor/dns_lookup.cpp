#include "reactor/dns_lookup.hpp"

#include <netdb.h>
#include <cerrno>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>
#include "reactor/fork_guard.hpp"

namespace trueasync::detail {

/// All lookups of the process that have not ended. The mutex is held around calls of the lane, never the other way round.
struct DnsLookup::Table {
    std::mutex mutex;
    std::unordered_map<std::string_view, DnsLookup*> lookups;
};

DnsLookup::Table& DnsLookup::table() {
    static Table* const instance = [] {
        auto* made = new Table;  // never destroyed: lookups may end after static destructors have begun
        ForkGuard::instance().add_table(made->mutex, &DnsLookup::after_fork_in_child);
        return made;
    }();
    return *instance;
}

Status DnsLookup::join(Reactor& reactor, DnsEvent& owner, std::unique_ptr<DnsLookup> lookup, DnsTicket*& ticket) {
    auto* made = new DnsTicket(owner);
    Status status = made->expect(reactor);
    if (status) {
        Table& all = table();
        const std::lock_guard lock(all.mutex);
        auto [place, is_new] = all.lookups.try_emplace(lookup->key_, lookup.get());
        if (is_new) {
            status = WorkLane::dns().submit(*lookup);
            if (!status) {
                all.lookups.erase(place);
            } else {
                static_cast<void>(lookup.release());  // ends itself
            }
        }
        if (status) {
            made->lookup_ = place->second;
            place->second->tickets_.push_back(*made);
            ticket = made;
            return {};
        }
    }
    made->forget();
    made->drop();
    return status;
}

void DnsLookup::execute() noexcept {
    auto answer = std::make_shared<DnsAnswer>();
    try {
        look_up(*answer);
    } catch (...) {
        *answer = DnsAnswer(EAI_MEMORY);
    }
    IntrusiveList<DnsTicket, DnsTicket> waiting;
    {
        Table& all = table();
        const std::lock_guard lock(all.mutex);
        all.lookups.erase(key_);
        while (DnsTicket* ticket = tickets_.pop_front()) {
            ticket->lookup_ = nullptr;  // from here on only `post` ends its wait
            ticket->answer_ = answer;
            waiting.push_back(*ticket);
        }
    }
    while (DnsTicket* ticket = waiting.pop_front()) {
        ticket->post();
    }
    delete this;
}

/// True: the ticket is in no lookup any more and no answer will come for it.
bool DnsLookup::take_out(DnsTicket& ticket) noexcept {
    Table& all = table();
    std::unique_ptr<DnsLookup> unwanted;
    const std::lock_guard lock(all.mutex);
    DnsLookup* lookup = std::exchange(ticket.lookup_, nullptr);
    if (lookup == nullptr) {
        return false;
    }
    static_cast<trueasync::ListNode<DnsTicket>&>(ticket).unlink();
    if (lookup->tickets_.empty() && WorkLane::dns().cancel(*lookup)) {
        all.lookups.erase(lookup->key_);
        unwanted.reset(lookup);
    }
    return true;
}

void DnsLookup::after_fork_in_child() noexcept {
    Table& all = table();
    for (auto& [key, lookup] : all.lookups) {
        while (DnsTicket* ticket = lookup->tickets_.pop_front()) {
            ticket->lookup_ = nullptr;  // those of this thread's loop are told that they are lost
        }
    }
    all.lookups.clear();  // the lookups themselves are left alone: some were in use by threads of the parent
}

// --- tickets

void DnsTicket::leave() noexcept {
    owner_ = nullptr;
    if (recall()) {
        forget();
        delete this;
    }
}

bool DnsTicket::recall() noexcept { return DnsLookup::take_out(*this); }

void DnsTicket::done() noexcept {
    if (DnsEvent* owner = std::exchange(owner_, nullptr)) {
        if (is_lost()) {
            owner->ask_again();
        } else {
            owner->finish(std::move(answer_));
        }
    }
    delete this;
}

void DnsTicket::detach() noexcept {
    if (DnsEvent* owner = std::exchange(owner_, nullptr)) {
        owner->abandon();
    }
}

}  // namespace trueasync::detail
