// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory plan at run time.
//
//   1. One allocation, of the arena's size. Places are looked up by value.
//   2. A tensor that is asked for must have the planned type and sizes; one
//      that the plan does not know lies elsewhere, and the run has failed.
//   3. With poison: all bytes are 0xFF (a NaN of every floating type) at first,
//      and those of a buffer again when its last op has run. What reads them
//      all the same gets NaN, and a comparison of bits shows it.
//   4. With the check of results: views and results that kernels hand over on
//      their own must lie where the plan has them, with its strides.
//
// Storages that follow each other in one place die as one buffer. Linear.

#include "cutback/Interpreter/PlannedMemory.h"

#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static constexpr uint32_t kNone = StepView::kNone;

PlannedMemory::PlannedMemory(const MemoryPlan &plan, bool poisonDead)
    : plan(plan), poisonDead(poisonDead),
      arena(Storage::allocate(plan.arenaBytes())) {
  for (const StepSegment &segment : plan.program.segments)
    for (uint32_t v = segment.view.numArgs; v < segment.view.numValues(); ++v)
      numbers[segment.view.values[v]] = segment.valueOf(v);
  if (!poisonDead)
    return;
  for (uint32_t op = 0; op < plan.program.numOps(); ++op)
    opNumbers[plan.program.op(op)] = op;
  deaths.resize(plan.layout.offsets.size(), {0, 0, 0});
  for (auto [range, storage] :
       llvm::zip_equal(plan.liveRanges, plan.storages)) {
    if (range.buffer == kNone)
      continue;
    Death &death = deaths[range.buffer];
    death = {std::max(death.end, range.end), storage.offset, storage.bytes};
  }
  llvm::stable_sort(
      deaths, [](const Death &a, const Death &b) { return a.end < b.end; });
  poison(0, plan.arenaBytes());
}

void PlannedMemory::poison(int64_t offset, int64_t bytes) {
  std::memset(arena->data + offset, 0xFF, bytes);
}

Tensor PlannedMemory::allocate(Value value, DType type,
                               ArrayRef<int64_t> sizes) {
  Operation *op = value.getDefiningOp();
  auto found = numbers.find(value);
  uint32_t number = found == numbers.end() ? kNone : found->second;
  uint32_t storage =
      number == kNone ? kNone : plan.program.values[number].storage;
  if (storage == kNone || plan.program.storages[storage].isOutside ||
      !plan.program.makesStorage(number)) {
    hasFailed = true;
    op->emitOpError("makes a tensor that the memory plan has no place for")
            .attachNote()
        << "a view that was planned is a copy now; the arguments must be "
           "contiguous";
    return Tensor::zeros(type, sizes);
  }
  // Inside a launch: registers there, here a tensor of its own.
  if (plan.liveRanges[storage].buffer == kNone &&
      plan.storages[storage].bytes > 0)
    return interpreter::Memory::allocate(value, type, sizes);
  auto planned = cast<RankedTensorType>(plan.program.values[number].type);
  if (planned.getShape() != sizes ||
      dtypeOf(planned.getElementType()) != type) {
    hasFailed = true;
    op->emitOpError("makes a ")
        << textOf(type, sizes) << ", the memory plan has a " << planned;
    return Tensor::zeros(type, sizes);
  }
  return Tensor::on(arena, plan.storages[storage].offset, type, sizes);
}

bool PlannedMemory::hasPlace(Value value) {
  auto found = numbers.find(value);
  if (found == numbers.end())
    return false;
  uint32_t storage = plan.program.values[found->second].storage;
  return storage != kNone && !plan.program.storages[storage].isOutside &&
         plan.program.makesStorage(found->second);
}

void PlannedMemory::finished(Operation *op) {
  if (!poisonDead)
    return;
  auto number = opNumbers.find(op);
  if (number == opNumbers.end())
    return;
  for (;
       nextDeath < deaths.size() && deaths[nextDeath].end <= number->second + 1;
       ++nextDeath)
    poison(deaths[nextDeath].offset, deaths[nextDeath].bytes);
}

/// Strides matter where there is more than one element.
static bool hasLayout(const Tensor &tensor, const Layout &layout,
                      int64_t byteOffset) {
  if (ArrayRef<int64_t>(tensor.sizes) != ArrayRef<int64_t>(layout.sizes) ||
      (tensor.offset - layout.offset) * itemSize(tensor.type) != byteOffset)
    return false;
  for (auto [size, a, b] :
       llvm::zip_equal(tensor.sizes, tensor.strides, layout.strides))
    if (size != 1 && a != b)
      return false;
  return true;
}

void PlannedMemory::checkResults(Operation *op,
                                 ArrayRef<RuntimeValue> results) {
  for (auto [result, value] : llvm::zip(op->getResults(), results)) {
    const auto *tensor = std::get_if<Tensor>(&value);
    auto found = numbers.find(result);
    if (!tensor || tensor->numel() == 0 || found == numbers.end())
      continue;
    const StepValue &planned = plan.program.values[found->second];
    bool isRight = planned.storage != kNone;
    if (isRight && plan.liveRanges[planned.storage].buffer == kNone)
      isRight = tensor->storage != arena;
    else if (isRight)
      isRight = tensor->storage == arena &&
                hasLayout(*tensor, plan.program.layoutOf(found->second),
                          plan.storages[planned.storage].offset);
    if (isRight)
      continue;
    hasFailed = true;
    op->emitOpError("has its result '")
        << plan.program.name(found->second)
        << "' elsewhere than where the memory plan has it";
  }
}

FailureOr<std::vector<RuntimeValue>>
cutback::runPartitionInArena(joint::PartitionOp partition, joint::GraphOp graph,
                             ArrayRef<RuntimeValue> arguments,
                             const MemoryPlan &plan,
                             const PlannedRunOptions &options) {
  PlannedMemory memory(plan, options.checkMemory);
  InterpreterOptions run;
  run.seed = options.seed;
  run.memory = &memory;
  run.hook = options.hook;
  OpCallback check([&](Operation *op, ArrayRef<RuntimeValue> results) {
    memory.checkResults(op, results);
  });
  run.observers = options.observers;
  if (options.checkMemory)
    run.observers.push_back(&check);
  auto results = runPartition(partition, graph, arguments, run);
  if (failed(results) || memory.failed())
    return failure();
  return results;
}

FailureOr<PlannedRun>
cutback::runPartitionPlanned(joint::PartitionOp partition, joint::GraphOp graph,
                             ArrayRef<RuntimeValue> arguments,
                             const PlannedRunOptions &options) {
  FailureOr<MemoryPlan> plan = planMemory(partition, graph, options.plan);
  if (failed(plan))
    return failure();
  auto results =
      runPartitionInArena(partition, graph, arguments, *plan, options);
  if (failed(results))
    return failure();
  return PlannedRun{std::move(*results), std::move(*plan)};
}
