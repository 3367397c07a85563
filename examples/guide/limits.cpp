// Waiting no longer than one wants to, and stopping what is no longer wanted.

#include <chrono>
#include <cstdio>
#include <trueasync/trueasync.hpp>

using namespace std::chrono_literals;
using namespace trueasync;

void transfer() {
    protect([] {
        std::puts("transfer: money taken");
        sleep_for(20ms);  // not even a cancellation comes in between
        std::puts("transfer: money given");
    });
    std::puts("transfer: never printed, the cancellation came first");
}

int main() {
    run([] {
        auto report = spawn([] {
            sleep_for(50ms);
            return 42;
        });
        try {
            await(report, timeout(10ms));
        } catch (const TimeoutError&) {
            std::puts("no report after 10 ms, and it is still being made");
        }
        std::printf("the report: %d\n", await(report));

        auto search = spawn([] {
            struct Index {
                ~Index() { std::puts("search: index closed"); }
            } index;
            sleep_for(1h);
        });
        auto payment = spawn(transfer);
        sleep_for(10ms);
        search.cancel("found it elsewhere");
        payment.cancel("changed my mind");
        for (const auto& cancelled : {search, payment}) {
            try {
                await(cancelled);
            } catch (const Cancellation& cancellation) {
                std::printf("stopped: %s\n", cancellation.message().c_str());
            }
        }
    });
}
