// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs calls of graphs: one branch of a cond, the body of a loop while its
// condition holds, a scan once for each slice. What the rounds of a loop give
// is stacked where the call gives stacks. Each run of a graph begins anew.
//
// A graph that draws random numbers is refused: the numbers are PyTorch's to
// draw, and each round of a loop would draw the same ones here.

#include "NestedCalls.h"

#include "cutback/Interpreter/Kernel.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;
using joint::GraphInput;
using joint::NestedKind;

using Values = std::vector<RuntimeValue>;

namespace {

class NestedCall {
public:
  NestedCall(joint::NestedOp op, ArrayRef<RuntimeValue> operands,
             GraphRunner run)
      : op(op), kind(*joint::nestedKindOf(op.getCallee())), operands(operands),
        run(run) {}

  FailureOr<Values> runCond();
  FailureOr<Values> runLoop(bool stacks);
  FailureOr<Values> runScan();

private:
  /// What graph `graph` is called with; slices are number `step`.
  Values inputsOf(unsigned graph, int64_t step = 0);
  FailureOr<bool> holds(ArrayRef<RuntimeValue> inputs);
  LogicalResult fail(const Twine &what) { return op.emitError() << what; }

  joint::NestedOp op;
  NestedKind kind;
  ArrayRef<RuntimeValue> operands;
  GraphRunner run;
};

/// Entry `step` of the first dimension.
Tensor sliceOf(const Tensor &tensor, int64_t step) {
  Tensor slice = tensor;
  slice.offset += step * tensor.strides.front();
  slice.sizes.erase(slice.sizes.begin());
  slice.strides.erase(slice.strides.begin());
  return slice;
}

/// The values of all rounds, one behind the other. `rounds` is not empty, and
/// its tensors have one type.
Tensor stackOf(ArrayRef<Tensor> rounds) {
  SmallVector<int64_t> sizes = {static_cast<int64_t>(rounds.size())};
  llvm::append_range(sizes, rounds.front().sizes);
  Tensor stack = Tensor::zeros(rounds.front().type, sizes);
  for (auto [i, round] : llvm::enumerate(rounds)) {
    Tensor place = sliceOf(stack, i);
    copyElements(round, place);
  }
  return stack;
}

std::optional<bool> truthOf(const RuntimeValue &value) {
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag;
  if (const auto *integer = std::get_if<int64_t>(&value))
    return *integer != 0;
  const auto *tensor = std::get_if<Tensor>(&value);
  if (!tensor || tensor->numel() != 1)
    return std::nullopt;
  return tensor->doubles().front() != 0;
}

} // namespace

Values NestedCall::inputsOf(unsigned graph, int64_t step) {
  Values inputs;
  auto given = joint::graphInputs(kind, op.getArgs(), graph);
  for (const GraphInput &input : *given)
    if (input.source == GraphInput::Slice)
      inputs.push_back(
          sliceOf(std::get<Tensor>(operands[input.operand]), step));
    else if (input.source == GraphInput::Operand)
      inputs.push_back(operands[input.operand]);
  return inputs;
}

FailureOr<Values> NestedCall::runCond() {
  // The condition is the first operand, if it is one: torch.cond takes True.
  std::optional<bool> isTrue;
  if (auto literal = dyn_cast<BoolAttr>(op.getArgs()[0]))
    isTrue = literal.getValue();
  else if (!operands.empty())
    isTrue = truthOf(operands.front());
  if (!isTrue)
    return fail("the condition of '" + op.getCallee() + "' is not one value");
  unsigned graph = *isTrue ? 0 : 1;
  return run(op.getGraphs()[graph], inputsOf(graph));
}

FailureOr<bool> NestedCall::holds(ArrayRef<RuntimeValue> inputs) {
  FailureOr<Values> given = run(op.getGraphs()[0], inputs);
  if (failed(given))
    return failure();
  std::optional<bool> isTrue =
      given->size() == 1 ? truthOf(given->front()) : std::nullopt;
  if (!isTrue)
    return fail("the condition of '" + op.getCallee() + "' is not one value");
  return *isTrue;
}

FailureOr<Values> NestedCall::runLoop(bool stacks) {
  Values inputs = inputsOf(1);
  size_t numCarried = op.getNumResults();
  std::vector<std::vector<Tensor>> rounds(numCarried);
  while (true) {
    FailureOr<bool> goesOn = holds(inputs);
    if (failed(goesOn))
      return failure();
    if (!*goesOn)
      break;
    FailureOr<Values> given = run(op.getGraphs()[1], inputs);
    if (failed(given))
      return failure();
    for (auto [i, value] : llvm::enumerate(*given)) {
      inputs[i] = value;
      const auto *tensor = std::get_if<Tensor>(&value);
      if (stacks && tensor)
        rounds[i].push_back(*tensor);
    }
  }
  inputs.resize(numCarried);
  for (size_t i = 0; stacks && i < numCarried; ++i) {
    if (rounds[i].empty())
      return fail("'" + op.getCallee() + "' gives stacks of no rounds");
    inputs[i] = stackOf(rounds[i]);
  }
  return inputs;
}

FailureOr<Values> NestedCall::runScan() {
  size_t numCarried = cast<ArrayAttr>(op.getArgs()[1]).size();
  int64_t numSteps = -1;
  auto graphInputs = joint::graphInputs(kind, op.getArgs(), 0);
  for (const GraphInput &input : *graphInputs)
    if (input.source == GraphInput::Slice) {
      const auto *tensor = std::get_if<Tensor>(&operands[input.operand]);
      int64_t steps = tensor && !tensor->sizes.empty() ? tensor->sizes[0] : -1;
      if (steps <= 0 || (numSteps >= 0 && steps != numSteps))
        return fail("'" + op.getCallee() +
                    "' goes over tensors of different or no lengths");
      numSteps = steps;
    }
  Values carried = inputsOf(0);
  carried.resize(numCarried);
  std::vector<std::vector<Tensor>> rounds(op.getNumResults() - numCarried);
  for (int64_t step = 0; step < numSteps; ++step) {
    Values inputs = inputsOf(0, step);
    llvm::copy(carried, inputs.begin());
    FailureOr<Values> given = run(op.getGraphs()[0], inputs);
    if (failed(given))
      return failure();
    for (size_t i = 0; i < rounds.size(); ++i)
      if (const auto *tensor = std::get_if<Tensor>(&(*given)[numCarried + i]))
        rounds[i].push_back(*tensor);
    std::copy_n(given->begin(), numCarried, carried.begin());
  }
  for (const std::vector<Tensor> &round : rounds)
    carried.push_back(round.empty() ? RuntimeValue() : stackOf(round));
  return carried;
}

/// The random op in a graph, or null.
static Operation *findRandom(joint::NestedOp op) {
  Operation *found = nullptr;
  op->walk([&](joint::RematerializableOpInterface inner) {
    if (!inner.isRandom())
      return WalkResult::advance();
    found = inner;
    return WalkResult::interrupt();
  });
  return found;
}

FailureOr<Values> interpreter::runNested(joint::NestedOp op,
                                         ArrayRef<RuntimeValue> operands,
                                         GraphRunner run) {
  auto refuse = [&](const Twine &why, const Twine &next) {
    InFlightDiagnostic diag = op.emitError() << "'" << op.getCallee()
                                             << "' cannot be executed: " << why;
    diag.attachNote() << next;
    return diag;
  };
  if (findRandom(op))
    return refuse("a graph of it draws random numbers",
                  "draw them in front of the call, and hand them over");
  NestedCall call(op, operands, run);
  switch (*joint::nestedKindOf(op.getCallee())) {
  case NestedKind::Cond:
    return call.runCond();
  case NestedKind::WhileLoop:
    return call.runLoop(/*stacks=*/false);
  case NestedKind::WhileLoopStack:
    return call.runLoop(/*stacks=*/true);
  case NestedKind::Scan:
    return call.runScan();
  case NestedKind::FlexAttention:
  case NestedKind::FlexAttentionBackward:
    break;
  }
  return refuse("attention with functions of the scores has no kernel here",
                "use scaled_dot_product_attention with a mask to run it");
}
