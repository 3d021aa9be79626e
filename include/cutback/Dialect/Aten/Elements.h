// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element formulas of ATen calls, one function an op or a few of them,
// named in the ODS files (see joint::LowerableOpInterface).
#ifndef CUTBACK_DIALECT_ATEN_ELEMENTS_H
#define CUTBACK_DIALECT_ATEN_ELEMENTS_H

#include "cutback/Dialect/Joint/ElementBuilder.h"

#include "mlir/IR/Operation.h"

namespace cutback::aten::elements {

using joint::ElementBuilder;
using Results = llvm::SmallVectorImpl<mlir::Value>;

/// Fails, without an error, where the call has no formula.
using Function = llvm::LogicalResult(mlir::Operation *op,
                                     ElementBuilder &elements,
                                     Results &results);

/// A call without a formula.
Function none;

//===-- Arithmetic --------------------------------------------------------===//
Function add, subtract, subtractFrom, multiply, multiplyAdd, addProduct,
    addQuotient, interpolate;
Function divide, divideMode, divideFloor, remainder, fmod;
Function power, atan2, hypot, copysign, xlogy, logAddExp, logAddExp2, heaviside;
Function maximum, minimum, fmax, fmin, clamp, clampLow, clampHigh;

//===-- Comparisons, truth values, bits, choices --------------------------===//
Function equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, isClose;
Function logicalAnd, logicalOr, logicalXor, logicalNot;
Function isNan, isInf, isFinite, isPosInf, isNegInf, isReal, signBit;
Function bitAnd, bitOr, bitXor, bitNot, shiftLeft, shiftRight;
Function where, maskedFill;

//===-- Functions of one tensor -------------------------------------------===//
Function exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, reciprocal;
Function sin, cos, tan, asin, acos, atan;
Function sinh, cosh, tanh, asinh, acosh, atanh;
Function erf, erfc, normalBelow, entropy, sinc, logit, logitBackward, angle,
    degrees, radians;
Function negate, absolute, sign, square, ceil, floor, round, roundDecimals,
    trunc, fraction, nanToNum;

//===-- Activations and their gradients -----------------------------------===//
Function relu, relu6, hardtanh, leakyRelu, threshold, hardswish, hardsigmoid,
    hardshrink, softshrink, prelu;
Function hardtanhBackward, leakyReluBackward, thresholdBackward,
    hardswishBackward, hardsigmoidBackward, hardshrinkBackward,
    softshrinkBackward, preluBackward;
Function sigmoid, silu, mish, gelu, logSigmoid, logSigmoidForward, elu, selu,
    celu, softplus;
Function sigmoidBackward, tanhBackward, siluBackward, mishBackward,
    geluBackward, logSigmoidBackward, eluBackward, softplusBackward;
Function dropoutBackward, rreluBackward;

//===-- Reductions --------------------------------------------------------===//
Function sum, product, mean, nanSum, nanMean, countNonzero;
Function greatest, least, leastAndGreatest, placeOfGreatest, placeOfLeast,
    greatestWithPlace, leastWithPlace;
Function any, all;
Function variance, deviation, varianceWithMean, deviationWithMean;
Function vectorNorm, norm;

//===-- Copies and new tensors --------------------------------------------===//
Function copy, copyFrom, fill, lowerTriangle, upperTriangle;
Function zeros, ones, full, scalarTensor, arange, iota, linspace, eye;

//===-- Elements from other places ----------------------------------------===//
Function constantPad, reflectionPad, replicationPad, pad;
Function sliceScatter, selectScatter, diagonalScatter, sliceBackward,
    selectBackward, diagonalBackward;
Function flip, roll, repeat, tile, repeatEach, asStridedCopy, concatenate;
Function indexTensors, maskedIndex, indexSelect, take, embedding, oneHot;
Function scatterElement, scatterNumber;

} // namespace cutback::aten::elements

#endif // CUTBACK_DIALECT_ATEN_ELEMENTS_H
