// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The update as ops of PyTorch, in the order of its single-tensor loops, so
// that each op rounds where PyTorch rounds.
//
// Where the loss is scaled, gradients are divided first, as GradScaler does it,
// and each write keeps the old value where one of them was not finite.
//
// What all gradients have in common may be of several graphs: then one graph
// makes its part of it, and another takes the whole as arguments.
//
// The norm of all gradients comes then, and what all parameters have in common,
// in double precision, then parameters, small ones in front: what they have in
// common is computed by the kernel of the first, once an element.

#include "SegmentGraph.h"

#include "cutback/Autograd/Differentiate.h"
#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Runtime/Artifact.h"

#include "llvm/Support/GlobPattern.h"

#include <limits>
#include <map>
#include <numeric>

using namespace mlir;
using namespace cutback;
namespace op = cutback::aten::op;

bool cutback::hasSeeds(joint::GraphOp graph) {
  for (unsigned i = 0, n = graph.getNumArguments(); i < n; ++i) {
    joint::RoleKind role = graph.getRole(i).getKind();
    if (role == joint::RoleKind::GradSeed || role == joint::RoleKind::Tangent)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Says of two arguments that they are tensors of one storage: lib/Import.
static constexpr llvm::StringLiteral kShares = "joint.shares";

/// In PyTorch an update of one of them is an update of the other too.
static LogicalResult
checkStorages(joint::GraphOp graph, const interpreter::StepNames &names,
              const std::map<unsigned, UpdatedParameter> &updated) {
  for (unsigned i = 0; i < names.arguments.size(); ++i) {
    auto shared = graph.getArgAttrOfType<StringAttr>(i, kShares);
    if (!shared)
      continue;
    bool isUpdated = llvm::any_of(updated, [&](const auto &entry) {
      StringAttr name = graph.getRole(entry.first).getName();
      return entry.first == i || name == shared;
    });
    if (!isUpdated)
      continue;
    auto diagnostic = graph.emitError("'")
                      << names.arguments[i] << "' and '" << shared.getValue()
                      << "' are two tensors of one storage, each with a "
                         "gradient of its own: an update of one would change "
                         "the other";
    diagnostic.attachNote()
        << "tie them (one Parameter under two names), or clone() one of them, "
           "and export the model again";
    return failure();
  }
  return success();
}

/// Its names in the model: a tied tensor has several.
static SmallVector<StringRef> modelNames(const interpreter::StepNames &names,
                                         const UpdatedParameter &parameter) {
  SmallVector<StringRef> all = {parameter.name};
  for (unsigned tied : parameter.tied)
    all.push_back(names.arguments[tied]);
  for (StringRef &name : all)
    name.consume_front("param.");
  return all;
}

/// Of the parameters that fit one of `optimizer.undecayed`.
static LogicalResult
markUndecayed(joint::GraphOp graph, const interpreter::StepNames &names,
              const Optimizer &optimizer,
              std::map<unsigned, UpdatedParameter> &updated) {
  for (const std::string &text : optimizer.undecayed) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    bool fits = false, isKnown = static_cast<bool>(pattern);
    llvm::consumeError(pattern.takeError());
    for (auto &[first, parameter] : updated) {
      bool fitsThis = text == kFewDimensions
                          ? parameter.type.getRank() < 2
                          : isKnown && llvm::any_of(
                                           modelNames(names, parameter),
                                           [&](StringRef name) {
                                             return pattern->match(name);
                                           });
      fits |= fitsThis;
      parameter.decays &= !fitsThis;
    }
    if (fits)
      continue;
    std::string list;
    for (auto &[first, parameter] : updated)
      if (list.size() < 120)
        list += (list.empty() ? "'" : ", '") +
                modelNames(names, parameter).front().str() + "'";
    auto diagnostic =
        graph.emitError("--no-decay: no parameter that is updated "
                        "fits '")
        << text << "'";
    diagnostic.attachNote()
        << "there are " << (list.empty() ? "none" : list.c_str());
    return failure();
  }
  return success();
}

FailureOr<std::vector<UpdatedParameter>>
cutback::findParameters(joint::GraphOp graph, const Optimizer &optimizer) {
  interpreter::StepNames names = interpreter::nameStep(graph);
  FailureOr<std::vector<unsigned>> tied = findTied(graph);
  if (failed(tied))
    return failure();
  std::map<unsigned, UpdatedParameter> found; // by first argument
  joint::OutputOp output = graph.getOutput();
  size_t numForward = output.getForwardResults().size();
  for (auto [number, of, value] :
       llvm::enumerate(output.getGradientOf(), output.getGradients())) {
    auto argument = static_cast<unsigned>(of);
    auto type = dyn_cast<RankedTensorType>(graph.getArgumentTypes()[argument]);
    if (graph.getRole(argument).getKind() != joint::RoleKind::Param || !type ||
        !isa<RankedTensorType>(value.getType()))
      continue;
    unsigned first = (*tied)[argument];
    // The gradient of a tied tensor stands whole under each of its names.
    auto [entry, isNew] = found.try_emplace(first);
    if (!isNew)
      continue;
    UpdatedParameter &parameter = entry->second;
    parameter.argument = first;
    parameter.gradient = number;
    parameter.type = type;
    parameter.name = names.arguments[first];
    parameter.argumentName = graph.getArgName(first).str();
    parameter.gradientName = names.results[numForward + number];
    StringRef bare = parameter.name;
    bare.consume_front("param.");
    parameter.sum = "accumulated." + bare.str();
    for (const std::string &state : optimizer.stateNames())
      parameter.states.push_back("optimizer." + state + "." + bare.str());
  }
  for (unsigned i = 0; i < names.arguments.size(); ++i)
    if (auto entry = found.find((*tied)[i]);
        entry != found.end() && i != entry->first)
      entry->second.tied.push_back(i);
  if (failed(checkStorages(graph, names, found)) ||
      failed(markUndecayed(graph, names, optimizer, found)))
    return failure();
  std::vector<UpdatedParameter> list;
  for (auto &[first, parameter] : found)
    list.push_back(std::move(parameter));
  return list;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

class UpdateBuilder : SegmentGraphBuilder {
public:
  UpdateBuilder(joint::GraphOp step, const Optimizer &optimizer, Norms norms,
                UpdateGraph &update)
      : SegmentGraphBuilder(step, update), optimizer(optimizer), norms(norms) {}

  LogicalResult build() {
    if (failed(checkParameters()) || failed(checkScale()))
      return failure();
    makeGraph();
    if (optimizer.scalesLoss)
      unscale();
    if (optimizer.clipNorm != 0)
      clip(norms == Norms::Given ? givenNorm : makeNorm());
    if (optimizer.kind == Optimizer::AdamW)
      makeShared();
    std::vector<size_t> order(made.parameters.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](size_t a, size_t b) {
      return made.parameters[a].type.getNumElements() <
             made.parameters[b].type.getNumElements();
    });
    for (size_t number : order)
      updateOne(made.parameters[number], values[number]);
    return end(results);
  }

  /// The norms alone.
  LogicalResult buildNorms() {
    if (failed(checkParameters()) || failed(checkScale()))
      return failure();
    for (const UpdatedParameter &parameter : made.parameters)
      addArgument(gradientOf(parameter), parameter.type);
    auto scalar = RankedTensorType::get({}, builder.getF64Type());
    if (optimizer.scalesLoss)
      addArgument(kLossScale, scalar);
    size_t squares = optimizer.clipNorm != 0 ? made.parameters.size() : 0;
    begin(SmallVector<Type>(squares + optimizer.scalesLoss, normScalar()));
    for (size_t i = 0; i < made.parameters.size(); ++i)
      values.emplace_back().gradient = nextArgument();
    if (optimizer.scalesLoss) {
      scale = nextArgument();
      unscale();
    }
    SmallVector<Value> greatest = std::exchange(results, {});
    if (squares)
      for (auto [parameter, square] :
           llvm::zip_equal(made.parameters, makeSquares())) {
        StringRef name = parameter.name;
        name.consume_front("param.");
        addResult(square, (kSquare + name).str());
      }
    results.append(greatest);
    return end(results);
  }

private:
  /// Arguments of the update, of one parameter.
  struct Values {
    Value parameter, gradient;
    SmallVector<Value, 2> states;
  };

  //===--- Arguments ------------------------------------------------------===//

  LogicalResult checkParameters() {
    if (!made.parameters.empty())
      return success();
    auto diag = step.emitError("has no parameter with a gradient: there is "
                               "nothing to update");
    diag.attachNote() << "leave --optimizer out, or give a graph whose "
                         "parameters are known";
    return diag;
  }

  /// A gradient in 16 bits cannot be divided without what the scale is for, and
  /// one that begins at a constant is not scaled.
  LogicalResult checkScale() {
    if (!optimizer.scalesLoss)
      return success();
    if (!hasSeeds(step)) {
      auto diag = step.emitError("cannot scale the loss: its gradients begin "
                                 "inside of the graph, at no argument");
      diag.attachNote() << "give the forward program (torch.export), whose "
                           "gradients are made here, or leave the scale out";
      return diag;
    }
    for (const UpdatedParameter &parameter : made.parameters)
      if (parameter.type.getElementType().isF16()) {
        auto diag = step.emitError("cannot scale the loss: parameter '")
                    << parameter.name << "' is f16";
        diag.attachNote() << "keep parameters in f32 and compute in f16 "
                             "(torch.autocast), or leave --scale-loss out";
        return diag;
      }
    return success();
  }

  const std::string &gradientOf(const UpdatedParameter &parameter) const {
    return optimizer.accumulates ? parameter.sum : parameter.gradientName;
  }

  void makeGraph() {
    bool isClipped = optimizer.clipNorm != 0, isGiven = norms == Norms::Given;
    for (const UpdatedParameter &parameter : made.parameters) {
      addArgument(parameter.argumentName, parameter.type);
      addArgument(gradientOf(parameter), parameter.type);
      for (const std::string &state : parameter.states)
        addArgument(state, parameter.type);
    }
    auto scalar = RankedTensorType::get({}, builder.getF64Type());
    addArgument(kLearningRate, scalar);
    if (optimizer.kind == Optimizer::AdamW)
      addArgument(kStepNumber, scalar);
    if (optimizer.scalesLoss)
      addArgument(kLossScale, scalar);
    if (isGiven && optimizer.scalesLoss)
      addArgument(kGreatestGradient, normScalar());
    if (isGiven && isClipped)
      addArgument(kGradientNorm, normScalar());
    begin(SmallVector<Type>(isGiven ? 0 : isClipped + optimizer.scalesLoss,
                            normScalar()));
    for (const UpdatedParameter &parameter : made.parameters) {
      Values &own = values.emplace_back();
      own.parameter = nextArgument();
      own.gradient = nextArgument();
      for (size_t i = 0; i < parameter.states.size(); ++i)
        own.states.push_back(nextArgument());
    }
    rate = nextArgument();
    if (optimizer.kind == Optimizer::AdamW)
      stepNumber = nextArgument();
    if (optimizer.scalesLoss)
      scale = nextArgument();
    if (isGiven && optimizer.scalesLoss)
      givenGreatest = nextArgument();
    if (isGiven && isClipped)
      givenNorm = nextArgument();
  }

  /// Sums of squares add up in single precision, unless a gradient is double.
  Type normType() {
    for (const UpdatedParameter &parameter : made.parameters)
      if (parameter.type.getElementType().isF64())
        return builder.getF64Type();
    return builder.getF32Type();
  }
  RankedTensorType normScalar() {
    return RankedTensorType::get({}, normType());
  }

  //===--- What all have in common ----------------------------------------===//

  /// Of Adam's updates.
  void makeShared() {
    auto fromOne = [&](Value value) {
      return call(op::rsub_Scalar, {value, 1.0});
    };
    if (optimizer.weightDecay != 0 &&
        llvm::any_of(made.parameters, [](const UpdatedParameter &parameter) {
          return parameter.decays;
        }))
      decay = fromOne(call(op::mul_Tensor, {rate, optimizer.weightDecay}));
    Value first = fromOne(call(op::pow_Scalar, {optimizer.beta1, stepNumber}));
    Value second = fromOne(call(op::pow_Scalar, {optimizer.beta2, stepNumber}));
    stepSize = call(op::div_Tensor, {rate, first});
    correction = call(op::sqrt, {second});
  }

  /// The value in the type of norms.
  Value widened(Value value) {
    if (aten::elementOf(value) == normType())
      return value;
    return call(op::_to_copy, {value}, {{"dtype", normType()}});
  }

  void addResult(Value value, StringRef name) {
    if (Operation *definer = value ? value.getDefiningOp() : nullptr)
      definer->setAttr("names", builder.getStrArrayAttr({name}));
    results.push_back(value);
  }

  /// In pairs: few roundings, and no kernel of all of them.
  Value combine(SmallVector<Value> values, StringRef name) {
    while (values.size() > 1) {
      SmallVector<Value> pairs;
      for (size_t i = 0; i + 1 < values.size(); i += 2)
        pairs.push_back(call(name, {values[i], values[i + 1]}));
      if (values.size() % 2)
        pairs.push_back(values.back());
      values = std::move(pairs);
    }
    return values.front();
  }

  /// Gradients of the loss itself, and whether all are finite.
  void unscale() {
    Value inverse = call(op::reciprocal, {scale});
    SmallVector<Value> greatest;
    for (Values &own : values) {
      own.gradient = call(op::mul_Tensor, {own.gradient, inverse});
      if (givenGreatest)
        continue;
      if (cast<RankedTensorType>(own.gradient.getType()).getNumElements() != 0)
        greatest.push_back(widened(call(
            op::amax, {call(op::abs, {own.gradient}), ArrayRef<int64_t>()})));
    }
    if (greatest.empty() && !givenGreatest)
      greatest.push_back(
          call(op::zeros, {ArrayRef<int64_t>()}, {{"dtype", normType()}}));
    Value most = givenGreatest ? givenGreatest
                               : combine(std::move(greatest), op::maximum);
    isFinite =
        call(op::lt_Scalar, {most, std::numeric_limits<double>::infinity()});
    if (!givenGreatest)
      addResult(most, kGreatestGradient);
  }

  SmallVector<Value> makeSquares() {
    SmallVector<Value> squares;
    for (const Values &own : values) {
      Value gradient = widened(own.gradient);
      squares.push_back(
          call(op::sum, {call(op::mul_Tensor, {gradient, gradient})}));
    }
    return squares;
  }

  Value makeNorm() {
    Value norm = call(op::sqrt, {combine(makeSquares(), op::add_Tensor)});
    addResult(norm, kGradientNorm);
    return norm;
  }

  /// clip_grad_norm_: all gradients times max_norm / (norm + 1e-6), at most 1.
  void clip(Value norm) {
    Value inverse = call(op::reciprocal, {call(op::add_Tensor, {norm, 1e-6})});
    coefficient =
        call(op::clamp, {call(op::mul_Tensor, {inverse, optimizer.clipNorm}),
                         nullptr, 1.0});
  }

  //===--- One parameter --------------------------------------------------===//

  void updateOne(const UpdatedParameter &parameter, const Values &own) {
    locateAt(parameter);
    Value gradient = own.gradient;
    if (coefficient)
      gradient = call(op::mul_Tensor, {gradient, coefficient});
    if (optimizer.kind == Optimizer::AdamW)
      updateByAdam(own, gradient, parameter.decays);
    else
      updateBySgd(own, gradient, parameter.decays);
  }

  /// The rate is a number in f64, which makes of a parameter without dimensions
  /// one of f64 too.
  void write(Value argument, Value value) {
    Type element = aten::elementOf(argument);
    if (value && aten::elementOf(value) != element)
      value = call(op::_to_copy, {value}, {{"dtype", element}});
    if (isFinite)
      value = call(op::where_self, {isFinite, value, argument});
    SegmentGraphBuilder::write(argument, value);
  }

  void updateBySgd(const Values &own, Value gradient, bool decays) {
    Value parameter = own.parameter;
    if (decays && optimizer.weightDecay != 0)
      gradient = call(op::add_Tensor, {gradient, parameter},
                      {{"alpha", optimizer.weightDecay}});
    Value direction = gradient;
    if (optimizer.momentum != 0) {
      Value momentum =
          call(op::add_Tensor,
               {call(op::mul_Tensor, {own.states[0], optimizer.momentum}),
                gradient});
      write(own.states[0], momentum);
      direction = optimizer.nesterov
                      ? call(op::add_Tensor, {gradient, momentum},
                             {{"alpha", optimizer.momentum}})
                      : momentum;
    }
    write(parameter,
          call(op::sub_Tensor,
               {parameter, call(op::mul_Tensor, {direction, rate})}));
  }

  void updateByAdam(const Values &own, Value gradient, bool decays) {
    Value parameter = own.parameter;
    if (decays && decay)
      parameter = call(op::mul_Tensor, {parameter, decay});
    Value mean = interpolate(own.states[0], gradient, 1 - optimizer.beta1);
    write(own.states[0], mean);
    Value scaled = call(op::mul_Tensor, {gradient, 1 - optimizer.beta2});
    Value square = call(op::add_Tensor,
                        {call(op::mul_Tensor, {own.states[1], optimizer.beta2}),
                         call(op::mul_Tensor, {scaled, gradient})});
    write(own.states[1], square);
    Value root = call(op::div_Tensor, {call(op::sqrt, {square}), correction});
    Value step =
        call(op::div_Tensor, {call(op::mul_Tensor, {mean, stepSize}),
                              call(op::add_Tensor, {root, optimizer.epsilon})});
    write(own.parameter, call(op::sub_Tensor, {parameter, step}));
  }

  /// `lerp`, which goes from the nearer end.
  Value interpolate(Value from, Value to, double weight) {
    Value distance = call(op::sub_Tensor, {to, from});
    if (weight < 0.5)
      return call(op::add_Tensor,
                  {from, call(op::mul_Tensor, {distance, weight})});
    return call(op::sub_Tensor,
                {to, call(op::mul_Tensor, {distance, 1 - weight})});
  }

  const Optimizer &optimizer;
  Norms norms;
  std::vector<Values> values; ///< by parameter
  /// Arguments.
  Value rate, stepNumber, scale, givenGreatest, givenNorm;
  Value isFinite, coefficient, decay, stepSize, correction;
  SmallVector<Value, 2> results;
};

} // namespace

/// A graph of that name, with the parameters of the step.
static FailureOr<UpdateGraph> beginSegment(joint::GraphOp graph,
                                           const Optimizer &optimizer,
                                           const char *name) {
  UpdateGraph update;
  update.segment = name;
  auto parameters = findParameters(graph, optimizer);
  if (failed(parameters))
    return failure();
  update.parameters = std::move(*parameters);
  return std::move(update);
}

FailureOr<UpdateGraph> cutback::buildUpdate(joint::GraphOp graph,
                                            const Optimizer &optimizer,
                                            Norms norms) {
  FailureOr<UpdateGraph> update =
      beginSegment(graph, optimizer, kUpdateSegment);
  if (failed(update) ||
      failed(UpdateBuilder(graph, optimizer, norms, *update).build()))
    return failure();
  return update;
}

FailureOr<UpdateGraph> cutback::buildNorms(joint::GraphOp graph,
                                           const Optimizer &optimizer) {
  FailureOr<UpdateGraph> made = beginSegment(graph, optimizer, kNorms);
  if (failed(made) ||
      failed(UpdateBuilder(graph, optimizer, Norms::Found, *made).buildNorms()))
    return failure();
  return made;
}
