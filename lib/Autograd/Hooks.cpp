// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks of a graph that was read with its gradients. It has no nodes that an
// engine passes: what a name can mean there is the gradient of an argument that
// is a result, and a hook stands behind all that makes it. Other graphs get
// theirs while they are differentiated (HookPoints.cpp).

#include "cutback/Autograd/Hooks.h"

#include "DifferentiateTargets.h"
#include "HookPoints.h"
#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/OpNames.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

int64_t cutback::nextHookKey(GraphOp graph) {
  int64_t next = 0;
  for (auto hook : graph.getBlock().getOps<HookOp>())
    next = std::max(next, static_cast<int64_t>(hook.getKey()) + 1);
  return next;
}

/// How `value` lies, if every new result is contiguous.
static Layout layoutOf(Value value) {
  auto sizesOf = [](Value tensor) {
    SmallVector<int64_t> sizes;
    for (int64_t size : cast<RankedTensorType>(tensor.getType()).getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? 13 : size);
    return sizes;
  };
  SmallVector<Value> chain = {value}; // views, down to what they are of
  for (Operation *op; (op = chain.back().getDefiningOp());) {
    int64_t viewed =
        getViewedOperand(op, cast<OpResult>(chain.back()).getResultNumber());
    if (viewed < 0 || !isa<RankedTensorType>(op->getOperand(viewed).getType()))
      break;
    chain.push_back(op->getOperand(viewed));
  }
  Layout layout = Layout::contiguous(sizesOf(chain.pop_back_val()));
  while (!chain.empty()) {
    auto result = cast<OpResult>(chain.pop_back_val());
    layout = viewLayout(result.getOwner(), result.getResultNumber(), layout,
                        sizesOf(result), {})
                 .value_or(Layout::contiguous(sizesOf(result)));
  }
  return layout;
}

void cutback::makeHooksDense(GraphOp graph) {
  aten::ValueNamer namer(graph);
  for (auto hook : graph.getBlock().getOps<HookOp>()) {
    if (layoutOf(hook.getGradient()).isContiguous())
      continue;
    OpBuilder builder(hook);
    aten::CallBuilder calls(builder, hook.getLoc(), &namer);
    if (Value copy = calls.call(aten::op::clone, {hook.getGradient()},
                                {{"memory_format", "contiguous_format"}}))
      hook.getGradientMutable().assign(copy);
  }
}

LogicalResult cutback::hookGradients(GraphOp graph,
                                     ArrayRef<HookRequest> requests) {
  OutputOp output = graph.getOutput();
  auto operandOf = [&](unsigned arg) -> OpOperand * {
    for (auto [i, of] : llvm::enumerate(output.getGradientOf()))
      if (of == static_cast<int32_t>(arg))
        return &output->getOpOperand(output.getNumForwardResults() + i);
    return nullptr;
  };
  aten::ValueNamer namer(graph);
  OpBuilder builder(output);
  int64_t key = nextHookKey(graph);
  llvm::StringMap<bool> there; // points, with their kinds
  auto keyOf = [](HookKind kind, StringRef name) {
    return (llvm::Twine(static_cast<int>(kind)) + name).str();
  };
  for (auto hook : graph.getBlock().getOps<HookOp>())
    there[keyOf(static_cast<HookKind>(hook.getKind()), hook.getPoint())] = true;
  for (const auto &[kind, name] : requests) {
    if (there.contains(keyOf(kind, name)))
      continue;
    SmallVector<unsigned> arguments;
    if (isPattern(name)) {
      auto found = findByPattern(graph, name, operandOf);
      if (failed(found))
        return failure();
      arguments = std::move(*found);
    } else if (int arg = findArgument(graph, name); arg >= 0) {
      arguments.push_back(static_cast<unsigned>(arg));
    } else if (findNamed(graph, name)) {
      return graph.emitError("hook on '")
             << name << "': the graph was read with its gradients, of which "
             << "only those of arguments have names";
    } else {
      return failUnknownName(graph, name);
    }
    for (unsigned arg : arguments) {
      OpOperand *operand = operandOf(arg);
      if (!operand)
        return graph.emitError("hook on '")
               << name << "', which has no gradient in this graph";
      std::string own = isPattern(name) ? nameOfArgument(graph, arg) : name;
      if (!there.try_emplace(keyOf(kind, own), true).second)
        continue;
      operand->set(buildHook(builder, operand->get().getLoc(), kind, own,
                             operand->get(), key++, namer.next("hook")));
    }
  }
  return success();
}
