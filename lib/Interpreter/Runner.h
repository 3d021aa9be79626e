// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a run, shared by the files that run ops and launches.
#ifndef CUTBACK_LIB_INTERPRETER_RUNNER_H
#define CUTBACK_LIB_INTERPRETER_RUNNER_H

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Joint/Hook.h"
#include "cutback/Dialect/Joint/Nested.h"
#include "cutback/Dialect/Joint/Random.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Interpreter.h"

#include "llvm/ADT/DenseMap.h"

namespace cutback::interpreter {

/// A size or a flag as a number; kDynamic of what is none.
int64_t integerNow(const RuntimeValue &value);

/// Runs the ops of a function, or of a nested graph, with what is live of it.
class Runner {
public:
  Runner(mlir::Operation *function, const InterpreterOptions &options)
      : context(function->getContext()), options(options),
        memory(options.memory ? *options.memory : standard),
        copies(findForcedCopies(function)) {}

  /// Of a nested graph: it writes no argument.
  Runner(const InterpreterOptions &options, mlir::MLIRContext *context)
      : context(context), options(options),
        memory(options.memory ? *options.memory : standard) {}

  mlir::LogicalResult bind(mlir::Block &block,
                           llvm::ArrayRef<RuntimeValue> arguments);
  mlir::LogicalResult runBlock(mlir::Block &block);
  /// What the terminator of a block that has run gives back.
  std::vector<RuntimeValue> take(mlir::Operation *terminator);

private:
  using Values = llvm::SmallVector<RuntimeValue, 4>;
  using ValueMap = llvm::DenseMap<mlir::Value, RuntimeValue>;

  mlir::LogicalResult runOp(mlir::Operation *op, Values &results);
  mlir::LogicalResult runCall(aten::CallOp op, Values &results);
  mlir::FailureOr<bool> runMachineCode(aten::CallOp op, Values &results);
  static mlir::LogicalResult checkWritable(joint::WriteOp op, const Tensor &to);
  mlir::LogicalResult runWrite(joint::WriteOp op, Values &results);
  mlir::LogicalResult runAssert(joint::AssertOp op);
  mlir::LogicalResult runHook(joint::HookOp op, Values &results);
  mlir::LogicalResult runOpaque(joint::OpaqueOp op, Values &results);
  mlir::LogicalResult runCheckpoint(joint::CheckpointOp op, Values &results);
  mlir::LogicalResult runNestedOp(joint::NestedOp op, Values &results);
  mlir::LogicalResult runRandom(joint::RandomOp op, Values &results);
  mlir::LogicalResult runPoisson(joint::PoissonOp op, Values &results);
  mlir::LogicalResult runBinomial(joint::BinomialOp op, Values &results);
  mlir::LogicalResult runLaunch(kernel::LaunchOp launch, Values &results);
  mlir::LogicalResult runKernel(kernel::LaunchOp launch);
  mlir::LogicalResult runElsewhere(kernel::LaunchOp launch);
  mlir::LogicalResult seeResults(kernel::LaunchOp launch);
  static mlir::LogicalResult checkBounds(kernel::LaunchOp launch,
                                         const Values &results);
  bool evaluateSize(mlir::Operation *op, Values &results);
  mlir::LogicalResult runOps(kernel::LaunchOp launch, Values &results,
                             llvm::SmallVectorImpl<double> &scales);
  mlir::LogicalResult runOpsInside(kernel::LaunchOp launch,
                                   OpObserver *observer);
  ValueMap keepOperands(kernel::LaunchOp launch);
  mlir::LogicalResult showOps(kernel::LaunchOp launch,
                              llvm::ArrayRef<RuntimeValue> made,
                              const ValueMap &read);
  InterpreterOptions withoutArena() const;
  double scaleOf(mlir::Value value);
  mlir::LogicalResult compareKernel(kernel::LaunchOp launch,
                                    const Values &expected,
                                    llvm::ArrayRef<double> scales);
  mlir::LogicalResult
  resultSizes(mlir::Operation *op,
              llvm::SmallVectorImpl<llvm::SmallVector<int64_t>> &sizes);
  bool makeView(mlir::Operation *op, unsigned result,
                llvm::ArrayRef<int64_t> sizes, RuntimeValue &value);
  Tensor copyOf(mlir::Value result, const Tensor &tensor);
  void finish(mlir::Operation *op, const Values &results);

  Values operandsOf(mlir::Operation *op) {
    Values operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(values.lookup(operand));
    return operands;
  }

  mlir::MLIRContext *context;
  const InterpreterOptions &options;
  Memory standard;
  Memory &memory;
  ValueMap values;
  /// What the next op draws with, if a mark has set it: seed and stream.
  std::optional<std::pair<uint64_t, uint64_t>> replayed;
  llvm::DenseMap<mlir::Value, unsigned> usesLeft;
  llvm::SetVector<mlir::Value> copies;
};

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_RUNNER_H
