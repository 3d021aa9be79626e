// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Live ranges, views and in-place reuse on steps worked out by hand; the proof
// against plans that are wrong.

#include "StepFixture.h"

#include "cutback/MemoryPlan/ScheduleBackward.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

constexpr uint32_t kNone = StepView::kNone;

class StepMemoryTest : public StepFixture {};

/// The first operand of an op, to be changed.
uint32_t &operandOf(StepView &step, uint32_t op) {
  GraphView &view = step.segments[0].view;
  return view.operandList[view.operandBegin[op]];
}

const std::string kOne = " : (tensor<64xf32>) -> tensor<64xf32>\n";
const std::string kTwo =
    " : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>\n";

TEST_F(StepMemoryTest, AStorageLivesFromItsOpToItsLastReader) {
  StepView step = program("%a = aten.exp(%x)" + kOne + "%y = aten.sin(%x)" +
                          kOne + "%b = aten.mul.Tensor(%a, %t)" + kTwo +
                          "%dx = aten.mul.Tensor(%b, %a)" + kTwo);
  StepMemory memory(step, {/*inPlace=*/false});
  auto range = [&](const char *name) {
    return memory.liveRanges()[storageOf(step, name)];
  };
  EXPECT_EQ(range("x").use, StorageUse::Outside);
  EXPECT_EQ(range("a").begin, 0u);
  EXPECT_EQ(range("a").end, 4u);
  EXPECT_EQ(range("a").use, StorageUse::Temporary);
  EXPECT_EQ(range("y").use, StorageUse::Result);
  EXPECT_EQ(range("y").end, step.numOps());
  EXPECT_EQ(range("b").begin, 2u);
  EXPECT_EQ(range("b").end, 4u);
  EXPECT_EQ(range("dx").use, StorageUse::Gradient);
  EXPECT_EQ(range("dx").end, step.numOps());
  EXPECT_EQ(memory.buffers().size(), 4u);
}

TEST_F(StepMemoryTest, APointwiseOpTakesThePlaceOfAnOperandThatDies) {
  StepView step = program("%a = aten.exp(%x)" + kOne + "%y = aten.sin(%a)" +
                          kOne + "%b = aten.mul.Tensor(%y, %t)" + kTwo +
                          "%dx = aten.mul.Tensor(%b, %b)" + kTwo);
  StepMemory memory(step);
  auto range = [&](const char *name) {
    return memory.liveRanges()[storageOf(step, name)];
  };
  EXPECT_EQ(range("y").inPlaceOf, storageOf(step, "a"));
  EXPECT_EQ(range("a").end, 1u);
  // %y is kept and %t is an argument: nothing to write over.
  EXPECT_EQ(range("b").inPlaceOf, kNone);
  EXPECT_EQ(range("dx").inPlaceOf, storageOf(step, "b"));
  EXPECT_EQ(memory.buffers().size(), 2u);
}

TEST_F(StepMemoryTest, TheYoungestBufferIsTaken) {
  StepView step = program("%a = aten.exp(%x)" + kOne + "%b = aten.sin(%x)" +
                          kOne + "%y = aten.mul.Tensor(%a, %b)" + kTwo +
                          "%dx = aten.exp(%t)" + kOne);
  StepMemory memory(step);
  EXPECT_EQ(memory.liveRanges()[storageOf(step, "y")].inPlaceOf,
            storageOf(step, "b"));
}

TEST_F(StepMemoryTest, AViewKeepsItsBaseAliveAndHasNoPlaceOfItsOwn) {
  StepView step = program(
      "%a = aten.exp(%x)" + kOne +
      "%v = aten.view(%a, [8, 8]) : (tensor<64xf32>) -> tensor<8x8xf32>\n"
      "%p = aten.t(%v) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
      "%q = aten.sin(%p) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
      "%y = aten.view(%q, [64]) : (tensor<8x8xf32>) -> tensor<64xf32>\n"
      "%dx = aten.exp(%t)" +
      kOne);
  StepMemory memory(step);
  EXPECT_EQ(storageOf(step, "p"), storageOf(step, "a"));
  EXPECT_EQ(memory.liveRanges()[storageOf(step, "a")].end, 4u);
  // The operand is read transposed: not in its place.
  EXPECT_EQ(memory.liveRanges()[storageOf(step, "q")].inPlaceOf, kNone);
  EXPECT_EQ(storageOf(step, "y"), storageOf(step, "q"));
}

TEST_F(StepMemoryTest, AViewThatStridesDoNotAllowIsACopy) {
  StepView step = program(
      "%a = aten.view(%x, [8, 8]) : (tensor<64xf32>) -> tensor<8x8xf32>\n"
      "%p = aten.t(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
      "%y = aten.view(%p, [64]) : (tensor<8x8xf32>) -> tensor<64xf32>\n"
      "%dx = aten.exp(%t)" +
      kOne);
  StepMemory memory(step);
  EXPECT_EQ(storageOf(step, "p"), storageOf(step, "x"));
  EXPECT_NE(storageOf(step, "y"), storageOf(step, "x"));
  EXPECT_EQ(memory.liveRanges()[storageOf(step, "y")].use, StorageUse::Result);
}

TEST_F(StepMemoryTest, AViewOfAnArgumentThatIsWrittenLaterIsACopy) {
  StepView step = program(
      "%v = aten.view(%w, [8, 8]) : (tensor<64xf32>) -> tensor<8x8xf32>\n"
      "%n = joint.write %w, %x : tensor<64xf32>, tensor<64xf32>\n"
      "%y = aten.view(%v, [64]) : (tensor<8x8xf32>) -> tensor<64xf32>\n"
      "%dx = aten.exp(%t)" +
      kOne);
  EXPECT_FALSE(step.storages[storageOf(step, "v")].isOutside);
  EXPECT_TRUE(step.storages[storageOf(step, "n")].isOutside);
}

TEST_F(StepMemoryTest, WhatTheForwardSavesLivesToItsLastReaderInTheBackward) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @g_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>, tensor<64xf32>) {
      %a = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
      %y = aten.sin(%a) : (tensor<64xf32>) -> tensor<64xf32>
      return %y, %a : tensor<64xf32>, tensor<64xf32>
    }
    func.func @g_backward(%a: tensor<64xf32> {joint.name = "a", joint.role = #joint.role<saved>}, %t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> tensor<64xf32> {
      %b = aten.mul.Tensor(%a, %t) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      %c = aten.mul.Tensor(%b, %t) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      return %c : tensor<64xf32>
    }
    joint.partition @g_partition forward @g_forward backward @g_backward saved ["a"] {gradient_of = array<i32: 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
  )",
                                       &context);
  ASSERT_TRUE(module) << messages;
  auto link = *module->getOps<joint::PartitionOp>().begin();
  FailureOr<MemoryPlan> plan = planMemory(link, {});
  ASSERT_TRUE(succeeded(plan)) << messages;
  const StepView &step = plan->program;
  ASSERT_EQ(step.segments.size(), 2u);
  EXPECT_EQ(step.forwardEnd(), 2u);
  // x, a, y; then t, b, c: the backward's first argument is the forward's a.
  uint32_t a = valueOf(step, "a");
  EXPECT_EQ(step.values.size(), 6u);
  EXPECT_EQ(step.saved, std::vector<uint32_t>{a});
  EXPECT_EQ(step.operands(3)[0], a);
  EXPECT_EQ(step.maker(storageOf(step, "a")), 0u);
  EXPECT_EQ(step.maker(storageOf(step, "b")), 3u);
  EXPECT_EQ(step.maker(storageOf(step, "t")), kNone);
  EXPECT_EQ(step.opName(4), "c");
  EXPECT_EQ(step.opName(5), "func.return");
  EXPECT_TRUE(step.results(5).empty());
  const PlannedStorage &saved = plan->storages[storageOf(plan->program, "a")];
  EXPECT_EQ(saved.use, StorageUse::Saved);
  EXPECT_EQ(saved.begin, 0u);
  // Ops: exp, sin, return, mul (in its place), mul, return.
  EXPECT_EQ(saved.end, 3u);
  EXPECT_EQ(plan->arenaBytes(), 512);
  EXPECT_EQ(plan->lowerBound(), 512);
  EXPECT_EQ(plan->peak.at, "y");
  EXPECT_EQ(plan->peak.saved, 256);
  EXPECT_EQ(plan->peak.results, 256);

  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  plan->writeJson(json);
  EXPECT_EQ(text,
            "{\"alignment\":64,\"arena_bytes\":512,\"lower_bound\":512,"
            "\"ops\":6,\"backward_begins\":3,\"peak\":{\"at\":\"y\",\"op\":1,"
            "\"in_backward\":false,\"saved_bytes\":256,\"result_bytes\":256,"
            "\"gradient_bytes\":0,\"temporary_bytes\":0},\"storages\":["
            "{\"value\":\"a\",\"use\":\"saved\",\"offset\":0,\"bytes\":256,"
            "\"begin\":0,\"end\":3},"
            "{\"value\":\"y\",\"use\":\"result\",\"offset\":256,\"bytes\":256,"
            "\"begin\":1,\"end\":6},"
            "{\"value\":\"b\",\"use\":\"temporary\",\"offset\":0,"
            "\"bytes\":256,\"begin\":3,\"end\":4,\"in_place_of\":\"a\"},"
            "{\"value\":\"c\",\"use\":\"gradient\",\"offset\":0,"
            "\"bytes\":256,\"begin\":4,\"end\":6,\"in_place_of\":\"b\"}]}");
}

//===----------------------------------------------------------------------===//
// What cannot be planned, and what is planned wrongly
//===----------------------------------------------------------------------===//

TEST_F(StepMemoryTest, ASizeThatNobodyKnowsIsAnError) {
  joint::GraphOp unknown =
      graph("%y = aten.exp(%x) : (tensor<?xf32>) -> tensor<?xf32>\n"
            "%dx = aten.exp(%t) : (tensor<?xf32>) -> tensor<?xf32>\n",
            "%y", "%dx", "?");
  EXPECT_TRUE(failed(StepView::ofGraph(unknown, {})));
  EXPECT_EQ(messages,
            "size of 'x' of type 'tensor<?xf32>' is not known\n"
            "the memory plan needs the values of all symbols (--sym), and no "
            "size that depends on data\n");
}

TEST_F(StepMemoryTest, ASizeBeyond64BitsIsAnError) {
  const std::string type = "tensor<4611686018427387904xf32>";
  joint::GraphOp large =
      graph("%y = aten.exp(%x) : (" + type + ") -> " + type + "\n" +
                "%dx = aten.exp(%t) : (" + type + ") -> " + type + "\n",
            "%y", "%dx", "4611686018427387904");
  EXPECT_TRUE(failed(StepView::ofGraph(large, {})));
  EXPECT_NE(messages.find("does not fit 64 bits"), std::string::npos);
}

TEST_F(StepMemoryTest, StoragesThatDoNotFitTogetherAreAnError) {
  const std::string type = "tensor<288230376151711744xf32>";
  StepView step =
      program("%y = aten.exp(%x) : (" + type + ") -> " + type + "\n" +
                  "%a = aten.exp(%t) : (" + type + ") -> " + type + "\n" +
                  "%dx = aten.cumsum(%a, 0) : (" + type + ") -> " + type + "\n",
              "%y", "%dx", "288230376151711744");
  EXPECT_TRUE(failed(planMemory(std::move(step))));
  EXPECT_NE(messages.find("larger than 62 bits count"), std::string::npos);
}

class WrongPlanTest : public StepFixture {
protected:
  /// %a and %b are at the same place, one after the other.
  StepView step() {
    return program("%a = aten.exp(%x)" + kOne + "%y = aten.cumsum(%a, 0)" +
                   kOne + "%b = aten.sin(%t)" + kOne +
                   "%dx = aten.cumsum(%b, 0)" + kOne);
  }
};

TEST_F(WrongPlanTest, ARightOnePasses) {
  StepView right = step();
  StepMemory memory(right);
  EXPECT_TRUE(succeeded(memory.check()));
  ArenaLayout layout = layoutArena(memory.buffers());
  EXPECT_TRUE(succeeded(memory.verify(layout, 64)));
  EXPECT_EQ(layout.offsets[memory.liveRanges()[storageOf(right, "a")].buffer],
            layout.offsets[memory.liveRanges()[storageOf(right, "b")].buffer]);
}

TEST_F(WrongPlanTest, TwoLiveStoragesOnTheSameBytesAreFound) {
  StepView right = step();
  StepMemory memory(right);
  ArenaLayout layout = layoutArena(memory.buffers());
  for (int64_t &offset : layout.offsets)
    offset = 0;
  EXPECT_TRUE(failed(memory.verify(layout, 64)));
  EXPECT_NE(messages.find("has no valid place in the arena for its result"),
            std::string::npos);
}

TEST_F(WrongPlanTest, AReaderOfWhatIsGoneIsFound) {
  StepView wrong = step();
  StepMemory memory(wrong);
  ArenaLayout layout = layoutArena(memory.buffers());
  // The last op reads %a after all.
  operandOf(wrong, 3) = valueOf(wrong, "a");
  EXPECT_TRUE(failed(memory.verify(layout, 64)));
  EXPECT_NE(messages.find("would read 'a' where something else lies by then"),
            std::string::npos);
}

TEST_F(WrongPlanTest, AWriteOverAnOperandIsFound) {
  StepView wrong = step();
  StepMemory memory(wrong);
  ArenaLayout layout = layoutArena(memory.buffers());
  // %b is written where %a lies; a sum along a dimension cannot do that.
  GraphView &view = wrong.segments[0].view;
  operandOf(wrong, 2) = valueOf(wrong, "a");
  view.traits[2] = view.traits[1];
  EXPECT_TRUE(failed(memory.verify(layout, 64)));
  EXPECT_NE(messages.find("would write 'b' over its operand 'a'"),
            std::string::npos);
}

/// A branch, whose scratch may lie where %b lay.
static const char *const kBranch = R"(
  %s = aten.sum(%x) : (tensor<64xf32>) -> tensor<f32>
  %p = aten.gt.Scalar(%s, 0) : (tensor<f32>) -> tensor<i1>
  %b = aten.exp(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %c = aten.cumsum(%b, 0) : (tensor<64xf32>) -> tensor<64xf32>
  %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%c]) {tuple}
      : (tensor<i1>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%u: tensor<64xf32>):
    %sin = aten.sin(%u) : (tensor<64xf32>) -> tensor<64xf32>
    joint.return %sin : tensor<64xf32>
  }, {
  ^bb0(%u: tensor<64xf32>):
    joint.return %u : tensor<64xf32>
  }
  %dx = aten.cumsum(%t, 0) : (tensor<64xf32>) -> tensor<64xf32>
)";

static uint32_t scratchOf(const StepView &step) {
  uint32_t scratch = 0;
  while (!step.storages[scratch].isScratch)
    ++scratch;
  return scratch;
}

TEST_F(WrongPlanTest, ScratchOfACallIsABufferWhileItRuns) {
  StepView step = program(kBranch);
  uint32_t scratch = scratchOf(step);
  EXPECT_EQ(step.storages[scratch].bytes, 256);
  EXPECT_EQ(step.name(step.storages[scratch].value), "y");
  StepMemory memory(step);
  EXPECT_EQ(memory.liveRanges()[scratch].use, StorageUse::Temporary);
  EXPECT_EQ(memory.liveRanges()[scratch].end,
            memory.liveRanges()[scratch].begin + 1);
  ArenaLayout layout = layoutArena(memory.buffers());
  EXPECT_TRUE(succeeded(memory.verify(layout, 64)));
}

TEST_F(WrongPlanTest, ScratchOverAnOperandIsFound) {
  StepView wrong = program(kBranch);
  StepMemory memory(wrong);
  ArenaLayout layout = layoutArena(memory.buffers());
  auto offsetOf = [&](uint32_t storage) -> int64_t & {
    return layout.offsets[memory.liveRanges()[storage].buffer];
  };
  // All apart, but for the scratch, which lies where %b lay.
  for (auto [i, offset] : llvm::enumerate(layout.offsets))
    offset = static_cast<int64_t>(i) * 256;
  layout.bytes = static_cast<int64_t>(layout.offsets.size()) * 256;
  offsetOf(scratchOf(wrong)) = offsetOf(storageOf(wrong, "b"));
  EXPECT_TRUE(succeeded(memory.verify(layout, 64))) << messages;
  // The branch reads %b after all.
  GraphView &view = wrong.segments[0].view;
  view.operandList[view.operandBegin[4] + 1] = valueOf(wrong, "b");
  EXPECT_TRUE(failed(memory.verify(layout, 64)));
  EXPECT_NE(messages.find("would use the bytes of 'b' as scratch"),
            std::string::npos)
      << messages;
}

TEST_F(WrongPlanTest, AWriteOverAnotherResultIsFound) {
  StepView wrong = step();
  StepMemory memory(wrong);
  ArenaLayout layout = layoutArena(memory.buffers());
  // The third op makes what the first two did, which nobody reads.
  GraphView &view = wrong.segments[0].view;
  operandOf(wrong, 1) = valueOf(wrong, "x");
  view.resultBegin[1] = view.resultBegin[2] = view.resultBegin[0];
  EXPECT_TRUE(failed(memory.verify(layout, 64)));
  EXPECT_NE(messages.find("would write 'b' over its result 'a'"),
            std::string::npos);
}

TEST_F(WrongPlanTest, AProgramOutOfOrderIsFound) {
  StepView wrong = step();
  operandOf(wrong, 0) = valueOf(wrong, "dx");
  StepMemory memory(wrong);
  EXPECT_TRUE(failed(memory.check()));
  EXPECT_NE(messages.find("reads a value that no earlier op of the step "
                          "defines"),
            std::string::npos);
}

TEST_F(WrongPlanTest, AViewBeyondItsStorageIsFound) {
  StepView wrong = step();
  uint32_t value = valueOf(wrong, "a");
  wrong.layouts.push_back(wrong.layoutOf(value));
  wrong.layouts.back().offset = 1;
  wrong.values[value].layout = wrong.layouts.size() - 1;
  StepMemory memory(wrong);
  EXPECT_TRUE(failed(memory.check()));
  EXPECT_NE(messages.find("makes 'a', which reaches out of its storage"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

class LaunchTest : public StepFixture {
protected:
  /// The step of `body`, its ops in launches of so many.
  StepView launched(const std::string &body, ArrayRef<int32_t> sizes) {
    joint::GraphOp op = graph(body);
    op->setAttr(kLaunches, DenseI32ArrayAttr::get(&context, sizes));
    auto built = StepView::ofGraph(op, {});
    return succeeded(built) ? std::move(*built) : StepView();
  }
  /// y = cumsum(sin(exp(x))), and the same of t.
  const std::string body = "%a = aten.exp(%x)" + kOne + "%b = aten.sin(%a)" +
                           kOne + "%y = aten.cumsum(%b, 0)" + kOne +
                           "%dx = aten.cumsum(%t, 0)" + kOne;
};

TEST_F(LaunchTest, WhatALaunchMakesAndReadsHasNoPlace) {
  StepView step = launched(body, {2, 1, 1});
  ASSERT_EQ(step.launches.size(), 4u); // and the terminator
  StepMemory memory(step);
  EXPECT_EQ(memory.liveRanges()[storageOf(step, "a")].use, StorageUse::Outside);
  EXPECT_EQ(memory.liveRanges()[storageOf(step, "b")].use,
            StorageUse::Temporary);
  EXPECT_EQ(memory.liveRanges()[storageOf(step, "b")].begin, 0u);
  EXPECT_TRUE(succeeded(
      memory.verify(layoutArena(memory.buffers()), /*alignment=*/64)));
}

TEST_F(LaunchTest, AResultTakesThePlaceOfADyingOperandOfItsLaunch) {
  std::string chain = "%p = aten.cumsum(%x, 0)" + kOne + "%a = aten.exp(%p)" +
                      kOne + "%y = aten.sin(%a)" + kOne +
                      "%dx = aten.cumsum(%t, 0)" + kOne;
  StepView step = launched(chain, {1, 2, 1});
  EXPECT_EQ(StepMemory(step).liveRanges()[storageOf(step, "y")].inPlaceOf,
            storageOf(step, "p"));
  // Where elements move inside the launch, one could be overwritten too early.
  StepView moving = launched(chain, {1, -2, 1});
  EXPECT_EQ(StepMemory(moving).liveRanges()[storageOf(moving, "y")].inPlaceOf,
            kNone);
}

TEST_F(LaunchTest, OtherLoopsOfALaunchMayStillReadAnOperand) {
  auto inPlaceOf = [&](const std::string &other) {
    StepView step = launched("%p = aten.cumsum(%x, 0)" + kOne + other +
                                 "%y = aten.exp(%p)" + kOne +
                                 "%dx = aten.cumsum(%t, 0)" + kOne,
                             {1, 2, 1});
    return std::pair(
        StepMemory(step).liveRanges()[storageOf(step, "y")].inPlaceOf,
        storageOf(step, "p"));
  };
  // The sum is another nest, and may run later.
  EXPECT_EQ(
      inPlaceOf("%q = aten.sum(%p) : (tensor<64xf32>) -> tensor<f32>\n").first,
      kNone);
  // The sine runs in the loops of the exponential.
  auto [taken, operand] = inPlaceOf("%q = aten.sin(%p)" + kOne);
  EXPECT_EQ(taken, operand);
}

TEST_F(LaunchTest, AnElementThatAllIterationsReadIsNotOverwritten) {
  StepView step =
      launched("%p = aten.cumsum(%x, 0)" + kOne +
                   "%s = aten.slice.Tensor(%p, 0, 0, 1) : (tensor<64xf32>) -> "
                   "tensor<1xf32>\n"
                   "%a = aten.exp(%s) : (tensor<1xf32>) -> tensor<1xf32>\n"
                   "%y = aten.mul.Tensor(%a, %x) : (tensor<1xf32>, "
                   "tensor<64xf32>) -> tensor<64xf32>\n"
                   "%dx = aten.cumsum(%t, 0)" +
                   kOne,
               {1, 3, 1});
  EXPECT_EQ(StepMemory(step).liveRanges()[storageOf(step, "y")].inPlaceOf,
            kNone);
}

TEST_F(LaunchTest, AnOpThatUpdatesItsOperandWritesOverIt) {
  StepView step =
      launched("%p = aten.exp(%x)" + kOne +
                   "%i = aten.full([4], 1) : () -> tensor<4xi64>\n"
                   "%s = aten.full([4], 2.0) : () -> tensor<4xf32>\n"
                   "%y = aten.index_add(%p, 0, %i, %s) : (tensor<64xf32>, "
                   "tensor<4xi64>, tensor<4xf32>) -> tensor<64xf32>\n"
                   "%dx = aten.cumsum(%t, 0)" +
                   kOne,
               {1, 1, 1, 1, 1});
  EXPECT_EQ(StepMemory(step).liveRanges()[storageOf(step, "y")].inPlaceOf,
            storageOf(step, "p"));
}

TEST_F(LaunchTest, AReaderOutsideTheLaunchIsFound) {
  StepView wrong = launched(body, {2, 1, 1});
  StepMemory memory(wrong);
  ArenaLayout layout = layoutArena(memory.buffers());
  operandOf(wrong, 3) = valueOf(wrong, "a");
  EXPECT_TRUE(failed(memory.verify(layout, 64)));
  EXPECT_NE(messages.find("would read 'a', which has no place"),
            std::string::npos);
}

TEST_F(LaunchTest, LaunchesOfAnotherProgramAreRefused) {
  for (const std::vector<int32_t> &sizes :
       {std::vector<int32_t>{2, 1}, std::vector<int32_t>{2, 1, 2}}) {
    messages.clear();
    launched(body, sizes);
    EXPECT_NE(messages.find("has another number of ops than its launches "
                            "('joint.launches')"),
              std::string::npos)
        << messages;
    EXPECT_NE(messages.find("a pass changed the half after it was planned: "
                            "take the attribute off, then every op is a "
                            "launch"),
              std::string::npos);
  }
}

TEST_F(LaunchTest, AViewTiesNoLaunchesTogether) {
  // The gradient of w can wait, though the view that both read stands with it.
  module = parseSourceString<ModuleOp>(R"(
    func.func @g_forward(%x: tensor<64xf32> {joint.name = "x", joint.role = #joint.role<input>}) -> (tensor<64xf32>) {
      %y = aten.sin(%x) : (tensor<64xf32>) -> tensor<64xf32>
      return %y : tensor<64xf32>
    }
    func.func @g_backward(%t: tensor<64xf32> {joint.name = "t", joint.role = #joint.role<tangent of 0>}) -> (tensor<8x8xf32>, tensor<8x8xf32>)
        attributes {joint.launches = array<i32: 2, 1, 1>} {
      %v = aten.view(%t, [8, 8]) : (tensor<64xf32>) -> tensor<8x8xf32>
      %dw = aten.cumsum(%v, 0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %b = aten.cumsum(%v, 1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %dx = aten.cumsum(%b, 0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %dx, %dw : tensor<8x8xf32>, tensor<8x8xf32>
    }
    joint.partition @g_partition forward @g_forward backward @g_backward saved [] {gradient_of = array<i32: 0, 0>, num_forward_results = 1 : i64, num_saved_sizes = 0 : i64}
  )",
                                       &context);
  ASSERT_TRUE(module) << messages;
  auto link = *module->getOps<joint::PartitionOp>().begin();
  auto step = StepView::ofPartition(link, {}, {});
  ASSERT_TRUE(succeeded(step)) << messages;
  ScheduleProblem problem = makeScheduleProblem(*step);
  ASSERT_EQ(problem.numOps(), 3u);
  EXPECT_EQ(problem.check(), "");
  EXPECT_EQ(problem.depends[1].begin(), problem.depends[1].end());
  // In front y, dw, b and dx are live at a time; behind three of them.
  ScheduleOutcome outcome = scheduleBackward(*step);
  EXPECT_EQ(outcome.peakBefore, 1024);
  EXPECT_EQ(outcome.peakAfter, 768);
  EXPECT_EQ(outcome.launchOrder, (std::vector<uint32_t>{1, 2, 0}));
  EXPECT_EQ(outcome.order, (std::vector<uint32_t>{0, 2, 3, 1}));
  EXPECT_EQ(outcome.launchSizes, (std::vector<int32_t>{2, 1, 1}));
  auto again = StepView::ofPartition(link, {}, {});
  ASSERT_TRUE(succeeded(again)) << messages;
  EXPECT_TRUE(succeeded(StepMemory(*again).check()));
}

} // namespace
