// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a backward in the IR to numbers that can be reordered, and back.
//
//   1. Dependencies between launches: those that define operands; among ops
//      with effects and random ops without a seed, the one before; for an
//      argument's storage that is written, the last write for its readers, and
//      the readers since then for the next write; for all launches the last
//      early one before them, and for a late one all before it (Overlap.h).
//   2. Storages: what the forward left is given, what the step keeps is kept,
//      arguments weigh nothing. A place may be taken over where the memory
//      plan allows it (mayReplace).
//   3. The improved order is applied in front of the terminator. What runs
//      nothing (StepView::isFree) ties no launches together: who reads a
//      view comes behind what made its base, wherever the view stood, and the
//      view goes to its first reader.
//
// Linear, and the work of the search.

#include "cutback/MemoryPlan/ScheduleBackward.h"

#include "cutback/Dialect/Joint/Overlap.h"
#include "cutback/MemoryPlan/StepMemory.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

namespace {

constexpr uint32_t kNone = StepView::kNone;

/// By op of the backward: it runs nothing and has company in its launch that
/// does, so it may go to another one.
std::vector<uint8_t> findFree(const StepView &step) {
  uint32_t first = step.forwardEnd() + 1;
  std::vector<uint8_t> isFree(step.numOps() - first, 0);
  for (uint32_t op = first; op < step.numOps(); op = step.launch(op).end) {
    const StepLaunch &launch = step.launch(op);
    bool isAny = false;
    for (uint32_t other = launch.begin; other < launch.end; ++other)
      isAny |= !(isFree[other - first] = step.isFree(other));
    if (!isAny)
      std::fill(isFree.begin() + (launch.begin - first),
                isFree.begin() + (launch.end - first), 0);
  }
  return isFree;
}

class ProblemBuilder {
public:
  ProblemBuilder(const StepView &step, int64_t alignment)
      : step(step), first(step.launchOf[step.forwardEnd()] + 1),
        definer(step.values.size(), kNone), isFree(findFree(step)),
        accesses(step.storages.size()) {
    setStorages(alignment);
  }

  ScheduleProblem run() {
    uint32_t firstOp = step.forwardEnd() + 1;
    for (uint32_t op = firstOp; op + 1 < step.numOps(); ++op) {
      for (uint32_t r : step.results(op))
        definer[r] = step.launchOf[op] - first;
      if (auto write = dyn_cast<joint::WriteOp>(step.op(op)))
        accesses[storageOf(step.operands(op).front())].isWritten = true;
    }
    for (uint32_t i = first; i + 1 < step.launches.size(); ++i)
      addLaunch(step.launches[i]);
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
    // Live ranges alone: who takes whose place is asked per launch.
    StepMemory memory(step, {/*inPlace=*/false});
    for (uint32_t s = 0; s < count; ++s)
      if (memory.liveRanges()[s].use != StorageUse::Outside)
        problem.bytes[s] =
            (step.storages[s].bytes + alignment - 1) / alignment * alignment;
    for (uint32_t op = step.forwardEnd() + 1; op < step.numOps(); ++op)
      for (uint32_t r : step.results(op))
        if (step.makesStorage(r))
          problem.isGiven[storageOf(r)] = 0;
    for (const auto *values : {&step.forwardResults, &step.gradients})
      for (uint32_t value : *values)
        if (uint32_t s = storageOf(value); s != kNone)
          problem.isKept[s] = 1;
  }

  void addLaunch(const StepLaunch &launch) {
    uint32_t number = step.launchOf[launch.begin] - first;
    llvm::SmallVector<uint32_t> depends, reads, makes;
    keepOverlap(launch, number, depends);
    for (uint32_t op = launch.begin; op < launch.end; ++op) {
      if (isFree[op - step.forwardEnd() - 1]) {
        lookThrough(op);
        continue;
      }
      llvm::SmallVector<uint32_t> own;
      for (uint32_t value : step.operands(op)) {
        for (uint32_t maker : makersOf(value))
          if (maker < number)
            depends.push_back(maker);
        if (uint32_t s = storageOf(value); s != kNone)
          own.push_back(s);
      }
      sortUnique(own);
      keepOrder(op, number, own, depends);
      reads.append(own.begin(), own.end());
      for (uint32_t r : step.results(op))
        if (step.makesStorage(r))
          makes.push_back(storageOf(r));
    }
    sortUnique(reads);
    sortUnique(depends);
    llvm::erase(depends, number);
    // What it makes itself it need not find.
    llvm::erase_if(reads,
                   [&](uint32_t s) { return llvm::is_contained(makes, s); });
    for (uint32_t other : depends)
      problem.depends.add(other);
    for (uint32_t s : reads)
      problem.reads.add(s);
    for (uint32_t s : makes)
      problem.makes.add(s);
    addReplaced(launch, reads, makes);
    for (Rows *rows :
         {&problem.depends, &problem.reads, &problem.makes, &problem.replaces})
      rows->endRow();
  }

  /// Launches that make `value`, or what it is a view of.
  SmallVector<uint32_t, 2> makersOf(uint32_t value) const {
    if (auto found = behind.find(value); found != behind.end())
      return found->second;
    if (definer[value] == kNone)
      return {};
    return {definer[value]};
  }

  void lookThrough(uint32_t op) {
    SmallVector<uint32_t, 2> makers;
    for (uint32_t value : step.operands(op))
      makers.append(makersOf(value));
    sortUnique(makers);
    for (uint32_t r : step.results(op))
      behind[r] = makers;
  }

  /// Places that the largest result can take; of equal ones, the first that can
  /// take any.
  void addReplaced(const StepLaunch &launch, ArrayRef<uint32_t> reads,
                   ArrayRef<uint32_t> makes) {
    int64_t most = 0;
    for (uint32_t s : makes)
      most = std::max(most, problem.bytes[s]);
    if (most == 0)
      return;
    for (uint32_t made : makes) {
      if (problem.bytes[made] != most)
        continue;
      uint32_t result = step.storages[made].value;
      uint32_t maker = step.maker(made);
      bool isFound = false;
      for (uint32_t s : reads)
        if (problem.bytes[s] && !problem.isKept[s] &&
            mayReplace(step, maker, s, result)) {
          problem.replaces.add(s);
          isFound = true;
        }
      if (isFound)
        return;
    }
  }

  static void sortUnique(llvm::SmallVectorImpl<uint32_t> &list) {
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
  }

  void keepOrder(uint32_t op, uint32_t number, ArrayRef<uint32_t> reads,
                 llvm::SmallVectorImpl<uint32_t> &depends) {
    if (step.traits(op).keepsOrder()) {
      if (lastOrdered != kNone)
        depends.push_back(lastOrdered);
      lastOrdered = number;
    }
    bool isWrite = isa<joint::WriteOp>(step.op(op));
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

  /// One dependency a launch, and one more for each that a late one ends.
  void keepOverlap(const StepLaunch &launch, uint32_t number,
                   llvm::SmallVectorImpl<uint32_t> &depends) {
    if (lastEarly != kNone)
      depends.push_back(lastEarly);
    for (uint32_t op = launch.begin; op < launch.end; ++op) {
      if (step.op(op)->hasAttr(joint::kEarly))
        lastEarly = number;
      if (!step.op(op)->hasAttr(joint::kLate))
        continue;
      for (; beforeLate < number; ++beforeLate)
        depends.push_back(beforeLate);
    }
  }

  struct Access {
    bool isWritten = false;
    uint32_t lastWrite = kNone;
    std::vector<uint32_t> readers; ///< since the last write
  };

  const StepView &step;
  uint32_t first;                ///< launch
  std::vector<uint32_t> definer; ///< by value: launch of the backward
  std::vector<uint8_t> isFree;   ///< by op of the backward
  /// By value that such an op gives: launches that make what it is a view of.
  llvm::DenseMap<uint32_t, SmallVector<uint32_t, 2>> behind;
  std::vector<Access> accesses; ///< by storage
  uint32_t lastOrdered = kNone;
  uint32_t lastEarly = kNone; ///< launch
  uint32_t beforeLate = 0;    ///< launches that a late one comes behind
  ScheduleProblem problem;
};

} // namespace

ScheduleProblem cutback::makeScheduleProblem(const StepView &step,
                                             int64_t alignment) {
  return ProblemBuilder(step, alignment).run();
}

/// By op of the backward: the place in the new order of the launch with which
/// it runs.
static std::vector<uint32_t> placeOps(const StepView &step,
                                      ArrayRef<uint32_t> order) {
  uint32_t first = step.forwardEnd() + 1, last = step.numOps() - 1;
  uint32_t firstLaunch = step.launchOf[first];
  std::vector<uint32_t> placeOf(order.size()), places(last - first, kNone);
  for (auto [place, number] : llvm::enumerate(order))
    placeOf[number] = place;
  std::vector<uint8_t> isFree = findFree(step);
  // By value: the free op that gives it.
  std::vector<uint32_t> giver(step.values.size(), kNone);
  for (uint32_t op = first; op < last; ++op) {
    if (!isFree[op - first]) {
      places[op - first] = placeOf[step.launchOf[op] - firstLaunch];
      continue;
    }
    for (uint32_t r : step.results(op))
      giver[r] = op;
  }
  for (uint32_t op = last; op-- > first;)
    if (places[op - first] != kNone)
      for (uint32_t value : step.operands(op))
        if (uint32_t from = giver[value]; from != kNone)
          places[from - first] =
              std::min(places[from - first], places[op - first]);
  // What nobody reads in the backward stands with what it reads.
  std::vector<uint32_t> madeAt(step.values.size(), 0);
  for (uint32_t op = first; op < last; ++op) {
    uint32_t &place = places[op - first];
    if (place == kNone) {
      place = 0;
      for (uint32_t value : step.operands(op))
        place = std::max(place, madeAt[value]);
    }
    for (uint32_t r : step.results(op))
      madeAt[r] = place;
  }
  return places;
}

/// Puts the ops of the backward into the order of the launches.
static void applyOrder(const StepView &step, ScheduleOutcome &outcome) {
  uint32_t first = step.forwardEnd() + 1, firstLaunch = step.launchOf[first];
  std::vector<uint32_t> places = placeOps(step, outcome.launchOrder);
  std::vector<uint32_t> begin(outcome.launchOrder.size() + 1, 0);
  for (uint32_t place : places)
    ++begin[place + 1];
  for (auto [place, number] : llvm::enumerate(outcome.launchOrder)) {
    auto size = static_cast<int32_t>(begin[place + 1]);
    bool isAligned = step.launches[firstLaunch + number].isAligned;
    outcome.launchSizes.push_back(isAligned ? size : -size);
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  outcome.order.resize(places.size());
  for (auto [op, place] : llvm::enumerate(places))
    outcome.order[begin[place]++] = op;
  Operation *terminator = step.op(step.numOps() - 1);
  for (uint32_t op : outcome.order)
    step.op(first + op)->moveBefore(terminator);
  Operation *half = terminator->getParentOp();
  if (!half->hasAttr(kLaunches)) {
    outcome.launchSizes.clear();
    return;
  }
  half->setAttr(kLaunches, DenseI32ArrayAttr::get(half->getContext(),
                                                  outcome.launchSizes));
}

ScheduleOutcome cutback::scheduleBackward(const StepView &step, uint64_t work) {
  Schedule schedule = improveSchedule(makeScheduleProblem(step), work);
  ScheduleOutcome outcome;
  outcome.peakBefore = schedule.peakBefore;
  outcome.peakAfter = schedule.peakAfter;
  outcome.isChanged = schedule.moves > 0;
  outcome.isLeast = schedule.isLeast;
  if (outcome.isChanged) {
    outcome.launchOrder = std::move(schedule.order);
    applyOrder(step, outcome);
  }
  return outcome;
}

FailureOr<ScheduleOutcome>
cutback::scheduleBackward(joint::PartitionOp partition, joint::GraphOp graph,
                          const llvm::StringMap<int64_t> &symbols,
                          uint64_t work) {
  FailureOr<StepView> step = StepView::ofPartition(partition, graph, symbols);
  if (failed(step))
    return failure();
  return scheduleBackward(*step, work);
}
