// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops with such results are known by their inference functions, which give
// f32 or the input's type: either is right. torch 2.13 keeps statistics of
// layer, group and batch norm on the CPU in the input's type, and in f32 if the
// weight is; on CUDA those of layer and batch norm are f32. Running statistics
// that a functional batch norm returns go the same way.

#include "cutback/Dialect/Aten/KernelTypes.h"

#include "cutback/Dialect/Aten/Infer.h"

using namespace mlir;
using namespace cutback;

static bool hasStatistics(const aten::Schema &schema) {
  return llvm::is_contained(
      ArrayRef<aten::InferFn>{
          aten::infer::nativeLayerNorm, aten::infer::nativeGroupNorm,
          aten::infer::nativeBatchNorm, aten::infer::batchNormFunctional},
      schema.infer);
}

Type aten::resultAs(const Schema &schema, unsigned i, Type inferred,
                    Type declared) {
  for (const OtherResult &other : schema.otherReleases)
    if (other.result == i && other.type == declared)
      return declared;
  auto a = dyn_cast<TensorType>(inferred), b = dyn_cast<TensorType>(declared);
  if (i == 0 || !a || !b || !hasStatistics(schema))
    return inferred;
  Type x = a.getElementType(), y = b.getElementType();
  auto isHalf = [](Type type) { return type.isF16() || type.isBF16(); };
  bool isChoice = (isHalf(x) && y.isF32()) || (x.isF32() && isHalf(y));
  return isChoice ? a.clone(y) : inferred;
}
