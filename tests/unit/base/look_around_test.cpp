#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/look_around.hpp"

namespace trueasync::testing {
namespace {

using detail::LookAround;

/// How often one look asks when nothing comes.
int questions(LookAround& look) {
    int count = 0;
    EXPECT_FALSE(look.until([&count] {
        ++count;
        return false;
    }));
    return count;
}

TEST(LookAround, WhatIsThereIsSeenAtOnce) {
    LookAround look;
    int count = 0;
    EXPECT_TRUE(look.until([&count] { return ++count == 1; }));
    EXPECT_EQ(count, 1);
}

TEST(LookAround, SeesWhatAnotherThreadSays) {
    LookAround look;
    std::atomic<bool> has_come = false;
    std::thread other([&has_come] { has_come = true; });
    while (!look.until([&has_come] { return has_come.load(); })) {}
    other.join();
    EXPECT_TRUE(has_come);
}

TEST(LookAround, LooksLessWhenNothingComesAndTriesAgainLater) {
    if (std::thread::hardware_concurrency() < 2) {
        GTEST_SKIP() << "on one processor nobody looks around";
    }
    LookAround look;
    EXPECT_GT(questions(look), 1) << "at first it is patient";
    int looks = 0;
    while (questions(look) > 1) {
        ++looks;
    }
    EXPECT_LT(looks, 10) << "it should soon have given up";
    int sleeps = 1;
    while (questions(look) == 1) {
        ++sleeps;
    }
    EXPECT_GT(sleeps, 10) << "it should try only now and then";
    EXPECT_LT(sleeps, 100) << "it should not give up for good";
}

TEST(LookAround, SuccessMakesItPatientAgain) {
    if (std::thread::hardware_concurrency() < 2) {
        GTEST_SKIP() << "on one processor nobody looks around";
    }
    LookAround look;
    questions(look);
    questions(look);
    EXPECT_TRUE(look.until([] { return true; }));
    int looks = 0;
    while (questions(look) > 1) {
        ++looks;
    }
    EXPECT_GE(looks, 4) << "as many as in the beginning";
}

}  // namespace
}  // namespace trueasync::testing
