#include <trueasync/reactor/fs_watch.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <reactor/fs_watch_backend.hpp>
#include <support/children.hpp>
#include <trueasync/reactor/system_error.hpp>

namespace trueasync::testing {
namespace {

namespace fs = std::filesystem;
using Kind = FsChange::Kind;

/// A directory of its own, removed at the end.
class FsWatchBase : public BackendTest {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "trueasync-watch-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root = name;
        BackendTest::SetUp();
    }
    void TearDown() override {
        detail::is_inotify_off = false;
        fs::remove_all(root);
        BackendTest::TearDown();
    }

    void write(const std::string& name, const std::string& text = "x") const {
        std::ofstream(root / name, std::ios::app) << text;
    }
    std::string path(const std::string& name = "") const { return (name.empty() ? root : root / name).string(); }

    /// Waits until `name` was reported as `kind`.
    static void expect(FsWatchEvent& watch, Kind kind, const std::string& name) {
        std::string seen;
        for (;;) {
            FsChange change;
            while (watch.take(change)) {
                if (change.kind == kind && change.name == name) {
                    return;
                }
                seen += to_string(change) + "\n";
            }
            try {
                await(watch, 5s);
            } catch (const AsyncError& error) {
                FAIL() << to_string(FsChange{kind, name}) << " did not come: " << error.what() << "\n" << seen;
            }
        }
    }

    /// Waits until nothing more comes, which a file made for that tells; returns what came before.
    std::vector<FsChange> drain(FsWatchEvent& watch) const {
        const std::string last = "zz-end-" + std::to_string(++ends_);
        write(last);
        std::vector<FsChange> seen;
        for (;;) {
            FsChange change;
            while (watch.take(change)) {
                if (change.name == last) {
                    return seen;
                }
                if (!change.name.starts_with("zz-end-")) {
                    seen.push_back(change);
                }
            }
            await(watch, 5s);
        }
    }

    void check_kinds(IoReactor& reactor) const {
        auto watch = FsWatchEvent::create(reactor, path());
        ASSERT_TRUE(watch->start());
        write("a");
        expect(*watch, Kind::Rename, "a");
        expect(*watch, Kind::Change, "a");
        write("a", "more");
        expect(*watch, Kind::Change, "a");
        ASSERT_EQ(::chmod(path("a").c_str(), 0600), 0);
        expect(*watch, Kind::Change, "a");
        fs::rename(root / "a", root / "b");
        expect(*watch, Kind::Rename, "a");
        expect(*watch, Kind::Rename, "b");
        fs::remove(root / "b");
        expect(*watch, Kind::Rename, "b");
    }

    fs::path root;

private:
    mutable int ends_ = 0;
};

class FsWatches : public FsWatchBase {};
ON_BOTH_BACKENDS(FsWatches);

/// The same on libuv's own events.
class UvFsWatches : public FsWatchBase {
protected:
    void SetUp() override {
        FsWatchBase::SetUp();
        detail::is_inotify_off = true;
        in_runtime([&](IoReactor& reactor) {  // libuv opens its descriptor once for each loop
            auto watch = FsWatchEvent::create(reactor, path());
            ASSERT_TRUE(watch->start());
        });
    }
};
ON_BOTH_BACKENDS(UvFsWatches);

Ref<FsWatchEvent> started(Reactor& reactor, const std::string& path, bool is_recursive = false) {
    auto watch = FsWatchEvent::create(reactor, path, is_recursive);
    const Status status = watch->start();
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error()->message());
    return watch;
}

// --- one directory

TEST_P(FsWatches, AwaitSuspendsUntilSomethingChanges) {
    in_runtime([this](IoReactor& reactor) {
        const std::string directory = path();
        auto writer = spawn([&] { write("file"); });
        /// [await_change]
        auto watch = FsWatchEvent::create(reactor, directory);
        await(watch);
        FsChange change;
        EXPECT_TRUE(watch->take(change));
        EXPECT_EQ(change.kind, FsChange::Kind::Rename);  // it has appeared
        EXPECT_EQ(change.name, "file");
        /// [await_change]
        EXPECT_EQ(watch->info(), "FsWatch(" + directory + ")");
        EXPECT_EQ(FsWatchEvent::create(reactor, "/x", true)->info(), "FsWatch(/x, recursive)");
        EXPECT_EQ(reactor.active().visible, 0U);
    });
}

TEST_P(FsWatches, EveryKindOfChange) {
    in_runtime([this](IoReactor& reactor) { check_kinds(reactor); });
}

TEST_P(UvFsWatches, EveryKindOfChange) {
    in_runtime([this](IoReactor& reactor) { check_kinds(reactor); });
}

TEST_P(UvFsWatches, AFileAndItsEnd) {
    in_runtime([this](IoReactor& reactor) {
        write("file");
        auto watch = started(reactor, path("file"));
        write("file", "more");
        expect(*watch, Kind::Change, "");
        EXPECT_EQ(SystemError::number_of(FsWatchEvent::create(reactor, path("no"))->start().error()), ENOENT);
        EXPECT_EQ(SystemError::number_of(FsWatchEvent::create(reactor, path(), true)->start().error()), ENOTSUP);
    });
}

TEST_P(FsWatches, AFile) {
    in_runtime([this](IoReactor& reactor) {
        write("file");
        write("other");
        auto watch = started(reactor, path("file"));
        write("other", "more");
        write("file", "more");
        expect(*watch, Kind::Change, "");
        EXPECT_EQ(watch->pending(), 0U);
    });
}

TEST_P(FsWatches, NotBelowUnlessAsked) {
    in_runtime([this](IoReactor& reactor) {
        fs::create_directory(root / "sub");
        auto watch = started(reactor, path());
        write("sub/file");
        for (const FsChange& change : drain(*watch)) {
            EXPECT_EQ(change.name, "sub") << to_string(change);  // its own time of change, at most
        }
    });
}

TEST_P(FsWatches, KeptBetweenTheWaits) {
    in_runtime([this](IoReactor& reactor) {
        auto watch = started(reactor, path());
        write("one");
        write("two");
        sleep_for(10us);
        sleep_for(10us);
        expect(*watch, Kind::Rename, "one");
        expect(*watch, Kind::Rename, "two");
    });
}

TEST_P(FsWatches, FiresAgainWhileThereIsSomethingToTake) {
    in_runtime([this](IoReactor& reactor) {
        auto watch = started(reactor, path());
        write("one");
        await(watch);
        await(watch);  // nothing was taken
        await(watch);
        EXPECT_GT(watch->pending(), 0U);
    });
}

TEST_P(FsWatches, EqualChangesInARowAreOne) {
    in_runtime([this](IoReactor& reactor) {
        write("file");
        auto watch = started(reactor, path());
        for (int i = 0; i < 10; ++i) {
            write("file", "more");
        }
        const std::vector<FsChange> expected{{Kind::Change, "file"}};
        EXPECT_EQ(drain(*watch), expected);
    });
}

// --- recursive

TEST_P(FsWatches, BelowToo) {
    in_runtime([this](IoReactor& reactor) {
        fs::create_directories(root / "a/b/c");
        auto watch = started(reactor, path(), true);
        write("a/b/c/deep");
        expect(*watch, Kind::Rename, "a/b/c/deep");
        write("top");
        expect(*watch, Kind::Rename, "top");
    });
}

TEST_P(FsWatches, DirectoriesMadeLaterWithWhatTheyContain) {
    in_runtime([this](IoReactor& reactor) {
        auto watch = started(reactor, path(), true);
        fs::create_directories(root / "new/er/est");  // faster than anybody could begin to watch them
        write("new/er/est/file");
        expect(*watch, Kind::Rename, "new/er/est/file");
        write("new/er/other");
        expect(*watch, Kind::Rename, "new/er/other");
    });
}

TEST_P(FsWatches, DirectoriesThatMove) {
    in_runtime([this](IoReactor& reactor) {
        fs::create_directories(root / "old/sub");
        write("old/sub/file");
        auto watch = started(reactor, path(), true);
        fs::rename(root / "old", root / "new");
        expect(*watch, Kind::Rename, "old");
        expect(*watch, Kind::Rename, "new/sub/file");
        write("new/sub/file", "more");
        expect(*watch, Kind::Change, "new/sub/file");
    });
}

TEST_P(FsWatches, DirectoriesThatLeaveAreDropped) {
    const fs::path outside = root.string() + "-outside";
    in_runtime([&](IoReactor& reactor) {
        fs::create_directories(root / "sub/below");
        auto watch = started(reactor, path(), true);
        fs::rename(root / "sub", outside);
        expect(*watch, Kind::Rename, "sub");
        drain(*watch);
        std::ofstream(outside / "below/file") << "x";
        EXPECT_EQ(drain(*watch), std::vector<FsChange>{});
        fs::create_directories(root / "gone");
        expect(*watch, Kind::Rename, "gone");
        fs::remove(root / "gone");
        expect(*watch, Kind::Rename, "gone");
        fs::create_directory(root / "gone");  // and again, under the same name
        expect(*watch, Kind::Rename, "gone");
        write("gone/file");
        expect(*watch, Kind::Rename, "gone/file");
    });
    fs::remove_all(outside);
}

TEST_P(FsWatches, LinksAreNotFollowed) {
    in_runtime([this](IoReactor& reactor) {
        fs::create_directory(root / "real");
        fs::create_directory_symlink(root, root / "real/loop");
        auto watch = started(reactor, path(), true);
        write("real/file");
        const std::vector<FsChange> expected{{Kind::Rename, "real/file"}, {Kind::Change, "real/file"}};
        EXPECT_EQ(drain(*watch), expected);
    });
}

TEST_P(FsWatches, ManyDirectoriesComingAndGoing) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([&](IoReactor& reactor) {
        std::mt19937 random(seed);
        auto watch = started(reactor, path(), true);
        for (int round = 0; round < 200; ++round) {
            const std::string name = "d" + std::to_string(random() % 5);
            std::error_code ignored;
            switch (random() % 4) {
                case 0:
                    fs::create_directories(root / name / ("e" + std::to_string(random() % 3)), ignored);
                    break;
                case 1:
                    fs::remove_all(root / name, ignored);
                    break;
                case 2:
                    fs::rename(root / name, root / ("d" + std::to_string(random() % 5)), ignored);
                    break;
                default:
                    sleep_for(10us);
            }
        }
        drain(*watch);
        for (const auto& entry :
             fs::recursive_directory_iterator(root)) {  // each that is left is watched, under its name
            if (entry.is_directory()) {
                const std::string name = (entry.path().lexically_relative(root) / "probe").string();
                write(name);
                expect(*watch, Kind::Rename, name);
            }
        }
    });
}

// --- the end

TEST_P(FsWatches, TheWatchedDirectoryIsRemoved) {
    in_runtime([this](IoReactor& reactor) {
        fs::create_directory(root / "sub");
        auto watch = started(reactor, path("sub"), true);
        fs::remove(root / "sub");
        expect(*watch, Kind::Rename, "");
        EXPECT_EQ(code_of([&] { await(watch, 5s); }), ErrorCode::System);
        EXPECT_EQ(SystemError::number_of(watch->error()), ENOENT);
        EXPECT_TRUE(watch->is_closed());
        EXPECT_EQ(code_of([&] { await(watch, 5s); }), ErrorCode::System);
    });
}

TEST_P(FsWatches, RefusedWithAReason) {
    SKIP_ON_VALGRIND("keeps descriptors of its own");
    in_runtime([this](IoReactor& reactor) {
        const Status status = FsWatchEvent::create(reactor, path("no"))->start();
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error()->message(), "watch " + path("no") + ": ENOENT (no such file or directory)");
        Status full;
        auto watch = FsWatchEvent::create(reactor, path());
        {
            const DescriptorLimit limit(0);
            full = watch->start();
        }
        EXPECT_EQ(SystemError::number_of(full.error()), EMFILE);
        EXPECT_TRUE(watch->start().ok());  // later there is one
    });
    VirtualReactor virtual_reactor;
    EXPECT_FALSE(FsWatchEvent::create(virtual_reactor, path())->start().ok());
}

TEST_P(FsWatches, OverflowIsReported) {
    in_runtime([this](IoReactor& reactor) {
        std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
        int most = 0;
        if (!(limit >> most) || most > 100'000) {
            GTEST_SKIP() << "the queue of the kernel is too long to be filled";
        }
        fs::create_directory(root / "sub");
        write("a");
        write("b");
        auto watch = started(reactor, path(), true);
        const Fd a(::open(path("a").c_str(), O_WRONLY));
        const Fd b(::open(path("b").c_str(), O_WRONLY));
        for (int i = 0; i < most; ++i) {  // by turns, or the kernel would merge them
            ASSERT_EQ(::fchmod(*a, 0600), 0);
            ASSERT_EQ(::fchmod(*b, 0600), 0);
        }
        fs::create_directory(root / "missed");
        expect(*watch, Kind::Overflow, "");
        write("missed/file");  // was found by looking
        expect(*watch, Kind::Rename, "missed/file");
    });
}

TEST_P(FsWatches, SeveralWaitersAndOneWhoLeaves) {
    in_runtime([this](IoReactor& reactor) {
        auto watch = FsWatchEvent::create(reactor, path());
        auto leaver = spawn([&] { await(watch); });
        auto stayer = spawn([&] { await(watch); });
        suspend();
        leaver.cancel("enough");
        EXPECT_THROW(await(leaver), Cancellation);
        write("file");
        await(stayer);
    });
}

TEST_P(FsWatches, CancelledAtAnyMoment) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    in_runtime([&](IoReactor& reactor) {
        std::mt19937 random(seed);
        auto watch = started(reactor, path());
        int made = 0;
        for (int round = 0; round < 100; ++round) {
            auto waiter = spawn([&] { await(watch); });
            for (unsigned i = random() % 3; i != 0; --i) {
                suspend();
            }
            if (random() % 2 == 0) {
                write("file" + std::to_string(made++));
            }
            for (unsigned i = random() % 3; i != 0; --i) {
                suspend();
            }
            waiter.cancel("any moment");
            try {
                await(waiter);
            } catch (const Cancellation&) {}
        }
        for (int i = 0; i < made; ++i) {  // nothing is lost
            expect(*watch, Kind::Rename, "file" + std::to_string(i));
        }
    });
}

TEST_P(FsWatches, OutlivesItsReactor) {
    Ref<FsWatchEvent> watch;
    in_runtime([&](IoReactor& reactor) {
        watch = FsWatchEvent::create(reactor, path(), true);
        watch->set_hidden(true);
        ASSERT_TRUE(watch->start());
    });
    EXPECT_FALSE(watch->start().ok());
}

TEST_P(FsWatches, DescriptorClosedByAnotherIsNotClosedAgain) {
    in_runtime([this](IoReactor& reactor) {
        auto watch = started(reactor, path());
        int number = -1;
        for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
            std::error_code ignored;
            if (fs::read_symlink(entry.path(), ignored) == "anon_inode:inotify") {
                number = std::stoi(entry.path().filename());
            }
        }
        ASSERT_GE(number, 0);
        reactor.descriptor_closing(number);
        const Fd next(::dup2(0, number));
        EXPECT_EQ(code_of([&] { await(watch, 5s); }), ErrorCode::System);
        watch.reset();
        EXPECT_EQ(::fcntl(*next, F_GETFD), 0) << "the number belongs to another one";
    });
}

TEST_P(FsWatches, ChildOfAForkWatchesForItself) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer does not follow a fork into coroutines";
#endif
    in_runtime([this](IoReactor& reactor) {
        auto watch = started(reactor, path(), true);
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(8);
            auto writer = spawn([&] {
                sleep_for(1ms);
                write("both");
            });
            expect(*watch, Kind::Rename, "both");
            _exit(::testing::Test::HasFailure() ? 1 : 0);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        expect(*watch, Kind::Rename, "both");  // the child has taken nothing away
    });
}

}  // namespace
}  // namespace trueasync::testing
