#include <trueasync/api/scope.hpp>

#include <stdexcept>
#include <string>
#include <support/coro_test.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(Scope, WaitsForAllOfIt) {
    /// [scope]
    Scope scope;
    int done = 0;
    for (int i = 1; i <= 3; ++i) {
        scope.spawn([&done, i] {
            sleep_for(i * 10ms);
            ++done;
        });
    }
    scope.await_completion();
    /// [scope]
    EXPECT_EQ(done, 3);
    EXPECT_TRUE(scope.is_finished());
    EXPECT_FALSE(scope.is_closed());
}

}  // namespace
}  // namespace trueasync::testing
