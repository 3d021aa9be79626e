// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk in the order of the graph: a value is as coarse as its own type or
// as the coarsest of what its op reads, whichever is more. An op that only
// compares or counts is taken like any other: a mask that turned over for a
// rounding changes what is behind it. Linear; nested regions count for their
// op's operands.

#include "cutback/Interpreter/Rounding.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// The distance from 1 to the next number; 0 of types of 32 bits and more.
static double stepOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  auto real = dyn_cast<FloatType>(element);
  if (!real || real.getWidth() >= 32)
    return 0;
  unsigned digits = llvm::APFloat::semanticsPrecision(real.getFloatSemantics());
  return std::ldexp(1.0, 1 - static_cast<int>(digits));
}

llvm::StringMap<double> interpreter::getRounding(joint::GraphOp graph,
                                                 const StepNames &names) {
  llvm::DenseMap<Value, double> steps;
  for (BlockArgument argument : graph.getBlock().getArguments())
    steps[argument] = stepOf(argument.getType());
  llvm::StringMap<double> rounding;
  auto note = [&](StringRef name, double step) {
    if (step > 0)
      rounding[name] = std::max(rounding.lookup(name), step);
  };
  for (Operation &op : graph.getBlock()) {
    double read = 0;
    for (Value operand : op.getOperands())
      read = std::max(read, steps.lookup(operand));
    for (Value result : op.getResults())
      steps[result] = std::max(read, stepOf(result.getType()));
    if (auto write = dyn_cast<joint::WriteOp>(op))
      if (auto argument = dyn_cast<BlockArgument>(write.getDestination()))
        for (const auto &[name, number] : names.written)
          if (number == argument.getArgNumber())
            note(name, read);
  }
  joint::OutputOp output = graph.getOutput();
  for (auto [name, value] : llvm::zip(names.results, output->getOperands()))
    note(name, steps.lookup(value));
  return rounding;
}
