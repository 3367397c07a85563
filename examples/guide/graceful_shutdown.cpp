// Stops in order: no job is cut in the middle, nobody is forgotten, nothing takes for ever.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <trueasync/trueasync.hpp>

using namespace std::chrono_literals;
using namespace trueasync;

void work(const char* name, const Channel<int>& jobs) {
    for (const int job : jobs) {
        protect([&] {
            sleep_for(50ms);
            std::printf("%s has done job %d\n", name, job);
        });
    }
    std::printf("%s: no more jobs\n", name);
}

int main() {
    run([] {
        const Channel<int> jobs(10);
        Scope workers;
        workers.spawn([jobs] { work("worker", jobs); }).named("worker");
        workers.spawn([] {
            try {
                sleep_for(1h);
            } catch (const Cancellation& cancellation) {
                std::printf("idler: %s\n", cancellation.message().c_str());
                throw;
            }
        });
        workers.finally([] { std::puts("all workers have gone home"); });
        for (int job = 1; job <= 3; ++job) {
            jobs.send(job);
        }

        spawn([] {
            sleep_for(75ms);
            std::raise(SIGTERM);  // stands for the one who stops the program
        });
        signal({SIGINT, SIGTERM});
        std::puts("asked to stop");

        jobs.close();  // 1. nothing new
        try {
            workers.await_completion(200ms);  // 2. what is begun may end
        } catch (const TimeoutError&) {
            workers.cancel("time is up");  // 3. who is still there is asked to stop
            workers.await_after_cancellation(1s);
        }
        shutdown();  // 4. everybody else
    });
    std::puts("goodbye");
}
