/// A program without a single shared library: its calls cannot be replaced. It is told so, and blocks with the same results.

#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <string>
#include <trueasync/transparent/transparent.hpp>
#include <trueasync/trueasync.hpp>

using namespace trueasync;

int main() {
    return run([] {
        const Status status = install_transparent();
        if (status) {
            std::puts("calls that nobody makes were replaced");
            return 1;
        }
        std::printf("told: %s\n", std::string(status.error()->message()).c_str());
        auto one = spawn([] { return ::usleep(1000); });
        auto two = spawn([] { return ::usleep(2000); });
        return await(one) == 0 && await(two) == 0 && !is_transparent() ? 0 : 1;
    });
}
