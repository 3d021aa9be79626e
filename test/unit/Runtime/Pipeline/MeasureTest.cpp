// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces and times of actions that were run.

#include "cutback/Runtime/Pipeline/Measure.h"

#include "gtest/gtest.h"

using namespace cutback::pipeline;

namespace {

MeasuredAction make(ActionKind kind, int stage, int microBatch, double begin,
                    double end) {
  MeasuredAction one;
  one.action.kind = kind;
  one.action.stage = stage;
  one.action.microBatch = microBatch;
  one.begin = begin;
  one.end = end;
  return one;
}

/// Two micro-batches; the second forward waited.
MeasuredStep twoForwards() {
  MeasuredStep step = {make(ActionKind::Forward, 3, 0, 0.001, 0.002),
                       make(ActionKind::Forward, 3, 1, 0.004, 0.007)};
  step[1].waits = {
      {"'value.a\"b' of micro-batch 1 from rank 0", 0.0025, 0.004}};
  return step;
}

TEST(MeasureTest, ATraceHasWaitsApartFromComputing) {
  EXPECT_EQ(traceEventsOf(1, 2, twoForwards()),
            R"({"name": "thread_name", "ph": "M", "pid": 1, "tid": 2, )"
            R"("args": {"name": "rank 2"}},
{"name": "3F0", "cat": "compute", "ph": "X", "pid": 1, "tid": 2, )"
            R"("ts": 1000.000, "dur": 1000.000},
{"name": "wait for 'value.a\"b' of micro-batch 1 from rank 0", "cat": "wait", )"
            R"("ph": "X", "pid": 1, "tid": 2, "ts": 2500.000, "dur": 1500.000},
{"name": "3F1", "cat": "compute", "ph": "X", "pid": 1, "tid": 2, )"
            R"("ts": 4000.000, "dur": 3000.000})");
  EXPECT_DOUBLE_EQ(makespanOf(twoForwards()), 0.007);
  EXPECT_DOUBLE_EQ(computedIn(twoForwards()), 0.004);
  EXPECT_DOUBLE_EQ(waitedIn(twoForwards()), 0.0015);
  EXPECT_EQ(makespanOf({}), 0);
}

TEST(MeasureTest, TimesAreMeansByStageAndKindWithoutWaits) {
  MeasuredStep step = twoForwards();
  step.push_back(make(ActionKind::Backward, 3, 0, 0.010, 0.014));
  step.push_back(make(ActionKind::InputGradients, 3, 1, 0.014, 0.015));
  step.push_back(make(ActionKind::WeightGradients, 3, 1, 0.015, 0.0165));
  step.push_back(make(ActionKind::Forward, 10, 0, 0.02, 0.021));
  std::string of = timesOf(step);
  EXPECT_EQ(of, "3:F=2000.000,I=1000.000,W=1500.000,B=4000.000\n"
                "10:F=1000.000\n");
  EXPECT_EQ(mergeTimes({of, "9:F=1.000\n0:F=2.000\n"}),
            "0:F=2.000\n3:F=2000.000,I=1000.000,W=1500.000,B=4000.000\n"
            "9:F=1.000\n10:F=1000.000\n");
}

TEST(MeasureTest, TheStepOfTheMedianIsChosenWithoutTheFirst) {
  EXPECT_EQ(chooseStep({5}), 0U);
  EXPECT_EQ(chooseStep({1, 9}), 1U);
  EXPECT_EQ(chooseStep({1, 9, 7, 8}), 3U);
  EXPECT_EQ(chooseStep({9, 4, 1, 3, 2}), 4U); // the smaller one of two
}

} // namespace
