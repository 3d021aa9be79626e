// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles come from descriptors where the text has them:
//
//   ParamAOTInput(target='fc1.weight')                    param "fc1.weight"
//   TangentAOTInput(output=PlainAOTOutput(idx=0))         tangent of 0
//   GradAOTOutput(grad_of=ParamAOTInput(target='…'))      a gradient
//
// Otherwise from names (`tangents_1`, `fwd_seed`) and from counts: the graph
// returns its forward results, then one entry for each primal, which is None
// where there is no gradient. A tangent then belongs to the next floating
// forward result of its type. Inputs of which nothing is known are `input`.
// From torch.compile all inputs are PlainAOTInput(idx=N); a trace log says
// what number N is.
//
// Whatever the rule, forward results must not depend on a tangent, and a
// gradient must have its argument's type: a wrong split is an error here.

#include "Roles.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;
using joint::RoleAttr;
using joint::RoleKind;

namespace {

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

bool isSeed(const Argument &argument) {
  StringRef name = argument.name;
  if (argument.descriptor.starts_with("Philox"))
    return true;
  // Hardly any name has the letters that the four share.
  return name.contains("wd_") &&
         (name.contains("fwd_seed") || name.contains("fwd_base_offset") ||
          name.contains("bwd_seed") || name.contains("bwd_base_offset"));
}

/// What orders ops with effects; no result is its gradient.
bool isToken(const Argument &argument) {
  return argument.descriptor.starts_with("ForwardTokenAOTInput(");
}

/// The number of the token that a backward returns, or empty. It is no
/// gradient: the argument of that number takes its value.
StringRef backwardToken(StringRef descriptor) {
  for (StringRef head : {"BackwardTokenAOTOutput(", "BackwardTokenAOTInput("})
    if (descriptor.consume_front(head))
      return descriptor;
  return {};
}

bool isTangent(const Argument &argument) {
  return !isSeed(argument) && !argument.isConstant &&
         isBackwardInput(argument.name, argument.descriptor);
}

/// `Head(key=X)` gives X; empty if `descriptor` has another form.
StringRef inner(StringRef descriptor, StringRef head) {
  if (!descriptor.consume_front(head) || !descriptor.consume_back(")"))
    return {};
  return descriptor;
}

class JointRoles {
public:
  JointRoles(const FxReader &reader, const FxRequest &request)
      : reader(reader), request(request), scope(reader.scope) {}

  FailureOr<GraphRoles> run() {
    for (auto [i, argument] : llvm::enumerate(scope.arguments))
      if (!isSeed(argument) && !isToken(argument) && !argument.isConstant &&
          !isTangent(argument))
        primals.push_back(i);
    bool hasDescriptors =
        llvm::any_of(reader.outputs, [](const Output &output) {
          return output.descriptor.starts_with("GradAOTOutput(");
        });
    if (failed(hasDescriptors && !request.forwardOutputs ? splitByDescriptor()
                                                         : splitByCount()) ||
        failed(check()))
      return failure();
    roles.arguments = assignArgumentRoles(reader, request, matchTangents());
    return roles;
  }

private:
  LogicalResult splitByDescriptor();
  LogicalResult splitByCount();
  LogicalResult addGradient(unsigned output, unsigned argument);
  LogicalResult addToken(unsigned output);
  void addForward(unsigned output) {
    if (reader.outputs[output].kind == Output::Value)
      roles.forward.push_back(output);
  }
  LogicalResult check();
  SmallVector<int64_t> matchTangents();

  const FxReader &reader;
  const FxRequest &request;
  const Scope &scope;
  SmallVector<unsigned> primals;
  GraphRoles roles;
};

} // namespace

LogicalResult JointRoles::addGradient(unsigned output, unsigned argument) {
  const Output &entry = reader.outputs[output];
  if (entry.kind == Output::None)
    return success();
  if (entry.kind == Output::Literal)
    return scope.fail(entry.text.begin(),
                      "the gradient of " +
                          quoted(scope.arguments[argument].name) +
                          " is a number, not a value",
                      "forward results come first; --forward-outputs=N says "
                      "how many there are");
  roles.gradients.push_back({output, argument});
  return success();
}

LogicalResult JointRoles::addToken(unsigned output) {
  StringRef descriptor = reader.outputs[output].descriptor;
  for (auto [a, argument] : llvm::enumerate(scope.arguments))
    if (backwardToken(argument.descriptor) == backwardToken(descriptor)) {
      roles.writes.push_back({output, static_cast<unsigned>(a)});
      return success();
    }
  return scope.fail(descriptor.begin(),
                    "this is the value of a token that no input has", kCut);
}

LogicalResult JointRoles::splitByDescriptor() {
  llvm::StringMap<unsigned> inputs;
  for (auto [i, argument] : llvm::enumerate(scope.arguments))
    if (!argument.descriptor.empty())
      inputs.try_emplace(argument.descriptor, i);
  for (auto [i, output] : llvm::enumerate(reader.outputs)) {
    StringRef of = inner(output.descriptor, "GradAOTOutput(grad_of=");
    if (!backwardToken(output.descriptor).empty()) {
      if (failed(addToken(i)))
        return failure();
      continue;
    }
    if (of.empty()) {
      if (output.descriptor.starts_with("PhiloxUpdatedBackwardOffset"))
        for (auto [a, argument] : llvm::enumerate(scope.arguments))
          if (argument.descriptor.starts_with("PhiloxBackwardBaseOffset"))
            roles.writes.push_back(
                {static_cast<unsigned>(i), static_cast<unsigned>(a)});
      if (!output.descriptor.starts_with("PhiloxUpdatedBackwardOffset"))
        addForward(i);
      continue;
    }
    auto it = inputs.find(of);
    if (it == inputs.end())
      return scope.fail(output.descriptor.begin(),
                        "this is the gradient of " + quoted(of) +
                            ", which is no input",
                        kCut);
    if (failed(addGradient(i, it->second)))
      return failure();
  }
  return success();
}

LogicalResult JointRoles::splitByCount() {
  ArrayRef<Output> outputs = reader.outputs;
  int64_t numOutputs = outputs.size();
  for (auto [a, argument] : llvm::enumerate(scope.arguments))
    if (argument.name.contains("bwd_base_offset") && numOutputs > 0) {
      --numOutputs; // its new value is returned last
      roles.writes.push_back(
          {static_cast<unsigned>(numOutputs), static_cast<unsigned>(a)});
    }
  while (numOutputs > 0 &&
         !backwardToken(outputs[numOutputs - 1].descriptor).empty())
    if (failed(addToken(static_cast<unsigned>(--numOutputs))))
      return failure();
  int64_t numPrimals = primals.size();
  int64_t numForward = request.forwardOutputs.value_or(numOutputs - numPrimals);
  if (numForward < 0 || numForward > numOutputs ||
      numOutputs - numForward > numPrimals)
    return scope.fail(
        outputs.empty() ? scope.source.text().begin()
                        : outputs.front().text.begin(),
        "the graph returns " + Twine(outputs.size()) + " values for " +
            Twine(numPrimals) + " inputs, " + Twine(numForward) +
            " of them forward results",
        "a joint graph returns its forward results and then one gradient or "
        "None for each input; --forward-outputs=N says how many results are "
        "forward");
  for (int64_t i = 0; i < numForward; ++i)
    addForward(i);
  for (int64_t i = numForward; i < numOutputs; ++i)
    if (failed(addGradient(i, primals[i - numForward])))
      return failure();
  return success();
}

bool fx::refineGradient(Value gradient, Type argument) {
  if (gradient.getType() == argument)
    return true;
  auto from = dyn_cast<RankedTensorType>(gradient.getType());
  auto to = dyn_cast<RankedTensorType>(argument);
  if (!from || !to || !isa<OpResult>(gradient) ||
      from.getElementType() != to.getElementType() ||
      failed(verifyCompatibleShape(from, to)))
    return false;
  for (auto [known, asked] : llvm::zip(from.getShape(), to.getShape()))
    if (ShapedType::isDynamic(asked) && !ShapedType::isDynamic(known))
      return false;
  gradient.setType(to);
  return true;
}

LogicalResult JointRoles::check() {
  for (unsigned i : roles.forward) {
    const Output &output = reader.outputs[i];
    if (output.isBackward)
      return scope.fail(output.text.begin(),
                        "forward result " + quoted(output.text) +
                            " depends on a tangent",
                        "the first " + Twine(roles.forward.size()) +
                            " results were taken as the forward's; "
                            "--forward-outputs=N says how many are");
  }
  llvm::sort(roles.gradients, [](const auto &a, const auto &b) {
    return std::tie(a.argument, a.output) < std::tie(b.argument, b.output);
  });
  const GraphRoles::Gradient *last = nullptr;
  for (const GraphRoles::Gradient &gradient : roles.gradients) {
    const Output &output = reader.outputs[gradient.output];
    const Argument &argument = scope.arguments[gradient.argument];
    if (last && last->argument == gradient.argument)
      return scope.fail(output.text.begin(),
                        "input " + quoted(argument.name) + " has two gradients",
                        kCut);
    last = &gradient;
    if (!refineGradient(output.value, argument.type->type))
      return scope.fail(
          output.text.begin(),
          quoted(output.text) + " of type " + text(output.value.getType()) +
              " is the gradient of input " + quoted(argument.name) +
              " of type " + text(argument.type->type),
          "gradients come behind the forward results, one for "
          "each input; --forward-outputs=N says how many "
          "results are forward");
  }
  return success();
}

static bool isFloating(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType, ComplexType>(tensor.getElementType());
}

/// By argument: the forward result that it is the tangent of, or -1.
SmallVector<int64_t> JointRoles::matchTangents() {
  SmallVector<int64_t> of(scope.arguments.size(), -1);
  llvm::StringMap<int64_t> byDescriptor;
  for (auto [i, output] : llvm::enumerate(roles.forward))
    if (StringRef name = reader.outputs[output].descriptor; !name.empty())
      byDescriptor.try_emplace(name, i);
  auto typeOf = [&](int64_t result) {
    return reader.outputs[roles.forward[result]].value.getType();
  };
  int64_t next = 0, count = roles.forward.size();
  for (auto [i, argument] : llvm::enumerate(scope.arguments)) {
    if (!isTangent(argument))
      continue;
    Type type = argument.type->type;
    StringRef output = inner(argument.descriptor, "TangentAOTInput(output=");
    if (auto it = byDescriptor.find(output); it != byDescriptor.end()) {
      if (typeOf(it->second) == type)
        of[i] = it->second;
      continue;
    }
    int64_t found = next;
    while (found < count &&
           (typeOf(found) != type || !isFloating(typeOf(found))))
      ++found;
    bool isTold = !argument.descriptor.empty() && !byDescriptor.empty();
    if (found == count || isTold)
      continue;
    of[i] = found;
    next = found + 1;
  }
  return of;
}

FailureOr<GraphRoles> fx::assignJointRoles(const FxReader &reader,
                                           const FxRequest &request) {
  return JointRoles(reader, request).run();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The role that a descriptor or a log gives an input, with its name.
static std::pair<RoleKind, StringRef> inputRole(const Argument &argument,
                                                const GraphHints *hints) {
  StringRef target = argument.descriptor;
  if (target.consume_front("ParamAOTInput(target="))
    return {RoleKind::Param, quotedArgument(target)};
  if (target.consume_front("BufferAOTInput(target="))
    return {RoleKind::Buffer, quotedArgument(target)};
  if (argument.type->isScalar)
    return {RoleKind::Size, {}};
  StringRef index = inner(argument.descriptor, "PlainAOTInput(idx=");
  unsigned number = 0;
  if (hints && !index.getAsInteger(10, number) && number < hints->inputs.size())
    return {hints->inputs[number].kind, hints->inputs[number].name};
  return {RoleKind::Input, {}};
}

/// True if the log speaks of other inputs than the graph has.
static bool contradicts(const Scope &scope, const GraphHints &hints) {
  TypeTable types(scope.context);
  for (const Argument &argument : scope.arguments) {
    StringRef index = inner(argument.descriptor, "PlainAOTInput(idx=");
    unsigned number = 0;
    if (index.empty() || index.getAsInteger(10, number))
      continue;
    if (number >= hints.inputs.size())
      return true;
    std::string error;
    const DeclaredType *type = types.get(hints.inputs[number].type, error);
    if (!type || type->type != argument.type->type)
      return true;
  }
  return false;
}

SmallVector<RoleAttr> fx::assignArgumentRoles(const FxReader &reader,
                                              const FxRequest &request,
                                              ArrayRef<int64_t> tangentOf) {
  const Scope &scope = reader.scope;
  MLIRContext *context = scope.context;
  const GraphHints *hints = request.hints;
  if (hints && contradicts(scope, *hints))
    hints = nullptr;
  SmallVector<RoleAttr> roles;
  for (auto [i, argument] : llvm::enumerate(scope.arguments)) {
    auto add = [&](RoleKind kind, StringRef name = {}, int64_t of = -1,
                   bool isBackward = false) {
      StringAttr nameAttr =
          name.empty() ? StringAttr() : StringAttr::get(context, name);
      roles.push_back(RoleAttr::get(context, kind, nameAttr, of, isBackward));
    };
    bool isBackward = isBackwardInput(argument.name, argument.descriptor);
    if (argument.isConstant)
      add(RoleKind::Constant, argument.name);
    else if (isSeed(argument))
      add(argument.descriptor.contains("Offset") ||
                  argument.name.contains("offset")
              ? RoleKind::RngOffset
              : RoleKind::RngSeed,
          {}, -1, isBackward);
    else if (isTangent(argument))
      add(RoleKind::Tangent, {}, tangentOf.empty() ? -1 : tangentOf[i]);
    else if (request.kind == GraphKind::Backward)
      add(RoleKind::Saved);
    else if (auto [kind, name] = inputRole(argument, hints); true)
      add(kind, name);
  }
  return roles;
}
