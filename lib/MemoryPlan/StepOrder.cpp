// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step whose segments run in another order, numbered as if it had been made
// from the reordered functions: results and their storages in the order of
// their ops. Sizes and layouts stay, so this costs a fraction of making it
// anew.
//
// Where a segment writes arguments, or has regions that could, which views must
// be copies depends on the order (findForcedCopies): then the step has to be
// made anew. Linear.

#include "cutback/MemoryPlan/StepView.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

/// Puts values, by old number, into the order of their new numbers, and the
/// storages that they make into the order of these.
static void renumber(StepView &step, ArrayRef<uint32_t> newValue) {
  std::vector<StepValue> values(step.values.size());
  std::vector<uint32_t> oldValue(values.size());
  for (uint32_t old = 0; old < values.size(); ++old) {
    values[newValue[old]] = step.values[old];
    oldValue[newValue[old]] = old;
  }
  std::vector<StepStorage> storages = std::move(step.storages);
  std::vector<uint32_t> newStorage(storages.size(), StepView::kNone);
  step.storages.clear();
  for (uint32_t value = 0; value < values.size(); ++value) {
    uint32_t &storage = values[value].storage;
    if (storage == StepView::kNone)
      continue;
    if (storages[storage].value == oldValue[value]) {
      newStorage[storage] = step.storages.size();
      step.storages.push_back(storages[storage]);
      step.storages.back().value = value;
    }
    storage = newStorage[storage];
  }
  step.values = std::move(values);
  for (auto *list : {&step.forwardResults, &step.saved, &step.gradients})
    for (uint32_t &value : *list)
      value = newValue[value];
}

/// Whether only the functions tell what lies where when their order is
/// another one.
static bool dependsOnOrder(const StepView &step,
                           ArrayRef<StepSegment> segments) {
  // Scratch is nobody's value.
  if (llvm::any_of(step.storages, [](const StepStorage &storage) {
        return storage.isScratch;
      }))
    return true;
  for (const StepSegment &segment : segments)
    for (uint32_t op = 0; op < segment.view.numOps(); ++op)
      if (segment.view.traits[op].hasRegions ||
          isa<joint::WriteOp>(segment.view.ops[op]))
        return true;
  return false;
}

bool StepView::reorder(ArrayRef<StepOrder> orders) {
  MutableArrayRef<StepSegment> reordered(segments);
  reordered = reordered.take_back(orders.size());
  if (dependsOnOrder(*this, reordered))
    return false;
  std::vector<uint32_t> newValue(values.size());
  std::iota(newValue.begin(), newValue.end(), 0);
  for (auto [segment, order] : llvm::zip_equal(reordered, orders)) {
    std::vector<uint32_t> newOfView = segment.view.reorderOps(order.ops);
    for (uint32_t value = segment.view.numArgs; value < newOfView.size();
         ++value)
      newValue[segment.valueOf(value)] = segment.valueOf(newOfView[value]);
  }
  for (StepSegment &segment : reordered)
    for (uint32_t &value : segment.given)
      value = newValue[value];
  renumber(*this, newValue);
  uint32_t first = reordered.front().firstOp;
  launches.resize(launchOf[first]);
  launchOf.resize(first);
  for (auto [segment, order] : llvm::zip_equal(reordered, orders))
    addLaunches(segment, order.launchSizes);
  return true;
}
