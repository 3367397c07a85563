// tail -f: prints what is appended to a file, as it comes. `example_tail_f <file>` runs until Ctrl-C; without a file it shows
// itself on one that another coroutine writes.

#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <trueasync/trueasync.hpp>

using namespace std::chrono_literals;
namespace ta = trueasync;

/// Everything behind `position`, which moves on.
std::string read_from(const std::string& path, std::streamoff& position) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(0, std::ios::end);
    if (file.tellg() < position) {
        position = 0;  // it was cut off: begin anew
    }
    file.seekg(position);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    position += static_cast<std::streamoff>(text.size());
    return text;
}

/// Until the coroutine is cancelled, or the file is removed.
void follow(const std::string& path, std::streamoff position) {
    ta::Watch changes = ta::watch(path);  // before the first look, so that nothing slips between the two
    try {
        for (;;) {
            const std::string text = read_from(path, position);
            std::fwrite(text.data(), 1, text.size(), stdout);
            std::fflush(stdout);
            changes.next();
        }
    } catch (const ta::AsyncError& error) {
        std::printf("(%s)\n", error.what());
    }
}

void show() {
    const std::string path = std::filesystem::temp_directory_path() / ("trueasync-tail-" + std::to_string(getpid()));
    std::ofstream(path) << "the first line was there before\n";
    auto writer = ta::spawn([&] {
        for (const char* line : {"one", "two", "three"}) {
            ta::sleep_for(30ms);
            std::ofstream(path, std::ios::app) << line << '\n';
        }
        ta::sleep_for(30ms);
        std::filesystem::remove(path);
    });
    follow(path, 0);
    ta::await(writer);
}

int main(int argc, char** argv) {
    ta::run([&] {
        if (argc < 2) {
            show();
            return;
        }
        const std::string path = argv[1];
        auto follower = ta::spawn([&] { follow(path, static_cast<std::streamoff>(std::filesystem::file_size(path))); });
        ta::signal({SIGINT, SIGTERM});
        follower.cancel("Ctrl-C");
    });
}
