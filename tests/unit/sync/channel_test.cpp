#include <trueasync/sync/channel.hpp>

#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(Channel, First) {
    Channel<int> channel;
    auto sender = spawn([&] { channel.send(5); });
    EXPECT_EQ(channel.recv(), 5);
    await(sender);
}

}  // namespace
}  // namespace trueasync::testing
