// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time against memory of all plans that the roofline model finds for a graph,
// beside the plan that PyTorch takes.
#ifndef CUTBACK_BENCHMARKS_PARETO_H
#define CUTBACK_BENCHMARKS_PARETO_H

#include "cutback/Planner/PartitionPipeline.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback::bench {

/// A graph of the reference data and what its reference says of it.
struct ParetoCase {
  std::string name, text;
  llvm::StringMap<int64_t> symbols;
  FreeParameters freeParameters; ///< the primals that Inductor takes as static
};

/// The graphs of FOLDER/partition/*.json, by name; texts in the folders beside.
std::vector<ParetoCase> findParetoCases(const std::string &folder);

/// What a plan costs beside an ideal step, and what it keeps.
struct ParetoPoint {
  int64_t ps = 0;
  int64_t bytes = 0;
  double bytePricePs = 0; ///< the price that gave it; unused for PyTorch's
};

struct ParetoResult {
  std::string name;
  uint64_t ops = 0;
  /// Corners of our hull, from the fastest plan to the smallest.
  std::vector<ParetoPoint> ours;
  ParetoPoint torch;
  /// PyTorch's point lies above our hull by so many picoseconds, at its bytes;
  /// negative = below: it beats every plan of ours.
  double abovePs = 0;
  /// Plans on an edge of the hull that were looked at because no corner has
  /// both less time and fewer bytes than PyTorch's plan.
  std::vector<ParetoPoint> between;
  /// A plan of ours with less time and fewer bytes; the one that saves most of
  /// both.
  std::optional<ParetoPoint> better;
  bool isBetween = false; ///< `better` is of `between`, not a corner
};

/// Plans one graph at all prices and prices PyTorch's plan by the same model,
/// on the same graph: after PyTorch's own dead code elimination and CSE.
/// Nullopt if it cannot be planned (errors went to the standard error).
std::optional<ParetoResult> findFront(const ParetoCase &which);

/// One small chart a graph, as SVG; the same input gives the same bytes.
std::string drawFronts(const std::vector<ParetoResult> &results);

} // namespace cutback::bench

#endif // CUTBACK_BENCHMARKS_PARETO_H
