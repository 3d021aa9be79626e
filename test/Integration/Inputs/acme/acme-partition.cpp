// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partitions every joint graph of a file and tells what came of it; with
// --print also writes the module with both halves.
//
// usage: acme-partition [--print] [--sym=NAME=SIZE] [--byte-price=PS] FILE

#include "AcmeOps.h"

#include "cutback/InitAll.h"
#include "cutback/Planner/PartitionPipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static LogicalResult report(cutback::joint::GraphOp graph,
                            const cutback::PartitionOptions &options) {
  cutback::PhaseSeconds seconds;
  auto prepared = cutback::preparePartition(graph, options, seconds);
  if (failed(prepared))
    return failure();
  auto result = cutback::partitionGraph(graph, options, std::move(*prepared));
  if (failed(result))
    return failure();
  const cutback::PartitionResult &plan = **result;
  llvm::outs() << plan.graph << ": " << plan.ops << " ops, " << plan.forwardOps
               << " forward, " << plan.backwardOps << " backward, "
               << (plan.verified ? "verified" : "not verified") << "\n";
  for (const cutback::SavedValue &saved : plan.saved) {
    Operation *op = plan.view.values[saved.value].getDefiningOp();
    llvm::outs() << "  saved " << saved.bytes << " bytes of "
                 << (op ? op->getName().getStringRef()
                        : StringRef("an argument"))
                 << "\n";
  }
  for (const cutback::OpCount &kind : plan.recomputedByKind)
    llvm::outs() << "  recomputed " << kind.count << " " << kind.op << "\n";
  return success();
}

int main(int argc, char **argv) {
  bool print = false;
  const char *file = nullptr;
  double price;
  cutback::PartitionOptions options;
  for (StringRef arg : llvm::ArrayRef(argv, argc).drop_front()) {
    int64_t size;
    if (arg == "--print")
      print = true;
    else if (arg.consume_front("--sym=") &&
             !arg.split('=').second.getAsInteger(10, size))
      options.symbols[arg.split('=').first] = size;
    else if (arg.consume_front("--byte-price=") &&
             !arg.getAsDouble(price))
      options.bytePrice = price;
    else
      file = arg.data();
  }
  if (!file)
    return 2;

  DialectRegistry registry;
  registry.insert<acme::AcmeDialect, arith::ArithDialect, func::FuncDialect,
                  linalg::LinalgDialect, math::MathDialect,
                  tensor::TensorDialect, tosa::TosaDialect>();
  cutback::registerAllDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return 1;
  for (auto graph : llvm::to_vector(module->getOps<cutback::joint::GraphOp>()))
    if (failed(report(graph, options)))
      return 1;
  if (print)
    module->print(llvm::outs());
  return failed(verify(*module));
}
