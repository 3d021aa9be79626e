// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op of a run is an event as it ends, with the time since the first one
// began. Ops of a launch are its event's, which lists them. A graph that runs
// whole has one track for its ops of the forward, one for those of the
// backward, as the keys say.
//
// Times are of this run, with the checks that were asked for beside it: they
// say where the time of the interpreter goes, not that of another machine.
// Clocks that stand still between two ops make events without length.

#include "cutback/Report/StepTrace.h"

#include "TraceEvents.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/IR/BuiltinOps.h"

#include <chrono>

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

class StepTraceWriter {
public:
  explicit StepTraceWriter(StringRef title) {
    events.begin([&](llvm::json::OStream &json) {
      TraceEvents::attribute(json, "run", title);
      json.attribute("times", "measured, one op or launch at a time");
    });
    events.nameTracks(title);
  }

  void start(Operation *function) {
    track = TraceEvents::Forward;
    isWhole = isa<joint::GraphOp>(function);
    auto module = function->getParentOfType<ModuleOp>();
    Operation *root = module ? module.getOperation() : function;
    if (!keys || root != known)
      keys.emplace(root);
    known = root;
    auto symbol = dyn_cast<SymbolOpInterface>(function);
    if (!module || !symbol)
      return;
    for (auto link : module.getOps<joint::PartitionOp>())
      if (link.getBackward() == symbol.getName())
        track = TraceEvents::Backward;
  }

  void begin() { begun.push_back(now()); }

  void end(Operation *op) {
    int64_t began = begun.pop_back_val(), ended = now();
    if (!begun.empty())
      return;
    SmallVector<Operation *> ops;
    if (auto launch = dyn_cast<kernel::LaunchOp>(op))
      for (Operation &inside : launch.getBlock().without_terminator())
        ops.push_back(&inside);
    else
      ops.push_back(op);
    bool isRecomputed = llvm::any_of(ops, [](Operation *one) {
      return one->hasAttr(joint::JointDialect::kRecompute);
    });
    TraceEvents::Track at = track;
    if (isWhole && BackwardKey::read(op->getLoc()))
      at = TraceEvents::Backward;
    events.complete(
        nameOf(op, ops), at, began, ended, isRecomputed,
        [&](llvm::json::OStream &json) { describe(json, op, ops); });
  }

  std::string finish() { return events.end(); }

private:
  /// Nanoseconds since the first call.
  int64_t now() {
    auto time = std::chrono::steady_clock::now();
    if (!first)
      first = time;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - *first)
        .count();
  }

  static std::string nameOf(Operation *op, ArrayRef<Operation *> ops) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (launch && launch.getKernelAttr())
      return launch.getKernelAttr().getValue().str();
    return ops.empty() ? shortOpName(op) : shortOpName(ops.front());
  }

  void describe(llvm::json::OStream &json, Operation *op,
                ArrayRef<Operation *> ops) {
    if (op->getNumResults()) {
      Value value = kernel::insideOf(op->getResult(0));
      TraceEvents::attribute(json, "value",
                             "%" + joint::getValueName(value).str());
      TraceEvents::attribute(json, "type", typeText(value.getType()));
    }
    TraceEvents::attribute(json, "source", wholePlaceText(op->getLoc()));
    keys->write(json, ops);
  }

  TraceEvents events;
  TraceEvents::Track track = TraceEvents::Forward;
  bool isWhole = false;
  std::optional<StepKeys> keys;
  Operation *known = nullptr;
  SmallVector<int64_t> begun; ///< of ops that run, the outermost first
  std::optional<std::chrono::steady_clock::time_point> first;
};

StepTrace::StepTrace(llvm::StringRef title)
    : writer(std::make_unique<StepTraceWriter>(title)) {}
StepTrace::~StepTrace() = default;

LogicalResult StepTrace::starts(Operation *function, ArrayRef<RuntimeValue>) {
  writer->start(function);
  return success();
}

void StepTrace::begins(Operation *) { writer->begin(); }

LogicalResult StepTrace::ran(Operation *op, MutableArrayRef<RuntimeValue>) {
  writer->end(op);
  return success();
}

std::string StepTrace::json() { return writer->finish(); }

} // namespace cutback
