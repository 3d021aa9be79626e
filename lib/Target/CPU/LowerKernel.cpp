// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each nest is loops over the kept axes, and in them, row by row, loops over
// the reduced ones.
//
//   1. Pass by pass (NestPasses.h): a pass computes what its reductions need,
//      from memory again.
//   2. Without a reduced axis: NestElements.cpp. Innermost axis reduced: rows,
//      each with the accumulators of Reductions.h (NestRows.cpp), or, of rows
//      that lie side by side, vectors across them (NestAcross.cpp). Innermost
//      axis kept: a tile of columns at a time (NestColumns.cpp).
//   3. Innermost loops share nothing between iterations, and are marked so:
//      LLVM makes vectors of them without asking whether memories overlap.
//   4. A call runs its part of one kept loop (NestParts.h). No iteration of a
//      kept loop reads what another one writes, so threads may run the parts,
//      with equal bits: a few of a processor, or one an iteration of a device.

#include "cutback/Target/CPU/LowerKernel.h"

#include "NestLoops.h"
#include "SplitAxis.h"

#include "cutback/Runtime/Artifact.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

/// Truth values are bytes in memory.
static Type memoryType(Type type) {
  auto memory = cast<MemRefType>(type);
  if (!memory.getElementType().isInteger(1))
    return type;
  return MemRefType::get(memory.getShape(),
                         IntegerType::get(type.getContext(), 8));
}

SmallVector<Type> cutback::loweredTypes(kernel::FuncOp kernel) {
  SmallVector<Type> types;
  for (Type type : kernel.getBody().getArgumentTypes())
    types.push_back(memoryType(type));
  types.push_back(MemRefType::get({kKernelCells},
                                  IntegerType::get(kernel.getContext(), 64)));
  return types;
}

static LogicalResult lowerLoops(kernel::NestOp nest, OpBuilder &builder,
                                const KernelFrame &frame,
                                std::vector<Operation *> &checked) {
  if (!llvm::is_contained(nest.getReduced(), true))
    return lowerElements(nest, builder, frame, checked);
  if (!nest.getReduced().back())
    return lowerColumns(nest, builder, frame, checked);
  if (auto lowered = lowerAcross(nest, builder, frame, checked))
    return *lowered;
  return lowerRows(nest, builder, frame, checked);
}

/// Loops of a processor step through memory where they can.
static LogicalResult lowerNest(kernel::NestOp nest, OpBuilder &builder,
                               const KernelFrame &frame,
                               std::vector<Operation *> &checked) {
  kernel::NestOp split;
  if (frame.loops == LoopsFor::Processor)
    split = splitInnermost(nest);
  if (!split)
    return lowerLoops(nest, builder, frame, checked);
  LogicalResult result = lowerLoops(split, builder, frame, checked);
  llvm::DenseMap<Operation *, Operation *> given;
  for (auto [copy, op] : llvm::zip_equal(split.getBlock(), nest.getBlock()))
    given[&copy] = &op;
  for (Operation *&op : checked)
    if (Operation *is = given.lookup(op))
      op = is;
  split.erase();
  return result;
}

LogicalResult cutback::lowerNests(kernel::FuncOp kernel, OpBuilder &builder,
                                  const KernelFrame &frame,
                                  std::vector<Operation *> &checked) {
  Block *block = builder.getInsertionBlock();
  auto nests = llvm::to_vector(kernel.getBody().getOps<kernel::NestOp>());
  for (kernel::NestOp nest : nests) {
    builder.setInsertionPoint(block->getTerminator());
    if (failed(lowerNest(nest, builder, frame, checked)))
      return failure();
  }
  return success();
}

FailureOr<LoweredKernel> cutback::lowerKernel(kernel::FuncOp kernel,
                                              ModuleOp module,
                                              const LoopChoices &choices) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  LoweredKernel lowered;
  Location loc = kernel.getLoc();
  lowered.function =
      func::FuncOp::create(builder, loc, kernel.getSymName(),
                           builder.getFunctionType(loweredTypes(kernel), {}));
  Block *block = lowered.function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  ValueRange arguments = block->getArguments();
  KernelFrame frame{choices, arguments.drop_back(), arguments.back(), {}, {}};
  auto read = [&](int64_t at) -> Value {
    Value number = memref::LoadOp::create(
        builder, loc, frame.cells,
        ValueRange{arith::ConstantIndexOp::create(builder, loc, at)});
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      number);
  };
  frame.part = read(kPartCell);
  frame.parts = read(kPartsCell);
  func::ReturnOp::create(builder, loc);
  if (failed(lowerNests(kernel, builder, frame, lowered.checked)))
    return failure();
  return lowered;
}
