// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading, for the C interface: any input, from a file or from memory. Memory
// is copied, with a zero byte behind it as MLIR's parser wants. A program
// without gradients is differentiated here, so that every graph that is handed
// out can be planned.

#include "Guard.h"
#include "Options.h"

#include "cutback/Pipelines/PlanOptions.h"
#include "cutback/Pipelines/TrainingGraph.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>

using namespace mlir;
using namespace cutback;
using namespace cutback::capi;

using ReadFn =
    llvm::function_ref<FailureOr<ImportedModule>(const ImportOptions &)>;

static CutbackStatus readGraph(CutbackContext &context, size_t numOptions,
                               const char *const *options, CutbackGraph **graph,
                               ReadFn read) {
  auto line = parseOptions(context, inputOptions(), numOptions, options);
  if (!line)
    return CUTBACK_WRONG_USAGE;
  ImportOptions importOptions = importOptionsOf(*line);
  importOptions.torchHalves = true;
  auto start = std::chrono::steady_clock::now();
  FailureOr<ImportedModule> imported = read(importOptions);
  if (failed(imported))
    return CUTBACK_WRONG_INPUT;
  if (!imported->graph) {
    context.report(CUTBACK_ERROR, "there is no joint graph in the input");
    context.report(CUTBACK_NOTE, "give a joint graph, or a forward program "
                                 "that torch.export wrote");
    return CUTBACK_WRONG_INPUT;
  }
  if (failed(makeTrainingGraph(imported->graph)))
    return CUTBACK_WRONG_INPUT;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  *graph = new CutbackGraph{context, std::move(*imported), time.count()};
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
    std::string file = path;
    if (llvm::sys::fs::is_directory(file))
      file += "/joint.mlir";
    return readGraph(*context, numOptions, options, graph,
                     [&](const ImportOptions &importOptions) {
                       return readInput(StringRef(file), context->mlir,
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
