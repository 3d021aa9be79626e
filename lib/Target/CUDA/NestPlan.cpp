// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread does, and when.
//
//   1. Scalars that depend on no reduced axis are of the row: every thread of a
//      row has them. The others are of an element.
//   2. A reduction divides the body: what reads its result runs in a later loop
//      over the row. A loop computes what its reductions need, the last one
//      what is stored; all stores to elements stand there, so that all of an
//      element is read before it is written.
//   3. What an earlier loop computed is held in registers if they are few. If
//      not, what it read of the row is, and the rest is computed again from
//      that; and if these are too many too, the row is read again.
//   4. Before it comes to that a row gets more threads, which have two
//      neighbours or one in place of four: as many registers less. So do
//      elements of which many values are known at once.

#include "NestPlan.h"

#include "ScalarText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// Registers of a thread for elements: half of a device's threads have 64 each.
/// What is held of a row leaves some for addresses and functions; of elements
/// not all is known at once. Threads of a block of 1,024 cannot have more, and
/// hold less.
static constexpr int64_t kMostOfRow = 44, kMostOfElements = 64,
                         kMostHeldByMany = 24;

static int64_t registersOf(Type type) {
  std::string text = typeText(type);
  return text == "double" || text == "long long" ? 2 : 1;
}

void NestSchedule::setBlock(int64_t size) {
  blockThreads = size;
  int64_t units = size / threads; // that a block has
  if (mapping == Elements)
    units *= width;
  blocks = mapping == BlockRow ? kept : (kept + units - 1) / units;
}

/// With so many neighbours a thread; four where a block has no more threads.
static NestSchedule scheduleNest(kernel::NestOp nest, int64_t width) {
  NestSchedule schedule;
  schedule.width = width;
  bool isInner = false;
  for (auto [extent, reduces] :
       llvm::zip_equal(nest.getExtents(), nest.getReduced())) {
    (reduces ? schedule.reduced : schedule.kept) *= extent;
    isInner = reduces;
  }
  bool combines = llvm::any_of(nest.getReduced(), [](bool r) { return r; });
  int64_t block = 256;
  if (combines && !isInner) {
    schedule.mapping = NestSchedule::Columns;
    schedule.threads = 8;
    schedule.width = 4;
  } else if (combines && schedule.reduced <= (width == 4 ? 1024 : 32 * width)) {
    schedule.mapping = NestSchedule::WarpRow;
    schedule.threads = 32;
    block = 128;
  } else if (combines) {
    schedule.mapping = NestSchedule::BlockRow;
    if (schedule.fours() * 4 / width > 1024)
      schedule.width = 4;
    block = schedule.threads = schedule.fours() * 4 / schedule.width;
  }
  schedule.setBlock(block);
  return schedule;
}

NestSchedule cuda::scheduleNest(kernel::NestOp nest) {
  NestSchedule schedule = ::scheduleNest(nest, 4);
  bool isFound = false;
  for (int64_t width : {4, 2, 1}) {
    NestSchedule narrow = ::scheduleNest(nest, width);
    std::string problem;
    NestPlan plan(nest, narrow);
    // A warp with fewer neighbours a lane costs nothing, more threads do.
    if (narrow.width != width ||
        (isFound && narrow.mapping != NestSchedule::WarpRow) ||
        !plan.run(problem))
      break;
    if (!plan.fits() && (width > 1 || plan.numLoops > 1))
      continue;
    if (!plan.isComputedAgain())
      return narrow;
    if (!isFound)
      schedule = narrow;
    isFound = true;
  }
  return schedule;
}

bool cuda::isRoot(Operation *op) {
  return isa<kernel::ReduceOp, kernel::ReduceIndexOp, kernel::PickOp>(op);
}

bool cuda::isConstant(Value value) {
  return value.getDefiningOp<arith::ConstantOp>() != nullptr;
}

NestPlan::NestPlan(kernel::NestOp nest, const NestSchedule &schedule)
    : nest(nest), schedule(schedule), isReduced(nest.findReduced()) {}

bool NestPlan::run(std::string &problem) {
  if (!findOrder(problem))
    return false;
  for (Hold each : {Hold::All, Hold::Reads}) {
    hold = each;
    findLoops(hold);
    if (schedule.mapping != NestSchedule::Columns && fits())
      return true;
  }
  hold = Hold::Nothing;
  findLoops(hold);
  return true;
}

bool NestPlan::fits() const {
  if (schedule.mapping == NestSchedule::Columns)
    return true;
  // Read again, a long row fits; one that more threads could hold does not.
  if (hold == Hold::Nothing && numLoops > 1)
    return false;
  int64_t inHold = heldRegisters(), most = 0;
  if (schedule.blockThreads == 1024 && inHold > kMostHeldByMany)
    return false;
  for (int loop = 0; loop < numLoops; ++loop)
    most = std::max(most, loopRegisters(loop));
  return inHold + most <= (schedule.mapping == NestSchedule::Elements
                               ? kMostOfElements
                               : kMostOfRow);
}

bool NestPlan::isElement(Value value) const {
  return schedule.mapping == NestSchedule::Elements ? !isConstant(value)
                                                    : isReduced.lookup(value);
}
bool NestPlan::isElementStore(kernel::StoreOp store) const {
  return schedule.mapping == NestSchedule::Elements ||
         llvm::any_of(store.getIndices(),
                      [&](Value index) { return isReduced.lookup(index); });
}

bool NestPlan::mayReplaceRowScalar() const {
  auto loads = nest.getBlock().getOps<kernel::LoadOp>();
  auto stores = nest.getBlock().getOps<kernel::StoreOp>();
  return llvm::any_of(stores, [&](kernel::StoreOp store) {
    return llvm::any_of(loads, [&](kernel::LoadOp load) {
      return !isElementStore(store) && load.getMap() == store.getMap() &&
             llvm::equal(load.getIndices(), store.getIndices());
    });
  });
}

SmallVector<unsigned> NestPlan::repeatedAxes(kernel::StoreOp store) const {
  SmallVector<unsigned> axes;
  for (auto [axis, extent] : llvm::enumerate(nest.getExtents()))
    if (extent > 1)
      axes.push_back(axis);
  for (auto [i, index] : llvm::enumerate(store.getIndices()))
    if (auto axis = dyn_cast<BlockArgument>(index);
        axis && store.getMap().isFunctionOfDim(i))
      llvm::erase(axes, axis.getArgNumber());
  return axes;
}

/// Whether a value is made of axes and constants alone.
bool NestPlan::isIndexMath(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return true;
  return !isa<kernel::LoadOp, kernel::DrawOp>(op) && !isRoot(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isIndexMath(operand); });
}

bool NestPlan::findOrder(std::string &problem) {
  auto fail = [&](Operation *op, const Twine &why) {
    problem = ("'" + op->getName().getStringRef() + "' " + why).str();
    return false;
  };
  for (Operation &op : nest.getBlock()) {
    for (Type type : op.getResultTypes())
      if (typeText(type).empty())
        return fail(&op, "has a type that kernels do not have");
    int loop = 0;
    for (Value operand : op.getOperands())
      loop = std::max(loop, loopOf.lookup(operand));
    if (isRoot(&op)) {
      rootLoop[&op] = loop;
      numLoops = std::max(numLoops, loop + 1);
      ++loop;
    } else if (auto store = dyn_cast<kernel::StoreOp>(op);
               store && isElementStore(store)) {
      numLoops = std::max(numLoops, loop + 1);
    }
    for (Value value : op.getResults())
      loopOf[value] = loop;
  }
  return true;
}

/// By loop the ops of elements that run in it, and what is held for later.
void NestPlan::findLoops(Hold hold) {
  needed.assign(numLoops, {});
  held.clear();
  for (int loop = 0; loop < numLoops; ++loop)
    for (Operation &op : nest.getBlock()) {
      auto store = dyn_cast<kernel::StoreOp>(op);
      bool isHere =
          isRoot(&op) ? rootLoop.lookup(&op) == loop
                      : store && isElementStore(store) && loop == numLoops - 1;
      if (isHere)
        for (Value operand : op.getOperands())
          need(operand, loop, hold);
    }
}
/// A read of less memory than the nest has elements is one of several rows, or
/// of neighbours: it is near when it is read again.
bool NestPlan::isHeld(Operation *op, Hold hold) const {
  auto load = dyn_cast<kernel::LoadOp>(op);
  if (hold != Hold::Reads)
    return hold == Hold::All;
  return load &&
         cast<MemRefType>(load.getMemory().getType()).getNumElements() >=
             schedule.kept * schedule.reduced;
}
void NestPlan::need(Value value, int loop, Hold hold) {
  Operation *op = value.getDefiningOp();
  if (!op || !isElement(value) || needed[loop].contains(op))
    return;
  bool isEarlier = false;
  for (int earlier = 0; earlier < loop; ++earlier)
    isEarlier |= needed[earlier].contains(op);
  if (isEarlier && !isIndexMath(value) && isHeld(op, hold)) {
    held.insert(value);
    return;
  }
  needed[loop].insert(op);
  for (Value operand : op->getOperands())
    need(operand, loop, hold);
}
int64_t NestPlan::heldRegisters() const {
  int64_t count = 0;
  for (Operation &op : nest.getBlock())
    for (Value value : op.getResults())
      if (held.contains(value))
        count +=
            schedule.width * schedule.passes() * registersOf(value.getType());
  return count;
}

/// Of what a loop reads, combines and stores: compilers read all first.
int64_t NestPlan::loopRegisters(int loop) const {
  int64_t count = 0;
  for (Operation &op : nest.getBlock()) {
    auto load = dyn_cast<kernel::LoadOp>(op);
    auto store = dyn_cast<kernel::StoreOp>(op);
    if (load && needed[loop].contains(&op) && !held.contains(load.getElement()))
      count += registersOf(load.getElement().getType());
    if (store && isElementStore(store) && loop == numLoops - 1)
      count += registersOf(store.getElement().getType());
    if (isRoot(&op) && rootLoop.lookup(&op) == loop)
      count += isa<kernel::ReduceOp>(op)
                   ? registersOf(op.getOperand(0).getType())
                   : 4; // an element and its number
  }
  return count * schedule.width;
}
