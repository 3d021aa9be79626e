// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Live ranges over one numbering of the step: the ops of the forward, then
// those of the backward.
//
// A memory plan numbers the terminators of both halves, too; what is live at
// the end of a half is live at its last op. It knows values by the names that
// the halves give them, where a copy of the backward is NAME_recompute. Where
// there is no plan of bytes, the live ranges are those of the simulation op by
// op (Analysis/Peak.h), which counts results of the forward as temporaries.

#include "cutback/Report/StepTimeline.h"

#include "cutback/Analysis/Peak.h"
#include "cutback/Support/LiveSweep.h"

using namespace mlir;
using llvm::StringRef;

namespace cutback {

StringRef spell(LiveKind kind) {
  static constexpr const char *names[kLiveKinds] = {
      "saved", "result", "gradient", "recomputed", "temporary"};
  return names[static_cast<unsigned>(kind)];
}

namespace {

class TimelineBuilder {
public:
  explicit TimelineBuilder(const PartitionResult &result)
      : result(result), view(result.view) {
    timeline.forwardOps = result.halves.forwardOps.size();
    timeline.numOps = timeline.forwardOps + result.halves.backwardOps.size();
  }

  StepTimeline run() {
    nameSteps();
    if (result.memory)
      takePlanned(*result.memory);
    else
      takeSimulated();
    return std::move(timeline);
  }

private:
  void nameSteps() {
    for (const auto *ops :
         {&result.halves.forwardOps, &result.halves.backwardOps})
      for (uint32_t op : *ops)
        timeline.valueOf.push_back(
            view.numResults(op) ? view.resultBegin[op]
            // A write or an assertion: what it reads tells where it stands.
            : view.operands(op).empty() ? 0
                                        : view.operands(op).front());
  }

  //===--------------------------------------------------------------------===//
  // Planned
  //===--------------------------------------------------------------------===//

  /// The step of an op of the memory plan.
  uint32_t stepOf(const StepView &program, uint32_t op) const {
    if (op <= program.forwardEnd())
      return std::min(op, std::max(timeline.forwardOps, 1u) - 1);
    return std::min(timeline.forwardOps + op - program.forwardEnd() - 1,
                    timeline.numOps - 1);
  }

  /// The value of the graph that a half calls so.
  uint32_t valueNamed(StringRef name) {
    if (named.empty())
      for (uint32_t value = 0; value < view.numValues(); ++value)
        named.try_emplace(view.name(value), value);
    auto found = named.find(name);
    if (found == named.end() && name.consume_back("_recompute"))
      found = named.find(name);
    return found == named.end() ? 0 : found->second;
  }

  /// Does a copy of an op of the forward make this storage?
  static bool isCopy(const StepView &program, uint32_t storage) {
    uint32_t op = program.maker(storage);
    return op != StepView::kNone &&
           program.op(op)->hasAttr(joint::JointDialect::kRecompute);
  }

  void takePlanned(const MemoryPlan &memory) {
    static constexpr LiveKind kinds[] = {LiveKind::Temporary,
                                         LiveKind::Temporary, LiveKind::Saved,
                                         LiveKind::Result, LiveKind::Gradient};
    const StepView &program = memory.program;
    for (uint32_t i = 0; i < memory.storages.size(); ++i) {
      const PlannedStorage &storage = memory.storages[i];
      if (storage.use == StorageUse::Outside || storage.begin >= storage.end)
        continue;
      LiveValue live;
      live.value = valueNamed(program.name(program.storages[i].value));
      live.begin = stepOf(program, storage.begin);
      live.end = stepOf(program, storage.end - 1) + 1;
      live.bytes = llvm::alignTo(storage.bytes, memory.alignment);
      live.kind = kinds[static_cast<int>(storage.use)];
      if (live.kind == LiveKind::Temporary && isCopy(program, i))
        live.kind = LiveKind::Recomputed;
      live.offset = storage.offset;
      timeline.values.push_back(live);
    }
    for (uint32_t op = 0; op < program.numOps(); ++op)
      if (!program.results(op).empty())
        timeline.valueOf[stepOf(program, op)] = valueNamed(program.opName(op));
  }

  //===--------------------------------------------------------------------===//
  // Op by op
  //===--------------------------------------------------------------------===//

  void takeSimulated() {
    StepLiveRanges halves;
    simulateStep(view, result.halves, result.bytes, result.storage, &halves);
    add(halves.forward, 0, timeline.forwardOps, LiveOrigin::Kept,
        LiveOrigin::Given, {});
    std::vector<uint8_t> isCopy(view.numOps(), 0);
    for (uint32_t op : result.halves.recomputed)
      isCopy[op] = 1;
    add(halves.backward, timeline.forwardOps,
        timeline.numOps - timeline.forwardOps, LiveOrigin::HandedIn,
        LiveOrigin::Kept, isCopy);
  }

  void add(const std::vector<LiveRange> &ranges, uint32_t offset,
           uint32_t steps, LiveOrigin saved, LiveOrigin gradient,
           llvm::ArrayRef<uint8_t> isCopy) {
    auto kindOf = [&](const LiveRange &range) {
      if (range.origin == saved)
        return LiveKind::Saved;
      if (range.origin == gradient)
        return LiveKind::Gradient;
      uint32_t op = view.definer[range.value];
      return op < isCopy.size() && isCopy[op] ? LiveKind::Recomputed
                                              : LiveKind::Temporary;
    };
    for (const LiveRange &range : ranges)
      if (range.begin < steps)
        timeline.values.push_back({range.value, range.begin + offset,
                                   std::min(range.end, steps) + offset,
                                   range.bytes, kindOf(range), -1});
  }

  const PartitionResult &result;
  const GraphView &view;
  llvm::StringMap<uint32_t> named; ///< values of the graph
  StepTimeline timeline;
};

} // namespace

StepTimeline StepTimeline::of(const PartitionResult &result) {
  return TimelineBuilder(result).run();
}

std::vector<double> StepTimeline::beginPs(const PartitionResult &result) const {
  if (!result.kernelPlan)
    return {};
  std::vector<double> begins = {0};
  std::vector<uint32_t> place(result.view.numOps(), 0);
  auto add = [&](const std::vector<Kernel> &kernels,
                 const std::vector<uint32_t> &ops) {
    auto first = static_cast<uint32_t>(begins.size() - 1);
    for (size_t i = 0; i < ops.size(); ++i)
      place[ops[i]] = first + i;
    for (const Kernel &kernel : kernels) {
      double begin = begins.back();
      size_t from = begins.size() - 1, end = place[kernel.ops.back()] + 1;
      for (size_t step = from + 1; step <= end; ++step)
        begins.push_back(begin + kernel.ps * static_cast<double>(step - from) /
                                     static_cast<double>(end - from));
      if (end <= from) // its ops are in front of some of the kernel before
        begins.back() += kernel.ps;
    }
    begins.resize(first + ops.size() + 1, begins.back());
  };
  add(result.kernelPlan->forward().kernels, result.halves.forwardOps);
  add(result.kernelPlan->backward().kernels, result.halves.backwardOps);
  return begins;
}

std::vector<std::array<int64_t, kLiveKinds>> StepTimeline::liveBytes() const {
  LiveSweep<kLiveKinds> sweep(numOps);
  for (const LiveValue &value : values)
    sweep.add(value.begin, value.end, value.bytes,
              static_cast<size_t>(value.kind));
  return std::move(sweep).run();
}

} // namespace cutback
