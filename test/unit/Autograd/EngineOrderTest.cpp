// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which PyTorch's engine ran random graphs, with numbers of the
// user's and gradients of chosen leaves, as tools/dev/engine-orders recorded it
// from PyTorch 2.13. CUTBACK_ENGINE_ORDERS names another such file.

#include "cutback/Autograd/NodeGraph.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <string>

using namespace cutback;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

uint32_t numberOf(StringRef word) {
  uint32_t number = 0;
  EXPECT_FALSE(word.getAsInteger(10, number)) << word.str();
  return number;
}

/// Adds a node with the number that is recorded, or the one of its place, if
/// that is the same.
void addNode(NodeGraph &graph, ArrayRef<StringRef> words) {
  uint64_t number = numberOf(words[1]);
  uint32_t node = number == graph.getNextSequence() ? graph.addNode(1)
                                                    : graph.addNode(1, number);
  for (StringRef input : words.drop_front(2))
    EXPECT_TRUE(graph.addNextEdge(
        node, input == "-" ? NodeEdge() : NodeEdge{numberOf(input), 0}));
}

/// The nodes and leaves that run, as text.
std::string orderOf(const NodeGraph &graph, ArrayRef<uint32_t> targets) {
  std::string order = "ran";
  auto add = [](GradientRef a, GradientRef, GradientRef &sum) {
    sum = a;
    return true;
  };
  auto run = [&](uint32_t node, ArrayRef<GradientRef> inputs,
                 ArrayRef<bool> wanted,
                 llvm::MutableArrayRef<GradientRef> outputs) {
    order += " " + std::to_string(node);
    for (auto [output, isWanted] : llvm::zip(outputs, wanted))
      output = isWanted ? inputs[0] : nullptr;
    return true;
  };
  auto accumulate = [&](uint32_t node, GradientRef) {
    order += " " + std::to_string(node);
    return true;
  };
  EXPECT_TRUE(runBackward(graph, {{{graph.size() - 1, 0}, &graph}}, targets,
                          {add, run, accumulate}));
  return order;
}

TEST(EngineOrder, IsThatOfPyTorch) {
  const char *own = std::getenv("CUTBACK_ENGINE_ORDERS");
  std::string path =
      own ? own : CUTBACK_SOURCE_DIR "/test/unit/Autograd/engine-orders.txt";
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(buffer) << path;
  SmallVector<StringRef> texts;
  (*buffer)->getBuffer().split(texts, "\n\n", -1, /*KeepEmpty=*/false);
  ASSERT_GE(texts.size(), 200u);
  for (StringRef text : texts) {
    SCOPED_TRACE(text.str());
    NodeGraph graph;
    SmallVector<uint32_t> targets;
    SmallVector<StringRef> lines;
    text.split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines) {
      SmallVector<StringRef> words;
      line.split(words, ' ');
      if (words[0] == "leaf")
        graph.addAccumulate();
      else if (words[0] == "node")
        addNode(graph, words);
      else if (words[0] == "of" && words[1] != "all")
        for (StringRef leaf : ArrayRef(words).drop_front())
          targets.push_back(numberOf(leaf));
      else if (words[0] == "ran")
        EXPECT_EQ(orderOf(graph, targets), line.str());
    }
    if (HasFailure())
      return;
  }
}

} // namespace
