// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's type promotion.
//
// Operands fall in three groups: tensors with dimensions, 0-d tensors, and
// numbers. In each group types are promoted pairwise; a number counts as i1,
// i64, f32 (the default dtype, whatever its precision) or complex<f32>. Then
// the group's types are combined from numbers up: the higher group's type
// stands, unless the lower group is of a higher category (bool < int < float <
// complex). So `bf16[8] * f32[]` is bf16, `i64[8] * 0.5` is f32, and
// `i1[8] + 1` is i64. Rules as in c10's promote_types and ATen's result_type,
// written anew from their tables; compared with torch in the tests.
//
// Pairs of floats whose formats do not contain each other (f16 and bf16, the
// f8 kinds) give the next wider type.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

static Type promoteIntegers(IntegerType a, IntegerType b) {
  if (a == b)
    return a;
  if (a.getWidth() == 1)
    return b;
  if (b.getWidth() == 1)
    return a;
  unsigned width = std::max(a.getWidth(), b.getWidth());
  if (a.isUnsigned() == b.isUnsigned())
    return a.getWidth() == width ? a : b;
  // A signed type of at least twice the unsigned one's width holds both.
  unsigned unsignedWidth = a.isUnsigned() ? a.getWidth() : b.getWidth();
  unsigned needed = std::min(64u, 2 * unsignedWidth);
  return IntegerType::get(a.getContext(), std::max(width, needed));
}

static Type promoteFloats(FloatType a, FloatType b) {
  if (a == b)
    return a;
  if (a.getWidth() != b.getWidth())
    return a.getWidth() > b.getWidth() ? a : b;
  if (a.getWidth() < 16)
    return BFloat16Type::get(a.getContext());
  return Float32Type::get(a.getContext());
}

Type cutback::aten::promotePair(Type a, Type b) {
  if (a == b)
    return a;
  if (isComplex(a) || isComplex(b)) {
    Type realA = realType(a), realB = realType(b);
    if (!isComplex(a) || !isComplex(b)) {
      // A real bf16 needs complex<f32>: there is no complex<bf16>.
      Type real = isComplex(a) ? realB : realA;
      Type complex = isComplex(a) ? realA : realB;
      return isIntegral(real) ? ComplexType::get(complex)
                              : complexType(promotePair(real, complex));
    }
    return complexType(promotePair(realA, realB));
  }
  auto intA = dyn_cast<IntegerType>(a), intB = dyn_cast<IntegerType>(b);
  if (intA && intB)
    return promoteIntegers(intA, intB);
  if (intA)
    return b;
  if (intB)
    return a;
  auto floatA = dyn_cast<FloatType>(a), floatB = dyn_cast<FloatType>(b);
  return floatA && floatB ? promoteFloats(floatA, floatB) : a;
}

static Type combineGroups(Type higher, Type lower) {
  if (!higher || !lower)
    return higher ? higher : lower;
  if (isComplex(higher))
    return higher;
  if (isa<FloatType>(higher))
    return isComplex(lower) ? complexType(higher) : higher;
  if (isBool(higher) || isFloatOrComplex(lower))
    return promotePair(higher, lower);
  return higher;
}

Type cutback::aten::promoteTypes(ArrayRef<TensorShape> operands) {
  Type withDims, zeroDim, number;
  for (const TensorShape &operand : operands) {
    Type element = operand.element;
    if (!element)
      continue;
    if (operand.isNumber && isa<FloatType>(element))
      element = Float32Type::get(element.getContext());
    Type &group = operand.isNumber       ? number
                  : operand.dims.empty() ? zeroDim
                                         : withDims;
    group = group ? promotePair(group, element) : element;
  }
  return combineGroups(withDims, combineGroups(zeroDim, number));
}
