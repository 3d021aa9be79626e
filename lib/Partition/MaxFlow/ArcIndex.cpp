// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two stable counting sorts of the arcs, by tail and by head, beside each
// other. Linear, no allocation per vertex.

#include "cutback/Partition/MaxFlow/ArcIndex.h"

using namespace cutback;

void ArcIndex::build(const FlowNetwork &network) {
  uint32_t numVertices = network.numVertices();
  const std::vector<FlowArc> &arcs = network.arcs();
  // Counts go two places up, so that after filling begin[v] is the start of v.
  outBegin.assign(numVertices + 2, 0);
  inBegin.assign(numVertices + 2, 0);
  for (const FlowArc &arc : arcs) {
    ++outBegin[arc.from + 2];
    ++inBegin[arc.to + 2];
  }
  uint32_t numOut = 0, numIn = 0;
  for (uint32_t v = 2; v < numVertices + 2; ++v) {
    outBegin[v] = numOut += outBegin[v];
    inBegin[v] = numIn += inBegin[v];
  }
  outIds.resize(arcs.size());
  inIds.resize(arcs.size());
  for (ArcId a = 0, e = network.numArcs(); a < e; ++a) {
    outIds[outBegin[arcs[a].from + 1]++] = a;
    inIds[inBegin[arcs[a].to + 1]++] = a;
  }
}
