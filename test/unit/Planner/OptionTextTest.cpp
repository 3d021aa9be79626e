// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One test a value of every plan option, and the messages for wrong ones.

#include "cutback/Planner/OptionText.h"

#include "gtest/gtest.h"

using namespace cutback;

namespace {

TEST(OptionText, readsEveryStrategy) {
  Strategy value;
  std::string error;
  EXPECT_TRUE(parseStrategy("min-cut", value, error));
  EXPECT_EQ(value, Strategy::MinCut);
  EXPECT_TRUE(parseStrategy("eager", value, error));
  EXPECT_EQ(value, Strategy::Eager);
  EXPECT_TRUE(parseStrategy("precompute", value, error));
  EXPECT_EQ(value, Strategy::Precompute);
  EXPECT_TRUE(parseStrategy("recompute-all", value, error));
  EXPECT_EQ(value, Strategy::RecomputeAll);
}

TEST(OptionText, readsFormerNamesOfStrategies) {
  Strategy value;
  std::string error;
  EXPECT_TRUE(parseStrategy("default", value, error));
  EXPECT_EQ(value, Strategy::Eager);
  EXPECT_TRUE(parseStrategy("save-all", value, error));
  EXPECT_EQ(value, Strategy::Precompute);
}

TEST(OptionText, readsCostModelsRulesAndSolvers) {
  CostModel model;
  Rules rules;
  Solver solver;
  std::string error;
  EXPECT_TRUE(parseCostModel("pytorch", model, error));
  EXPECT_EQ(model, CostModel::PyTorch);
  EXPECT_TRUE(parseCostModel("roofline", model, error));
  EXPECT_EQ(model, CostModel::Roofline);
  EXPECT_TRUE(parseRules("torch-2.3", rules, error));
  EXPECT_EQ(rules, Rules::Torch2_3);
  EXPECT_TRUE(parseRules("torch-2.13", rules, error));
  EXPECT_EQ(rules, Rules::Torch2_13);
  EXPECT_TRUE(parseSolver("auto", solver, error));
  EXPECT_EQ(solver, Solver::Auto);
  EXPECT_TRUE(parseSolver("boykov-kolmogorov", solver, error));
  EXPECT_EQ(solver, Solver::BoykovKolmogorov);
  EXPECT_TRUE(parseSolver("push-relabel", solver, error));
  EXPECT_EQ(solver, Solver::PushRelabel);
  EXPECT_TRUE(parseSolver("boost-push-relabel", solver, error));
  EXPECT_EQ(solver, Solver::BoostPushRelabel);
  EXPECT_TRUE(parseSolver("edmonds-karp", solver, error));
  EXPECT_EQ(solver, Solver::EdmondsKarp);
}

TEST(OptionText, namesTheWordsThereAre) {
  Strategy value;
  std::string error;
  EXPECT_FALSE(parseStrategy("best", value, error));
  EXPECT_EQ(error, "unknown strategy 'best'; there are min-cut, eager, "
                   "precompute, recompute-all");
}

TEST(OptionText, readsPositionsOfFreeParameters) {
  FreeParameters free;
  std::string error;
  EXPECT_TRUE(parseFreeParameters("0,2,5-7", free, error));
  EXPECT_EQ(free.kind, FreeParameters::List);
  EXPECT_EQ(free.indices, (std::vector<unsigned>{0, 2, 5, 6, 7}));
  EXPECT_TRUE(parseFreeParameters("none", free, error));
  EXPECT_EQ(free.kind, FreeParameters::None);
  EXPECT_TRUE(free.indices.empty());
  for (const char *wrong : {"", "x", "3-1", "1,,2", "0-99999999"}) {
    EXPECT_FALSE(parseFreeParameters(wrong, free, error)) << wrong;
    EXPECT_EQ(error, std::string("free parameters are 'auto', 'none' or "
                                 "positions such as '0,2,5-22', not '") +
                         wrong + "'");
  }
}

TEST(OptionText, readsSymbols) {
  llvm::StringMap<int64_t> values;
  std::string error;
  EXPECT_TRUE(parseSymbols({"s0=24", "u1=0"}, values, error));
  EXPECT_EQ(values.lookup("s0"), 24);
  EXPECT_EQ(values.lookup("u1"), 0);
  for (const char *wrong : {"s0", "=3", "s0=x", "s0=-1"}) {
    EXPECT_FALSE(parseSymbols({wrong}, values, error)) << wrong;
    EXPECT_EQ(error, std::string("a symbol is given as NAME=SIZE (s0=24), "
                                 "not '") +
                         wrong + "'");
  }
}

} // namespace
