// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The FX view of a joint graph: the bridge between our values and the nodes
// that PyTorch's rules speak of.
#ifndef CUTBACK_TORCHRULES_FXVIEW_H
#define CUTBACK_TORCHRULES_FXVIEW_H

#include "cutback/Analysis/GraphView.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/TorchRules/FxGraph.h"
#include "cutback/TorchRules/TorchRules.h"

namespace cutback {

struct FxView {
  FxGraph graph;
  /// By node: the value that it stands for (calls with several results: kNone),
  /// and the op that it came from (kNone for arguments).
  std::vector<uint32_t> valueOf, opOf;
  /// By value: its node, noFxNode for unused results of several.
  std::vector<FxNodeId> nodeOf;

  /// Names the nodes, for messages and reports; the rules need no names.
  void nameNodes(const GraphView &view);

  /// `graph` has been simplified: what it says of origins, `sizes` and
  /// `renumbering` make the other members follow. Linear.
  void followGraph(const ValueSizes &sizes, const Renumbering &renumbering);

  /// `isFree` has one byte an argument: it outlives the step and costs nothing
  /// to save. Symbols that a saved value needs are found by evaluating the
  /// sizes once more for each symbol that is an argument. Linear for graphs
  /// without such symbols.
  static FxView build(const GraphView &view, const ValueSizes &sizes,
                      const std::vector<uint8_t> &isFree, TorchRuleSet rules);
};

} // namespace cutback

#endif // CUTBACK_TORCHRULES_FXVIEW_H
