// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulated peak against a reference that finds the live buffers anew at
// each step, and small cases with the numbers worked out.

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/Peak.h"
#include "cutback/Analysis/ValueSizes.h"

#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

/// A program of numbers alone.
struct Sample {
  GraphView view;
  std::vector<uint32_t> storage;
  std::vector<int64_t> bytes;
  std::vector<uint32_t> order, given, handedIn, kept, returned;

  PeakMoment simulate() const {
    return simulatePeak(view, bytes, storage,
                        {order, given, handedIn, kept, returned});
  }

  explicit Sample(uint32_t numArgs) {
    for (uint32_t arg = 0; arg < numArgs; ++arg)
      addValue(1, arg);
    view.operandBegin.push_back(0);
    view.resultBegin.push_back(numArgs);
  }
  void addValue(int64_t size, uint32_t base) {
    view.values.emplace_back();
    storage.push_back(base);
    bytes.push_back(size);
  }
  /// An op with one result; a view of operand 0 if `isView`.
  uint32_t op(std::vector<uint32_t> operands, int64_t size,
              bool isView = false) {
    uint32_t value = bytes.size();
    addValue(size, isView ? storage[operands[0]] : value);
    view.operandList.insert(view.operandList.end(), operands.begin(),
                            operands.end());
    view.operandBegin.push_back(view.operandList.size());
    view.resultBegin.push_back(bytes.size());
    order.push_back(order.size());
    return value;
  }
};

TEST(PeakTest, AResultNeverTakesTheOperandsPlace) {
  Sample sample(1);
  sample.given = {0};
  uint32_t a = sample.op({0}, 100);
  uint32_t b = sample.op({a}, 60);
  uint32_t c = sample.op({b}, 10);
  sample.kept = {c};
  PeakMoment peak = sample.simulate();
  EXPECT_EQ(peak.bytes, 160);
  EXPECT_EQ(peak.op, 1u);
  EXPECT_EQ(peak.lowerBound, 100);
  EXPECT_EQ(peak.temporary, 160);
  EXPECT_EQ(peak.kept, 0);
}

TEST(PeakTest, ViewsLiveInTheirBase) {
  Sample sample(1);
  sample.given = {0};
  uint32_t a = sample.op({0}, 100);
  uint32_t view = sample.op({a}, 100, /*isView=*/true);
  uint32_t c = sample.op({0}, 10);
  uint32_t d = sample.op({view, c}, 1);
  sample.kept = {d};
  PeakMoment peak = sample.simulate();
  EXPECT_EQ(peak.bytes, 111);
  EXPECT_EQ(peak.op, 3u);
  EXPECT_EQ(peak.kept, 1);
  EXPECT_EQ(peak.temporary, 110);
}

TEST(PeakTest, SavedValuesGoAfterTheirLastUse) {
  Sample sample(2);
  sample.bytes = {50, 70};
  sample.handedIn = {0, 1};
  uint32_t a = sample.op({0}, 5);
  uint32_t b = sample.op({a}, 40);
  uint32_t c = sample.op({b, 1}, 3);
  sample.kept = {c};
  PeakMoment peak = sample.simulate();
  EXPECT_EQ(peak.bytes, 125);
  EXPECT_EQ(peak.op, 0u);
  EXPECT_EQ(peak.handedIn, 120);
  EXPECT_EQ(peak.lowerBound, 120);
}

TEST(PeakTest, ARecomputedBaseIsASecondBuffer) {
  // Value 1 is a saved view of storage 0's first life.
  Sample sample(1);
  sample.given = {0};
  uint32_t base = sample.op({0}, 100);
  uint32_t view = sample.op({base}, 100, /*isView=*/true);
  uint32_t c = sample.op({base, view}, 1);
  sample.order = {0, 2};
  sample.handedIn = {view};
  sample.kept = {c};
  PeakMoment peak = sample.simulate();
  EXPECT_EQ(peak.bytes, 201);
  EXPECT_EQ(peak.handedIn, 100);
}

TEST(PeakTest, NothingRunsAndNothingIsLive) {
  Sample sample(1);
  sample.given = {0};
  PeakMoment peak = sample.simulate();
  EXPECT_EQ(peak.bytes, 0);
  EXPECT_EQ(peak.op, GraphView::kNone);
}

//===----------------------------------------------------------------------===//
// The naive reference
//===----------------------------------------------------------------------===//

struct NaivePeak {
  int64_t bytes = 0, lowerBound = 0;
};

class Naive {
public:
  Naive(const GraphView &view, ArrayRef<int64_t> bytes,
        ArrayRef<uint32_t> storage, const PeakRun &run)
      : view(view), bytes(bytes), storage(storage), run(run) {
    for (uint32_t value : run.handedIn)
      if (!isGiven(value))
        buffers[value] = {"in", storage[value]};
    for (uint32_t step = 0; step < run.order.size(); ++step)
      assign(step);
  }

  NaivePeak simulate() {
    NaivePeak peak;
    for (int step = -1; step < int(run.order.size()); ++step) {
      peak.bytes = std::max(peak.bytes, sum(step, step));
      peak.lowerBound = std::max(peak.lowerBound, sum(step, step + 1));
    }
    return peak;
  }

private:
  /// Who allocated it (a step, or the caller), and which storage.
  using Buffer = std::pair<std::string, uint32_t>;

  bool isGiven(uint32_t value) const {
    return llvm::any_of(run.given, [&](uint32_t other) {
      return storage[other] == storage[value];
    });
  }

  std::vector<uint32_t> operands(uint32_t op) const {
    return view.operands(op).vec();
  }

  void assign(uint32_t step) {
    uint32_t op = run.order[step];
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      bool isView = false;
      for (uint32_t value : operands(op))
        if (storage[value] == storage[r]) {
          isView = true;
          if (buffers.count(value))
            buffers[r] = buffers[value];
        }
      if (!isView)
        buffers[r] = {"step " + std::to_string(step), r};
    }
  }

  bool usedAt(const Buffer &buffer, uint32_t step) {
    std::vector<uint32_t> values = operands(run.order[step]);
    for (uint32_t r = view.resultBegin[run.order[step]];
         r < view.resultBegin[run.order[step] + 1]; ++r)
      values.push_back(r);
    return llvm::any_of(values, [&](uint32_t value) {
      return buffers.count(value) && buffers[value] == buffer;
    });
  }

  bool isKept(const Buffer &buffer) {
    for (auto list : {run.kept, run.returned})
      for (uint32_t value : list)
        if (buffers.count(value) && buffers[value] == buffer)
          return true;
    return false;
  }

  /// Bytes of buffers made at `made` or before that are used at `needed` or
  /// later, or at the end.
  int64_t sum(int made, int needed) {
    std::map<Buffer, int64_t> live;
    for (auto &[value, buffer] : buffers) {
      bool isMade = buffer.first == "in";
      for (int step = 0; step <= made; ++step)
        isMade |= buffer.first == "step " + std::to_string(step);
      bool isNeeded = isKept(buffer);
      for (int step = std::max(needed, 0); step < int(run.order.size()); ++step)
        isNeeded |= usedAt(buffer, step);
      if (isMade && isNeeded)
        live[buffer] = bytes[buffer.second];
    }
    int64_t total = 0;
    for (auto &[buffer, size] : live)
      total += size;
    return total;
  }

  const GraphView &view;
  ArrayRef<int64_t> bytes;
  ArrayRef<uint32_t> storage;
  const PeakRun &run;
  std::map<uint32_t, Buffer> buffers; ///< by value
};

class RandomPeakTest : public ::testing::Test {
protected:
  RandomPeakTest() { loadDialects(context); }
  MLIRContext context;
};

TEST_F(RandomPeakTest, EqualsTheNaiveReference) {
  unsigned checked = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    RandomGraphOptions options;
    options.numForward = 15;
    options.numBackward = 20;
    options.percentView = 25;
    OwningOpRef<ModuleOp> module =
        parse(context, randomGraphText(seed, options));
    GraphView view = GraphView::build(graphOf(*module));
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    Plan plan;
    plan.saved.assign(view.numValues(), 0);
    for (uint32_t value = view.numArgs; value < view.numValues(); ++value)
      plan.saved[value] =
          random() % 3 == 0 || !view.traits[view.definer[value]].recomputable;
    FailureOr<Halves> halves = splitGraph(view, *sets, plan);
    if (failed(halves))
      continue;
    ++checked;
    FailureOr<ValueSizes> sizes = ValueSizes::compute(view, {});
    std::vector<int64_t> bytes(view.numValues());
    for (int64_t &size : bytes)
      size = 1 + random() % 100;

    StepPeak peak = simulateStep(view, *halves, bytes, sizes->storage);
    std::vector<uint32_t> arguments(view.numArgs);
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      arguments[arg] = arg;
    PeakRun forward{halves->forwardOps,
                    arguments,
                    {},
                    halves->savedTensors,
                    view.forwardResults()};
    PeakRun backward{halves->backwardOps,
                     arguments,
                     halves->savedTensors,
                     view.gradients(),
                     {}};
    NaivePeak naiveForward =
        Naive(view, bytes, sizes->storage, forward).simulate();
    NaivePeak naiveBackward =
        Naive(view, bytes, sizes->storage, backward).simulate();
    EXPECT_EQ(peak.forward.bytes, naiveForward.bytes) << seed;
    EXPECT_EQ(peak.backward.bytes, naiveBackward.bytes) << seed;
    EXPECT_EQ(peak.forward.lowerBound, naiveForward.lowerBound) << seed;
    EXPECT_EQ(peak.backward.lowerBound, naiveBackward.lowerBound) << seed;
    EXPECT_EQ(peak.bytes, std::max(naiveForward.bytes, naiveBackward.bytes));
    EXPECT_EQ(peak.saved + peak.gradients + peak.temporary, peak.bytes);
    EXPECT_LE(peak.lowerBound, peak.bytes);
  }
  EXPECT_GT(checked, 80u);
}

} // namespace
