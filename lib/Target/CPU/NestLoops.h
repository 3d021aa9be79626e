// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a nest while they are built: what rows, columns and single
// elements share.
#ifndef CUTBACK_LIB_TARGET_CPU_NESTLOOPS_H
#define CUTBACK_LIB_TARGET_CPU_NESTLOOPS_H

#include "NestParts.h"
#include "NestPasses.h"
#include "NestScopes.h"
#include "StreamedStores.h"

namespace cutback::cpu {

class NestLoops {
public:
  /// Elements of an innermost loop that are fetched, and drawn, in front of it.
  static constexpr int64_t kStrip = 256;

  NestLoops(kernel::NestOp nest, mlir::OpBuilder &builder,
            const KernelFrame &frame, std::vector<mlir::Operation *> &checked)
      : nest(nest), widths(widthsOf(frame.loops)),
        passes(nest, widths.heldBytes), scopes(nest, builder, frame, checked),
        loc(nest.getLoc()), frame(frame), parts(nest, scopes, widths),
        streams(scopes, frame), kept(parts.kept), reduced(parts.reduced),
        divided(parts.divided) {}

protected:
  //===--- Parts ----------------------------------------------------------===//

  /// Around all loops: without a divided one, all of them are one part's.
  void begin();
  llvm::LogicalResult end();
  /// A loop over this call's part of `extent` iterations.
  mlir::Value enterDivided(int64_t extent, int64_t step, int64_t piece,
                           bool isParallel);
  /// A loop over a kept group: of its beginnings, `step` apart.
  mlir::Value enterGroup(size_t group, int64_t step, bool isParallel);
  /// Iterations of a kept group from `first` on, a multiple of `side`: so many,
  /// or what is left.
  mlir::Value widthOfTile(size_t group, mlir::Value first, int64_t side);
  void enterKept(size_t count, bool isParallel);
  void leave(size_t count);

  //===--- Reductions -----------------------------------------------------===//

  /// Of a reduction or an index of one: what it keeps while a pass runs.
  struct Sum {
    mlir::Operation *op;
    mlir::Value element;
    mlir::Type type;    ///< that it is combined in
    mlir::Value memory; ///< accumulators
    mlir::Value places; ///< of reduce_index: where the best of each lane stands
  };

  Sum start(kernel::ReduceOp reduce, int64_t count);
  /// Accumulators from `first` to `end` behind `front`: to what changes
  /// nothing.
  void fill(const Sum &sum, mlir::Value front, int64_t first, int64_t end);
  /// `isFirst`: no other element comes to accumulator `place`, which is not
  /// filled.
  void accumulate(llvm::ArrayRef<Sum> running, mlir::Value place, bool isFirst);
  /// Keeps values of this element that later passes read, each in a buffer.
  void keepHeld(
      llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> valuesAndBuffers);
  /// Loops over all reduced groups but the innermost one.
  void enterOuterReduced();
  /// Number of the row's element at the front of the innermost reduced loop.
  mlir::Value frontOfInner();

  // Places of the greatest (NestBest.cpp).

  Sum startBest(kernel::ReduceIndexOp reduce, int64_t lanes);
  /// One element after the other, in cell `lane` of both memories.
  void improve(const Sum &sum, mlir::Value number, mlir::Value lane);
  mlir::Value readPlace(const Sum &sum, mlir::Value lane);

  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value minus(mlir::Value a, mlir::Value b);
  mlir::Value times(mlir::Value a, int64_t factor);

  kernel::NestOp nest;
  const LoopWidths widths;
  const NestPasses passes;
  NestScopes scopes;
  mlir::Location loc;
  const KernelFrame &frame;
  NestParts parts;
  StreamedStores streams;
  llvm::SmallVector<size_t> kept;
  const llvm::SmallVector<size_t> &reduced;
  std::optional<size_t> divided;
};

// By the innermost reduced axis: there is none, it is the innermost one, or a
// kept one is inside of it.

llvm::LogicalResult lowerElements(kernel::NestOp nest, mlir::OpBuilder &builder,
                                  const KernelFrame &frame,
                                  std::vector<mlir::Operation *> &checked);
llvm::LogicalResult lowerRows(kernel::NestOp nest, mlir::OpBuilder &builder,
                              const KernelFrame &frame,
                              std::vector<mlir::Operation *> &checked);
/// Rows that lie side by side; nothing where they do not, or are too long.
std::optional<llvm::LogicalResult>
lowerAcross(kernel::NestOp nest, mlir::OpBuilder &builder,
            const KernelFrame &frame, std::vector<mlir::Operation *> &checked);
llvm::LogicalResult lowerColumns(kernel::NestOp nest, mlir::OpBuilder &builder,
                                 const KernelFrame &frame,
                                 std::vector<mlir::Operation *> &checked);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_NESTLOOPS_H
