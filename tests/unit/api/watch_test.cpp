#include <trueasync/api/watch.hpp>

#include <filesystem>
#include <fstream>
#include <support/descriptors.hpp>

namespace trueasync::testing {
namespace {

namespace fs = std::filesystem;

class Watches : public BackendTest {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "trueasync-watch-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        directory = name;
        BackendTest::SetUp();
    }
    void TearDown() override {
        fs::remove_all(directory);
        BackendTest::TearDown();
    }
    std::string directory;
};
ON_BOTH_BACKENDS(Watches);

TEST_P(Watches, EveryChangeInOrder) {
    in_runtime([this](IoReactor& reactor) {
        /// [watch]
        Watch changes = watch(directory, true);  // with all below it
        std::ofstream(directory + "/file") << "text";
        EXPECT_EQ(changes.next(), (FsChange{FsChange::Kind::Rename, "file"}));  // it has appeared
        EXPECT_EQ(changes.next(), (FsChange{FsChange::Kind::Change, "file"}));
        /// [watch]
        EXPECT_EQ(code_of([&] { changes.next(1ms); }), ErrorCode::Timeout);
        EXPECT_EQ(code_of([&] { changes.next(timeout(1ms)); }), ErrorCode::Timeout);
        auto reader = spawn([&] { changes.next(); });
        suspend();
        EXPECT_EQ(reactor.active().visible, 1U);  // waiting keeps the program alive, watching does not
        reader.cancel("enough");
        EXPECT_THROW(await(reader), Cancellation);
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

TEST_P(Watches, EachChangeGoesToOneReader) {
    in_runtime([this](IoReactor& /*reactor*/) {
        Watch changes = watch(directory);
        std::vector<std::string> seen;
        std::vector<Handle<void>> readers;
        for (int i = 0; i < 4; ++i) {
            readers.push_back(spawn([&] { seen.push_back(changes.next().name); }));
        }
        suspend();
        for (int i = 0; i < 4; ++i) {
            fs::create_directory(directory + "/" + std::to_string(i));
        }
        for (auto& reader : readers) {
            await(reader);
        }
        const std::vector<std::string> expected{"0", "1", "2", "3"};
        EXPECT_EQ(seen, expected);
    });
}

TEST_P(Watches, ErrorsAndTheEnd) {
    EXPECT_EQ(code_of([this] { watch(directory); }), ErrorCode::NotRunning);
    in_runtime([this](IoReactor& /*reactor*/) {
        try {
            watch(directory + "/no");
            FAIL();
        } catch (const AsyncError& error) {
            EXPECT_EQ(error.what(), "watch " + directory + "/no: ENOENT (no such file or directory)");
        }
        fs::create_directory(directory + "/sub");
        Watch changes = watch(directory + "/sub");
        fs::remove(directory + "/sub");
        EXPECT_EQ(changes.next(), (FsChange{FsChange::Kind::Rename, ""}));
        EXPECT_EQ(code_of([&] { changes.next(); }), ErrorCode::System);
        EXPECT_EQ(code_of([&] { changes.next(); }), ErrorCode::System);
    });
}

}  // namespace
}  // namespace trueasync::testing
