// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments that take a gradient: those with `joint.requires_grad`, or all
// floating-point parameters where none has it, and those that `--grad-of`
// names. An argument tied to one of them is the same tensor, so it takes a
// gradient too: the groups are joined by union-find over argument numbers.

#include "DifferentiateTargets.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/IntEqClasses.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

bool cutback::isDifferentiable(Type type) {
  return isa<RankedTensorType>(type) &&
         isa<FloatType, ComplexType>(getElementTypeOrSelf(type));
}

bool cutback::mayPassGradient(Operation *op, unsigned operand) {
  auto rules = dyn_cast<DifferentiableOpInterface>(op);
  return !rules || rules.canHaveGradient(operand);
}

/// "input.2" is the third argument of that role.
static int findInput(GraphOp graph, StringRef name) {
  unsigned number = 0;
  if (!name.consume_front("input.") || name.getAsInteger(10, number))
    return -1;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    if (graph.getRole(arg).getKind() == RoleKind::Input && number-- == 0)
      return static_cast<int>(arg);
  return -1;
}

int cutback::findArgument(GraphOp graph, StringRef name) {
  unsigned count = graph.getNumArguments();
  for (unsigned arg = 0; arg < count; ++arg)
    if (graph.getArgName(arg) == name)
      return static_cast<int>(arg);
  for (unsigned arg = 0; arg < count; ++arg)
    if (StringAttr own = graph.getRole(arg).getName())
      if (own.getValue() == name)
        return static_cast<int>(arg);
  return findInput(graph, name);
}

bool GradientTargets::isWanted(unsigned group) const {
  return llvm::any_of(groups[group],
                      [&](unsigned arg) { return wanted.count(arg) != 0; });
}

std::string GradientTargets::describe(GraphOp graph) const {
  std::string text;
  for (unsigned arg : wanted)
    text += (text.empty() ? "'" : ", '") + graph.getArgName(arg).str() + "'";
  return text.empty() ? "none" : text;
}

/// Arguments tied by their attributes, as equivalence classes.
static LogicalResult joinTied(GraphOp graph, llvm::IntEqClasses &classes) {
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    auto tied = graph.getArgAttrOfType<StringAttr>(arg, kTied);
    if (!tied)
      continue;
    int other = findArgument(graph, tied.getValue());
    if (other < 0)
      return graph.emitError("argument '")
             << graph.getArgName(arg) << "' is tied to '" << tied.getValue()
             << "', and no argument is called so";
    if (graph.getArgumentTypes()[arg] != graph.getArgumentTypes()[other])
      return graph.emitError("argument '")
             << graph.getArgName(arg) << "' of type "
             << graph.getArgumentTypes()[arg] << " is tied to '"
             << tied.getValue() << "' of type "
             << graph.getArgumentTypes()[other];
    classes.join(arg, static_cast<unsigned>(other));
  }
  return success();
}

FailureOr<std::vector<unsigned>> cutback::findTied(GraphOp graph) {
  llvm::IntEqClasses classes(graph.getNumArguments());
  if (failed(joinTied(graph, classes)))
    return failure();
  std::vector<unsigned> first;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    first.push_back(classes.findLeader(arg));
  return first;
}

void cutback::noteDetach(InFlightDiagnostic &diagnostic) {
  diagnostic.attachNote()
      << "a detach is what was computed under torch.no_grad(), by detach() or "
         ".data; torch.export also puts all that comes after a checkpoint "
         "inside of another one, or after one with use_reentrant=True, under "
         "no_grad: export the model without these checkpoints, and name the "
         "modules to recompute by --checkpoint";
}

std::set<unsigned> cutback::takeGradient(GraphOp graph) {
  std::set<unsigned> marked, parameters;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    if (!isDifferentiable(graph.getArgumentTypes()[arg]))
      continue;
    if (graph.getArgAttr(arg, kRequiresGrad))
      marked.insert(arg);
    if (graph.getRole(arg).getKind() == RoleKind::Param)
      parameters.insert(arg);
  }
  return marked.empty() ? parameters : marked;
}

static LogicalResult checkForward(GraphOp graph) {
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    RoleKind kind = graph.getRole(arg).getKind();
    if (kind != RoleKind::Tangent && kind != RoleKind::GradSeed)
      continue;
    auto diagnostic = graph.emitError("'")
                      << graph.getSymName() << "' has a backward: argument '"
                      << graph.getArgName(arg) << "' is " << graph.getRole(arg);
    diagnostic.attachNote()
        << "differentiate the forward program, leave the differentiation out, "
           "or say which result is to be differentiated again (of=grad.w)";
    return failure();
  }
  if (graph.getNumForwardResults() == graph.getResultTypes().size())
    return success();
  return graph.emitError("'") << graph.getSymName() << "' has gradients";
}

LogicalResult cutback::chooseTargets(GraphOp graph,
                                     const DifferentiateOptions &options,
                                     GradientTargets &targets) {
  llvm::IntEqClasses classes(graph.getNumArguments());
  if (failed(checkForward(graph)) || failed(joinTied(graph, classes)))
    return failure();
  std::set<unsigned> active = takeGradient(graph);
  for (const std::string &name : options.gradOf) {
    int arg = findArgument(graph, name);
    if (arg < 0) {
      auto diagnostic = graph.emitError("no argument of '")
                        << graph.getSymName() << "' is called '" << name
                        << "', whose gradient is asked for";
      targets.wanted = active;
      diagnostic.attachNote()
          << "arguments that take a gradient: " << targets.describe(graph);
      return failure();
    }
    if (!isDifferentiable(graph.getArgumentTypes()[arg]))
      return graph.emitError("argument '")
             << name << "' has type " << graph.getArgumentTypes()[arg]
             << ", which takes no gradient";
    targets.wanted.insert(static_cast<unsigned>(arg));
    active.insert(static_cast<unsigned>(arg));
  }
  bool all = targets.wanted.empty();
  std::set<unsigned> leaders;
  for (unsigned arg : active)
    leaders.insert(classes.findLeader(arg));
  std::map<unsigned, unsigned> groupOf;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg) {
    unsigned leader = classes.findLeader(arg);
    if (!leaders.count(leader))
      continue;
    auto [group, isNew] = groupOf.try_emplace(leader, targets.groups.size());
    if (isNew)
      targets.groups.emplace_back();
    targets.groups[group->second].push_back(arg);
    if (all)
      targets.wanted.insert(arg);
  }
  return success();
}
