// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op-by-op peak of a run, by simulation.
//
//   1. Give every value a buffer, in the order of the run. A result lies in
//      the buffer of an operand with the same storage; without one it gets a
//      new buffer, also where its storage lives elsewhere: a recomputed base
//      is a second buffer beside a saved view of the first.
//   2. Note the last step that touches each buffer; kept ones have none.
//   3. Run: allocate results, look at the sum, free what this step was the
//      last to touch, look at the sum again (the lower bound).
//
// Buffer 0 stands for everything the caller owns; it has no bytes. Linear in
// ops and operands; five flat arrays.

#include "cutback/Analysis/Peak.h"

#include <numeric>

using namespace cutback;
using llvm::ArrayRef;

namespace {

constexpr uint32_t kNone = GraphView::kNone;
/// Step of buffers that live to the end.
constexpr uint32_t kForever = kNone - 1;

using Origin = LiveOrigin;

struct Buffer {
  int64_t bytes;
  uint32_t lastStep;
  Origin origin;
  uint32_t value = kNone, begin = 0, end = 0;
};

class Simulator {
public:
  Simulator(const PeakProgram &program, const PeakRun &run)
      : program(program), run(run), bufferOf(program.storage.size(), kNone) {
    buffers.reserve(run.order.size() + run.handedIn.size() + 1);
    buffers.push_back({0, kForever, Origin::Given});
  }

  PeakMoment simulate() {
    enter();
    for (uint32_t step = 0; step < run.order.size(); ++step)
      assign(step);
    leave(run.kept, /*isKept=*/true);
    leave(run.returned, /*isKept=*/false);
    return sweep();
  }

  /// After `simulate`: what was live when.
  void listLives(std::vector<LiveRange> &lives) const {
    uint32_t end = std::max<uint32_t>(run.order.size(), 1);
    for (const Buffer &buffer : buffers)
      if (buffer.origin != Origin::Given && buffer.bytes != 0)
        lives.push_back({buffer.value, buffer.bytes, buffer.begin,
                         buffer.end ? buffer.end : end, buffer.origin});
  }

private:
  ArrayRef<uint32_t> operands(uint32_t op) const {
    uint32_t begin = program.operandBegin[op];
    return program.operandList.slice(begin,
                                     program.operandBegin[op + 1] - begin);
  }

  uint32_t allocate(uint32_t value, uint32_t step, Origin origin) {
    buffers.push_back({program.bytes[program.storage[value]], step, origin,
                       value, origin == Origin::HandedIn ? 0 : step});
    return buffers.size() - 1;
  }

  void enter() {
    std::vector<uint32_t> ofStorage(program.storage.size(), kNone);
    for (uint32_t value : run.given) {
      ofStorage[program.storage[value]] = 0;
      bufferOf[value] = 0;
    }
    for (uint32_t value : run.handedIn) {
      uint32_t &buffer = ofStorage[program.storage[value]];
      if (buffer == kNone)
        buffer = allocate(value, 0, Origin::HandedIn);
      bufferOf[value] = buffer;
    }
    numAtStart = buffers.size();
  }

  void assign(uint32_t step) {
    uint32_t op = run.order[step];
    for (uint32_t value : operands(op))
      touch(bufferOf[value], step);
    for (uint32_t r = program.resultBegin[op]; r < program.resultBegin[op + 1];
         ++r) {
      // Handed in, and computed again only beside another result.
      if (bufferOf[r] != kNone)
        continue;
      uint32_t buffer = kNone;
      for (uint32_t value : operands(op))
        if (program.storage[value] == program.storage[r] &&
            bufferOf[value] != kNone)
          buffer = bufferOf[value];
      if (buffer == kNone)
        buffer = allocate(r, step, Origin::Temporary);
      bufferOf[r] = buffer;
    }
  }

  void touch(uint32_t buffer, uint32_t step) {
    if (buffer != kNone && buffers[buffer].lastStep != kForever)
      buffers[buffer].lastStep = step;
  }

  void leave(ArrayRef<uint32_t> values, bool isKept) {
    for (uint32_t value : values) {
      uint32_t buffer = bufferOf[value];
      if (buffer == kNone || buffer == 0)
        continue;
      buffers[buffer].lastStep = kForever;
      if (isKept && buffers[buffer].origin == Origin::Temporary)
        buffers[buffer].origin = Origin::Kept;
    }
  }

  void add(uint32_t buffer) {
    live += buffers[buffer].bytes;
    byOrigin[static_cast<int>(buffers[buffer].origin)] += buffers[buffer].bytes;
  }

  /// Frees `buffer` unless a later step needs it, or it is free already.
  void release(uint32_t buffer, uint32_t step) {
    if (buffer == kNone || buffers[buffer].lastStep != step)
      return;
    live -= buffers[buffer].bytes;
    byOrigin[static_cast<int>(buffers[buffer].origin)] -= buffers[buffer].bytes;
    buffers[buffer].lastStep = kNone;
    buffers[buffer].end = step + 1;
  }

  void look(uint32_t op) {
    if (live <= moment.bytes)
      return;
    moment.bytes = live;
    moment.op = op;
    moment.handedIn = byOrigin[static_cast<int>(Origin::HandedIn)];
    moment.kept = byOrigin[static_cast<int>(Origin::Kept)];
    moment.temporary = byOrigin[static_cast<int>(Origin::Temporary)];
  }

  PeakMoment sweep() {
    for (uint32_t buffer = 0; buffer < numAtStart; ++buffer)
      add(buffer);
    look(kNone);
    moment.lowerBound = live;
    uint32_t nextBuffer = numAtStart;
    for (uint32_t step = 0; step < run.order.size(); ++step) {
      uint32_t op = run.order[step];
      // Buffers were numbered in the order of the run.
      uint32_t firstResult = program.resultBegin[op];
      uint32_t endResult = program.resultBegin[op + 1];
      for (uint32_t r = firstResult; r < endResult; ++r)
        if (bufferOf[r] == nextBuffer)
          add(nextBuffer++);
      look(op);
      for (uint32_t value : operands(op))
        release(bufferOf[value], step);
      for (uint32_t r = firstResult; r < endResult; ++r)
        release(bufferOf[r], step);
      moment.lowerBound = std::max(moment.lowerBound, live);
    }
    return moment;
  }

  const PeakProgram &program;
  const PeakRun &run;
  std::vector<uint32_t> bufferOf; ///< by value
  std::vector<Buffer> buffers;
  uint32_t numAtStart = 0;
  int64_t live = 0;
  int64_t byOrigin[4] = {0, 0, 0, 0};
  PeakMoment moment;
};

} // namespace

PeakMoment cutback::simulatePeak(const PeakProgram &program,
                                 const PeakRun &run) {
  return Simulator(program, run).simulate();
}

PeakMoment cutback::simulateLives(const PeakProgram &program,
                                  const PeakRun &run,
                                  std::vector<LiveRange> &lives) {
  Simulator simulator(program, run);
  PeakMoment moment = simulator.simulate();
  simulator.listLives(lives);
  return moment;
}

namespace {

/// A plan in the form that the simulation reads.
struct Step {
  Step(const GraphView &view, const Halves &halves, ArrayRef<int64_t> bytes,
       ArrayRef<uint32_t> storage)
      : program{view.operandBegin, view.operandList, view.resultBegin, bytes,
                storage},
        arguments(view.numArgs), saved(halves.savedSizes) {
    std::iota(arguments.begin(), arguments.end(), 0);
    saved.insert(saved.end(), halves.savedTensors.begin(),
                 halves.savedTensors.end());
  }

  PeakMoment forward(const GraphView &view, const Halves &halves,
                     std::vector<LiveRange> *lives = nullptr) const {
    PeakRun run;
    run.order = halves.forwardOps;
    run.given = arguments;
    run.kept = saved;
    run.returned = view.forwardResults();
    return lives ? simulateLives(program, run, *lives)
                 : simulatePeak(program, run);
  }

  PeakMoment backward(const GraphView &view, const Halves &halves,
                      std::vector<LiveRange> *lives = nullptr) const {
    PeakRun run;
    run.order = halves.backwardOps;
    run.given = arguments;
    run.handedIn = saved;
    run.kept = view.gradients();
    return lives ? simulateLives(program, run, *lives)
                 : simulatePeak(program, run);
  }

  PeakProgram program;
  std::vector<uint32_t> arguments, saved;
};

} // namespace

PeakMoment cutback::simulateBackward(const GraphView &view,
                                     const Halves &halves,
                                     ArrayRef<int64_t> bytes,
                                     ArrayRef<uint32_t> storage) {
  return Step(view, halves, bytes, storage).backward(view, halves);
}

StepPeak cutback::simulateStep(const GraphView &view, const Halves &halves,
                               ArrayRef<int64_t> bytes,
                               ArrayRef<uint32_t> storage) {
  return simulateStep(view, halves, bytes, storage, nullptr);
}

StepPeak cutback::simulateStep(const GraphView &view, const Halves &halves,
                               ArrayRef<int64_t> bytes,
                               ArrayRef<uint32_t> storage, StepLives *lives) {
  Step step(view, halves, bytes, storage);
  StepPeak peak;
  peak.forward = step.forward(view, halves, lives ? &lives->forward : nullptr);
  peak.backward =
      step.backward(view, halves, lives ? &lives->backward : nullptr);

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
