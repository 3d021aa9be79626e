// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PyTorch itself decided: joint graphs of small models under data/, with
// the networks, cuts and halves that were recorded inside it. NAME.fx is the
// graph (FxText.h); NAME.RULES.expected has lines of
//   nodes COUNT          after DCE and CSE
//   names NODE...        arcs FROM: TO,CAPACITY ...   (-1 infinite)
//   cut VALUE            saved NODE...    sizes NODE...   recomputed NODE...
//   bytes PLAIN STORAGE PRIMAL            calls FORWARD BACKWARD
#include "TestGraphs.h"

#include <fstream>

using namespace cutback;
using namespace cutback::fxtext;

namespace {

struct Case {
  const char *graph;
  const char *rules;
};

std::map<std::string, std::string> describe(const FxGraph &graph,
                                            const TorchRulesOptions &options) {
  std::map<std::string, std::string> lines;
  lines["nodes"] = std::to_string(graph.size());
  TorchNetwork network = build(graph, options);
  TorchNetworkDump dump = dumpTorchNetwork(network);
  lines["names"] = names(graph, dump.nodes);
  std::string arcs;
  uint32_t from = ~0u;
  for (const TorchArc &arc : dump.arcs) {
    if (arc.from != from)
      arcs += (arcs.empty() ? "" : " ") + std::to_string(arc.from) + ":";
    from = arc.from;
    arcs += " " + std::to_string(arc.to) + "," + std::to_string(arc.capacity);
  }
  lines["arcs"] = arcs;
  Cut cut = minimumCut(network);
  lines["cut"] = std::to_string(cut.value);
  TorchHalves halves;
  auto error = extractTorchHalves(
      graph, options, savedNodesOfCut(network.arcs, cut.sinkSide), halves);
  EXPECT_FALSE(error) << (error ? error->message : "");
  lines["saved"] = names(graph, halves.savedTensors);
  lines["sizes"] = names(graph, halves.savedSizes);
  lines["recomputed"] = names(graph, halves.recomputed);
  TorchSavedBytes bytes = countSavedBytes(graph, halves.savedTensors);
  lines["bytes"] = std::to_string(bytes.plain) + " " +
                   std::to_string(bytes.storage) + " " +
                   std::to_string(bytes.primal);
  auto calls = [&](const std::vector<FxNodeId> &nodes) {
    size_t count = 0;
    for (FxNodeId n : nodes)
      count += graph.nodes[n].isCall();
    return std::to_string(count);
  };
  lines["calls"] =
      calls(halves.forwardNodes) + " " + calls(halves.backwardNodes);
  return lines;
}

class Recorded : public testing::TestWithParam<Case> {};

TEST_P(Recorded, IsReproduced) {
  const std::string folder = CUTBACK_SOURCE_DIR "/test/unit/TorchRules/data/";
  std::string rules = GetParam().rules;
  TorchRulesOptions options = rules == "torch-2.3" ? torch23() : torch213();
  options.freeParameters = rules == "torch-2.13-static";
  std::ifstream in(folder + GetParam().graph + ".fx");
  Reader reader;
  FxGraph graph = simplifyFxGraph(reader.read(in), options);
  ASSERT_EQ(reader.error, "");
  auto lines = describe(graph, options);

  std::ifstream expected(folder + GetParam().graph + "." + rules + ".expected");
  std::string line;
  unsigned count = 0;
  while (std::getline(expected, line)) {
    size_t space = line.find(' ');
    std::string key = line.substr(0, space);
    EXPECT_EQ(lines[key],
              space == std::string::npos ? "" : line.substr(space + 1))
        << key;
    ++count;
  }
  EXPECT_EQ(count, lines.size());
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const char *graph : {"linear_regression_inputs", "mlp", "dlrm",
                            "multi_output", "two_losses", "gpt2_selective"})
    for (const char *rules : {"torch-2.3", "torch-2.13", "torch-2.13-static"})
      cases.push_back({graph, rules});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Joint, Recorded, testing::ValuesIn(allCases()),
                         [](const testing::TestParamInfo<Case> &info) {
                           std::string name =
                               std::string(info.param.graph) + "_" +
                               (info.param.rules + sizeof("torch-") - 1);
                           for (char &c : name)
                             if (!isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

} // namespace
