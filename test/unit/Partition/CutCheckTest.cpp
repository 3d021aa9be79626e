// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cut of a real problem is accepted; the same with one number changed, or of
// a network that was never finished, is not.

#include "SmallGraph.h"

#include "cutback/Partition/CutCheck.h"
#include "cutback/Partition/RooflineProblem.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class CutCheckTest : public ::testing::Test {
protected:
  CutCheckTest() {
    loadDialects(context);
    context.printOpOnDiagnostic(false);
  }

  std::string messages(const FlowNetwork &network, const MinCut &cut) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        text += " | " + note.str();
    });
    EXPECT_EQ(failed(verifyCut(graphOf(*graph.module), network, cut)),
              !text.empty());
    return text;
  }

  MLIRContext context;
  SmallGraph graph;
};

TEST_F(CutCheckTest, OnlyWhatTheFlowProvesIsAccepted) {
  std::vector<OpPolicy> none;
  RooflineCosts costs;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    ASSERT_TRUE(graph.load(context, SmallGraphText(seed).text()));
    Device device;
    std::string error;
    ASSERT_TRUE(Device::load("cpu", device, error));
    none.assign(graph.view.numOps(), OpPolicy::None);
    costs =
        RooflineCosts::compute(graph.view, *graph.sets, *graph.sizes, device);
    RooflineProblem problem(graph.view, *graph.sets, costs, none);
    ASSERT_EQ(problem.build(0), std::nullopt);
    MaxFlowSolver solver;
    MinCut cut;
    ASSERT_EQ(solver.solve(problem.network(), cut), MinCutStatus::Solved);
    EXPECT_EQ(messages(problem.network(), cut), "");
    ++cut.value;
    std::string refused = messages(problem.network(), cut);
    EXPECT_EQ(refused.find("'joint.graph' op the minimum cut is not proved by "
                           "its flow: "),
              0u)
        << refused;
    EXPECT_NE(refused.find("this is a defect of the program; another solver "
                           "(--solver) may do"),
              std::string::npos);
  }
}

TEST_F(CutCheckTest, ANetworkThatIsNotFinishedHasNoCut) {
  ASSERT_TRUE(graph.load(context, SmallGraphText(0).text()));
  FlowNetwork network;
  network.addArc(kSource, kSink, 1);
  MaxFlowSolver solver;
  MinCut cut;
  ASSERT_EQ(solver.solve(network, cut), MinCutStatus::NotFinished);
  EXPECT_NE(messages(network, cut), "");
}

} // namespace
