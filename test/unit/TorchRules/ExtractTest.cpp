// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a list of saved nodes to the halves: what is pruned, which sizes are
// added, what stays in its half, and what cannot be extracted.
#include "TestGraphs.h"

using namespace cutback;
using namespace cutback::fxtext;

namespace {

const std::string x = "placeholder x tensor 40 s=x:40 role=primal\n";
const std::string t = "placeholder t tensor 40 s=t:40 role=tangent\n";

struct Extracted {
  FxGraph graph;
  TorchHalves halves;
  std::optional<TorchRulesError> error;
  std::string tensors, sizes, forward, backward, recomputed;
};

Extracted extract(const std::string &text, const std::string &saved,
                  const TorchRulesOptions &options) {
  Extracted result;
  result.graph = parse(text);
  std::vector<FxNodeId> nodes;
  std::istringstream words(saved);
  for (std::string word; words >> word;)
    nodes.push_back(find(result.graph, word));
  result.error =
      extractTorchHalves(result.graph, options, nodes, result.halves);
  const FxGraph &graph = result.graph;
  result.tensors = names(graph, result.halves.savedTensors);
  result.sizes = names(graph, result.halves.savedSizes);
  result.forward = names(graph, result.halves.forwardNodes);
  result.backward = names(graph, result.halves.backwardNodes);
  result.recomputed = names(graph, result.halves.recomputed);
  return result;
}

TEST(Extract, SplitsPrunesAndRecomputes) {
  std::string text = x + t +
                     "call n symint 0 aten.sym_size.int %x i:0\n"
                     "call a tensor 40 aten.sin.default %x\n"
                     "call b tensor 40 aten.cos.default %a\n"
                     "call c tensor 40 aten.exp.default %b\n"
                     "call g tensor 40 aten.mul.Tensor %t %b\n"
                     "call h tensor 40 aten.view.default %g [ %n ]\n"
                     "output 1 c h\n";
  Extracted e = extract(text, "x n a c", torch213());
  ASSERT_FALSE(e.error);
  EXPECT_EQ(e.tensors, "a");
  EXPECT_EQ(e.sizes, "n");
  EXPECT_EQ(e.forward, "n a b c");
  EXPECT_EQ(e.backward, "b g h");
  EXPECT_EQ(e.recomputed, "b");
  e = extract(text, "x", torch23());
  ASSERT_FALSE(e.error);
  EXPECT_EQ(e.tensors, "x");
  EXPECT_EQ(e.sizes, "");
  EXPECT_EQ(e.forward, "a b c");
  EXPECT_EQ(e.backward, "n a b g h");
  EXPECT_EQ(e.recomputed, "a b");
}

TEST(Extract, CountsBytesOncePerStorage) {
  FxGraph graph = parse(x + "call v tensor 40 s=a:400 aten.sin.default %x\n"
                            "call w tensor 80 s=a:400 aten.view.default %v\n"
                            "call u tensor 8 aten.cos.default %x\n"
                            "output 1 v w u\n");
  TorchSavedBytes bytes = countSavedBytes(graph, {0, 1, 2, 3});
  EXPECT_EQ(bytes.plain, 168);
  EXPECT_EQ(bytes.storage, 40 + 80 + 8);
  EXPECT_EQ(bytes.primal, 40);
}

TEST(Extract, BindsSymbolsByNameInFrontOfDerivedSizes) {
  std::string text = "placeholder s2 symint 0 role=primal syms=s2 binds=s2\n"
                     "placeholder s1 symint 0 role=primal syms=s1 binds=s1\n"
                     "placeholder s9 symint 0 role=primal syms=s9 binds=s9\n"
                     "placeholder x tensor 40 role=primal syms=s2,s1,u0\n"
                     "placeholder t tensor 40 role=tangent syms=s9,s1\n"
                     "call d symint 0 syms=s2 operator.mul %s2 i:2\n"
                     "call a tensor 40 syms=s2,s1 aten.sin.default %x\n"
                     "call g tensor 40 aten.mul.Tensor %t %a\n"
                     "call h tensor 40 aten.view.default %g [ %d ]\n"
                     "output 1 a h\n";
  // d needs s2; a needs s1 as well; t needs s9. Nothing binds u0.
  EXPECT_EQ(extract(text, "x d a", torch213()).sizes, "s2 s1 s9 d");
  // Sorted by name within one value, and a saved binding size comes first.
  EXPECT_EQ(extract(text, "x", torch213()).sizes, "s1 s2 s9");
  EXPECT_EQ(extract(text, "s2 x", torch213()).sizes, "s2 s1 s9");
}

TEST(Extract, EffectsStayInTheirHalfFrom213On) {
  std::string text = x + t +
                     "call c tensor 40 aten.gt.Scalar %x i:0\n"
                     "call check none 0 flags=assert "
                     "aten._assert_async.msg %c t:m\n"
                     "call a tensor 40 aten.sin.default %x\n"
                     "call w tensor 40 flags=mutable dest=x "
                     "aten.copy_.default %x %a\n"
                     "call g tensor 40 aten.mul.Tensor %t %x\n"
                     "call late none 0 flags=assert "
                     "aten._assert_async.msg %g t:m\n"
                     "call put tensor 40 s=g:40 flags=mutable dest=g "
                     "aten.index_put_.default %g %t\n"
                     "output 1 a put\n";
  Extracted e = extract(text, "x", torch213());
  EXPECT_EQ(e.forward, "c check a w");
  EXPECT_EQ(e.backward, "g late put");
  e = extract(text, "x", torch23());
  EXPECT_EQ(e.forward, "c check a w");
  EXPECT_EQ(e.backward, "c check a w g late put");
}

TEST(Extract, ReplaysTaggedRandomCalls) {
  std::string text = x + t +
                     "call r tensor 40 flags=random tag=PREFER_RECOMPUTE:1 "
                     "aten.rand_like.default %x\n"
                     "call s tensor 40 flags=random "
                     "aten.randn_like.default %x\n"
                     "call a tensor 40 tag=PREFER_RECOMPUTE:1 "
                     "aten.add.Tensor %r %s\n"
                     "call g tensor 40 aten.mul.Tensor %t %a\n"
                     "output 1 a g\n";
  Extracted e = extract(text, "x", torch213());
  EXPECT_EQ(e.recomputed, "r s a");
  EXPECT_EQ(names(e.graph, e.halves.replayedRandom), "r");
}

TEST(Extract, DropsAssertedBoolsAndDeadWaits) {
  std::string text = x + t +
                     "call b symbool 0 operator.gt %x i:1\n"
                     "call check none 0 flags=assert "
                     "aten._assert_scalar.default %b t:m\n"
                     "call c tensor 40 my.reduce.default %x\n"
                     "call w tensor 40 flags=mutable,backward "
                     "_c10d_functional.wait_tensor.default %c\n"
                     "call g tensor 40 aten.mul.Tensor %t %x\n"
                     "output 1 x g\n";
  Extracted e = extract(text, "x b c", torch213());
  EXPECT_EQ(e.sizes, "");
  EXPECT_EQ(e.tensors, "x");
  // Used by anything else, it stays.
  text.replace(text.find("output 1 x g"), 12, "output 1 x g w");
  EXPECT_EQ(extract(text, "x b c", torch213()).tensors, "x c");
}

TEST(Extract, RepairsWritesByTheirDestination) {
  std::string text = x + t +
                     "call g tensor 40 aten.mul.Tensor %t %x\n"
                     "call w tensor 40 flags=mutable,mustforward dest=x "
                     "aten.copy_.default %x %g\n"
                     "call v tensor 40 aten.view.default %w [ i:1 ]\n"
                     "output 1 v g\n";
  EXPECT_FALSE(extract(text, "x", torch213()).error);
  Extracted e = extract(text, "x", torch23());
  ASSERT_TRUE(e.error);
  EXPECT_EQ(e.error->message, "the forward cannot compute its result 'v' from "
                              "what it is given");
}

TEST(Extract, ReportsResultsThatCannotBeComputed) {
  std::string text = x + t +
                     "call a tensor 40 aten.sin.default %x\n"
                     "call g tensor 40 aten.mul.Tensor %t %a\n"
                     "output 1 a g\n";
  Extracted e = extract(text, "", torch213());
  ASSERT_TRUE(e.error);
  EXPECT_EQ(e.error->message, "the backward cannot compute its result 'g' "
                              "from what it is given");
  EXPECT_EQ(e.error->node, find(e.graph, "g"));
  EXPECT_EQ(e.error->note, "save the values that it depends on");
}

} // namespace
