#include <cstdio>
#include <trueasync/trueasync.hpp>

int main() {
    return trueasync::run([] {
        auto a = trueasync::spawn([] {
            trueasync::suspend();
            return 20;
        });
        auto b = trueasync::spawn([] { return 22; });
        int sum = trueasync::await(a) + trueasync::await(b);
        std::printf("sum %d\n", sum);
        return sum == 42 ? 0 : 1;
    });
}
