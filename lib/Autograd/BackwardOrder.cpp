// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers by which the engine orders nodes, where a user changes them.
//
//   --sequence: the number of the op that computes a value, and of what waits
//     for it, if that is communication.
//   --collectives-first:
//     1. A node that leads to communication (some path of edges from it ends
//        there) is ahead of all that do not: its number grows by the number of
//        ops. Among them the engine's order stays.
//     2. Communication itself is ahead of both, so that it starts when its
//        gradient is there.
//
// Of communication whose place is chosen so, what waits for it in the backward
// goes down to the first op that reads it, behind what is started in between,
// and marks on both (Overlap.h) keep what orders the backward for memory from
// undoing that.
//
// Communication is an op that must run in its order and lets a gradient
// through; whatever else has effects has none. One that waits for another is
// one in order that reads another one in order. Linear.

#include "BackwardOrder.h"

#include "DifferentiateTargets.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Overlap.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

static bool hasOrderedEffects(Operation *op) {
  auto model = dyn_cast_or_null<RematerializableOpInterface>(op);
  return model && model.hasOrderedEffects();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

bool cutback::addSequence(StringRef text, DifferentiateOptions &options,
                          std::string &error) {
  auto [name, digits] = text.rsplit('=');
  name.consume_front("%");
  int64_t number = 0;
  if (name.empty() || digits.getAsInteger(10, number) || number < 0) {
    error = "a sequence number is given as VALUE=N (mm_3=100), not '" +
            text.str() + "'";
    return false;
  }
  auto wanted = static_cast<uint64_t>(number);
  for (const auto &[other, first] : options.sequence)
    if (other == name && first != wanted) {
      error = "'" + name.str() + "' has two sequence numbers, " +
              std::to_string(first) + " and " + std::to_string(wanted);
      return false;
    }
  options.sequence.emplace_back(name.str(), wanted);
  return true;
}

static LogicalResult failUnknown(GraphOp graph, StringRef name) {
  auto diagnostic = graph.emitError("no value of '")
                    << graph.getSymName() << "' is called '" << name
                    << "', whose sequence number is given";
  if (findArgument(graph, name) >= 0) {
    diagnostic.attachNote() << "it is an argument: its gradient is added up as "
                               "soon as it is there";
    return failure();
  }
  std::vector<std::string_view> names;
  for (Operation &op : graph.getBlock())
    for (Value result : op.getResults()) {
      StringRef known = getValueName(result);
      names.emplace_back(known.data(), known.size());
    }
  std::vector<std::string> near =
      nearestNames(std::string_view(name.data(), name.size()), names, 3);
  if (near.empty())
    diagnostic.attachNote() << "`cutback import` prints all names";
  else
    diagnostic.attachNote() << "names near it are " << llvm::join(near, ", ");
  return failure();
}

LogicalResult BackwardOrder::readNames() {
  if (options.collectivesFirst)
    ahead = graph.getBlock().getOperations().size(); // counted one by one
  for (Operation &op : graph.getBlock())
    if (auto number = op.getAttrOfType<IntegerAttr>(kSequenceNr))
      if (number.getInt() < 0)
        return op.emitError("sequence number ")
               << number.getInt() << " is below 0, where they begin";
  if (options.sequence.empty())
    return success();
  llvm::StringMap<Operation *> ops;
  for (Operation &op : graph.getBlock())
    for (Value result : op.getResults())
      ops.try_emplace(getValueName(result), &op);
  for (const auto &[name, number] : options.sequence) {
    Operation *op = ops.lookup(name);
    if (!op)
      return failUnknown(graph, name);
    given[op] = {number, false};
  }
  return success();
}

std::optional<uint64_t> BackwardOrder::givenTo(Operation *op) const {
  if (auto found = given.find(op); found != given.end())
    return found->second.first;
  if (!hasOrderedEffects(op))
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (Operation *started = operand.getDefiningOp();
        hasOrderedEffects(started))
      if (auto found = given.find(started); found != given.end())
        return found->second.first;
  return std::nullopt;
}

/// Whether the place of communication in the backward is the user's.
bool BackwardOrder::isAsked(Operation *op) const {
  return hasOrderedEffects(op) && (options.collectivesFirst || givenTo(op));
}

std::optional<uint64_t> BackwardOrder::numberOf(Operation *op,
                                                ArrayRef<NodeEdge> next,
                                                const NodeGraph &nodes) {
  bool isOwn = options.collectivesFirst && hasOrderedEffects(op);
  bool isAhead =
      isOwn || llvm::any_of(next, [&](const NodeEdge &edge) {
        return edge.isValid() && edge.node < leads.size() && leads[edge.node];
      });
  leads.resize(nodes.size());
  leads.push_back(isAhead);
  if (auto found = given.find(op); found != given.end())
    found->second.second = true;
  if (auto number = givenTo(op))
    return number;
  if (auto attribute = op->getAttrOfType<IntegerAttr>(kSequenceNr))
    return attribute.getInt();
  if (!isAhead)
    return std::nullopt;
  return nodes.getNextSequence() + (isOwn ? 2 * ahead : ahead);
}

LogicalResult BackwardOrder::checkNumbers() {
  for (const auto &[op, number] : given)
    if (!number.second) {
      auto diagnostic = op->emitError("a sequence number is given to '")
                        << getValueName(op->getResult(0))
                        << "', and no gradient flows through it";
      diagnostic.attachNote() << "the order of the backward is that of ops "
                                 "that have a gradient";
      return failure();
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void BackwardOrder::built(Operation *op, Operation *first) {
  if (!isAsked(op))
    return;
  auto end = graph.getBlock().end();
  for (auto at = first->getIterator(); at != end; ++at) {
    if (!hasOrderedEffects(&*at))
      continue;
    bool isWait = llvm::any_of(at->getOperands(), [&](Value operand) {
      Operation *started = operand.getDefiningOp();
      return hasOrderedEffects(started) && !started->isBeforeInBlock(first);
    });
    at->setAttr(isWait ? kLate : kEarly, UnitAttr::get(graph.getContext()));
    if (isWait)
      waits.push_back(&*at);
  }
}

void BackwardOrder::settle() {
  for (Operation *wait : waits) {
    Operation *reader = graph.getOutput();
    for (Operation *user : wait->getUsers())
      if (user->isBeforeInBlock(reader))
        reader = user;
    wait->moveBefore(reader);
  }
}
