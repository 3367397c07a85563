// Coroutines that talk: words go through one channel, their lengths come back through another.

#include <chrono>
#include <cstdio>
#include <string>
#include <trueasync/trueasync.hpp>

using namespace std::chrono_literals;
using namespace trueasync;

int main() {
    run([] {
        const Channel<std::string> words;     // no capacity: from hand to hand
        const Channel<std::size_t> sizes(2);  // two may lie there before the sender waits
        FutureState<std::size_t> total;       // one value, once

        spawn([words] {
            for (const char* word : {"slow", "and", "steady"}) {
                words.send(word);  // waits for a receiver
                std::printf("sent %s\n", word);
            }
            words.close();
        });
        spawn([words, sizes] {
            for (const std::string& word : words) {  // until it is closed
                sizes.send(word.size());
            }
            sizes.close();
        });
        spawn([sizes, total] {
            std::size_t sum = 0;
            for (const std::size_t size : sizes) {
                sum += size;
            }
            total.complete(sum);
        });

        std::printf("%zu letters\n", await(total.future()));
        try {
            words.send("late");
        } catch (const ChannelClosed& closed) {
            std::printf("not sent: %s\n", closed.what());
        }
    });
}
