// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search, with oracles in the process: results are as small as they can
// be, do not depend on the number of jobs, and are read again.

#include "ReduceFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

/// Graphs in whose text all of `words` are.
Oracle contains(std::vector<std::string> words) {
  return [words](const std::vector<std::string> &texts) {
    std::vector<uint8_t> good;
    for (const std::string &text : texts)
      good.push_back(llvm::all_of(words, [&](const std::string &word) {
        return text.find(word) != std::string::npos;
      }));
    return good;
  };
}

ReduceStats reduce(Graph &g, const Oracle &oracle, ReduceOptions options = {}) {
  return reduceGraph(g.module, oracle, options, [](const ReduceStats &) {});
}

} // namespace

TEST(Reduce, oneOpIsLeftOfAPattern) {
  Graph g;
  ReduceStats stats = reduce(g, contains({"aten.tanh_backward"}));
  EXPECT_TRUE(g.verifies());
  EXPECT_EQ(stats.before.ops, 10u);
  EXPECT_EQ(stats.after.ops, 1u);
  EXPECT_LE(stats.after.arguments, 2u);
  EXPECT_TRUE(g.has("aten.tanh_backward"));
  EXPECT_TRUE(distinctSizes(g.graph()).empty());
  EXPECT_GT(stats.tries, 0u);
}

TEST(Reduce, bothEndsOfADependencyStay) {
  Graph g;
  reduce(g, contains({"aten.tanh(", "gradients(%dw of"}));
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("aten.tanh("));
  EXPECT_TRUE(g.has("gradients(%dw of"));
  EXPECT_LE(sizeOf(g.graph()).ops, 3u);
}

TEST(Reduce, jobsChangeNothing) {
  Graph one, eight;
  ReduceOptions jobs;
  jobs.jobs = 8;
  ReduceStats a = reduce(one, contains({"%mm", "aten.permute"}));
  ReduceStats b = reduce(eight, contains({"%mm", "aten.permute"}), jobs);
  EXPECT_EQ(one.text(), eight.text());
  EXPECT_EQ(a.tries, b.tries);
}

TEST(Reduce, noCandidateIsAskedAboutTwice) {
  Graph g;
  std::vector<std::string> all;
  Oracle counting = [&](const std::vector<std::string> &texts) {
    all.insert(all.end(), texts.begin(), texts.end());
    return contains({"aten.mm"})(texts);
  };
  ReduceStats stats = reduce(g, counting);
  EXPECT_EQ(all.size(), stats.tries);
  llvm::sort(all);
  EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
  EXPECT_GT(stats.known, 0u);
}

TEST(Reduce, theLimitOfTriesIsKept) {
  Graph g;
  ReduceOptions options;
  options.maxTries = 3;
  ReduceStats stats = reduce(g, contains({"aten.mm"}), options);
  EXPECT_EQ(stats.tries, 3u);
  EXPECT_TRUE(stats.exhausted);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("aten.mm"));
}

TEST(Reduce, aStopKeepsTheBestSoFar) {
  Graph g;
  int answers = 0;
  Oracle stopping = [&](const std::vector<std::string> &texts) {
    if (++answers > 4)
      return std::vector<uint8_t>();
    return contains({"aten.mm"})(texts);
  };
  ReduceStats stats = reduce(g, stopping);
  EXPECT_TRUE(stats.stopped);
  EXPECT_TRUE(g.verifies());
  EXPECT_TRUE(g.has("aten.mm"));
}

TEST(Reduce, nothingGoesWhereEverythingIsNeeded) {
  Graph g;
  std::string before = g.text();
  Oracle never = [](const std::vector<std::string> &texts) {
    return std::vector<uint8_t>(texts.size(), 0);
  };
  ReduceStats stats = reduce(g, never);
  EXPECT_EQ(g.text(), before);
  EXPECT_EQ(stats.after.ops, stats.before.ops);
}

TEST(Reduce, aRealGraphComesDownToAHandfulOfOps) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<ImportedModule> module = readInput(
      std::string(CUTBACK_SOURCE_DIR) + "/test/corpus/resnet18_2023/joint.txt",
      context);
  ASSERT_TRUE(succeeded(module));
  uint64_t lastOps = ~uint64_t(0);
  auto watch = [&](const ReduceStats &stats) {
    EXPECT_LE(stats.after.ops, lastOps);
    lastOps = stats.after.ops;
  };
  ReduceStats stats = reduceGraph(
      module->module, contains({"aten.max_pool2d_with_indices_backward"}), {},
      watch);
  EXPECT_GT(stats.before.ops, 700u);
  EXPECT_LE(stats.after.ops, 2u);
  EXPECT_LT(stats.tries, 100u);
  EXPECT_TRUE(succeeded(verify(*module->module)));
}
