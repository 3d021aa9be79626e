// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes that run their graphs more or less often than once:
//
//   cond(predicate, graph, graph, [args…])
//   while_loop(graph, graph, [carried…], [args…])
//   scan(graph, [carried…], [sliced…], [args…])
//   map_impl(graph, [sliced…], [args…])     a scan that carries nothing
//
// A graph becomes a region of `joint.nested`, as it does from a text
// (FxRegions.cpp); what the node declares of its results must be what the
// graphs give.

#include "GraphReader.h"

#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

/// The name in {"as_tensor": {"name": …}} or {"as_sym_int": {"as_name": …}};
/// null of other values.
static JsonValue nameIn(const Fields::Variant &variant) {
  JsonValue name = variant.value.find("name");
  return name ? name : variant.value.find("as_name");
}

/// Arguments of the region for the inputs of its graph.
LogicalResult GraphReader::bindNestedInputs(JsonValue graph,
                                            ArrayRef<joint::GraphInput> inputs,
                                            Frame &inner) {
  FailureOr<JsonValue> list = fields.list(graph, "inputs");
  if (failed(list))
    return failure();
  if (list->size() != inputs.size())
    return fields.fail(*list,
                       "a graph of " + Twine(list->size()) +
                           " inputs is called with " + Twine(inputs.size()),
                       kDamaged);
  const joint::GraphInput *next = inputs.begin();
  for (JsonValue entry : list->children()) {
    const joint::GraphInput &input = *next++;
    FailureOr<Fields::Variant> variant = fields.variant(entry);
    if (failed(variant))
      return failure();
    JsonValue name = nameIn(*variant);
    if (!name.isString())
      continue; // what it is called with is in the graph, too
    if (input.literal)
      return fields.fail(entry, "a graph is called with a number or None",
                         "hand it over as a tensor, or write it in the graph");
    JsonValue meta = inner.tensorOf(fields.text(name));
    const Types::Tensor *tensor =
        meta ? types.tensor(meta, fields.text(name)) : nullptr;
    const fx::DeclaredType *type = tensor ? tensor->type : nullptr;
    if (JsonValue scalar = inner.scalarOf(fields.text(name)); !meta && scalar)
      type = types.scalar(scalar);
    if (!type)
      return fields.fail(
          name, "input " + fx::quoted(fields.text(name)) + " has no type",
          kDamaged);
    Value value = scope.block().addArgument(type->type, nodeLocation);
    if (!inner.bind(fields.text(name), value))
      return fields.fail(
          name, fx::quoted(fields.text(name)) + " is defined twice", kDamaged);
  }
  return success();
}

/// Ends the region with what its graph gives.
LogicalResult GraphReader::endNestedGraph(JsonValue graph, Frame &inner) {
  FailureOr<JsonValue> list = fields.list(graph, "outputs");
  if (failed(list))
    return failure();
  SmallVector<Value> values;
  SmallVector<bool> places;
  for (JsonValue output : list->children()) {
    FailureOr<Fields::Variant> variant = fields.variant(output);
    if (failed(variant))
      return failure();
    JsonValue name = nameIn(*variant);
    places.push_back(name.isString());
    if (!name.isString() && variant->kind != "as_none")
      return fields.fail(output, "a graph gives a number",
                         "let it give a tensor, and export the model again");
    if (!name.isString())
      continue;
    FailureOr<Value> value = arguments.value(name, fields.text(name), inner);
    if (failed(value))
      return failure();
    if (*value)
      values.push_back(*value);
    else
      places.back() = false;
  }
  joint::ReturnOp::create(scope.builder, nodeLocation, values,
                          values.size() == places.size()
                              ? DenseBoolArrayAttr()
                              : scope.builder.getDenseBoolArrayAttr(places));
  return success();
}

LogicalResult GraphReader::readNestedGraph(JsonValue graph,
                                           ArrayRef<joint::GraphInput> inputs,
                                           mlir::Region &region) {
  if (depth >= kMaxRegions)
    return fields.fail(
        graph, "graphs nest deeper than " + Twine(kMaxRegions) + " levels",
        kDamaged);
  Frame inner;
  if (failed(inner.declare(graph, fields)))
    return failure();
  OpBuilder::InsertionGuard guard(scope.builder);
  Block *outer = std::exchange(scope.nestedBlock, &region.emplaceBlock());
  scope.builder.setInsertionPointToStart(scope.nestedBlock);
  ++depth;
  LogicalResult result = bindNestedInputs(graph, inputs, inner);
  if (succeeded(result))
    result = readNodes(graph, inner);
  if (succeeded(result))
    result = endNestedGraph(graph, inner);
  --depth;
  scope.nestedBlock = outer;
  return result;
}

LogicalResult GraphReader::readNested(const Node &node, joint::NestedKind kind,
                                      StringRef callee, Frame &frame) {
  const fx::CallTarget &target =
      calls.target(("torch.ops.higher_order." + callee).str());
  nodeLocation = node.place.location;
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  if (failed(inputs) ||
      failed(arguments.read(*inputs, nullptr, frame, args, node.firstInput)))
    return failure();
  // Reading a graph reads calls.
  fx::CallArguments call = std::exchange(args, {});
  if (node.target.ends_with("map_impl") && !call.values.empty())
    call.values.insert(call.values.begin() + 1, scope.builder.getArrayAttr({}));
  SmallVector<JsonValue> texts;
  for (JsonValue input : inputs->children())
    if (JsonValue graph = input.find("arg").find("as_graph").find("graph"))
      texts.push_back(graph);
  std::vector<std::unique_ptr<mlir::Region>> graphs;
  ArrayAttr values = scope.builder.getArrayAttr(call.values);
  for (auto [i, text] : llvm::enumerate(texts)) {
    auto handed = joint::graphInputs(kind, values, i);
    if (!handed || texts.size() != joint::numGraphsOf(kind))
      return fields.fail(
          node.json,
          fx::quoted(node.target) + " is not called as such calls are", kNewer);
    graphs.push_back(std::make_unique<mlir::Region>());
    if (failed(readNestedGraph(text, *handed, *graphs.back())))
      return failure();
  }
  nodeLocation = node.place.location;
  if (failed(readResults(node, frame)))
    return failure();
  fx::CallStatement statement;
  statement.name = node.name;
  statement.at = node.json.raw().data();
  FailureOr<Operation *> op = calls.buildDeclaredNested(
      target, kind, call, statement, results, graphs, node.place);
  if (failed(op) || failed(bindResults(node, *op, frame)))
    return failure();
  noteGradientMode(*op);
  return success();
}
