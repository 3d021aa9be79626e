// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places by tensor inside of the launches. What a call makes besides its
// results lies elsewhere.
//
// A place is dead behind the last op that reads it, unless a result of that op
// took it. To fill it with NaN shows who reads on.

#include "cutback/Interpreter/LaunchMemory.h"

#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// Where the memory that places in the graph of `launch` count from begins.
static int64_t scratchBegin(kernel::LaunchOp launch) {
  int64_t begin = 0;
  for (auto call = launch->getParentOfType<kernel::LaunchOp>(); call;
       call = call->getParentOfType<kernel::LaunchOp>())
    begin += static_cast<int64_t>(call.getScratchAt().value_or(0));
  return begin;
}

void LaunchMemory::findOffsets(joint::PartitionOp link) {
  link->getParentOp()->walk([&](kernel::LaunchOp launch) {
    int64_t begin = scratchBegin(launch);
    for (auto [result, at] :
         llvm::zip_equal(launch.getResults(), launch.getAt()))
      if (at >= 0)
        offsets[kernel::insideOf(result)] = begin + at;
  });
}

LaunchMemory::LaunchMemory(joint::PartitionOp link,
                           std::shared_ptr<Storage> arena)
    : arena(std::move(arena)) {
  findOffsets(link);
}

LaunchMemory::LaunchMemory(joint::PartitionOp link, bool poisonDead) {
  kernel::ArenaOp step = kernel::findArena(link);
  arena = Storage::allocate(step ? static_cast<int64_t>(step.getBytes()) : 0);
  if (arena->bytes)
    std::memset(arena->data, 0xFF, arena->bytes);
  findOffsets(link);
  if (!poisonDead || !step)
    return;
  std::vector<kernel::HeldBytes> held = kernel::findHeldBytes(step);
  llvm::DenseMap<Operation *, SmallVector<kernel::HeldBytes, 2>> born;
  for (const kernel::HeldBytes &bytes : held)
    born[bytes.born].push_back(bytes);
  for (const kernel::HeldBytes &bytes : held) {
    if (!bytes.dies)
      continue;
    bool isTaken = llvm::any_of(
        born.lookup(bytes.dies), [&](const kernel::HeldBytes &other) {
          return bytes.born != bytes.dies && other.begin < bytes.end &&
                 bytes.begin < other.end;
        });
    if (!isTaken)
      deaths[bytes.dies].push_back(bytes);
  }
}

void LaunchMemory::finished(Operation *op) {
  for (const kernel::HeldBytes &bytes : deaths.lookup(op))
    std::memset(arena->data + bytes.begin, 0xFF, bytes.end - bytes.begin);
}

Tensor LaunchMemory::allocate(Value value, DType type,
                              ArrayRef<int64_t> sizes) {
  auto found = offsets.find(value);
  return found == offsets.end() ? Memory::allocate(value, type, sizes)
                                : Tensor::on(arena, found->second, type, sizes);
}

bool LaunchMemory::hasPlace(Value value) { return offsets.contains(value); }
