// Two things at a time, and what becomes of their results.

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <trueasync/trueasync.hpp>

using namespace std::chrono_literals;
using namespace trueasync;

std::string fetch(const std::string& name, std::chrono::milliseconds delay) {
    std::printf("asking for %s\n", name.c_str());
    sleep_for(delay);  // stands for a slow server; the others run meanwhile
    if (name == "weather") {
        throw std::runtime_error("the weather station does not answer");
    }
    return name + " of today";
}

int main() {
    run([] {
        auto news = spawn([] { return fetch("news", 30ms); });
        auto prices = spawn([] { return fetch("prices", 10ms); });
        auto weather = spawn([] { return fetch("weather", 20ms); });
        std::puts("all three are on their way");

        std::printf("got %s\n", await(news).c_str());
        std::printf("got %s\n", await(prices).c_str());  // was there before: costs nothing
        try {
            await(weather);
        } catch (const std::runtime_error& error) {
            std::printf("no weather: %s\n", error.what());
        }
    });
}
