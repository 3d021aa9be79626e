// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results against expected values.
#ifndef CUTBACK_INTERPRETER_COMPARE_H
#define CUTBACK_INTERPRETER_COMPARE_H

#include "cutback/Interpreter/TensorFile.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>

namespace cutback::interpreter {

/// A value is right if it differs by no more than `atol` + rtol x the largest
/// magnitude of the expected tensor; integers and truth values exactly, NaN
/// where NaN is expected.
struct Tolerance {
  double atol = 1e-7;
  double rtol = 1e-5;
  /// Of 16-bit and 8-bit floats, in what is expected or what came out, and of
  /// wider ones that are computed from them.
  double rtolHalf = 2e-2;
  /// By result, the step of the coarsest such type that it is computed from:
  /// `getRounding`.
  llvm::StringMap<double> rounding;
  /// The same results in float64, or null. Four times what the expected values
  /// differ from them is right too.
  const TensorFile *exact = nullptr;
  /// Relative tolerance by name, before the other two; may be empty.
  std::function<std::optional<double>(llvm::StringRef)> byName;
};

/// How far one tensor is from what is expected.
struct Difference {
  std::string name;
  double largest = 0;  ///< absolute difference
  double scale = 0;    ///< largest magnitude of the expected tensor
  double allowed = 0;  ///< largest difference allowed
  double rtol = 0;     ///< of magnitudes; 0 of integers
  std::string problem; ///< sizes, dtype, missing; empty if values count
  bool isRight() const { return problem.empty() && largest <= allowed; }
  /// Difference over tolerance; more than 1 is wrong.
  double badness() const;
};

/// `half` says that both are computed from 16-bit or 8-bit floats, whatever
/// their own types are.
Difference compareTensors(llvm::StringRef name, const Tensor &actual,
                          const Tensor &expected, const Tolerance &tolerance,
                          bool half = false);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_COMPARE_H
