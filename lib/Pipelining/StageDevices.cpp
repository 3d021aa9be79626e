// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device argument of calls, found by its name in their schemas.

#include "cutback/Pipelining/StageDevices.h"

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Dialect/Aten/Schema.h"

using namespace mlir;
using namespace cutback;

unsigned cutback::setDevice(joint::GraphOp graph, StringRef device) {
  auto wanted = StringAttr::get(graph.getContext(), device);
  unsigned changed = 0;
  graph->walk([&](aten::CallOp call) {
    const aten::Schema &schema = call.getSchema();
    SmallVector<Attribute> args(call.getArgs().begin(), call.getArgs().end());
    bool isOther = false;
    for (auto [arg, param] : llvm::zip(args, schema.params))
      if (param.name == "device" && isa<StringAttr>(arg) && arg != wanted) {
        arg = wanted;
        isOther = true;
      }
    if (!isOther)
      return;
    call.getProperties().args = ArrayAttr::get(graph.getContext(), args);
    ++changed;
  });
  return changed;
}
