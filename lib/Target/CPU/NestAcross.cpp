// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests whose innermost axis is reduced while memory has rows side by side: an
// axis of channels, as a rule, of which each is a plane. Row by row, each
// element would be a line of a cache of its own.
//
//   1. Vectors have the same element of neighboring rows; loops over a row are
//      around them.
//   2. An element of a row is combined with its accumulator of Reductions.h,
//   and
//      these are folded in the order of a row that lies by itself: the bits are
//      the same.

#include "NestLoops.h"

#include "Reductions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

namespace {

class AcrossLoops : NestLoops {
public:
  using NestLoops::NestLoops;

  /// Whether rows lie side by side in more memories than their elements do, or
  /// nearly: a line of elements takes longer to read as vectors across.
  bool isBetter() {
    if (frame.loops != LoopsFor::Processor || kept.empty() ||
        passes.numReduced() > kMostElements || !passes.picks.empty() ||
        scopes.groups[kept.back()].extent < kRows ||
        !nest.getBody().getOps<kernel::ReduceIndexOp>().empty() ||
        !nest.getBody().getOps<kernel::DrawOp>().empty())
      return false;
    int64_t rows = 0, elements = 0;
    auto count = [&](auto op) {
      Access access = scopes.accessOf(op.getMap(), op.getIndices());
      int64_t across = access.ofGroup[kept.back()],
              along = access.ofGroup[reduced.back()];
      if (!access.data.empty() || !access.rest.empty() || !across || !along)
        return;
      rows += std::abs(across) == 1;
      elements += std::abs(along) == 1;
    };
    for (auto load : nest.getBody().getOps<kernel::LoadOp>())
      count(load);
    for (auto store : nest.getBody().getOps<kernel::StoreOp>())
      count(store);
    return rows > 0 && 2 * rows >= elements;
  }

  LogicalResult run() {
    begin();
    enterKept(kept.size() - 1, /*isParallel=*/false);
    firstRow = enterGroup(kept.back(), kRows, /*isParallel=*/false);
    numRows = widthOfTile(kept.back(), firstRow, kRows);
    for (unsigned pass = 0; pass < passes.numPasses && !scopes.hasFailed();
         ++pass)
      runPass(pass);
    if (!scopes.hasFailed() && !passes.rowStores.empty()) {
      enterRows();
      scopes.store(passes.rowStores);
      scopes.leaveLoop();
    }
    leave(kept.size());
    return end();
  }

private:
  static constexpr int64_t kRows = 16; ///< of single precision, a line
  static constexpr int64_t kMostElements = 1024;

  /// The innermost loop, in which results of former passes are known.
  void enterRows() {
    row = scopes.enterLoop(scopes.constant(0), numRows, scopes.constant(1),
                           /*isParallel=*/true);
    scopes.setGroup(kept.back(), plus(firstRow, row));
    for (auto [result, memory] : results)
      scopes.setValue(result,
                      memref::LoadOp::create(scopes.here(), loc, memory, row));
  }

  void runPass(unsigned pass) {
    int64_t count = passes.numReduced(), places = numAccumulators(count);
    int64_t used = numUsed(count);
    bool isFirst = count <= places; // of its accumulator
    std::vector<Sum> running;
    for (Operation *op : passes.sums[pass]) {
      running.push_back(start(cast<kernel::ReduceOp>(op), used * kRows));
      fill(running.back(), scopes.constant(0), isFirst ? count * kRows : 0,
           used * kRows);
    }
    SmallVector<std::pair<Value, Value>> held;
    for (Value value : passes.held[pass])
      held.push_back({value, scopes.allocate(value.getType(), count * kRows)});
    if (!running.empty() || !held.empty() || passes.isStorePass(pass))
      runElements(pass, running, held, places, isFirst);
    for (auto [value, buffer] : held)
      scopes.bufferOf[value] = buffer;
    for (Sum &sum : running)
      finish(sum, used);
  }

  void runElements(unsigned pass, ArrayRef<Sum> running,
                   ArrayRef<std::pair<Value, Value>> held, int64_t places,
                   bool isFirst) {
    enterOuterReduced();
    size_t inner = reduced.back();
    scopes.setGroup(inner, scopes.enterLoop(scopes.groups[inner].extent,
                                            /*isParallel=*/false));
    Value number = plus(frontOfInner(), scopes.groupNow(inner));
    Value place = isFirst ? number
                          : arith::RemUIOp::create(scopes.here(), loc, number,
                                                   scopes.constant(places))
                                .getResult();
    enterRows();
    scopes.setLane(plus(times(number, kRows), row));
    keepHeld(held);
    if (!running.empty())
      accumulate(running, plus(times(place, kRows), row), isFirst);
    if (passes.isStorePass(pass))
      scopes.store(passes.elementStores);
    scopes.leaveLoop();
    leave(reduced.size());
  }

  /// Keeps what a reduction is of each row.
  void finish(const Sum &sum, int64_t used) {
    auto reduce = cast<kernel::ReduceOp>(sum.op);
    Value all = foldRows(scopes, reduce.getCombine(), sum.memory, used, kRows);
    Value folded = scopes.allocate(sum.type, kRows);
    vector::StoreOp::create(scopes.here(), loc, all, folded,
                            scopes.constant(0));
    Value memory = scopes.allocate(reduce.getType(), kRows);
    enterRows();
    Value is = fromAccumulator(
        scopes, memref::LoadOp::create(scopes.here(), loc, folded, row),
        reduce.getType());
    memref::StoreOp::create(scopes.here(), loc, is, memory, row);
    scopes.leaveLoop();
    results.push_back({reduce.getResult(), memory});
  }

  Value firstRow, numRows; ///< of a tile
  Value row;               ///< of the tile, in a loop over them
  /// Results of rows, and where they are kept.
  SmallVector<std::pair<Value, Value>> results;
};

} // namespace

std::optional<LogicalResult>
cpu::lowerAcross(kernel::NestOp nest, OpBuilder &builder,
                 const KernelFrame &frame, std::vector<Operation *> &checked) {
  AcrossLoops loops(nest, builder, frame, checked);
  if (!loops.isBetter())
    return std::nullopt;
  return loops.run();
}
