#include <trueasync/api/barrier.hpp>

#include <numeric>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

CORO_TEST(BarrierApi, Example) {
    /// [barrier]
    std::vector<int> cells = {1, 2, 3};
    Barrier step(cells.size());
    std::vector<Handle<void>> workers;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        workers.push_back(spawn([&, i] {
            for (int round = 0; round < 2; ++round) {
                const int sum = std::accumulate(cells.begin(), cells.end(), 0);
                step.wait();  // everybody has read
                cells[i] = sum;
                step.wait();  // everybody has written
            }
        }));
    }
    for (const auto& worker : workers) {
        await(worker);
    }
    /// [barrier]
    EXPECT_EQ(cells, (std::vector<int>{18, 18, 18}));
    EXPECT_EQ(step.generation(), 4U);
}

}  // namespace
}  // namespace trueasync::testing
