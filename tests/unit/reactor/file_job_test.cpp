#include <cerrno>
#include <memory>
#include <support/busy_lane.hpp>
#include <support/io_requests.hpp>
#include <vector>

namespace trueasync::testing {
namespace {

class FileJob : public IoRequestTest {};

TEST_P(FileJob, FilesHaveAPosition) {
    in_runtime([&](IoReactor& reactor) {
        auto file = IoEvent::create(reactor, make_file("0123456789").release(), IoKind::File);
        auto first = file->read(4);
        auto second = file->read(4);
        auto third = file->read(4);
        EXPECT_EQ(file->position(), 0U);
        EXPECT_EQ(outcome(third), "89");
        EXPECT_EQ(first->text(), "0123");
        EXPECT_EQ(second->text(), "4567");
        EXPECT_EQ(file->position(), 10U);
        EXPECT_EQ(outcome(file->read(4)), "");
        EXPECT_TRUE(file->is(IoState::Eof));
        await(file->write("ab"));
        file->seek(8);
        EXPECT_EQ(outcome(file->read(100)), "89ab");
        EXPECT_FALSE(file->is(IoState::Eof));
        EXPECT_EQ(outcome(file->read_at(2, 3)), "234");
        await(file->write_at(3, "xyz"));
        EXPECT_EQ(file->position(), 12U);
        EXPECT_EQ(outcome(file->read_at(0, 100)), "012xyz6789ab");
    });
}

TEST_P(FileJob, AppendWritesAtTheEnd) {
    in_runtime([&](IoReactor& reactor) {
        const IoState state = IoState::Both | IoState::Append;
        auto file = IoEvent::create(reactor, make_file("start").release(), IoKind::File, state);
        auto first = file->write("+one");
        auto second = file->write("+two");
        await(second);
        EXPECT_EQ(outcome(file->read(100)), "start+one+two");
        EXPECT_EQ(first->transferred(), 4U);
    });
}

TEST_P(FileJob, RequestsWithAnOffsetRunAtTheSameTime) {
    in_runtime([&](IoReactor& reactor) {
        auto file = IoEvent::create(reactor, make_file("0123456789").release(), IoKind::File);
        BusyLane busy;
        std::vector<Ref<IoRequest>> requests;
        for (std::size_t i = 0; i < 3; ++i) {
            requests.push_back(file->read_at(i, 1));
        }
        EXPECT_EQ(WorkLane::file().stats().queued, 3U);
        for (std::size_t i = 0; i < 3; ++i) {
            requests.push_back(file->read(1));
        }
        EXPECT_EQ(WorkLane::file().stats().queued, 4U) << "without an offset it is one at a time";
        EXPECT_EQ(file->pending(), 6U);
        requests[3].reset();  // the next one takes its place
        requests[0]->cancel();
        EXPECT_EQ(WorkLane::file().stats().queued, 3U);
        busy.end();
        EXPECT_EQ(outcome(requests[0]), "ECANCELED");
        EXPECT_EQ(outcome(requests[2]), "2");
        EXPECT_EQ(outcome(requests[4]), "0");
        EXPECT_EQ(outcome(requests[5]), "1");
        EXPECT_EQ(outcome(requests[1]), "1");
    });
}

TEST_P(FileJob, AReadOfAFileThatNobodySawDoesNotMove) {
    in_runtime([&](IoReactor& reactor) {
        auto file = IoEvent::create(reactor, make_file("0123456789").release(), IoKind::File);
        auto read = file->read(4);
        ASSERT_EQ(wait_for(*read), WaitResult::Ready);
        EXPECT_EQ(file->position(), 4U);
        read.reset();
        EXPECT_EQ(file->position(), 0U);
        EXPECT_EQ(outcome(file->read(4)), "0123");
    });
}

TEST_P(FileJob, ClosingTakesBackWhatHasNotBegun) {
    in_runtime([&](IoReactor& reactor) {
        const Fd same = make_file("untouched");
        auto file = IoEvent::create(reactor, ::dup(*same), IoKind::File);
        BusyLane busy;
        auto first = file->write("X");
        auto second = file->write("Y");
        auto third = file->write_at(2, "Z");
        file->close_descriptor();
        EXPECT_EQ(WorkLane::file().stats().queued, 0U);
        for (const auto& request : {first, second, third}) {
            EXPECT_EQ(outcome(request), "ECANCELED");
        }
        busy.end();
        EXPECT_EQ(take(*same), "untouched");
    });
}

TEST_P(FileJob, AFullQueueIsAnError) {
    in_runtime([&](IoReactor& reactor) {
        auto file = IoEvent::create(reactor, make_file("0123456789").release(), IoKind::File);
        BusyLane busy;
        WorkLane::file().set_limits(16, 1);
        auto first = file->read_at(0, 1);
        auto second = file->read_at(1, 1);
        auto third = file->read(1);
        WorkLane::file().set_limits(16, 16384);
        busy.end();
        EXPECT_EQ(outcome(first), "0");
        for (const auto& refused : {second, third}) {
            ASSERT_NE(refused->error(), nullptr);
            EXPECT_EQ(refused->error()->code(), ErrorCode::QueueFull);
        }
        EXPECT_EQ(outcome(file->read(1)), "0");
    });
}

/// A pipe that is read as if it were a slow file: a thread blocks in it.
class SlowFile {
public:
    explicit SlowFile(IoReactor& reactor) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        writer = Fd(ends[1]);
        number = ends[0];
        io = IoEvent::create(reactor, number, IoKind::File, IoState::Readable);
        read = io->read(10);
        EXPECT_TRUE(eventually([] { return WorkLane::file().stats().running == 1; }));
    }
    /// Lets the thread go on and waits until it has.
    void end() {
        put(*writer, "slow");
        EXPECT_TRUE(eventually([] { return WorkLane::file().stats().running == 0; }));
    }
    bool is_open() const { return ::fcntl(number, F_GETFD) != -1; }

    Ref<IoEvent> io;
    Ref<IoRequest> read;
    Fd writer;
    int number = -1;
};

TEST_P(FileJob, WhatAThreadHasBegunGoesOnWithoutUs) {
    in_runtime([&](IoReactor& reactor) {
        SlowFile file(reactor);
        auto next = file.io->read(10);
        file.read->cancel();
        EXPECT_EQ(outcome(file.read), "ECANCELED");
        EXPECT_FALSE(next->is_completed());
        file.end();
        put(*file.writer, "next");
        EXPECT_EQ(outcome(next), "next");
    });
}

TEST_P(FileJob, TheNumberIsKeptWhileAThreadWorks) {
    in_runtime([&](IoReactor& reactor) {
        SlowFile file(reactor);
        file.io->close_descriptor();
        EXPECT_EQ(outcome(file.read), "ECANCELED");
        EXPECT_TRUE(file.is_open());
        file.end();
        EXPECT_TRUE(eventually([&] {
            suspend();
            return !file.is_open();
        }));
    });
}

TEST_P(FileJob, DroppedWhileAThreadWorks) {
    in_runtime([&](IoReactor& reactor) {
        SlowFile file(reactor);
        file.read.reset();
        file.io.reset();
        EXPECT_TRUE(file.is_open());
        file.end();
        EXPECT_TRUE(eventually([&] {
            suspend();
            return !file.is_open();
        }));
    });
}

TEST_P(FileJob, TheRuntimeEndsWhileAThreadWorks) {
    std::unique_ptr<SlowFile> file;
    in_runtime([&](IoReactor& reactor) { file = std::make_unique<SlowFile>(reactor); });
    EXPECT_TRUE(file->is_open());
    file->end();
    EXPECT_TRUE(eventually([&] { return !file->is_open(); }));
}

TEST_P(FileJob, InTheChildOfAForkWhatThreadsDidIsLost) {
#if defined(TA_TSAN)
    GTEST_SKIP() << "the thread sanitizer allows no threads in a forked child";
#endif
    in_runtime([&](IoReactor& reactor) {
        SlowFile file(reactor);
        auto pipe = pipe_pair(reactor);
        auto waiting = pipe.first->read(10);
        const int child = in_child([&] {
            if (wait_for(*file.read) != WaitResult::Failed) {
                return 1;
            }
            if (file.read->error()->message().find("the process forked before it could read 10 bytes of fd") != 0) {
                return 2;
            }
            put(pipe.second->descriptor(), "child");
            if (outcome(waiting) != "child") {
                return 3;
            }
            auto other = IoEvent::create(reactor, make_file("child").release(), IoKind::File);
            return outcome(other->read(10)) == "child" ? 11 : 4;
        });
        EXPECT_EQ(child, 11);
        put(*file.writer, "parent");
        EXPECT_EQ(outcome(file.read), "parent");
    });
}

TEST(FileJobWithoutDescriptors, FilesNeedThreadsOnly) {
    RunOptions options;
    options.reactor = std::make_unique<VirtualReactor>();
    run(
        [] {
            Reactor& reactor = Scheduler::current()->reactor();
            auto file = IoEvent::create(reactor, make_file("virtual").release(), IoKind::File);
            auto read = file->read(100);
            await(read);
            EXPECT_EQ(read->text(), "virtual");
            FdPair ends = make_pipe();
            auto pipe = IoEvent::create(reactor, ends.first.release(), IoKind::Pipe);
            auto refused = pipe->read(1);
            ASSERT_NE(refused->error(), nullptr);
            EXPECT_EQ(refused->error()->code(), ErrorCode::IllegalState);
        },
        std::move(options)
    );
}

ON_BOTH_BACKENDS(FileJob);

}  // namespace
}  // namespace trueasync::testing
