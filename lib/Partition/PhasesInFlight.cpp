// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Are three phases right where micro-batches overlap? A schedule runs phases of
// other micro-batches between those of one, in any order that it likes, but
// each phase in the order of micro-batches. So an argument that is written,
// running statistics say, keeps its meaning if one phase alone touches it: what
// another one read would be of another micro-batch, or of none.
//
// One walk over the ops of each phase; a view is its argument. What is handed
// on without being read does not count. Linear.

#include "cutback/Partition/Phases.h"

#include "Writes.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

struct RunningPhase {
  const char *name;
  const std::vector<uint32_t> &ops;
};

} // namespace

static LogicalResult verify(const GraphView &view,
                            ArrayRef<RunningPhase> phases) {
  std::vector<uint32_t> storage = view.findStorages();
  std::vector<uint8_t> touched(view.numArgs, 0); // a bit a phase
  std::vector<uint8_t> writer(view.numArgs, 0);  // 1 + the phase
  for (unsigned phase = 0; phase < phases.size(); ++phase)
    for (uint32_t op : phases[phase].ops) {
      for (uint32_t value : view.operands(op))
        if (uint32_t arg = storage[value]; view.isArg(arg))
          touched[arg] |= 1U << phase;
      if (uint32_t arg = writtenArgument(view, op); arg != GraphView::kNone)
        writer[arg] = 1 + phase;
    }
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    for (unsigned phase = 0; phase < phases.size(); ++phase) {
      if (writer[arg] == 0 || writer[arg] == 1 + phase ||
          !(touched[arg] >> phase & 1))
        continue;
      joint::GraphOp graph = view.graph;
      auto diag = graph.emitOpError("writes '")
                  << view.name(arg) << "' in the "
                  << phases[writer[arg] - 1].name << ", and the "
                  << phases[phase].name
                  << " reads or writes it too: with several micro-batches in "
                     "flight one would see what another one has written";
      diag.attachNote() << "let one phase alone read and write it: copy the "
                           "value that the others read";
      return diag;
    }
  return success();
}

LogicalResult cutback::verifyInFlight(const GraphView &view,
                                      const Phases &phases) {
  return verify(view, {{"forward", phases.forwardOps},
                       {"input phase", phases.inputOps},
                       {"weight phase", phases.weightOps}});
}

LogicalResult cutback::verifyInFlight(const GraphView &view,
                                      const Halves &halves) {
  return verify(
      view, {{"forward", halves.forwardOps}, {"backward", halves.backwardOps}});
}
