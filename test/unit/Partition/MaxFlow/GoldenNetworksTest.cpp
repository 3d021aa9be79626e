// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The networks that PyTorch's partitioner built of real models, with what it
// found: those of test/corpus always, and those of the folder in the
// environment variable CUTBACK_GOLDEN (partition/NAME.net.json beside
// NAME.json) where it is set.

#include "JsonReader.h"
#include "TestNetworks.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>

using namespace cutback;
using namespace cutback::samples;

namespace fs = std::filesystem;

namespace {

struct Golden {
  std::string name;
  fs::path network, reference;
};

struct Tally {
  int networks = 0, saved = 0, cutNodes = 0;
  /// Looks at a half arc, of networks with more than 5,000 and of the others.
  double looksOfLarge = 0, looksOfSmall = 0;
};

} // namespace

/// Vertex 2 + 2i is the in vertex of name i, 3 + 2i its out vertex.
static FlowNetwork readNetwork(const Json &json) {
  FlowNetwork network(
      static_cast<uint32_t>(2 + 2 * json["names"].elements.size()));
  for (const Json &arc : json["arcs"].elements)
    network.addArc(static_cast<VertexId>(arc.elements[0].integer()),
                   static_cast<VertexId>(arc.elements[1].integer()),
                   arc.elements[2].integer());
  EXPECT_EQ(network.finish(ParallelArcs::LastWins), std::nullopt);
  return network;
}

/// Names whose in and out vertex the cut separates.
static std::set<std::string> readCutNodes(const FlowNetwork &network,
                                          const MinCut &cut, const Json &json) {
  std::set<std::string> names;
  for (ArcId id : cut.cutArcs) {
    const FlowArc &arc = network.arc(id);
    if (arc.from >= 2 && arc.from % 2 == 0 && arc.to == arc.from + 1)
      names.insert(json["names"].elements[arc.from / 2 - 1].string);
  }
  return names;
}

static void compareRule(const Json &network, const Json &reference,
                        Tally &tally) {
  FlowNetwork flowNetwork = readNetwork(network);
  MaxFlowSolver solver;
  MinCut cut;
  ASSERT_EQ(solver.solve(flowNetwork, cut), MinCutStatus::Solved);
  EXPECT_EQ(checkFlow(flowNetwork, cut), std::nullopt);
  // Limits are for networks of other kinds.
  EXPECT_FALSE(solver.stats().switched);
  uint32_t halfArcs = 2 * solver.stats().contractedArcs;
  double &looks = halfArcs > 5000 ? tally.looksOfLarge : tally.looksOfSmall;
  if (halfArcs)
    looks = std::max(looks, double(solver.stats().arcScans) / halfArcs);
  EXPECT_EQ(cut.value, reference["cut_value"].integer());
  EXPECT_EQ(flowNetwork.numArcs(), reference["arcs"].integer());
  for (MaxFlowAlgorithm algorithm :
       {MaxFlowAlgorithm::PushRelabel, MaxFlowAlgorithm::BoostPushRelabel}) {
    MinCut other = solve(flowNetwork, algorithm);
    EXPECT_EQ(other.value, cut.value);
    EXPECT_EQ(other.onSinkSide, cut.onSinkSide);
  }
  std::set<std::string> cutNodes = readCutNodes(flowNetwork, cut, network);
  ++tally.networks;
  tally.cutNodes += static_cast<int>(cutNodes.size());
  for (const char *list : {"saved", "saved_sizes"})
    for (const Json &name : reference[list].elements) {
      ++tally.saved;
      EXPECT_TRUE(cutNodes.erase(name.string)) << list << " " << name.string;
    }
  // Everything saved is cut. A cut node is not saved where nothing is left in
  // the backward that reads it: one node in 4 of the 158 networks known.
  EXPECT_LE(cutNodes.size(), 1U);
}

static void compare(const Golden &golden, Tally &tally) {
  Json networks = JsonReader::readFile(golden.network);
  Json reference = JsonReader::readFile(golden.reference);
  for (const auto &[rule, network] : networks["networks"].members) {
    SCOPED_TRACE(golden.name + ", " + rule);
    ASSERT_TRUE(reference["rules"].has(rule));
    compareRule(network, reference["rules"][rule], tally);
  }
}

static void compareAll(std::vector<Golden> goldens) {
  std::sort(goldens.begin(), goldens.end(),
            [](const Golden &a, const Golden &b) { return a.name < b.name; });
  Tally tally;
  for (const Golden &golden : goldens)
    compare(golden, tally);
  std::cout << "[          ] " << goldens.size() << " graphs, "
            << tally.networks << " networks, " << tally.cutNodes
            << " cut nodes, " << tally.saved << " saved; at most "
            << tally.looksOfLarge << " looks at a half arc where there are "
            << "more than 5,000, else " << tally.looksOfSmall << "\n";
  EXPECT_GT(tally.networks, 0);
}

TEST(GoldenNetworks, ofTheCorpusAreCutAsPyTorchCutThem) {
  std::vector<Golden> goldens;
  for (const auto &entry :
       fs::directory_iterator(CUTBACK_SOURCE_DIR "/test/corpus"))
    if (fs::exists(entry.path() / "network.json"))
      goldens.push_back({entry.path().filename(), entry.path() / "network.json",
                         entry.path() / "reference.json"});
  compareAll(goldens);
}

TEST(GoldenNetworks, ofCUTBACK_GOLDENAreCutAsPyTorchCutThem) {
  const char *folder = std::getenv("CUTBACK_GOLDEN");
  if (!folder)
    GTEST_SKIP() << "CUTBACK_GOLDEN is not set: the networks outside the "
                    "project were not compared";
  const std::string suffix = ".net.json";
  std::vector<Golden> goldens;
  for (const auto &entry :
       fs::directory_iterator(fs::path(folder) / "partition")) {
    std::string file = entry.path().filename();
    if (file.size() <= suffix.size() ||
        file.compare(file.size() - suffix.size(), suffix.size(), suffix) != 0)
      continue;
    std::string name = file.substr(0, file.size() - suffix.size());
    goldens.push_back(
        {name, entry.path(), entry.path().parent_path() / (name + ".json")});
  }
  compareAll(goldens);
}
