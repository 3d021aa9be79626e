// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Overloads that write their results to tensors which they are given:
// `div.out(a, b, out=c)` is `copy_(c, div.Tensor(a, b))`. No such overload has
// an op of its own. The one that is meant is found by the schemas of the same
// packet: every other argument is one of its parameters and fits it, nothing
// that it needs is missing, and it has as many results as there are tensors to
// write. The first such schema is taken.
//
// The program that PyTorch exports has sized the tensors already, so `copy_`
// need not resize them.

#include "GraphReader.h"

#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

/// The type of operand `i` of a call; null for what is no operand.
static Type operandType(const fx::CallArguments &args, size_t value) {
  size_t next = 0;
  for (size_t i = 0; i < value; ++i)
    if (isa<joint::OperandAttr>(args.values[i]))
      ++next;
  return isa<joint::OperandAttr>(args.values[value])
             ? args.operands[next].getType()
             : Type();
}

/// `schema` takes the arguments that are not written.
static bool fits(const aten::Schema &schema, const fx::CallArguments &args,
                 ArrayRef<StringRef> names, ArrayRef<size_t> written) {
  llvm::SmallBitVector given(schema.params.size());
  for (size_t i = 0; i < args.values.size(); ++i) {
    if (llvm::is_contained(written, i))
      continue;
    int param = schema.find(names[i]);
    if (param < 0)
      return false;
    given.set(static_cast<unsigned>(param));
    Type type = operandType(args, i);
    if (type ? !aten::acceptsOperand(schema.params[param], type)
             : !aten::canonicalizeArg(schema.params[param], args.values[i]))
      return false;
  }
  for (auto [i, param] : llvm::enumerate(schema.params))
    if (!given[i] && !param.defaultValue)
      return false;
  return schema.results.size() == written.size() && !schema.results[0].isList;
}

bool GraphReader::isOutVariant(const fx::CallTarget &target) {
  if (target.schema || !target.name.starts_with("aten."))
    return false;
  StringRef overload = target.name.rsplit('.').second;
  return overload == "out" || overload.ends_with("_out") ||
         overload.starts_with("out_") || overload == "grad_input";
}

LogicalResult GraphReader::readOutVariant(const Node &node,
                                          const fx::CallTarget &target,
                                          Frame &frame) {
  FailureOr<JsonValue> inputs = fields.list(node.json, "inputs");
  if (failed(inputs) || failed(arguments.read(*inputs, nullptr, frame, args)) ||
      failed(readResults(node, frame)))
    return failure();
  SmallVector<StringRef> names;
  for (JsonValue input : inputs->children())
    names.push_back(fields.text(input.find("name")));
  // What is written stands last, by its name.
  SmallVector<size_t> written;
  SmallVector<Value> destinations;
  size_t count = results.size();
  bool isWhole = count > 0 && count <= args.values.size();
  for (size_t i = args.values.size() - (isWhole ? count : 0);
       isWhole && i < args.values.size(); ++i) {
    isWhole = isa<joint::OperandAttr>(args.values[i]);
    written.push_back(i);
  }
  const aten::Schema *meant = nullptr;
  StringRef packet = target.name.rsplit('.').first;
  for (const aten::Schema *schema :
       aten::SchemaTable::get(fields.context).all())
    if (isWhole && !meant && schema->packet == packet &&
        fits(*schema, args, names, written))
      meant = schema;
  if (!meant)
    return fields.fail(node.json.find("target"),
                       fx::quoted(target.name) +
                           " writes to a tensor that it is given, and the op "
                           "without that is not known",
                       "call run_decompositions() on the program before it is "
                       "saved: that makes it functional");
  destinations.assign(args.operands.end() - count, args.operands.end());
  args.operands.resize(args.operands.size() - count);
  args.values.resize(args.values.size() - count);
  args.positions.resize(args.values.size());
  args.keywords.assign(names.begin(), names.begin() + args.values.size());
  std::string path = (meant->packet + "." + meant->overload).str();
  fx::CallStatement statement;
  statement.at = node.json.raw().begin();
  SmallVector<fx::CallStatement, 4> values(count, statement);
  for (fx::CallStatement &value : values)
    value.name = uniqueName(saver.save((node.name + "_value").str()));
  statement.name = values.front().name;
  FailureOr<Operation *> made = calls.buildDeclared(
      calls.target("torch.ops." + path), args, statement, values, node.place);
  if (failed(made))
    return failure();
  noteGradientMode(*made);
  return writeOut(node, destinations, (*made)->getResults(), frame);
}

/// `copy_`s into what the call was given; they are the node's results.
LogicalResult GraphReader::writeOut(const Node &node,
                                    ArrayRef<Value> destinations,
                                    ValueRange values, Frame &frame) {
  Attribute operand = joint::OperandAttr::get(fields.context);
  const char *at = node.json.raw().begin();
  for (size_t i = 0; i < destinations.size(); ++i) {
    args.clear();
    args.values.assign(2, operand);
    args.positions.assign(2, at);
    args.operands = {destinations[i], values[i]};
    if (!hasGradients)
      detachOperands(node);
    fx::CallStatement statement = results[i];
    statement.at = at;
    FailureOr<Operation *> copy =
        calls.buildDeclared(calls.target("torch.ops.aten.copy_.default"), args,
                            statement, results[i], node.place);
    if (failed(copy))
      return failure();
    if (!hasGradients)
      (*copy)->setDiscardableAttr(joint::kNoGrad, scope.builder.getUnitAttr());
    noteGradientMode(*copy);
    if (!resultNames[i].empty() &&
        !frame.bind(resultNames[i], (*copy)->getResult(0)))
      return fields.fail(node.json,
                         fx::quoted(resultNames[i]) + " is defined twice",
                         kDamaged);
  }
  return success();
}
