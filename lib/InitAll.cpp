// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the dialects with all that belongs to them. The passes are
// registered by CutbackPlanner, which has them all (Planner/Pipeline.cpp).
// A tool that wants less calls what stands here one by one, and links less.

#include "cutback/InitAll.h"

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Dialect/Upstream/ExternalModels.h"
#include "cutback/Pipelining/Passes.h"
#include "cutback/Planner/Passes.h"

void cutback::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<aten::AtenDialect, joint::JointDialect, kernel::KernelDialect>();
  registerAtenVjps(registry);
  registerAllExternalModels(registry);
}

void cutback::registerAllPasses() {
  registerPlanning();
  registerCutbackPipeliningPasses();
}
