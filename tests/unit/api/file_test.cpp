#include <trueasync/api/file.hpp>

#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <support/busy_lane.hpp>
#include <support/descriptors.hpp>

namespace trueasync::testing {
namespace {

class FileApi : public BackendTest {
protected:
    void SetUp() override {
        BackendTest::SetUp();
        std::string name = (std::filesystem::temp_directory_path() / "trueasync-file-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        std::filesystem::remove_all(folder_);
        BackendTest::TearDown();
    }
    std::string path(const char* name = "file") const { return (folder_ / name).string(); }

    std::filesystem::path folder_;
};

class PipeApi : public FileApi {};

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const AsyncError& error) {
        return error.what();
    }
    return {};
}

int number_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const IoError& error) {
        return error.number();
    }
    return 0;
}

constexpr OpenMode kNew = OpenMode::ReadWrite | OpenMode::Create | OpenMode::Truncate;

TEST_P(FileApi, ReadsAndWrites) {
    in_runtime([&](IoReactor&) {
        // [file]
        File file = File::open(path(), OpenMode::ReadWrite | OpenMode::Create);
        file.write("hello, ");
        file.write("world");
        file.seek(0);
        const std::string all = file.read_all();
        // [file]
        EXPECT_EQ(all, "hello, world");
        EXPECT_EQ(file.size(), 12U);
        EXPECT_EQ(file.position(), 12U);
        file.write_at(0, "J");
        std::array<char, 5> buffer;
        EXPECT_EQ(file.read_at(0, buffer), 5U);
        EXPECT_EQ(std::string_view(buffer.data(), 5), "Jello");
        file.append("!");
        file.seek(7);
        EXPECT_EQ(file.read_all(), "world!");
        file.sync();
        file.truncate(5);
        EXPECT_EQ(file.size(), 5U);
        EXPECT_EQ(file.read_at(5, buffer), 0U);
        EXPECT_EQ(file.path(), path());
        EXPECT_TRUE(file.is_open());
        file.close();
        file.close();
        EXPECT_FALSE(file.is_open());
    });
}

TEST_P(FileApi, Modes) {
    in_runtime([&](IoReactor&) {
        EXPECT_EQ(number_of([&] { File::open(path()); }), ENOENT);
        File::open(path(), OpenMode::Write | OpenMode::Create, {}, 0600).write("12345");
        struct stat status {};
        ASSERT_EQ(::stat(path().c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0600U);
        EXPECT_EQ(
            number_of([&] { File::open(path(), OpenMode::Write | OpenMode::Create | OpenMode::Exclusive); }), EEXIST
        );
        File log = File::open(path(), OpenMode::Append);
        log.write("67");
        log.write_at(0, "8");
        EXPECT_EQ(File::open(path()).read_all(), "12345678");
        EXPECT_EQ(number_of([&] { log.read_all(); }), EBADF);
        EXPECT_EQ(number_of([&] { File::open(path()).write("x"); }), EBADF);
        EXPECT_EQ(File::open(path(), kNew).read_all(), "");
    });
}

TEST_P(FileApi, ErrorsSayWhatWasAttempted) {
    in_runtime([&](IoReactor&) {
        EXPECT_EQ(message_of([] { File::open("/no/such"); }), "open /no/such: ENOENT (no such file or directory)");
        File full = File::open("/dev/full", OpenMode::ReadWrite);
        EXPECT_EQ(message_of([&] { full.write("x"); }), "write /dev/full: ENOSPC (no space left on device)");
        EXPECT_EQ(number_of([&] { full.append("x"); }), ENOSPC);
        full.close();
        EXPECT_EQ(message_of([&] { full.write("x"); }), "write /dev/full: EBADF (bad file descriptor)");
        EXPECT_EQ(number_of([&] { full.size(); }), EBADF);
        EXPECT_EQ(number_of([] { File().read_all(); }), EBADF);
        EXPECT_EQ(number_of([&] { File::open(folder_.string()).read_all(); }), EISDIR);
        EXPECT_EQ(number_of([&] { File::open("/dev/zero").read_all(10000); }), EMSGSIZE);
    });
    EXPECT_EQ(code_of([] { File::open("/dev/null"); }), ErrorCode::NotRunning);
}

TEST_P(FileApi, WithoutDescriptors) {
    in_runtime([&](IoReactor&) {
        File warm = File::open("/dev/null");
        rlimit before{};
        ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
        const rlimit none{3, before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
        const int file = number_of([] { File::open("/dev/null"); });
        const int pipe = number_of([] { Pipe::make(); });
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
        EXPECT_EQ(file, EMFILE);
        EXPECT_EQ(pipe, EMFILE);
    });
}

TEST_P(FileApi, OthersRunMeanwhile) {
    in_runtime([&](IoReactor&) {
        File file = File::open(path(), kNew);
        BusyLane busy;
        bool is_written = false;
        auto writer = spawn([&] {
            file.write("slow disk");
            is_written = true;
        });
        settle();
        EXPECT_FALSE(is_written);
        busy.end();
        await(writer);
        EXPECT_EQ(file.size(), 9U);
    });
}

TEST_P(FileApi, WhoIsCancelledLeavesAtOnce) {
    in_runtime([&](IoReactor&) {
        File file = File::open(path(), kNew);
        file.write("0123456789");
        file.seek(0);
        {
            BusyLane busy;
            std::array<char, 4> buffer{};
            auto cancelled = [&](auto call) {
                auto caller = spawn([&] { call(); });
                suspend();
                caller.cancel();
                EXPECT_THROW(await(caller), Cancellation);
                EXPECT_THROW(
                    {
                        auto limited = spawn([&] { call(); });
                        limited.cancel();
                        await(limited);
                    },
                    Cancellation
                );
            };
            cancelled([&] { file.read(buffer); });
            cancelled([&] { file.read_at(0, buffer); });
            cancelled([&] { file.write("never"); });
            cancelled([&] { file.append("never"); });
            cancelled([&] { file.size(); });
            cancelled([&] { File::open(path("never"), kNew); });
            EXPECT_EQ(code_of([&] { file.read(buffer, 1ms); }), ErrorCode::Timeout);
            EXPECT_EQ(code_of([&] { File::open(path("never"), kNew, 1ms); }), ErrorCode::Timeout);
        }
        EXPECT_EQ(file.position(), 0U);
        EXPECT_EQ(file.read_all(), "0123456789");
        EXPECT_FALSE(std::filesystem::exists(path("never")));
    });
}

TEST_P(FileApi, ClosingEndsCallsUnderWay) {
    in_runtime([&](IoReactor&) {
        File file = File::open(path(), kNew);
        BusyLane busy;
        auto writer = spawn([&] { return number_of([&] { file.write("x"); }); });
        auto reader = spawn([&] {
            std::array<char, 4> buffer{};
            return number_of([&] { file.read_at(0, buffer); });
        });
        suspend();
        file.close();
        EXPECT_EQ(await(writer), ECANCELED);
        EXPECT_EQ(await(reader), ECANCELED);
    });
}

TEST_P(FileApi, MovesAndOutlivesItsRuntime) {
    File file;
    in_runtime([&](IoReactor&) {
        file = File::open(path(), kNew);
        File other = std::move(file);
        other.write("moved");
        EXPECT_FALSE(file.is_open());
        file = std::move(other);
        EXPECT_EQ(file.size(), 5U);
    });
    EXPECT_FALSE(file.is_open());
}

TEST_P(FileApi, RandomCancellationsLoseNothing) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    in_runtime([&](IoReactor&) {
        std::string content;
        for (int i = 0; i < 4000; ++i) {
            content += static_cast<char>('a' + i * 7 % 26);
        }
        File file = File::open(path(), kNew);
        file.write(content);
        file.seek(0);
        std::string got;
        bool is_at_end = false;
        while (!is_at_end) {
            auto reader = spawn([&] {
                std::array<char, 16> buffer;
                const std::size_t count = file.read(buffer);
                got.append(buffer.data(), count);
                is_at_end = count == 0;
            });
            for (std::uint32_t turns = random() % 40; turns != 0 && !reader.is_finished(); --turns) {
                suspend();
            }
            if (random() % 2 == 0) {
                reader.cancel();
            }
            try {
                await(reader);
            } catch (const Cancellation&) {}
        }
        EXPECT_EQ(got, content);
    });
}

// --- pipes

TEST_P(PipeApi, ReadsWhatIsWritten) {
    in_runtime([](IoReactor&) {
        // [pipe]
        Pipe pipe = Pipe::make();
        auto writer = spawn([&] {
            pipe.writer.write(std::string(200000, 'x'));  // more than fits: waits for the reader
            pipe.writer.close();
        });
        const std::string all = pipe.reader.read_all();
        // [pipe]
        EXPECT_EQ(all.size(), 200000U);
        await(writer);
    });
}

TEST_P(PipeApi, TheEndsOfTheOtherSide) {
    in_runtime([](IoReactor&) {
        Pipe pipe = Pipe::make();
        pipe.reader.close();
        EXPECT_EQ(number_of([&] { pipe.writer.write("x"); }), EPIPE);
        EXPECT_EQ(message_of([&] { pipe.reader.read_all(); }), "read a closed pipe: EBADF (bad file descriptor)");
        Pipe other = Pipe::make();
        auto reader = spawn([&] { return number_of([&] { other.reader.read_all(); }); });
        suspend();
        other.reader.close();
        EXPECT_EQ(await(reader), EBADF);
    });
}

TEST_P(PipeApi, LimitsAndCancellation) {
    in_runtime([](IoReactor&) {
        Pipe pipe = Pipe::make();
        std::array<char, 10> buffer;
        EXPECT_EQ(code_of([&] { pipe.reader.read(buffer, 1ms); }), ErrorCode::Timeout);
        auto reader = spawn([&] { pipe.reader.read(buffer); });
        suspend();
        reader.cancel();
        EXPECT_THROW(await(reader), Cancellation);
        pipe.writer.write("kept");
        EXPECT_EQ(pipe.reader.read(buffer), 4U);
    });
}

/// Puts something else in the place of a standard descriptor while it lives.
class Redirect {
public:
    Redirect(int number, int fd) : number_(number), before_(::dup(number)) { EXPECT_GE(::dup2(fd, number), 0); }
    ~Redirect() {
        ::dup2(before_, number_);
        ::close(before_);
    }
    Redirect(const Redirect&) = delete;
    Redirect& operator=(const Redirect&) = delete;

private:
    int number_;
    int before_;
};

TEST_P(PipeApi, StandardInputAndOutput) {
    int input[2];
    int output[2];
    ASSERT_EQ(::pipe(input), 0);
    ASSERT_EQ(::pipe(output), 0);
    const Fd input_reader(input[0]);
    Fd input_writer(input[1]);
    const Fd output_reader(output[0]);
    Fd output_writer(output[1]);
    std::string line;
    {
        const Redirect in(0, *input_reader);
        const Redirect out(1, *output_writer);
        in_runtime([&](IoReactor&) {
            auto reader = PipeReader::standard_input();
            auto writer = PipeWriter::standard_output();
            auto echo = spawn([&] {
                std::array<char, 100> buffer;
                line.assign(buffer.data(), reader.read(buffer));
                writer.write(line);
            });
            suspend();
            put(*input_writer, "typed");
            await(echo);
        });
        EXPECT_EQ(::fcntl(0, F_GETFL) & O_NONBLOCK, 0) << "others share it";
        EXPECT_EQ(::fcntl(1, F_GETFL) & O_NONBLOCK, 0);
    }
    std::array<char, 100> buffer;
    EXPECT_EQ(::read(*output_reader, buffer.data(), buffer.size()), 5);
    EXPECT_EQ(line, "typed");
}

TEST_P(PipeApi, StandardInputThatIsASocketOrAFile) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const Fd first(ends[0]);
    const Fd second(ends[1]);
    {
        const Redirect in(0, *first);
        in_runtime([&](IoReactor&) {
            auto reader = PipeReader::standard_input();
            std::array<char, 100> buffer;
            EXPECT_EQ(code_of([&] { reader.read(buffer, 1ms); }), ErrorCode::Timeout);
            put(*second, "x");
            EXPECT_EQ(reader.read(buffer), 1U);
        });
        EXPECT_EQ(::fcntl(0, F_GETFL) & O_NONBLOCK, 0) << "undone";
    }
    const Fd file = make_file("from a file");
    const Redirect in(0, *file);
    in_runtime([&](IoReactor&) {
        EXPECT_EQ(PipeReader::standard_input().read_all(), "from a file");
        EXPECT_EQ(PipeReader::standard_input().read_all(), "") << "the position is shared";
    });
}

ON_BOTH_BACKENDS(FileApi);
ON_BOTH_BACKENDS(PipeApi);

}  // namespace
}  // namespace trueasync::testing
