// printf ... | sort | uniq -c | sort -rn, with this program at both ends: three processes, none of them in our way.

#include <cstdio>
#include <string>
#include <trueasync/trueasync.hpp>
#include <vector>

namespace ta = trueasync;

/// Copies from one process to the next until the end.
void pump(ta::PipeReader& from, ta::PipeWriter& to) {
    std::vector<char> buffer(64 * 1024);
    while (const std::size_t count = from.read(buffer)) {
        to.write({buffer.data(), count});
    }
    to.close();
}

ta::Process start(std::vector<std::string> argv) {
    return ta::Process::start({.argv = std::move(argv), .in = ta::Stdio::pipe(), .out = ta::Stdio::pipe()});
}

int main() {
    ta::run([] {
        std::vector<ta::Process> stages;
        stages.push_back(start({"sort"}));
        stages.push_back(start({"uniq", "-c"}));
        stages.push_back(start({"sort", "-rn"}));

        auto feeder = ta::spawn([&] {
            for (int i = 1; i <= 20000; ++i) {
                stages.front().in().write(
                    i % 15 == 0  ? "fizzbuzz\n"
                    : i % 5 == 0 ? "buzz\n"
                    : i % 3 == 0 ? "fizz\n"
                                 : "other\n"
                );
            }
            stages.front().in().close();
        });
        std::vector<ta::Handle<void>> pumps;
        for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
            pumps.push_back(ta::spawn([&, i] { pump(stages[i].out(), stages[i + 1].in()); }));
        }
        std::fputs(stages.back().out().read_all().c_str(), stdout);

        ta::await(feeder);
        for (const auto& each : pumps) {
            ta::await(each);
        }
        for (ta::Process& stage : stages) {
            std::printf("process %d: %s\n", static_cast<int>(stage.pid()), ta::to_string(stage.wait()).c_str());
        }
        std::printf("and by the shell: %s", ta::shell_exec("seq 100 | grep -c 7").c_str());
    });
}
