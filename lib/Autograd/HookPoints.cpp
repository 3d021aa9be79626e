// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From names on a command line to points of a backward.
//
//   1. A name is that of an argument, else of a value of the forward. A pattern
//      (`*.weight`) is of parameters that take a gradient, and fits one at
//      least.
//   2. Each becomes the edge at which its gradient arrives: a node, and which
//      of its inputs. Hooks of a node are on all that arrives there, or all
//      that it gives.
//   3. The walk asks at each gradient that it passes. What it never passed is
//      an error behind it, because a hook that cannot run is a mistake.
//
// Linear, but for patterns, each of which is compared with all parameters.

#include "HookPoints.h"

#include "DifferentiateTargets.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string cutback::nameOfArgument(GraphOp graph, unsigned arg) {
  RoleAttr role = graph.getRole(arg);
  if (role.getName() && !role.getName().empty())
    return role.getName().str();
  if (role.getKind() != RoleKind::Input)
    return graph.getArgName(arg).str();
  unsigned number = 0;
  for (unsigned i = 0; i < arg; ++i)
    number += graph.getRole(i).getKind() == RoleKind::Input;
  return "input." + std::to_string(number);
}

bool cutback::isPattern(StringRef name) {
  return name.find_first_of("*?[") != StringRef::npos;
}

FailureOr<SmallVector<unsigned>>
cutback::findByPattern(GraphOp graph, StringRef pattern,
                       llvm::function_ref<bool(unsigned)> isActive) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (!glob) {
    llvm::consumeError(glob.takeError());
    return graph.emitError("hook: '") << pattern << "' is no pattern of names";
  }
  SmallVector<unsigned> found;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    if (graph.getRole(arg).getKind() == RoleKind::Param && isActive(arg) &&
        glob->match(nameOfArgument(graph, arg)))
      found.push_back(arg);
  if (!found.empty())
    return found;
  auto diagnostic = graph.emitError("hook: no parameter that takes a gradient "
                                    "fits '")
                    << pattern << "'";
  std::string names;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    if (graph.getRole(arg).getKind() == RoleKind::Param && isActive(arg) &&
        names.size() < 120)
      names += (names.empty() ? "'" : ", '") + nameOfArgument(graph, arg) + "'";
  diagnostic.attachNote() << "there are " << (names.empty() ? "none" : names);
  return failure();
}

Value cutback::findNamed(GraphOp graph, StringRef name) {
  if (int arg = findArgument(graph, name); arg >= 0)
    return graph.getBody().getArgument(static_cast<unsigned>(arg));
  for (Operation &op : graph.getBlock())
    for (OpResult result : op.getResults())
      if (getValueName(result) == name)
        return result;
  return {};
}

LogicalResult cutback::failUnknownName(GraphOp graph, StringRef name) {
  std::vector<std::string> all;
  for (unsigned arg = 0; arg < graph.getNumArguments(); ++arg)
    all.push_back(nameOfArgument(graph, arg));
  for (Operation &op : graph.getBlock())
    for (OpResult result : op.getResults())
      if (StringRef own = getValueName(result); !own.empty())
        all.push_back(own.str());
  std::vector<std::string_view> candidates(all.begin(), all.end());
  std::vector<std::string> near =
      nearestNames(std::string_view(name.data(), name.size()), candidates, 3);
  auto diagnostic = graph.emitError("hook: no argument or value of '")
                    << graph.getSymName() << "' is called '" << name << "'";
  if (near.empty())
    diagnostic.attachNote() << "parameters go by their names in the model, "
                               "inputs are input.N";
  else
    diagnostic.attachNote()
        << "did you mean '" << llvm::join(near, "', '") << "'?";
  return failure();
}

//===----------------------------------------------------------------------===//
// Points of a walk
//===----------------------------------------------------------------------===//

LogicalResult HookPoints::add(GraphOp graph, size_t request, Value value,
                              NodeEdge edge, bool isLeaf) {
  const auto &[kind, name] = requests[request];
  if (!edge.isValid()) {
    auto diagnostic = graph.emitError("hook on '")
                      << name << "', which has no gradient";
    diagnostic.attachNote(value.getLoc())
        << "it takes none, or does not depend on what takes one; ask for it "
           "(--grad-of), or name another value";
    return diagnostic;
  }
  if (kind == HookKind::PostAccumulate && !isLeaf)
    return graph.emitError("hook of kind post_accumulate on '")
           << name << "', which is no argument: its gradient is no result; "
           << "take tensor_pre";
  if (kind == HookKind::NodePost && isLeaf)
    return graph.emitError("hook of kind node_post on '")
           << name << "', which is an argument: nothing is computed from its "
           << "gradient; take post_accumulate";
  bool isOfNode = kind == HookKind::NodePre || kind == HookKind::NodePost;
  // One that is asked for by another name is another point.
  std::string own = name;
  if (auto argument = dyn_cast<BlockArgument>(value); isPattern(name))
    own = nameOfArgument(graph, argument.getArgNumber());
  std::vector<Point> &there =
      points[Place(kind, edge.node, isOfNode ? 0 : edge.input)];
  auto point =
      llvm::find_if(there, [&](const Point &p) { return p.name == own; });
  if (point == there.end())
    point = there.insert(point, {own, {}});
  point->requests.push_back(request);
  return success();
}

LogicalResult HookPoints::resolve(GraphOp graph, const NodeGraph &nodes,
                                  ArrayRef<HookRequest> asked,
                                  llvm::function_ref<NodeEdge(Value)> edgeOf) {
  requests.assign(asked.begin(), asked.end());
  isPlaced.resize(requests.size());
  for (auto [number, request] : llvm::enumerate(requests)) {
    SmallVector<Value> values;
    if (isPattern(request.name)) {
      auto isActive = [&](unsigned arg) {
        return edgeOf(graph.getBody().getArgument(arg)).isValid();
      };
      auto found = findByPattern(graph, request.name, isActive);
      if (failed(found))
        return failure();
      for (unsigned arg : *found)
        values.push_back(graph.getBody().getArgument(arg));
    } else {
      values.push_back(findNamed(graph, request.name));
      if (!values.front())
        return failUnknownName(graph, request.name);
    }
    for (Value value : values) {
      NodeEdge edge = edgeOf(value);
      bool isLeaf = edge.isValid() && nodes.isAccumulate(edge.node);
      if (failed(add(graph, number, value, edge, isLeaf)))
        return failure();
    }
  }
  return success();
}

SmallVector<StringRef, 1> HookPoints::place(HookKind kind, uint32_t node,
                                            unsigned index) {
  bool isOfNode = kind == HookKind::NodePre || kind == HookKind::NodePost;
  SmallVector<StringRef, 1> names;
  auto found = points.find(Place(kind, node, isOfNode ? 0 : index));
  if (found == points.end())
    return names;
  for (const Point &point : found->second) {
    for (size_t request : point.requests)
      isPlaced[request] = true;
    names.push_back(point.name);
  }
  return names;
}

LogicalResult HookPoints::checkPlaced(GraphOp graph) const {
  for (size_t request = 0; request < requests.size(); ++request)
    if (!isPlaced[request]) {
      auto diagnostic = graph.emitError("hook on '")
                        << requests[request].name
                        << "', at which no gradient arrives";
      diagnostic.attachNote()
          << "no result that is differentiated depends on it, or the gradients "
             "that are asked for (--grad-of) do not";
      return diagnostic;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static_assert(static_cast<int>(HookKind::TensorPre) ==
                  static_cast<int>(HookPointKind::TensorPre) &&
              static_cast<int>(HookKind::PostAccumulate) ==
                  static_cast<int>(HookPointKind::PostAccumulate));

Value cutback::buildHook(OpBuilder &builder, Location loc, HookKind kind,
                         StringRef point, Value gradient, int64_t key,
                         StringAttr name) {
  bool replaces = kind != HookKind::RetainsGrad;
  auto hook =
      HookOp::create(builder, loc, replaces ? gradient.getType() : Type(),
                     FlatSymbolRefAttr::get(builder.getContext(), point),
                     HookPointKindAttr::get(builder.getContext(),
                                            static_cast<HookPointKind>(kind)),
                     gradient, builder.getI64IntegerAttr(key),
                     replaces ? builder.getArrayAttr({name}) : ArrayAttr());
  return replaces ? hook.getResult() : gradient;
}
