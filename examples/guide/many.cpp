// Many at once, but not too many, and none of them forgotten.

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <trueasync/trueasync.hpp>
#include <vector>

using namespace std::chrono_literals;
using namespace trueasync;

struct Connection {
    int number;
};

int square(int number) {
    sleep_for(number * 5ms);
    if (number == 3) {
        throw std::runtime_error("three is not for sale");
    }
    return number * number;
}

int main() {
    run([] {
        TaskGroup<int> group({.concurrency = 2});
        for (int i = 1; i <= 4; ++i) {
            group.spawn([i] { return square(i); });
        }
        for (const auto& [number, value] : group.all(true)) {
            std::printf("task %d: %d\n", static_cast<int>(number.number()), value);
        }
        for (const auto& [number, error] : group.errors()) {
            std::printf("task %d failed\n", static_cast<int>(number.number()));
        }

        int opened = 0;
        Pool<Connection> pool({.factory = [&] { return Connection{++opened}; }, .max = 2});
        int asked = 0;
        iterate(std::vector<int>(20), [&](int) {
            const auto connection = pool.acquire();  // waits while both are out
            sleep_for(1ms);
            ++asked;
        });
        std::printf("%d questions over %d connections\n", asked, opened);

        Scope scope;
        scope.spawn([] { sleep_for(1h); });
        scope.spawn([]() -> void { throw std::runtime_error("out of paper"); });
        try {
            scope.await_completion();
        } catch (const std::runtime_error& error) {
            std::printf("the scope has stopped the others: %s\n", error.what());
        }
    });
}
