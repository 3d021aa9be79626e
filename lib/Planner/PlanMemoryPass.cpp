// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback-schedule-backward`, and `cutback-plan-memory`: the memory plan of
// each partition, on the standard output. The order comes from
// `scheduleBackward`, the plan is made and proved by `planMemory`; here are
// options and text. Of a partition that names no graph, only static sizes can
// be planned. Linear in the storages.

#include "cutback/Planner/Passes.h"

#include "cutback/MemoryPlan/MemoryPlan.h"
#include "cutback/MemoryPlan/ScheduleBackward.h"
#include "cutback/Partition/Halves.h"
#include "cutback/Planner/OptionText.h"

#include "llvm/Support/raw_ostream.h"

namespace cutback {
#define GEN_PASS_DEF_PLANMEMORY
#define GEN_PASS_DEF_SCHEDULEBACKWARD
#include "cutback/Planner/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

namespace {

void print(StringRef name, const MemoryPlan &plan) {
  llvm::raw_ostream &os = llvm::outs();
  const PlannedPeak &peak = plan.peak;
  os << "@" << name << ": arena " << plan.arenaBytes() << ", lower bound "
     << plan.lowerBound() << "\n  peak at " << peak.at << " ("
     << (peak.inBackward ? "backward" : "forward") << "): saved " << peak.saved
     << ", results " << peak.results << ", gradients " << peak.gradients
     << ", temporaries " << peak.temporaries << "\n";
  auto nameOf = [&](uint32_t storage) {
    return plan.program.name(plan.program.storages[storage].value);
  };
  for (uint32_t i = 0; i < plan.storages.size(); ++i) {
    const PlannedStorage &storage = plan.storages[i];
    if (storage.use == StorageUse::Outside)
      continue;
    os << "  " << nameOf(i) << ": " << spell(storage.use) << ", ops "
       << storage.begin << " to " << storage.end - 1 << ", bytes "
       << storage.offset << " to " << storage.offset + storage.bytes - 1;
    if (storage.inPlaceOf != StepView::kNone)
      os << ", in place of " << nameOf(storage.inPlaceOf);
    os << "\n";
  }
}

struct PlanMemoryPass : public cutback::impl::PlanMemoryBase<PlanMemoryPass> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    for (auto partition : getOperation().getOps<joint::PartitionOp>())
      if (failed(plan(partition)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult plan(joint::PartitionOp partition) {
    MemoryPlanOptions options;
    std::string error;
    if (!parseSymbols(symbols, options.symbols, error))
      return partition.emitError(error);
    if (alignmentBytes <= 0 || (alignmentBytes & (alignmentBytes - 1)) ||
        alignmentBytes > 4096)
      return partition.emitError("alignment of ")
             << alignmentBytes.getValue()
             << " bytes is not a power of two up to 4096";
    options.arena.alignment = alignmentBytes;
    options.memory.inPlace = inPlace;
    FailureOr<MemoryPlan> planned =
        planMemory(partition, graphOf(partition), options);
    if (failed(planned))
      return failure();
    print(partition.getSymName(), *planned);
    return success();
  }
};

struct ScheduleBackwardPass
    : public cutback::impl::ScheduleBackwardBase<ScheduleBackwardPass> {
  using ScheduleBackwardBase::ScheduleBackwardBase;

  void runOnOperation() override {
    for (auto partition : getOperation().getOps<joint::PartitionOp>()) {
      llvm::StringMap<int64_t> sizes;
      std::string error;
      if (!parseSymbols(symbols, sizes, error)) {
        partition.emitError(error);
        return signalPassFailure();
      }
      std::string problem;
      if (auto step = sizedStep(partition, graphOf(partition), sizes, problem))
        scheduleBackward(*step);
      else
        partition.emitRemark("the backward keeps its order: ") << problem;
    }
  }
};

} // namespace
