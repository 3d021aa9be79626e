// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers where an op takes a number: `full((3,), 1j)`. No attribute of
// a call holds one, so it stands as a tensor without dimensions, which most
// parameters for numbers do not take. Such a call is brought into a form whose
// parameters do:
//
//   1. the overload that takes a tensor there, which gives the same
//   2. what a factor (`alpha`, `beta`, `value`) multiplies, multiplied before
//   3. what is filled (`full`, `new_full`), filled afterwards
//
// Anything else is refused. The types are those that the program declares.

#include "ComplexNumbers.h"

#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

static bool isComplexNumber(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 &&
         isa<ComplexType>(tensor.getElementType());
}

static unsigned countOperands(Attribute value) {
  if (auto list = dyn_cast<ArrayAttr>(value))
    return joint::countOperands(list);
  return isa<joint::OperandAttr>(value) ? 1 : 0;
}

/// The parameter that argument `i` is for.
StringRef ComplexNumbers::nameAt(const aten::Schema &schema, size_t i) const {
  size_t numPositional = args.values.size() - args.keywords.size();
  if (i >= numPositional)
    return args.keywords[i - numPositional];
  return i < schema.params.size() ? schema.params[i].name : StringRef();
}

std::vector<ComplexNumbers::Argument>
ComplexNumbers::find(const aten::Schema &schema) const {
  std::vector<Argument> found;
  size_t operand = 0;
  for (size_t i = 0; i < args.values.size(); ++i) {
    StringRef name = nameAt(schema, i);
    int param = schema.find(name);
    if (param >= 0 && schema.params[param].kind == aten::ParamKind::Scalar &&
        isa<joint::OperandAttr>(args.values[i]) &&
        isComplexNumber(args.operands[operand].getType()))
      found.push_back({i, operand, name});
    operand += countOperands(args.values[i]);
  }
  return found;
}

/// The overload of the same parameters that takes tensors for `numbers`, and
/// for as few others as possible; null for none.
const aten::Schema *
ComplexNumbers::overloadOfTensors(const aten::Schema &schema,
                                  ArrayRef<Argument> numbers) const {
  const aten::Schema *best = nullptr;
  size_t fewest = schema.params.size() + 1;
  for (const aten::Schema *other :
       aten::SchemaTable::get(reader.fields.context).all()) {
    if (other->packet != schema.packet ||
        other->params.size() != schema.params.size())
      continue;
    size_t tensors = 0;
    bool fits = true;
    for (const auto &[mine, its] : llvm::zip(schema.params, other->params)) {
      bool isTensor = its.kind == aten::ParamKind::Tensor;
      bool isAsked = false;
      for (const Argument &number : numbers)
        isAsked |= number.name == mine.name;
      fits &= mine.name == its.name && (isTensor || !isAsked) &&
              (mine.kind == its.kind ||
               (isTensor && mine.kind == aten::ParamKind::Scalar));
      tensors += isTensor;
    }
    if (fits && tensors < fewest) {
      best = other;
      fewest = tensors;
    }
  }
  return best;
}

/// The parameter whose value `factor` multiplies; empty if that is not known.
static StringRef multiplied(const aten::Schema &schema, StringRef factor) {
  if (factor == "beta")
    return "self";
  if (factor == "value")
    return schema.find("tensor1") >= 0 ? "tensor1" : "";
  if (factor != "alpha")
    return "";
  if (schema.packet == "aten.rsub")
    return "self";
  for (StringRef name : {"other", "mat1", "mat", "batch1", "vec1"})
    if (schema.find(name) >= 0)
      return name;
  return "";
}

/// The argument goes: a factor is 1 then.
void ComplexNumbers::drop(const Argument &argument) {
  size_t numPositional = args.values.size() - args.keywords.size();
  args.operands.erase(args.operands.begin() + argument.operand);
  if (argument.place < numPositional) {
    args.values[argument.place] = reader.scope.builder.getI64IntegerAttr(1);
    return;
  }
  args.values.erase(args.values.begin() + argument.place);
  args.positions.erase(args.positions.begin() + argument.place);
  args.keywords.erase(args.keywords.begin() + (argument.place - numPositional));
}

bool ComplexNumbers::multiplyBefore(const aten::Schema &schema,
                                    const Argument &factor) {
  StringRef name = multiplied(schema, factor.name);
  size_t operand = 0;
  for (size_t i = 0; i < args.values.size() && !name.empty(); ++i) {
    if (nameAt(schema, i) == name && isa<joint::OperandAttr>(args.values[i])) {
      aten::CallBuilder builder(reader.scope.builder, place.location);
      Value product =
          builder.call("aten.mul.Tensor",
                       {args.operands[operand], args.operands[factor.operand]});
      if (!product)
        return false;
      ++reader.counts.ops;
      product.getDefiningOp()->setAttr(
          "names",
          reader.scope.builder.getStrArrayAttr(reader.uniqueName("complex")));
      args.operands[operand] = product;
      drop(factor);
      return true;
    }
    operand += countOperands(args.values[i]);
  }
  return false;
}

/// `full(sizes, number)` as `fill(full(sizes, 0), number)`.
LogicalResult ComplexNumbers::fillAfter(const fx::CallTarget &target,
                                        const Argument &number) {
  const char *at = node.raw().data();
  Value value = args.operands[number.operand];
  args.operands.erase(args.operands.begin() + number.operand);
  args.values[number.place] = reader.scope.builder.getI64IntegerAttr(0);
  Attribute dtype =
      TypeAttr::get(cast<TensorType>(result->declared->type).getElementType());
  auto *given = llvm::find(args.keywords, "dtype");
  if (given != args.keywords.end()) {
    args.values[args.values.size() - args.keywords.size() +
                (given - args.keywords.begin())] = dtype;
  } else {
    args.values.push_back(dtype);
    args.positions.push_back(at);
    args.keywords.push_back("dtype");
  }
  fx::CallStatement zeros = *result;
  zeros.name = reader.uniqueName("complex");
  zeros.at = at;
  FailureOr<Operation *> made =
      reader.calls.buildDeclared(target, args, zeros, zeros, place);
  if (failed(made))
    return failure();
  args.clear();
  args.operands = {(*made)->getResult(0), value};
  args.values.assign(2, joint::OperandAttr::get(reader.fields.context));
  args.positions.assign(2, at);
  return success();
}

FailureOr<const fx::CallTarget *>
ComplexNumbers::settle(const fx::CallTarget &target) {
  const aten::Schema &schema = *target.schema;
  std::vector<Argument> numbers = find(schema);
  if (numbers.empty())
    return &target;
  if (const aten::Schema *other = overloadOfTensors(schema, numbers))
    return &reader.calls.target(
        ("torch.ops." + other->packet + "." + other->overload).str());
  Argument number = numbers.front();
  bool isFilled = number.name == "fill_value" || number.name == "s";
  if (isFilled && result && result->declared &&
      isa<TensorType>(result->declared->type)) {
    if (failed(fillAfter(target, number)))
      return failure();
    return &reader.calls.target("torch.ops.aten.fill.Tensor");
  }
  if (multiplyBefore(schema, number))
    return settle(target); // there may be another
  return reader.fields.fail(
      node.find("target"),
      fx::quoted(target.name) + " takes a complex number for its parameter " +
          fx::quoted(number.name) + ", which is not read",
      "give it a tensor: torch.tensor(1j) for 1j, and export the model again");
}
