// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Analysis/Modules.h"

#include <gtest/gtest.h>

using namespace cutback;

namespace {

/// A graph as numbers: arguments first, then ops of one result each.
class ModuleGraph {
public:
  uint32_t arg(const std::string &module) {
    facts.argModule.push_back(module);
    view.definer.push_back(GraphView::kNone);
    return view.numArgs++;
  }
  uint32_t op(uint32_t line, std::vector<uint32_t> operands) {
    facts.line.push_back(line);
    view.operandList.insert(view.operandList.end(), operands.begin(),
                            operands.end());
    operandEnds.push_back(view.operandList.size());
    view.definer.push_back(facts.line.size() - 1);
    return view.definer.size() - 1;
  }
  /// The module of each op.
  std::vector<std::string> derive() {
    uint32_t ops = facts.line.size(), values = view.definer.size();
    view.values.resize(values);
    view.operandBegin = {0};
    view.operandBegin.insert(view.operandBegin.end(), operandEnds.begin(),
                             operandEnds.end());
    view.operandBegin.push_back(view.operandList.size());
    for (uint32_t i = 0; i <= ops; ++i)
      view.resultBegin.push_back(view.numArgs + i);
    view.userBegin = {0};
    for (uint32_t value = 0; value < values; ++value) {
      for (uint32_t i = 0; i < ops; ++i)
        if (llvm::is_contained(view.operands(i), value))
          view.userList.push_back(i);
      view.userBegin.push_back(view.userList.size());
    }
    return deriveModules(view, facts);
  }

private:
  GraphView view;
  ModuleFacts facts;
  std::vector<uint32_t> operandEnds;
};

} // namespace

TEST(Modules, namesAreCutAtComponents) {
  EXPECT_EQ(moduleOfParameter("blocks.3.attn.qkv.weight"), "blocks.3.attn.qkv");
  EXPECT_EQ(moduleOfParameter("pos_embed"), "pos_embed");
  EXPECT_EQ(commonModule("a.b.c", "a.b.d"), "a.b");
  EXPECT_EQ(commonModule("a.b", "a.b.d"), "a.b");
  EXPECT_EQ(commonModule("a.bc", "a.bd"), "a");
  EXPECT_EQ(commonModule("a", "b"), "");
  EXPECT_EQ(commonModule("a.b", "a.b"), "a.b");
}

TEST(Modules, anOpBelongsToItsParametersThroughCasts) {
  ModuleGraph graph;
  uint32_t x = graph.arg("");
  uint32_t weight = graph.arg("blocks.0.attn.qkv");
  uint32_t bias = graph.arg("blocks.0.attn.qkv");
  uint32_t cast = graph.op(0, {weight});
  uint32_t turned = graph.op(0, {cast});
  graph.op(0, {bias, x, turned});
  EXPECT_EQ(graph.derive(), std::vector<std::string>(3, "blocks.0.attn.qkv"));
}

TEST(Modules, severalModulesGiveTheirCommonOne) {
  ModuleGraph graph;
  uint32_t a = graph.arg("mlp.fc1"), b = graph.arg("mlp.fc2");
  graph.op(0, {a, b});
  EXPECT_EQ(graph.derive(), std::vector<std::string>{"mlp"});
}

TEST(Modules, arithmeticOfANormalizationBelongsToIt) {
  // The weight is used last; all ops are on one line.
  ModuleGraph graph;
  uint32_t x = graph.arg(""), weight = graph.arg("blocks.0.ln_1");
  uint32_t mean = graph.op(7, {x});
  uint32_t centred = graph.op(7, {x, mean});
  graph.op(7, {centred, weight});
  EXPECT_EQ(graph.derive(), std::vector<std::string>(3, "blocks.0.ln_1"));
}

TEST(Modules, anActivationBelongsToTheLayerBeforeIt) {
  // fc, gelu, proj on one line: gelu reads fc.
  ModuleGraph graph;
  uint32_t x = graph.arg("");
  uint32_t first = graph.arg("blocks.0.fc"),
           second = graph.arg("blocks.0.proj");
  uint32_t fc = graph.op(7, {x, first});
  uint32_t gelu = graph.op(7, {fc});
  graph.op(7, {gelu, second});
  EXPECT_EQ(graph.derive(),
            (std::vector<std::string>{"blocks.0.fc", "blocks.0.fc",
                                      "blocks.0.proj"}));
}

TEST(Modules, attentionBelongsToTheParentOnce) {
  ModuleGraph graph;
  uint32_t x = graph.arg(""), weight = graph.arg("blocks.0.attn.qkv");
  uint32_t qkv = graph.op(1, {x, weight});
  uint32_t view = graph.op(2, {qkv});
  uint32_t attention = graph.op(3, {view});
  graph.op(4, {attention});
  EXPECT_EQ(graph.derive(),
            (std::vector<std::string>{"blocks.0.attn.qkv", "blocks.0.attn",
                                      "blocks.0.attn", "blocks.0.attn"}));
}

TEST(Modules, whatComesBeforeAnyParameterBelongsToItsUser) {
  ModuleGraph graph;
  uint32_t x = graph.arg(""), weight = graph.arg("wpe");
  uint32_t positions = graph.op(1, {x});
  graph.op(2, {positions, weight});
  graph.op(3, {x});
  EXPECT_EQ(graph.derive(), (std::vector<std::string>{"wpe", "wpe", ""}));
}
