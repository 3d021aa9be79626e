// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PyTorch's higher-order ops hand to their graphs, and what they make of
// the results. Written once, for verifier, cost and interpreter:
//
//   cond(pred, true, false, operands)            both graphs: operands
//   while_loop(cond, body, carried, additional)  both graphs: both lists
//   scan(body, init, xs, additional)             init, a slice of each of xs,
//                                                additional
//   flex_attention(q, k, v, score, block_mask, scale, options,
//                  score_buffers, mask_buffers)
//     score: a score, batch, head, query and key index, score_buffers
//     mask, last of block_mask: the four indices, mask_buffers
//   flex_attention_backward(q, k, v, out, logsumexp, d_out, d_logsumexp,
//                  score, joint, block_mask, …)
//     joint: those of score, the gradient of its result before score_buffers
//
// A literal in one of the lists is known where the graph is read, and the
// graph's region has no argument for it.

#include "cutback/Dialect/Joint/Nested.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback::joint;

using Inputs = SmallVector<GraphInput>;
using Source = GraphInput::Source;

std::optional<NestedKind> cutback::joint::nestedKindOf(StringRef callee) {
  if (!callee.consume_front("higher_order."))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<NestedKind>>(callee)
      .Case("cond", NestedKind::Cond)
      .Case("while_loop", NestedKind::WhileLoop)
      .Case("while_loop_stack_output", NestedKind::WhileLoopStack)
      .Case("scan", NestedKind::Scan)
      .Case("flex_attention", NestedKind::FlexAttention)
      .Case("flex_attention_backward", NestedKind::FlexAttentionBackward)
      .Default(std::nullopt);
}

unsigned cutback::joint::numGraphsOf(NestedKind kind) {
  switch (kind) {
  case NestedKind::Scan:
    return 1;
  case NestedKind::FlexAttentionBackward:
    return 3;
  default:
    return 2;
  }
}

void cutback::joint::collectGraphs(ArrayAttr args,
                                   SmallVectorImpl<FlatSymbolRefAttr> &graphs) {
  for (Attribute arg : args) {
    if (auto list = dyn_cast<ArrayAttr>(arg))
      collectGraphs(list, graphs);
    else if (auto graph = dyn_cast<FlatSymbolRefAttr>(arg))
      graphs.push_back(graph);
  }
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Appends the entries of list `place` of the arguments. False if that is no
/// flat list.
static bool addList(ArrayAttr args, unsigned place, Source source,
                    Inputs &inputs) {
  if (place >= args.size())
    return false;
  auto list = dyn_cast<ArrayAttr>(args[place]);
  if (!list)
    return false;
  unsigned operand = 0;
  for (unsigned i = 0; i < place; ++i)
    operand += countOperands(ArrayAttr::get(args.getContext(), {args[i]}));
  for (Attribute entry : list) {
    if (isa<ArrayAttr, FlatSymbolRefAttr>(entry))
      return false;
    if (isa<OperandAttr>(entry))
      inputs.push_back({source, operand++, {}});
    else
      inputs.push_back({Source::Literal, 0, entry});
  }
  return true;
}

static bool addAttentionInputs(ArrayAttr args, unsigned graph, bool isBackward,
                               Inputs &inputs) {
  bool isMask = graph == (isBackward ? 2 : 1);
  bool isJoint = isBackward && graph == 1;
  inputs.append(isMask ? 4 : isJoint ? 6 : 5, GraphInput());
  unsigned buffers = (isBackward ? 12 : 7) + isMask;
  return addList(args, buffers, Source::Operand, inputs);
}

std::optional<Inputs>
cutback::joint::graphInputs(NestedKind kind, ArrayAttr args, unsigned graph) {
  Inputs inputs;
  bool fits = true;
  switch (kind) {
  case NestedKind::Cond:
    fits = addList(args, 3, Source::Operand, inputs);
    break;
  case NestedKind::WhileLoop:
  case NestedKind::WhileLoopStack:
    fits = addList(args, 2, Source::Operand, inputs) &&
           addList(args, 3, Source::Operand, inputs);
    break;
  case NestedKind::Scan:
    fits = addList(args, 1, Source::Operand, inputs) &&
           addList(args, 2, Source::Slice, inputs) &&
           addList(args, 3, Source::Operand, inputs);
    break;
  case NestedKind::FlexAttention:
    fits = addAttentionInputs(args, graph, /*isBackward=*/false, inputs);
    break;
  case NestedKind::FlexAttentionBackward:
    fits = addAttentionInputs(args, graph, /*isBackward=*/true, inputs);
    break;
  }
  if (!fits)
    return std::nullopt;
  return inputs;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The types that a graph gives, `none` for a None.
static SmallVector<Type> givenBy(Region *graph) {
  auto end = cast<ReturnOp>(graph->front().getTerminator());
  auto places = end.getPlaces();
  if (!places)
    return SmallVector<Type>(end.getOperandTypes());
  SmallVector<Type> types;
  auto next = end.getOperandTypes().begin();
  for (bool isValue : *places)
    types.push_back(isValue ? *next++ : Type(NoneType::get(end.getContext())));
  return types;
}

/// A stack of values of type `type`; null for what cannot be stacked.
static Type stackOf(Type type, int64_t count) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, tensor.getShape());
  return tensor.clone(shape);
}

/// The first size of the first value of which a loop takes slices.
static std::optional<int64_t> stepsOf(ArrayAttr args, TypeRange operands) {
  std::optional<Inputs> inputs = graphInputs(NestedKind::Scan, args, 0);
  for (const GraphInput &input : inputs ? *inputs : Inputs())
    if (input.source == Source::Slice) {
      auto tensor = dyn_cast<RankedTensorType>(operands[input.operand]);
      return tensor && tensor.getRank() ? std::optional(tensor.getDimSize(0))
                                        : std::nullopt;
    }
  return std::nullopt;
}

/// Output, logarithms of sums, largest scores.
static bool addAttentionResults(TypeRange operands,
                                SmallVectorImpl<Type> &types) {
  if (operands.size() < 3)
    return false;
  auto query = dyn_cast<RankedTensorType>(operands[0]);
  auto value = dyn_cast<RankedTensorType>(operands[2]);
  if (!query || !value || query.getRank() != 4 || value.getRank() != 4)
    return false;
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  types.push_back(query.clone(shape));
  Type element = query.getElementType();
  if (!element.isF64())
    element = Float32Type::get(query.getContext());
  auto row = RankedTensorType::get(query.getShape().drop_back(), element);
  types.append(2, row);
  return true;
}

/// Gradients of query, key and value, and of the buffers that have one.
static bool addAttentionGradients(ArrayAttr args, TypeRange operands,
                                  ArrayRef<Region *> graphs,
                                  SmallVectorImpl<Type> &types) {
  if (operands.size() < 3)
    return false;
  llvm::append_range(types, operands.take_front(3));
  SmallVector<Type> given = givenBy(graphs[1]);
  Inputs buffers;
  if (!addList(args, 12, Source::Operand, buffers) ||
      given.size() != 5 + buffers.size())
    return false;
  llvm::append_range(types, ArrayRef(given).drop_front(5));
  return true;
}

std::optional<SmallVector<Type>>
cutback::joint::nestedResultTypes(NestedKind kind, ArrayAttr args,
                                  TypeRange operands,
                                  ArrayRef<Region *> graphs) {
  SmallVector<Type> types;
  switch (kind) {
  case NestedKind::Cond:
    types = givenBy(graphs[0]);
    break;
  case NestedKind::WhileLoop:
    types = givenBy(graphs[1]);
    break;
  case NestedKind::WhileLoopStack:
    for (Type type : givenBy(graphs[1]))
      types.push_back(stackOf(type, ShapedType::kDynamic));
    break;
  case NestedKind::Scan: {
    std::optional<int64_t> steps = stepsOf(args, operands);
    auto init = dyn_cast<ArrayAttr>(args[1]);
    types = givenBy(graphs[0]);
    if (!steps || !init || types.size() < init.size())
      return std::nullopt;
    for (Type &type : MutableArrayRef(types).drop_front(init.size()))
      type = stackOf(type, *steps);
    break;
  }
  case NestedKind::FlexAttention:
    if (!addAttentionResults(operands, types))
      return std::nullopt;
    break;
  case NestedKind::FlexAttentionBackward:
    if (!addAttentionGradients(args, operands, graphs, types))
      return std::nullopt;
    break;
  }
  if (llvm::is_contained(types, Type()))
    return std::nullopt;
  return types;
}
