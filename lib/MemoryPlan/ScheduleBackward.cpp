// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a backward in the IR to numbers that can be reordered, and back.
//
//   1. Dependencies: the ops that define operands; among ops with effects and
//      random ops without a seed, the one before; for an argument's storage
//      that is written, the last write for its readers, and the readers since
//      then for the next write.
//   2. Storages: what the forward left is given, what the step keeps is kept,
//      arguments weigh nothing. A place may be taken over where the memory
//      plan allows it (mayReplace).
//   3. The improved order is applied in front of the terminator.
//
// Linear, and the work of the search.

#include "cutback/MemoryPlan/ScheduleBackward.h"

#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/MemoryPlan/StepMemory.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace cutback;

namespace {

constexpr uint32_t kNone = StepProgram::kNone;

class ProblemBuilder {
public:
  ProblemBuilder(const StepProgram &step, int64_t alignment)
      : step(step), first(step.forwardEnd + 1),
        definer(step.values.size(), kNone), accesses(step.storages.size()) {
    setStorages(alignment);
  }

  ScheduleProblem run() {
    for (uint32_t op = first; op + 1 < step.numOps(); ++op)
      for (uint32_t r = step.resultBegin[op]; r < step.resultEnd[op]; ++r)
        definer[r] = op - first;
    for (uint32_t op = first; op + 1 < step.numOps(); ++op)
      if (auto write = dyn_cast<joint::WriteOp>(step.ops[op]))
        accesses[storageOf(step.operands(op).front())].isWritten = true;
    for (uint32_t op = first; op + 1 < step.numOps(); ++op)
      addOp(op);
    return std::move(problem);
  }

private:
  uint32_t storageOf(uint32_t value) const {
    return step.values[value].storage;
  }

  void setStorages(int64_t alignment) {
    size_t count = step.storages.size();
    problem.bytes.assign(count, 0);
    problem.isGiven.assign(count, 1);
    problem.isKept.assign(count, 0);
    for (uint32_t s = 0; s < count; ++s)
      if (!step.storages[s].isOutside)
        problem.bytes[s] =
            (step.storages[s].bytes + alignment - 1) / alignment * alignment;
    for (uint32_t op = first; op < step.numOps(); ++op)
      for (uint32_t r = step.resultBegin[op]; r < step.resultEnd[op]; ++r)
        if (uint32_t s = storageOf(r);
            s != kNone && step.storages[s].value == r)
          problem.isGiven[s] = 0;
    for (const auto *values : {&step.forwardResults, &step.gradients})
      for (uint32_t value : *values)
        if (uint32_t s = storageOf(value); s != kNone)
          problem.isKept[s] = 1;
  }

  void addOp(uint32_t op) {
    uint32_t number = op - first;
    llvm::SmallVector<uint32_t> depends, reads;
    for (uint32_t value : step.operands(op)) {
      if (definer[value] != kNone && definer[value] < number)
        depends.push_back(definer[value]);
      if (uint32_t s = storageOf(value); s != kNone)
        reads.push_back(s);
    }
    sortUnique(reads);
    keepOrder(op, number, reads, depends);
    sortUnique(depends);
    for (uint32_t other : depends)
      problem.depends.add(other);
    for (uint32_t s : reads)
      problem.reads.add(s);
    addResults(op, reads);
    for (Rows *rows :
         {&problem.depends, &problem.reads, &problem.makes, &problem.replaces})
      rows->endRow();
  }

  void addResults(uint32_t op, ArrayRef<uint32_t> reads) {
    for (uint32_t r = step.resultBegin[op]; r < step.resultEnd[op]; ++r)
      if (uint32_t s = storageOf(r); s != kNone && step.storages[s].value == r)
        problem.makes.add(s);
    if (step.resultEnd[op] - step.resultBegin[op] != 1)
      return;
    for (uint32_t s : reads)
      for (uint32_t value : step.operands(op))
        if (storageOf(value) == s && problem.bytes[s] && !problem.isKept[s] &&
            mayReplace(step, op, value, step.resultBegin[op])) {
          problem.replaces.add(s);
          break;
        }
  }

  static void sortUnique(llvm::SmallVectorImpl<uint32_t> &list) {
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
  }

  void keepOrder(uint32_t op, uint32_t number, ArrayRef<uint32_t> reads,
                 llvm::SmallVectorImpl<uint32_t> &depends) {
    Operation *operation = step.ops[op];
    auto model = dyn_cast<joint::RematerializableOpInterface>(operation);
    bool isOrdered = model ? model.hasOrderedEffects() ||
                                 (model.isRandom() && !model.isRecomputable() &&
                                  !joint::isReplayed(operation))
                           : !isMemoryEffectFree(operation);
    if (isOrdered) {
      if (lastOrdered != kNone)
        depends.push_back(lastOrdered);
      lastOrdered = number;
    }
    bool isWrite = isa<joint::WriteOp>(operation);
    uint32_t written = isWrite ? storageOf(step.operands(op).front()) : kNone;
    for (uint32_t s : reads) {
      Access &access = accesses[s];
      if (!access.isWritten)
        continue;
      if (access.lastWrite != kNone)
        depends.push_back(access.lastWrite);
      if (s != written) {
        access.readers.push_back(number);
        continue;
      }
      depends.append(access.readers.begin(), access.readers.end());
      access.readers.clear();
      access.lastWrite = number;
    }
  }

  struct Access {
    bool isWritten = false;
    uint32_t lastWrite = kNone;
    std::vector<uint32_t> readers; ///< since the last write
  };

  const StepProgram &step;
  uint32_t first;
  std::vector<uint32_t> definer; ///< by value, in the backward
  std::vector<Access> accesses;  ///< by storage
  uint32_t lastOrdered = kNone;
  ScheduleProblem problem;
};

} // namespace

ScheduleProblem cutback::makeScheduleProblem(const StepProgram &step,
                                             int64_t alignment) {
  return ProblemBuilder(step, alignment).run();
}

ScheduleOutcome cutback::scheduleBackward(const StepProgram &step,
                                          uint64_t work) {
  Schedule schedule = improveSchedule(makeScheduleProblem(step), work);
  ScheduleOutcome outcome{schedule.peakBefore,
                          schedule.peakAfter,
                          schedule.moves > 0,
                          schedule.isLeast,
                          {}};
  if (!outcome.isChanged)
    return outcome;
  Operation *terminator = step.ops.back();
  for (uint32_t op : schedule.order)
    step.ops[step.forwardEnd + 1 + op]->moveBefore(terminator);
  outcome.order = std::move(schedule.order);
  return outcome;
}

FailureOr<ScheduleOutcome>
cutback::scheduleBackward(joint::PartitionOp partition, joint::GraphOp graph,
                          const llvm::StringMap<int64_t> &symbols,
                          uint64_t work) {
  FailureOr<StepProgram> step =
      StepProgram::ofPartition(partition, graph, symbols);
  if (failed(step))
    return failure();
  return scheduleBackward(*step, work);
}
