// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of views and in-place ops, run with and without functionalization.
#ifndef CUTBACK_TEST_UNIT_DECOMPOSE_VIEWPROGRAM_H
#define CUTBACK_TEST_UNIT_DECOMPOSE_VIEWPROGRAM_H

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace cutback::test {

/// A graph being written, of buffers and what is computed from them.
class ViewProgram {
public:
  explicit ViewProgram(mlir::MLIRContext &context);

  /// A buffer of numbers: floats between 1 and 3 times `scale`, integers from 1
  /// to 11.
  mlir::Value argument(llvm::ArrayRef<int64_t> sizes,
                       interpreter::DType type = interpreter::DType::F64,
                       double scale = 1);
  /// Runs the program as it is (StorageReference) and as a program of values,
  /// and expects the same outputs and buffers.
  void check(llvm::ArrayRef<mlir::Value> outputs);

private:
  mlir::OpBuilder builder;

public:
  aten::CallBuilder b;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  joint::GraphOp graph;
  std::vector<interpreter::Tensor> arguments, after;
};

/// A way to show a tensor.
struct NamedView {
  const char *name;
  mlir::Value (*make)(aten::CallBuilder &b, mlir::Value value);
};
/// Views of [4, 6] tensors, and of any rank from 1 on where they can be.
llvm::ArrayRef<NamedView> allViews();

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_DECOMPOSE_VIEWPROGRAM_H
