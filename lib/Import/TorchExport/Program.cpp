// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the JSON of an exported program to a `joint.graph`.
//
//   1. The graph's inputs become arguments, with the roles that the input
//      specs give: a parameter, buffer or constant by its qualified name. An
//      input that is a constant is in the nodes already, and left out.
//   2. The nodes become ops (GraphReader).
//   3. The output specs say what each output is: a forward result, the new
//      value of an argument, which becomes a `joint.write`, or a gradient.
//
// A forward program is a graph without gradients. A joint program has its
// gradient seed inside, `full_like(loss, 1)`, which the partition knows.

#include "Program.h"

#include "../Roles.h"
#include "SharedStorage.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;
using joint::RoleAttr;
using joint::RoleKind;

namespace {

/// The schema's major version that torch 2.5 and later write.
constexpr int64_t kNewestMajor = 8;
/// Attributes of arguments; see Import.h.
constexpr llvm::StringLiteral kRequiresGrad = "joint.requires_grad";
constexpr llvm::StringLiteral kTied = "joint.tied";
constexpr llvm::StringLiteral kShares = "joint.shares";
constexpr llvm::StringLiteral kForeignInput =
    "custom objects have no place in a training graph; export the model "
    "without them";

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

class ProgramReader {
public:
  ProgramReader(Fields &fields, const ProgramRequest &request,
                ImportCounts &counts)
      : fields(fields), request(request), counts(counts), graph(fields, counts),
        builder(fields.context) {
    graph.scope.isStrict = request.isStrict;
  }

  LogicalResult read(JsonValue root);
  joint::GraphOp finish(OpBuilder &at);
  bool hasGradients() const { return !gradients.empty(); }

private:
  struct Gradient {
    unsigned argument;
    Value value;
    JsonValue at;
  };

  LogicalResult checkVersion(JsonValue root);
  LogicalResult readRanges(JsonValue root);
  LogicalResult readInputs(JsonValue json, JsonValue specs);
  LogicalResult readInput(JsonValue input, JsonValue spec);
  LogicalResult readToken(JsonValue value);
  LogicalResult addInput(RoleKind kind, StringRef role, StringRef name,
                         JsonValue at, bool isScalar);
  LogicalResult readOutputs(JsonValue json, JsonValue specs);
  LogicalResult readOutput(JsonValue spec);
  LogicalResult addWrite(Value value, StringRef target, bool isName,
                         JsonValue at);
  LogicalResult addGradient(Value value, StringRef target, bool isName,
                            JsonValue at);
  LogicalResult checkGradients();
  LogicalResult keepOldValues();
  FailureOr<Value> resultOf(JsonValue arg);
  FailureOr<unsigned> findArgument(StringRef target, bool isName,
                                   JsonValue at) const;
  SmallVector<DictionaryAttr> argumentAttrs();
  LogicalResult checkWeights(JsonValue at) const;

  Fields &fields;
  const ProgramRequest &request;
  ImportCounts &counts;
  GraphReader graph;
  Frame frame;
  Builder builder;
  SmallVector<RoleAttr> roles; ///< by argument
  SmallVector<bool> requiresGrad;
  llvm::StringMap<unsigned> byFqn, byName; ///< arguments
  SmallVector<Value> results;
  SmallVector<Gradient> gradients;
};

} // namespace

LogicalResult ProgramReader::checkVersion(JsonValue root) {
  JsonValue version = root.find("schema_version");
  std::optional<int64_t> major =
      version.isObject() ? version.find("major").asInt() : version.asInt();
  if (!major)
    return fields.fail(version ? version : root,
                       "this program does not say its schema version",
                       "a program that torch.export wrote has "
                       "'schema_version'; check the file");
  if (*major > kNewestMajor)
    return fields.fail(version,
                       "this program has schema version " + Twine(*major) +
                           ", and " + Twine(kNewestMajor) +
                           " is the newest that is known",
                       "export it with torch 2.14 or before, or use a newer "
                       "cutback");
  return success();
}

LogicalResult ProgramReader::readRanges(JsonValue root) {
  JsonValue ranges = root.find("range_constraints");
  if (!ranges.isObject())
    return success();
  auto range = ranges.children();
  for (auto it = range.begin(); it != range.end(); ++it) {
    StringRef symbol = fields.text(*it);
    ++it;
    fx::SymbolHint &hint = graph.types.hints.symbols[symbol];
    hint.min = (*it).find("min_val").asInt();
    hint.max = (*it).find("max_val").asInt();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

LogicalResult ProgramReader::addInput(RoleKind kind, StringRef role,
                                      StringRef name, JsonValue at,
                                      bool isScalar) {
  FailureOr<BlockArgument> argument =
      graph.addArgument(frame, name, at, isScalar);
  if (failed(argument))
    return failure();
  unsigned number = argument->getArgNumber();
  roles.push_back(RoleAttr::get(
      fields.context, kind,
      role.empty() ? StringAttr() : builder.getStringAttr(role), -1, false));
  const Types::Tensor *tensor =
      isScalar ? nullptr : graph.types.tensor(frame.tensorOf(name));
  requiresGrad.push_back(tensor && tensor->requiresGrad);
  byName[name] = number;
  if (!role.empty() && !byFqn.try_emplace(role, number).second)
    return fields.fail(at, fx::quoted(role) + " is two inputs", kDamaged);
  return success();
}

LogicalResult ProgramReader::readInput(JsonValue input, JsonValue spec) {
  FailureOr<Fields::Variant> variant = fields.variant(spec);
  if (failed(variant))
    return failure();
  StringRef kind = variant->kind;
  JsonValue value = variant->value;
  auto named = [&](RoleKind role, StringRef key) -> LogicalResult {
    FailureOr<StringRef> fqn = fields.text(value, key);
    FailureOr<JsonValue> arg = fields.get(value, "arg", JsonKind::Object);
    if (failed(fqn) || failed(arg))
      return failure();
    FailureOr<StringRef> name = fields.text(*arg, "name");
    if (failed(name))
      return failure();
    return addInput(role, *fqn, *name, *arg, false);
  };
  if (kind == "parameter")
    return named(RoleKind::Param, "parameter_name");
  if (kind == "buffer")
    return named(RoleKind::Buffer, "buffer_name");
  if (kind == "tensor_constant")
    return named(RoleKind::Constant, "tensor_constant_name");
  if (kind == "constant_input")
    return success(); // the nodes hold its value
  if (kind == "token")
    return readToken(value);
  if (kind != "user_input")
    return fields.fail(spec,
                       "an input of kind " + fx::quoted(kind) + " is not read",
                       kForeignInput);
  FailureOr<JsonValue> arg = fields.get(value, "arg", JsonKind::Object);
  if (failed(arg))
    return failure();
  FailureOr<Fields::Variant> what = fields.variant(*arg);
  if (failed(what))
    return failure();
  JsonValue inner = what->value;
  if (what->kind == "as_tensor") {
    FailureOr<StringRef> name = fields.text(inner, "name");
    if (failed(name))
      return failure();
    return addInput(RoleKind::Input, "", *name, *arg, false);
  }
  bool isSymbolic = what->kind == "as_sym_int" ||
                    what->kind == "as_sym_float" || what->kind == "as_sym_bool";
  if (JsonValue name = inner.find("as_name"); isSymbolic && name.isString())
    return addInput(RoleKind::Size, "", fields.text(name), *arg, true);
  bool isLiteral = isSymbolic || what->kind == "as_int" ||
                   what->kind == "as_float" || what->kind == "as_bool" ||
                   what->kind == "as_string" || what->kind == "as_none";
  if (isLiteral)
    return success();
  return fields.fail(
      *arg, "an input of kind " + fx::quoted(what->kind) + " is not read",
      kForeignInput);
}

/// What orders calls that have effects in PyTorch's functional graphs. Here ops
/// with effects stay in their order, so a token is no value.
LogicalResult ProgramReader::readToken(JsonValue value) {
  FailureOr<JsonValue> arg = fields.get(value, "arg", JsonKind::Object);
  if (failed(arg))
    return failure();
  FailureOr<StringRef> name = fields.text(*arg, "name");
  if (failed(name))
    return failure();
  if (frame.bind(*name, Value()))
    return success();
  return fields.fail(*arg, fx::quoted(*name) + " is defined twice", kDamaged);
}

LogicalResult ProgramReader::readInputs(JsonValue json, JsonValue specs) {
  FailureOr<JsonValue> inputs = fields.list(json, "inputs");
  if (failed(inputs))
    return failure();
  if (inputs->size() != specs.size())
    return fields.fail(specs,
                       "the graph has " + Twine(inputs->size()) +
                           " inputs, its signature " + Twine(specs.size()),
                       kDamaged);
  auto spec = specs.children().begin();
  for (JsonValue input : inputs->children()) {
    if (failed(readInput(input, *spec)))
      return failure();
    ++spec;
  }
  graph.endArguments();
  if (failed(checkWeights(specs)))
    return failure();
  counts.arguments = graph.scope.arguments.size();
  return success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The value that an output spec names; null for None and for literals.
FailureOr<Value> ProgramReader::resultOf(JsonValue arg) {
  JsonValue name = arg.find("name");
  if (!name) {
    FailureOr<Fields::Variant> variant = fields.variant(arg);
    if (failed(variant))
      return failure();
    name = variant->value.find("name");
    if (!name)
      name = variant->value.find("as_name");
  }
  if (!name.isString())
    return Value();
  return graph.arguments.value(name, fields.text(name), frame);
}

FailureOr<unsigned> ProgramReader::findArgument(StringRef target, bool isName,
                                                JsonValue at) const {
  const auto &table = isName ? byName : byFqn;
  auto it = table.find(target);
  if (it != table.end())
    return it->second;
  return fields.fail(at, "there is no input " + fx::quoted(target), kDamaged);
}

LogicalResult ProgramReader::addWrite(Value value, StringRef target,
                                      bool isName, JsonValue at) {
  FailureOr<unsigned> number = findArgument(target, isName, at);
  if (failed(number))
    return failure();
  BlockArgument argument = graph.scope.block().getArgument(*number);
  auto to = dyn_cast<RankedTensorType>(argument.getType());
  auto from =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!to || !from || failed(verifyCompatibleShape(to, from)))
    return fields.fail(at,
                       "the new value of " + fx::quoted(target) +
                           " has another shape than it",
                       kDamaged);
  if (value == argument)
    return success();
  // The builder stands at the end of the block throughout.
  joint::WriteOp::create(graph.scope.builder, graph.locate(at), to, argument,
                         value, joint::Side::Forward, ArrayAttr());
  return success();
}

LogicalResult ProgramReader::addGradient(Value value, StringRef target,
                                         bool isName, JsonValue at) {
  FailureOr<unsigned> number = findArgument(target, isName, at);
  if (failed(number))
    return failure();
  if (value)
    gradients.push_back({*number, value, at});
  return success();
}

LogicalResult ProgramReader::readOutput(JsonValue spec) {
  FailureOr<Fields::Variant> variant = fields.variant(spec);
  if (failed(variant))
    return failure();
  auto [kind, body] = *variant;
  FailureOr<JsonValue> arg = fields.get(body, "arg", JsonKind::Object);
  if (failed(arg))
    return failure();
  FailureOr<Value> value = resultOf(*arg);
  if (failed(value))
    return failure();
  if (kind == "token")
    return success();
  if (kind == "user_output" || kind == "loss_output") {
    if (*value)
      results.push_back(*value);
    return success();
  }
  struct Kind {
    StringRef kind, key;
    bool isGradient, isName;
  };
  static constexpr Kind kKinds[] = {
      {"buffer_mutation", "buffer_name", false, false},
      {"parameter_mutation", "parameter_name", false, false},
      {"user_input_mutation", "user_input_name", false, true},
      {"gradient_to_parameter", "parameter_name", true, false},
      {"gradient_to_user_input", "user_input_name", true, true}};
  for (const Kind &entry : kKinds) {
    if (entry.kind != kind)
      continue;
    FailureOr<StringRef> target = fields.text(body, entry.key);
    if (failed(target))
      return failure();
    return entry.isGradient ? addGradient(*value, *target, entry.isName, spec)
                            : addWrite(*value, *target, entry.isName, spec);
  }
  return fields.fail(
      spec, "an output of kind " + fx::quoted(kind) + " is not read", kNewer);
}

LogicalResult ProgramReader::checkGradients() {
  llvm::stable_sort(gradients, [](const Gradient &a, const Gradient &b) {
    return a.argument < b.argument;
  });
  const Gradient *last = nullptr;
  for (const Gradient &gradient : gradients) {
    StringRef name = graph.scope.arguments[gradient.argument].name;
    if (last && last->argument == gradient.argument)
      return fields.fail(gradient.at,
                         "input " + fx::quoted(name) + " has two gradients",
                         kDamaged);
    last = &gradient;
    Type type = graph.scope.block().getArgument(gradient.argument).getType();
    if (fx::refineGradient(gradient.value, type))
      continue;
    return fields.fail(gradient.at,
                       "the gradient of input " + fx::quoted(name) +
                           " has type " + textOf(gradient.value.getType()) +
                           ", the input " + textOf(type),
                       kDamaged);
  }
  return success();
}

LogicalResult ProgramReader::readOutputs(JsonValue json, JsonValue specs) {
  FailureOr<JsonValue> outputs = fields.list(json, "outputs");
  if (failed(outputs))
    return failure();
  if (outputs->size() != specs.size())
    return fields.fail(specs,
                       "the graph has " + Twine(outputs->size()) +
                           " outputs, its signature " + Twine(specs.size()),
                       kDamaged);
  for (JsonValue spec : specs.children())
    if (failed(readOutput(spec)))
      return failure();
  return success(succeeded(checkGradients()) && succeeded(keepOldValues()));
}

/// The graph reads what an argument was before its write; a backward that
/// recomputes such an op would find the new value there. So the old one is
/// kept in a copy, which is saved.
LogicalResult ProgramReader::keepOldValues() {
  if (gradients.empty())
    return success();
  Block &block = graph.scope.block();
  OpBuilder front(fields.context);
  front.setInsertionPointToStart(&block);
  for (Operation &op : block) {
    auto write = dyn_cast<joint::WriteOp>(op);
    Value old = write ? write.getDestination() : Value();
    if (!old || old.hasOneUse())
      continue;
    aten::CallBuilder calls(front, write.getLoc());
    Value copy = calls.call("aten.clone.default", {old});
    if (!copy)
      return failure();
    ++counts.ops;
    Operation *clone = copy.getDefiningOp();
    clone->setAttr("names", builder.getStrArrayAttr(graph.uniqueName(
                                (graph.nameOf(old) + "_old").str())));
    clone->setDiscardableAttr(
        joint::JointDialect::kPolicy,
        joint::PolicyAttr::get(fields.context, joint::PolicyKind::MustSave,
                               -1));
    old.replaceUsesWithIf(copy, [&](OpOperand &use) {
      return use.getOwner() != clone && use.getOwner() != write;
    });
    for (Value &result : results)
      result = result == old ? copy : result;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

LogicalResult ProgramReader::read(JsonValue root) {
  if (failed(checkVersion(root)) || failed(readRanges(root)))
    return failure();
  FailureOr<JsonValue> module =
      fields.get(root, "graph_module", JsonKind::Object);
  if (failed(module))
    return failure();
  FailureOr<JsonValue> json = fields.get(*module, "graph", JsonKind::Object);
  FailureOr<JsonValue> signature =
      fields.get(*module, "signature", JsonKind::Object);
  if (failed(json) || failed(signature) || failed(frame.declare(*json, fields)))
    return failure();
  FailureOr<JsonValue> inputs = fields.list(*signature, "input_specs");
  FailureOr<JsonValue> outputs = fields.list(*signature, "output_specs");
  if (failed(inputs) || failed(outputs) || failed(readInputs(*json, *inputs)) ||
      failed(graph.readNodes(*json, frame)) || failed(graph.checkFaults()) ||
      failed(readOutputs(*json, *outputs)))
    return failure();
  return success();
}

SmallVector<DictionaryAttr> ProgramReader::argumentAttrs() {
  SmallVector<DictionaryAttr> all;
  SharedStorage shared =
      findShared(roles, graph.scope.block(), request.weights);
  for (auto [i, argument] : llvm::enumerate(graph.scope.arguments)) {
    NamedAttrList attrs;
    attrs.set(joint::JointDialect::kName, builder.getStringAttr(argument.name));
    attrs.set(joint::JointDialect::kRole, roles[i]);
    if (argument.type->dims)
      attrs.set(joint::JointDialect::kDims, argument.type->dims);
    if (argument.type->strides)
      attrs.set(joint::JointDialect::kStrides, argument.type->strides);
    if (requiresGrad[i])
      attrs.set(kRequiresGrad, builder.getUnitAttr());
    if (!shared.tied[i].empty())
      attrs.set(kTied, builder.getStringAttr(shared.tied[i]));
    if (!shared.shares[i].empty())
      attrs.set(kShares, builder.getStringAttr(shared.shares[i]));
    all.push_back(attrs.getDictionary(fields.context));
  }
  return all;
}

/// Each tensor that the archive should hold is there, as the program has it.
LogicalResult ProgramReader::checkWeights(JsonValue at) const {
  const WeightFile *weights = request.weights;
  for (auto [i, role] : llvm::enumerate(roles)) {
    if (!weights || !role.getName())
      continue;
    // Buffers are in one list or the other.
    bool isListed =
        (role.getKind() == RoleKind::Constant || weights->listsWeights) &&
        (role.getKind() == RoleKind::Param || weights->listsConstants);
    StringRef name = role.getName().getValue();
    const WeightTensor *tensor = weights->find(name);
    if (!tensor && isListed)
      return fields.fail(at, "the archive has no data for " + fx::quoted(name),
                         kDamaged);
    if (!tensor)
      continue;
    Type stored = RankedTensorType::get(tensor->sizes, tensor->elementType);
    Type declared = graph.scope.arguments[i].type->type;
    if (succeeded(verifyCompatibleShape(stored, declared)) &&
        getElementTypeOrSelf(declared) == tensor->elementType)
      continue;
    return fields.fail(at,
                       fx::quoted(name) + " is a " + textOf(declared) +
                           " in the program, and a " + textOf(stored) +
                           " in the archive",
                       kDamaged);
  }
  return success();
}

joint::GraphOp ProgramReader::finish(OpBuilder &at) {
  fx::Scope &scope = graph.scope;
  Location location = graph.places.whole();
  SmallVector<int32_t> gradientOf;
  int64_t numForward = results.size();
  for (const Gradient &gradient : gradients) {
    results.push_back(gradient.value);
    gradientOf.push_back(static_cast<int32_t>(gradient.argument));
  }
  joint::OutputOp::create(scope.builder, location, results,
                          builder.getDenseI32ArrayAttr(gradientOf));
  auto type = builder.getFunctionType(scope.block().getArgumentTypes(),
                                      TypeRange(ValueRange(results)));
  auto op = joint::GraphOp::create(at, location, request.symbolName, type,
                                   numForward, argumentAttrs());
  if (DictionaryAttr wishes = graph.regionWishes())
    op->setAttr(joint::JointDialect::kRegions, wishes);
  if (DictionaryAttr symbols = fx::symbolAttrs(scope, &graph.types.hints))
    op.setSymbolsAttr(symbols);
  op.getBody().takeBody(scope.region);
  return op;
}

FailureOr<joint::GraphOp> pt2::importProgram(const ProgramRequest &request,
                                             OpBuilder &builder,
                                             ImportCounts &counts,
                                             GraphKind &kind) {
  counts = ImportCounts();
  Fields fields(builder.getContext(), request.source);
  JsonDocument document;
  if (failed(fields.parse(document)))
    return failure();
  ProgramReader reader(fields, request, counts);
  if (failed(reader.read(document.root())))
    return failure();
  kind = reader.hasGradients() ? GraphKind::Joint : GraphKind::Forward;
  return reader.finish(builder);
}

GraphKind pt2::sniffProgramKind(StringRef text) {
  for (StringRef word : {"\"gradient_to_parameter\"",
                         "\"gradient_to_user_input\"", "\"loss_output\""})
    if (text.contains(word))
      return GraphKind::Joint;
  return GraphKind::Forward;
}
