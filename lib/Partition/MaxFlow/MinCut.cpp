// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call: contract, compute a maximum flow of what is left, carry it back.
//
// Auto cannot see from a network's shape how long its augmenting paths will be,
// but it can see what Boykov-Kolmogorov costs: the looks at arcs are counted,
// and past a few for each arc push-relabel goes on from the flow that is there.
// So the choice depends on the network only, never on a clock, and a wrong
// guess costs a constant number of passes.

#include "cutback/Partition/MaxFlow/MinCut.h"
#include "cutback/Partition/MaxFlow/BoostSolvers.h"
#include "cutback/Partition/MaxFlow/BoykovKolmogorov.h"
#include "cutback/Partition/MaxFlow/Contraction.h"
#include "cutback/Partition/MaxFlow/EdmondsKarp.h"
#include "cutback/Partition/MaxFlow/PushRelabel.h"

using namespace cutback;

static const struct {
  MaxFlowAlgorithm algorithm;
  const char *name;
} algorithmNames[] = {
    {MaxFlowAlgorithm::Auto, "auto"},
    {MaxFlowAlgorithm::BoykovKolmogorov, "boykov-kolmogorov"},
    {MaxFlowAlgorithm::PushRelabel, "push-relabel"},
    {MaxFlowAlgorithm::BoostBoykovKolmogorov, "boost-boykov-kolmogorov"},
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

/// Looks at half arcs that Auto grants Boykov-Kolmogorov.
static constexpr uint64_t kScansPerHalfArc = 16;

struct MaxFlowSolver::Impl {
  MaxFlowAlgorithm algorithm;
  Contraction contraction;
  ResidualGraph graph;
  BoykovKolmogorov boykovKolmogorov;
  PushRelabel pushRelabel;
  std::vector<VertexId> path;
  MaxFlowStats stats;

  void solveGraph();
};

void MaxFlowSolver::Impl::solveGraph() {
  switch (algorithm) {
  case MaxFlowAlgorithm::Auto: {
    uint64_t limit = kScansPerHalfArc * uint64_t(graph.numHalfArcs()) + 4096;
    stats.switched = !boykovKolmogorov.run(graph, limit);
    stats.arcScans = boykovKolmogorov.arcScans();
    if (stats.switched) {
      pushRelabel.run(graph);
      stats.arcScans += pushRelabel.arcScans();
    }
    return;
  }
  case MaxFlowAlgorithm::BoykovKolmogorov:
    boykovKolmogorov.run(graph);
    stats.arcScans = boykovKolmogorov.arcScans();
    return;
  case MaxFlowAlgorithm::PushRelabel:
    pushRelabel.run(graph);
    stats.arcScans = pushRelabel.arcScans();
    return;
  case MaxFlowAlgorithm::BoostBoykovKolmogorov:
    return solveByBoostBoykovKolmogorov(graph);
  case MaxFlowAlgorithm::BoostPushRelabel:
    return solveByBoostPushRelabel(graph);
  case MaxFlowAlgorithm::EdmondsKarp:
    return; // needs no contraction; see solve()
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
  impl->contraction.lift(network, impl->graph, cut);
  return MinCutStatus::Solved;
}

const std::vector<VertexId> &MaxFlowSolver::unboundedPath() const {
  return impl->contraction.unboundedPath();
}

const MaxFlowStats &MaxFlowSolver::stats() const { return impl->stats; }
