// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both ways of drawing start from: the ops of both halves, a recomputed
// one twice, and who reads what.
#ifndef CUTBACK_LIB_REPORT_DRAWINGMODEL_H
#define CUTBACK_LIB_REPORT_DRAWINGMODEL_H

#include "cutback/Report/Drawing.h"
#include "cutback/Report/Explain.h"

namespace cutback {

/// A run of an op in a half, or an argument.
struct Instance {
  uint32_t op = GraphView::kNone;    ///< kNone for an argument
  uint32_t value = GraphView::kNone; ///< the argument, or the first result
  bool backward = false;
};

struct InstanceGraph {
  struct Edge {
    uint32_t from, to, value;
    bool saved;
  };
  std::vector<Instance> instances; ///< arguments, forward, backward
  std::vector<Edge> edges;         ///< by reader, distinct
  /// By op: its instance in each half, kNone where it does not run.
  std::vector<uint32_t> forwardOf, backwardOf;

  static InstanceGraph build(const PartitionResult &result, const Fates &fates);
};

/// By instance: the module, or source line, that it belongs to.
std::vector<std::string> placesOfInstances(const PartitionResult &result,
                                           const InstanceGraph &graph);

/// The picture by module; DrawingOverview.cpp.
Picture makeOverview(const PartitionResult &result, const DrawOptions &options,
                     const InstanceGraph &graph);

} // namespace cutback

#endif // CUTBACK_LIB_REPORT_DRAWINGMODEL_H
