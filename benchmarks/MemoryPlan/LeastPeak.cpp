// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// least-peak GOLDEN [--only=NAME] [--prices=N]: for each graph of small, plan
// and bench of the unpacked reference data, the arena of `--minimize=peak`
// beside the smallest one that asking by hand finds:
//
//   all strategies × cost models × PyTorch's rules
//   all corners of the hull of time and bytes
//   N random byte prices (200), drawn between the corners' and beyond
//
// Each is a plan of its own by `planStep`, so what is found is what the command
// line gives. A Markdown table goes to the standard output; the ratio is least
// peak over smallest found. Exit code 1 if one is above 1, or a plan fails.

#include "../Usage.h"

#include "../Pareto/Pareto.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/PriceSweep.h"
#include "cutback/Report/Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <map>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::bench;

namespace {

struct Found {
  int64_t arena = 0;
  std::string how;
};

class Search {
public:
  Search(const ParetoCase &which, unsigned prices)
      : which(which), prices(prices) {
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect>();
  }

  /// One line of the table. False if something smaller is found.
  bool run() {
    auto read = readInput(which.text, context, ImportOptions());
    if (failed(read))
      return false;
    imported = std::move(*read);
    asked.symbols = which.symbols;
    asked.freeParameters = which.freeParameters;
    asked.figures = asked.verify = false;
    asked.memory.emplace();
    std::optional<Found> least = plan(
        [](PartitionOptions &options) { options.minimize = Minimize::Peak; });
    double seconds = taken;
    if (!least)
      return false;
    if (least->arena == 0) {
      llvm::outs() << "| " << which.name << " | no arena | | | | | |\n";
      return true;
    }
    asked.withinTorchPeak = false;
    byHand.arena = INT64_MAX;
    tryStrategies();
    size_t corners = tryCorners();
    tryRandomPrices();
    llvm::outs() << "| " << which.name << " | " << ops << " | " << corners
                 << " | " << least->arena << " | " << least->how << " | "
                 << byHand.arena << " | " << byHand.how << " | "
                 << llvm::format("%.4f", double(least->arena) / byHand.arena)
                 << " |\n";
    llvm::errs() << which.name << llvm::format(": %.2f s\n", seconds);
    return byHand.arena >= least->arena;
  }

private:
  std::optional<Found> plan(llvm::function_ref<void(PartitionOptions &)> set) {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(imported.graph.getLoc());
    joint::GraphOp copy = imported.graph.clone();
    scratch->push_back(copy);
    PartitionOptions options = asked;
    set(options);
    auto start = std::chrono::steady_clock::now();
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    auto result = planStep(copy, options);
    taken =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    if (failed(result))
      return std::nullopt;
    const PartitionResult &made = **result;
    ops = made.view.numOps();
    Found found{made.memory ? made.memory->arenaBytes() : 0, ""};
    llvm::raw_string_ostream how(found.how);
    how << spell(made.choice.strategy) << " "
        << (made.choice.costModel == CostModel::PyTorch
                ? spell(made.choice.rules)
                : "roofline")
        << llvm::format(" %.6g", made.bytePricePs)
        << (made.isOfTorchGraph ? " torch-graph" : "");
    return found;
  }

  void consider(llvm::function_ref<void(PartitionOptions &)> set) {
    std::optional<Found> found = plan(set);
    if (found && found->arena != 0 && found->arena < byHand.arena)
      byHand = *found;
  }

  void tryStrategies() {
    for (Strategy strategy : {Strategy::MinCut, Strategy::Eager,
                              Strategy::Precompute, Strategy::RecomputeAll}) {
      consider([&](PartitionOptions &options) { options.strategy = strategy; });
      for (Rules rules : {Rules::Torch2_13, Rules::Torch2_3})
        consider([&](PartitionOptions &options) {
          options.strategy = strategy;
          options.costModel = CostModel::PyTorch;
          options.rules = rules;
        });
    }
  }

  size_t tryCorners() {
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(imported.graph.getLoc());
    joint::GraphOp copy = imported.graph.clone();
    scratch->push_back(copy);
    PhaseSeconds seconds;
    if (failed(preparePartition(copy, asked, seconds)))
      return 0;
    auto front = sweepBytePrice(copy, asked, {100'000, 1'000'000});
    if (failed(front))
      return 0;
    for (const PricePoint &corner : front->corners)
      consider([&](PartitionOptions &options) {
        options.bytePrice = corner.bytePricePs;
      });
    if (front->corners.size() > 1)
      low = front->corners[1].bytePricePs / 10,
      high = front->corners.back().bytePricePs * 10;
    return front->corners.size();
  }

  void tryRandomPrices() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(std::log(low),
                                                    std::log(high));
    for (unsigned i = 0; i < prices; ++i) {
      double price = std::exp(exponent(random));
      consider([&](PartitionOptions &options) { options.bytePrice = price; });
    }
  }

  const ParetoCase &which;
  unsigned prices;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  ImportedModule imported;
  PartitionOptions asked;
  Found byHand;
  uint64_t ops = 0;
  double taken = 0, low = 1e-3, high = 1e3;
};

} // namespace

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "least-peak GOLDEN [--only=NAME] [--prices=N]\n"
      "the arena of --minimize=peak beside the smallest that other plans have";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  std::string folder, only;
  unsigned prices = 200;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--only="))
      only = argument.str();
    else if (argument.consume_front("--prices=")) {
      if (argument.getAsInteger(10, prices))
        folder.clear();
    } else
      folder = argument.str();
  }
  if (folder.empty()) {
    llvm::errs() << "usage: " << usage << "\n";
    return 2;
  }
  llvm::outs() << "| graph | ops | corners | least peak | by | smallest found "
                  "| by | ratio |\n|---|--:|--:|--:|---|--:|---|--:|\n";
  bool ok = true;
  for (const ParetoCase &which : findParetoCases(folder)) {
    llvm::StringRef text = which.text;
    bool isChosen = text.contains("/small/") || text.contains("/plan/") ||
                    text.contains("/bench/");
    if (only.empty() ? isChosen : which.name == only)
      ok &= Search(which, prices).run();
  }
  return ok ? 0 : 1;
}
