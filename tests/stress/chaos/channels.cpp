// Channels of every capacity, with everything that can be done to them.

#include <map>
#include <stress/chaos/chaos.hpp>

namespace trueasync::chaos {
namespace {

/// A channel, and what became of each letter. Shared by all who send and receive.
class Mail {
public:
    Mail(Run& run, Channel<Letter> channel) : run_(run), channel_(std::move(channel)) {
        run.watch(Ref<ChannelEvent>(&channel_.event()));
    }
    Mail(const Mail&) = delete;
    Mail& operator=(const Mail&) = delete;

    const Channel<Letter>& channel() const noexcept { return channel_; }
    /// Letters of one sender must come in order: say so when there is one receiver only.
    void keep_order() noexcept { is_ordered_ = true; }

    void send(unsigned sender, const Limit& limit = {}) {
        Letter letter(sender, ++sent_[sender]);
        const WaitResult result = channel_.event().send(letter, limit);
        if (letter.is_whole()) {
            expect(result != WaitResult::Ready, "a value was sent and is still there");
            letter.open();
            ++returned_;
        }
        detail::check(result);
    }
    void try_send(unsigned sender) {
        Letter letter(sender, ++sent_[sender]);
        if (!channel_.event().try_send(std::move(letter))) {
            expect(letter.is_whole(), "a value was taken and not sent");
            letter.open();
            ++returned_;
        }
    }

    void receive(const Limit& limit = {}) {
        if (limit.is_none() && run_.random.one_in(2)) {
            accept(channel_.recv());
        } else {
            accept(channel_.recv(limit));
        }
    }
    void try_receive() {
        if (auto letter = channel_.try_recv()) {
            accept(std::move(*letter));
        }
    }
    void accept(Letter letter) {
        const unsigned number = letter.number();
        expect(letter.is_whole(), "a value came in pieces");
        letter.open();
        ++received_;
        if (is_ordered_) {
            expect(std::exchange(last_[letter.sender()], number) < number, "values came out of order");
        }
    }

    /// Receives here, or sends there, whichever comes first. Both may be the same.
    void select(Mail& there, unsigned sender, const Limit& limit) {
        Letter letter(sender, ++there.sent_[sender]);
        ReceiveCase receiving(channel_.event());
        SendCase sending(there.channel_.event(), letter);
        SelectCase* const cases[] = {&receiving, &sending};
        std::size_t chosen = kNoCase;
        const WaitResult result = trueasync::select(cases, chosen, limit);
        if (result == WaitResult::Ready && chosen == 0) {
            accept(channel_.event().take_claimed());
        }
        if (letter.is_whole()) {
            expect(result != WaitResult::Ready || chosen == 0, "a value was sent and is still there");
            letter.open();
            ++there.returned_;
        }
        detail::check(result);
    }

    /// Main, when all have ended: what lies there is nobody's, and nobody waits.
    void check() {
        ChannelOf<Letter>& event = channel_.event();
        expect(event.waiting_receivers() == 0 && event.waiting_senders() == 0, "somebody waits in a channel");
        expect(event.reserved_values() == 0 && event.reserved_places() == 0, "something is reserved for nobody");
        while (!channel_.is_empty()) {
            try_receive();
        }
        unsigned sent = 0;
        for (const auto& [sender, count] : sent_) {
            sent += count;
        }
        expect(sent == received_ + returned_, "values do not add up");
    }
    unsigned returned() const noexcept { return returned_; }

private:
    Run& run_;
    Channel<Letter> channel_;
    std::map<unsigned, unsigned> sent_;
    std::map<unsigned, unsigned> last_;
    unsigned received_ = 0;
    unsigned returned_ = 0;
    bool is_ordered_ = false;
};

std::shared_ptr<Mail> open_mail(Run& run, const Channel<Letter>& channel) {
    auto mail = std::make_shared<Mail>(run, channel);
    run.at_end([mail] { mail->check(); });
    return mail;
}

std::shared_ptr<void> closing(const std::shared_ptr<Mail>& mail) {
    return when_dropped([mail] { mail->channel().close(); });
}

struct Traffic {
    unsigned senders;
    unsigned receivers;
    unsigned letters;
    unsigned limit_one_in;  // how rare limits are; 0: there are none
};

Limit limit_of(Run& run, const Traffic& traffic) {
    return traffic.limit_one_in != 0 ? some_limit(run, traffic.limit_one_in) : Limit();
}

/// Senders and receivers; the channel is closed when all of one side are gone.
std::vector<Handle<void>> drive(Run& run, const std::shared_ptr<Mail>& mail, const Traffic& traffic) {
    std::vector<Handle<void>> drivers;
    const auto no_senders = traffic.senders != 0 ? closing(mail) : nullptr;
    const auto no_receivers = traffic.receivers != 0 ? closing(mail) : nullptr;
    for (unsigned i = 0; i < traffic.receivers; ++i) {
        drivers.push_back(spawn([&run, mail, no_receivers, traffic] {
            while (tolerate([&] { mail->receive(limit_of(run, traffic)); }) || !mail->channel().is_closed()) {
                if (run.random.one_in(3)) {
                    pause(run);
                }
            }
        }));
    }
    for (unsigned i = 0; i < traffic.senders; ++i) {
        drivers.push_back(spawn([&run, mail, no_senders, traffic, i] {
            for (unsigned count = 0; count < traffic.letters && !mail->channel().is_closed(); ++count) {
                tolerate([&] { mail->send(i, limit_of(run, traffic)); });
                if (run.random.one_in(3)) {
                    pause(run);
                }
            }
        }));
    }
    return drivers;
}

void join(const std::vector<Handle<void>>& drivers) {
    for (const auto& driver : drivers) {
        await(driver);
    }
}

Traffic some_traffic(Run& run, unsigned limit_one_in = 0) {
    return {1 + run.random.pick(3), 1 + run.random.pick(3), 1 + run.random.pick(6), limit_one_in};
}

SCENARIO(channel_unbuffered) {
    const Traffic traffic = some_traffic(run);
    const auto mail = open_mail(run, Channel<Letter>());
    if (traffic.receivers == 1) {
        mail->keep_order();
    }
    run.at_end([&run, mail] { expect(!run.was_calm() || mail->returned() == 0, "a value came back by itself"); });
    join(drive(run, mail, traffic));
}

SCENARIO(channel_buffered) {
    const Traffic traffic = some_traffic(run);
    const auto mail = open_mail(run, Channel<Letter>(1 + run.random.pick(4)));
    if (traffic.receivers == 1) {
        mail->keep_order();
    }
    run.at_end([&run, mail] { expect(!run.was_calm() || mail->returned() == 0, "a value came back by itself"); });
    join(drive(run, mail, traffic));
}

SCENARIO(channel_limits) {
    const auto mail = open_mail(run, Channel<Letter>(run.random.pick(3)));
    join(drive(run, mail, some_traffic(run, 2)));
}

/// Somebody closes it in the middle of everything.
SCENARIO(channel_closed_early) {
    const auto mail = open_mail(run, Channel<Letter>(run.random.pick(3)));
    const auto drivers = drive(run, mail, some_traffic(run, 4));
    pause(run);
    mail->channel().close();
    join(drivers);
}

/// Those who do not wait take what those who do have not been woken for.
SCENARIO(channel_without_waiting) {
    const auto mail = open_mail(run, Channel<Letter>(run.random.pick(3)));
    const auto drivers = drive(run, mail, some_traffic(run));
    for (unsigned i = 0; i < 2; ++i) {
        spawn([&run, mail, i] {
            for (int count = 0; count < 6; ++count) {
                run.random.one_in(2) ? mail->try_send(100 + i) : mail->try_receive();
                if (run.random.one_in(2)) {
                    suspend();
                }
            }
        });
    }
    join(drivers);
}

SCENARIO(channel_iteration) {
    const auto mail = open_mail(run, Channel<Letter>(run.random.pick(3)));
    auto no_receivers = closing(mail);
    for (unsigned i = 0, count = 1 + run.random.pick(2); i < count; ++i) {
        spawn([&run, mail, no_receivers] {
            for (Letter& letter : mail->channel()) {
                mail->accept(std::move(letter));
                pause(run);
            }
        });
    }
    no_receivers.reset();
    join(drive(run, mail, {2, 0, 4, 0}));
}

/// Values as futures. Who drops one in time has taken nothing.
SCENARIO(channel_futures) {
    const auto mail = open_mail(run, Channel<Letter>(run.random.pick(2)));
    const auto drivers = drive(run, mail, {2, 1, 4, 0});
    for (int i = 0; i < 2; ++i) {
        spawn([&run, mail] {
            for (int count = 0; count < 3; ++count) {
                const Ref<FutureOf<Letter>> future = mail->channel().event().recv_async();
                future->ignore();
                const auto taking = when_dropped([&] {
                    if (future->value() != nullptr) {
                        mail->accept(std::move(future->get()));
                    }
                });
                run.random.one_in(3) ? pause(run) : void(tolerate([&] { await(future, some_limit(run)); }));
                if (run.random.one_in(4)) {
                    future->cancel();
                }
            }
        });
    }
    join(drivers);
}

/// Closed by itself when nobody sends, or nobody receives.
SCENARIO(channel_timeouts) {
    ChannelTimeouts timeouts;
    timeouts.no_producer = run.random.one_in(2) ? run.random.duration() : Duration::zero();
    timeouts.no_consumer = run.random.duration();
    timeouts.is_hard = run.random.one_in(2);
    const auto mail = open_mail(run, Channel<Letter>(run.random.pick(3), timeouts));
    Traffic traffic = some_traffic(run, 4);
    const auto drivers = drive(run, mail, traffic);
    if (timeouts.no_producer != Duration::zero()) {
        spawn([&run, mail] {  // nobody sends here any more
            tolerate([&] {
                for (;;) {
                    mail->receive();
                }
            });
        });
    }
    join(drivers);
}

/// It ends with the scope it was made in.
SCENARIO(channel_of_scope) {
    auto scope = std::make_shared<Scope>();
    auto mail = std::make_shared<std::shared_ptr<Mail>>();
    const auto made = scope->spawn([&run, mail] {
        *mail = open_mail(run, Channel<Letter>(run.random.pick(3)));
        const auto drivers = drive(run, *mail, some_traffic(run));
        pause(run);
        join(drivers);
    });
    spawn([&run, mail] {
        pause(run);
        if (*mail != nullptr) {
            tolerate([&] { (*mail)->send(50); });
        }
    });
    pause(run);
    run.random.one_in(2) ? scope->cancel() : scope->dispose_safely();
    scope->await_after_cancellation();
}

/// Those who choose among channels meet those who do not.
SCENARIO(channel_select) {
    seed_select(run.random.next());
    const auto one = open_mail(run, Channel<Letter>(run.random.pick(3)));
    const auto two = run.random.one_in(4) ? one : open_mail(run, Channel<Letter>(run.random.pick(3)));
    std::vector<Handle<void>> drivers = drive(run, one, some_traffic(run));
    for (const auto& driver : drive(run, two, some_traffic(run, 4))) {
        drivers.push_back(driver);
    }
    for (unsigned i = 0; i < 3; ++i) {
        spawn([&run, one, two, i] {
            for (int times = 0; times < 4; ++times) {
                tolerate([&] { one->select(*two, 50 + i, some_limit(run)); });
                if (run.random.one_in(2)) {
                    pause(run);
                }
            }
        });
    }
    join(drivers);
}

/// As in examples/cpp: one stage hands on to the next.
SCENARIO(channel_pipeline) {
    const unsigned stages = 2 + run.random.pick(3);
    std::vector<std::shared_ptr<Mail>> mails;
    for (unsigned i = 0; i <= stages; ++i) {
        mails.push_back(open_mail(run, Channel<Letter>(run.random.pick(3))));
    }
    std::vector<Handle<void>> workers = drive(run, mails[0], {1, 0, 6, 0});
    for (unsigned i = 0; i < stages; ++i) {
        workers.push_back(spawn([&run, in = mails[i], out = mails[i + 1], first = closing(mails[i]),
                                 second = closing(mails[i + 1])] {
            tolerate([&] {
                for (;;) {
                    in->receive();
                    if (run.random.one_in(3)) {
                        pause(run);
                    }
                    out->send(0);
                }
            });
        }));
    }
    spawn([last = mails[stages], closed = closing(mails[stages])] {
        tolerate([&] {
            for (;;) {
                last->receive();
            }
        });
    });
    join(workers);
}

}  // namespace
}  // namespace trueasync::chaos
