// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a VJP rule on small tensors in double:
//
//   checkVjp([](VjpCheck &c) {
//     Value x = c.input({2, 3}), y = c.input({3, 4});
//     c.output(c.b.call("aten.mm.default", {x, y}));
//   });
//
// differentiates the program, runs it, and compares with finite differences of
// the forward. Then once more with `?` for all sizes, and for each input alone,
// whose gradient must be the same as it was among the others.
#ifndef CUTBACK_TEST_UNIT_AUTOGRAD_ATEN_VJPCHECK_H
#define CUTBACK_TEST_UNIT_AUTOGRAD_ATEN_VJPCHECK_H

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace cutback::test {

using aten::Arg;
using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::Value;

class VjpCheck;
using VjpProgram = std::function<void(VjpCheck &)>;

struct VjpCheckOptions {
  /// Also with unknown sizes.
  bool dynamic = true;
  /// Compare with finite differences (not where the forward has a kink).
  bool differences = true;
  double tolerance = 1e-6;
};

/// With all that a differentiated program needs; one for all tests.
mlir::MLIRContext &vjpContext();

/// A program of a few ops that is built, differentiated and run.
class VjpCheck {
public:
  VjpCheck(mlir::MLIRContext &context, bool isDynamic);

  aten::CallBuilder b;

  /// An argument that takes a gradient: f64, with values from -2 to 2, no two
  /// of them close to each other or to zero.
  mlir::Value input(llvm::ArrayRef<int64_t> sizes);
  mlir::Value input(llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<double> values);
  /// The same, from 0.1 to 0.9.
  mlir::Value positive(llvm::ArrayRef<int64_t> sizes);
  /// An argument without gradient.
  mlir::Value constant(llvm::ArrayRef<int64_t> sizes,
                       llvm::ArrayRef<double> values);
  mlir::Value indices(llvm::ArrayRef<int64_t> sizes,
                      llvm::ArrayRef<int64_t> values);
  mlir::Value mask(llvm::ArrayRef<int64_t> sizes,
                   llvm::ArrayRef<int64_t> values);
  /// A constant of zeros whose sizes are declared `?`.
  mlir::Value unknownSizes(llvm::ArrayRef<int64_t> sizes);
  /// A complex value with the same gradient convention as PyTorch's, made from
  /// two arguments.
  mlir::Value complexInput(llvm::ArrayRef<int64_t> sizes);

  /// A result that is differentiated. Complex ones give two, their parts.
  void output(mlir::Value value);

  /// Completes and verifies the forward graph.
  joint::GraphOp finish();
  /// The gradients of `inputs` (all, or the one numbered `only`) with random
  /// tangents, after `finish`. Empty after a failure.
  std::vector<interpreter::Tensor> gradients(int only = -1);
  /// Tangents for all results; default is random ones.
  void setTangents(std::vector<std::vector<double>> values) {
    tangentValues = std::move(values);
  }
  /// Sum of tangent times result for the values that the arguments have now.
  double objective();
  /// The graph after `gradients`, as text.
  std::string backwardText();

  std::vector<unsigned> inputNumbers;            ///< arguments
  std::vector<interpreter::RuntimeValue> values; ///< one an argument

private:
  mlir::Value argument(interpreter::Tensor tensor, llvm::StringRef role,
                       bool takesGradient);
  std::vector<interpreter::Tensor> tangents();

  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  joint::GraphOp graph;
  mlir::OwningOpRef<joint::GraphOp> differentiated;
  bool isDynamic;
  std::vector<mlir::Value> outputs;
  std::vector<std::vector<int64_t>> outputSizes;
  std::vector<std::vector<double>> tangentValues;
  std::mt19937 random{7};

  friend std::vector<std::vector<double>> gradientsOf(const VjpProgram &);
};

void checkVjp(const VjpProgram &program, const VjpCheckOptions &options = {});

/// The gradients of the inputs for tangents of ones, one list an input.
std::vector<std::vector<double>> gradientsOf(const VjpProgram &program);

/// The graph with its backward, for checks of what it reads.
std::string backwardOf(const VjpProgram &program);

/// The first error of differentiating, with its notes.
std::string errorOf(const VjpProgram &program);

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_AUTOGRAD_ATEN_VJPCHECK_H
