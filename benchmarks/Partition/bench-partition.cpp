// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-partition [FILE…]: cost of the whole partition, from prepare to
// verified, and of its network and solve, in process CPU seconds with the
// graph in memory. Without files, generated graphs of 1 k, 10 k and 100 k ops
// under both cost models. The first run in the process is reported beside the
// median of five warm ones; each run starts from a fresh import, because
// preparing changes the graph.

#include "GenerateGraph.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Pipelines/PartitionPipeline.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ctime>

using namespace mlir;
using namespace cutback;

namespace {

double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

struct Sample {
  double whole = 0, solve = 0;
  uint64_t ops = 0;
  PhaseSeconds phases;
};

bool runOnce(llvm::MemoryBufferRef text, CostModel model, Sample &sample) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<ImportedModule> imported = readInput(text, context);
  if (failed(imported) || !imported->graph)
    return false;
  PartitionOptions options;
  options.costModel = model;
  PhaseSeconds seconds;
  double start = cpuSeconds();
  if (failed(preparePartition(imported->graph, options, seconds)))
    return false;
  FailureOr<std::unique_ptr<PartitionResult>> result =
      partitionGraph(imported->graph, options);
  sample.whole = cpuSeconds() - start;
  if (failed(result) || !(*result)->verified)
    return false;
  sample.phases = (*result)->seconds;
  sample.phases.prepare += seconds.prepare;
  sample.solve = sample.phases.network + sample.phases.solve;
  sample.ops = (*result)->ops;
  return true;
}

bool measure(llvm::StringRef name, llvm::MemoryBufferRef text,
             CostModel model) {
  Sample first;
  if (!runOnce(text, model, first)) {
    llvm::errs() << name << ": no partition\n";
    return false;
  }
  std::vector<Sample> warm(5);
  for (Sample &sample : warm)
    if (!runOnce(text, model, sample))
      return false;
  std::sort(warm.begin(), warm.end(), [](const Sample &a, const Sample &b) {
    return a.whole < b.whole;
  });
  const Sample &median = warm[2];
  double perOp = 1e6 / median.ops;
  const PhaseSeconds &p = median.phases;
  llvm::outs() << llvm::format(
      "%-34s %-8s %8llu ops %9.3f ms %7.3f us/op  first %7.3f us/op | prepare "
      "%.3f network %.3f solve %.3f extract %.3f verify %.3f us/op\n",
      name.str().c_str(), model == CostModel::PyTorch ? "pytorch" : "roofline",
      static_cast<unsigned long long>(median.ops), median.whole * 1e3,
      median.whole * perOp, first.whole * 1e6 / first.ops, p.prepare * perOp,
      p.network * perOp, p.solve * perOp, p.extract * perOp,
      p.verify * perOp);
  llvm::outs().flush();
  return true;
}

} // namespace

int main(int argc, char **argv) {
  bool ok = true;
  for (int i = 1; i < argc; ++i) {
    auto buffer = llvm::MemoryBuffer::getFile(argv[i]);
    if (!buffer) {
      llvm::errs() << argv[i] << ": " << buffer.getError().message() << "\n";
      return 1;
    }
    for (CostModel model : {CostModel::Roofline, CostModel::PyTorch})
      ok &= measure(argv[i], (*buffer)->getMemBufferRef(), model);
  }
  if (argc > 1)
    return !ok;
  for (uint64_t ops : {1000, 10000, 100000}) {
    bench::GraphShape shape;
    shape.ops = ops;
    std::string text = bench::generateJointText(shape);
    llvm::MemoryBufferRef buffer(text, "generated");
    for (CostModel model : {CostModel::Roofline, CostModel::PyTorch})
      ok &= measure("generated " + std::to_string(ops), buffer, model);
  }
  return !ok;
}
