// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The FX view: what counts as an input, a direct argument and a user.
#include "TestGraphs.h"

#include <limits>

using namespace cutback;
using namespace cutback::fxtext;

namespace {

std::vector<uint32_t> list(FxRow<uint32_t> row) {
  return {row.begin(), row.end()};
}

TEST(FxGraph, InputsAreDistinctAndDirectArgumentsAreNot) {
  FxGraph graph = parse("placeholder x tensor 4 role=primal\n"
                        "placeholder y tensor 4 role=primal\n"
                        "call m tensor 4 aten.mul.Tensor %x %x\n"
                        "call c tensor 8 aten.cat.default [ %y %x ] i:0\n"
                        "call w tensor 4 a.b.default %x kw:out %y\n"
                        "output 1 m c w m None\n");
  EXPECT_EQ(list(graph.inputs[2]), (std::vector<uint32_t>{0}));
  EXPECT_EQ(list(graph.directArgs(2)), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(list(graph.inputs[3]), (std::vector<uint32_t>{1, 0}));
  EXPECT_TRUE(graph.directArgs(3).empty());
  EXPECT_EQ(list(graph.inputs[4]), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(list(graph.directArgs(4)), (std::vector<uint32_t>{0}));
  // Users are distinct and in graph order; `output` is one.
  EXPECT_EQ(list(graph.users[0]), (std::vector<uint32_t>{2, 3, 4}));
  EXPECT_EQ(list(graph.users[2]), (std::vector<uint32_t>{5}));
  EXPECT_EQ(graph.outputNode(), 5u);
  EXPECT_EQ(list(graph.outputs), (std::vector<uint32_t>{2, 3, 4, 2, noFxNode}));
  EXPECT_EQ(graph.name(3), "c");
  EXPECT_EQ(graph.packets[graph.nodes[2].packet], "aten.mul");
}

TEST(FxGraph, LiteralsThatPythonHashesAlikeShareAHash) {
  FxGraphBuilder builder;
  builder.begin("c", FxNode());
  builder.argInt(-1);
  builder.argInt(-2);
  builder.argInt(3);
  builder.argInt(9223372036854775807);
  builder.argFloat(0.0);
  builder.argFloat(-0.0);
  builder.argInt(0);
  builder.argBool(false);
  builder.argFloat(__builtin_nan(""));
  builder.argFloat(__builtin_nan(""));
  FxGraph graph = (builder.end(), builder.finish({}, 0));
  FxRow<uint32_t> t = graph.skeletonTokens[graph.skeleton[0]];
  auto hash = [&](unsigned i) {
    return graph.literalHash[t[i] & ~fxtoken::kindMask];
  };
  EXPECT_NE(t[0], t[1]);
  EXPECT_EQ(hash(0), hash(1));
  EXPECT_NE(t[2], t[3]);
  EXPECT_EQ(hash(2), hash(3));
  EXPECT_EQ(t[4], t[5]);
  EXPECT_NE(hash(4), hash(6));
  EXPECT_NE(hash(6), hash(7));
  EXPECT_NE(t[8], t[9]);
  EXPECT_NE(hash(8), hash(9));
}

TEST(FxGraph, SizesFallBackForTheWholeTensor) {
  EXPECT_EQ(torchTensorSize(TorchRuleSet::Torch213, 10, 4, false), 40);
  EXPECT_EQ(torchTensorSize(TorchRuleSet::Torch213, 10, 4, true), 4 * 4096);
  EXPECT_EQ(torchTensorSize(TorchRuleSet::Torch23, 10, 4, true), 4 * 4098);
  EXPECT_EQ(torchTensorSize(TorchRuleSet::Torch23, int64_t(1) << 62, 4, false),
            std::numeric_limits<int64_t>::max());
}

} // namespace
