// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward program is decomposed before it is differentiated. A joint graph
// has been through PyTorch's decompositions, which leave some composite ops
// whole (`histc`, `linalg_lu_solve`, `cholesky_solve`): they are written in
// terms of others here, by the rules that forward programs have.
//
// Halves from elsewhere only where there is no kernel: an op that runs as it is
// keeps its name. What is planned here is planned in core ops, the same list
// for all (Composites.h): before our own cut, and behind PyTorch's decision,
// which is made on the graph as it is given.
//
// `with_effects(token, op, args…)` gives the token and what the op gives: it
// runs as that op, in its place in the body, and the token as it is. PyTorch's
// decision is made on the wrapper.

#include "cutback/Planner/Runnable.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Decompose/OldViews.h"
#include "cutback/Dialect/Aten/Schema.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Interpreter/Kernel.h"
#include "cutback/Support/MLIR/DefinitionMap.h"
#include "cutback/Transforms/CommonSubexpressions.h"
#include "cutback/Transforms/DeadCode.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace cutback;

static bool lacksKernel(Operation *op) { return !interpreter::hasKernel(op); }

namespace {
/// The arguments of the wrapped call, in the order of its schema.
struct WrappedCall {
  SmallVector<Attribute> args;
  SmallVector<Value> operands;
};
} // namespace

/// Nothing where an argument has no place in `schema`.
static std::optional<WrappedCall> readWrapped(joint::OpaqueOp op,
                                              const aten::Schema &schema) {
  ArrayRef<Attribute> given = op.getArgs().getValue();
  ArrayRef<Attribute> keywords;
  if (ArrayAttr listed = op.getKeywordsAttr())
    keywords = listed.getValue();
  size_t positional = given.size() - keywords.size();
  SmallVector<Attribute> args(schema.params.size());
  SmallVector<SmallVector<Value>> operands(args.size());
  size_t next = 1; // behind the token
  for (size_t i = 2; i < given.size(); ++i) {
    int place =
        i < positional
            ? static_cast<int>(i) - 2
            : schema.find(
                  cast<StringAttr>(keywords[i - positional]).getValue());
    if (place < 0 || place >= static_cast<int>(args.size()))
      return std::nullopt;
    args[place] = given[i];
    unsigned count =
        joint::countOperands(ArrayAttr::get(op.getContext(), {given[i]}));
    llvm::append_range(operands[place], op.getInputs().slice(next, count));
    next += count;
  }
  WrappedCall call;
  for (auto [i, param] : llvm::enumerate(schema.params)) {
    Attribute arg = args[i] ? args[i] : param.defaultValue;
    if (!arg)
      return std::nullopt;
    call.args.push_back(arg);
    call.operands.append(operands[i]);
  }
  return call;
}

/// An op that is not known stays, as the wrapper's own error.
static bool unwrapEffect(joint::OpaqueOp op) {
  ArrayRef<Attribute> given = op.getArgs().getValue();
  auto name = given.size() < 2 ? StringAttr() : dyn_cast<StringAttr>(given[1]);
  if (op.getCallee() != "higher_order.with_effects" || !name ||
      !isa<joint::OperandAttr>(given[0]) || op->getNumResults() == 0)
    return false;
  const aten::Schema *schema =
      aten::SchemaTable::get(op.getContext()).lookup(name);
  std::optional<WrappedCall> call =
      schema ? readWrapped(op, *schema) : std::nullopt;
  if (!call)
    return false;
  OpBuilder builder(op);
  ArrayAttr names = op.getNamesAttr();
  if (names)
    names = builder.getArrayAttr(names.getValue().drop_front());
  Operation *own = aten::createCall(
      builder, op.getLoc(), *schema, builder.getArrayAttr(call->args),
      call->operands, TypeRange(op->getResultTypes()).drop_front(), names);
  op->getResult(0).replaceAllUsesWith(op.getInputs().front());
  for (auto [result, value] :
       llvm::zip_equal(op->getResults().drop_front(), own->getResults()))
    result.replaceAllUsesWith(value);
  op->erase();
  return true;
}

/// A random op that runs as it stands keeps its numbers.
static bool keepsDraws(Operation *op) {
  auto model = dyn_cast<joint::RematerializableOpInterface>(op);
  return model && model.isRandom() && interpreter::hasKernel(op);
}

static bool unwrapEffects(Operation *function) {
  bool isAny = false;
  function->walk([&](joint::OpaqueOp op) { isAny |= unwrapEffect(op); });
  return isAny;
}

FailureOr<bool> cutback::makeRunnable(Operation *function) {
  bool isAny = unwrapEffects(function);
  FailureOr<bool> isMore = decomposeOnly(function, lacksKernel);
  if (failed(isMore))
    return failure();
  return isAny || *isMore;
}

bool cutback::reachCoreOps(joint::GraphOp graph) {
  bool isAny = unwrapEffects(graph);
  if (isOnCoreList(graph, keepsDraws))
    return isAny;
  decomposeToCoreList(graph, keepsDraws);
  return true;
}

void cutback::simplifyToCoreOps(joint::GraphOp graph) {
  if (reachCoreOps(graph)) {
    eliminateDeadCode(graph);
    eliminateCommonSubexpressions(graph);
    joint::markReplays(graph);
  }
  copyOldViews(graph, /*ofAnyPlan=*/true);
}

static bool isWrapper(joint::OpaqueOp op) {
  return op.getCallee() == "higher_order.with_effects";
}

/// Keeps values of a graph that is changed: whoever replaces one replaces it
/// here, and nobody erases it.
static Operation *holdValues(Location loc, ValueRange values) {
  OperationState state(loc, UnrealizedConversionCastOp::getOperationName());
  state.addOperands(values);
  return Operation::create(state);
}

std::optional<CoreGraph> cutback::makeCoreGraph(const GraphView &given) {
  joint::GraphOp graph = given.graph;
  bool isWrapped =
      llvm::any_of(graph.getBlock().getOps<joint::OpaqueOp>(), isWrapper);
  if (!isWrapped && isOnCoreList(graph, keepsDraws) && !hasOldViews(graph))
    return std::nullopt;
  CoreGraph core;
  std::vector<Value> copies;
  core.graph = copyGraph(given, copies);
  std::vector<uint32_t> numbers;
  SmallVector<Value> held;
  for (uint32_t value = 0; value < given.numValues(); ++value) {
    if (given.values[value].use_empty() && !given.isArg(value))
      continue;
    numbers.push_back(value);
    held.push_back(copies[value]);
  }
  Operation *holder = holdValues(graph.getLoc(), held);
  simplifyToCoreOps(*core.graph);
  core.view = GraphView::build(*core.graph);
  DefinitionMap firstResults;
  firstResults.reset();
  for (uint32_t op = 0; op < core.view.numOps(); ++op)
    if (core.view.ops[op]->getNumResults())
      firstResults.insert(core.view.ops[op], core.view.resultBegin[op]);
  core.fromGiven.assign(given.numValues(), GraphView::kNone);
  core.toGiven.assign(core.view.numValues(), GraphView::kNone);
  for (auto [number, value] : llvm::zip_equal(numbers, holder->getOperands())) {
    auto result = dyn_cast<OpResult>(value);
    uint32_t place = result ? firstResults.lookup(result.getOwner()) +
                                  result.getResultNumber()
                            : cast<BlockArgument>(value).getArgNumber();
    core.fromGiven[number] = place;
    if (core.toGiven[place] == GraphView::kNone)
      core.toGiven[place] = number;
  }
  holder->destroy();
  return core;
}
