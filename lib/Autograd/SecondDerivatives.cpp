// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A joint graph is opened for a second differentiation:
//
//   1. names of results become values; a gradient is named by its argument
//   2. the seed of each scalar result is the number one, as in
//      torch.autograd.grad; a tangent has no value of its own, so it becomes an
//      input, in which the gradients are linear
//   3. penalties: loss + weight · sum(gradient²)
//   4. the results anew, without gradients
//
// The ops of the first backward are then ops as any others: nothing marks them
// but their locations.

#include "cutback/Autograd/SecondDerivatives.h"

#include "DifferentiateTargets.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Dialect/Joint/Loss.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

std::vector<std::string> SecondDerivativeOptions::firstGradients() const {
  std::vector<std::string> names;
  for (StringRef name : of)
    if (name.consume_front("grad."))
      names.push_back(name.str());
  for (const GradientPenalty &penalty : penalties)
    names.push_back(penalty.argument);
  return names;
}

namespace {

class Opener {
public:
  Opener(GraphOp graph, const SecondDerivativeOptions &options)
      : graph(graph), options(options), namer(graph),
        builder(graph.getOutput()), calls(builder, graph.getLoc(), &namer),
        seeds(graph.getNumArguments()) {}

  LogicalResult run(DifferentiateOptions &next);

private:
  Value findGradient(StringRef name);
  LogicalResult choose(StringRef name, std::vector<unsigned> &lossOutputs);
  LogicalResult addPenalty(const GradientPenalty &penalty);
  LogicalResult closeSeeds();
  LogicalResult finish();

  GraphOp graph;
  const SecondDerivativeOptions &options;
  aten::ValueNamer namer;
  OpBuilder builder;
  aten::CallBuilder calls;
  llvm::BitVector seeds;      ///< arguments that go
  SmallVector<Value> results; ///< the new forward results
};

} // namespace

/// The gradient of the argument called `name`; null, after an error, where
/// there is none.
Value Opener::findGradient(StringRef name) {
  OutputOp output = graph.getOutput();
  int argument = findArgument(graph, name);
  std::string known;
  for (auto [of, gradient] :
       llvm::zip_equal(output.getGradientOf(), output.getGradients())) {
    if (of == argument)
      return gradient;
    known += (known.empty() ? "'" : ", '") + graph.getArgName(of).str() + "'";
  }
  auto diagnostic = graph.emitError("'")
                    << graph.getSymName() << "' has no gradient of '" << name
                    << "' that could be differentiated";
  diagnostic.attachNote() << "it has gradients of "
                          << (known.empty() ? "nothing" : known);
  return {};
}

LogicalResult Opener::choose(StringRef name,
                             std::vector<unsigned> &lossOutputs) {
  if (StringRef argument = name; argument.consume_front("grad.")) {
    Value gradient = findGradient(argument);
    if (!gradient)
      return failure();
    lossOutputs.push_back(static_cast<unsigned>(results.size()));
    results.push_back(gradient);
    return success();
  }
  unsigned number = 0;
  unsigned count = graph.getOutput().getNumForwardResults();
  StringRef digits = name;
  bool isNumber =
      digits.consume_front("output.") && !digits.getAsInteger(10, number);
  if ((name == "loss" || isNumber) && number < count) {
    lossOutputs.push_back(number);
    return success();
  }
  auto diagnostic = graph.emitError("no result of '")
                    << graph.getSymName() << "' is called '" << name
                    << "', which is to be differentiated";
  diagnostic.attachNote() << "results are called loss (the first), output.N "
                             "and grad.NAME; there are "
                          << count << " besides gradients";
  return failure();
}

LogicalResult Opener::addPenalty(const GradientPenalty &penalty) {
  auto loss = results.empty()
                  ? RankedTensorType()
                  : dyn_cast<RankedTensorType>(results[0].getType());
  if (!loss || !isLossType(loss)) {
    auto diagnostic = graph.emitError("a penalty on the gradient of '")
                      << penalty.argument << "' has no loss to be added to";
    diagnostic.attachNote() << "the first result must be a floating-point "
                               "tensor of one element";
    return failure();
  }
  Value gradient = findGradient(penalty.argument);
  if (!gradient)
    return failure();
  Value square = calls.call(aten::op::mul_Tensor, {gradient, gradient});
  Value sum = calls.call(aten::op::sum, {square});
  if (sum && aten::elementOf(sum) != loss.getElementType())
    sum = calls.call(aten::op::_to_copy, {sum},
                     {{"dtype", loss.getElementType()}});
  Value weighted = calls.call(aten::op::mul_Scalar, {sum, penalty.weight});
  if (Value whole = calls.call(aten::op::add_Tensor, {results[0], weighted}))
    results[0] = whole;
  return calls.result();
}

/// Seeds become ones, in front of all that reads them.
LogicalResult Opener::closeSeeds() {
  OpBuilder first = OpBuilder::atBlockBegin(&graph.getBlock());
  aten::CallBuilder ones(first, graph.getLoc(), &namer);
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    BlockArgument value = graph.getBody().getArgument(arg);
    if (!isLossSeed(graph, arg))
      continue;
    Value one = ones.call(aten::op::full, {ones.sizes(value), 1.0},
                          {{"dtype", aten::elementOf(value)}});
    if (!one)
      return failure();
    value.replaceAllUsesWith(one);
    seeds.set(arg);
  }
  return success();
}

LogicalResult Opener::finish() {
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    if (graph.getRole(arg).getKind() == RoleKind::Tangent)
      graph.setArgAttr(arg, JointDialect::kRole,
                       RoleAttr::get(graph.getContext(), RoleKind::Input,
                                     nullptr, -1, false));
  OutputOp output = graph.getOutput();
  SmallVector<Type> types;
  for (Value result : results)
    types.push_back(result.getType());
  OutputOp::create(builder, output.getLoc(), results,
                   builder.getDenseI32ArrayAttr({}));
  output.erase();
  graph.removeResAttrsAttr();
  graph.setNumForwardResults(static_cast<int64_t>(types.size()));
  graph.setFunctionType(
      builder.getFunctionType(graph.getArgumentTypes(), types));
  return success(seeds.none() || succeeded(graph.eraseArguments(seeds)));
}

LogicalResult Opener::run(DifferentiateOptions &next) {
  // First: a gradient may be a seed itself.
  if (failed(closeSeeds()))
    return failure();
  llvm::append_range(results, graph.getOutput().getForwardResults());
  next.firstVector = static_cast<unsigned>(results.size());
  for (const std::string &name : options.of)
    if (failed(choose(name, next.lossOutputs)))
      return failure();
  for (const GradientPenalty &penalty : options.penalties)
    if (failed(addPenalty(penalty)))
      return failure();
  if (options.of.empty())
    next.lossOutputs.push_back(0);
  return finish();
}

LogicalResult cutback::openGradients(GraphOp graph,
                                     const SecondDerivativeOptions &options,
                                     DifferentiateOptions &next) {
  return Opener(graph, options).run(next);
}
