#include <trueasync/runtime/run_queue.hpp>

#include <deque>
#include <random>
#include <support/runtime_fakes.hpp>

namespace trueasync::testing {
namespace {

class RunQueueTest : public ::testing::Test {
protected:
    RunQueueTest() {
        for (int i = 0; i < 8; ++i) {
            coroutines_.push_back(make_coroutine([] {}));
        }
    }
    Coroutine& at(std::size_t index) { return *coroutines_[index]; }

    /// Empties the queue: the indices in order.
    std::string drain() {
        std::string order;
        while (const Coroutine* coroutine = queue.pop()) {
            order += name(coroutine);
        }
        return order;
    }
    std::string name(const Coroutine* coroutine) {
        for (std::size_t i = 0; i < coroutines_.size(); ++i) {
            if (coroutines_[i].get() == coroutine) {
                return std::to_string(i);
            }
        }
        return "?";
    }

    RunQueue queue;

private:
    std::vector<Ref<FunctionCoroutine>> coroutines_;
};

TEST_F(RunQueueTest, EmptyGivesNull) {
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.head(), nullptr);
    EXPECT_EQ(queue.pop(), nullptr);
    EXPECT_EQ(queue.size(), 0U);
}

TEST_F(RunQueueTest, NormalGoesToTheTail) {
    for (std::size_t i = 0; i < 4; ++i) {
        queue.push_back(at(i));
    }
    EXPECT_EQ(queue.size(), 4U);
    EXPECT_EQ(queue.head(), &at(0));
    EXPECT_EQ(drain(), "0123");
    EXPECT_TRUE(queue.empty());
}

TEST_F(RunQueueTest, SecondIsBehindTheHead) {
    EXPECT_EQ(queue.second(), nullptr);
    queue.push_back(at(0));
    EXPECT_EQ(queue.second(), nullptr);
    queue.push_back(at(1));
    EXPECT_EQ(queue.second(), &at(1));
    queue.push_front(at(2));
    EXPECT_EQ(queue.second(), &at(0));
    queue.drop_head();
    EXPECT_EQ(queue.second(), &at(1));
    queue.drop_head();
    EXPECT_EQ(queue.second(), nullptr);
}

TEST_F(RunQueueTest, HighGoesToTheHead) {
    queue.push_back(at(0));
    queue.push_back(at(1));
    queue.push_front(at(2));
    queue.push_front(at(3));
    queue.push_back(at(4));
    EXPECT_EQ(queue.size(), 5U);
    EXPECT_EQ(drain(), "32014");
}

TEST_F(RunQueueTest, HighIntoAnEmptyQueueIsHeadAndTail) {
    queue.push_front(at(0));
    queue.push_back(at(1));
    EXPECT_EQ(drain(), "01");
    queue.push_front(at(2));
    EXPECT_EQ(drain(), "2");
    EXPECT_TRUE(queue.empty());
}

TEST_F(RunQueueTest, OneThatWasTakenCanComeBack) {
    queue.push_back(at(0));
    queue.push_back(at(1));
    EXPECT_EQ(queue.pop(), &at(0));
    queue.push_back(at(0));
    EXPECT_EQ(drain(), "10");
    queue.push_back(at(0));  // its link still names another
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(drain(), "0");
}

TEST_F(RunQueueTest, RotateTakesTheHeadAndAppends) {
    queue.push_back(at(0));
    queue.rotate(at(1));
    EXPECT_EQ(queue.head(), &at(1));
    EXPECT_EQ(queue.size(), 1U);
    queue.push_back(at(2));
    queue.rotate(at(3));
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(drain(), "23");
}

TEST_F(RunQueueTest, BehavesLikeADeque) {
    std::mt19937 random(20240611);
    std::deque<std::size_t> model;
    for (int step = 0; step < 20000; ++step) {
        const std::size_t index = random() % 8;
        const bool is_in = std::find(model.begin(), model.end(), index) != model.end();
        switch (random() % 4) {
            case 0:
                if (!is_in) {
                    queue.push_back(at(index));
                    model.push_back(index);
                }
                break;
            case 1:
                if (!is_in) {
                    queue.push_front(at(index));
                    model.push_front(index);
                }
                break;
            case 2:
                if (!is_in && !model.empty()) {
                    queue.rotate(at(index));
                    model.pop_front();
                    model.push_back(index);
                }
                break;
            default: {
                const Coroutine* taken = queue.pop();
                EXPECT_EQ(taken, model.empty() ? nullptr : &at(model.front()));
                if (!model.empty()) {
                    model.pop_front();
                }
            }
        }
        ASSERT_EQ(queue.size(), model.size()) << "step " << step;
        ASSERT_EQ(queue.empty(), model.empty());
        ASSERT_EQ(queue.head(), model.empty() ? nullptr : &at(model.front()));
    }
}

}  // namespace
}  // namespace trueasync::testing
