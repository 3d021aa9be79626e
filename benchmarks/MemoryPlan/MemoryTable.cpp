// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// memory-table GOLDEN [--only=NAME] [--all]: for each graph of small and plan
// of the unpacked reference data (--all: of bench and the corpus too), the
// planned arena of the step under each strategy, and under PyTorch's own
// decision (its rules of 2.13, parameters free), all put through the same
// planner. A Markdown table goes to the standard output.
//
// Exit code 1 if a plan fails, an arena is more than 1.05 times its lower
// bound, or min-cut's arena is larger than that of PyTorch's decision.

#include "../Pareto/Pareto.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Pipelines/PeakPlan.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;
using namespace cutback;
using namespace cutback::bench;

namespace {

struct Column {
  const char *title;
  Strategy strategy;
  CostModel model;
};

constexpr Column kColumns[] = {
    {"min-cut", Strategy::MinCut, CostModel::Roofline},
    {"PyTorch", Strategy::MinCut, CostModel::PyTorch},
    {"default", Strategy::Default, CostModel::Roofline},
    {"save-all", Strategy::SaveAll, CostModel::Roofline},
    {"recompute-all", Strategy::RecomputeAll, CostModel::Roofline},
};

struct Cell {
  uint64_t ops = 0;
  int64_t arena = 0, lowerBound = 0;
  double seconds = 0;
  PlannedPeak peak;
  double price = 0;     ///< of a byte, that the plan was made with
  bool isTorch = false; ///< PyTorch's decision was taken
  double ratio() const {
    return lowerBound ? double(arena) / double(lowerBound) : 1;
  }
};

std::optional<Cell> measure(const ParetoCase &which, const Column &column) {
  MLIRContext context;
  context
      .loadDialect<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
  FailureOr<ImportedModule> imported =
      readInput(which.text, context, ImportOptions());
  if (failed(imported))
    return std::nullopt;
  PartitionOptions options;
  options.strategy = column.strategy;
  options.costModel = column.model;
  options.symbols = which.symbols;
  options.freeParameters = which.freeParameters;
  options.figures = false;
  auto start = std::chrono::steady_clock::now();
  FailureOr<PeakPlan> chosen = planForPeak(imported->graph, options);
  if (failed(chosen))
    return std::nullopt;
  const MemoryPlan &plan = chosen->memory;
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  Cell cell{plan.program.numOps(), plan.arenaBytes(), plan.lowerBound(),
            taken.count(), plan.peak};
  cell.price = chosen->options.bytePricePs;
  cell.isTorch = chosen->options.costModel == CostModel::PyTorch;
  return cell;
}

} // namespace

int main(int argc, char **argv) {
  std::string folder, only;
  bool isAll = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--only="))
      only = argument.str();
    else if (argument == "--all")
      isAll = true;
    else
      folder = argument.str();
  }
  if (folder.empty()) {
    llvm::errs() << "usage: memory-table GOLDEN [--only=NAME] [--all]\n";
    return 1;
  }
  llvm::outs() << "| graph | ops | s | worst ratio |";
  for (const Column &column : kColumns)
    llvm::outs() << " " << column.title << " |";
  llvm::outs()
      << " to PyTorch | byte price |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
         "--:|\n";
  bool ok = true;
  for (const ParetoCase &which : findParetoCases(folder)) {
    llvm::StringRef text = which.text;
    bool isChosen = only.empty() ? isAll || text.contains("/small/") ||
                                       text.contains("/plan/")
                                 : which.name == only;
    if (!isChosen)
      continue;
    std::vector<Cell> cells;
    double worst = 1, seconds = 0;
    for (const Column &column : kColumns) {
      std::optional<Cell> cell = measure(which, column);
      ok &= cell.has_value();
      cells.push_back(cell.value_or(Cell()));
      worst = std::max(worst, cells.back().ratio());
      seconds = std::max(seconds, cells.back().seconds);
    }
    double relation = double(cells[0].arena) / double(cells[1].arena);
    llvm::outs() << llvm::format(
        "| %s | %llu | %.2f | %.4f |", which.name.c_str(),
        static_cast<unsigned long long>(cells[0].ops), seconds, worst);
    for (const Cell &cell : cells)
      llvm::outs() << " " << cell.arena << " |";
    llvm::outs() << llvm::format(" %.4f |", relation)
                 << (cells[0].isTorch
                         ? std::string(" PyTorch's |\n")
                         : llvm::formatv(" {0:f1} |\n", cells[0].price).str());
    ok &= worst <= 1.05 && cells[0].arena <= cells[1].arena;
    for (size_t i = 0; i < 2 && !only.empty(); ++i) {
      const PlannedPeak &p = cells[i].peak;
      llvm::errs() << kColumns[i].title << ": " << p.bytes << " at " << p.at
                   << (p.inBackward ? " (backward)" : " (forward)") << " saved "
                   << p.saved << " results " << p.results << " gradients "
                   << p.gradients << " temporaries " << p.temporaries << "\n";
    }
  }
  return ok ? 0 : 1;
}
