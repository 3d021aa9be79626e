// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-partition [OPTIONS] [FILE…]: cost of the whole partition, from prepare
// to verified, and of its network and solve, in process CPU seconds with the
// graph in memory. Without files, generated graphs of 1 k, 10 k, 100 k and 1 M
// ops, and the exponent that their times grow with. The first run in the
// process is reported beside the median of the warm ones; each run starts from
// a fresh copy of the imported graph, because preparing changes it.
//
//   --graph=blocks|decoder|plain   generated graphs: gated blocks, a decoder
//                                  whose layers all read the same tables and
//                                  mask, the same without them (decoder)
//   --most=OPS                     the largest generated graph (1000000)
//   --write=FILE                   write the generated graph of --most ops
//   --cost-model=pytorch|roofline  one of the two (both)
//   --free-parameters=WHICH        as for `cutback` (auto)
//   --sym=NAME=SIZE                as for `cutback`
//   --runs=N                       warm runs (5)
//   --figures                      fill in what reports show as well
//   --json                         one object a file and cost model, a line

#include "../Usage.h"

#include "GenerateGraph.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Support/Heap.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

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

template <typename Key> Sample medianBy(std::vector<Sample> samples, Key key) {
  std::sort(samples.begin(), samples.end(),
            [&](const Sample &a, const Sample &b) { return key(a) < key(b); });
  return samples[samples.size() / 2];
}

/// Numbers of one cost model over graphs of growing size.
struct Growth {
  std::vector<double> ops, warm, first; ///< seconds

  /// Least squares through the logarithms.
  double exponent(const std::vector<double> &seconds) const {
    double n = ops.size(), x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      double a = std::log(ops[i]), b = std::log(seconds[i]);
      x += a, y += b, xx += a * a, xy += a * b;
    }
    return (n * xy - x * y) / (n * xx - x * x);
  }
};

struct Settings {
  std::vector<CostModel> models = {CostModel::Roofline, CostModel::PyTorch};
  std::map<CostModel, Growth> growth;
  std::string graph = "decoder", write;
  uint64_t most = 1000000;
  PartitionOptions options;
  unsigned runs = 5;
  bool json = false;
};

const char *nameOf(CostModel model) {
  return model == CostModel::PyTorch ? "pytorch" : "roofline";
}

bool runOnce(ModuleOp module, const PartitionOptions &options, Sample &sample) {
  OwningOpRef<ModuleOp> copy = module.clone();
  joint::GraphOp graph = *copy->getOps<joint::GraphOp>().begin();
  PhaseSeconds seconds;
  double start = cpuSeconds();
  FailureOr<PreparedGraph> prepared = preparePartition(graph, options, seconds);
  if (failed(prepared))
    return false;
  FailureOr<std::unique_ptr<PartitionResult>> result =
      partitionGraph(graph, options, std::move(*prepared));
  sample.whole = cpuSeconds() - start;
  if (failed(result) || !(*result)->verified)
    return false;
  sample.phases = (*result)->seconds;
  sample.phases.prepare += seconds.prepare;
  sample.solve = sample.phases.network + sample.phases.solve;
  sample.ops = (*result)->ops;
  return true;
}

void print(llvm::StringRef name, CostModel model, const Sample &first,
           const Sample &median) {
  double perOp = 1e6 / median.ops;
  const PhaseSeconds &p = median.phases;
  llvm::outs() << llvm::format(
      "%-34s %-8s %8llu ops %9.3f ms %7.3f us/op  first %7.3f us/op | prepare "
      "%.3f kernels %.3f network %.3f solve %.3f extract %.3f verify %.3f "
      "us/op\n",
      name.str().c_str(), nameOf(model),
      static_cast<unsigned long long>(median.ops), median.whole * 1e3,
      median.whole * perOp, first.whole * 1e6 / first.ops, p.prepare * perOp,
      p.kernels * perOp, p.network * perOp, p.solve * perOp, p.extract * perOp,
      p.verify * perOp);
}

void printJson(llvm::StringRef name, CostModel model, const Sample &first,
               const Sample &median) {
  llvm::outs() << llvm::formatv(
      "{{\"file\": {0}, \"costModel\": \"{1}\", \"ops\": {2}, \"whole\": {3}, "
      "\"solve\": {4}, \"plan\": {5}, \"first\": {6}}\n",
      llvm::json::Value(name), nameOf(model), median.ops,
      llvm::json::Value(median.whole), llvm::json::Value(median.solve),
      llvm::json::Value(median.phases.prepare + median.solve),
      llvm::json::Value(first.whole));
}

bool measure(llvm::StringRef name, llvm::MemoryBufferRef text,
             Settings &settings) {
  prepareHeap(heapOfText(text.getBufferSize()));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<ImportedModule> imported = readInput(text, context);
  if (failed(imported) || !imported->graph)
    return false;
  for (CostModel model : settings.models) {
    settings.options.costModel = model;
    Sample first;
    bool ok = runOnce(*imported->module, settings.options, first);
    std::vector<Sample> warm(settings.runs);
    for (Sample &sample : warm)
      ok = ok && runOnce(*imported->module, settings.options, sample);
    if (!ok) {
      llvm::errs() << name << ": no partition\n";
      return false;
    }
    Sample median = medianBy(warm, [](const Sample &s) { return s.whole; });
    median.solve =
        medianBy(warm, [](const Sample &s) { return s.solve; }).solve;
    (settings.json ? printJson : print)(name, model, first, median);
    settings.growth[model].ops.push_back(static_cast<double>(median.ops));
    settings.growth[model].warm.push_back(median.whole);
    settings.growth[model].first.push_back(first.whole);
    llvm::outs().flush();
  }
  return true;
}

/// False with a message if `argument` is an option that is not understood.
bool readOption(llvm::StringRef argument, Settings &settings) {
  std::string error;
  CostModel model;
  if (argument == "--json") {
    settings.json = true;
  } else if (argument == "--figures") {
    settings.options.figures = true;
  } else if (argument.consume_front("--graph=")) {
    settings.graph = argument.str();
    if (argument != "blocks" && argument != "decoder" && argument != "plain")
      error = "unknown graph '" + argument.str() + "'";
  } else if (argument.consume_front("--write=")) {
    settings.write = argument.str();
  } else if (argument.consume_front("--most=")) {
    if (argument.getAsInteger(10, settings.most) || settings.most < 1000)
      error = "--most needs a number of ops from 1000 on";
  } else if (argument.consume_front("--cost-model=")) {
    if (parseCostModel(argument, model, error))
      settings.models = {model};
  } else if (argument.consume_front("--free-parameters=")) {
    parseFreeParameters(argument, settings.options.freeParameters, error);
  } else if (argument.consume_front("--sym=")) {
    parseSymbols({argument.str()}, settings.options.symbols, error);
  } else if (!argument.consume_front("--runs=") ||
             argument.getAsInteger(10, settings.runs) || !settings.runs) {
    error = "unknown option '" + argument.str() + "'";
  }
  if (!error.empty())
    llvm::errs() << error << "\n";
  return error.empty();
}

std::string generate(const Settings &settings, uint64_t ops) {
  bench::GraphShape shape;
  shape.ops = ops;
  if (settings.graph == "blocks")
    return bench::generateJointText(shape);
  shape.sharedValue = settings.graph == "decoder";
  return bench::generateDecoderText(shape);
}

bool writeGraph(const Settings &settings) {
  std::error_code error;
  llvm::raw_fd_ostream file(settings.write, error);
  if (error) {
    llvm::errs() << settings.write << ": " << error.message() << "\n";
    return false;
  }
  file << generate(settings, settings.most);
  return true;
}

void printGrowth(llvm::StringRef graph, CostModel model, const Growth &growth) {
  llvm::outs() << llvm::format(
      "%-34s %-8s time grows as ops^%.3f, of first runs as ops^%.3f\n",
      graph.str().c_str(), nameOf(model), growth.exponent(growth.warm),
      growth.exponent(growth.first));
}

bool measureGrowth(Settings &settings) {
  bool ok = true;
  for (uint64_t ops = 1000; ops <= settings.most; ops *= 10) {
    std::string text = generate(settings, ops);
    ok &= measure(settings.graph + " " + std::to_string(ops),
                  llvm::MemoryBufferRef(text, "generated"), settings);
  }
  if (!settings.json && settings.most > 1000)
    for (CostModel model : settings.models)
      printGrowth(settings.graph, model, settings.growth[model]);
  return ok;
}

} // namespace

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "bench-partition [OPTIONS] [FILE...]\n"
      "times of the whole partition, of files or of generated graphs\n\n"
      "  --graph=blocks|decoder|plain   what is generated (decoder)\n"
      "  --most=OPS                     the largest one (1000000)\n"
      "  --write=FILE                   write the one of --most ops\n"
      "  --cost-model=pytorch|roofline  one of the two (both)\n"
      "  --free-parameters=WHICH        as for cutback (auto)\n"
      "  --sym=NAME=SIZE                as for cutback\n"
      "  --runs=N                       warm runs (5)\n"
      "  --figures                      fill in what reports show as well\n"
      "  --json                         one object a file and cost model";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  Settings settings;
  settings.options.figures = false;
  bool ok = true, files = false;
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]).starts_with("--") &&
        !readOption(argv[i], settings))
      return 1;
  for (int i = 1; i < argc; ++i) {
    if (llvm::StringRef(argv[i]).starts_with("--"))
      continue;
    files = true;
    auto buffer = llvm::MemoryBuffer::getFile(argv[i]);
    if (!buffer) {
      llvm::errs() << argv[i] << ": " << buffer.getError().message() << "\n";
      return 1;
    }
    ok &= measure(argv[i], (*buffer)->getMemBufferRef(), settings);
  }
  if (!files)
    ok =
        settings.write.empty() ? measureGrowth(settings) : writeGraph(settings);
  return !ok;
}
