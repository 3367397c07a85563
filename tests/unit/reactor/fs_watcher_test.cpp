#include <trueasync/reactor/fs_watcher.hpp>

#include <filesystem>
#include <fstream>
#include <support/coro_test.hpp>
#include <support/descriptors.hpp>

namespace trueasync::testing {
namespace {

using Kind = FsChange::Kind;

std::string to_text(const FsNotice& notice) {
    return notice.name.value_or("-") + (notice.is_renamed ? " renamed" : "") + (notice.is_changed ? " changed" : "");
}

/// One that only hears what the test tells it.
Ref<FsWatcher> make_watcher(FsWatcherSettings settings = {}) {
    auto watcher = FsWatcher::create(Scheduler::current()->reactor(), "", std::move(settings));
    EXPECT_TRUE(watcher->open().ok());
    return watcher;
}

std::vector<std::string> take_all(FsWatcher& watcher) {
    std::vector<std::string> texts;
    FsNotice notice;
    while (watcher.take(notice)) {
        texts.push_back(to_text(notice));
    }
    return texts;
}

using Texts = std::vector<std::string>;

std::size_t visible() { return Scheduler::current()->reactor().active().visible; }

CORO_TEST(FsWatchers, CoalesceWhatWaitsAboutAName) {
    auto watcher = make_watcher();
    watcher->note({Kind::Rename, "a"});
    watcher->note({Kind::Rename, "b"});
    watcher->note({Kind::Change, "a"});
    EXPECT_EQ(take_all(*watcher), (Texts{"a renamed changed", "b renamed"}));
    watcher->note({Kind::Change, "a"});
    EXPECT_EQ(take_all(*watcher), (Texts{"a changed"})) << "what was taken is forgotten";
}

CORO_TEST(FsWatchers, OrNot) {
    auto watcher = make_watcher({.coalesces = false});
    watcher->note({Kind::Rename, "a"});
    watcher->note({Kind::Change, "a"});
    watcher->note({Kind::Change, "a"});
    EXPECT_EQ(take_all(*watcher), (Texts{"a renamed", "a changed", "a changed"}));
}

CORO_TEST(FsWatchers, MissingChangesAreBoth) {
    auto watcher = make_watcher({.extensions = {"php"}});
    watcher->note({Kind::Overflow, "a"});
    EXPECT_EQ(take_all(*watcher), (Texts{"a renamed changed"}));
}

CORO_TEST(FsWatchers, ExtensionsDecideWhatCounts) {
    auto watcher = make_watcher({.extensions = {"php", ".TXT"}});
    for (const char* name : {"a.php", "b.PHP", "sub/c.txt", "d.js", "php", "e.php.bak", "f", "xphp"}) {
        watcher->note({Kind::Change, name});
    }
    EXPECT_EQ(take_all(*watcher), (Texts{"a.php changed", "b.PHP changed", "sub/c.txt changed"}));
}

CORO_TEST(FsWatchers, BurstBecomesOneNoticeAfterSomeQuiet) {
    auto watcher = make_watcher({.debounce = 10ms});
    watcher->note({Kind::Rename, "a"});
    sleep_for(9ms);
    watcher->note({Kind::Change, "b"});
    sleep_for(9ms);
    EXPECT_EQ(watcher->pending(), 0U);
    sleep_for(1ms);
    EXPECT_EQ(take_all(*watcher), (Texts{"- renamed changed"}));
    sleep_for(100ms);
    EXPECT_EQ(watcher->pending(), 0U);
    watcher->note({Kind::Change, "b"});
    sleep_for(10ms);
    EXPECT_EQ(take_all(*watcher), (Texts{"- changed"})) << "the next burst begins with nothing";
}

CORO_TEST(FsWatchers, BurstIsHeldOnlySoLong) {
    auto watcher = make_watcher({.debounce = 10ms, .max_hold = 25ms});
    for (int i = 0; i < 5; ++i) {
        watcher->note({Kind::Change, "a"});
        sleep_for(5ms);
    }
    EXPECT_EQ(take_all(*watcher), (Texts{"- changed"})) << "25 ms after the first";
    watcher->note({Kind::Change, "a"});
    sleep_for(9ms);
    EXPECT_EQ(watcher->pending(), 0U);
    sleep_for(1ms);
    EXPECT_EQ(watcher->pending(), 1U) << "a burst of its own";
}

CORO_TEST(FsWatchers, BurstOfOtherFilesIsNone) {
    auto watcher = make_watcher({.debounce = 10ms, .extensions = {"php"}});
    watcher->note({Kind::Change, "a.js"});
    sleep_for(100ms);
    EXPECT_EQ(watcher->pending(), 0U);
    watcher->note({Kind::Change, "a.php"});
    sleep_for(5ms);
    watcher->note({Kind::Rename, "b.js"});
    sleep_for(5ms);
    EXPECT_EQ(take_all(*watcher), (Texts{"- changed"})) << "neither prolonged nor coloured by the other";
}

CORO_TEST(FsWatchers, NextWaits) {
    /// [next_notice]
    auto watcher = make_watcher();
    spawn([&] {
        watcher->note({Kind::Rename, "a"});
        watcher->note({Kind::Rename, "b"});
        watcher->end();
    });
    std::vector<std::string> seen;
    std::optional<FsNotice> notice;
    while (watcher->next(notice) == WaitResult::Ready && notice.has_value()) {
        seen.push_back(*notice->name);
    }
    /// [next_notice]
    EXPECT_EQ(seen, (Texts{"a", "b"}));
    EXPECT_TRUE(watcher->has_ended());
    EXPECT_EQ(watcher->next(notice), WaitResult::Ready);
    EXPECT_FALSE(notice.has_value()) << "again and again";
    watcher->end();
}

CORO_TEST(FsWatchers, BurstWakesWhoWaits) {
    auto watcher = make_watcher({.debounce = 10ms});
    watcher->note({Kind::Change, "a"});
    std::optional<FsNotice> notice;
    EXPECT_EQ(watcher->next(notice), WaitResult::Ready);
    EXPECT_EQ(to_text(*notice), "- changed");
}

CORO_TEST(FsWatchers, EndDropsTheBurstAndTakesNoMore) {
    auto watcher = make_watcher({.debounce = 10ms});
    watcher->note({Kind::Change, "a"});
    watcher->end();
    sleep_for(20ms);
    watcher->note({Kind::Change, "a"});
    sleep_for(20ms);
    EXPECT_EQ(watcher->pending(), 0U);
}

CORO_TEST(FsWatchers, CancelledAndLateReadersLoseNothing) {
    auto watcher = make_watcher();
    auto reader = spawn([&] {
        std::optional<FsNotice> notice;
        return watcher->next(notice);
    });
    suspend();
    watcher->note({Kind::Change, "a"});
    reader.cancel();
    EXPECT_EQ(await(reader), WaitResult::Cancelled);
    EXPECT_EQ(watcher->pending(), 1U);
    std::optional<FsNotice> notice;
    EXPECT_EQ(watcher->next(notice, Deadline::after(1ms)), WaitResult::Ready);
    EXPECT_EQ(watcher->next(notice, Deadline::after(1ms)), WaitResult::TimedOut);
    EXPECT_FALSE(notice.has_value());
}

CORO_TEST(FsWatchers, OnlyAReaderKeepsTheProgramAlive) {
    auto watcher = make_watcher();
    EXPECT_EQ(visible(), 0U);
    auto reader = spawn([&] {
        std::optional<FsNotice> notice;
        watcher->next(notice);
        return notice.has_value();
    });
    suspend();
    EXPECT_EQ(visible(), 1U);
    watcher->end();
    EXPECT_FALSE(await(reader));
    EXPECT_EQ(visible(), 0U);
}

CORO_TEST(FsWatchers, FireForThoseWhoSubscribeLate) {
    auto watcher = make_watcher();
    watcher->note({Kind::Change, "a"});
    EXPECT_EQ(wait_for(*watcher), WaitResult::Ready);
    EXPECT_EQ(watcher->pending(), 1U);
    EXPECT_EQ(watcher->info(), "FsWatcher(, pending=1)");
    watcher->end();
    EXPECT_TRUE(watcher->replay(nullptr, nullptr, nullptr));
}

/// With a directory of its own.
class FsWatcherFiles : public BackendTest {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "trueasync-watcher-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root = name;
        BackendTest::SetUp();
    }
    void TearDown() override {
        std::filesystem::remove_all(root);
        BackendTest::TearDown();
    }
    void write(const std::string& name) const { std::ofstream(root / name) << "x"; }

    std::filesystem::path root;
};
ON_BOTH_BACKENDS(FsWatcherFiles);

TEST_P(FsWatcherFiles, SeesWhatHappensInADirectory) {
    in_runtime([&](IoReactor& reactor) {
        auto watcher = FsWatcher::create(reactor, root.string());
        ASSERT_TRUE(watcher->open().ok());
        write("a");
        std::optional<FsNotice> notice;
        ASSERT_EQ(watcher->next(notice, Deadline::after(5s)), WaitResult::Ready);
        EXPECT_EQ(notice->name, "a");
        EXPECT_TRUE(notice->is_renamed);
    });
}

TEST_P(FsWatcherFiles, NamesTheWatchedFileItself) {
    write("a");
    in_runtime([&](IoReactor& reactor) {
        auto watcher = FsWatcher::create(reactor, (root / "a").string());
        ASSERT_TRUE(watcher->open().ok());
        write("a");
        std::optional<FsNotice> notice;
        ASSERT_EQ(watcher->next(notice, Deadline::after(5s)), WaitResult::Ready);
        EXPECT_EQ(notice->name, "a");
        EXPECT_TRUE(notice->is_changed);
    });
}

TEST_P(FsWatcherFiles, EndsWithWhatIsWatched) {
    std::filesystem::create_directory(root / "d");
    in_runtime([&](IoReactor& reactor) {
        auto watcher = FsWatcher::create(reactor, (root / "d").string());
        ASSERT_TRUE(watcher->open().ok());
        std::filesystem::remove(root / "d");
        std::optional<FsNotice> notice;
        do {
            ASSERT_EQ(watcher->next(notice, Deadline::after(5s)), WaitResult::Ready);
        } while (notice.has_value());
        EXPECT_TRUE(watcher->has_ended());
    });
}

TEST_P(FsWatcherFiles, FailsForWhatIsNotThere) {
    in_runtime([&](IoReactor& reactor) {
        auto watcher = FsWatcher::create(reactor, (root / "no").string());
        const Status status = watcher->open();
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.error()->message().find("ENOENT"), std::string::npos);
    });
}

TEST_P(FsWatcherFiles, MayBeDroppedAndMayOutliveTheRuntime) {
    Ref<FsWatcher> left;
    in_runtime([&](IoReactor& reactor) {
        auto watcher = FsWatcher::create(reactor, root.string(), {.debounce = 1ms});
        ASSERT_TRUE(watcher->open().ok());
        write("a");
        sleep_for(500us);
        watcher.reset();
        left = FsWatcher::create(reactor, root.string(), {.debounce = 1h});
        ASSERT_TRUE(left->open().ok());
        write("b");
        sleep_for(1ms);
    });
    EXPECT_TRUE(left->has_ended());
    EXPECT_FALSE(left->open().ok());
}

}  // namespace
}  // namespace trueasync::testing
