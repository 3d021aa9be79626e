// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// memory-table GOLDEN [--only=NAME] [--all]: for each graph of small and plan
// of the unpacked reference data (--all: of bench and the corpus too), the
// planned arena of the step: min-cut as it is by default and for the least
// peak, PyTorch's own decision (its rules of 2.13, parameters free) and the
// other strategies, all put through the same planner. A Markdown table goes to
// the standard output, seconds of the slowest plan to the standard error.
//
// Exit code 1 if a plan fails, an arena is more than 1.05 times its lower
// bound, or one of min-cut is larger than that of PyTorch's decision.

#include "../Usage.h"

#include "../Pareto/Pareto.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/Planner.h"

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
  Minimize minimize;
};

constexpr Column kColumns[] = {
    {"min-cut", Strategy::MinCut, CostModel::Roofline, Minimize::Time},
    {"least peak", Strategy::MinCut, CostModel::Roofline, Minimize::Peak},
    {"PyTorch", Strategy::MinCut, CostModel::PyTorch, Minimize::Time},
    {"eager", Strategy::Eager, CostModel::Roofline, Minimize::Time},
    {"precompute", Strategy::Precompute, CostModel::Roofline, Minimize::Time},
    {"recompute-all", Strategy::RecomputeAll, CostModel::Roofline,
     Minimize::Time},
};
constexpr size_t kShown = 3; ///< columns with their arenas

struct Cell {
  uint64_t ops = 0;
  bool isPassedOver = false; ///< the minimum cut for time was not taken
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
  options.minimize = column.minimize;
  options.symbols = which.symbols;
  options.freeParameters = which.freeParameters;
  options.figures = false;
  options.memory.emplace();
  auto start = std::chrono::steady_clock::now();
  auto chosen = planStep(imported->graph, options);
  if (failed(chosen) || !(*chosen)->memory)
    return std::nullopt;
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  const MemoryPlan &plan = *(*chosen)->memory;
  Cell cell{plan.program.numOps(), (*chosen)->passedOver.has_value(),
            plan.arenaBytes(),     plan.lowerBound(),
            taken.count(),         plan.peak};
  cell.price = (*chosen)->bytePricePs;
  cell.isTorch = (*chosen)->choice.costModel == CostModel::PyTorch;
  return cell;
}

void printPeak(const char *title, const Cell &cell) {
  const PlannedPeak &p = cell.peak;
  llvm::errs() << title << ": " << llvm::format("%.3f s, ", cell.seconds)
               << p.bytes << " at " << p.at
               << (p.inBackward ? " (backward)" : " (forward)") << " saved "
               << p.saved << " results " << p.results << " gradients "
               << p.gradients << " temporaries " << p.temporaries << "\n";
}

/// One line of the table. False if a bar is missed.
bool printRow(const ParetoCase &which, bool inDetail) {
  std::vector<Cell> cells;
  bool ok = true;
  double worst = 1, seconds = 0;
  for (const Column &column : kColumns) {
    std::optional<Cell> cell = measure(which, column);
    ok &= cell.has_value();
    cells.push_back(cell.value_or(Cell()));
    worst = std::max(worst, cells.back().ratio());
    seconds = std::max(seconds, cells.back().seconds);
    if (inDetail)
      printPeak(column.title, cells.back());
  }
  const Cell &least = cells[1], &torch = cells[2];
  llvm::outs() << "| " << which.name << " | " << cells[0].ops << " |";
  for (size_t i = 0; i < kShown; ++i)
    llvm::outs() << " " << cells[i].arena
                 << (cells[i].isPassedOver ? "\\*" : "") << " |";
  llvm::outs() << llvm::format(" %.4f | %.4f | ",
                               double(cells[0].arena) / double(torch.arena),
                               double(least.arena) / double(torch.arena))
               << (least.isTorch ? std::string("PyTorch's")
                                 : llvm::formatv("{0:f1}", least.price).str())
               << llvm::format(" | %.4f |\n", worst);
  llvm::errs() << llvm::format("%s: %.2f s\n", which.name.c_str(), seconds);
  return ok && worst <= 1.05 && cells[0].arena <= torch.arena &&
         least.arena <= torch.arena;
}

} // namespace

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "memory-table GOLDEN [--only=NAME] [--all]\n"
      "the planned arenas of the graphs in the folder GOLDEN, as a table";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
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
    llvm::errs() << "usage: " << usage << "\n";
    return 2;
  }
  llvm::outs() << "| graph | ops | min-cut | least peak | PyTorch | min-cut to "
                  "PyTorch | least to PyTorch | byte price | worst ratio |\n"
                  "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  bool ok = true;
  for (const ParetoCase &which : findParetoCases(folder)) {
    llvm::StringRef text = which.text;
    bool isChosen = only.empty() ? isAll || text.contains("/small/") ||
                                       text.contains("/plan/")
                                 : which.name == only;
    if (isChosen)
      ok &= printRow(which, !only.empty());
  }
  return ok ? 0 : 1;
}
