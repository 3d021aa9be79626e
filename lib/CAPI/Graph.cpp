// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading, for the C interface: any input, from a file or from memory. Memory
// is copied, with a zero byte behind it as MLIR's parser wants. A program
// without gradients is differentiated here, so that every graph that is handed
// out can be planned. A folder that `cutback compile` wrote has its plan: it is
// proved here, by the code of the command line, and later given out as it is.

#include "Guard.h"
#include "Options.h"
#include "Stored.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Planner/PlanOptions.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Report/StoredHalves.h"

#include "llvm/Support/MemoryBuffer.h"

#include <chrono>

using namespace mlir;
using namespace cutback;
using namespace cutback::capi;

using ReadFn =
    llvm::function_ref<FailureOr<ImportedModule>(const ImportOptions &)>;

/// Of a forward program with sizes that are symbols; null of others.
static OwningOpRef<ModuleOp> copyProgram(joint::GraphOp graph) {
  if (!graph.getSymbols() || graph.getSymbols()->empty() ||
      joint::hasBackward(graph))
    return nullptr;
  OwningOpRef<ModuleOp> module = ModuleOp::create(graph->getLoc());
  module->push_back(graph->clone());
  return module;
}

static CutbackStatus readGraph(CutbackContext &context, size_t numOptions,
                               const char *const *options, CutbackGraph **graph,
                               ReadFn read) {
  std::vector<OptionSpec> specs = inputOptions();
  llvm::append_range(specs, gradientOptions());
  auto line = parseOptions(context, specs, numOptions, options);
  if (!line)
    return CUTBACK_WRONG_USAGE;
  TrainingGraphOptions gradients;
  std::string wrong;
  if (!readGradientOptions(*line, gradients, wrong))
    return wrongUsage(context, wrong,
                      "these are the options of `cutback report`");
  ImportOptions importOptions = importOptionsOf(*line);
  importOptions.torchHalves = true;
  auto start = std::chrono::steady_clock::now();
  FailureOr<ImportedModule> imported = read(importOptions);
  if (!requireGraph(context, imported))
    return CUTBACK_WRONG_INPUT;
  OwningOpRef<ModuleOp> program = copyProgram(imported->graph);
  EagerCount count;
  if (failed(makeTrainingGraph(imported->graph, gradients, &count)))
    return CUTBACK_WRONG_INPUT;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  *graph = new CutbackGraph{context,
                            std::move(*imported),
                            time.count(),
                            /*isStored=*/false,
                            count.saves,
                            std::move(program),
                            std::move(gradients)};
  return CUTBACK_DONE;
}

extern "C" {

CutbackStatus cutbackGraphReadFile(CutbackContext *context, const char *path,
                                   size_t numOptions,
                                   const char *const *options,
                                   CutbackGraph **graph) {
  if (!context || !graph)
    return CUTBACK_WRONG_USAGE;
  *graph = nullptr;
  return guarded(*context, [&] {
    if (!path)
      return wrongUsage(*context, "path is a null pointer", "give a file");
    if (isStoredPlan(path))
      return readStored(*context, path, numOptions, options, graph);
    return readGraph(*context, numOptions, options, graph,
                     [&](const ImportOptions &importOptions) {
                       return readInput(StringRef(path), context->mlir,
                                        importOptions);
                     });
  });
}

CutbackStatus cutbackGraphReadMemory(CutbackContext *context, const char *data,
                                     size_t size, const char *name,
                                     size_t numOptions,
                                     const char *const *options,
                                     CutbackGraph **graph) {
  if (!context || !graph)
    return CUTBACK_WRONG_USAGE;
  *graph = nullptr;
  return guarded(*context, [&] {
    if (!data)
      return wrongUsage(*context, "data is a null pointer", "give a graph");
    // Weights would point into the copy; plans do not look at them.
    auto copy = llvm::MemoryBuffer::getMemBufferCopy(StringRef(data, size),
                                                     name ? name : "<memory>");
    return readGraph(*context, numOptions, options, graph,
                     [&](const ImportOptions &importOptions) {
                       auto imported = readInput(copy->getMemBufferRef(),
                                                 context->mlir, importOptions);
                       if (succeeded(imported))
                         imported->weights.reset();
                       return imported;
                     });
  });
}

void cutbackGraphDestroy(CutbackGraph *graph) {
  if (graph && !graph->context.broken)
    delete graph;
}

} // extern "C"
