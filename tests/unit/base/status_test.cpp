#include <trueasync/base/status.hpp>

#include <gtest/gtest.h>

#include <support/allocation_counter.hpp>

namespace trueasync {
namespace {

TEST(Status, DefaultIsSuccess) {
    const Status status;
    EXPECT_TRUE(status.ok());
    EXPECT_TRUE(status);
    EXPECT_EQ(status.error(), nullptr);
    EXPECT_FALSE(status.is(ErrorCode::Cancelled)) << "success is no error, also not the first one";
    EXPECT_TRUE(Status::success());
}

TEST(Status, FailureExplainsItself) {
    const Status status = Status::failure(ErrorCode::EventClosed, "too late");
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(status);
    EXPECT_TRUE(status.is(ErrorCode::EventClosed));
    EXPECT_FALSE(status.is(ErrorCode::IllegalState));
    EXPECT_EQ(status.error()->message(), "too late");
    EXPECT_EQ(Status::failure(ErrorCode::EventClosed).error()->message(), to_string(ErrorCode::EventClosed));
}

TEST(Status, TakesAnErrorOver) {
    Ref<Error> error = Error::make(ErrorCode::System);
    Error* const raw = error.get();
    const Status status(std::move(error));
    EXPECT_EQ(status.error(), raw);
    EXPECT_TRUE(Status(Ref<Error>())) << "no error is success";
}

TEST(Status, TakeHandsTheErrorOut) {
    Status status = Status::failure(ErrorCode::System, "disk");
    const Ref<Error> error = status.take();
    EXPECT_EQ(error->message(), "disk");
    EXPECT_EQ(status.error(), nullptr);
}

TEST(Status, CopiesShareTheError) {
    const Status status = Status::failure(ErrorCode::System);
    const Status copy = status;
    EXPECT_EQ(copy.error(), status.error());
}

TEST(Status, IgnoreSaysThatAFailureDoesNotMatter) {
    const auto fails = [] { return Status::failure(ErrorCode::System); };
    fails().ignore();
}

TEST(Status, IsOnePointer) { EXPECT_EQ(sizeof(Status), sizeof(void*)); }

TEST(Status, SuccessAllocatesNothing) {
    if (!testing::AllocationCounter::works()) {
        GTEST_SKIP() << "the sanitizer has its own operator new";
    }
    const testing::AllocationCounter allocations;
    const Status status = Status::success();
    const Status copy = status;
    EXPECT_EQ(allocations.count(), 0u);
    EXPECT_TRUE(copy);
    const Status failure = Status::failure(ErrorCode::System);
    EXPECT_GT(allocations.count(), 0u) << "the counter counts";
}

}  // namespace
}  // namespace trueasync
