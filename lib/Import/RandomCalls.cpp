// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ops that PyTorch's halves run twice. `run_and_save_rng_state(op, ...)`
// gives the state of the generator in front of the op, and what the op gives;
// `run_with_rng_state(state, op, ...)` runs the op with it again. Both become
// the op itself and, right in front of it, a mark: a `joint.opaque` that gives
// or takes the state. So the halves hold the op that the joint graph holds, and
// the certificate can compare them.
//
// Only in halves: what keeps a mark in front of its op is that nobody moves
// ops there. An op that the dialect does not know stays inside its wrapper.

#include "Calls.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

/// The arguments of the wrapped op.
static CallArguments behind(const CallArguments &args, size_t numValues,
                            size_t numOperands) {
  CallArguments rest;
  rest.values.append(args.values.begin() + numValues, args.values.end());
  rest.positions.append(args.positions.begin() + numValues,
                        args.positions.end());
  rest.operands.append(args.operands.begin() + numOperands,
                       args.operands.end());
  rest.keywords = args.keywords;
  rest.isBackward = args.isBackward;
  return rest;
}

const CallTarget *CallImporter::wrappedTarget(const CallTarget &wrapper,
                                              const CallArguments &args) {
  bool saves = wrapper.name == "higher_order.run_and_save_rng_state";
  bool replays = wrapper.name == "higher_order.run_with_rng_state";
  size_t at = replays ? 1 : 0;
  if (!scope.isHalf || !(saves || replays) ||
      args.values.size() <= at + args.keywords.size() ||
      (replays && !isa<joint::OperandAttr>(args.values[0])))
    return nullptr;
  auto name = dyn_cast<StringAttr>(args.values[at]);
  if (!name)
    return nullptr;
  const CallTarget &inner = target(("torch.ops." + name.getValue()).str());
  return inner.kind == CallTarget::Known ? &inner : nullptr;
}

joint::OpaqueOp CallImporter::createMark(const CallTarget &wrapper,
                                         ArrayRef<Type> types,
                                         ArrayRef<Value> operands,
                                         const Place &place) {
  SmallVector<Attribute> values(operands.size(),
                                joint::OperandAttr::get(scope.context));
  return joint::OpaqueOp::create(scope.builder, place.location, types,
                                 scope.builder.getStringAttr(wrapper.name),
                                 operands, scope.builder.getArrayAttr(values),
                                 ArrayAttr(), scope.builder.getUnitAttr(),
                                 UnitAttr(), ArrayAttr());
}

LogicalResult CallImporter::buildReplayed(const CallTarget &wrapper,
                                          const CallTarget &inner,
                                          const CallArguments &args,
                                          const CallStatement &statement,
                                          const Place &place) {
  if (wrapper.name == "higher_order.run_with_rng_state") {
    createMark(wrapper, {}, args.operands.front(), place);
    return buildKnown(inner, behind(args, 2, 1), statement, place);
  }
  Type stateType = RankedTensorType::get(
      {ShapedType::kDynamic}, scope.builder.getIntegerType(8, false));
  for (const TupleLeaf &leaf : getItems.leavesOf(statement.name))
    if (leaf.path.size() == 1 && leaf.path[0] == 0) {
      const DeclaredType *declared = scope.readType(leaf.type);
      if (!declared)
        return failure();
      stateType = declared->type;
    }
  RandomCall call;
  call.mark = createMark(wrapper, stateType, {}, place);
  // The op's own result has no name before it is taken out of the pair. What
  // the text has between name and call is none that a value can have.
  CallStatement result = statement;
  result.declared = nullptr;
  result.name =
      StringRef(statement.name.begin(), statement.at - statement.name.begin());
  if (failed(buildKnown(inner, behind(args, 1, 0), result, place)))
    return failure();
  call.result = *scope.find(result.name);
  Operation *op = call.mark->getNextNode();
  if (call.result.kind == Binding::Value)
    op->setAttr("names", names(statement.name));
  else
    op->setDiscardableAttr(callName, nameAttr(statement.name));
  Binding pair;
  pair.kind = Binding::Random;
  pair.isBackward = args.isBackward;
  pair.tuple = scope.randomCalls.size();
  scope.randomCalls.push_back(call);
  return scope.define(statement.name, pair);
}

LogicalResult CallImporter::bindRandom(const CallStatement &statement,
                                       const Binding &pair, StringRef index,
                                       unsigned element) {
  const RandomCall &call = scope.randomCalls[pair.tuple];
  if (element > 1)
    return scope.fail(index.begin(),
                      "element " + index +
                          " of a pair of random state and "
                          "result",
                      kCut);
  Binding binding = call.result;
  if (element == 0) {
    binding = Binding();
    binding.isBackward = pair.isBackward;
    binding.value = call.mark->getResult(0);
    if (statement.declared && statement.declared->dims)
      call.mark->setDiscardableAttr(dimsName, statement.declared->dims);
  }
  if (binding.kind == Binding::Value)
    binding.value.getDefiningOp()->setAttr("names", names(statement.name));
  return scope.define(statement.name, binding);
}
