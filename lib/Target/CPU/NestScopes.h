// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops that stand open while a nest is written, and the scalars that are
// known in each.
#ifndef CUTBACK_LIB_TARGET_CPU_NESTSCOPES_H
#define CUTBACK_LIB_TARGET_CPU_NESTSCOPES_H

#include "ScalarOps.h"

#include "cutback/Target/CPU/LowerKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace cutback::cpu {

/// Of a line of memory.
constexpr int64_t kLineBytes = 64;

/// Axes of a nest that are one loop: every access steps through them as one.
struct AxisGroup {
  llvm::SmallVector<unsigned, 4> axes; ///< from the outermost on
  int64_t extent = 1;
  bool isReduced = false;
};
std::vector<AxisGroup> groupAxes(kernel::NestOp nest);

/// Where a store or load goes: a sum over groups, data and other terms.
struct Access {
  llvm::SmallVector<int64_t, 6> ofGroup; ///< factors
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 2> data;
  /// Quotients and remainders, of axes alone.
  llvm::SmallVector<std::pair<mlir::AffineExpr, int64_t>, 2> rest;
  mlir::ValueRange indices;

  /// Whether an axis stands in a quotient or remainder.
  bool isInRest(mlir::BlockArgument axis) const;
};

/// A scalar and the number of the loop in which it stands.
struct Placed {
  mlir::Value value;
  size_t depth = 0;
};

/// Scalars are written when they are asked for, in the outermost loop that
/// knows what they depend on.
class NestScopes {
public:
  /// `checked` collects the ops that may fail at run time.
  NestScopes(kernel::NestOp nest, mlir::OpBuilder &builder,
             const KernelFrame &frame, std::vector<mlir::Operation *> &checked);

  //===--- Loops ----------------------------------------------------------===//

  /// Iterations of a parallel loop share no memory.
  mlir::Value enterLoop(mlir::Value first, mlir::Value end, mlir::Value step,
                        bool isParallel);
  mlir::Value enterLoop(int64_t count, bool isParallel) {
    return enterLoop(constant(0), constant(count), constant(1), isParallel);
  }
  /// A loop of a few iterations that LLVM writes one after the other.
  mlir::Value enterUnrolled(int64_t count);
  void leaveLoop();
  size_t depth() const { return scopes.size() - 1; }
  /// Where ops of the innermost loop go.
  mlir::OpBuilder &here();

  void setGroup(size_t group, mlir::Value index) {
    scopes.back().indexOf[group] = index;
  }
  /// The index of a loop that is open.
  mlir::Value groupNow(size_t group) { return groupIndex(group).value; }
  void setValue(mlir::Value of, mlir::Value is) {
    scopes.back().values[of] = is;
  }
  /// Which element of the memories in `bufferOf` is that of this iteration: the
  /// column of a tile, or the element of a row.
  void setLane(mlir::Value lane) { scopes.back().lane = lane; }
  mlir::Value laneNow() const { return scopes.back().lane; }
  /// Scalars that are kept for later loops: of columns, or of a row's elements.
  llvm::DenseMap<mlir::Value, mlir::Value> bufferOf;

  /// Of stores whose elements wait (StreamedStores.h): where. The innermost
  /// loop writes element `place` of it.
  llvm::DenseMap<mlir::Operation *, mlir::Value> streamOf;
  void setStreamPlace(mlir::Value place) { scopes.back().streamPlace = place; }

  /// The loop that is entered next has up to `count` iterations of `group`,
  /// from `first` on: their random words are drawn in front of it.
  void setStrip(size_t group, mlir::Value first, int64_t count) {
    if (frame.loops != LoopsFor::Processor)
      return; // a thread of a device has one iteration
    scopes.back().strip = Strip{group, first, count};
    scopes.back().drawn.clear();
  }
  /// Whether neighbors of a random stream are drawn along `group`, in strips.
  bool drawsAlong(size_t group);

  //===--- Scalars --------------------------------------------------------===//

  /// A scalar of the body; nothing after an error.
  Placed get(mlir::Value value);
  /// Stores are written in the innermost loop that is open now, or in one in
  /// it.
  void storeInside() { leastStoreDepth = depth(); }
  /// Writes `stores`, all elements of them before the first.
  void store(llvm::ArrayRef<kernel::StoreOp> stores);
  bool hasFailed() const { return failed; }
  Access accessOf(mlir::AffineMap map, mlir::ValueRange indices);
  /// Where an access, whose place does not depend on data, goes in the
  /// innermost loop.
  mlir::Value indexOf(mlir::AffineMap map, mlir::ValueRange indices);
  mlir::Value memoryOf(mlir::Value argument) const;
  /// An index.
  mlir::Value constant(int64_t value);
  /// Memory of so many elements, for one call of the kernel.
  mlir::Value allocate(mlir::Type type, int64_t count);

  const std::vector<AxisGroup> groups;
  llvm::DenseMap<mlir::Value, bool> isReduced;
  mlir::Location loc;
  ScalarOps scalars;

private:
  struct Strip {
    size_t group;
    mlir::Value first;
    int64_t count;
  };
  /// 32 bits each; the first of them is that of element `first`.
  struct DrawnWords {
    mlir::Value words, first;
  };
  struct Scope {
    mlir::Operation *anchor = nullptr; ///< ops go in front of it
    llvm::DenseMap<mlir::Value, mlir::Value> values;
    llvm::DenseMap<size_t, mlir::Value> indexOf; ///< by group
    mlir::Value lane, streamPlace;
    std::optional<Strip> strip;
    llvm::DenseMap<mlir::Operation *, DrawnWords> drawn; ///< of the strip
    bool isElsewhere = false; ///< an iteration outside of the loops around it
  };

  mlir::OpBuilder &at(size_t depth);
  Placed groupIndex(size_t group);
  Placed emit(mlir::Operation *op);
  Placed emitLoad(kernel::LoadOp load);
  Placed emitPick(kernel::PickOp pick);
  Placed emitChoose(kernel::ChooseOp choose);
  /// Nothing for a number that is drawn alone.
  Placed emitDraw(kernel::DrawOp draw);
  DrawnWords drawWords(kernel::DrawOp draw, size_t depth);
  bool isDrawnAlong(kernel::DrawOp draw, size_t group);
  std::optional<int64_t> stepAlong(mlir::Value index, size_t group);
  Placed fromBuffer(mlir::Value value, mlir::Value buffer);
  Placed keep(mlir::Value value, mlir::Value is, size_t depth);
  size_t depthOf(const Access &access);
  mlir::Value groupTerms(const Access &access, size_t from, size_t to);
  mlir::Value addOthers(const Access &access, mlir::Value sum);
  mlir::Value restOf(mlir::AffineExpr expr, mlir::ValueRange indices);
  mlir::Value addTerm(mlir::Value sum, mlir::Value term, int64_t factor);
  /// Data made safe, in loop `depth`: the index as far as it is known there.
  mlir::Value checkedBase(kernel::LoadOp load, const Access &access,
                          size_t depth);
  mlir::Value readElement(kernel::LoadOp load, mlir::Value index);
  bool testsAll() const { return frame.tests == AccessTests::OfAll; }
  /// Whether `index` is inside of a memory; records that it is not.
  mlir::Value isInside(mlir::Operation *access, mlir::Value memory,
                       mlir::Value index);
  void recordError(mlir::Operation *op, mlir::Value isGood, mlir::Value number);

  /// How many vectors of a loop without dependences are computed at once;
  /// nothing: as LLVM chooses.
  mlir::LLVM::LoopInterleaveAttr interleaving(mlir::Value first,
                                              mlir::Value end);

  kernel::NestOp nest;
  const bool hasFunctions; ///< math, or random numbers
  mlir::OpBuilder &builder;
  const KernelFrame &frame;
  std::vector<mlir::Operation *> &checked;
  llvm::SmallVector<size_t, 6> groupOf; ///< by axis
  std::vector<Scope> scopes;
  size_t leastStoreDepth = 0;
  bool failed = false;
};

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_NESTSCOPES_H
