// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls on lists of tensors: `_foreach_add([a, b], [c, d])` is `a + c` and
// `b + d`. No such call has an op of its own. Call i of the op without
// `_foreach_` takes entry i of each list and what is no list as it is; its
// overload is the one for a tensor or for a number, as the last argument that
// is given by its place says. Arguments keep their names where the op has them
// too, else their places: `scalars` of addcdiv is its `value`.
//
// A norm has its formula in another op, and a bound by a number is `clamp_min`
// or `clamp_max`. What has no such op is refused by the caller, by its name.

#include "GraphReader.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

static constexpr StringLiteral kForeach = "aten._foreach_";

/// One argument of a call on lists: an entry, or a list with one for each call.
struct GraphReader::ForeachArgument {
  StringRef name;
  bool isList = false;
  SmallVector<Attribute> values; ///< `#joint.operand` where operands say it
  SmallVector<Value> operands;   ///< null for what is no operand

  size_t at(size_t call) const { return isList ? call : 0; }
  bool isOperand() const { return !operands.empty() && operands.front(); }
};

bool GraphReader::isForeach(const fx::CallTarget &target) {
  return !target.schema && target.name.starts_with(kForeach);
}

/// The arguments in `args`; empty if lists have different lengths, or if the
/// first is none.
std::vector<GraphReader::ForeachArgument>
GraphReader::foreachArguments(JsonValue inputs) {
  std::vector<ForeachArgument> all;
  size_t next = 0;
  for (JsonValue input : inputs.children()) {
    Attribute value = args.values[all.size()];
    ForeachArgument &argument = all.emplace_back();
    argument.name = fields.text(input.find("name"));
    auto list = dyn_cast<ArrayAttr>(value);
    argument.isList = list != nullptr;
    argument.values.assign(1, value);
    if (list)
      argument.values.assign(list.begin(), list.end());
    for (Attribute entry : argument.values)
      argument.operands.push_back(
          isa<joint::OperandAttr>(entry) ? args.operands[next++] : Value());
    if (argument.isList &&
        (!all.front().isList ||
         argument.values.size() != all.front().values.size()))
      return {};
  }
  return !all.empty() && all.front().isList ? all
                                            : std::vector<ForeachArgument>();
}

/// The op that a call on lists stands for; null if there is none.
const aten::Schema *
GraphReader::foreachMeant(const fx::CallTarget &target,
                          ArrayRef<ForeachArgument> arguments) {
  StringRef packet = target.name.drop_front(kForeach.size()).split('.').first;
  bool isTensor = false, isNumber = false;
  if (arguments.size() > 1) {
    const ForeachArgument *last = &arguments.back();
    while (last != arguments.begin() &&
           (last->name == "alpha" || last->name == "dtype"))
      --last;
    isTensor = last->isOperand();
    isNumber = !isTensor && last != arguments.begin();
  }
  if (isNumber)
    packet = llvm::StringSwitch<StringRef>(packet)
                 .Case("maximum", "clamp_min")
                 .Case("minimum", "clamp_max")
                 .Case("maximum_", "clamp_min_")
                 .Case("minimum_", "clamp_max_")
                 .Default(packet);
  if (packet == "norm")
    packet = "linalg_vector_norm";
  const aten::SchemaTable &table = aten::SchemaTable::get(fields.context);
  for (StringRef overload : {isTensor ? "Tensor_Tensor" : "Tensor_Scalar",
                             isTensor ? "Tensor" : "Scalar"})
    if (const aten::Schema *schema =
            table.lookup(("aten." + packet + "." + overload).str());
        schema && arguments.size() > 1)
      return schema;
  return table.lookup(("aten." + packet + ".default").str());
}

LogicalResult GraphReader::readForeach(const Node &node,
                                       const fx::CallTarget &target,
                                       Frame &frame) {
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  if (failed(inputs) || failed(arguments.read(*inputs, nullptr, frame, args)) ||
      failed(readResults(node, frame)))
    return failure();
  std::vector<ForeachArgument> given = foreachArguments(*inputs);
  const aten::Schema *meant =
      given.empty() ? nullptr : foreachMeant(target, given);
  size_t count = given.empty() ? 0 : given.front().values.size();
  bool writes = meant && meant->params.front().isWritten;
  if (!meant || meant->params.size() < given.size() ||
      (!writes && results.size() != count))
    return fields.fail(node.json.find("target"),
                       fx::quoted(target.name) +
                           " is a call on lists of tensors, and the op on one "
                           "of them is not known",
                       "call the op on each tensor, in a loop");
  std::string path =
      ("torch.ops." + meant->packet + "." + meant->overload).str();
  SmallVector<fx::CallStatement, 4> declared(results);
  for (size_t call = 0; call < count; ++call) {
    args.clear();
    for (auto [i, argument] : llvm::enumerate(given)) {
      bool hasName = meant->find(argument.name) >= 0;
      args.keywords.push_back(hasName ? argument.name : meant->params[i].name);
      args.values.push_back(argument.values[argument.at(call)]);
      args.positions.push_back(node.json.raw().begin());
      if (Value operand = argument.operands[argument.at(call)])
        args.operands.push_back(operand);
    }
    if (writes && !hasGradients)
      detachOperands(node);
    fx::CallStatement statement;
    if (!writes)
      statement = declared[call];
    else
      statement.name = uniqueName(saver.save((node.name + "_value").str()));
    statement.at = node.json.raw().begin();
    FailureOr<Operation *> made = calls.buildDeclared(
        calls.target(path), args, statement, statement, node.place);
    if (failed(made))
      return failure();
    noteGradientMode(*made);
    if (!writes && !resultNames[call].empty() &&
        !frame.bind(resultNames[call], (*made)->getResult(0)))
      return fields.fail(node.json,
                         fx::quoted(resultNames[call]) + " is defined twice",
                         kDamaged);
  }
  return success();
}
