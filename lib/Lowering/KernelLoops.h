// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a launch: those of each op, and the nests that run them.
#ifndef CUTBACK_LIB_LOWERING_KERNELLOOPS_H
#define CUTBACK_LIB_LOWERING_KERNELLOOPS_H

#include "IndexMath.h"
#include "cutback/Dialect/Joint/IterationSpace.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback {

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
int64_t product(llvm::ArrayRef<int64_t> sizes);

/// An op of the launch that has loops.
struct LoopOp {
  mlir::Operation *op = nullptr;
  joint::IterationSpace space;
  /// A view that strides do not allow, or a write into an argument: the
  /// elements of operand `copied` in their order.
  bool isCopy = false;
  unsigned copied = 0;
  /// A choice along an axis whose elements the launch computes.
  bool isRowPick = false;
  size_t nest = 0; ///< that computes it

  /// Elements that are combined into one.
  int64_t numReduced() const;
  bool reduces() const {
    return numReduced() > 1 && (!space.isPick || isRowPick);
  }
  bool isConcat() const { return space.concatAxis >= 0; }
  /// Its own loops; of a choice from memory, those of the result.
  llvm::SmallVector<int64_t> extents() const;
  bool isReducedAxis(size_t axis) const {
    return reduces() && space.isReduced[axis] != 0;
  }
};

/// The ops of a launch, by nests. What an op reads of another one puts both
/// into one nest, and so do loops of one shape.
struct LoopOps {
  /// False, and `problem` says why, if an op has no loops or no formula.
  bool find(llvm::ArrayRef<mlir::Operation *> ops, std::string &problem);

  struct Nest {
    /// The op whose loops it has: of those that reduce, or else of the last
    /// ones, one with the most.
    size_t main = 0;
    std::vector<size_t> last; ///< ops that no other one of the nest reads
  };

  std::vector<LoopOp> ops;
  std::vector<Nest> nests;
  llvm::DenseMap<mlir::Value, size_t> numberOf; ///< by result

  bool contains(mlir::Value root) const { return numberOf.contains(root); }

private:
  bool findSpace(LoopOp &one, std::string &problem) const;
  void findNests();
};

/// From iterations of a nest to elements of tensors, and back.
class NestIndices {
public:
  using Indices = IndexMath::Indices;
  enum class Axes { All, Kept, Reduced };

  /// Nothing of size 1 is a loop.
  NestIndices(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> extents,
              llvm::ArrayRef<bool> reduced)
      : context(context), extents(extents), reduced(reduced),
        indexMath(context, extents) {}

  const IndexMath &math() const { return indexMath; }

  /// Whole iterations of these axes, as one number, and how many there are.
  mlir::AffineExpr iteration(Axes axes) const;
  int64_t iterations(Axes axes) const;

  /// From indices of the op's axes to those of a result's dimensions.
  Indices ofResult(const LoopOp &one, llvm::ArrayRef<mlir::AffineExpr> axes,
                   mlir::Value value) const;
  /// The other direction. Reduced axes go over the reduced axes of the nest,
  /// in their order; nothing if these are not as many elements.
  std::optional<Indices> axesOf(const LoopOp &one,
                                llvm::ArrayRef<mlir::AffineExpr> indices) const;
  /// Indices of the dimensions of operand `i`.
  Indices ofOperand(const LoopOp &one, llvm::ArrayRef<mlir::AffineExpr> axes,
                    unsigned i) const;

private:
  bool isOne(size_t axis, Axes axes) const {
    return axes == Axes::All || reduced[axis] == (axes == Axes::Reduced);
  }

  mlir::MLIRContext *context;
  llvm::ArrayRef<int64_t> extents;
  llvm::ArrayRef<bool> reduced;
  IndexMath indexMath;
};

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_KERNELLOOPS_H
