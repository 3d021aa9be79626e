// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that take a graph. The graph is read in place of the op:
//
//   wrap_with_set_grad_enabled(enabled, graph, args…)
//   wrap_with_autocast(device, dtype, enabled, cache, graph, args…)
//   invoke_subgraph(graph, identifier, args…)
//   tag_activation_checkpoint(graph, args…, use_reentrant=…, …)
//
// A call with effects is threaded on a token; it is read as the call alone:
//
//   with_effects(token, op, args…) -> (token, results…)
//
// Where gradients are off, a value that leaves such a region (or enters one
// inside of it where they are on) goes through `aten.detach`. A value that was
// there before keeps its gradient, also where it is written. An op that writes
// in place detaches what it reads. What is computed in a checkpoint gets a tag.
//
// In an autocast region the operands of each op are cast by PyTorch's rules
// (Autocast.h). The declared result types tell whether the rules were right.

#include "GraphReader.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

//===----------------------------------------------------------------------===//
// Reading a graph in place
//===----------------------------------------------------------------------===//

/// The parts of a call that takes a graph.
struct GraphReader::Region {
  SmallVector<Fields::Variant> flags; ///< what stands before the graph
  JsonValue graph;
  SmallVector<Value> operands; ///< null for what is no value
};

LogicalResult GraphReader::readRegion(const Node &node, const Frame &frame,
                                      Region &region) {
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  if (failed(inputs))
    return failure();
  for (JsonValue input : inputs->children()) {
    FailureOr<JsonValue> arg = fields.get(input, "arg", JsonKind::Object);
    if (failed(arg))
      return failure();
    FailureOr<Fields::Variant> variant = fields.variant(*arg);
    if (failed(variant))
      return failure();
    auto [kind, value] = *variant;
    if (kind == "as_graph" && !region.graph) {
      FailureOr<JsonValue> graph = fields.get(value, "graph", JsonKind::Object);
      if (failed(graph))
        return failure();
      region.graph = *graph;
      continue;
    }
    JsonValue name =
        kind == "as_tensor" ? value.find("name") : value.find("as_name");
    if (!name.isString()) {
      region.graph ? region.operands.push_back(Value())
                   : region.flags.push_back(*variant);
      continue;
    }
    FailureOr<Value> operand = arguments.value(name, fields.text(name), frame);
    if (failed(operand))
      return failure();
    region.operands.push_back(*operand);
  }
  if (!region.graph)
    return fields.fail(node.json, fx::quoted(node.target) + " has no graph",
                       kDamaged);
  return success();
}

LogicalResult GraphReader::inlineGraph(const Region &region,
                                       SmallVectorImpl<Value> &outputs) {
  if (depth >= kMaxRegions)
    return fields.fail(
        region.graph,
        "graphs nest deeper than " + Twine(kMaxRegions) + " levels", kDamaged);
  Frame inner;
  FailureOr<JsonValue> inputs = fields.list(region.graph, "inputs");
  if (failed(inputs) || failed(inner.declare(region.graph, fields)))
    return failure();
  if (inputs->size() != region.operands.size())
    return fields.fail(*inputs,
                       "a graph of " + Twine(inputs->size()) +
                           " inputs is called with " +
                           Twine(region.operands.size()),
                       kDamaged);
  size_t next = 0;
  for (JsonValue input : inputs->children()) {
    Value operand = region.operands[next++];
    FailureOr<Fields::Variant> variant = fields.variant(input);
    if (failed(variant))
      return failure();
    JsonValue name = variant->value.find("name");
    if (!name)
      name = variant->value.find("as_name");
    if (name.isString() && !inner.bind(fields.text(name), operand))
      return fields.fail(
          name, fx::quoted(fields.text(name)) + " is defined twice", kDamaged);
  }
  ++depth;
  LogicalResult result = readNodes(region.graph, inner);
  --depth;
  FailureOr<JsonValue> list = fields.list(region.graph, "outputs");
  if (failed(result) || failed(list))
    return failure();
  for (JsonValue output : list->children()) {
    FailureOr<Fields::Variant> variant = fields.variant(output);
    if (failed(variant))
      return failure();
    JsonValue name = variant->value.find("name");
    if (!name)
      name = variant->value.find("as_name");
    outputs.emplace_back();
    if (!name.isString())
      continue;
    FailureOr<Value> value = arguments.value(name, fields.text(name), inner);
    if (failed(value))
      return failure();
    outputs.back() = *value;
  }
  return success();
}

/// Names in `frame` what the call gave.
LogicalResult GraphReader::bindOutputs(const Node &node, Frame &frame,
                                       ArrayRef<Value> values) {
  FailureOr<JsonValue> outputs = fields.list(node.json, "outputs");
  if (failed(outputs))
    return failure();
  SmallVector<JsonValue> names;
  for (JsonValue output : outputs->children()) {
    FailureOr<Fields::Variant> variant = fields.variant(output);
    if (failed(variant))
      return failure();
    if (variant->value.isArray())
      for (JsonValue entry : variant->value.children())
        names.push_back(entry.find("name"));
    else if (JsonValue name = variant->value.find("name"))
      names.push_back(name);
    else
      names.push_back(variant->value.find("as_name"));
  }
  if (names.size() != values.size())
    return fields.fail(
        node.json,
        fx::quoted(node.name) + " is declared with " + Twine(names.size()) +
            " results, but its graph has " + Twine(values.size()),
        kDamaged);
  for (auto [name, value] : llvm::zip(names, values))
    if (name.isString() && !frame.bind(fields.text(name), value))
      return fields.fail(
          name, fx::quoted(fields.text(name)) + " is defined twice", kDamaged);
  return success();
}

//===----------------------------------------------------------------------===//
// Gradient mode
//===----------------------------------------------------------------------===//

StringRef GraphReader::nameOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return joint::getValueName(value);
  // Those of a nested graph have no names.
  return argument.getOwner()->getParent() == &scope.region
             ? scope.arguments[argument.getArgNumber()].name
             : StringRef("input");
}

Value GraphReader::emit(StringRef callee, Value operand,
                        ArrayRef<aten::NamedArg> named, const Twine &name,
                        const fx::Place &place) {
  aten::CallBuilder builder(scope.builder, place.location);
  Value result = builder.call(callee, {operand}, named);
  if (!result)
    return {};
  ++counts.ops;
  result.getDefiningOp()->setAttr(
      "names",
      scope.builder.getStrArrayAttr(uniqueName(saver.save(name.str()))));
  return result;
}

/// What `value` is where gradients are on, having been made where they are off.
Value GraphReader::detached(Value value, const fx::Place &place) {
  if (!value || !withoutGradient.contains(value))
    return value;
  return detach(value, place);
}

Value GraphReader::detach(Value value, const fx::Place &place) {
  Value &result = detachedValues[value];
  if (!result)
    result = emit("aten.detach.default", value, {}, nameOf(value) + "_detached",
                  place);
  return result;
}

/// The result is the tensor that is written, with its history.
static bool isWrittenTensor(Operation *op) {
  if (isa<joint::WriteOp>(op))
    return true;
  auto call = dyn_cast<aten::CallOp>(op);
  return call && op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         !call.getSchema().params.empty() &&
         call.getSchema().params.front().isWritten;
}

/// Other sizes in place: the tensor and its history stay.
static bool changesSizesOnly(Operation *op) {
  auto call = dyn_cast<aten::CallOp>(op);
  return call && isWrittenTensor(op) &&
         call.getFusionKind() == joint::FusionKind::View;
}

/// Notes what an op gives, where gradients are off: for this reader, and for
/// functionalization, which must know what has a history.
void GraphReader::noteGradientMode(Operation *op) {
  if (hasGradients ||
      (changesSizesOnly(op) && !withoutGradient.contains(op->getOperand(0))))
    return;
  op->setDiscardableAttr(joint::kNoGrad, scope.builder.getUnitAttr());
  if (isWrittenTensor(op) && !withoutGradient.contains(op->getOperand(0)))
    return;
  for (Value result : op->getResults())
    if (isa<FloatType, ComplexType>(getElementTypeOrSelf(result.getType())))
      withoutGradient.insert(result);
}

/// What an op reads that writes to its first operand in place, without the
/// history of what it reads.
void GraphReader::detachOperands(const Node &node) {
  for (Value &operand : MutableArrayRef<Value>(args.operands).drop_front()) {
    if (isa<TensorType>(operand.getType()) &&
        isa<FloatType, ComplexType>(getElementTypeOrSelf(operand.getType())))
      operand = detach(operand, node.place);
  }
}

LogicalResult GraphReader::readGradientRegion(const Node &node, Frame &frame) {
  Region region;
  if (failed(readRegion(node, frame, region)))
    return failure();
  if (region.flags.size() != 1 || !region.flags[0].value.isBool())
    return fields.fail(node.json,
                       fx::quoted(node.target) +
                           " does not say whether gradients are on",
                       kDamaged);
  bool outer = hasGradients;
  hasGradients = region.flags[0].value.kind() == JsonKind::True;
  if (hasGradients)
    for (Value &operand : region.operands)
      operand = detached(operand, node.place);
  SmallVector<Value> outputs;
  LogicalResult result = inlineGraph(region, outputs);
  hasGradients = outer;
  if (failed(result))
    return failure();
  if (hasGradients)
    for (Value &output : outputs)
      output = detached(output, node.place);
  return bindOutputs(node, frame, outputs);
}

//===----------------------------------------------------------------------===//
// Autocast
//===----------------------------------------------------------------------===//

LogicalResult GraphReader::readAutocastRegion(const Node &node, Frame &frame) {
  Region region;
  if (failed(readRegion(node, frame, region)))
    return failure();
  auto fail = [&] {
    return fields.fail(node.json,
                       fx::quoted(node.target) +
                           " does not say device, type, and whether it is on",
                       kDamaged);
  };
  if (region.flags.size() != 4 || !region.flags[0].value.isString() ||
      !region.flags[2].value.isBool())
    return fail();
  AutocastRegion autocastRegion;
  autocastRegion.device = fields.text(region.flags[0].value).str();
  if (region.flags[1].kind == "as_none")
    autocastRegion.dtype = autocastRegion.device == "cuda"
                               ? scope.builder.getF16Type()
                               : Type(scope.builder.getBF16Type());
  else
    autocastRegion.dtype = types.elementType(region.flags[1].value);
  if (!autocastRegion.dtype)
    return fail();
  autocastRegion.isEnabled = region.flags[2].value.kind() == JsonKind::True;
  autocastRegion.hasCache = region.flags[3].kind == "as_none" ||
                            region.flags[3].value.kind() == JsonKind::True;
  autocast.enter(std::move(autocastRegion));
  SmallVector<Value> outputs;
  LogicalResult result = inlineGraph(region, outputs);
  autocast.leave();
  return failed(result) ? failure() : bindOutputs(node, frame, outputs);
}

/// Casts the operands in `args` as autocast does.
LogicalResult GraphReader::castOperands(const Node &node,
                                        const aten::Schema &schema,
                                        const Frame &frame) {
  SmallVector<Autocast::Operand> operands;
  for (auto [value, name] :
       llvm::zip(args.operands, arguments.operandNames())) {
    Autocast::Operand operand{value, {}, argumentsWithGradient.contains(value)};
    if (JsonValue meta = frame.tensorOf(name))
      if (const Types::Tensor *tensor = types.tensor(meta))
        operand.device = tensor->device;
    operands.push_back(operand);
  }
  // The policy may ask for `dtype`; in the schema's order, None if not given.
  SmallVector<Attribute> byParam(schema.params.size(),
                                 joint::NoneAttr::get(fields.context));
  for (auto [name, value] : llvm::zip(args.keywords, args.values))
    if (int param = schema.find(name); param >= 0)
      byParam[param] = value;
  Type declared = results.empty() || !results.front().declared
                      ? Type()
                      : results.front().declared->type;
  SmallVector<Type> casts = autocast.casts(
      schema, scope.builder.getArrayAttr(byParam), operands, declared);
  for (auto [i, to] : llvm::enumerate(casts)) {
    if (!to)
      continue;
    const Autocast::Operand &operand = operands[i];
    bool isKept = autocast.isKept(operand, to);
    Value value = isKept ? autocast.kept(operand.value, hasGradients) : Value();
    if (!value) {
      std::string type;
      llvm::raw_string_ostream(type) << to;
      value = emit("aten._to_copy.default", operand.value, {{"dtype", to}},
                   nameOf(operand.value) + "_" + type, node.place);
      if (!value)
        return failure();
      noteGradientMode(value.getDefiningOp());
    }
    if (isKept)
      autocast.kept(operand.value, hasGradients) = value;
    args.operands[i] = value;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

LogicalResult GraphReader::readCheckpoint(const Node &node, Frame &frame) {
  Region region;
  SmallVector<Value> outputs;
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  if (failed(inputs) || failed(readRegion(node, frame, region)))
    return failure();
  // Options stand behind what the graph is called with, by name.
  auto is = [&](StringRef name, JsonKind kind) {
    for (JsonValue input : inputs->children())
      if (JsonValue given = input.find("name");
          given.isString() && fields.text(given) == name)
        return input.find("arg").find("as_bool").kind() == kind;
    return false;
  };
  size_t named = 0;
  for (JsonValue input : inputs->children()) {
    JsonValue given = input.find("name");
    named += given.isString() && !fields.text(given).empty();
  }
  region.operands.truncate(region.operands.size() -
                           std::min(named, region.operands.size()));
  bool isDeep = checkpoint.size() >= joint::kMaxRegionDepth;
  if (!isDeep) {
    size_t level = checkpoint.size();
    numCheckpoints.resize(std::max(numCheckpoints.size(), level + 1), 0);
    checkpoint.push_back(numCheckpoints[level]++);
    numCheckpoints.resize(level + 1); // those inside are counted from 0 again
    NamedAttrList entry;
    // The reentrant variant runs whole.
    if (is("early_stop", JsonKind::False) ||
        is("use_reentrant", JsonKind::True))
      entry.set("early_stop", scope.builder.getBoolAttr(false));
    if (is("preserve_rng_state", JsonKind::False))
      entry.set("preserve_rng", scope.builder.getBoolAttr(false));
    if (!entry.empty())
      wishes.set(joint::regionText(checkpoint),
                 entry.getDictionary(fields.context));
  }
  LogicalResult result = inlineGraph(region, outputs);
  if (!isDeep)
    checkpoint.pop_back();
  return failed(result) ? failure() : bindOutputs(node, frame, outputs);
}

DictionaryAttr GraphReader::regionWishes() const {
  return wishes.empty() ? DictionaryAttr()
                        : wishes.getDictionary(fields.context);
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

LogicalResult GraphReader::readEffect(const Node &node, Frame &frame) {
  Node inner = node;
  inner.firstInput = 2;
  inner.firstOutput = 1;
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  FailureOr<JsonValue> outputs = fields.list(node.json, "outputs");
  if (failed(inputs) || failed(outputs))
    return failure();
  JsonValue op, token;
  unsigned number = 0;
  for (JsonValue input : inputs->children())
    if (number++ == 1)
      op = input.find("arg").find("as_operator");
  for (JsonValue output : outputs->children()) {
    token = output.find("as_tensor").find("name");
    break;
  }
  if (!op.isString() || !token.isString())
    return fields.fail(node.json,
                       fx::quoted(node.target) +
                           " does not say its op, or gives no token",
                       kDamaged);
  if (!frame.bind(fields.text(token), Value()))
    return fields.fail(
        token, fx::quoted(fields.text(token)) + " is defined twice", kDamaged);
  inner.target = fields.text(op);
  return readCall(inner, frame);
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

LogicalResult GraphReader::readHigherOrder(const Node &node, Frame &frame) {
  StringRef name = node.target;
  name.consume_front("torch.ops.higher_order.");
  if (name == "wrap_with_set_grad_enabled")
    return readGradientRegion(node, frame);
  if (name == "wrap_with_autocast")
    return readAutocastRegion(node, frame);
  if (name == "with_effects")
    return readEffect(node, frame);
  if (name == "tag_activation_checkpoint" ||
      name == "wrap_activation_checkpoint")
    return readCheckpoint(node, frame);
  if (name == "invoke_subgraph") {
    Region region;
    SmallVector<Value> outputs;
    if (failed(readRegion(node, frame, region)))
      return failure();
    // The identifier stands behind the graph.
    if (!region.operands.empty() && !region.operands.front())
      region.operands.erase(region.operands.begin());
    if (failed(inlineGraph(region, outputs)))
      return failure();
    return bindOutputs(node, frame, outputs);
  }
  // A map is a scan that carries nothing.
  StringRef callee = name == "map_impl" ? "scan" : name;
  if (callee == "cond" || callee == "while_loop" || callee == "scan")
    return readNested(node,
                      *joint::nestedKindOf(("higher_order." + callee).str()),
                      callee, frame);
  std::string origin = "the model";
  LocationAttr location = node.place.location;
  if (auto place = location.findInstanceOf<FileLineColLoc>();
      place && place.getFilename().getValue() != fields.source.name() &&
      !place.getFilename().getValue().starts_with("<"))
    origin = place.getFilename().str() + ":" + std::to_string(place.getLine());
  return fields.fail(node.json.find("target"),
                     fx::quoted(name) + " from " + origin +
                         " cannot be differentiated here",
                     "write it without torch." + name.str() +
                         " (a Python loop, say), and export the model again");
}
