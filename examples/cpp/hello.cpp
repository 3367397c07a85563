// Three sleeps at the same time, and the sum of what they return: 300 milliseconds, not 600.

#include <chrono>
#include <cstdio>
#include <trueasync/trueasync.hpp>

using namespace std::chrono_literals;
using namespace trueasync;

int slow_square(int number) {
    sleep_for(number * 100ms);  // suspends this coroutine only; the others go on
    return number * number;
}

int main() {
    const int sum = run([] {
        auto one = spawn([] { return slow_square(1); });
        auto two = spawn([] { return slow_square(2); });
        auto three = spawn([] { return slow_square(3); });
        return await(one) + await(two) + await(three);
    });
    std::printf("1 + 4 + 9 = %d\n", sum);
}
