// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One training step with named tensors.
//
//   1. names: by the role of each argument; of a gradient, by the argument that
//      it belongs to
//   2. tensors of arguments are looked up and checked against declared types
//   3. a size that is a lone symbol binds it; then every size expression is
//      evaluated and compared with what the tensors have
//   4. sizes, seeds and gradient seeds get their values

#include "cutback/Interpreter/Step.h"

#include "cutback/Dialect/Joint/Loss.h"
#include "cutback/Support/SizeExpr.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// "param.fc.weight"; the name in the graph stands for one that is not known.
static std::string named(StringRef prefix, joint::RoleAttr role,
                         StringRef argument) {
  StringRef name = role.getName() ? role.getName().getValue() : argument;
  return (prefix + "." + name).str();
}

static std::string gradientName(const StepNames &names, joint::GraphOp graph,
                                unsigned argument) {
  StringRef name = names.arguments[argument];
  // "param.fc.weight" gives "grad.fc.weight", "input.0" "grad.input.0".
  if (!name.consume_front("param.") && !name.consume_front("buffer."))
    name.consume_front("const.");
  return ("grad." + name).str();
}

/// One a forward result.
static std::vector<std::string> nameResults(joint::GraphOp graph) {
  std::vector<std::string> names;
  if (auto given = graph->getAttrOfType<ArrayAttr>(kResultNames)) {
    for (auto name : given.getAsRange<StringAttr>())
      names.push_back(name.str());
    return names;
  }
  for (auto [i, value] : llvm::enumerate(graph.getOutput().getForwardResults()))
    names.push_back(i == 0 && joint::isLossType(value.getType())
                        ? "loss"
                        : "output." + std::to_string(i));
  return names;
}

/// "tangent.1" of "output.1", "tangent.value.add" of "value.add".
static std::string tangentName(StringRef result, int64_t of) {
  if (result == "loss")
    return "tangent." + std::to_string(of);
  result.consume_front("output.");
  return ("tangent." + result).str();
}

StepNames interpreter::nameStep(joint::GraphOp graph) {
  StepNames names;
  names.results = nameResults(graph);
  unsigned inputs = 0;
  for (unsigned i = 0; i < graph.getArgumentTypes().size(); ++i) {
    joint::RoleAttr role = graph.getRole(i);
    StringRef argument = graph.getArgName(i);
    std::string name;
    if (auto given = graph.getArgAttrOfType<StringAttr>(i, kFileName)) {
      names.arguments.push_back(given.str());
      continue;
    }
    switch (role.getKind()) {
    case joint::RoleKind::Param:
      name = named("param", role, argument);
      break;
    case joint::RoleKind::Buffer:
      name = named("buffer", role, argument);
      break;
    case joint::RoleKind::Constant:
      name = named("const", role, argument);
      break;
    case joint::RoleKind::Input:
      name = "input." + std::to_string(inputs++);
      break;
    case joint::RoleKind::Tangent:
      name = tangentName(names.results[role.getOf()], role.getOf());
      break;
    default:
      break;
    }
    names.arguments.push_back(std::move(name));
  }
  for (int32_t argument : graph.getOutput().getGradientOf())
    names.results.push_back(gradientName(names, graph, argument));
  llvm::SmallDenseSet<unsigned> seen;
  for (auto write : graph.getBlock().getOps<joint::WriteOp>())
    if (auto argument = dyn_cast<BlockArgument>(write.getDestination()))
      if (seen.insert(argument.getArgNumber()).second)
        names.written.emplace_back(names.arguments[argument.getArgNumber()],
                                   argument.getArgNumber());
  return names;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
class Binder {
public:
  Binder(joint::GraphOp graph, const StepNames &names, FindTensor find,
         llvm::StringMap<int64_t> &symbols)
      : graph(graph), names(names), find(find), symbols(symbols),
        values(names.arguments.size()) {}

  FailureOr<std::vector<RuntimeValue>> bind();

private:
  LogicalResult bindTensor(unsigned i);
  LogicalResult bindSymbols(unsigned i, const Tensor &tensor);
  LogicalResult checkSizes(unsigned i);
  LogicalResult checkRanges();
  LogicalResult checkTangents();
  LogicalResult bindRest(unsigned i);
  ArrayAttr dimsOf(unsigned i);
  std::optional<int64_t> evaluate(StringRef text);
  InFlightDiagnostic error() { return emitError(graph.getLoc()); }

  joint::GraphOp graph;
  const StepNames &names;
  FindTensor find;
  llvm::StringMap<int64_t> &symbols;
  std::vector<RuntimeValue> values;
};
} // namespace

ArrayAttr Binder::dimsOf(unsigned i) {
  return graph.getArgAttrOfType<ArrayAttr>(i, joint::JointDialect::kDims);
}

std::optional<int64_t> Binder::evaluate(StringRef text) {
  return evaluateSizeExpr(std::string_view(text.data(), text.size()),
                          [&](std::string_view name) -> std::optional<int64_t> {
                            auto found = symbols.find(
                                StringRef(name.data(), name.size()));
                            if (found == symbols.end())
                              return std::nullopt;
                            return found->second;
                          });
}

static std::string shapeText(ArrayRef<int64_t> sizes) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(sizes))
    text +=
        (i ? ", " : "") +
        (ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size));
  return text + "]";
}

/// A zero tensor of the shape of `type` with the sizes that are known by now.
static std::optional<SmallVector<int64_t>>
sizesOf(RankedTensorType type, ArrayAttr dims,
        llvm::function_ref<std::optional<int64_t>(StringRef)> evaluate) {
  SmallVector<int64_t> sizes(type.getShape());
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (!ShapedType::isDynamic(size))
      continue;
    auto text =
        dims && i < dims.size() ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
    std::optional<int64_t> value =
        text ? evaluate(text.getValue()) : std::nullopt;
    if (!value)
      return std::nullopt;
    size = *value;
  }
  return sizes;
}

LogicalResult Binder::bindTensor(unsigned i) {
  auto type = dyn_cast<RankedTensorType>(graph.getArgumentTypes()[i]);
  if (!type || names.arguments[i].empty())
    return success();
  std::optional<Tensor> tensor = find(names.arguments[i]);
  // There is one tensor without elements (an effect's token, say).
  if (!tensor && type.hasStaticShape() && type.getNumElements() == 0)
    if (std::optional<DType> element = dtypeOf(type.getElementType()))
      tensor = Tensor::zeros(*element, type.getShape());
  if (!tensor) {
    if (graph.getRole(i).getKind() == joint::RoleKind::Tangent)
      return success();
    error().append("no tensor '", names.arguments[i], "' for argument '",
                   graph.getArgName(i), "'")
            .attachNote()
        << "give it in the file of --inputs, or its weights with --weights";
    return failure();
  }
  std::optional<DType> wanted = dtypeOf(type.getElementType());
  bool fits = tensor->rank() == type.getRank() && wanted == tensor->type;
  for (int64_t d = 0; fits && d < type.getRank(); ++d)
    fits = type.isDynamicDim(d) || type.getDimSize(d) == tensor->sizes[d];
  if (!fits) {
    error().append("tensor '", names.arguments[i], "' is ",
                   nameOf(tensor->type), shapeText(tensor->sizes),
                   ", the graph takes ",
                   wanted ? nameOf(*wanted) : StringRef("another type"),
                   shapeText(type.getShape()))
            .attachNote()
        << "a symbolic size is '?'; all others must agree";
    return failure();
  }
  values[i] = *tensor;
  return bindSymbols(i, *tensor);
}

/// Binds the symbols that stand alone as a size.
LogicalResult Binder::bindSymbols(unsigned i, const Tensor &tensor) {
  ArrayAttr dims = dimsOf(i);
  for (unsigned d = 0; dims && d < dims.size() && d < tensor.sizes.size();
       ++d) {
    auto text = dyn_cast<StringAttr>(dims[d]);
    if (!text || !graph.getSymbols() ||
        !graph.getSymbols()->get(text.getValue()))
      continue;
    auto [bound, isNew] = symbols.try_emplace(text.getValue(), tensor.sizes[d]);
    if (isNew || bound->second == tensor.sizes[d])
      continue;
    error().append("size ", d, " of tensor '", names.arguments[i], "' is ",
                   tensor.sizes[d], ", but symbol ", text.getValue(), " is ",
                   bound->second, " by another tensor")
            .attachNote()
        << "give tensors whose sizes agree";
    return failure();
  }
  return success();
}

/// Compares sizes that are expressions with what the tensor has.
LogicalResult Binder::checkSizes(unsigned i) {
  auto *tensor = std::get_if<Tensor>(&values[i]);
  ArrayAttr dims = dimsOf(i);
  for (unsigned d = 0; tensor && dims && d < dims.size(); ++d) {
    auto text = dyn_cast<StringAttr>(dims[d]);
    if (!text || d >= tensor->sizes.size())
      continue;
    std::optional<int64_t> value = evaluate(text.getValue());
    if (!value || *value == tensor->sizes[d])
      continue;
    error().append("size ", d, " of tensor '", names.arguments[i], "' is ",
                   tensor->sizes[d], ", the graph takes ", text.getValue(),
                   " = ", *value)
            .attachNote()
        << "give tensors whose sizes agree";
    return failure();
  }
  return success();
}

LogicalResult Binder::checkRanges() {
  DictionaryAttr declared = graph.getSymbols().value_or(DictionaryAttr());
  if (!declared)
    return success();
  for (NamedAttribute entry : declared) {
    auto symbol = dyn_cast<joint::SymbolAttr>(entry.getValue());
    auto bound = symbols.find(entry.getName().getValue());
    if (!symbol || bound == symbols.end())
      continue;
    int64_t value = bound->second;
    bool inRange = (!symbol.getMin() || value >= *symbol.getMin()) &&
                   (!symbol.getMax() || value <= *symbol.getMax());
    if (inRange)
      continue;
    InFlightDiagnostic diagnostic = error();
    diagnostic << "symbol " << entry.getName().getValue() << " is " << value
               << ", outside of its range";
    if (symbol.getMin())
      diagnostic << " from " << *symbol.getMin();
    if (symbol.getMax())
      diagnostic << " to " << *symbol.getMax();
    diagnostic.attachNote() << "the graph was exported for that range; give "
                               "inputs inside, or export it again";
    return diagnostic;
  }
  return success();
}

/// Without a loss the backward begins with what is given: zeros would give
/// gradients of zeros.
LogicalResult Binder::checkTangents() {
  int needed = joint::findNeededTangent(graph);
  if (needed < 0 || !std::holds_alternative<std::monostate>(values[needed]))
    return success();
  int64_t result = graph.getRole(needed).getOf();
  auto type = dyn_cast<RankedTensorType>(graph.getArgumentTypes()[needed]);
  InFlightDiagnostic diagnostic = error();
  diagnostic.append("result ", result, " is ",
                    type ? shapeText(type.getShape()) : "no tensor",
                    ", which is no loss, and its gradient '",
                    names.arguments[needed], "' is not given");
  diagnostic.attachNote()
      << "give it in the file of --inputs, or reduce the first result to one "
         "number; gradients of other results are zero where they are not given";
  return failure();
}

/// Sizes, seeds, gradient seeds, and tangents that no file holds.
LogicalResult Binder::bindRest(unsigned i) {
  if (!std::holds_alternative<std::monostate>(values[i]))
    return success();
  Type type = graph.getArgumentTypes()[i];
  if (auto tensorType = dyn_cast<RankedTensorType>(type)) {
    auto sizes = sizesOf(tensorType, dimsOf(i),
                         [&](StringRef text) { return evaluate(text); });
    std::optional<DType> dtype = dtypeOf(tensorType.getElementType());
    if (sizes && dtype) {
      Tensor tensor = Tensor::zeros(*dtype, *sizes);
      bool isSeed = joint::isLossSeed(graph, i);
      for (int64_t e = 0, n = tensor.numel(); isSeed && e < n; ++e)
        tensor.set(e, 1);
      values[i] = tensor;
      return success();
    }
  } else if (ArrayAttr dims = dimsOf(i); dims && dims.size() == 1) {
    auto text = dyn_cast<StringAttr>(dims[0]);
    if (std::optional<int64_t> value =
            text ? evaluate(text.getValue()) : std::nullopt) {
      values[i] = *value;
      return success();
    }
  }
  error().append("the size of argument '", graph.getArgName(i),
                 "' is not known")
          .attachNote()
      << "give the value of its symbol with --sym";
  return failure();
}

FailureOr<std::vector<RuntimeValue>> Binder::bind() {
  unsigned count = static_cast<unsigned>(values.size());
  for (unsigned i = 0; i < count; ++i)
    if (failed(bindTensor(i)))
      return failure();
  for (unsigned i = 0; i < count; ++i)
    if (failed(checkSizes(i)))
      return failure();
  if (failed(checkRanges()) || failed(checkTangents()))
    return failure();
  for (unsigned i = 0; i < count; ++i)
    if (failed(bindRest(i)))
      return failure();
  for (const auto &[name, argument] : names.written) {
    const Tensor &given = std::get<Tensor>(values[argument]);
    Tensor copy = Tensor::zeros(given.type, given.sizes),
           dense = given.contiguous();
    std::copy_n(dense.data(), dense.numel() * itemSize(dense.type),
                copy.data());
    values[argument] = copy;
  }
  return std::move(values);
}

FailureOr<std::vector<RuntimeValue>>
interpreter::bindArguments(joint::GraphOp graph, const StepNames &names,
                           FindTensor find, llvm::StringMap<int64_t> &symbols) {
  return Binder(graph, names, find, symbols).bind();
}

std::vector<NamedTensor>
interpreter::collectResults(const StepNames &names,
                            ArrayRef<RuntimeValue> arguments,
                            ArrayRef<RuntimeValue> results) {
  std::vector<NamedTensor> list;
  for (auto [name, value] : llvm::zip(names.results, results))
    if (auto *tensor = std::get_if<Tensor>(&value))
      list.emplace_back(name, *tensor);
  for (const auto &[name, argument] : names.written)
    if (auto *tensor = std::get_if<Tensor>(&arguments[argument]))
      list.emplace_back(name, *tensor);
  return list;
}
