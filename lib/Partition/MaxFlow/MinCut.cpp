// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call, whichever the algorithm:
//
//   1. Contract the network; if that meets an infinite path, say so.
//   2. Compute a maximum flow of what is left.
//   3. Carry flow, sides and cut arcs back to the network as given.
//
// The reference takes the network as given instead. Steps 1 and 3 are linear;
// 2 is the algorithm's cost, in practice linear on joint graphs.

#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/Partition/MaxFlow/AutoMaxFlow.h"
#include "cutback/Partition/MaxFlow/BoostMaxFlow.h"
#include "cutback/Partition/MaxFlow/Contraction.h"
#include "cutback/Partition/MaxFlow/EdmondsKarp.h"

using namespace cutback;

static const struct {
  MaxFlowAlgorithm algorithm;
  const char *name;
} algorithmNames[] = {
    {MaxFlowAlgorithm::Auto, "auto"},
    {MaxFlowAlgorithm::BoykovKolmogorov, "boykov-kolmogorov"},
    {MaxFlowAlgorithm::PushRelabel, "push-relabel"},
    {MaxFlowAlgorithm::BoostPushRelabel, "boost-push-relabel"},
    {MaxFlowAlgorithm::EdmondsKarp, "edmonds-karp"}};

const char *cutback::getAlgorithmName(MaxFlowAlgorithm algorithm) {
  for (const auto &entry : algorithmNames)
    if (entry.algorithm == algorithm)
      return entry.name;
  return "unknown";
}

std::optional<MaxFlowAlgorithm>
cutback::parseAlgorithmName(const std::string &name) {
  for (const auto &entry : algorithmNames)
    if (name == entry.name)
      return entry.algorithm;
  return std::nullopt;
}

struct MaxFlowSolver::Impl {
  MaxFlowAlgorithm algorithm;
  Contraction contraction;
  ResidualGraph graph;
  AutoMaxFlow automatic;
  BoostBoykovKolmogorov boykovKolmogorov;
  PushRelabel pushRelabel;
  MaxFlowStats stats;
  std::vector<uint8_t> innerSide;
  std::vector<uint32_t> queue;

  void solveGraph();
};

void MaxFlowSolver::Impl::solveGraph() {
  switch (algorithm) {
  case MaxFlowAlgorithm::Auto:
    automatic.run(graph);
    stats.switched = automatic.hasSwitched();
    stats.arcScans = automatic.arcScans();
    return;
  case MaxFlowAlgorithm::BoykovKolmogorov:
    boykovKolmogorov.run(graph);
    stats.arcScans = boykovKolmogorov.arcScans();
    return;
  case MaxFlowAlgorithm::PushRelabel:
    pushRelabel.run(graph);
    stats.arcScans = pushRelabel.arcScans();
    return;
  case MaxFlowAlgorithm::BoostPushRelabel:
    return BoostPushRelabel().run(graph);
  case MaxFlowAlgorithm::EdmondsKarp:
    return; // takes the network as given, in solve()
  }
}

MaxFlowSolver::MaxFlowSolver(MaxFlowAlgorithm algorithm)
    : impl(std::make_unique<Impl>()) {
  impl->algorithm = algorithm;
}
MaxFlowSolver::~MaxFlowSolver() = default;
MaxFlowSolver::MaxFlowSolver(MaxFlowSolver &&) noexcept = default;
MaxFlowSolver &MaxFlowSolver::operator=(MaxFlowSolver &&) noexcept = default;

MinCutStatus MaxFlowSolver::solve(const FlowNetwork &network, MinCut &cut) {
  impl->stats = {};
  if (!network.isFinished())
    return MinCutStatus::NotFinished;
  if (!impl->contraction.contract(network, impl->graph))
    return MinCutStatus::Unbounded;
  if (impl->algorithm == MaxFlowAlgorithm::EdmondsKarp) {
    return solveByEdmondsKarp(network, cut) ? MinCutStatus::Solved
                                            : MinCutStatus::Unbounded;
  }
  impl->stats.contractedVertices = impl->graph.numVertices();
  impl->stats.contractedArcs = impl->graph.numHalfArcs() / 2;
  impl->solveGraph();
  if (impl->algorithm == MaxFlowAlgorithm::Auto)
    impl->automatic.markSinkSide(impl->graph, impl->innerSide, impl->queue);
  else
    impl->graph.markSinkSide(impl->innerSide, impl->queue);
  impl->contraction.lift(network, impl->graph, impl->innerSide, cut);
  return MinCutStatus::Solved;
}

const std::vector<VertexId> &MaxFlowSolver::unboundedPath() const {
  return impl->contraction.unboundedPath();
}

const MaxFlowStats &MaxFlowSolver::stats() const { return impl->stats; }
