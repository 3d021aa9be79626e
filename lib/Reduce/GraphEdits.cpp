// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edits of the structure of a graph. All of them keep the form: every value
// has a definition in front of its uses, results of the step are computed in
// the graph, tangents name forward results that exist. What the verifiers ask
// beyond that they do not look at: a candidate that does not verify is not
// asked about.
//
// Numbers of arguments and results stand in roles and in the terminator; each
// edit works on values first and brings the numbers up to date at its end.
// Linear in the graph.

#include "cutback/Reduce/GraphEdits.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Transforms/DeadCode.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

GraphSize cutback::sizeOf(GraphOp graph) {
  GraphSize size;
  graph.getBody().walk([&](Operation *) { ++size.ops; });
  size.ops -= 1; // the terminator
  size.arguments = graph.getBody().getNumArguments();
  size.results = graph.getOutput().getNumOperands();
  return size;
}

std::vector<Operation *> cutback::bodyOps(GraphOp graph) {
  std::vector<Operation *> ops;
  for (Operation &op : graph.getBlock().without_terminator())
    ops.push_back(&op);
  return ops;
}

static ArrayRef<Operation *> sliceOf(const std::vector<Operation *> &ops,
                                     unsigned begin, unsigned end) {
  end = std::min<size_t>(end, ops.size());
  begin = std::min(begin, end);
  return ArrayRef(ops).slice(begin, end - begin);
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// Writes the signature that arguments and terminator have.
static void updateSignature(GraphOp graph) {
  Builder builder(graph.getContext());
  OutputOp output = graph.getOutput();
  graph.setFunctionType(builder.getFunctionType(
      graph.getBody().getArgumentTypes(), output.getOperandTypes()));
  graph.setNumForwardResults(output.getNumForwardResults());
  graph.removeResAttrsAttr();
}

static void setArgAttrs(GraphOp graph, ArrayRef<Attribute> attrs) {
  graph.setArgAttrsAttr(ArrayAttr::get(graph.getContext(), attrs));
}

static SmallVector<Attribute> argAttrsOf(GraphOp graph) {
  SmallVector<Attribute> attrs;
  for (unsigned i = 0; i < graph.getBody().getNumArguments(); ++i)
    attrs.push_back(DictionaryAttr::get(
        graph.getContext(), function_interface_impl::getArgAttrs(graph, i)));
  return attrs;
}

/// Results marked in `dropped` go; roles of tangents follow.
static void keepResults(GraphOp graph, const llvm::BitVector &dropped) {
  OutputOp output = graph.getOutput();
  unsigned numForward = output.getNumForwardResults();
  SmallVector<Value> kept;
  SmallVector<int32_t> gradientOf;
  SmallVector<int64_t> newForward(numForward, -1);
  for (auto [i, value] : llvm::enumerate(output.getResults())) {
    if (dropped[i])
      continue;
    if (i < numForward)
      newForward[i] = kept.size();
    else
      gradientOf.push_back(output.getGradientOf()[i - numForward]);
    kept.push_back(value);
  }
  output.getResultsMutable().assign(kept);
  output.setGradientOf(gradientOf);
  for (unsigned i = 0; i < graph.getBody().getNumArguments(); ++i) {
    RoleAttr role = graph.getRole(i);
    if (!role || role.getKind() != RoleKind::Tangent || role.getOf() < 0 ||
        role.getOf() >= numForward)
      continue;
    int64_t of = newForward[role.getOf()];
    graph.setArgAttr(
        i, JointDialect::kRole,
        RoleAttr::get(graph.getContext(),
                      of < 0 ? RoleKind::GradSeed : RoleKind::Tangent,
                      role.getName(), of, role.getBackward()));
  }
}

/// Arguments that nobody reads and that have no gradient go.
static void dropUnusedArguments(GraphOp graph) {
  OutputOp output = graph.getOutput();
  Block &block = graph.getBlock();
  llvm::BitVector unused(block.getNumArguments());
  for (BlockArgument arg : block.getArguments())
    unused[arg.getArgNumber()] = arg.use_empty();
  for (int32_t arg : output.getGradientOf())
    unused.reset(arg);
  SmallVector<int32_t> newNumber(block.getNumArguments());
  SmallVector<Attribute> attrs, all = argAttrsOf(graph);
  for (unsigned i = 0; i < all.size(); ++i) {
    newNumber[i] = attrs.size();
    if (!unused[i])
      attrs.push_back(all[i]);
  }
  SmallVector<int32_t> gradientOf;
  for (int32_t arg : output.getGradientOf())
    gradientOf.push_back(newNumber[arg]);
  output.setGradientOf(gradientOf);
  setArgAttrs(graph, attrs);
  block.eraseArguments(unused);
}

void cutback::tidy(GraphOp graph) {
  eliminateDeadCode(graph);
  dropUnusedArguments(graph);
  updateSignature(graph);
}

void cutback::dropOtherSymbols(GraphOp graph) {
  for (Operation &op : llvm::make_early_inc_range(*graph->getBlock()))
    if (&op != graph.getOperation())
      op.erase();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void cutback::dropResults(GraphOp graph, unsigned begin, unsigned end) {
  llvm::BitVector dropped(graph.getOutput().getNumOperands());
  dropped.set(begin, std::min<unsigned>(end, dropped.size()));
  keepResults(graph, dropped);
  tidy(graph);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The op of the body that `op` stands in.
static Operation *inBody(GraphOp graph, Operation *op) {
  return graph.getBlock().findAncestorOpInBlock(*op);
}

static void eraseAll(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

void cutback::dropOpsAndUsers(GraphOp graph, unsigned begin, unsigned end) {
  std::vector<Operation *> ops = bodyOps(graph);
  llvm::DenseSet<Operation *> going;
  for (Operation *op : sliceOf(ops, begin, end))
    going.insert(op);
  llvm::BitVector dropped(graph.getOutput().getNumOperands());
  SmallVector<Operation *> inOrder;
  // Users come later in the body: one walk finds them all.
  for (Operation *op : sliceOf(ops, begin, ops.size())) {
    if (!going.contains(op))
      continue;
    inOrder.push_back(op);
    for (OpOperand &use : op->getUses()) {
      if (use.getOwner() == graph.getOutput())
        dropped.set(use.getOperandNumber());
      else
        going.insert(inBody(graph, use.getOwner()));
    }
  }
  keepResults(graph, dropped);
  eraseAll(inOrder);
  tidy(graph);
}

/// Values that depend on a tangent or on the gradient seed.
static llvm::DenseSet<Value> backwardValues(GraphOp graph) {
  llvm::DenseSet<Value> values;
  for (BlockArgument arg : graph.getBody().getArguments())
    if (RoleAttr role = graph.getRole(arg.getArgNumber());
        role && (role.getKind() == RoleKind::Tangent ||
                 role.getKind() == RoleKind::GradSeed))
      values.insert(arg);
  for (Operation &op : graph.getBlock())
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return values.contains(v); }))
      values.insert(op.result_begin(), op.result_end());
  return values;
}

namespace {
/// New arguments at the end, called as what they stand for.
struct NewArguments {
  explicit NewArguments(GraphOp graph)
      : graph(graph), attrs(argAttrsOf(graph)) {
    for (unsigned i = 0; i < attrs.size(); ++i)
      names.insert(graph.getArgName(i));
  }
  ~NewArguments() { setArgAttrs(graph, attrs); }

  Value add(Value like, bool inBackward) {
    MLIRContext *context = graph.getContext();
    RoleKind kind = inBackward                 ? RoleKind::GradSeed
                    : like.getType().isIndex() ? RoleKind::Size
                                               : RoleKind::Input;
    NamedAttrList list;
    list.set(JointDialect::kRole,
             RoleAttr::get(context, kind, StringAttr(), -1, false));
    StringRef name = getValueName(like);
    if (!name.empty() && names.insert(name).second)
      list.set(JointDialect::kName, StringAttr::get(context, name));
    attrs.push_back(list.getDictionary(context));
    return graph.getBlock().addArgument(like.getType(), like.getLoc());
  }

  GraphOp graph;
  SmallVector<Attribute> attrs;
  llvm::DenseSet<StringRef> names;
};
} // namespace

void cutback::cutOps(GraphOp graph, unsigned begin, unsigned end) {
  std::vector<Operation *> ops = bodyOps(graph);
  ArrayRef<Operation *> cut = sliceOf(ops, begin, end);
  llvm::DenseSet<Operation *> isCut(cut.begin(), cut.end());
  llvm::DenseSet<Value> inBackward = backwardValues(graph);
  {
    NewArguments arguments(graph);
    for (Operation *op : cut)
      for (Value result : op->getResults()) {
        auto staysBehind = [&](OpOperand &use) {
          return use.getOwner() == graph.getOutput() ||
                 !isCut.contains(inBody(graph, use.getOwner()));
        };
        if (llvm::none_of(result.getUses(), staysBehind))
          continue;
        Value argument = arguments.add(result, inBackward.contains(result));
        result.replaceUsesWithIf(argument, staysBehind);
      }
  }
  eraseAll(cut);
  tidy(graph);
}

void cutback::bypassOps(GraphOp graph, unsigned begin, unsigned end) {
  std::vector<Operation *> ops = bodyOps(graph);
  for (Operation *op : sliceOf(ops, begin, end)) {
    if (op->getNumResults() != 1)
      continue;
    for (Value operand : op->getOperands())
      if (operand.getType() == op->getResult(0).getType()) {
        op->getResult(0).replaceAllUsesWith(operand);
        op->erase();
        break;
      }
  }
  tidy(graph);
}

void cutback::keepOnly(GraphOp graph, unsigned number) {
  std::vector<Operation *> ops = bodyOps(graph);
  if (number >= ops.size() || ops[number]->getNumResults() == 0)
    return;
  OutputOp output = graph.getOutput();
  output.getResultsMutable().assign(ops[number]->getResults());
  output.setGradientOf(ArrayRef<int32_t>());
  for (unsigned i = 0; i < graph.getBody().getNumArguments(); ++i)
    if (RoleAttr role = graph.getRole(i);
        role && (role.getKind() == RoleKind::Tangent ||
                 role.getKind() == RoleKind::GradSeed))
      graph.setArgAttr(i, JointDialect::kRole,
                       RoleAttr::get(graph.getContext(), RoleKind::Input,
                                     role.getName(), -1, false));
  tidy(graph);
}

void cutback::unwrapOps(GraphOp graph, unsigned begin, unsigned end) {
  std::vector<Operation *> ops = bodyOps(graph);
  for (Operation *op : sliceOf(ops, begin, end)) {
    if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
      continue;
    Block &inner = op->getRegion(0).front();
    Operation *terminator = inner.getTerminator();
    if (inner.getNumArguments() != 0 ||
        terminator->getOperandTypes() != op->getResultTypes())
      continue;
    SmallVector<Value> values(terminator->getOperands());
    terminator->erase();
    op->getBlock()->getOperations().splice(op->getIterator(),
                                           inner.getOperations());
    op->replaceAllUsesWith(values);
    op->erase();
  }
  tidy(graph);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void cutback::mergeArguments(GraphOp graph, unsigned begin, unsigned end) {
  Block &block = graph.getBlock();
  end = std::min(end, block.getNumArguments());
  for (unsigned i = begin; i < end; ++i) {
    RoleAttr role = graph.getRole(i);
    if (!role || role.getKind() == RoleKind::Tangent ||
        llvm::is_contained(graph.getOutput().getGradientOf(),
                           static_cast<int32_t>(i)))
      continue;
    for (unsigned j = 0; j < i; ++j) {
      RoleAttr other = graph.getRole(j);
      if (!other || other.getKind() != role.getKind() ||
          block.getArgument(i).getType() != block.getArgument(j).getType())
        continue;
      block.getArgument(i).replaceAllUsesWith(block.getArgument(j));
      break;
    }
  }
  tidy(graph);
}
