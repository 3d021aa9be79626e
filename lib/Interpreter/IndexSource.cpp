// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which inputs of a step an index was computed from.
//
// An index that is out of range is nearly always one in the user's own batch: a
// token that the vocabulary lacks, a class that the model has not. The error
// stands at the op that reads it, whose operand may be a few ops behind the
// batch, so the walk goes back through everything of integers to the arguments.
// Floats end it: through them an index would come from every parameter.
//
// Halves have the graph's arguments by name, and stand beside it.

#include "IndexSource.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Interpreter/Step.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// What files call `argument`; empty for one that no file holds.
static std::string fileName(BlockArgument argument) {
  Operation *function = argument.getOwner()->getParentOp();
  StringRef name = joint::getValueName(argument);
  if (!function->getBlock())
    return "";
  for (auto graph : function->getParentRegion()->getOps<joint::GraphOp>()) {
    if (isa<joint::GraphOp>(function) && graph != function)
      continue;
    StepNames names = nameStep(graph);
    for (unsigned i = 0; i < names.arguments.size(); ++i)
      if (graph.getArgName(i) == name)
        return names.arguments[i];
  }
  return "";
}

std::vector<std::string> interpreter::findIndexSources(Operation *op) {
  llvm::SetVector<Value> seen;
  auto add = [&](Operation *reader) {
    for (Value operand : reader->getOperands())
      if (getElementTypeOrSelf(operand.getType()).isIntOrIndex())
        seen.insert(operand);
  };
  add(op);
  std::vector<std::string> names;
  for (size_t next = 0; next < seen.size(); ++next) {
    Value value = seen[next];
    if (Operation *definer = value.getDefiningOp())
      add(definer);
    else if (std::string name = fileName(cast<BlockArgument>(value));
             !name.empty() && !llvm::is_contained(names, name))
      names.push_back(name);
  }
  return names;
}
