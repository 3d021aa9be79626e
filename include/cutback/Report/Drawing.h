// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures of a plan: op by op where few are shown, module by module else.
#ifndef CUTBACK_REPORT_DRAWING_H
#define CUTBACK_REPORT_DRAWING_H

#include "cutback/Planner/PartitionPipeline.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

struct DrawOptions {
  enum What { Joint, Forward, Backward, Network } what = Joint;
  /// The value in the middle; the whole graph without it.
  std::optional<uint32_t> around;
  unsigned depth = 2; ///< in edges, for `around`
};

/// A box of a picture.
struct DrawNode {
  enum Column { Left, Right };
  Column column = Left;           ///< forward left, backward right
  std::vector<std::string> lines; ///< of text, the first in bold
  std::string tooltip;
  bool recomputed = false, argument = false, focus = false;
  bool saved = false; ///< the forward hands over what it computes
  bool sink = false;  ///< stands for all of the backward, in a network
  /// What it reads, and who reads it, outside of the picture.
  unsigned hiddenOperands = 0, hiddenReaders = 0;
  /// Position in its column, downwards in the forward and upwards in the
  /// backward. An overview gives equal rows to both halves of a module.
  unsigned row = 0;
  double x = 0, y = 0, width = 0, height = 0; ///< set by the layout
};

struct DrawEdge {
  uint32_t from = 0, to = 0;
  bool saved = false; ///< crosses from the forward to the backward
  std::string label, tooltip;
};

/// A column of boxes with its heading; set by the layout.
struct DrawBand {
  DrawNode::Column column = DrawNode::Left;
  double x = 0, width = 0;
};

struct Picture {
  std::string title;
  std::vector<DrawNode> nodes;
  std::vector<DrawEdge> edges;
  std::vector<DrawBand> bands;
  bool overview = false;
  /// The columns are the two sides of the minimum cut; both run downwards.
  bool network = false;
  double width = 0, height = 0;
};

/// Chooses what to show. Graphs with up to 120 boxes, and neighbourhoods, are
/// drawn op by op with chains of views folded; larger ones by module (or by
/// source line where no parameter has a name). What is left out of a
/// neighbourhood is counted where it would be. Linear but for sorting.
Picture makePicture(const PartitionResult &result, const DrawOptions &options);

/// Sets places and sizes, in pixels: one row a box in an overview, else layers
/// by longest path, ordered by where their neighbours are.
void layoutPicture(Picture &picture);

/// SVG 1.1 without scripts or outside references; equal pictures give equal
/// bytes. The picture must have a layout.
std::string writeSvg(const Picture &picture);

/// Graphviz's language; needs no layout.
std::string writeDot(const Picture &picture);

} // namespace cutback

#endif // CUTBACK_REPORT_DRAWING_H
