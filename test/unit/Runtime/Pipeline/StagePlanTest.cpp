// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the names of phases are, and phases that do not go together: each
// message is provoked by a change of a stage that is right.

#include "SyntheticStages.h"

#include "gtest/gtest.h"

#include <functional>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

/// A phase of tensors alone.
class ListedPhase : public PhaseRunner {
public:
  std::vector<ArtifactArgument> &arguments() { return taken; }
  std::vector<ArtifactTensor> &results() { return made; }
  int64_t arenaBytes() const override { return 0; }
  std::string run(const std::vector<char *> &,
                  const std::vector<char *> &) override {
    return "";
  }
  std::string read(size_t, char *) override { return ""; }
};
using Phases = std::array<ListedPhase *, PipelineStage::kPhases>;

/// Stage 1 of three, as it is or after a change: what make() says, or check().
struct Planned {
  explicit Planned(const std::function<void(Phases &)> &change =
                       [](Phases &) {})
      : stages(3, 4) {
    StepError error;
    Phases listed = {};
    for (int kind : {0, 1, 2, 3}) {
      auto of = static_cast<PipelineStage::PhaseKind>(kind);
      auto given = stages.open()(1, of, error);
      auto phase = std::make_unique<ListedPhase>();
      phase->arguments() = static_cast<const PhaseRunner &>(*given).arguments();
      phase->results() = static_cast<const PhaseRunner &>(*given).results();
      listed[kind] = phase.get();
      runners[kind] = std::move(phase);
    }
    change(listed);
    problem = plan.make(stages.pipeline, 1, runners);
    for (int mode = 0; mode < StagePlan::kModes && problem.empty(); ++mode)
      problem = plan.check(static_cast<StagePlan::Mode>(mode));
  }

  SyntheticStages stages;
  StagePhases runners;
  StagePlan plan;
  std::string problem;
};

template <typename List>
typename List::value_type &named(List &list, const std::string &name) {
  for (auto &one : list)
    if (one.name == name)
      return one;
  ADD_FAILURE() << name;
  return list.front();
}

template <typename List> void drop(List &list, const std::string &name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return void(list.erase(list.begin() + i));
  ADD_FAILURE() << name;
}

std::string problemOf(const std::function<void(Phases &)> &change) {
  return Planned(change).problem;
}

TEST(StagePlanTest, SlotsAreKeptUntilTheirLastUse) {
  Planned planned;
  ASSERT_EQ(planned.problem, "");
  auto lastUse = [&](const std::string &name) {
    return named(planned.plan.slots, name).lastUse;
  };
  using Uses = std::array<int, StagePlan::kModes>;
  EXPECT_EQ(lastUse("value.0_0"), (Uses{0, 0, 0}));
  EXPECT_EQ(lastUse("saved.h"), (Uses{-1, 1, 2})); // read by the weights alone
  EXPECT_EQ(lastUse("saved.t"), (Uses{-1, -1, 2}));
  EXPECT_EQ(lastUse("tangent.value.1_0"), (Uses{-1, 1, 1}));
  EXPECT_EQ(planned.plan.firstWithTangents(StagePlan::Split), 1);
  // The forward writes the buffer, and the backward reads what it was.
  EXPECT_EQ(lastUse("buffer.1"), (Uses{-1, 1, 2}));
}

TEST(StagePlanTest, WhatNothingMakesOrTakesIsRefused) {
  EXPECT_EQ(problemOf([](Phases &p) { drop(p[0]->results(), "saved.h"); }),
            "phase 'backward' takes 'saved.h', which nothing before it makes, "
            "in stage 1");
  EXPECT_EQ(problemOf([](Phases &p) { drop(p[2]->results(), "saved.t"); }),
            "phase 'weight' takes 'saved.t', which nothing before it makes, in "
            "stage 1");
  // Of the whole backward alone.
  EXPECT_EQ(problemOf([](Phases &p) {
              p[1]->results().push_back(p[2]->results().back());
              drop(p[2]->results(), "saved.t");
            }),
            "phase 'weight' takes 'saved.t', which nothing before it makes, in "
            "stage 1 with a split backward");
  EXPECT_EQ(problemOf([](Phases &p) { drop(p[0]->results(), "value.1_0"); }),
            "no phase makes 'value.1_0', in stage 1");
  EXPECT_EQ(problemOf([](Phases &p) { drop(p[3]->results(), "grad.1"); }),
            "no phase makes 'grad.1', in stage 1 with a split backward");
  EXPECT_EQ(problemOf([](Phases &p) {
              p[2]->results().push_back(named(p[3]->results(), "grad.1"));
            }),
            "two phases make 'grad.1', in stage 1 with a split backward");
  EXPECT_EQ(
      problemOf([](Phases &p) { drop(p[1]->results(), "grad.value.0_0"); }),
      "no phase makes 'grad.value.0_0', in stage 1 with a whole backward");
  EXPECT_EQ(problemOf([](Phases &p) {
              drop(p[1]->arguments(), "tangent.value.1_0");
            }),
            "no phase takes 'tangent.value.1_0', in stage 1 with a whole "
            "backward");
}

TEST(StagePlanTest, OtherTypesAndWritesAreRefused) {
  EXPECT_EQ(
      problemOf(
          [](Phases &p) { named(p[0]->arguments(), "param.1").dtype = "f64"; }),
      "a phase has another 'param.1' than pipeline.json says, in stage 1");
  EXPECT_EQ(problemOf([](Phases &p) {
              named(p[1]->arguments(), "param.1").isWritten = true;
            }),
            "phase 'backward' writes 'param.1', in stage 1");
  EXPECT_EQ(
      problemOf([](Phases &p) {
        named(p[0]->arguments(), "value.0_0").isWritten = true;
      }),
      "phase 'forward' writes 'value.0_0', which others read, in stage 1");
  EXPECT_EQ(problemOf([](Phases &p) {
              named(p[0]->arguments(), "value.0_0").sizes = {1};
            }),
            "phase 'forward' takes 'value.0_0' of another size than it has, in "
            "stage 1");
  EXPECT_EQ(problemOf([](Phases &p) {
              named(p[1]->results(), "grad.1").dtype = "f64";
            }),
            "a phase makes 'grad.1' of another type or size, in stage 1");
  EXPECT_EQ(problemOf([](Phases &p) {
              named(p[1]->results(), "grad.value.0_0").sizes = {1};
            }),
            "a phase makes 'grad.value.0_0' of another size, in stage 1");
  EXPECT_EQ(problemOf([](Phases &p) {
              p[1]->results().push_back(p[1]->results().front());
              p[1]->results().back().name = "tangent.value.1_0";
            }),
            "a phase makes 'tangent.value.1_0', which comes from elsewhere, in "
            "stage 1");
}

} // namespace
