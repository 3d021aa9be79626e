// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Second derivatives of a program that brings its backward go through its
// forward again, by our rules. What PyTorch did not differentiate through then
// (detach(), no_grad, a gradient written by hand) such a program does not say:
// a detach() is recorded as an alias, the others not at all. So
//
//   1. an alias that a forward result depends on counts as a detach(); one that
//      only the backward reads is a saved result, which it is not
//   2. the forward is differentiated anew, with the seeds of its results
//   3. at run time each gradient that the program brings is compared with the
//      new one: where they are not the same, second derivatives would be wrong
//
// The tolerance is that of two orders of rounding, not of two programs.

#include "cutback/Autograd/SecondDerivatives.h"

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// Ops that a forward result depends on.
static llvm::SmallPtrSet<Operation *, 32> forwardOps(GraphOp graph) {
  llvm::SmallPtrSet<Operation *, 32> ops;
  SmallVector<Value> open(graph.getOutput().getForwardResults());
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp();
        op && ops.insert(op).second)
      llvm::append_range(open, op->getOperands());
  return ops;
}

LogicalResult cutback::detachAliases(GraphOp graph) {
  llvm::SmallPtrSet<Operation *, 32> forward = forwardOps(graph);
  for (Operation &op : llvm::make_early_inc_range(graph.getBlock())) {
    auto call = dyn_cast<aten::CallOp>(op);
    if (!call || StringRef(call.getInfo().torchName) != aten::op::alias ||
        !forward.contains(&op))
      continue;
    OpBuilder before(&op);
    aten::ValueNamer namer(graph);
    aten::CallBuilder calls(before, op.getLoc(), &namer);
    Value detached = calls.call(aten::op::detach, {op.getOperand(0)});
    if (!detached)
      return failure();
    op.getResult(0).replaceAllUsesWith(detached);
    op.erase();
  }
  return success();
}

namespace {

/// The gradients that a graph brings, and the seeds of its results.
struct Given {
  SmallVector<int32_t> of; ///< arguments
  SmallVector<Value> gradients;
  std::map<int64_t, Value> seeds; ///< by result
};

class Checker {
public:
  Checker(GraphOp graph, const Given &given)
      : graph(graph), given(given), namer(graph), builder(graph.getOutput()),
        calls(builder, graph.getLoc(), &namer) {}

  LogicalResult run();

private:
  Value largest(Value tensor);
  void check(int32_t argument, Value brought, Value again, Value overall);

  GraphOp graph;
  const Given &given;
  aten::ValueNamer namer;
  OpBuilder builder;
  aten::CallBuilder calls;
};

} // namespace

//===----------------------------------------------------------------------===//
// The checks
//===----------------------------------------------------------------------===//

/// Digits that two orders of rounding agree in, of the largest gradient.
static double toleranceOf(GraphOp graph) {
  double tolerance = 1e-3;
  for (Operation &op : graph.getBlock())
    for (Type type : op.getResultTypes())
      if (auto real = dyn_cast<FloatType>(getElementTypeOrSelf(type));
          real && real.getWidth() < 32)
        tolerance = 5e-2;
  return tolerance;
}

/// Largest magnitude, in f64; null for a tensor that may have no elements.
Value Checker::largest(Value tensor) {
  Value wide = calls.call(aten::op::_to_copy, {tensor},
                          {{"dtype", builder.getF64Type()}});
  Value magnitude = calls.call(aten::op::abs, {wide});
  return calls.call(aten::op::amax, {magnitude, ArrayRef<int64_t>()});
}

static bool mayBeEmpty(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return !type.hasStaticShape() || type.getNumElements() == 0;
}

/// Stops where they are further apart than the tolerance of the larger of them
/// and, for gradients that are noise, a thousandth of it of all.
void Checker::check(int32_t argument, Value brought, Value again,
                    Value overall) {
  double tolerance = toleranceOf(graph);
  Value apart = largest(calls.call(aten::op::sub_Tensor, {brought, again}));
  Value own = calls.call(aten::op::mul_Scalar, {largest(again), tolerance});
  Value noise = calls.call(aten::op::mul_Scalar, {overall, tolerance * 1e-3});
  Value bound = calls.call(aten::op::add_Tensor, {own, noise});
  Value wrong = calls.call(aten::op::gt_Tensor, {apart, bound});
  Value holds = calls.call(aten::op::logical_not, {wrong});
  if (!holds)
    return;
  StringAttr path = graph.getRole(argument).getName();
  std::string message =
      "the gradient of '" +
      (path ? path.getValue() : graph.getArgName(argument)).str() +
      "' that the program brings is not that of its forward: a no_grad, a "
      "detach() or a gradient of its own is not in the file, and second "
      "derivatives would be wrong; give the forward program";
  AssertOp::create(builder, graph.getLoc(), holds,
                   builder.getStringAttr(message), StringAttr(), ArrayAttr());
}

LogicalResult Checker::run() {
  OutputOp output = graph.getOutput();
  SmallVector<std::tuple<int32_t, Value, Value>> pairs;
  for (auto [of, again] :
       llvm::zip_equal(output.getGradientOf(), output.getGradients()))
    for (auto [other, brought] : llvm::zip_equal(given.of, given.gradients))
      if (of == other && !mayBeEmpty(again))
        pairs.push_back({of, brought, again});
  Value overall;
  for (auto [of, brought, again] : pairs) {
    Value own = largest(again);
    overall = overall ? calls.call(aten::op::maximum, {overall, own}) : own;
  }
  for (auto [of, brought, again] : pairs)
    check(of, brought, again, overall);
  return calls.result();
}

//===----------------------------------------------------------------------===//
// The forward, differentiated anew
//===----------------------------------------------------------------------===//

static void setResults(GraphOp graph, ArrayRef<Value> results,
                       ArrayRef<int32_t> gradientOf) {
  OutputOp output = graph.getOutput();
  OpBuilder at(output);
  SmallVector<Type> types;
  for (Value result : results)
    types.push_back(result.getType());
  OutputOp::create(at, output.getLoc(), results,
                   at.getDenseI32ArrayAttr(gradientOf));
  output.erase();
  graph.removeResAttrsAttr();
  graph.setNumForwardResults(
      static_cast<int64_t>(results.size() - gradientOf.size()));
  graph.setFunctionType(at.getFunctionType(graph.getArgumentTypes(), types));
}

/// The seeds that differentiation added become those that were there, or ones.
static LogicalResult joinSeeds(GraphOp graph, unsigned from,
                               const Given &given) {
  llvm::BitVector added(graph.getNumArguments());
  OpBuilder first = OpBuilder::atBlockBegin(&graph.getBlock());
  aten::ValueNamer namer(graph);
  aten::CallBuilder ones(first, graph.getLoc(), &namer);
  for (unsigned arg = from; arg < graph.getNumArguments(); ++arg) {
    BlockArgument seed = graph.getBody().getArgument(arg);
    auto there = given.seeds.find(graph.getRole(arg).getOf());
    Value value = there != given.seeds.end()
                      ? there->second
                      : ones.call(aten::op::full, {ones.sizes(seed), 1.0},
                                  {{"dtype", aten::elementOf(seed)}});
    if (!value)
      return failure();
    seed.replaceAllUsesWith(value);
    added.set(arg);
  }
  return graph.eraseArguments(added);
}

/// Seeds are inputs meanwhile: a graph with a backward is not differentiated.
static LogicalResult differentiateAgain(GraphOp graph, Given &given) {
  unsigned count = graph.getNumArguments();
  DifferentiateOptions again;
  std::vector<RoleAttr> roles;
  for (unsigned arg = 0; arg < count; ++arg) {
    RoleAttr role = graph.getRole(arg);
    roles.push_back(role);
    if (role.getKind() != RoleKind::GradSeed &&
        role.getKind() != RoleKind::Tangent)
      continue;
    given.seeds[role.getOf()] = graph.getBody().getArgument(arg);
    again.lossOutputs.push_back(static_cast<unsigned>(role.getOf()));
    graph.setArgAttr(
        arg, JointDialect::kRole,
        RoleAttr::get(graph.getContext(), RoleKind::Input, nullptr, -1, false));
  }
  for (int32_t of : given.of)
    again.gradOf.push_back(graph.getArgName(of).str());
  if (failed(differentiate(graph, again)) ||
      failed(joinSeeds(graph, count, given)))
    return failure();
  for (unsigned arg = 0; arg < count; ++arg)
    graph.setArgAttr(arg, JointDialect::kRole, roles[arg]);
  return success();
}

LogicalResult cutback::checkGivenGradients(GraphOp graph) {
  OutputOp output = graph.getOutput();
  Given given;
  SmallVector<Value> results(output.getForwardResults()), all = results;
  for (auto [of, gradient] :
       llvm::zip_equal(output.getGradientOf(), output.getGradients()))
    if (!isa<ComplexType>(getElementTypeOrSelf(gradient.getType()))) {
      given.of.push_back(of);
      given.gradients.push_back(gradient);
    }
  SmallVector<int32_t> allOf(output.getGradientOf());
  llvm::append_range(all, output.getGradients());
  if (given.of.empty())
    return success();
  setResults(graph, all, {});
  if (failed(differentiateAgain(graph, given)) ||
      failed(Checker(graph, given).run()))
    return failure();
  // Gradients that were there may have been replaced: take them from the op.
  all.assign(graph.getOutput().getForwardResults().begin(),
             graph.getOutput().getForwardResults().end());
  setResults(graph, all, allOf);
  return success();
}
