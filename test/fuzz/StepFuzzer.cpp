// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random joint graphs, with the certificate and the interpreter as oracles:
// forward then backward = joint graph, to the bit.

#include "../unit/Planner/RandomProgram.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/PartitionPipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

static std::vector<RuntimeValue>
argumentsOf(joint::GraphOp graph, const StepNames &names, int64_t size) {
  auto values = test::randomArguments(graph, names, size, /*seed=*/1);
  if (failed(values))
    std::abort();
  return *values;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t words[2] = {0, 0};
  std::memcpy(words, data, std::min(size, sizeof words));
  static const Strategy kStrategies[] = {Strategy::MinCut, Strategy::Eager,
                                         Strategy::Precompute,
                                         Strategy::RecomputeAll};
  test::RandomProgramOptions shape;
  shape.numForward = 5 + words[1] % 30;
  shape.numBackward = 5 + words[1] / 32 % 40;
  shape.percentWrite = words[1] / 2048 % 20;
  shape.size = 2 + int64_t(words[1] / 65536 % 4);
  PartitionOptions options;
  options.strategy = kStrategies[words[1] / 262144 % 4];
  options.costModel =
      words[1] / 1048576 % 2 ? CostModel::PyTorch : CostModel::Roofline;
  options.figures = options.decompose = false; // other ops round otherwise

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context
      .loadDialect<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
  ScopedDiagnosticHandler handler(&context,
                                  [](Diagnostic &) { return success(); });
  auto module = test::RandomProgram(words[0], shape, context).build();
  if (!module || failed(verify(*module)))
    std::abort();
  auto graph = *module->getOps<joint::GraphOp>().begin();
  StepNames names = nameStep(graph);
  auto expected = run(graph, argumentsOf(graph, names, shape.size));
  PhaseSeconds seconds;
  if (failed(expected) || failed(preparePartition(graph, options, seconds)))
    std::abort();
  auto planned = partitionGraph(graph, options);
  if (failed(planned))
    return 0; // refused for a stated reason
  auto actual = runPartition((*planned)->partition.link, graph,
                             argumentsOf(graph, names, shape.size));
  if (failed(actual) || actual->size() != expected->size())
    std::abort();
  for (auto [a, b] : llvm::zip(*expected, *actual))
    if (!equalBits(a, b))
      std::abort();
  return 0;
}
