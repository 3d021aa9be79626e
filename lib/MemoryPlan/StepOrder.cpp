// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step whose backward runs in another order, numbered as if it had been made
// from the reordered function: results and their storages in the order of their
// ops. Sizes and layouts stay, so this costs a fraction of making it anew.
//
// Where the backward writes arguments, or has regions that could, which views
// must be copies depends on the order (findForcedCopies): then the step has to
// be made anew. Linear.

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
    values[newValue[old]] = std::move(step.values[old]);
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

bool StepView::reorderBackward(ArrayRef<uint32_t> order,
                               ArrayRef<int32_t> launchSizes) {
  StepSegment &backward = segments.back();
  for (uint32_t op = 0; op < backward.view.numOps(); ++op)
    if (backward.view.traits[op].hasRegions ||
        isa<joint::WriteOp>(backward.view.ops[op]))
      return false;
  std::vector<uint32_t> newOfView = backward.view.reorderOps(order);
  std::vector<uint32_t> newValue(values.size());
  std::iota(newValue.begin(), newValue.end(), 0);
  for (uint32_t value = backward.view.numArgs; value < newOfView.size();
       ++value)
    newValue[backward.valueOf(value)] = backward.valueOf(newOfView[value]);
  renumber(*this, newValue);
  launches.resize(launchOf[backward.firstOp]);
  launchOf.resize(backward.firstOp);
  addLaunches(launchSizes);
  return true;
}
