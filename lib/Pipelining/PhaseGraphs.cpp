// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases of a stage as graphs:
//
//   1. names of what is handed over: an argument of the stage keeps its own, a
//      result that is handed over too has that of the result, and so has a
//      gradient; the rest is numbered
//   2. `backward` is the body of `input` and after it that of `weight`; what
//      both run is one op again, once common subexpressions are gone
//   3. functions become graphs: all that a phase is given is an input but for
//      what outlives the step, and all that it makes a forward result

#include "cutback/Pipelining/PhaseGraphs.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Interpreter/Step.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// A function of a stage, with the names in files of its arguments and results.
struct NamedFunction {
  func::FuncOp function;
  std::vector<std::string> arguments;
  /// Empty: known under another name, and left out.
  std::vector<std::string> results;
};

class PhaseMaker {
public:
  explicit PhaseMaker(GraphOp stage)
      : stage(stage), names(interpreter::nameStep(stage)),
        builder(stage.getContext()) {}

  FailureOr<std::vector<PhaseGraph>> run(const PhaseFunctions &functions);

private:
  std::string nameOf(unsigned argument) const;
  std::string nameArgument(func::FuncOp function, unsigned arg) const;
  std::vector<std::string> nameArguments(func::FuncOp function) const;
  LogicalResult checkHanded(func::FuncOp function,
                            ArrayRef<HandedValue> handed);
  std::vector<std::string> nameHanded(NamedFunction &from,
                                      ArrayRef<HandedValue> handed);
  NamedFunction join(const NamedFunction &input, const NamedFunction &weight);
  PhaseGraph make(StringRef phase, const NamedFunction &named);
  DictionaryAttr argumentAttrs(func::FuncOp function, unsigned arg,
                               StringRef name) const;

  GraphOp stage;
  interpreter::StepNames names;
  Builder builder;
  unsigned numSaved = 0;
};

} // namespace

static Operation *endOf(func::FuncOp function) {
  return function.getBody().front().getTerminator();
}

/// Of an argument of the stage; the gradient of the loss, which has none in
/// files of a step, has one here.
std::string PhaseMaker::nameOf(unsigned argument) const {
  GraphOp graph = stage;
  if (graph.getRole(argument).getKind() == RoleKind::GradSeed)
    return kLossTangent;
  return names.arguments[argument];
}

/// Of an argument of a function that is one of the stage.
std::string PhaseMaker::nameArgument(func::FuncOp function,
                                     unsigned arg) const {
  GraphOp graph = stage;
  auto name = function.getArgAttrOfType<StringAttr>(arg, JointDialect::kName);
  for (unsigned own = 0; own < graph.getNumArguments(); ++own)
    if (graph.getArgName(own) == name.getValue())
      return nameOf(own);
  return "";
}

std::vector<std::string>
PhaseMaker::nameArguments(func::FuncOp function) const {
  std::vector<std::string> all;
  for (unsigned arg = 0; arg < function.getNumArguments(); ++arg)
    all.push_back(nameArgument(function, arg));
  return all;
}

LogicalResult PhaseMaker::checkHanded(func::FuncOp function,
                                      ArrayRef<HandedValue> handed) {
  TypeRange types = function.getResultTypes().take_back(handed.size());
  for (auto [value, type] : llvm::zip(handed, types)) {
    if (isa<RankedTensorType>(type))
      continue;
    auto diagnostic = stage.emitError("'")
                      << value.name << "' of type " << type
                      << " would be kept from one phase of '"
                      << stage.getSymName() << "' for another";
    diagnostic.attachNote() << "give sizes of symbols with --sym";
    return diagnostic;
  }
  return success();
}

/// Names the last results of `from`, which are `handed`, where they are known
/// under no other name. Gives the names under which they are taken.
std::vector<std::string> PhaseMaker::nameHanded(NamedFunction &from,
                                                ArrayRef<HandedValue> handed) {
  std::vector<std::string> taken;
  Operation *end = endOf(from.function);
  for (const HandedValue &value : handed) {
    unsigned place = from.results.size();
    std::string &own = from.results.emplace_back();
    if (value.argument >= 0) {
      taken.push_back(nameOf(value.argument));
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(end->getOperand(place))) {
      taken.push_back(from.arguments[argument.getArgNumber()]);
      continue;
    }
    unsigned first = 0;
    while (end->getOperand(first) != end->getOperand(place))
      ++first;
    if (first == place)
      own = kSavedPrefix.str() + std::to_string(numSaved++);
    taken.push_back(first == place ? own
                    : first >= place - taken.size()
                        ? taken[first - (place - taken.size())]
                        : from.results[first]);
  }
  return taken;
}

/// Both phases of the backward in one function.
NamedFunction PhaseMaker::join(const NamedFunction &input,
                               const NamedFunction &weight) {
  NamedFunction joined = input;
  joined.function =
      cast<func::FuncOp>(func::FuncOp(input.function)->cloneWithoutRegions());
  IRMapping mapping;
  func::FuncOp first = input.function, second = weight.function;
  first.getBody().cloneInto(&joined.function.getBody(), mapping);
  Operation *end = endOf(joined.function);
  unsigned numOwn = end->getNumOperands() - second.getNumArguments();
  for (auto [i, argument] : llvm::enumerate(second.getArguments()))
    mapping.map(argument, end->getOperand(numOwn + i));
  SmallVector<Value> returned(end->getOperands().take_front(numOwn));
  OpBuilder ops(end);
  for (Operation &op : second.getBody().front().without_terminator())
    ops.clone(op, mapping);
  for (Value value : endOf(second)->getOperands())
    returned.push_back(mapping.lookup(value));
  end->setOperands(returned);
  joined.results.resize(numOwn);
  llvm::append_range(joined.results, weight.results);
  return joined;
}

/// Roles stay where they say how long a tensor lives and what it holds; all
/// else is an input.
DictionaryAttr PhaseMaker::argumentAttrs(func::FuncOp function, unsigned arg,
                                         StringRef name) const {
  MLIRContext *context = function.getContext();
  NamedAttrList attrs(function_interface_impl::getArgAttrDict(function, arg));
  auto role = function.getArgAttrOfType<RoleAttr>(arg, JointDialect::kRole);
  GraphOp graph = stage;
  auto own = function.getArgAttrOfType<StringAttr>(arg, JointDialect::kName);
  for (unsigned i = 0;
       role.getKind() == RoleKind::Saved && i < graph.getNumArguments(); ++i)
    if (graph.getArgName(i) == own.getValue() && nameOf(i) == name)
      role = graph.getRole(i);
  if (role.getKind() == RoleKind::Saved ||
      role.getKind() == RoleKind::Tangent ||
      role.getKind() == RoleKind::GradSeed)
    role = RoleAttr::get(context, RoleKind::Input, nullptr, -1, false);
  attrs.set(JointDialect::kRole, role);
  if (!name.empty())
    attrs.set(interpreter::kFileName, StringAttr::get(context, name));
  return attrs.getDictionary(context);
}

PhaseGraph PhaseMaker::make(StringRef phase, const NamedFunction &named) {
  PhaseGraph made;
  made.name = phase.str();
  made.module = ModuleOp::create(stage.getLoc());
  func::FuncOp copy = func::FuncOp(named.function).clone();
  made.module->push_back(copy);
  Block &block = copy.getBody().front();
  copy->walk([](Operation *op) {
    op->removeDiscardableAttr(JointDialect::kRecompute);
  });
  SmallVector<Type> types;
  SmallVector<Value> returned;
  SmallVector<Attribute> resultNames;
  Operation *end = block.getTerminator();
  for (auto [value, name] : llvm::zip(end->getOperands(), named.results))
    if (!name.empty()) {
      returned.push_back(value);
      types.push_back(value.getType());
      resultNames.push_back(builder.getStringAttr(name));
    }
  SmallVector<DictionaryAttr> attrs;
  for (unsigned arg = 0; arg < block.getNumArguments(); ++arg)
    attrs.push_back(argumentAttrs(copy, arg, named.arguments[arg]));
  OpBuilder ops(stage.getContext());
  ops.setInsertionPointToEnd(made.module->getBody());
  made.graph = GraphOp::create(
      ops, stage.getLoc(), (stage.getSymName() + "_" + phase).str(),
      FunctionType::get(stage.getContext(), block.getArgumentTypes(), types),
      static_cast<int64_t>(returned.size()), attrs);
  made.graph->setAttr(interpreter::kResultNames, ops.getArrayAttr(resultNames));
  made.graph.getBody().takeBody(copy.getBody());
  ops.setInsertionPoint(end);
  OutputOp::create(ops, end->getLoc(), returned, ops.getDenseI32ArrayAttr({}));
  end->erase();
  copy.erase();
  return made;
}

FailureOr<std::vector<PhaseGraph>>
PhaseMaker::run(const PhaseFunctions &functions) {
  if (failed(checkHanded(functions.forward, functions.toInput)) ||
      (functions.weight &&
       failed(checkHanded(functions.input, functions.toWeight))))
    return failure();
  ArrayRef<std::string> results = names.results;
  NamedFunction forward{functions.forward, nameArguments(functions.forward),
                        results.take_front(functions.numForwardResults)};
  NamedFunction input{
      functions.input, nameHanded(forward, functions.toInput), {}};
  for (unsigned argument : functions.backwardArgs)
    input.arguments.push_back(nameOf(argument));
  std::map<int, std::string> gradientOf;
  for (auto [i, argument] : llvm::enumerate(stage.getOutput().getGradientOf()))
    gradientOf[argument] = results[functions.numForwardResults + i];
  for (int argument : functions.inputGradientOf)
    input.results.push_back(gradientOf[argument]);
  std::vector<PhaseGraph> phases;
  phases.push_back(make("forward", forward));
  if (input.results.empty() && functions.toWeight.empty())
    return phases;
  if (!functions.weight) {
    phases.push_back(make("backward", input));
    return phases;
  }
  NamedFunction weight{
      functions.weight, nameHanded(input, functions.toWeight), {}};
  for (int argument : functions.weightGradientOf)
    weight.results.push_back(gradientOf[argument]);
  NamedFunction joined = join(input, weight);
  phases.push_back(make("backward", joined));
  joined.function.erase();
  phases.push_back(make("input", input));
  phases.push_back(make("weight", weight));
  return phases;
}

FailureOr<std::vector<PhaseGraph>>
cutback::makePhases(GraphOp stage, const PhaseFunctions &functions) {
  return PhaseMaker(stage).run(functions);
}

/// The halves as a plan whose input phase is the whole backward.
static PhaseFunctions asPhases(GraphOp stage, const Partition &partition) {
  PhaseFunctions functions;
  functions.forward = partition.forward;
  functions.input = partition.backward;
  functions.numForwardResults = stage.getNumForwardResults();
  auto numberOf = [&](func::FuncOp function, unsigned arg) {
    auto name = function.getArgAttrOfType<StringAttr>(arg, JointDialect::kName);
    for (unsigned own = 0; own < stage.getNumArguments(); ++own)
      if (stage.getArgName(own) == name.getValue())
        return static_cast<int>(own);
    return -1;
  };
  for (Value value : endOf(functions.forward)
                         ->getOperands()
                         .drop_front(functions.numForwardResults)) {
    HandedValue &handed = functions.toInput.emplace_back();
    handed.name = getValueName(value).str();
    if (auto argument = dyn_cast<BlockArgument>(value))
      handed.argument = numberOf(functions.forward, argument.getArgNumber());
  }
  for (unsigned arg = functions.toInput.size();
       arg < functions.input.getNumArguments(); ++arg)
    functions.backwardArgs.push_back(numberOf(functions.input, arg));
  ArrayRef<int32_t> gradients = stage.getOutput().getGradientOf();
  functions.inputGradientOf.assign(gradients.begin(), gradients.end());
  return functions;
}

FailureOr<std::vector<PhaseGraph>>
cutback::makePhases(GraphOp stage, const Partition &partition) {
  return PhaseMaker(stage).run(asPhases(stage, partition));
}
