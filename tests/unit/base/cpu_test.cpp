#include <trueasync/base/cpu.hpp>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace trueasync {
namespace {

/// A root directory with control groups as the test wants them.
class CpuQuota : public ::testing::Test {
protected:
    CpuQuota() : root_(std::filesystem::temp_directory_path() / ("trueasync-cpu-" + std::to_string(::getpid()))) {}
    ~CpuQuota() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file = root_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::optional<double> quota() const { return detail::cpu_quota(root_.string()); }

private:
    std::filesystem::path root_;
};

TEST_F(CpuQuota, NoneWithoutControlGroups) { EXPECT_FALSE(quota().has_value()); }

TEST_F(CpuQuota, Version2) {
    write("proc/self/cgroup", "0::/app\n");
    write("sys/fs/cgroup/app/cpu.max", "150000 100000\n");
    EXPECT_DOUBLE_EQ(quota().value(), 1.5);
}

TEST_F(CpuQuota, MaxIsNone) {
    write("proc/self/cgroup", "0::/app\n");
    write("sys/fs/cgroup/app/cpu.max", "max 100000\n");
    EXPECT_FALSE(quota().has_value());
}

TEST_F(CpuQuota, TheLeastOnTheWayUpCounts) {
    write("proc/self/cgroup", "0::/a/b/c\n");
    write("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
    write("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    EXPECT_DOUBLE_EQ(quota().value(), 2.0);
    write("sys/fs/cgroup/a/b/c/cpu.max", "100000 100000\n");
    EXPECT_DOUBLE_EQ(quota().value(), 1.0);
}

TEST_F(CpuQuota, AContainerSeesItsGroupAtTheRoot) {
    write("proc/self/cgroup", "0::/not/visible/here\n");
    write("sys/fs/cgroup/cpu.max", "300000 100000\n");
    EXPECT_DOUBLE_EQ(quota().value(), 3.0);
}

TEST_F(CpuQuota, Version1) {
    write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/app\n3:cpuset:/other\n");
    write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "250000\n");
    write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "1000\n");  // cpuset is not cpu
    write("sys/fs/cgroup/cpu/other/cpu.cfs_period_us", "100000\n");
    EXPECT_DOUBLE_EQ(quota().value(), 2.5);
}

TEST_F(CpuQuota, MinusOneIsNone) {
    write("proc/self/cgroup", "4:cpu:/\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_FALSE(quota().has_value());
}

TEST(CpuTimes, LineOfProcStat) {
    std::uint64_t idle = 0;
    std::uint64_t busy = 0;
    EXPECT_TRUE(detail::parse_cpu_line("cpu  100 20 30 4000 500 6 7 8 90 10\n", idle, busy));
    EXPECT_EQ(idle, 4500U);
    EXPECT_EQ(busy, 171U);
    EXPECT_TRUE(detail::parse_cpu_line("cpu  1 2 3 4\n", idle, busy));
    EXPECT_EQ(idle, 4U);
    EXPECT_EQ(busy, 6U);
    EXPECT_FALSE(detail::parse_cpu_line("cpu0 1 2 3 4\n", idle, busy));
    EXPECT_FALSE(detail::parse_cpu_line("", idle, busy));
}

TEST(CpuTimes, NeverGoBack) {
    CpuTimes before = CpuTimes::now();
    EXPECT_GE(before.processors, 1U);
    for (int i = 0; i < 200; ++i) {
        const CpuTimes after = CpuTimes::now();
        EXPECT_GE(after.wall, before.wall);
        EXPECT_GE(after.process_user, before.process_user);
        EXPECT_GE(after.process_system, before.process_system);
        EXPECT_GE(after.system_idle, before.system_idle);
        EXPECT_GE(after.system_busy, before.system_busy);
        before = after;
    }
    EXPECT_GT(before.system_busy, 0U);
}

TEST(CpuUsage, BetweenTwoLooks) {
    const CpuTimes first{
        .wall = 1'000'000'000, .process_user = 100, .process_system = 50, .system_idle = 0, .system_busy = 0};
    CpuTimes last = first;
    last.wall += 2'000'000'000;
    last.process_user += 2'000'000'000;
    last.process_system += 1'000'000'000;
    last.system_idle += 1'000'000'000;
    last.system_busy += 3'000'000'000;
    last.processors = 4;
    const CpuUsage usage = CpuUsage::between(first, last);
    EXPECT_DOUBLE_EQ(usage.seconds, 2.0);
    EXPECT_DOUBLE_EQ(usage.process_cores, 1.5);
    EXPECT_DOUBLE_EQ(usage.process_percent, 37.5);
    EXPECT_DOUBLE_EQ(usage.system_percent, 75.0);
}

TEST(CpuUsage, StaysInItsBounds) {
    const CpuTimes first{.wall = 1000};
    CpuTimes last = first;
    EXPECT_EQ(CpuUsage::between(first, last).seconds, 0.0);
    EXPECT_EQ(CpuUsage::between(first, last).process_percent, 0.0);
    last.wall += 10;
    last.process_user = 1'000'000;  // clocks of different grain
    last.processors = 2;
    EXPECT_DOUBLE_EQ(CpuUsage::between(first, last).process_cores, 2.0);
    EXPECT_DOUBLE_EQ(CpuUsage::between(first, last).process_percent, 100.0);
    EXPECT_DOUBLE_EQ(CpuUsage::between(first, last).system_percent, 0.0);
}

TEST(CpuUsage, FirstCallIsTheBaseline) {
    CpuTimes now;
    cpu_usage(&now);  // of this process perhaps not the first
    EXPECT_GT(now.wall, 0U);
    volatile int spin = 0;
    const CpuTimes began = CpuTimes::now();
    while (CpuTimes::now().process_user < began.process_user + 20'000'000) {
        spin = spin + 1;
    }
    const CpuUsage usage = cpu_usage();
    EXPECT_GT(usage.process_cores, 0.0);
    EXPECT_GT(usage.seconds, 0.0);
    EXPECT_LE(usage.process_percent, 100.0);
}

TEST(AvailableParallelism, FollowsTheAffinity) {
    const unsigned all = available_parallelism();
    EXPECT_GE(all, 1U);
    EXPECT_EQ(available_parallelism(), all);
    std::thread([] {  // the affinity is the thread's
        cpu_set_t set;
        ASSERT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
        int first = 0;
        while (!CPU_ISSET(first, &set)) {
            ++first;
        }
        CPU_ZERO(&set);
        CPU_SET(first, &set);
        ASSERT_EQ(::sched_setaffinity(0, sizeof(set), &set), 0);
        EXPECT_EQ(available_parallelism(), 1U);
    })
        .join();
}

TEST(LoadAverage, IsThere) {
    const auto load = load_average();
    ASSERT_TRUE(load.has_value());
    EXPECT_GE(load->minutes_1, 0.0);
    EXPECT_GE(load->minutes_15, 0.0);
}

}  // namespace
}  // namespace trueasync
