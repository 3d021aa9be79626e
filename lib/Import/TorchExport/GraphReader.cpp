// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A node says all at once: target, arguments by name, results with their
// declarations, place. So an op is made node by node, with the machinery of
// the text reader (Calls.h): schema, defaults, inference, the check of declared
// types against it, and `joint.opaque` for what has no schema.
//
// Programs that were not decomposed change values in place. Those calls are
// made as they stand, with the effects that their schema says; a pass makes
// them functional later. For it, a call that PyTorch answers with a view or
// with a copy, as strides will, is marked where it is a view (`joint.aliases`).

#include "GraphReader.h"

#include "ComplexNumbers.h"

#include "Views.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

GraphReader::GraphReader(Fields &fields, ImportCounts &counts)
    : fields(fields), counts(counts), scope(fields.context, fields.source),
      calls(scope, counts), types(fields, scope.types),
      arguments(fields, types), places(fields),
      nodeLocation(UnknownLoc::get(fields.context)), saver(allocator) {
  arguments.makeComplex = [this](double real, double imaginary) {
    return complexNumber(real, imaginary);
  };
}

/// A complex literal as a tensor without dimensions, which promotes others as
/// the number does.
Value GraphReader::complexNumber(double real, double imaginary) {
  aten::CallBuilder builder(scope.builder, nodeLocation);
  Value parts[] = {builder.call("aten.scalar_tensor.default", {real}),
                   builder.call("aten.scalar_tensor.default", {imaginary})};
  Value number = builder.call("aten.complex.default", {parts[0], parts[1]});
  if (!number)
    return {};
  for (Value value : {parts[0], parts[1], number}) {
    ++counts.ops;
    value.getDefiningOp()->setAttr(
        "names", scope.builder.getStrArrayAttr(uniqueName("complex")));
  }
  return number;
}

Location GraphReader::locate(JsonValue at) {
  const char *position = at ? at.raw().data() : nullptr;
  if (position < std::max(cursor.last, scope.source.text().begin()))
    return places.whole();
  return scope.source.locate(scope.context, position, cursor);
}

StringRef GraphReader::uniqueName(StringRef name) {
  auto [it, isNew] = usedNames.try_emplace(name, 0);
  if (isNew)
    return it->first();        // as long as this lives
  unsigned &last = it->second; // entries stay where they are
  while (true) {
    std::string other = name.str() + "_s" + std::to_string(++last);
    if (usedNames.try_emplace(other, 0).second)
      return saver.save(other);
  }
}

FailureOr<BlockArgument> GraphReader::addArgument(Frame &frame, StringRef name,
                                                  JsonValue at, bool isScalar) {
  fx::Argument argument;
  argument.name = name;
  bool wantsGradient = false;
  if (isScalar) {
    JsonValue declared = frame.scalarOf(name);
    argument.type = declared ? types.scalar(declared) : nullptr;
    if (!declared)
      return fields.fail(at, "input " + fx::quoted(name) + " has no type",
                         kDamaged);
  } else {
    JsonValue meta = frame.tensorOf(name);
    if (!meta)
      return fields.fail(at, "input " + fx::quoted(name) + " has no type",
                         kDamaged);
    if (const Types::Tensor *tensor = types.tensor(meta, name)) {
      argument.type = tensor->type;
      wantsGradient = tensor->requiresGrad;
    }
  }
  if (!argument.type)
    return failure();
  BlockArgument value =
      scope.block().addArgument(argument.type->type, locate(at));
  scope.types.bindSymbols(*argument.type);
  scope.arguments.push_back(argument);
  if (!frame.bind(name, value))
    return fields.fail(at, fx::quoted(name) + " is defined twice", kDamaged);
  usedNames.try_emplace(name, 0);
  if (wantsGradient)
    argumentsWithGradient.insert(value);
  return value;
}

void GraphReader::endArguments() { types.forget(); }

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult GraphReader::addResult(JsonValue at, JsonValue nameField,
                                     const Frame &frame, bool isScalar) {
  if (!nameField.isString())
    return fields.fail(at,
                       Twine("expected the name of a value, found ") +
                           describe(nameField.kind()),
                       kDamaged);
  StringRef name = fields.text(nameField);
  JsonValue declared = isScalar ? frame.scalarOf(name) : frame.tensorOf(name);
  if (!declared)
    return fields.fail(at, fx::quoted(name) + " has no type", kDamaged);
  fx::CallStatement result;
  result.at = result.typeAt = declared.raw().data();
  if (isScalar) {
    result.declared = types.scalar(declared);
  } else if (const Types::Tensor *tensor = types.tensor(declared, name)) {
    result.declared = tensor->type;
  }
  if (!result.declared)
    return failure();
  // PyTorch names what nobody uses after the node.
  bool isUnused = name.rsplit("_unused_").first.size() != name.size() &&
                  !name.rsplit("_unused_").second.empty();
  if (!isUnused)
    result.name = uniqueName(name);
  results.push_back(result);
  resultNames.push_back(name);
  return success();
}

LogicalResult GraphReader::readResults(const Node &node, const Frame &frame) {
  results.clear();
  resultNames.clear();
  FailureOr<JsonValue> outputs = fields.list(node.json, "outputs");
  if (failed(outputs))
    return failure();
  unsigned number = 0;
  for (JsonValue output : outputs->children()) {
    FailureOr<Fields::Variant> variant = fields.variant(output);
    if (failed(variant))
      return failure();
    auto [kind, value] = *variant;
    // Behind a token stands None if the op gives nothing.
    if (number++ < node.firstOutput || (node.firstOutput && kind == "as_none"))
      continue;
    auto addTensor = [&](JsonValue entry) -> LogicalResult {
      if (JsonValue inner = entry.find("as_tensor"))
        entry = inner;
      if (!entry.find("as_none"))
        return addResult(entry, entry.find("name"), frame, false);
      results.emplace_back();
      resultNames.emplace_back();
      return success();
    };
    if (kind == "as_tensor" || kind == "as_optional_tensor") {
      if (failed(addTensor(value)))
        return failure();
    } else if (kind == "as_tensors" || kind == "as_optional_tensors") {
      for (JsonValue entry : value.children())
        if (failed(addTensor(entry)))
          return failure();
    } else if (kind == "as_sym_int" || kind == "as_sym_float" ||
               kind == "as_sym_bool") {
      if (failed(addResult(value, value.find("as_name"), frame, true)))
        return failure();
    } else if (kind == "as_none") {
      results.emplace_back();
      resultNames.emplace_back();
    } else {
      return fields.fail(
          output, "a result of kind " + fx::quoted(kind) + " is not read",
          kNewer);
    }
  }
  return success();
}

/// The operand that is `result`, or `result`: `mse_loss` of a region without
/// gradients leaves names behind that stand for its operands.
Value GraphReader::handedThrough(OpResult result, const Frame &frame) {
  Operation *op = result.getOwner();
  ArrayRef<StringRef> names = arguments.operandNames();
  size_t at = op->getNumResults() > 1 ? result.getResultNumber() : 0;
  if (at >= names.size() || at >= op->getNumOperands())
    return result;
  JsonValue from = frame.tensorOf(names[at]);
  JsonValue to = frame.tensorOf(resultNames[result.getResultNumber()]);
  const Types::Tensor *source = from ? types.tensor(from) : nullptr;
  const Types::Tensor *target = to ? types.tensor(to) : nullptr;
  Value operand = op->getOperand(at);
  bool isSame = source && target && operand.getType() == result.getType() &&
                isItself(op, *source, *target);
  return isSame ? operand : Value(result);
}

LogicalResult GraphReader::bindResults(const Node &node, Operation *op,
                                       Frame &frame) {
  for (OpResult result : op->getResults()) {
    StringRef name = resultNames[result.getResultNumber()];
    Value value = hasGradients ? result : handedThrough(result, frame);
    if (!name.empty() && !frame.bind(name, value))
      return fields.fail(node.json, fx::quoted(name) + " is defined twice",
                         kDamaged);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

LogicalResult GraphReader::readAssert(const Node &node,
                                      const fx::CallTarget &target,
                                      Frame &frame) {
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  if (failed(inputs) ||
      failed(arguments.read(*inputs, nullptr, frame, args, node.firstInput)))
    return failure();
  StringAttr message = scope.builder.getStringAttr("");
  if (args.values.size() > 1)
    message = dyn_cast<StringAttr>(args.values[1]);
  if (args.operands.size() != 1 || !message || args.values.size() > 2)
    return fields.fail(node.json, "a check takes a condition and a message",
                       kDamaged);
  auto check = joint::AssertOp::create(
      scope.builder, node.place.location, args.operands[0], message,
      scope.builder.getStringAttr(target.name), ArrayAttr());
  ++counts.ops;
  if (node.place.policy)
    check->setDiscardableAttr(joint::JointDialect::kPolicy, node.place.policy);
  return success();
}

/// A target that is no op of a library.
LogicalResult GraphReader::failForeign(const Node &node) {
  JsonValue at = node.json.find("target");
  if (node.target.starts_with("torch._functorch."))
    return fields.fail(at,
                       fx::quoted(node.target) +
                           " is a step of torch.vmap or torch.func that the "
                           "export has left in the program",
                       "call run_decompositions() on the program before it is "
                       "saved: that takes it apart");
  return fields.fail(
      at, fx::quoted(node.target) + " is not an op that a program has",
      "call run_decompositions() on the program before it is saved; if that "
      "does not help, write the model without it");
}

/// A tensor without dimensions says into how many pieces to split, and so does
/// the program: then it is the call that takes their number, else null.
const fx::CallTarget *GraphReader::splitTarget(const fx::CallTarget &target) {
  if (target.name != "aten.tensor_split.tensor_indices_or_sections" ||
      args.operands.size() != 2 || results.empty())
    return nullptr;
  auto places = dyn_cast<RankedTensorType>(args.operands[1].getType());
  if (!places || places.getRank() != 0)
    return nullptr;
  args.operands.pop_back();
  for (auto [i, keyword] : llvm::enumerate(args.keywords))
    if (keyword == target.schema->params[1].name)
      keyword = "sections";
  size_t second = 0; // the place of the second operand
  for (auto [i, value] : llvm::enumerate(args.values))
    if (isa<joint::OperandAttr>(value))
      second = i;
  args.values[second] = scope.builder.getI64IntegerAttr(results.size());
  return &calls.target("torch.ops.aten.tensor_split.sections");
}

FailureOr<const fx::CallTarget *>
GraphReader::settleTarget(const Node &node, const fx::CallTarget &target) {
  if (const fx::CallTarget *split = splitTarget(target))
    return split;
  if (!target.schema || args.operands.empty())
    return &target;
  return ComplexNumbers(*this, args,
                        results.size() == 1 ? &results.front() : nullptr,
                        node.place, node.json)
      .settle(target);
}

const fx::CallTarget &GraphReader::targetOf(const Node &node) {
  StringRef path = node.target;
  if (path.consume_front("_operator."))
    return calls.target(("operator." + path).str());
  return calls.target(path);
}

LogicalResult GraphReader::readCall(const Node &node, Frame &frame) {
  const fx::CallTarget &target = targetOf(node);
  nodeLocation = node.place.location;
  if (isForeach(target))
    return readForeach(node, target, frame);
  switch (target.kind) {
  case fx::CallTarget::Check:
    ++counts.droppedChecks;
    return success();
  case fx::CallTarget::Assert:
    return readAssert(node, target, frame);
  case fx::CallTarget::Foreign:
    return failForeign(node);
  case fx::CallTarget::Copy:
  case fx::CallTarget::InPlace:
    if (!target.schema)
      return fields.fail(node.json.find("target"),
                         fx::quoted(target.name) +
                             " changes its operand in place, and is not known",
                         "call run_decompositions() on the program before it "
                         "is saved: that makes it functional");
    break;
  default:
    break;
  }
  if (isOutVariant(target))
    return readOutVariant(node, target, frame);
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  if (failed(inputs) ||
      failed(arguments.read(*inputs, target.schema, frame, args,
                            node.firstInput)) ||
      failed(readResults(node, frame)))
    return failure();
  if (target.schema && autocast.isActive() &&
      failed(castOperands(node, *target.schema, frame)))
    return failure();
  if (target.schema && target.schema->packet.starts_with("aten.as_strided") &&
      failed(placeStrided(node, *target.schema, frame)))
    return failure();
  if (target.kind == fx::CallTarget::InPlace && !hasGradients)
    detachOperands(node);
  FailureOr<const fx::CallTarget *> called = settleTarget(node, target);
  if (failed(called))
    return failure();
  fx::CallStatement statement;
  statement.name = node.name;
  // Older releases do not write it; it is that of the first result.
  if (statement.name.empty() && !resultNames.empty())
    statement.name = resultNames.front();
  statement.at = node.json.raw().data();
  FailureOr<Operation *> op =
      calls.buildDeclared(**called, args, statement, results, node.place);
  if (failed(op) || failed(bindResults(node, *op, frame)))
    return failure();
  markView(*op, node, frame);
  noteGradientMode(*op);
  return success();
}

void GraphReader::markView(Operation *op, const Node &node,
                           const Frame &frame) {
  if (!mayBeView(op))
    return;
  JsonValue first;
  for (JsonValue input : node.json.find("inputs").children()) {
    first = input.find("arg").find("as_tensor").find("name");
    break;
  }
  JsonValue from = frame.tensorOf(ref(first.raw()));
  JsonValue to = frame.tensorOf(resultNames.front());
  const Types::Tensor *source = from ? types.tensor(from) : nullptr;
  const Types::Tensor *result = to ? types.tensor(to) : nullptr;
  if (source && result && isView(op, *source, *result))
    op->setDiscardableAttr(kAliases, scope.builder.getUnitAttr());
}

/// torch 2.13 decomposes CPU attention in joint programs and leaves its
/// gradient whole, which then takes the attention matrix for `logsumexp`.
LogicalResult GraphReader::checkFaults() const {
  if (!attentionBackward || hasAttentionForward)
    return success();
  return fields.fail(
      attentionBackward,
      "the gradient of attention is wrong in this program: its "
      "'_scaled_dot_product_flash_attention_for_cpu_backward' takes the "
      "results of a forward that was decomposed",
      "export it under torch.nn.attention.sdpa_kernel(SDPBackend.MATH), or "
      "give the forward program, which is differentiated here");
}

LogicalResult GraphReader::readNode(JsonValue json, Frame &frame) {
  Node node;
  node.json = json;
  FailureOr<StringRef> target = fields.text(json, "target");
  if (failed(target))
    return failure();
  node.target = *target;
  if (JsonValue name = json.find("name"); name.isString())
    node.name = fields.text(name);
  node.place = places.read(json);
  if (!checkpoint.empty() && !node.place.policy)
    node.place.policy = joint::PolicyAttr::get(
        fields.context, joint::PolicyKind::PreferRecompute, checkpoint,
        /*run=*/0);
  StringRef op = node.target;
  if (op.consume_front(
          "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu")) {
    hasAttentionForward |= !op.starts_with("_backward");
    if (op.starts_with("_backward"))
      attentionBackward = json;
  }
  if (node.target.starts_with("torch.ops.higher_order."))
    return readHigherOrder(node, frame);
  return readCall(node, frame);
}

LogicalResult GraphReader::readNodes(JsonValue graph, Frame &frame) {
  FailureOr<JsonValue> nodes = fields.list(graph, "nodes");
  if (failed(nodes))
    return failure();
  for (JsonValue node : nodes->children())
    if (failed(readNode(node, frame)))
      return failure();
  return success();
}
