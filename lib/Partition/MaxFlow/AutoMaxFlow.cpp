// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of a network does not tell how long its augmenting paths will be;
// the first of them do. Boykov-Kolmogorov, which is Boost's here, grows its
// trees in one look at each half arc; the rest is walking paths and repairing
// trees. On networks like joint graphs its paths have 2 to 10 arcs on average,
// whatever share of the values the backward reads. On a ladder tapped at its
// end they are as long as the ladder. Over all networks measured it wins up to
// 25 arcs, by a factor of 2 to 10, and push-relabel from 60 on, by up to 180.
//
//   1. Run Boykov-Kolmogorov until its paths are longer than 32 arcs on
//      average, counting 64 paths before the first, or until it has looked 4
//      times at every half arc, and 65,536 times besides. Joint graphs of more
//      than 5,000 half arcs take 1.4 to 3.4 looks, small ones up to 11; shallow
//      networks with many ways through them take any number.
//   2. If it stops there, go on with push-relabel, from the flow it leaves.
//
// On a deep network the first few paths decide, so a wrong start costs little
// more than growing the trees. The choice depends on the graph only, never on a
// clock.

#include "cutback/Partition/MaxFlow/AutoMaxFlow.h"

using namespace cutback;

void AutoMaxFlow::run(ResidualGraph &graph) {
  BoostBoykovKolmogorov::Patience patience;
  patience.scans = 4 * uint64_t(graph.numHalfArcs()) + 65536;
  patience.meanPathLength = 32;
  patience.longPaths = 64;
  switched = !boykovKolmogorov.run(graph, patience);
  if (switched)
    pushRelabel.run(graph);
}

void AutoMaxFlow::markSinkSide(const ResidualGraph &graph,
                               std::vector<uint8_t> &onSinkSide,
                               std::vector<uint32_t> &queue) const {
  // The search has been made where the trees grew to the end.
  if (switched)
    graph.markSinkSide(onSinkSide, queue);
  else
    boykovKolmogorov.markSinkTree(onSinkSide);
}
