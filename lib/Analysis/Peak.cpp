// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op-by-op peak of a run, by simulation.
//
//   1. Give every value a buffer, in the order of the run. A result lies in
//      the buffer of an operand with the same storage; without one it gets a
//      new buffer, also where its storage lies elsewhere: a recomputed base
//      is a second buffer beside a saved view of the first. What the caller
//      owns has none. The buffers are the storages of a LiveProblem.
//   2. Run it (LiveSimulation).
//
// Linear in ops and operands.

#include "cutback/Analysis/Peak.h"

#include "cutback/Support/LiveProblem.h"

#include <numeric>

using namespace cutback;
using llvm::ArrayRef;

namespace {

constexpr uint32_t kNone = GraphView::kNone;
/// Buffer of what the caller owns.
constexpr uint32_t kOutside = kNone - 1;

class Simulator {
public:
  Simulator(const GraphView &view, ArrayRef<int64_t> bytes,
            ArrayRef<uint32_t> storage, const PeakRun &run)
      : view(view), bytes(bytes), storage(storage), run(run),
        bufferOf(view.numValues(), kNone) {
    reserve();
    enter();
    for (uint32_t step = 0; step < run.order.size(); ++step)
      add(step);
    leave(run.kept, /*isKept=*/true);
    leave(run.returned, /*isKept=*/false);
    // Nobody frees what nobody uses.
    for (LiveRange &range : ranges)
      if (range.origin == LiveOrigin::HandedIn && range.end == 0)
        keep(range);
  }

  PeakMoment simulate() {
    LiveSimulation simulation(problem);
    std::vector<uint32_t> left = simulation.countReaders();
    int64_t live = simulation.liveAtStart(left);
    PeakMoment moment;
    moment.bytes = moment.lowerBound = live;
    uint32_t at = 0;
    for (uint32_t step = 0; step < problem.numOps(); ++step) {
      if (int64_t during = simulation.run(step, left, live);
          during > moment.bytes) {
        moment.bytes = during;
        moment.op = run.order[step];
        at = step;
      }
      moment.lowerBound = std::max(moment.lowerBound, live);
    }
    for (const LiveRange &range : ranges) {
      bool isThere = moment.op == kNone ? range.origin == LiveOrigin::HandedIn
                                        : range.begin <= at && at < range.end;
      if (isThere)
        sumOf(moment, range.origin) += range.bytes;
    }
    return moment;
  }

  void listRanges(std::vector<LiveRange> &list) const {
    for (const LiveRange &range : ranges)
      if (range.bytes != 0)
        list.push_back(range);
  }

private:
  static int64_t &sumOf(PeakMoment &moment, LiveOrigin origin) {
    return origin == LiveOrigin::HandedIn ? moment.handedIn
           : origin == LiveOrigin::Kept   ? moment.kept
                                          : moment.temporary;
  }

  /// Most ops have one result and one or two operands.
  void reserve() {
    size_t numOps = run.order.size(), count = numOps + run.handedIn.size();
    for (Rows *rows : {&problem.reads, &problem.makes, &problem.replaces})
      rows->begin.reserve(numOps + 1);
    problem.reads.list.reserve(2 * numOps);
    problem.makes.list.reserve(numOps);
    problem.bytes.reserve(count);
    problem.isGiven.reserve(count);
    problem.isKept.reserve(count);
    ranges.reserve(count);
    readAt.reserve(count);
  }

  uint32_t make(uint32_t value, uint32_t step, LiveOrigin origin) {
    bool isGiven = origin == LiveOrigin::HandedIn;
    int64_t size = bytes[storage[value]];
    ranges.push_back({value, size, step, isGiven ? 0 : step + 1, origin});
    problem.bytes.push_back(size);
    problem.isGiven.push_back(isGiven);
    problem.isKept.push_back(0);
    readAt.push_back(kNone);
    return ranges.size() - 1;
  }

  void enter() {
    std::vector<uint32_t> ofStorage(view.numValues(), kNone);
    for (uint32_t value : run.given)
      ofStorage[storage[value]] = bufferOf[value] = kOutside;
    for (uint32_t value : run.handedIn) {
      uint32_t &buffer = ofStorage[storage[value]];
      if (buffer == kNone)
        buffer = make(value, 0, LiveOrigin::HandedIn);
      bufferOf[value] = buffer;
    }
  }

  void add(uint32_t step) {
    uint32_t op = run.order[step];
    ArrayRef<uint32_t> operands = view.operands(op);
    for (uint32_t value : operands) {
      uint32_t buffer = bufferOf[value];
      if (buffer >= kOutside || readAt[buffer] == step)
        continue;
      readAt[buffer] = step;
      ranges[buffer].end = step + 1;
      problem.reads.add(buffer);
    }
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      // Handed in, and computed again only beside another result.
      if (bufferOf[r] != kNone)
        continue;
      uint32_t buffer = kNone;
      for (uint32_t value : operands)
        if (storage[value] == storage[r] && bufferOf[value] != kNone)
          buffer = bufferOf[value];
      if (buffer == kNone) {
        buffer = make(r, step, LiveOrigin::Temporary);
        problem.makes.add(buffer);
      }
      bufferOf[r] = buffer;
    }
    problem.reads.endRow();
    problem.makes.endRow();
    problem.replaces.endRow();
  }

  void keep(LiveRange &range) {
    range.end = std::max<uint32_t>(run.order.size(), 1);
    problem.isKept[&range - ranges.data()] = 1;
  }

  void leave(ArrayRef<uint32_t> values, bool isKept) {
    for (uint32_t value : values) {
      uint32_t buffer = bufferOf[value];
      if (buffer >= kOutside)
        continue;
      LiveRange &range = ranges[buffer];
      keep(range);
      if (isKept && range.origin == LiveOrigin::Temporary)
        range.origin = LiveOrigin::Kept;
    }
  }

  const GraphView &view;
  ArrayRef<int64_t> bytes;
  ArrayRef<uint32_t> storage;
  const PeakRun &run;
  std::vector<uint32_t> bufferOf; ///< by value
  LiveProblem problem;            ///< op i is the i-th of the run
  std::vector<LiveRange> ranges;  ///< by buffer
  std::vector<uint32_t> readAt;   ///< by buffer: the last step that reads it
};

} // namespace

PeakMoment cutback::simulatePeak(const GraphView &view, ArrayRef<int64_t> bytes,
                                 ArrayRef<uint32_t> storage, const PeakRun &run,
                                 std::vector<LiveRange> *ranges) {
  Simulator simulator(view, bytes, storage, run);
  if (ranges)
    simulator.listRanges(*ranges);
  return simulator.simulate();
}

namespace {

/// Arguments, and what the forward hands over.
struct Handed {
  Handed(const GraphView &view, const Halves &halves)
      : arguments(view.numArgs), saved(halves.savedSizes) {
    std::iota(arguments.begin(), arguments.end(), 0);
    saved.insert(saved.end(), halves.savedTensors.begin(),
                 halves.savedTensors.end());
  }

  std::vector<uint32_t> arguments, saved;
};

} // namespace

static PeakRun forwardRun(const GraphView &view, const Halves &halves,
                          const Handed &handed) {
  PeakRun run;
  run.order = halves.forwardOps;
  run.given = handed.arguments;
  run.kept = handed.saved;
  run.returned = view.forwardResults();
  return run;
}

static PeakRun backwardRun(const GraphView &view, const Halves &halves,
                           const Handed &handed) {
  PeakRun run;
  run.order = halves.backwardOps;
  run.given = handed.arguments;
  run.handedIn = handed.saved;
  run.kept = view.gradients();
  return run;
}

PeakMoment cutback::simulateBackward(const GraphView &view,
                                     const Halves &halves,
                                     ArrayRef<int64_t> bytes,
                                     ArrayRef<uint32_t> storage) {
  Handed handed(view, halves);
  return simulatePeak(view, bytes, storage, backwardRun(view, halves, handed));
}

StepPeak cutback::simulateStep(const GraphView &view, const Halves &halves,
                               ArrayRef<int64_t> bytes,
                               ArrayRef<uint32_t> storage,
                               StepLiveRanges *ranges) {
  Handed handed(view, halves);
  StepPeak peak;
  peak.forward =
      simulatePeak(view, bytes, storage, forwardRun(view, halves, handed),
                   ranges ? &ranges->forward : nullptr);
  peak.backward =
      simulatePeak(view, bytes, storage, backwardRun(view, halves, handed),
                   ranges ? &ranges->backward : nullptr);

  peak.inBackward = peak.backward.bytes > peak.forward.bytes;
  const PeakMoment &top = peak.inBackward ? peak.backward : peak.forward;
  peak.bytes = top.bytes;
  peak.op = top.op;
  peak.lowerBound = std::max(peak.forward.lowerBound, peak.backward.lowerBound);
  peak.saved = peak.inBackward ? top.handedIn : top.kept;
  peak.gradients = peak.inBackward ? top.kept : 0;
  peak.temporary = top.temporary;
  return peak;
}
