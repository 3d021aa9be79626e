// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Live ranges of storages.
//
//   1. A storage is live from the launch that makes it to the last one that
//      reads a value in it. Terminators are launches: what the backward takes
//      is read there. Forward results and gradients are kept to the end. What
//      one launch of several ops makes and reads lies in its registers.
//   2. A pointwise op may write over an operand that nobody reads after it, and
//      an op with a destination (DestinationStyleOpInterface) over that; the
//      two storages become one buffer. Of several such operands the one
//      whose buffer is youngest is taken: long buffers are harder to place.
//   3. Buffers with bytes are the intervals of the layout. Arguments are
//      outside: the arena never holds them.
//   4. The scratch of a call is a buffer while the call runs.
//
// Linear.

#include "cutback/MemoryPlan/StepMemory.h"

#include "cutback/Dialect/Joint/IterationSpace.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace cutback;
using cutback::joint::FusionKind;

static constexpr uint32_t kNone = StepView::kNone;

const char *cutback::spell(StorageUse use) {
  switch (use) {
  case StorageUse::Outside:
    return "outside";
  case StorageUse::Temporary:
    return "temporary";
  case StorageUse::Saved:
    return "saved";
  case StorageUse::Result:
    return "result";
  case StorageUse::Gradient:
    return "gradient";
  }
  return "";
}

/// True if nothing but views stands with `op` in its launch.
static bool isAlone(const StepView &program, uint32_t op) {
  const StepLaunch &launch = program.launch(op);
  for (uint32_t other = launch.begin; other < launch.end; ++other)
    if (other != op && !program.isView(other))
      return false;
  return true;
}

StepMemory::StepMemory(const StepView &program,
                       const StepMemoryOptions &options)
    : program(program), ranges(program.storages.size()) {
  findRanges();
  findBuffers(options.inPlace);
}

void StepMemory::findRanges() {
  for (uint32_t op = 0; op < program.numOps(); ++op) {
    for (uint32_t value : program.operands(op))
      if (uint32_t storage = program.values[value].storage; storage != kNone)
        ranges[storage].end = program.launch(op).end;
    for (uint32_t r : program.results(op))
      if (program.makesStorage(r))
        ranges[program.values[r].storage] = {StorageUse::Temporary,
                                             program.launch(op).begin,
                                             program.launch(op).end};
  }
  auto mark = [&](ArrayRef<uint32_t> values, StorageUse use, bool isKept) {
    for (uint32_t value : values) {
      uint32_t storage = program.values[value].storage;
      if (storage == kNone)
        continue;
      ranges[storage].use = use;
      if (isKept)
        ranges[storage].end = program.numOps();
    }
  };
  mark(program.gradients, StorageUse::Gradient, true);
  mark(program.saved, StorageUse::Saved, false);
  mark(program.forwardResults, StorageUse::Result, true);
  // A saved value that is a gradient too is kept.
  for (uint32_t value : program.gradients)
    if (uint32_t storage = program.values[value].storage; storage != kNone)
      ranges[storage].end = program.numOps();
  for (uint32_t storage = 0; storage < ranges.size(); ++storage)
    if (program.storages[storage].isScratch) {
      const StepLaunch &launch = program.launch(program.maker(storage));
      ranges[storage] = {StorageUse::Temporary, launch.begin, launch.end};
    }
  for (uint32_t storage = 0; storage < ranges.size(); ++storage)
    if (program.storages[storage].isOutside ||
        program.storages[storage].bytes == 0 || isInside(storage))
      ranges[storage].use = StorageUse::Outside;
}

bool StepMemory::isInside(uint32_t storage) const {
  if (ranges[storage].use != StorageUse::Temporary)
    return false;
  if (ranges[storage].end != program.launch(ranges[storage].begin).end)
    return false;
  return !isAlone(program, program.maker(storage));
}

/// The op says itself that it writes its result over `operand`, and reads
/// nothing else of that storage.
static bool isDestination(const StepView &program, uint32_t op,
                          uint32_t operand) {
  auto style = dyn_cast<DestinationStyleOpInterface>(program.op(op));
  if (!style || style.getNumDpsInits() != 1)
    return false;
  OpOperand *init = style.getDpsInitOperand(0);
  StepOperands operands = program.operands(op);
  if (operands[init->getOperandNumber()] != operand)
    return false;
  uint32_t storage = program.values[operand].storage;
  for (uint32_t i = 0; i < operands.size(); ++i)
    if (i != init->getOperandNumber() &&
        program.values[operands[i]].storage == storage)
      return false;
  return true;
}

/// The op changes elements of `operand` and gives it back.
static bool isUpdated(const StepView &program, uint32_t op, uint32_t operand) {
  auto fusible = dyn_cast<joint::FusibleOpInterface>(program.op(op));
  if (!fusible || program.traits(op).fusion != FusionKind::Never ||
      program.traits(op).hasRegions)
    return false;
  SmallVector<ArrayRef<int64_t>> shapes;
  auto add = [&](uint32_t value) {
    auto shaped = dyn_cast<RankedTensorType>(program.values[value].type);
    shapes.push_back(shaped ? shaped.getShape() : ArrayRef<int64_t>());
  };
  StepOperands operands = program.operands(op);
  for (uint32_t value : operands)
    add(value);
  for (uint32_t r : program.results(op))
    add(r);
  joint::IterationSpace space;
  if (!fusible.getIterationSpace(shapes, space) || space.updated < 0 ||
      operands[space.updated] != operand)
    return false;
  uint32_t storage = program.values[operand].storage;
  return llvm::count_if(operands, [&](uint32_t value) {
           return program.values[value].storage == storage;
         }) == 1;
}

/// True if an op behind `op` in its launch looks at `storage`, be it for its
/// sizes.
static bool isReadLater(const StepView &program, uint32_t op,
                        uint32_t storage) {
  for (uint32_t other = op + 1; other < program.launch(op).end; ++other)
    for (uint32_t operand : program.operands(other))
      if (program.values[operand].storage == storage)
        return true;
  return false;
}

/// True if each read of `storage` in the launch of `op` is of its element i
/// when element i of the `count` elements of a result is made. Of fewer, as of
/// the first one alone, several iterations would read one.
static bool readsInStep(const StepView &program, uint32_t op, uint32_t storage,
                        int64_t count) {
  const StepLaunch &launch = program.launch(op);
  for (uint32_t other = launch.begin; other < launch.end; ++other)
    for (uint32_t operand : program.operands(other)) {
      const StepValue &value = program.values[operand];
      if (value.storage != storage)
        continue;
      FusionKind kind = program.traits(other).fusion;
      if (program.isView(other))
        continue; // who reads the view is looked at
      if (program.partOf[other] != program.partOf[op])
        return false; // it may run later
      // A part of the storage is read again for other elements.
      const Layout &layout = program.layoutOf(operand);
      if (!layout.isContiguous() || layout.offset != 0 ||
          layout.numel() != count ||
          (kind != FusionKind::Pointwise && kind != FusionKind::Reduction))
        return false;
    }
  return launch.isAligned;
}

/// True if no op of its part of the launch has more elements than `result`:
/// then each of these is made by one iteration, and not, as what is broadcast,
/// by several, the second of which would read what the first has written.
static bool isMadeOnce(const StepView &program, uint32_t op, uint32_t result) {
  const StepLaunch &launch = program.launch(op);
  int64_t count = program.layoutOf(result).numel();
  for (uint32_t other = launch.begin; other < launch.end; ++other) {
    if (program.partOf[other] != program.partOf[op])
      continue;
    for (uint32_t r : program.results(other))
      if (program.values[r].storage != kNone &&
          program.layoutOf(r).numel() > count)
        return false;
  }
  return true;
}

/// mayReplace() by one of the values that lie in the storage.
static bool mayReplaceValue(const StepView &program, uint32_t op,
                            uint32_t operand, uint32_t result) {
  if (!(program.traits(op).fusion == FusionKind::Pointwise ||
        isDestination(program, op, operand) || isUpdated(program, op, operand)))
    return false;
  const StepValue &to = program.values[result], &from = program.values[operand];
  auto isWhole = [&](const StepValue &value) {
    const Layout &layout = program.layouts[value.layout];
    return value.type == to.type && layout.offset == 0 && layout.isContiguous();
  };
  uint32_t storage = from.storage;
  for (uint32_t other : program.operands(op))
    if (program.values[other].storage == storage &&
        !isWhole(program.values[other]))
      return false;
  bool isAlike =
      getElementTypeOrSelf(to.type) == getElementTypeOrSelf(from.type);
  if (!isWhole(to) || isReadLater(program, op, storage))
    return false;
  if (isAlone(program, op))
    return isWhole(from);
  return isAlike && program.layoutOf(operand).isContiguous() &&
         readsInStep(program, op, storage, program.layoutOf(result).numel()) &&
         isMadeOnce(program, op, result);
}

bool cutback::mayReplace(const StepView &program, uint32_t op, uint32_t storage,
                         uint32_t result) {
  // Most pairs of a large launch differ in their sizes: its ops are not gone
  // through for those.
  uint32_t made = program.values[result].storage;
  if (program.results(op).size() != 1 || made == kNone || storage == made ||
      program.storages[storage].bytes != program.storages[made].bytes)
    return false;
  for (uint32_t reader = program.launch(op).begin; reader <= op; ++reader)
    for (uint32_t operand : program.operands(reader))
      if (program.values[operand].storage == storage &&
          mayReplaceValue(program, op, operand, result))
        return true;
  return false;
}

/// Storages that the launch reads last, each with the first op that does, in
/// the order of these.
void StepMemory::findDying(const StepLaunch &launch) {
  dying.clear();
  for (uint32_t reader = launch.begin; reader < launch.end; ++reader)
    for (uint32_t operand : program.operands(reader)) {
      uint32_t storage = program.values[operand].storage;
      if (storage == kNone || ranges[storage].use == StorageUse::Outside ||
          ranges[storage].begin == launch.begin ||
          ranges[storage].end != launch.end || seenIn[storage] == launch.end)
        continue;
      seenIn[storage] = launch.end;
      dying.push_back({reader, storage});
    }
}

/// The storage whose place the op's only result takes, or kNone.
uint32_t StepMemory::findDyingOperand(uint32_t op, uint32_t result) const {
  uint32_t best = kNone;
  auto beginOf = [&](uint32_t s) { return intervals[ranges[s].buffer].begin; };
  for (auto [reader, storage] : dying) {
    if (reader > op)
      break;
    // Its place may be taken by now.
    if (ranges[storage].end != program.launch(op).end ||
        !mayReplace(program, op, storage, result))
      continue;
    if (best == kNone || beginOf(storage) > beginOf(best))
      best = storage;
  }
  return best;
}

void StepMemory::findBuffers(bool inPlace) {
  seenIn.assign(inPlace ? program.storages.size() : 0, 0);
  for (uint32_t storage = 0; storage < ranges.size(); ++storage)
    if (program.storages[storage].isScratch) {
      ranges[storage].buffer = intervals.size();
      intervals.push_back({ranges[storage].begin, ranges[storage].end,
                           program.storages[storage].bytes, -1});
    }
  for (uint32_t op = 0; op < program.numOps(); ++op) {
    if (inPlace && program.launch(op).begin == op)
      findDying(program.launch(op));
    for (uint32_t r : program.results(op)) {
      uint32_t storage = program.values[r].storage;
      if (!program.makesStorage(r) ||
          ranges[storage].use == StorageUse::Outside)
        continue;
      StorageRange &own = ranges[storage];
      own.inPlaceOf = inPlace ? findDyingOperand(op, r) : kNone;
      if (own.inPlaceOf == kNone) {
        own.buffer = intervals.size();
        intervals.push_back(
            {own.begin, own.end, program.storages[storage].bytes, -1});
        continue;
      }
      ranges[own.inPlaceOf].end = own.begin;
      own.buffer = ranges[own.inPlaceOf].buffer;
      intervals[own.buffer].end = own.end;
    }
  }
}
