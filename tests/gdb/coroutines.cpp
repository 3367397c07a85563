/// Three coroutines in three states, for gdb to look at. The test knows the lines that end in a comment.

#include <trueasync/trueasync.hpp>

using namespace trueasync;

extern "C" void stop_here() {}

static int deep_inside(int depth) {
    const int there = depth + 10;
    if (depth == 0) {
        await(spawn([] { sleep_for(std::chrono::milliseconds(20)); }));  // line: inside
        return 1;
    }
    return deep_inside(depth - 1) + (there > 10 ? 1 : 0);
}

int main() {
    int result = 0;
    run([&] {
        auto first = spawn([] { return deep_inside(2); });  // line: first
        suspend();
        suspend();
        auto last = spawn([] { return 3; });  // line: last
        stop_here();
        result = await(first) + await(last);
    });
    return result == 6 ? 0 : 1;
}
