// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of a call becomes a `joint.graph` of its own for as long as something
// is done with it that is done with whole graphs: kernels are formed of it, it
// is made functional, or differentiated. A copy is made for that, which stands
// in a module of its own; what becomes of it may take the place of the region,
// or be a region of another call. Linear.

#include "cutback/Dialect/Joint/Nested.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace cutback::joint;

GraphOp cutback::joint::copyGraph(Region &region, ModuleOp module) {
  Block &block = region.front();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Operation *output = block.getTerminator();
  auto type = builder.getFunctionType(block.getArgumentTypes(),
                                      output->getOperandTypes());
  Location loc = output->getLoc();
  auto role =
      RoleAttr::get(builder.getContext(), RoleKind::Input, nullptr, -1, false);
  SmallVector<DictionaryAttr> attributes(
      block.getNumArguments(), builder.getDictionaryAttr(builder.getNamedAttr(
                                   JointDialect::kRole, role)));
  auto graph = GraphOp::create(builder, loc, "nested", type,
                               output->getNumOperands(), attributes);
  if (graph.getBody().empty())
    graph.getBody().emplaceBlock();
  Block &body = graph.getBody().front();
  IRMapping map;
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    map.map(argument, number < body.getNumArguments()
                          ? body.getArgument(number)
                          : body.addArgument(argument.getType(), loc));
  }
  builder.setInsertionPointToEnd(&body);
  for (Operation &op : block.without_terminator())
    builder.clone(op, map);
  SmallVector<Value> results;
  for (Value result : output->getOperands())
    results.push_back(map.lookup(result));
  OutputOp::create(builder, loc, results, builder.getDenseI32ArrayAttr({}));
  return graph;
}

void cutback::joint::moveGraph(GraphOp graph, Region &region) {
  region.takeBody(graph.getBody());
  auto output = cast<OutputOp>(region.front().getTerminator());
  OpBuilder builder(output);
  ReturnOp::create(builder, output.getLoc(),
                   SmallVector<Value>(output.getForwardResults()),
                   DenseBoolArrayAttr());
  output.erase();
  graph.erase();
}
