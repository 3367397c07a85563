#include <algorithm>
#include <map>
#include <random>
#include <support/runtime_fakes.hpp>
#include <support/seeds.hpp>
#include <trueasync/sync/channel.hpp>

namespace trueasync::testing {
namespace {

/// A value that is counted, so that none is made twice or forgotten.
class Item {
public:
    explicit Item(int number, int* live) noexcept : number_(number), live_(live) { ++*live_; }
    Item(Item&& other) noexcept : number_(other.number_), live_(std::exchange(other.live_, nullptr)) {}
    Item& operator=(Item&&) = delete;
    ~Item() {
        if (live_ != nullptr) {
            --*live_;
        }
    }
    int number() const noexcept { return number_; }

private:
    int number_;
    int* live_;
};

enum class Outcome : std::uint8_t { Unknown, Sent, NotSent, Undecided };

struct Options {
    std::uint32_t capacity = 0;
    int senders = 3;
    int receivers = 3;
    int values = 12;  // of each sender
    bool uses_futures = true;
    bool closes_early = false;
    bool cancels = true;
};

/// Senders, receivers and trouble makers, all by chance; then everything is counted.
class Scenario {
public:
    Scenario(unsigned seed, const Options& options) : random_(seed), options_(options), channel_(options.capacity) {}

    void run() {
        for (int i = 0; i < options_.receivers; ++i) {
            actors_.push_back(spawn([this] { receive_all(); }));
        }
        for (int i = 0; i < options_.senders; ++i) {
            senders_.push_back(spawn([this, i] { send_all(i); }));
            actors_.push_back(senders_.back());
        }
        suspend();  // everybody has begun: one that is cancelled before never runs
        is_begun_ = true;
        if (options_.closes_early) {
            sleep_for(chance(40) * 1ms);
            channel_.close();
        }
        const auto is_done = [](const Handle<void>& actor) { return actor.is_finished(); };
        for (int turns = 0; !std::all_of(senders_.begin(), senders_.end(), is_done); ++turns) {
            ASSERT_LT(turns, 2000) << "a sender is stuck: " << channel_.event().info();
            sleep_for(1ms);
            trouble();
        }
        is_over_ = true;
        channel_.close();
        sleep_for(20ms);
        while (std::optional<Item> item = channel_.try_recv()) {
            note(*item);
        }
        for (const auto& actor : actors_) {
            ASSERT_TRUE(actor.is_finished()) << "stuck: " << channel_.event().info();
        }
        check();
    }

private:
    int chance(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

    void send_all(int sender) {
        for (int i = 0; i < options_.values; ++i) {
            const int number = sender * 1000 + i;
            outcomes_[number] = Outcome::Unknown;
            outcomes_[number] = send_one(number);
            if (outcomes_[number] == Outcome::Sent) {
                sent_.push_back(number);
            }
            pause();
        }
    }

    Outcome send_one(int number) {
        const bool is_unbuffered = options_.capacity == 0;
        try {
            switch (chance(6)) {
                case 0:
                    return channel_.try_send(Item(number, &live_)) ? Outcome::Sent : Outcome::NotSent;
                case 1:
                    channel_.send(Item(number, &live_), chance(4) * 1ms);
                    break;
                case 2:
                    channel_.send(Item(number, &live_), token_);
                    break;
                default:
                    channel_.send(Item(number, &live_));
            }
            return Outcome::Sent;
        } catch (const Cancellation&) {
            return is_unbuffered ? Outcome::Undecided : Outcome::NotSent;  // it may have been taken just before
        } catch (const TimeoutError&) {
            return Outcome::NotSent;
        } catch (const ChannelClosed&) {
            return Outcome::NotSent;
        }
    }

    void receive_all() {
        while (!is_over_) {
            try {
                receive_one();
            } catch (const Cancellation&) {
            } catch (const TimeoutError&) {
            } catch (const ChannelClosed&) {
                return;
            }
            try {
                pause();
            } catch (const Cancellation&) {}
        }
    }

    void receive_one() {
        switch (chance(options_.uses_futures ? 7 : 5)) {
            case 0:
                if (std::optional<Item> item = channel_.try_recv()) {
                    note(*item);
                } else {
                    suspend();
                }
                return;
            case 1:
                note(channel_.recv(chance(4) * 1ms));
                return;
            case 2:
                note(channel_.recv(token_));
                return;
            case 5:
            case 6: {
                auto future = channel_.event().recv_async();
                future->ignore();
                const bool is_waited_for = chance(2) != 0;
                try {
                    if (is_waited_for && wait_for(*future, Deadline::after(chance(4) * 1ms)) == WaitResult::Cancelled) {
                        Scheduler::take_wait_error();
                    }
                } catch (const Cancellation&) {}
                if (future->value() != nullptr) {
                    note(future->get());
                }
                if (future->error() != nullptr) {
                    throw ChannelClosed(*future->error());
                }
                return;
            }
            default:
                note(channel_.recv());
        }
    }

    void note(const Item& item) {
        received_.push_back(item.number());
        trouble();
    }

    /// Right after something was done, so that those it has woken have not run yet.
    void trouble() {
        if (options_.cancels && is_begun_ && chance(4) == 0) {
            actors_[static_cast<std::size_t>(chance(static_cast<int>(actors_.size())))].cancel();
        }
        if (chance(6) == 0) {
            token_.notify();
        }
    }

    void pause() {
        trouble();
        for (int attempts = 0; attempts < 2; ++attempts) {
            try {
                const int kind = chance(4);
                if (kind == 0) {
                    suspend();
                } else if (kind == 1) {
                    sleep_for(chance(3) * 1ms);
                }
                return;
            } catch (const Cancellation&) {}
        }
    }

    void check() {
        std::map<int, int> times;
        for (const int number : received_) {
            ++times[number];
        }
        for (const auto& [number, count] : times) {
            EXPECT_EQ(count, 1) << number << " was received more than once";
            EXPECT_TRUE(outcomes_.contains(number)) << number << " was never sent";
        }
        for (const auto& [number, outcome] : outcomes_) {
            if (outcome == Outcome::Sent) {
                EXPECT_EQ(times[number], 1) << number << " was sent and is lost";
            } else if (outcome == Outcome::NotSent) {
                EXPECT_EQ(times[number], 0) << number << " was not sent and is there";
            }
        }
        EXPECT_EQ(live_, 0);
        EXPECT_EQ(
            channel_.event().info(),
            "Channel(capacity=" + std::to_string(options_.capacity) + ", receivers=0, senders=0, reserved=0/0)"
        );
        if (options_.receivers == 1 && !options_.uses_futures) {
            check_order();
        }
    }

    /// One receiver: everything in the order in which it was sent, whoever was cancelled in between.
    void check_order() {
        std::map<int, int> last;
        for (const int number : received_) {
            const auto [place, is_new] = last.try_emplace(number / 1000, number);
            EXPECT_TRUE(is_new || place->second < number) << number << " came after " << place->second;
            place->second = number;
        }
        if (options_.capacity != 0) {
            EXPECT_EQ(received_, sent_);
        }
    }

    std::mt19937 random_;
    Options options_;
    int live_ = 0;
    Channel<Item> channel_;
    ManualEvent token_;
    std::vector<Handle<void>> senders_;
    std::vector<Handle<void>> actors_;
    std::map<int, Outcome> outcomes_;
    std::vector<int> sent_;
    std::vector<int> received_;
    bool is_begun_ = false;
    bool is_over_ = false;
};

class ChannelProperty : public CoroTest {
protected:
    void run_seeds(unsigned first, unsigned count, const std::function<Options(std::mt19937&)>& choose) {
        for_seeds(first, count, [&](std::mt19937& random) {
            const Options options = choose(random);
            in_runtime([&] {
                Scenario scenario(static_cast<unsigned>(random()), options);
                scenario.run();
            });
        });
    }
};

constexpr std::uint32_t kCapacities[] = {0, 0, 1, 2, 7};

TEST_F(ChannelProperty, NothingIsLostOrDoubled) {
    run_seeds(1, 300, [](std::mt19937& random) {
        Options options;
        options.capacity = kCapacities[random() % 5];
        options.senders = 1 + static_cast<int>(random() % 5);
        options.receivers = 1 + static_cast<int>(random() % 5);
        options.closes_early = random() % 3 == 0;
        return options;
    });
}

TEST_F(ChannelProperty, OneReceiverSeesTheOrderOfSending) {
    run_seeds(1001, 200, [](std::mt19937& random) {
        Options options;
        options.capacity = kCapacities[random() % 5];
        options.senders = 1 + static_cast<int>(random() % 5);
        options.receivers = 1;
        options.uses_futures = false;
        options.closes_early = random() % 4 == 0;
        return options;
    });
}

TEST_F(ChannelProperty, WithoutCancelsToo) {
    run_seeds(2001, 100, [](std::mt19937& random) {
        Options options;
        options.capacity = kCapacities[random() % 5];
        options.senders = 1 + static_cast<int>(random() % 5);
        options.receivers = 1 + static_cast<int>(random() % 5);
        options.cancels = false;
        return options;
    });
}

}  // namespace
}  // namespace trueasync::testing
