#include <trueasync/api/semaphore.hpp>

#include <algorithm>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(SemaphoreApi, Example) {
    int busiest = 0;
    /// [semaphore]
    Semaphore slots(3);  // at most three requests at a time
    int running = 0;
    std::vector<Handle<void>> requests;
    for (int i = 0; i < 10; ++i) {
        requests.push_back(spawn([&] {
            const auto permit = slots.permit(1, 5s);  // waits in line; its end gives it back
            busiest = std::max(busiest, ++running);
            sleep_for(1ms);
            --running;
        }));
    }
    for (const auto& request : requests) {
        await(request);
    }
    /// [semaphore]
    EXPECT_EQ(busiest, 3);
    EXPECT_EQ(slots.available(), 3U);
}

CORO_TEST(SemaphoreApi, PermitsAreGivenBackOnce) {
    Semaphore semaphore(3);
    auto permit = semaphore.permit(2);
    EXPECT_TRUE(permit);
    EXPECT_FALSE(semaphore.try_permit(2).has_value());
    permit.release();
    EXPECT_FALSE(permit);
    permit.release();
    EXPECT_EQ(semaphore.available(), 3U);
    EXPECT_TRUE(semaphore.try_permit(3).has_value());
    EXPECT_EQ(semaphore.available(), 3U);
}

CORO_TEST(SemaphoreApi, PermitsMayBeMovedAndEndElsewhere) {
    Semaphore semaphore(3);
    auto permit = semaphore.permit(1);
    auto moved = std::move(permit);
    moved = semaphore.permit(2);
    EXPECT_EQ(semaphore.available(), 1U);
    auto other = spawn([permit = std::move(moved)]() mutable { const auto last = std::move(permit); });
    await(other);
    EXPECT_EQ(semaphore.available(), 3U);
}

CORO_TEST(SemaphoreApi, PermitsMayOutliveTheSemaphore) {
    std::optional<Semaphore> semaphore(std::in_place, 1U);
    auto permit = semaphore->permit();
    semaphore.reset();
    permit.release();
}

CORO_TEST(SemaphoreApi, PermitThatIsGoneIsReported) {
    Semaphore semaphore(1);
    {
        const auto permit = semaphore.permit();
        semaphore.release();
    }
    ASSERT_EQ(sink.unhandled.size(), 1U);
    EXPECT_TRUE(contains(sink.unhandled[0], "more permits were given back than are out")) << sink.unhandled[0];
    EXPECT_EQ(semaphore.available(), 1U);
}

}  // namespace
}  // namespace trueasync::testing
