// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pareto GOLDEN [--svg=FILE] [--only=NAME]: for each graph of the unpacked
// reference data, the plans of the roofline model over all prices of a byte,
// beside the plan that PyTorch 2.13 takes with parameters free, all priced by
// the same model on the same graph. A Markdown table goes to the standard
// output, the picture to FILE.
//
// PyTorch's plan lies below our hull where it saves what our network does not
// offer: views that are copies in memory (docs/Benchmarks.md).

#include "../Usage.h"

#include "Pareto.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace cutback;
using namespace cutback::bench;

static void printPoint(const ParetoPoint &p) {
  llvm::outs() << llvm::format(" %.4f | %.3f |", p.bytes / 1048576.0,
                               p.ps * 1e-6);
}

static void printRow(const ParetoResult &result) {
  llvm::outs() << "| " << result.name
               << llvm::format(" | %llu | %zu |",
                               static_cast<unsigned long long>(result.ops),
                               result.ours.size());
  printPoint(result.torch);
  printPoint(result.ours.front());
  if (result.better)
    printPoint(*result.better);
  else
    llvm::outs() << " | |";
  llvm::outs() << llvm::format(" %.3f |", result.abovePs * 1e-6)
               << (result.isBetween ? " edge |\n" : " |\n");
}

static int finish(const std::vector<ParetoResult> &results,
                  const std::string &svg) {
  size_t better = 0, onEdge = 0, below = 0;
  for (const ParetoResult &result : results) {
    better += result.better.has_value();
    onEdge += result.isBetween;
    below += result.abovePs < 0;
  }
  llvm::outs() << "\n"
               << results.size() << " graphs: PyTorch's plan is below "
               << "our hull on " << below << "; a plan of ours has less time "
               << "and fewer bytes on " << better << " (" << onEdge
               << " of them between two corners)\n";
  if (svg.empty())
    return 0;
  std::error_code code;
  llvm::raw_fd_ostream file(svg, code);
  if (code) {
    llvm::errs() << svg << ": " << code.message() << "\n";
    return 1;
  }
  file << drawFronts(results);
  return 0;
}

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "pareto GOLDEN [--svg=FILE] [--only=NAME]\n"
      "plans over all prices of a byte beside PyTorch's, of the graphs in the "
      "folder GOLDEN";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  std::string folder, svg, only;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--svg="))
      svg = argument.str();
    else if (argument.consume_front("--only="))
      only = argument.str();
    else
      folder = argument.str();
  }
  if (folder.empty()) {
    llvm::errs() << "usage: " << usage << "\n";
    return 2;
  }
  llvm::outs() << "| graph | ops | corners | PyTorch: MiB | µs | our fastest: "
                  "MiB | µs | better in both: MiB | µs | PyTorch above our "
                  "hull, µs | |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
                  "\n";
  std::vector<ParetoResult> results;
  bool ok = true;
  for (const ParetoCase &which : findParetoCases(folder)) {
    if (!only.empty() && which.name != only)
      continue;
    std::optional<ParetoResult> result = findFront(which);
    if (!result) {
      llvm::errs() << which.name << ": no plans\n";
      ok = false;
      continue;
    }
    printRow(*result);
    llvm::outs().flush();
    results.push_back(std::move(*result));
  }
  return finish(results, svg) || !ok;
}
