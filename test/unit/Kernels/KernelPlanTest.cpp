// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of a plan of kernels, on plans that are wrong in one place.

#include "cutback/Kernels/KernelPlan.h"
#include "cutback/Analysis/Roofline.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Partition/Strategies.h"
#include "cutback/Planner/PartitionPipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

class KernelPlanCheck : public ::testing::Test {
protected:
  KernelPlanCheck() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
    std::string error;
    EXPECT_TRUE(Device::load("h100", device, error)) << error;
    plan(R"(
joint.graph @g(%x: tensor<64x32xf32> {joint.role = #joint.role<input>},
               %w: tensor<32x32xf32> {joint.role = #joint.role<param>},
               %t: tensor<64x32xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x32xf32>) gradients (tensor<32x32xf32>) {
  %a = aten.sin(%x) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %b = aten.exp(%a) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = aten.mm(%b, %w) : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %n = aten.neg(%t) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %bt = aten.t(%b) : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %g = aten.mm(%bt, %n) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  joint.output %y gradients(%g of 1) : tensor<64x32xf32>, tensor<32x32xf32>
}
)");
  }

  void plan(const std::string &text) {
    result.reset();
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto made = partitionGraph(*module->getOps<joint::GraphOp>().begin(),
                               PartitionOptions());
    ASSERT_TRUE(succeeded(made));
    result = std::move(*made);
  }

  std::string faultOf(const KernelPlan &plan) {
    KernelPlanner planner(*result->kernelProblem, result->view, *result->sizes,
                          device, result->costs->flopsPs);
    return planner.verify(result->halves, plan).value_or("");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<PartitionResult> result;
  Device device;
};

TEST_F(KernelPlanCheck, TakesThePlanThatWasMade) {
  EXPECT_EQ(faultOf(*result->kernelPlan), "");
  EXPECT_EQ(result->kernelPlan->forward().kernels.size(), 2u);
}

TEST_F(KernelPlanCheck, RefusesKernelsInAnotherOrder) {
  KernelPlan plan = *result->kernelPlan;
  auto &kernels = plan.forward();
  std::swap(kernels.kernels[0], kernels.kernels[1]);
  for (uint32_t number = 0; number < 2; ++number)
    for (uint32_t op : kernels.kernels[number].ops)
      kernels.kernelOf[op] = number;
  EXPECT_EQ(faultOf(plan),
            "kernels of the forward: 'y' reads 'b' before it is written");
}

TEST_F(KernelPlanCheck, RefusesACallWithCompany) {
  KernelPlan plan = *result->kernelPlan;
  auto &kernels = plan.forward();
  uint32_t product = kernels.kernels[1].ops.front();
  kernels.kernels[0].ops.push_back(product);
  kernels.kernels[0].nestOf.push_back(0);
  kernels.kernels.pop_back();
  kernels.kernelOf[product] = 0;
  EXPECT_EQ(faultOf(plan),
            "kernels of the forward: 'y' has no loops and shares a kernel");
}

TEST_F(KernelPlanCheck, RefusesAnotherTime) {
  KernelPlan plan = *result->kernelPlan;
  plan.backward().kernels[0].movedBytes += 1 << 20;
  EXPECT_NE(faultOf(plan).find("ends a kernel whose time is wrong"),
            std::string::npos);
}

TEST_F(KernelPlanCheck, RefusesAReaderOfWhatItsKernelWrites) {
  plan(R"(
joint.graph @g(%x: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %b: tensor<4x4xf32> {joint.role = #joint.role<buffer>},
               %d: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>) {
  %t = aten.t(%b) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = aten.add.Tensor(%t, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w = joint.write %b, %n : tensor<4x4xf32>, tensor<4x4xf32>
  %g = aten.neg(%d) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %x gradients(%g of 0) : tensor<4x4xf32>, tensor<4x4xf32>
}
)");
  ASSERT_TRUE(result && result->kernelPlan);
  KernelPlan plan = *result->kernelPlan;
  auto &kernels = plan.forward();
  ASSERT_EQ(kernels.kernels.size(), 2u);
  uint32_t write = kernels.kernels[1].ops.front();
  kernels.kernels[0].ops.push_back(write);
  kernels.kernels[0].nestOf.push_back(0);
  kernels.kernels.pop_back();
  kernels.kernelOf[write] = 0;
  EXPECT_EQ(faultOf(plan), "kernels of the forward: 'n' reads other elements "
                           "of 'b' than its kernel writes then");
}

/// A kernel reads the parts of complex numbers, which lie there as they are,
/// but no bytes of other numbers: what reads these is a call.
TEST_F(KernelPlanCheck, ViewsOfAnotherTypeThatKernelsRead) {
  auto areCalls = [&](const std::string &type, const std::string &view) {
    plan(R"(
joint.graph @g(%z: tensor<64x32x)" +
         type +
         R"(> {joint.role = #joint.role<input>},
               %x: tensor<64x32xf32> {joint.role = #joint.role<param>},
               %t: tensor<64x32xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<64x32xf32>) gradients (tensor<64x32xf32>) {
  )" + view +
         R"(
  %a = aten.add.Tensor(%x, %real) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = aten.exp(%a) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %g = aten.mul.Tensor(%t, %y) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  joint.output %y gradients(%g of 1) : tensor<64x32xf32>, tensor<64x32xf32>
}
)");
    std::vector<bool> found;
    for (const Kernel &kernel : result->kernelPlan->forward().kernels)
      found.push_back(kernel.schedule == KernelSchedule::Call);
    return found;
  };
  EXPECT_EQ(areCalls("complex<f32>", R"(
  %parts = aten.view_as_real(%z) : (tensor<64x32xcomplex<f32>>) -> tensor<64x32x2xf32>
  %real = aten.select.int(%parts, 2, 0) : (tensor<64x32x2xf32>) -> tensor<64x32xf32>)"),
            std::vector<bool>({false}));
  EXPECT_EQ(areCalls("i32", R"(
  %real = aten.view.dtype(%z, f32) : (tensor<64x32xi32>) -> tensor<64x32xf32>)"),
            std::vector<bool>({true, false}));
}

TEST_F(KernelPlanCheck, ACallOfGraphsCostsWhatItsLaunchesDo) {
  plan(R"(
joint.graph @g(%p: tensor<i1> {joint.role = #joint.role<input>},
               %x: tensor<1048576xf32> {joint.role = #joint.role<input>},
               %t: tensor<1048576xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<1048576xf32>) gradients (tensor<1048576xf32>) {
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) {tuple} : (tensor<i1>, tensor<1048576xf32>) -> tensor<1048576xf32> {
  ^bb0(%a: tensor<1048576xf32>):
    %sin = aten.sin(%a) : (tensor<1048576xf32>) -> tensor<1048576xf32>
    joint.return %sin : tensor<1048576xf32>
  }, {
  ^bb0(%a: tensor<1048576xf32>):
    %sums = aten.cumsum(%a, 0) : (tensor<1048576xf32>) -> tensor<1048576xf32>
    %cos = aten.cos(%sums) : (tensor<1048576xf32>) -> tensor<1048576xf32>
    joint.return %cos : tensor<1048576xf32>
  }
  %g = aten.neg(%t) : (tensor<1048576xf32>) -> tensor<1048576xf32>
  joint.output %y gradients(%g of 1) : tensor<1048576xf32>, tensor<1048576xf32>
}
)");
  ASSERT_TRUE(result && result->kernelPlan);
  KernelPlan plan = *result->kernelPlan;
  EXPECT_EQ(faultOf(plan), "");
  ASSERT_EQ(plan.forward().kernels.size(), 1u);
  Kernel &call = plan.forward().kernels[0];
  const NestedCall *inside = result->kernelProblem->nestedOf(call.anchor());
  ASSERT_TRUE(inside);
  EXPECT_TRUE(inside->isCounted);
  ASSERT_EQ(inside->launches.size(), 3u);
  EXPECT_EQ(inside->launches[0].times, 0); // the cheaper branch
  constexpr int64_t kBytes = int64_t(4) << 20;
  EXPECT_EQ(call.movedBytes, 4 * kBytes);
  EXPECT_EQ(call.ps, inside->launches[1].ps + inside->launches[2].ps);
  for (const NestedLaunch &launch : inside->launches)
    EXPECT_EQ(launch.ps,
              std::max(launch.flopsPs, 2 * kBytes / device.bandwidth) +
                  device.launchPs);
  call.ps = device.launchPs;
  EXPECT_NE(faultOf(plan).find("ends a kernel whose time is wrong"),
            std::string::npos);
}

TEST_F(KernelPlanCheck, RefusesLoopsThatReadEachOther) {
  KernelPlan plan = *result->kernelPlan;
  plan.forward().kernels[0].nestOf.back() = 1;
  plan.forward().kernels[0].nests.push_back(plan.forward().kernels[0].nests[0]);
  EXPECT_EQ(faultOf(plan), "kernels of the forward: 'b' reads 'a', which other "
                           "loops of its kernel make");
}

TEST_F(KernelPlanCheck, RefusesAnOpThatNobodyRuns) {
  KernelPlan plan = *result->kernelPlan;
  uint32_t first = plan.forward().kernels[0].ops.front();
  plan.forward().kernels[0].ops.erase(plan.forward().kernels[0].ops.begin());
  EXPECT_EQ(faultOf(plan),
            "kernels of the forward: kernel 0 has ops without loops");
  plan.forward().kernels[0].nestOf.pop_back();
  EXPECT_EQ(faultOf(plan),
            "kernels of the forward: '" +
                result->view.name(result->view.resultBegin[first + 1]) +
                "' reads '" +
                result->view.name(result->view.resultBegin[first]) +
                "' before it is written");
}

} // namespace
