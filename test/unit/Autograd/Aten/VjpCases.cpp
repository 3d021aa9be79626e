// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCases.h"

#include "cutback/Dialect/Aten/Aten.h"

using namespace mlir;
using namespace cutback;

bool cutback::test::canRun(StringRef name) {
  static MLIRContext context;
  const aten::Schema *schema = aten::SchemaTable::get(&context).lookup(name);
  if (!schema)
    return false;
  // Views are not kernels.
  const aten::OpInfo *info = aten::getOpInfo(schema->op);
  return info->fusion == joint::FusionKind::View ||
         interpreter::getKernel(schema->op);
}
