// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One op at run time, for the functions that execute ops.
#ifndef CUTBACK_INTERPRETER_KERNEL_H
#define CUTBACK_INTERPRETER_KERNEL_H

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Interpreter/Interpreter.h"

namespace cutback::interpreter {

/// The call that a kernel executes: arguments by name or position with the
/// values that operands have now. Symbolic sizes are numbers here.
class KernelCall : private aten::Arguments {
public:
  KernelCall(aten::CallOp op, llvm::ArrayRef<RuntimeValue> operands,
             llvm::MutableArrayRef<RuntimeValue> results,
             const InterpreterOptions &options);

  mutable aten::CallOp op; ///< accessors of ops are not const
  const InterpreterOptions &options;
  /// Seed and stream that the op draws with in place of its own, if it is run
  /// with a saved state.
  std::optional<std::pair<uint64_t, uint64_t>> replayed;

  /// True for None, for an optional parameter that the schema lacks, and for an
  /// operand that is not defined.
  bool isNone(aten::ParamRef param) const;
  /// The tensor as it stands (strided). A number given where a tensor stands
  /// becomes a 0-d tensor of type f64, i64 or bool (see isNumber).
  Tensor tensor(aten::ParamRef param) const;
  /// The same, contiguous: what most kernels want.
  Tensor dense(aten::ParamRef param) const {
    return tensor(param).contiguous();
  }
  bool isNumber(aten::ParamRef param) const;
  std::optional<Tensor> optionalTensor(aten::ParamRef param) const; ///< dense
  std::vector<Tensor> tensors(aten::ParamRef param) const;          ///< dense
  std::vector<std::optional<Tensor>>
  optionalTensors(aten::ParamRef param) const; ///< dense
  int64_t integer(aten::ParamRef param, int64_t ifNone = 0) const;
  double number(aten::ParamRef param, double ifNone = 0) const;
  bool boolean(aten::ParamRef param, bool ifNone = false) const;
  /// An int stands for all of `count` entries.
  llvm::SmallVector<int64_t> integers(aten::ParamRef param,
                                      unsigned count = 0) const;
  llvm::SmallVector<double> numbers(aten::ParamRef param) const;
  llvm::SmallVector<bool> booleans(aten::ParamRef param) const;
  /// Empty for None.
  llvm::StringRef string(aten::ParamRef param) const;
  /// A dimension of a tensor of `rank` dimensions, counted from 0.
  int64_t dim(aten::ParamRef param, int64_t rank) const {
    return aten::wrapDim(integer(param), rank);
  }
  /// A scalar argument as it stands: int64_t, double, bool; nothing for None.
  RuntimeValue scalar(aten::ParamRef param) const;

  /// True if result `i` is declared and defined (its type is not `none`).
  bool wants(unsigned i) const;
  /// The element type that result `i` is declared with.
  DType resultType(unsigned i = 0) const;
  /// A new contiguous tensor for result `i`, zero, of its declared element
  /// type; it is result `i`. Sizes that the declared type does not allow are an
  /// error (the kernel goes on, the call has failed). Where a memory plan puts
  /// the result in place of an operand of a pointwise op, it holds that
  /// operand's elements.
  Tensor make(unsigned i, llvm::ArrayRef<int64_t> sizes) const;
  /// Result `i` is this value (a view of an operand, a number).
  void set(unsigned i, RuntimeValue value) const;

  /// Emits an error at the op, "aten.view: MESSAGE"; always fails.
  mlir::LogicalResult error(const llvm::Twine &message) const;
  /// An error was emitted.
  bool failed() const { return hasFailed || hasMisread(); }

private:
  RuntimeValue valueOf(const Item &item) const;
  bool isNone(const Item &item) const;

  mutable bool hasFailed = false;
  llvm::ArrayRef<RuntimeValue> operands;
  llvm::MutableArrayRef<RuntimeValue> results;
};

using KernelFn = mlir::LogicalResult (*)(const KernelCall &call);

/// The kernel of an op; null if there is none.
KernelFn getKernel(mlir::OperationName op);

/// True of a call that runs as it is: its op has a kernel, or its result is a
/// view wherever strides allow one.
bool hasKernel(mlir::Operation *call);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_KERNEL_H
