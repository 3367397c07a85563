#include <trueasync/reactor/system_error.hpp>

#include <gtest/gtest.h>

#include <cerrno>

namespace trueasync::testing {
namespace {

TEST(SystemError, SaysWhatWasAttemptedAndTheNameOfTheErrno) {
    const Ref<Error> error = SystemError::make(ECONNREFUSED, "connect 127.0.0.1:81");
    EXPECT_EQ(error->message(), "connect 127.0.0.1:81: ECONNREFUSED (connection refused)");
    EXPECT_EQ(error->code(), ErrorCode::System);
    EXPECT_EQ(SystemError::number_of(error.get()), ECONNREFUSED);
    EXPECT_EQ(errno_name(EBADF), "EBADF");
}

TEST(SystemError, OtherErrorsHaveNoErrno) {
    EXPECT_EQ(SystemError::number_of(nullptr), 0);
    EXPECT_EQ(SystemError::number_of(Error::make(ErrorCode::Timeout).get()), 0);
    EXPECT_EQ(SystemError::number_of(system_failure(EMFILE, "open").error()), EMFILE);
}

}  // namespace
}  // namespace trueasync::testing
