// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three phases in the interpreter, one after the other, as one step.
#ifndef CUTBACK_TEST_UNIT_PLANNER_RUNPHASES_H
#define CUTBACK_TEST_UNIT_PLANNER_RUNPHASES_H

#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Partition/Phases.h"

#include <vector>

namespace cutback::test {

/// `arguments` are those of `graph`, the result is its results in their order.
inline mlir::FailureOr<std::vector<interpreter::RuntimeValue>>
runPhases(joint::GraphOp graph, const PhaseFunctions &phases,
          llvm::ArrayRef<interpreter::RuntimeValue> arguments,
          const interpreter::InterpreterOptions &options = {}) {
  using namespace interpreter;
  std::vector<RuntimeValue> given;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!llvm::is_contained(phases.backwardArgs, i))
      given.push_back(arguments[i]);
  auto forward = run(phases.forward, given, options);
  if (failed(forward))
    return mlir::failure();
  size_t numForward = phases.numForwardResults;
  std::vector<RuntimeValue> results(forward->begin(),
                                    forward->begin() + numForward);
  // Views of what a later phase writes keep their values.
  mlir::Operation *end = phases.forward->getRegion(0).front().getTerminator();
  for (size_t i = 0; i < numForward; ++i)
    if (auto *tensor = std::get_if<Tensor>(&results[i]);
        tensor && !mlir::isa<mlir::BlockArgument>(end->getOperand(i))) {
      Tensor copy = Tensor::zeros(tensor->type, tensor->sizes);
      copyElements(*tensor, copy);
      results[i] = copy;
    }
  std::vector<RuntimeValue> handed(forward->begin() + numForward,
                                   forward->end());
  for (unsigned arg : phases.backwardArgs)
    handed.push_back(arguments[arg]);
  auto input = run(phases.input, handed, options);
  if (failed(input))
    return mlir::failure();
  size_t numInput = phases.inputGradientOf.size();
  auto weight =
      run(phases.weight, llvm::ArrayRef(*input).drop_front(numInput), options);
  if (failed(weight))
    return mlir::failure();
  for (int32_t arg : graph.getOutput().getGradientOf()) {
    auto at = llvm::find(phases.inputGradientOf, arg);
    if (at != phases.inputGradientOf.end())
      results.push_back((*input)[at - phases.inputGradientOf.begin()]);
    else
      results.push_back((*weight)[llvm::find(phases.weightGradientOf, arg) -
                                  phases.weightGradientOf.begin()]);
  }
  return results;
}

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PLANNER_RUNPHASES_H
