#include "runtime/machine/machine.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace shardscope::runtime {
namespace {

TEST(Machine, TellsTheCoresAndMemoryOfThisMachine) {
    const Machine machine = inspectMachine("/nonexistent");
    EXPECT_GT(machine.cores, 0);
    EXPECT_GT(machine.memory.value, 0);
    EXPECT_FALSE(machine.processor.empty());
}

TEST(Machine, SaysWhyThereIsNoCudaPartInsteadOfFailing) {
    const Machine machine = inspectMachine("/nonexistent");
    EXPECT_TRUE(machine.cudaLibrary.empty());
    EXPECT_FALSE(machine.cudaProblem.empty());
    EXPECT_TRUE(machine.gpus.empty());
}

TEST(Machine, NamesALibraryThatCannotBeOpened) {
    ASSERT_EQ(setenv("SHARDSCOPE_CUDA_LIBRARY", "/proc/self/status", 1), 0);
    const Machine machine = inspectMachine("/nonexistent");
    ASSERT_EQ(unsetenv("SHARDSCOPE_CUDA_LIBRARY"), 0);
    EXPECT_NE(machine.cudaProblem.find("/proc/self/status cannot be opened"), std::string::npos) << machine.cudaProblem;
}

}  // namespace
}  // namespace shardscope::runtime
