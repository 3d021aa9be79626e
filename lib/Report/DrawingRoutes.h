// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways of edges between boxes, none through a box.
#ifndef CUTBACK_LIB_REPORT_DRAWINGROUTES_H
#define CUTBACK_LIB_REPORT_DRAWINGROUTES_H

#include "cutback/Report/Drawing.h"

#include <utility>
#include <vector>

namespace cutback {

/// The lane of each edge, beside its column or between both; rows are known,
/// places need not be.
struct DrawLanes {
  enum Side { None, Outside, Between };
  struct Lane {
    Side side = None; ///< None: from one row to the next, no lane is needed
    unsigned number = 0;
  };
  std::vector<Lane> ofEdge;
  /// How many there are: left of the left column, right of the right one,
  /// between both.
  unsigned left = 0, right = 0, between = 0;

  explicit DrawLanes(const Picture &picture);
};

inline constexpr double kLaneWidth = 7.0;

/// By edge: the corners of its way. The picture must have a layout.
std::vector<std::vector<std::pair<double, double>>>
routeEdges(const Picture &picture);

} // namespace cutback

#endif // CUTBACK_LIB_REPORT_DRAWINGROUTES_H
