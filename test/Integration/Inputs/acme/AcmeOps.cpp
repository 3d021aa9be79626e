// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ops of dialect `acme` answer to the partitioner.

#include "AcmeOps.h"

#include "cutback/Dialect/Joint/IterationSpace.h"

using namespace mlir;
using namespace acme;
using cutback::joint::FusionKind;
using cutback::joint::IterationSpace;

#include "AcmeDialect.cpp.inc"
#define GET_OP_CLASSES
#include "AcmeOps.cpp.inc"

void AcmeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "AcmeOps.cpp.inc"
      >();
}

// A product: it may run again, but that is dear.
bool DenseOp::isRecomputable() { return true; }
int64_t DenseOp::getAliasedOperand(unsigned) { return -1; }
bool DenseOp::isRandom() { return false; }
bool DenseOp::isComputeIntensive() { return true; }
bool DenseOp::hasOrderedEffects() { return false; }
bool DenseOp::usesMatrixUnits() { return true; }

double DenseOp::getFlops(ArrayRef<ArrayRef<int64_t>> shapes) {
  // Operands, then results: [m, k] x [k, n] -> [m, n].
  double flops = 2;
  for (int64_t dim : {shapes[0][0], shapes[0][1], shapes[1][1]})
    flops *= ShapedType::isDynamic(dim) ? 1 : dim;
  return flops;
}

bool DenseOp::evaluateSizes(ArrayRef<Type> operands, ArrayRef<int64_t>,
                            SmallVectorImpl<Type> &types,
                            SmallVectorImpl<int64_t> &ints) {
  auto left = cast<RankedTensorType>(operands[0]);
  auto right = cast<RankedTensorType>(operands[1]);
  types.push_back(left.clone({left.getDimSize(0), right.getDimSize(1)}));
  ints.push_back(ShapedType::kDynamic);
  return true;
}

FusionKind SwishOp::getFusionKind() { return FusionKind::Pointwise; }
bool SwishOp::getIterationSpace(ArrayRef<ArrayRef<int64_t>> shapes,
                                IterationSpace &space) {
  return cutback::joint::pointwiseSpace(shapes, (*this)->getNumOperands(),
                                        space);
}
double SwishOp::getFlops(ArrayRef<ArrayRef<int64_t>> shapes) {
  double flops = 13;
  for (int64_t dim : shapes[0])
    flops *= ShapedType::isDynamic(dim) ? 1 : dim;
  return flops;
}
bool SwishOp::usesMatrixUnits() { return false; }
FusionKind SwishGradOp::getFusionKind() { return FusionKind::Pointwise; }
bool SwishGradOp::getIterationSpace(ArrayRef<ArrayRef<int64_t>> shapes,
                                    IterationSpace &space) {
  return cutback::joint::pointwiseSpace(shapes, (*this)->getNumOperands(),
                                        space);
}

// Random without a seed: what was drawn must be kept.
void DiceOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
}
bool DiceOp::isRecomputable() { return false; }
int64_t DiceOp::getAliasedOperand(unsigned) { return -1; }
bool DiceOp::isRandom() { return true; }
bool DiceOp::isComputeIntensive() { return false; }
bool DiceOp::hasOrderedEffects() { return false; }
