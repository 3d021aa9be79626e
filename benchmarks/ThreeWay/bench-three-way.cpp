// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward | input gradients | weight gradients of middle stages of models: the
// rule "closure of the input gradients, rest later" at some prices of a byte,
// and below each row what two cuts give for as few bytes from the forward to
// the input phase and no more time of what runs again: of the plans at all
// prices of a grid, the one that hands the fewest bytes to the weight phase.
// `ratio` is of those bytes, `gap` how far the plan's cost can be above the
// optimum at its own prices. The first row are the cuts at the price that the
// graph has of itself.
//
//   bench-three-way [--begin=0.4] [--end=0.65] MODEL.pt2...

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
    std::fprintf(stderr,
                 "error: '%s' has no place at which one activation "
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

/// A plan; its options have the prices that were used in place of those that
/// were asked for.
struct Row {
  ThreeWayOptions options;
  ThreeWayFigures figures;
  double seconds = 0;
};

std::optional<Row> plan(const Stage &stage, ThreeWayOptions options) {
  OwningOpRef<ModuleOp> copy(ModuleOp(stage.module.get()).clone());
  auto start = std::chrono::steady_clock::now();
  auto planned =
      partitionThreeWay(*copy->getOps<joint::GraphOp>().begin(), options);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (failed(planned))
    return std::nullopt;
  options.toInputPrice = planned->prices.toInputBytePs;
  options.toWeightPrice = planned->prices.toWeightBytePs;
  return Row{options, planned->figures, took.count()};
}

int64_t againPs(const ThreeWayFigures &figures) {
  return figures.againInInputPs + figures.againInWeightPs;
}

void print(const Row &row, double ratio) {
  auto mib = [](int64_t bytes) { return double(bytes) / (1 << 20); };
  auto ms = [](int64_t ps) { return double(ps) / 1e9; };
  const ThreeWayFigures &figures = row.figures;
  std::printf(
      "  %-8s %5.2f %5.2f %5.2f %9.1f %9.1f %7.2f %8.3f %8.3f %8.3f %8.3f "
      "%8.3f %6.2f %6.3f\n",
      row.options.rule == ThreeWayRule::Cuts ? "cuts" : "closure",
      row.options.toInputPrice.of(0), row.options.toWeightPrice.of(0),
      row.options.criticalPrice, mib(figures.toInputBytes),
      mib(figures.toWeightBytes), ratio, ms(figures.againInInputPs),
      ms(figures.againInWeightPs), ms(figures.movedToInputPs),
      ms(figures.inputPs), ms(figures.weightPs), 100 * figures.gap(),
      row.seconds);
}

std::vector<Row> planGrid(const Stage &stage, ThreeWayOptions options) {
  static const double kToInput[] = {0.1, 0.25, 0.5, 0.75, 1, 1.5,
                                    2,   3,    4,   6,    8, 16};
  static const double kToWeight[] = {0, 0.25, 0.5, 1, 1.5, 2, 4};
  std::vector<Row> rows;
  for (double toInput : kToInput)
    for (double toWeight : kToWeight)
      for (double critical : {0.0, 0.5, 1.0}) {
        options.toInputPrice = toInput;
        options.toWeightPrice = toWeight;
        options.criticalPrice = critical;
        if (auto row = plan(stage, options))
          rows.push_back(*row);
      }
  return rows;
}

int run(const Stage &stage, const std::string &device) {
  std::printf("%s, %zu ops\n  %-8s %5s %5s %5s %9s %9s %7s %8s %8s %8s %8s %8s "
              "%6s %6s\n",
              stage.name.c_str(),
              size_t(llvm::range_size(stage.graph().getBlock())), "rule",
              "ps/B", "ps/B", "pi", "F-I MiB", "I-W MiB", "ratio", "again I",
              "again W", "early", "I ms", "W ms", "gap %", "s");
  ThreeWayOptions options;
  options.partition.device = device;
  std::vector<Row> cuts = planGrid(stage, options);
  auto own = plan(stage, options);
  if (!own)
    return 1;
  print(*own, 0);
  options.rule = ThreeWayRule::Closure;
  for (BytePrice price :
       {BytePrice::ownTimes(1), BytePrice(0), BytePrice(0.5), BytePrice(1),
        BytePrice(2), BytePrice(4), BytePrice(8)}) {
    options.toInputPrice = options.toWeightPrice = price;
    auto rule = plan(stage, options);
    if (!rule)
      return 1;
    print(*rule, 1);
    const ThreeWayFigures &figures = rule->figures;
    const Row *best = nullptr;
    for (const Row &row : cuts)
      if (row.figures.toInputBytes <= figures.toInputBytes * 1.005 &&
          againPs(row.figures) <= againPs(figures) * 1.005 &&
          (!best || row.figures.toWeightBytes < best->figures.toWeightBytes ||
           (row.figures.toWeightBytes == best->figures.toWeightBytes &&
            againPs(row.figures) < againPs(best->figures))))
        best = &row;
    if (best)
      print(*best, double(best->figures.toWeightBytes) /
                       double(figures.toWeightBytes));
  }
  double worst = 0;
  for (const Row &row : cuts)
    worst = std::max(worst, row.figures.gap());
  std::printf("  largest gap of %zu plans: %.3f %%\n", cuts.size(),
              100 * worst);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (auto code = bench::checkUsage(argc, argv, kUsage))
    return *code;
  double begin = 0.4, end = 0.65;
  for (auto [option, value] :
       {std::pair("--begin", &begin), std::pair("--end", &end)})
    if (auto text = bench::valueOf(argc, argv, option);
        text && llvm::StringRef(*text).getAsDouble(*value)) {
      std::fprintf(stderr, "error: %s is a part of the ops, from 0 to 1\n",
                   option);
      return 2;
    }
  bool hasFile = std::any_of(argv + 1, argv + argc, [](llvm::StringRef word) {
    return !word.starts_with("--");
  });
  if (!hasFile) {
    std::fprintf(stderr, "error: no program is given\nusage: %s\n", kUsage);
    return 2;
  }
  auto device = bench::valueOf(argc, argv, "--device");
  MLIRContext context;
  registerTrainingGraph(context);
  for (int i = 1; i < argc; ++i) {
    if (llvm::StringRef(argv[i]).starts_with("--"))
      continue;
    auto stage = readStage(argv[i], begin, end, context);
    if (!stage || run(*stage, device ? std::string(*device) : "h100"))
      return 1;
  }
  return 0;
}
