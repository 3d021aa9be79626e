// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step whose backward runs in another order, numbered as if it had been made
// from the reordered function: results and their storages in the order of their
// ops. Sizes and layouts stay, so this costs a fraction of making it anew.
//
// Where the backward writes arguments, or has regions that could, which views
// must be copies depends on the order (findForcedCopies): then the program has
// to be made anew. Linear.

#include "cutback/MemoryPlan/StepProgram.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

namespace {

class Reorder {
public:
  explicit Reorder(StepProgram &step)
      : step(step), first(step.forwardEnd + 1), valueOf(step.values.size()),
        storageOf(step.storages.size()) {
    std::iota(valueOf.begin(), valueOf.end(), 0);
    std::iota(storageOf.begin(), storageOf.end(), 0);
  }

  void run(ArrayRef<uint32_t> order, ArrayRef<int32_t> launchSizes) {
    takeBackward();
    for (uint32_t op : order)
      add(op);
    add(old.numOps() - 1);
    addLaunches(launchSizes);
    for (uint32_t &value : step.gradients)
      value = valueOf[value];
  }

private:
  /// Takes the ops of the backward, with what they compute, off the end.
  void takeBackward() {
    firstValue = step.resultBegin[first];
    auto made = llvm::find_if(step.storages, [&](const StepStorage &storage) {
      return storage.value >= firstValue;
    });
    firstStorage = made - step.storages.begin();
    old.ops = takeEnd(step.ops, first);
    for (uint32_t op = first; op <= first + old.numOps(); ++op)
      old.operandBegin.push_back(step.operandBegin[op] -
                                 step.operandBegin[first]);
    step.operandBegin.resize(first + 1);
    old.operandList = takeEnd(step.operandList, step.operandBegin[first]);
    old.resultBegin = takeEnd(step.resultBegin, first);
    old.resultEnd = takeEnd(step.resultEnd, first);
    old.launchOf = takeEnd(step.launchOf, first);
    old.launches = takeEnd(step.launches, old.launchOf.front());
    old.values = takeEnd(step.values, firstValue);
    old.storages = takeEnd(step.storages, firstStorage);
  }

  template <typename T>
  static std::vector<T> takeEnd(std::vector<T> &list, size_t begin) {
    std::vector<T> end(std::make_move_iterator(list.begin() + begin),
                       std::make_move_iterator(list.end()));
    list.erase(list.begin() + begin, list.end());
    return end;
  }

  void add(uint32_t op) {
    step.ops.push_back(old.ops[op]);
    for (uint32_t value : old.operands(op))
      step.operandList.push_back(valueOf[value]);
    step.operandBegin.push_back(step.operandList.size());
    step.resultBegin.push_back(step.values.size());
    for (uint32_t r = old.resultBegin[op]; r < old.resultEnd[op]; ++r)
      addValue(r);
    step.resultEnd.push_back(step.values.size());
  }

  void addLaunches(ArrayRef<int32_t> sizes) {
    uint32_t op = first;
    auto add = [&](uint32_t count, bool isAligned) {
      step.launchOf.insert(step.launchOf.end(), count, step.launches.size());
      step.launches.push_back({op, op + count, isAligned});
      op += count;
    };
    for (int32_t size : sizes)
      if (size != 0)
        add(std::abs(size), size > 0);
    while (op < step.numOps())
      add(1, true);
    step.findParts(first);
  }

  void addValue(uint32_t number) {
    StepValue &value = old.values[number - firstValue];
    valueOf[number] = step.values.size();
    if (uint32_t s = value.storage; s != StepProgram::kNone) {
      if (s >= firstStorage && old.storages[s - firstStorage].value == number) {
        storageOf[s] = step.storages.size();
        step.storages.push_back(old.storages[s - firstStorage]);
        step.storages.back().value = valueOf[number];
      }
      value.storage = storageOf[s];
    }
    step.values.push_back(std::move(value));
  }

  StepProgram &step;
  /// Ops, values and storages of the backward; values keep their old numbers.
  StepProgram old;
  uint32_t first, firstValue = 0, firstStorage = 0;
  std::vector<uint32_t> valueOf, storageOf; ///< new numbers by old ones
};

} // namespace

bool StepProgram::reorderBackward(ArrayRef<uint32_t> order,
                                  ArrayRef<int32_t> launchSizes) {
  for (Operation *op : ArrayRef(ops).drop_front(forwardEnd + 1))
    if (op->getNumRegions() || isa<joint::WriteOp>(op))
      return false;
  Reorder(*this).run(order, launchSizes);
  return true;
}
