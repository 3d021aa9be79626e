// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward | input gradients | weight gradients of middle stages of models, by
// two cuts and by the rule "closure of the input gradients, rest later": bytes
// on both borders, time of what runs again or early, and how far from the bound.
//
//   bench-three-way [--begin=0.4] [--end=0.65] MODEL.pt2...
//
// A row of the rule, then rows of the cuts at prices of a byte: those of the
// rule's own row, and higher ones for the second border.

#include "../../test/unit/Planner/CutStage.h"
#include "../Usage.h"

#include "cutback/Import/Import.h"
#include "cutback/Planner/ThreeWay.h"
#include "cutback/Planner/TrainingGraph.h"

#include "llvm/Support/Path.h"

#include <chrono>
#include <cstdlib>

using namespace mlir;
using namespace cutback;

namespace {

constexpr const char *kUsage =
    "bench-three-way [--begin=PART] [--end=PART] [--device=NAME] MODEL.pt2...";

struct Stage {
  std::string name;
  OwningOpRef<ModuleOp> module;
  joint::GraphOp graph() const {
    return *ModuleOp(module.get()).getOps<joint::GraphOp>().begin();
  }
};

std::optional<Stage> readStage(const std::string &file, double begin,
                               double end, MLIRContext &context) {
  auto imported = readInput(file, context);
  if (failed(imported) || !imported->graph)
    return std::nullopt;
  if (!test::cutStage(imported->graph, begin, end)) {
    std::fprintf(stderr, "error: '%s' has no place at which one activation "
                         "crosses\n",
                 file.c_str());
    return std::nullopt;
  }
  if (failed(makeTrainingGraph(imported->graph)))
    return std::nullopt;
  llvm::StringRef folder = llvm::sys::path::parent_path(file);
  return Stage{llvm::sys::path::filename(folder).str(),
               std::move(imported->module)};
}

std::optional<ThreeWayFigures> plan(const Stage &stage,
                                    const ThreeWayOptions &options,
                                    double &seconds) {
  OwningOpRef<ModuleOp> copy(ModuleOp(stage.module.get()).clone());
  auto start = std::chrono::steady_clock::now();
  auto planned =
      partitionThreeWay(*copy->getOps<joint::GraphOp>().begin(), options);
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (failed(planned))
    return std::nullopt;
  return planned->figures;
}

void printRow(const char *rule, const ThreeWayOptions &options,
              const ThreeWayFigures &figures, double seconds) {
  auto mib = [](int64_t bytes) { return double(bytes) / (1 << 20); };
  auto ms = [](int64_t ps) { return double(ps) / 1e9; };
  std::printf("  %-8s %7.4f %7.4f %9.1f %9.1f %8.3f %8.3f %8.3f %8.3f %8.3f "
              "%7.2f%% %6.2f s\n",
              rule, options.toInputBytePs, options.toWeightBytePs,
              mib(figures.toInputBytes), mib(figures.toWeightBytes),
              ms(figures.againInInputPs), ms(figures.againInWeightPs),
              ms(figures.movedToInputPs), ms(figures.inputPs),
              ms(figures.weightPs), 100 * figures.gap(), seconds);
  std::fflush(stdout);
}

int run(const Stage &stage, const std::string &device) {
  std::printf("%s, %zu ops\n  %-8s %7s %7s %9s %9s %8s %8s %8s %8s %8s %8s\n",
              stage.name.c_str(),
              size_t(llvm::range_size(stage.graph().getBlock())), "rule",
              "ps/B I", "ps/B W", "F-I MiB", "I-W MiB", "again I", "again W",
              "early", "I ms", "W ms", "gap");
  ThreeWayOptions options;
  options.partition.device = device;
  static const double kPrices[] = {0, 0.5, 1, 2, 4};
  for (double price : kPrices)
    for (double factor : {1.0, 4.0})
      for (ThreeWayRule rule : {ThreeWayRule::Closure, ThreeWayRule::Cuts}) {
        if (factor != 1 && (rule == ThreeWayRule::Closure || price == 0))
          continue;
        options.rule = rule;
        options.toInputBytePs = price;
        options.toWeightBytePs = factor * price;
        double seconds = 0;
        auto figures = plan(stage, options, seconds);
        if (!figures)
          return 1;
        printRow(rule == ThreeWayRule::Cuts ? "cuts" : "closure", options,
                 *figures, seconds);
      }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (auto code = bench::checkUsage(argc, argv, kUsage))
    return *code;
  auto number = [&](const char *option, double otherwise) {
    auto text = bench::valueOf(argc, argv, option);
    return text ? std::atof(std::string(*text).c_str()) : otherwise;
  };
  auto device = bench::valueOf(argc, argv, "--device");
  MLIRContext context;
  registerTrainingGraph(context);
  for (int i = 1; i < argc; ++i) {
    if (llvm::StringRef(argv[i]).starts_with("--"))
      continue;
    auto stage = readStage(argv[i], number("--begin", 0.4),
                           number("--end", 0.65), context);
    if (!stage || run(*stage, device ? std::string(*device) : "h100"))
      return 1;
  }
  return 0;
}
