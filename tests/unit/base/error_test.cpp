#include <trueasync/base/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace trueasync {
namespace {

constexpr ErrorCode kAllCodes[] = {
#define TA_ERROR(name, text) ErrorCode::name,
#include <trueasync/base/error_codes.def>
#undef TA_ERROR
};

// An error that tells when it goes, as a front door's own would.
class WatchedError final : public Error {
public:
    explicit WatchedError(bool& is_gone) : Error(ErrorCode::System, "watched", {}), is_gone_(is_gone) {}
    ~WatchedError() override { is_gone_ = true; }

private:
    bool& is_gone_;
};

TEST(Error, EveryCodeHasATextOfItsOwn) {
    std::set<std::string_view> texts;
    for (const ErrorCode code : kAllCodes) {
        EXPECT_FALSE(to_string(code).empty());
        texts.insert(to_string(code));
    }
    EXPECT_EQ(texts.size(), std::size(kAllCodes));
    EXPECT_EQ(to_string(static_cast<ErrorCode>(255)), "unknown error");
}

TEST(Error, EveryReasonHasATextOfItsOwn) {
    std::set<std::string_view> texts;
    for (int reason = 0; reason <= static_cast<int>(CancelReason::Abandoned); ++reason) {
        texts.insert(to_string(static_cast<CancelReason>(reason)));
    }
    EXPECT_EQ(texts.size(), 6u);
    EXPECT_EQ(texts.count(""), 0u);
    EXPECT_EQ(to_string(CancelReason::Deadline), "deadline");
    EXPECT_EQ(to_string(static_cast<CancelReason>(255)), "unknown reason");
}

TEST(Error, HasCodeAndMessage) {
    const Ref<Error> error = Error::make(ErrorCode::System, "no such file");
    EXPECT_EQ(error->code(), ErrorCode::System);
    EXPECT_EQ(error->message(), "no such file");
    EXPECT_EQ(error->reason(), CancelReason::None);
    EXPECT_EQ(error->previous(), nullptr);
    EXPECT_FALSE(error->is_cancellation());
}

TEST(Error, MessageFallsBackToTheTextOfItsCode) {
    for (const ErrorCode code : kAllCodes) {
        EXPECT_EQ(Error::make(code)->message(), to_string(code));
    }
    EXPECT_EQ(Error::cancellation(CancelReason::Shutdown)->message(), to_string(ErrorCode::Cancelled));
}

TEST(Error, CancellationCarriesItsReason) {
    const Ref<Error> why = Error::make(ErrorCode::Timeout);
    const Ref<Error> error = Error::cancellation(CancelReason::Deadline, "too slow", why);
    EXPECT_TRUE(error->is_cancellation());
    EXPECT_EQ(error->code(), ErrorCode::Cancelled);
    EXPECT_EQ(error->reason(), CancelReason::Deadline);
    EXPECT_EQ(error->message(), "too slow");
    EXPECT_EQ(error->previous(), why.get());
}

TEST(Error, DescribeNamesEveryCause) {
    const Ref<Error> disk = Error::make(ErrorCode::System, "disk full");
    const Ref<Error> write = Error::make(ErrorCode::System, "write failed", disk);
    EXPECT_EQ(
        Error::make(ErrorCode::Exception, "cannot save", write)->describe(),
        "cannot save; caused by: write failed; caused by: disk full"
    );
    EXPECT_EQ(disk->describe(), "disk full");
}

TEST(Error, GoesWithItsLastReference) {
    bool is_gone = false;
    Ref<Error> first = make_ref<WatchedError>(is_gone);
    Ref<Error> second = first;
    first.reset();
    EXPECT_FALSE(is_gone);
    second.reset();
    EXPECT_TRUE(is_gone) << "a subclass ends with its own destructor";
}

TEST(Error, KeepsItsCauseAlive) {
    bool is_gone = false;
    Ref<Error> effect = Error::make(ErrorCode::System, "effect", make_ref<WatchedError>(is_gone));
    EXPECT_FALSE(is_gone);
    EXPECT_EQ(effect->previous()->message(), "watched");
    effect.reset();
    EXPECT_TRUE(is_gone);
}

TEST(ExceptionError, CapturesTheExceptionBeingHandled) {
    Ref<Error> error;
    try {
        throw std::runtime_error("boom");
    } catch (...) {
        error = ExceptionError::capture();
    }
    EXPECT_EQ(error->code(), ErrorCode::Exception);
    EXPECT_EQ(error->message(), "std::runtime_error: boom");
    const auto& exception = static_cast<ExceptionError&>(*error).exception();
    try {
        std::rethrow_exception(exception);
    } catch (const std::runtime_error& caught) {
        EXPECT_STREQ(caught.what(), "boom");
    }
}

TEST(Error, ChainsOneBehindAnother) {
    Ref<Error> first = Error::make(ErrorCode::Timeout, "first", Error::make(ErrorCode::System, "cause"));
    Ref<Error> second = Error::make(ErrorCode::Timeout, "second");
    EXPECT_EQ(Error::chain(first, {}), first);
    EXPECT_EQ(Error::chain({}, first), first);
    EXPECT_EQ(Error::chain({}, {}), nullptr);
    const Ref<Error> both = Error::chain(std::move(first), std::move(second));
    EXPECT_EQ(both->describe(), "first; caused by: cause; caused by: second");
    EXPECT_EQ(Error::chain(both, both), both);  // no circles
    EXPECT_EQ(Error::chain(Ref<Error>(both->previous()), both), both);
    EXPECT_EQ(Error::chain(both, Ref<Error>(both->previous())), both);
    EXPECT_EQ(both->describe(), "first; caused by: cause; caused by: second");
}

TEST(Error, CancellationThatManyHaveIsNotChanged) {
    const Ref<Error> shared = Error::cancellation(CancelReason::Shutdown, "stop");
    const Ref<Error> chained = Error::chain(shared, Error::make(ErrorCode::Timeout, "late"));
    EXPECT_EQ(shared->previous(), nullptr);
    EXPECT_EQ(chained->describe(), "stop; caused by: late");
    EXPECT_TRUE(chained->is_cancellation());
    EXPECT_EQ(chained->reason(), CancelReason::Shutdown);
}

TEST(ExceptionError, CapturesWhatIsNoStdException) {
    Ref<Error> error;
    try {
        throw 42;
    } catch (...) {
        error = ExceptionError::capture();
    }
    EXPECT_FALSE(error->message().empty());
    EXPECT_THROW(std::rethrow_exception(static_cast<ExceptionError&>(*error).exception()), int);
}

TEST(ExceptionError, CapturesTheInnermost) {
    Ref<Error> error;
    try {
        throw std::runtime_error("outer");
    } catch (...) {
        try {
            throw std::logic_error("inner");
        } catch (...) {
            error = ExceptionError::capture();
        }
    }
    EXPECT_NE(error->message().find("inner"), std::string::npos);
}

}  // namespace
}  // namespace trueasync
