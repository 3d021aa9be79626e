// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of one half: its arguments are tensors under the names that the step
// or the optimizer has for them, buffers by role, so that the planner takes
// none for an input whose gradient is wanted. What it changes are writes
// into them.
//
// A call that cannot be built says so where it is made; end() fails then.
// Linear.

#include "SegmentGraph.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace cutback;

void SegmentGraphBuilder::addArgument(StringRef name, Type type) {
  types.push_back(type);
  attributes.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr(joint::JointDialect::kName,
                            builder.getStringAttr(name)),
       builder.getNamedAttr(
           joint::JointDialect::kRole,
           joint::RoleAttr::get(builder.getContext(), joint::RoleKind::Buffer,
                                builder.getStringAttr(name), -1, false))}));
}

void SegmentGraphBuilder::begin(ArrayRef<Type> results) {
  made.module = ModuleOp::create(step.getLoc());
  builder.setInsertionPointToEnd(made.module->getBody());
  made.graph = joint::GraphOp::create(
      builder, step.getLoc(), (step.getSymName() + "_" + made.segment).str(),
      builder.getFunctionType(types, results),
      static_cast<int64_t>(results.size()), attributes);
  Block &block = made.graph.getBody().emplaceBlock();
  for (Type type : types)
    block.addArgument(type, step.getLoc());
  builder.setInsertionPointToEnd(&block);
  namer.emplace(made.graph);
}

Value SegmentGraphBuilder::nextArgument() {
  return made.graph.getBlock().getArgument(next++);
}

LogicalResult SegmentGraphBuilder::end(ValueRange results) {
  joint::OutputOp::create(builder, step.getLoc(), results, ArrayRef<int32_t>());
  return failure(hasFailed || failed(verify(*made.module)));
}

Value SegmentGraphBuilder::call(StringRef name, ArrayRef<aten::Arg> positional,
                                ArrayRef<aten::NamedArg> named) {
  aten::CallBuilder calls(builder, here(), &*namer);
  Value result = calls.call(name, positional, named);
  hasFailed |= calls.failed();
  return result;
}

void SegmentGraphBuilder::locateAt(const UpdatedParameter &parameter) {
  StringRef name = parameter.name;
  name.consume_front("param.");
  location = FusedLoc::get(builder.getContext(), {step.getLoc()},
                           builder.getStringAttr(name));
}

void SegmentGraphBuilder::write(Value argument, Value value) {
  if (value)
    joint::WriteOp::create(
        builder, here(), argument.getType(), argument, value,
        joint::Side::Forward,
        builder.getStrArrayAttr(
            {(joint::getValueName(argument) + ".new").str()}));
}
