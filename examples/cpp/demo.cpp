// A tour of the runtime in a second: what `./dev demo` shows. Read it from `main` upwards.

#include <chrono>
#include <cstdio>
#include <string>
#include <trueasync/trueasync.hpp>
#include <vector>

namespace ta = trueasync;
using namespace std::chrono_literals;

namespace {

const auto program_start = std::chrono::steady_clock::now();

/// Prints a line with the milliseconds since the program began.
void say(const std::string& text) {
    using std::chrono::milliseconds;
    const auto passed = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - program_start);
    std::printf("  %4d ms  %s\n", static_cast<int>(passed.count()), text.c_str());
}

void heading(const char* text) { std::printf("\n%s\n", text); }

// --- 1

void taking_turns() {
    heading("1. Coroutines take turns: suspend() lets the others run");
    std::vector<ta::Handle<void>> players;
    for (const char* name : {"ping", "pong"}) {
        players.push_back(ta::spawn([name] {
            for (int round = 1; round <= 3; ++round) {
                say(name + std::string(" ") + std::to_string(round));
                ta::suspend();
            }
        }));
    }
    for (const auto& player : players) {
        ta::await(player);
    }
}

// --- 2

void sleeping_together() {
    heading("2. A thousand coroutines sleep for 200 ms each, at the same time");
    std::vector<ta::Handle<int>> sleepers;
    for (int i = 1; i <= 1000; ++i) {
        sleepers.push_back(ta::spawn([i] {
            ta::sleep_for(200ms);
            return i;
        }));
    }
    say("all of them are asleep as soon as this one waits");
    int sum = 0;
    for (const auto& sleeper : sleepers) {
        sum += ta::await(sleeper);
    }
    say("all awake, and their results add up to " + std::to_string(sum));
}

// --- 3

void losing_patience() {
    heading("3. A time limit ends the wait, not the work");
    auto download = ta::spawn([] {
        ta::sleep_for(150ms);
        return std::string("the page");
    });
    try {
        ta::await(download, ta::timeout(50ms));
    } catch (const ta::TimeoutError& error) {
        say(error.what());
    }
    say("waiting once more, without a limit: got " + ta::await(download));
}

// --- 4

void stopping_early() {
    heading("4. A cancelled coroutine cleans up on its way out");
    auto worker = ta::spawn([] {
        struct TemporaryFile {
            TemporaryFile() { say("worker: temporary file made"); }
            ~TemporaryFile() { say("worker: temporary file removed, by a destructor as always"); }
        };
        const TemporaryFile file;
        ta::sleep_for(1h);
        say("worker: never reached");
    });
    ta::sleep_for(50ms);
    worker.cancel("the user pressed Ctrl-C");
    try {
        ta::await(worker);
    } catch (const ta::Cancellation& cancellation) {
        say("worker ended: " + cancellation.message());
    }
}

// --- 5

void finishing_first() {
    heading("5. protect() finishes what must not stop half-way, then delivers the cancellation");
    auto payment = ta::spawn([] {
        ta::protect([] {
            say("payment: money taken");
            ta::sleep_for(50ms);
            say("payment: receipt written");
        });
        say("payment: never reached");
    });
    ta::sleep_for(10ms);
    say("cancelling the payment");
    payment.cancel("changed my mind");
    try {
        ta::await(payment);
    } catch (const ta::Cancellation& cancellation) {
        say("payment ended: " + cancellation.message());
    }
}

// --- 6

void waiting_for_each_other() {
    heading("6. Two coroutines wait for each other: the runtime says who, where and for what");
    ta::StreamReportSink report(stdout);  // standard error if one sets nothing
    ta::RunOptions options;
    options.sink = &report;
    try {
        ta::run(
            [] {
                ta::Handle<void> hen;
                ta::Handle<void> egg;
                hen = ta::spawn([&] { ta::await(egg); }).named("hen");
                egg = ta::spawn([&] { ta::await(hen); }).named("egg");
                ta::await(hen);
            },
            std::move(options)
        );
    } catch (const ta::DeadlockError& error) {
        say(std::string("caught by main: ") + error.what());
    }
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    ta::run([] {
        taking_turns();
        sleeping_together();
        losing_patience();
        stopping_early();
        finishing_first();
    });
    waiting_for_each_other();
    std::puts("\nThat is the whole tour.");
}
