// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops are those of the CPU target (CPU/LowerKernel.h), which divides one
// kept loop into parts that may run in any order: here a part is a thread of
// the grid, and has one iteration where there are enough of them.
//
//   1. Each kernel is a gpu.func of its arguments and the cells for errors.
//   2. The number of the thread is the part, and that of all threads how many
//      there are: a grid of any size is right.
//   3. Functions without a formula are ops of math in double precision, which
//      MLIR's conversion finds in NVIDIA's libdevice.
//   4. Everything that is no kernel goes.

#include "cutback/Target/NVVM/Passes.h"

#include "cutback/Target/CPU/LowerKernel.h"

namespace cutback {
#define GEN_PASS_DEF_LOWERKERNELSTOGPU
#include "cutback/Target/NVVM/Passes.h.inc"
} // namespace cutback

using namespace mlir;
using namespace cutback;

/// Threads of a block.
static constexpr int32_t kThreads = 256;

/// Part and parts of a thread: its number in the grid, and that of all threads.
static void numberThreads(OpBuilder &builder, Location loc,
                          KernelFrame &frame) {
  auto x = gpu::Dimension::x;
  Value block = gpu::BlockIdOp::create(builder, loc, x);
  Value width = gpu::BlockDimOp::create(builder, loc, x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, x);
  Value blocks = gpu::GridDimOp::create(builder, loc, x);
  Value first = arith::MulIOp::create(builder, loc, block, width);
  frame.part = arith::AddIOp::create(builder, loc, first, thread);
  frame.parts = arith::MulIOp::create(builder, loc, blocks, width);
}

static LogicalResult lowerToGpu(kernel::FuncOp kernel, OpBuilder &builder) {
  if (!kernel.getSizes().empty()) {
    InFlightDiagnostic diagnostic = kernel.emitOpError()
                                    << "is one for all sizes";
    diagnostic.attachNote() << "`cutback compile --sym` gives them values";
    return failure();
  }
  OpBuilder::InsertionGuard guard(builder);
  Location loc = kernel.getLoc();
  auto function =
      gpu::GPUFuncOp::create(builder, loc, kernel.getSymName(),
                             builder.getFunctionType(loweredTypes(kernel), {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function.setKnownBlockSize(ArrayRef<int32_t>{kThreads, 1, 1});
  Block &block = function.getBody().front();
  ValueRange arguments = block.getArguments();
  KernelFrame frame{
      {LoopsFor::Thread},   arguments.drop_back(), arguments.back(), {}, {},
      RareFunctions::AreOps};
  builder.setInsertionPointToStart(&block);
  numberThreads(builder, loc, frame);
  gpu::ReturnOp::create(builder, loc);
  std::vector<Operation *> checked;
  return lowerNests(kernel, builder, frame, checked);
}

namespace {

struct LowerKernelsToGpu
    : cutback::impl::LowerKernelsToGpuBase<LowerKernelsToGpu> {
  using LowerKernelsToGpuBase::LowerKernelsToGpuBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder(module.getBody(), module.getBody()->end());
    auto made = gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    builder.setInsertionPointToStart(made.getBody());
    size_t count = 0;
    for (auto function : module.getOps<kernel::FuncOp>()) {
      if (!kernel.empty() && function.getSymName() != kernel)
        continue;
      ++count;
      if (failed(lowerToGpu(function, builder)))
        return signalPassFailure();
    }
    if (!kernel.empty() && !count) {
      module.emitError() << "there is no kernel @" << kernel;
      return signalPassFailure();
    }
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (&op != made)
        op.erase();
  }
};

} // namespace
