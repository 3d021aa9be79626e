// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a step to a plan: check, lay out, prove. The proof is part of planning
// in every build; a plan that it refuses is an error, never a wrong result. A
// plan that is laid out to be compared with another one is proved when it is
// taken.
// The moment of the peak is found by a sweep over the live ranges of storages
// (LiveSweep), so that it can be said what the bytes are.

#include "cutback/MemoryPlan/MemoryPlan.h"
#include "cutback/Support/LiveSweep.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

static constexpr uint32_t kNone = StepView::kNone;

static PlannedPeak findPeak(const MemoryPlan &plan) {
  constexpr unsigned kUses = 5;
  LiveSweep<kUses> sweep(plan.program.numOps());
  for (const PlannedStorage &storage : plan.storages)
    if (storage.use != StorageUse::Outside)
      sweep.add(storage.begin, storage.end,
                llvm::alignTo(storage.bytes, plan.alignment),
                static_cast<size_t>(storage.use));
  PlannedPeak peak;
  for (auto [op, live] : llvm::enumerate(std::move(sweep).run())) {
    int64_t total = std::accumulate(live.begin(), live.end(), int64_t(0));
    if (total <= peak.bytes)
      continue;
    auto of = [&live = live](StorageUse use) {
      return live[static_cast<size_t>(use)];
    };
    peak = {total,
            static_cast<uint32_t>(op),
            plan.program.inBackward(op),
            /*at=*/"",
            of(StorageUse::Saved),
            of(StorageUse::Result),
            of(StorageUse::Gradient),
            of(StorageUse::Temporary)};
  }
  if (peak.bytes > 0)
    peak.at = plan.program.opName(peak.op);
  return peak;
}

FailureOr<MemoryPlan> cutback::layoutMemory(StepView &&program,
                                            const StepMemory &memory,
                                            const MemoryPlanOptions &options) {
  if (failed(memory.check()))
    return failure();
  MemoryPlan plan;
  plan.alignment = options.arena.alignment;
  plan.layout = layoutArena(memory.buffers(), options.arena);
  plan.liveRanges = memory.liveRanges();
  for (auto [storage, range] :
       llvm::zip_equal(program.storages, plan.liveRanges)) {
    PlannedStorage planned{range.use,   0,         storage.bytes,
                           range.begin, range.end, range.inPlaceOf};
    if (range.buffer != kNone)
      planned.offset = plan.layout.offsets[range.buffer];
    plan.storages.push_back(planned);
  }
  plan.program = std::move(program);
  plan.peak = findPeak(plan);
  return plan;
}

LogicalResult cutback::proveMemory(const MemoryPlan &plan,
                                   const MemoryPlanOptions &options) {
  return StepMemory(plan.program, options.memory)
      .verify(plan.layout, plan.alignment);
}

FailureOr<MemoryPlan> cutback::planMemory(StepView program,
                                          const MemoryPlanOptions &options) {
  StepMemory memory(program, options.memory);
  FailureOr<MemoryPlan> plan =
      layoutMemory(std::move(program), memory, options);
  if (failed(plan) || failed(proveMemory(*plan, options)))
    return failure();
  return plan;
}

FailureOr<MemoryPlan> cutback::planMemory(joint::PartitionOp partition,
                                          joint::GraphOp graph,
                                          const MemoryPlanOptions &options,
                                          UnknownSizes unknown) {
  FailureOr<StepView> program =
      StepView::ofPartition(partition, graph, options.symbols, unknown);
  if (failed(program))
    return failure();
  return planMemory(std::move(*program), options);
}

void MemoryPlan::writeJson(llvm::json::OStream &json) const {
  auto nameOf = [&](uint32_t storage) {
    return program.name(program.storages[storage].value);
  };
  json.object([&] {
    json.attribute("alignment", alignment);
    json.attribute("arena_bytes", arenaBytes());
    json.attribute("lower_bound", lowerBound());
    json.attribute("ops", int64_t(program.numOps()));
    json.attribute("backward_begins", int64_t(program.forwardEnd()) + 1);
    json.attributeObject("peak", [&] {
      json.attribute("at", peak.at);
      json.attribute("op", int64_t(peak.op));
      json.attribute("in_backward", peak.inBackward);
      json.attribute("saved_bytes", peak.saved);
      json.attribute("result_bytes", peak.results);
      json.attribute("gradient_bytes", peak.gradients);
      json.attribute("temporary_bytes", peak.temporaries);
    });
    json.attributeArray("storages", [&] {
      for (uint32_t i = 0; i < storages.size(); ++i) {
        const PlannedStorage &storage = storages[i];
        if (storage.use == StorageUse::Outside)
          continue;
        json.object([&] {
          json.attribute("value", nameOf(i));
          json.attribute("use", spell(storage.use));
          json.attribute("offset", storage.offset);
          json.attribute("bytes", storage.bytes);
          json.attribute("begin", int64_t(storage.begin));
          json.attribute("end", int64_t(storage.end));
          if (storage.inPlaceOf != kNone)
            json.attribute("in_place_of", nameOf(storage.inPlaceOf));
        });
      }
    });
  });
}
