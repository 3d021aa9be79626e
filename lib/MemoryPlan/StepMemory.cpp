// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lives of storages.
//
//   1. A storage is live from the op that makes it to the last op that reads a
//      value in it. Terminators are ops: what the backward takes is read
//      there. Forward results and gradients are kept to the end.
//   2. A pointwise op may write over an operand that nobody reads after it, and
//      an op with a destination (DestinationStyleOpInterface) over that; the
//      two storages become one buffer. Of several such operands the one
//      whose buffer is youngest is taken: long buffers are harder to place.
//   3. Buffers with bytes are the intervals of the layout. Arguments are
//      outside: the arena never holds them.
//
// Linear.

#include "cutback/MemoryPlan/StepMemory.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace cutback;

static constexpr uint32_t kNone = StepProgram::kNone;

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

StepMemory::StepMemory(const StepProgram &program,
                       const StepMemoryOptions &options)
    : program(program), life(program.storages.size()) {
  findLives();
  findBuffers(options.inPlace);
}

void StepMemory::findLives() {
  for (uint32_t op = 0; op < program.numOps(); ++op) {
    for (uint32_t value : program.operands(op))
      if (uint32_t storage = program.values[value].storage; storage != kNone)
        life[storage].end = op + 1;
    for (uint32_t r = program.resultBegin[op]; r < program.resultEnd[op]; ++r)
      if (uint32_t storage = program.values[r].storage;
          storage != kNone && program.storages[storage].value == r)
        life[storage] = {StorageUse::Temporary, op, op + 1};
  }
  auto mark = [&](ArrayRef<uint32_t> values, StorageUse use, bool isKept) {
    for (uint32_t value : values) {
      uint32_t storage = program.values[value].storage;
      if (storage == kNone)
        continue;
      life[storage].use = use;
      if (isKept)
        life[storage].end = program.numOps();
    }
  };
  mark(program.gradients, StorageUse::Gradient, true);
  mark(program.saved, StorageUse::Saved, false);
  mark(program.forwardResults, StorageUse::Result, true);
  // A saved value that is a gradient too is kept.
  for (uint32_t value : program.gradients)
    if (uint32_t storage = program.values[value].storage; storage != kNone)
      life[storage].end = program.numOps();
  for (uint32_t storage = 0; storage < life.size(); ++storage)
    if (program.storages[storage].isOutside ||
        program.storages[storage].bytes == 0)
      life[storage].use = StorageUse::Outside;
}

static bool isPointwise(Operation *op) {
  auto fusible = dyn_cast<joint::FusibleOpInterface>(op);
  return fusible && fusible.getFusionKind() == joint::FusionKind::Pointwise;
}

/// The op says itself that it writes its result over `operand`, and reads
/// nothing else of that storage.
static bool isDestination(const StepProgram &program, uint32_t op,
                          uint32_t operand) {
  auto style = dyn_cast<DestinationStyleOpInterface>(program.ops[op]);
  if (!style || style.getNumDpsInits() != 1)
    return false;
  OpOperand *init = style.getDpsInitOperand(0);
  ArrayRef<uint32_t> operands = program.operands(op);
  if (operands[init->getOperandNumber()] != operand)
    return false;
  uint32_t storage = program.values[operand].storage;
  for (uint32_t i = 0; i < operands.size(); ++i)
    if (i != init->getOperandNumber() &&
        program.values[operands[i]].storage == storage)
      return false;
  return true;
}

bool cutback::mayReplace(const StepProgram &program, uint32_t op,
                         uint32_t operand, uint32_t result) {
  if (program.resultEnd[op] - program.resultBegin[op] != 1 ||
      !(isPointwise(program.ops[op]) || isDestination(program, op, operand)))
    return false;
  const StepValue &to = program.values[result];
  auto isWhole = [&](const StepValue &value) {
    return value.type == to.type && value.layout.offset == 0 &&
           value.layout.isContiguous();
  };
  uint32_t storage = program.values[operand].storage;
  if (storage == kNone || to.storage == kNone || storage == to.storage ||
      program.storages[storage].bytes != program.storages[to.storage].bytes)
    return false;
  for (uint32_t other : program.operands(op))
    if (program.values[other].storage == storage &&
        !isWhole(program.values[other]))
      return false;
  return isWhole(to) && isWhole(program.values[operand]);
}

/// The storage whose place the op's only result takes, or kNone.
uint32_t StepMemory::findDyingOperand(uint32_t op, uint32_t result) const {
  uint32_t best = kNone;
  for (uint32_t operand : program.operands(op)) {
    uint32_t storage = program.values[operand].storage;
    if (storage == kNone || life[storage].use == StorageUse::Outside ||
        life[storage].end != op + 1 ||
        !mayReplace(program, op, operand, result))
      continue;
    auto beginOf = [&](uint32_t s) { return intervals[life[s].buffer].begin; };
    if (best == kNone || beginOf(storage) > beginOf(best))
      best = storage;
  }
  return best;
}

void StepMemory::findBuffers(bool inPlace) {
  for (uint32_t op = 0; op < program.numOps(); ++op)
    for (uint32_t r = program.resultBegin[op]; r < program.resultEnd[op]; ++r) {
      uint32_t storage = program.values[r].storage;
      if (storage == kNone || program.storages[storage].value != r ||
          life[storage].use == StorageUse::Outside)
        continue;
      StorageLife &own = life[storage];
      own.inPlaceOf = inPlace ? findDyingOperand(op, r) : kNone;
      if (own.inPlaceOf == kNone) {
        own.buffer = intervals.size();
        intervals.push_back(
            {own.begin, own.end, program.storages[storage].bytes, -1});
        continue;
      }
      life[own.inPlaceOf].end = op;
      own.buffer = life[own.inPlaceOf].buffer;
      intervals[own.buffer].end = own.end;
    }
}
