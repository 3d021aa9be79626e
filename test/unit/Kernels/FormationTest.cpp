// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops share a kernel, by example; and on random programs that each kernel
// can be written as one loop nest, element by element.

#include "ElementCheck.h"

#include "../Planner/RandomProgram.h"

#include "cutback/Analysis/Roofline.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Kernels/KernelPlan.h"
#include "cutback/MemoryPlan/StepView.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <numeric>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;
using llvm::StringRef;

namespace {

class Formation : public ::testing::Test {
protected:
  Formation() {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
    std::string error;
    EXPECT_TRUE(Device::load("h100", device, error)) << error;
  }

  void analyse(joint::GraphOp graph) {
    view = GraphView::build(graph);
    auto computed = ValueSizes::compute(view, {});
    ASSERT_TRUE(succeeded(computed));
    sizes = std::move(*computed);
    auto sets = GraphSets::compute(view);
    ASSERT_TRUE(succeeded(sets));
    costs = RooflineCosts::compute(view, *sets, sizes, device);
    problem = KernelProblem::build(view, sizes);
    order.resize(view.numOps());
    std::iota(order.begin(), order.end(), 0);
    kept.assign(view.forwardResults().begin(), view.forwardResults().end());
    kept.insert(kept.end(), view.gradients().begin(), view.gradients().end());
  }

  SegmentKernels form(const KernelLimits &limits = {}) {
    SegmentOps segment{order, {kept}, {}, false};
    KernelRates rates{device.bandwidth, device.launchPs, &costs.flopsPs};
    return formKernels(problem, view, sizes, segment, rates, limits);
  }

  /// The kernels of a graph, in words: "row: a b c".
  std::vector<std::string> kernelsOf(const std::string &text,
                                     const KernelLimits &limits = {}) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return {};
    analyse(*module->getOps<joint::GraphOp>().begin());
    SegmentKernels segment = form(limits);
    EXPECT_EQ(checkElements(view, sizes, problem, segment, order, kept), "");
    std::vector<std::string> list;
    for (const Kernel &kernel : segment.kernels) {
      std::string &line = list.emplace_back(spell(kernel.schedule));
      line += ":";
      for (uint32_t op : kernel.ops)
        line += " " + view.name(view.resultBegin[op]);
    }
    return list;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Device device;
  GraphView view;
  ValueSizes sizes;
  RooflineCosts costs;
  KernelProblem problem;
  std::vector<uint32_t> order, kept;
};

/// A row-wise softmax of x, 64 x 128.
std::string softmax(const std::string &dim, const std::string &reduced) {
  return R"(
joint.graph @g(%x: tensor<64x128xf32> {joint.role = #joint.role<input>})
    -> (tensor<64x128xf32>) gradients () {
  %m = aten.amax(%x, [)" +
         dim + R"(], true) : (tensor<64x128xf32>) -> tensor<)" + reduced +
         R"(xf32>
  %d = aten.sub.Tensor(%x, %m) : (tensor<64x128xf32>, tensor<)" +
         reduced + R"(xf32>) -> tensor<64x128xf32>
  %e = aten.exp(%d) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = aten.sum.dim_IntList(%e, [)" +
         dim + R"(], true) : (tensor<64x128xf32>) -> tensor<)" + reduced +
         R"(xf32>
  %y = aten.div.Tensor(%e, %s) : (tensor<64x128xf32>, tensor<)" +
         reduced + R"(xf32>) -> tensor<64x128xf32>
  joint.output %y : tensor<64x128xf32>
}
)";
}

using Lines = std::vector<std::string>;

TEST_F(Formation, RowsStayOnChip) {
  EXPECT_EQ(kernelsOf(softmax("1", "64x1")), (Lines{"row: m d e s y"}));
}

TEST_F(Formation, LongRowsAreReadAgain) {
  KernelLimits limits;
  limits.rowOnChip = 64;
  EXPECT_EQ(kernelsOf(softmax("1", "64x1"), limits),
            (Lines{"long-row: m d e s y"}));
  SegmentKernels segment = form(limits);
  ASSERT_EQ(segment.kernels.size(), 1u);
  EXPECT_EQ(segment.kernels[0].passes, 3u);
  EXPECT_EQ(segment.kernels[0].borderBytes, 2 * 64 * 128 * 4);
  EXPECT_EQ(segment.kernels[0].movedBytes, 4 * 64 * 128 * 4);
}

TEST_F(Formation, ColumnsAreCombinedByPartialSums) {
  EXPECT_EQ(kernelsOf(softmax("0", "1x128")),
            (Lines{"partial: m", "partial: d e s", "pointwise: y"}));
}

TEST_F(Formation, ReducedValuesCanBeTheResult) {
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x128xf32> {joint.role = #joint.role<input>})
    -> (tensor<64xf32>) gradients () {
  %q = aten.mul.Tensor(%x, %x) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = aten.mean.dim(%q, [1]) : (tensor<64x128xf32>) -> tensor<64xf32>
  %r = aten.rsqrt(%s) : (tensor<64xf32>) -> tensor<64xf32>
  joint.output %r : tensor<64xf32>
}
)"),
            (Lines{"row: q s r"}));
}

TEST_F(Formation, TwoElementsOfOneOpAreTwoKernels) {
  // The two halves of y meet in one element of z.
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x128xf32> {joint.role = #joint.role<input>})
    -> (tensor<64x64xf32>) gradients () {
  %y = aten.exp(%x) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %a = aten.slice.Tensor(%y, 1, 0, 64) : (tensor<64x128xf32>) -> tensor<64x64xf32>
  %b = aten.slice.Tensor(%y, 1, 64, 128) : (tensor<64x128xf32>) -> tensor<64x64xf32>
  %z = aten.add.Tensor(%a, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %z : tensor<64x64xf32>
}
)"),
            (Lines{"pointwise: y", "pointwise: z"}));
}

TEST_F(Formation, APickAlongARowIsAReduction) {
  Lines expected{"row: e g"};
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x128xf32> {joint.role = #joint.role<input>},
               %i: tensor<64x1xi64> {joint.role = #joint.role<input>})
    -> (tensor<64x1xf32>) gradients () {
  %e = aten.exp(%x) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %g = aten.gather(%e, 1, %i) : (tensor<64x128xf32>, tensor<64x1xi64>) -> tensor<64x1xf32>
  joint.output %g : tensor<64x1xf32>
}
)"),
            expected);
}

TEST_F(Formation, ReadsDoNotMoveOverAWrite) {
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64xf32> {joint.role = #joint.role<input>},
               %b: tensor<64xf32> {joint.role = #joint.role<buffer>})
    -> (tensor<64xf32>) gradients () {
  %old = aten.exp(%b) : (tensor<64xf32>) -> tensor<64xf32>
  %n = aten.neg(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %w = joint.write %b, %n : tensor<64xf32>, tensor<64xf32>
  %y = aten.add.Tensor(%old, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  joint.output %y : tensor<64xf32>
}
)")
                .front(),
            "pointwise: old y");
}

TEST_F(Formation, KernelsThatNeedNothingOfEachOtherAreOneLaunch) {
  // The product stands between the casts, and needs one of them. What is live
  // there is far from the peak, at the large product.
  Lines kernels = kernelsOf(R"(
joint.graph @g(%x: tensor<64x64xf16> {joint.role = #joint.role<input>},
               %v: tensor<64x64xf32> {joint.role = #joint.role<param>},
               %w: tensor<64x32xf32> {joint.role = #joint.role<param>},
               %h: tensor<512x512xf32> {joint.role = #joint.role<input>})
    -> (tensor<64x32xf16>, tensor<512x512xf32>) gradients () {
  %a = aten._to_copy(%v, dtype = f16) : (tensor<64x64xf32>) -> tensor<64x64xf16>
  %y = aten.mm(%x, %a) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %b = aten._to_copy(%w, dtype = f16) : (tensor<64x32xf32>) -> tensor<64x32xf16>
  %z = aten.mm(%y, %b) : (tensor<64x64xf16>, tensor<64x32xf16>) -> tensor<64x32xf16>
  %k = aten.mm(%h, %h) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  joint.output %z, %k : tensor<64x32xf16>, tensor<512x512xf32>
}
)");
  EXPECT_EQ(kernels,
            (Lines{"pointwise: a b", "call: y", "call: z", "call: k"}));
  SegmentKernels segment = form();
  ASSERT_EQ(segment.kernels.size(), 4u);
  EXPECT_EQ(segment.kernels[0].nests.size(), 2u);
  EXPECT_EQ(segment.kernels[0].borderBytes, 6 * 64 * 64 + 6 * 64 * 32);
  KernelLimits limits;
  limits.nests = 1;
  EXPECT_EQ(form(limits).kernels.size(), 5u);
}

TEST_F(Formation, NothingLargeMovesNearThePeak) {
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x64xf16> {joint.role = #joint.role<input>},
               %v: tensor<64x64xf32> {joint.role = #joint.role<param>},
               %w: tensor<64x32xf32> {joint.role = #joint.role<param>})
    -> (tensor<64x32xf16>) gradients () {
  %a = aten._to_copy(%v, dtype = f16) : (tensor<64x64xf32>) -> tensor<64x64xf16>
  %y = aten.mm(%x, %a) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %b = aten._to_copy(%w, dtype = f16) : (tensor<64x32xf32>) -> tensor<64x32xf16>
  %z = aten.mm(%y, %b) : (tensor<64x64xf16>, tensor<64x32xf16>) -> tensor<64x32xf16>
  joint.output %z : tensor<64x32xf16>
}
)"),
            (Lines{"pointwise: a", "call: y", "pointwise: b", "call: z"}));
}

TEST_F(Formation, LoopsOfOneShapeReadATensorOnce) {
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x128xf32> {joint.role = #joint.role<input>},
               %d: tensor<64x128xf32> {joint.role = #joint.role<input>})
    -> (tensor<128xf32>, tensor<128xf32>) gradients () {
  %p = aten.mul.Tensor(%x, %d) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = aten.sum.dim_IntList(%p, [0]) : (tensor<64x128xf32>) -> tensor<128xf32>
  %t = aten.sum.dim_IntList(%d, [0]) : (tensor<64x128xf32>) -> tensor<128xf32>
  joint.output %s, %t : tensor<128xf32>, tensor<128xf32>
}
)"),
            (Lines{"partial: p s t"}));
  SegmentKernels segment = form();
  EXPECT_EQ(segment.kernels[0].nests.size(), 1u);
  EXPECT_EQ(segment.kernels[0].borderBytes, 2 * 64 * 128 * 4 + 2 * 128 * 4);
}

TEST_F(Formation, ASecondReaderOfARowIsInItsKernel) {
  // t reads p behind s, for which p is made.
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x128xf32> {joint.role = #joint.role<input>})
    -> (tensor<64xf32>, tensor<64xf32>) gradients () {
  %p = aten.exp(%x) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %q = aten.mul.Tensor(%p, %x) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = aten.sum.dim_IntList(%q, [1]) : (tensor<64x128xf32>) -> tensor<64xf32>
  %t = aten.sum.dim_IntList(%p, [1]) : (tensor<64x128xf32>) -> tensor<64xf32>
  joint.output %s, %t : tensor<64xf32>, tensor<64xf32>
}
)"),
            (Lines{"row: p q s t"}));
  // p stays in registers.
  SegmentKernels segment = form();
  EXPECT_EQ(segment.kernels[0].borderBytes, 64 * 128 * 4 + 2 * 64 * 4);
}

TEST_F(Formation, AReaderMeetsItsMakerOverACall) {
  // The product reads q, in front of which the kernel of r would stand.
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x64xf32> {joint.role = #joint.role<input>})
    -> (tensor<64x64xf32>, tensor<64x64xf32>) gradients () {
  %p = aten.exp(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = aten.sin(%p) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.mm(%q, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = aten.mul.Tensor(%p, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y, %r : tensor<64x64xf32>, tensor<64x64xf32>
}
)"),
            (Lines{"pointwise: p q r", "call: y"}));
}

TEST_F(Formation, AReaderOfOtherElementsStaysApart) {
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x64xf32> {joint.role = #joint.role<input>})
    -> (tensor<64x64xf32>, tensor<64x64xf32>) gradients () {
  %p = aten.exp(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = aten.sin(%p) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.mm(%q, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = aten.t(%p) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = aten.mul.Tensor(%t, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %y, %r : tensor<64x64xf32>, tensor<64x64xf32>
}
)"),
            (Lines{"pointwise: p q", "call: y", "pointwise: r"}));
}

TEST_F(Formation, WhatHasToRunBetweenKeepsThemApart) {
  // y needs a, and c needs y.
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64x64xf32> {joint.role = #joint.role<input>})
    -> (tensor<64x64xf32>) gradients () {
  %a = aten.exp(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = aten.mm(%x, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = aten.exp(%y) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  joint.output %c : tensor<64x64xf32>
}
)"),
            (Lines{"pointwise: a", "call: y", "pointwise: c"}));
}

/// A graph of an input x and a buffer b, 64 x 64 each, whose body writes b.
std::string writing(const std::string &body, const std::string &result) {
  return R"(
joint.graph @g(%x: tensor<64x64xf32> {joint.role = #joint.role<input>},
               %b: tensor<64x64xf32> {joint.role = #joint.role<buffer>})
    -> (tensor<64x64xf32>) gradients () {
)" + body +
         "  joint.output " + result + " : tensor<64x64xf32>\n}\n";
}
const std::string kMap = " : (tensor<64x64xf32>) -> tensor<64x64xf32>\n";
const std::string kAdd =
    " : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n";
const std::string kWrite = " : tensor<64x64xf32>, tensor<64x64xf32>\n";

TEST_F(Formation, AWriteIsStoredByTheKernelOfItsValue) {
  EXPECT_EQ(kernelsOf(writing("%d = aten.mul.Tensor(%b, %b)" + kAdd +
                                  "%n = aten.add.Tensor(%d, %x)" + kAdd +
                                  "%w = joint.write %b, %n" + kWrite,
                              "%n")),
            (Lines{"pointwise: d n w"}));
  // Loads b and x, stores b and n.
  EXPECT_EQ(form().kernels.front().borderBytes, 4 * 64 * 64 * 4);
}

TEST_F(Formation, AnElementThatIsWrittenTooEarlyKeepsTheWriteApart) {
  // Iteration (i, j) stores b[i, j], and iteration (j, i) would read it.
  EXPECT_EQ(kernelsOf(writing("%t = aten.t(%b)" + kMap +
                                  "%n = aten.add.Tensor(%t, %x)" + kAdd +
                                  "%w = joint.write %b, %n" + kWrite,
                              "%x")),
            (Lines{"pointwise: n", "pointwise: w"}));
  // All iterations read b[0, 0].
  EXPECT_EQ(kernelsOf(writing(
                "%s = aten.slice.Tensor(%b, 0, 0, 1) : (tensor<64x64xf32>) -> "
                "tensor<1x64xf32>\n"
                "%n = aten.add.Tensor(%s, %x) : (tensor<1x64xf32>, "
                "tensor<64x64xf32>) -> tensor<64x64xf32>\n"
                "%w = joint.write %b, %n" +
                    kWrite,
                "%x")),
            (Lines{"pointwise: n", "pointwise: w"}));
  // A row is combined before any element of it may go.
  EXPECT_EQ(
      kernelsOf(writing(
          "%s = aten.sum.dim_IntList(%b, [1], true) : (tensor<64x64xf32>) -> "
          "tensor<64x1xf32>\n"
          "%n = aten.mul.Tensor(%s, %b) : (tensor<64x1xf32>, "
          "tensor<64x64xf32>) -> tensor<64x64xf32>\n"
          "%w = joint.write %b, %n" +
              kWrite,
          "%x")),
      (Lines{"row: s", "pointwise: n w"}));
}

TEST_F(Formation, AReaderOfTheOldValueStaysInFrontOfTheWrite) {
  // What reads the old value does not move behind the write with its reader.
  EXPECT_EQ(kernelsOf(writing("%o = aten.exp(%b)" + kMap + "%n = aten.neg(%x)" +
                                  kMap + "%w = joint.write %b, %n" + kWrite +
                                  "%y = aten.add.Tensor(%o, %n)" + kAdd,
                              "%y")),
            (Lines{"pointwise: o", "pointwise: n w y"}));
  // Several arguments that are written from each other's new values, element by
  // element, are one kernel's; the momentum of a parameter is such a one.
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%p: tensor<64xf32> {joint.role = #joint.role<buffer>},
               %m: tensor<64xf32> {joint.role = #joint.role<buffer>},
               %x: tensor<64xf32> {joint.role = #joint.role<input>})
    -> (tensor<64xf32>) gradients () {
  %d = aten.add.Tensor(%x, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %n = aten.add.Tensor(%m, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %v = joint.write %m, %n : tensor<64xf32>, tensor<64xf32>
  %q = aten.sub.Tensor(%p, %n) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %w = joint.write %p, %q : tensor<64xf32>, tensor<64xf32>
  joint.output %x : tensor<64xf32>
}
)"),
            (Lines{"pointwise: d n v q w"}));
  // Not where one reads other elements of what the other writes.
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%p: tensor<8x8xf32> {joint.role = #joint.role<buffer>},
               %m: tensor<8x8xf32> {joint.role = #joint.role<buffer>},
               %x: tensor<8x8xf32> {joint.role = #joint.role<input>})
    -> (tensor<8x8xf32>) gradients () {
  %t = aten.t(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = aten.add.Tensor(%m, %t) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = joint.write %m, %n : tensor<8x8xf32>, tensor<8x8xf32>
  %q = aten.sub.Tensor(%x, %n) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %w = joint.write %p, %q : tensor<8x8xf32>, tensor<8x8xf32>
  joint.output %x : tensor<8x8xf32>
}
)")
                .size(),
            2u);
  // Nor does what makes the value move over another write.
  EXPECT_EQ(
      kernelsOf(writing("%o = aten.exp(%b)" + kMap + "%v = joint.write %b, %x" +
                            kWrite + "%w = joint.write %b, %o" + kWrite,
                        "%x"))
          .size(),
      3u);
  // A write of the argument's own elements is a call: they move.
  EXPECT_EQ(
      kernelsOf(writing(
          "%t = aten.t(%b)" + kMap + "%w = joint.write %b, %t" + kWrite, "%x")),
      (Lines{"call: w"}));
}

TEST_F(Formation, LaunchesDoNotMeetOverAWrite) {
  // e reads b before it is written, y what is written into it; z has nothing
  // to do with it.
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64xf32> {joint.role = #joint.role<input>},
               %b: tensor<64xf32> {joint.role = #joint.role<buffer>})
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) gradients () {
  %e = aten.exp(%b) : (tensor<64xf32>) -> tensor<64xf32>
  %w = joint.write %b, %x : tensor<64xf32>, tensor<64xf32>
  %y = aten.neg(%w) : (tensor<64xf32>) -> tensor<64xf32>
  %z = aten.sin(%x) : (tensor<64xf32>) -> tensor<64xf32>
  joint.output %e, %y, %z : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
)"),
            (Lines{"pointwise: e", "pointwise: w", "pointwise: y z"}));
}

TEST_F(Formation, AWriteOfAnotherTypeIsACall) {
  EXPECT_EQ(kernelsOf(R"(
joint.graph @g(%x: tensor<64xf64> {joint.role = #joint.role<input>},
               %b: tensor<64xf32> {joint.role = #joint.role<buffer>})
    -> (tensor<64xf64>) gradients () {
  %w = joint.write %b, %x : tensor<64xf32>, tensor<64xf64>
  joint.output %x : tensor<64xf64>
}
)"),
            (Lines{"call: w"}));
}

/// The number of programs: CUTBACK_RANDOM_GRAPHS, or 300.
uint64_t numPrograms() {
  const char *text = std::getenv("CUTBACK_RANDOM_GRAPHS");
  return text ? std::strtoull(text, nullptr, 10) : 300;
}

TEST_F(Formation, EveryKernelIsALoopNest) {
  uint64_t fused = 0;
  for (uint64_t seed = 1; seed <= numPrograms(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgramOptions options;
    module = RandomProgram(seed, options, context).build();
    ASSERT_TRUE(module);
    auto graph = *module->getOps<joint::GraphOp>().begin();
    analyse(graph);
    // Small rows, so that all schedules are met.
    KernelLimits limits;
    limits.rowOnChip = seed % 3 ? 16384 : 2;
    limits.fewRows = seed % 2 ? 32 : 1;
    SegmentKernels segment = form(limits);
    ASSERT_EQ(checkElements(view, sizes, problem, segment, order, kept), "");
    for (const Kernel &kernel : segment.kernels)
      fused += kernel.ops.size() > 1;
  }
  EXPECT_GT(fused, numPrograms());
}

TEST_F(Formation, KernelsReadWhatTheMemoryPlanPlaces) {
  uint64_t views = 0;
  for (uint64_t seed = 1; seed <= numPrograms(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgramOptions options;
    options.percentWrite = 0; // views of what is written later are copies
    module = RandomProgram(seed, options, context).build();
    ASSERT_TRUE(module);
    auto graph = *module->getOps<joint::GraphOp>().begin();
    analyse(graph);
    FailureOr<StepView> step = StepView::ofGraph(graph, {});
    ASSERT_TRUE(succeeded(step));
    for (uint32_t value = 0; value < view.numValues(); ++value) {
      uint32_t storage = step->values[value].storage;
      if (storage == StepView::kNone)
        continue;
      ASSERT_EQ(step->storages[storage].value, problem.root[value])
          << view.name(value);
      views += problem.root[value] != value;
    }
  }
  EXPECT_GT(views, numPrograms());
}

} // namespace
