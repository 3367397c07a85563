#include "thread/pool_crew.hpp"

#include <gtest/gtest.h>

namespace trueasync::testing {
namespace {

using detail::PoolCrew;

TEST(PoolCrew, NobodyIsWokenForWhatTheOneWhoLooksAroundTakes) {
    PoolCrew crew;
    crew.idle = 1;
    crew.queued = 1;
    EXPECT_TRUE(crew.needs_wake());
    crew.is_looking = true;
    EXPECT_FALSE(crew.needs_wake());
    crew.queued = 2;
    EXPECT_TRUE(crew.needs_wake());
}

TEST(PoolCrew, NobodyIsWokenWhoIsNotAsleep) {
    PoolCrew crew;
    crew.queued = 2;
    EXPECT_FALSE(crew.needs_wake());
}

}  // namespace
}  // namespace trueasync::testing
