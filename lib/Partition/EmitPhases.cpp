// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes three phases (FunctionEmitter), and proves them: the input phase and
// the weight phase, copied into one function after each other, must be a
// backward that the certificate of halves accepts. The copy links the two as
// their lists say, so lists that do not fit show there. The certificate knows
// the order of effects, and that nothing reads an argument that was written in
// between. Linear.

#include "cutback/Partition/Phases.h"

#include "FunctionEmitter.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static std::vector<HandedValue> listHanded(FunctionEmitter &emitter,
                                           const GraphView &view,
                                           ArrayRef<uint32_t> values) {
  std::vector<HandedValue> list;
  for (uint32_t value : values)
    list.push_back({emitter.nameOf(value).str(),
                    view.isArg(value) ? static_cast<int>(value) : -1});
  return list;
}

PhaseFunctions cutback::emitPhases(const GraphView &view, const Phases &phases,
                                   const PhaseKinds &kinds) {
  FunctionEmitter emitter(view, view.graph);
  ArrayRef<uint32_t> toInput = phases.toInput;
  ArrayRef<uint32_t> toWeight = phases.toWeight;
  ArrayRef<int32_t> gradientOf = OutputOp(view.output).getGradientOf();
  PhaseFunctions made;
  made.numForwardResults = view.forwardResults().size();
  made.backwardArgs.assign(phases.backwardArgs.begin(),
                           phases.backwardArgs.end());
  made.toInput = listHanded(emitter, view, toInput);
  made.toWeight = listHanded(emitter, view, toWeight);

  SmallVector<uint32_t> forwardResults(view.forwardResults());
  forwardResults.append(toInput.begin(), toInput.end());
  made.forward = emitter.emit(
      {"_forward", phases.forwardArgs, 0, phases.forwardOps, forwardResults});

  SmallVector<uint32_t> inputArgs(toInput), inputResults, weightResults;
  llvm::append_range(inputArgs, phases.backwardArgs);
  for (uint32_t i : kinds.inputGradients) {
    inputResults.push_back(view.gradients()[i]);
    made.inputGradientOf.push_back(gradientOf[i]);
  }
  llvm::append_range(inputResults, toWeight);
  made.input =
      emitter.emit({"_input", inputArgs, toInput.size(), phases.inputOps,
                    inputResults, phases.againInInput});

  for (uint32_t i : kinds.weightGradients) {
    weightResults.push_back(view.gradients()[i]);
    made.weightGradientOf.push_back(gradientOf[i]);
  }
  made.weight =
      emitter.emit({"_weight", toWeight, toWeight.size(), phases.weightOps,
                    weightResults, phases.againInWeight});
  return made;
}

void cutback::erasePhases(PhaseFunctions &phases) {
  phases.forward->erase();
  phases.input->erase();
  phases.weight->erase();
  phases = PhaseFunctions();
}

//===----------------------------------------------------------------------===//
// The proof
//===----------------------------------------------------------------------===//

/// Copies the body of `function` after `block`, with its arguments mapped to
/// `given`; returns what it returns.
static SmallVector<Value> copyBody(func::FuncOp function, ValueRange given,
                                   OpBuilder &builder) {
  IRMapping mapping;
  Block &body = function.getBody().front();
  mapping.map(body.getArguments(), given);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> returned;
  for (Value value : body.getTerminator()->getOperands())
    returned.push_back(mapping.lookup(value));
  return returned;
}

/// What is handed has the type of the argument that takes it.
static LogicalResult checkHanded(func::FuncOp from, unsigned firstResult,
                                 func::FuncOp to,
                                 ArrayRef<HandedValue> values) {
  if (from.getNumResults() != firstResult + values.size() ||
      to.getNumArguments() < values.size())
    return emitError(to.getLoc(), "takes ")
           << to.getNumArguments() << " values, of which " << values.size()
           << " are handed over; '" << from.getName() << "' returns "
           << from.getNumResults() << ", the first " << firstResult
           << " of its own";
  for (auto [i, value] : llvm::enumerate(values)) {
    Type given = from.getResultTypes()[firstResult + i];
    if (Type taken = to.getArgumentTypes()[i]; taken != given)
      return emitError(to.getLoc(), "takes '")
             << value.name << "' as " << taken << ", '" << from.getName()
             << "' returns " << given;
  }
  return success();
}

/// A view of an argument that the input phase writes after it shows the new
/// contents in the weight phase.
static LogicalResult checkStorages(func::FuncOp input, unsigned firstResult,
                                   ArrayRef<HandedValue> values) {
  auto storageOf = [](Value value) {
    while (Operation *op = value.getDefiningOp()) {
      auto model = dyn_cast<RematerializableOpInterface>(op);
      unsigned result = cast<OpResult>(value).getResultNumber();
      int64_t operand = model ? model.getAliasedOperand(result) : -1;
      if (operand < 0 || isa<WriteOp>(op))
        return value;
      value = op->getOperand(operand);
    }
    return value;
  };
  Operation *terminator = input.getBody().front().getTerminator();
  for (auto [i, handed] : llvm::enumerate(values)) {
    Value value = terminator->getOperand(firstResult + i);
    Value storage = storageOf(value);
    if (storage == value || !isa<BlockArgument>(storage))
      continue;
    for (Operation *user : storage.getUsers()) {
      auto write = dyn_cast<WriteOp>(user);
      if (!write || write.getDestination() != storage)
        continue;
      auto diag = write.emitOpError("changes what '")
                  << handed.name
                  << "' shows, which the weight gradients are given";
      diag.attachNote(value.getLoc()) << "copy the value before the write";
      return diag;
    }
  }
  return success();
}

LogicalResult cutback::verifyPhases(GraphOp graph,
                                    const PhaseFunctions &phases) {
  func::FuncOp forward = phases.forward, input = phases.input,
               weight = phases.weight;
  unsigned numInput = phases.inputGradientOf.size();
  if (failed(checkHanded(forward, phases.numForwardResults, input,
                         phases.toInput)) ||
      failed(checkHanded(input, numInput, weight, phases.toWeight)) ||
      failed(checkStorages(input, numInput, phases.toWeight)))
    return failure();
  OpBuilder builder(graph.getContext());
  SmallVector<Type> results(input.getResultTypes().take_front(numInput));
  llvm::append_range(results, weight.getResultTypes());
  // Not in the module: it is there for the proof alone.
  OwningOpRef<func::FuncOp> backward = func::FuncOp::create(
      input.getLoc(), (graph.getSymName() + "_backward").str(),
      builder.getFunctionType(input.getArgumentTypes(), results));
  Block *block = backward->addEntryBlock();
  for (unsigned i = 0; i < input.getNumArguments(); ++i)
    backward->setArgAttrs(i, input.getArgAttrDict(i));
  builder.setInsertionPointToEnd(block);
  SmallVector<Value> ofInput = copyBody(input, block->getArguments(), builder);
  SmallVector<Value> returned(ArrayRef(ofInput).take_front(numInput));
  llvm::append_range(
      returned,
      copyBody(weight, ArrayRef(ofInput).drop_front(numInput), builder));
  func::ReturnOp::create(builder, input.getLoc(), returned);

  HalvesSignature signature;
  signature.numForwardResults = phases.numForwardResults;
  for (unsigned i = 0; i < phases.toInput.size(); ++i)
    signature.saved.push_back({phases.numForwardResults + i, i});
  signature.gradientOf = phases.inputGradientOf;
  llvm::append_range(signature.gradientOf, phases.weightGradientOf);
  return verifyHalves(graph, forward, *backward, signature);
}
