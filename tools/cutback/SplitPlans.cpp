// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of stages. Each has several, by what a saved byte is worth: the one
// that takes the least time, or, with --stage-memory, those that fit a schedule
// together (Pipelining/FitStages.h). A plan is made when it is first asked for,
// at most one for each stage and level.

#include "Splitter.h"

#include "PlanRun.h"

#include "cutback/Schedule/Check.h"
#include "cutback/Schedule/Generate.h"
#include "cutback/Support/Text.h"

using namespace mlir;

namespace cutback {

StagePlanRequest Splitter::requestAt(unsigned stage, unsigned level) const {
  StagePlanRequest wanted{optionsOf[stage], request.isWhole};
  std::optional<BytePrice> &price = wanted.partition.bytePrice;
  if (level > 0)
    price = (price && !price->isZero() ? *price : BytePrice::ownTimes(1))
                .times(kLevels[level]);
  return wanted;
}

/// Null, after an error, where there is none.
const PlannedStage *Splitter::planAt(unsigned stage, unsigned level) {
  auto [entry, isNew] = plans.try_emplace({stage, level});
  if (isNew) {
    FailureOr<PlannedStage> planned =
        cutback::planStage(stages, stage, facts, requestAt(stage, level));
    if (succeeded(planned))
      entry->second = std::move(*planned);
  }
  return entry->second ? &*entry->second : nullptr;
}

/// What a plan takes: time of the phases that run, and bytes that it keeps.
static std::pair<int64_t, int64_t> figuresOf(const PipelineStage &stage,
                                             Backwards backwards) {
  const auto &phases = stage.phases;
  int64_t forward = phases[PipelineStage::Forward].picoseconds;
  int64_t whole = phases[PipelineStage::Backward].picoseconds;
  int64_t apart = phases[PipelineStage::Input].picoseconds +
                  phases[PipelineStage::Weight].picoseconds;
  if (backwards == Backwards::Whole)
    return {forward + whole, stage.forwardSavedBytes};
  return {forward +
              (backwards == Backwards::Apart ? apart : std::max(apart, whole)),
          stage.forwardSavedBytes + stage.inputSavedBytes};
}

/// The cuts go by a price of ops one by one; what counts is kernels. So the
/// plans of all levels are compared, and those go that another one beats in
/// time and bytes. Of a large stage the first alone, unless memory is short.
/// From the fastest to that which keeps the least; empty without a plan.
std::vector<unsigned> Splitter::findFront(unsigned stage, Backwards backwards) {
  std::vector<unsigned> front;
  const PlannedStage *first = planAt(stage, 0);
  if (!first)
    return front;
  bool isForward = first->phases.size() == 1;
  joint::GraphOp graph = stages.stages[stage];
  bool isLarge = llvm::range_size(graph.getBlock()) > 20'000;
  unsigned count =
      isForward || (isLarge && !request.memoryLimit) ? 1 : std::size(kLevels);
  std::vector<std::tuple<int64_t, int64_t, unsigned>> all;
  for (unsigned level = 0; level < count; ++level)
    if (const PlannedStage *planned = planAt(stage, level)) {
      auto [ps, bytes] = figuresOf(planned->stage, backwards);
      all.emplace_back(ps, bytes, level);
    }
  std::sort(all.begin(), all.end());
  int64_t least = INT64_MAX;
  for (auto [ps, bytes, level] : all)
    if (bytes < least) {
      least = bytes;
      front.push_back(level);
    }
  return front;
}

const pipeline::StageCosts *Splitter::costsAt(unsigned stage, unsigned level) {
  auto [entry, isNew] = costs.try_emplace({stage, level});
  if (isNew) {
    Pipeline alone;
    alone.stages.push_back(planAt(stage, level)->stage);
    alone.stages[0].receives.clear();
    entry->second = costsOf(alone).stages[0];
  }
  return &entry->second;
}

int Splitter::planStages() {
  session.progress.step("planning stages");
  facts.splitDims = request.splitDims;
  facts.tiedNames = [this](StringRef name) {
    return imported.weights ? imported.weights->findTied(name)
                            : std::vector<std::string>();
  };
  levels.assign(stages.stages.size(), 0);
  for (unsigned stage = 0; stage < stages.stages.size(); ++stage) {
    std::vector<unsigned> front = findFront(stage, Backwards::Either);
    if (front.empty())
      return inputAllowsPlan(stages.stages[stage], optionsOf[stage])
                 ? NoPlan
                 : WrongInput;
    levels[stage] = front.front();
  }
  return request.memoryLimit ? fit() : Done;
}

/// A price of a byte for each stage, from its front; its levels are those of
/// planAt().
std::optional<FittedStages>
Splitter::fitPrices(const pipeline::Schedule &schedule, StageLevels search,
                    bool isApart, std::string &why) {
  std::vector<std::vector<unsigned>> fronts;
  search.levels = 0;
  for (unsigned stage = 0; stage < search.stages; ++stage) {
    fronts.push_back(
        findFront(stage, isApart ? Backwards::Apart : Backwards::Whole));
    search.levels = std::max<unsigned>(search.levels, fronts.back().size());
  }
  auto levelOf = [&](unsigned stage, unsigned place) {
    return fronts[stage][std::min<size_t>(place, fronts[stage].size() - 1)];
  };
  auto costsOfStage = [&](unsigned stage, unsigned place) {
    return costsAt(stage, levelOf(stage, place));
  };
  search.costsOf = costsOfStage;
  auto found = fitStages(search, schedule, *request.memoryLimit, why);
  if (found)
    for (unsigned stage = 0; stage < search.stages; ++stage)
      found->levels[stage] = levelOf(stage, found->levels[stage]);
  return found;
}

/// Levels for one schedule, where they are better than those for another.
int Splitter::fitTo(const pipeline::Schedule &schedule, std::string &why) {
  Pipeline first;
  for (unsigned stage = 0; stage < stages.stages.size(); ++stage)
    first.stages.push_back(planAt(stage, 0)->stage);
  if (auto error = checkPhases(schedule, first)) {
    why = error->message;
    return NoPlan;
  }
  bool isApart = false;
  for (const pipeline::Row &row : schedule.rows)
    for (const auto &action : row)
      isApart |=
          action && action->kind == pipeline::ActionKind::WeightGradients;
  StageLevels search;
  search.stages = stages.stages.size();
  search.crossings = costsOf(first).crossings;
  search.link.bytesPerSecond = request.choice.bandwidth * 1e9;
  auto found = fitPrices(schedule, search, isApart, why);
  // One price for all may be a plan that its stage has no use for alone.
  auto costsAtPrice = [&](unsigned stage, unsigned level) {
    return planAt(stage, level) ? costsAt(stage, level) : nullptr;
  };
  search.levels = std::size(kLevels);
  search.costsOf = costsAtPrice;
  auto alike = fitAlike(search, schedule, *request.memoryLimit);
  std::optional<double> alikePs;
  if (alike)
    alikePs = alike->simulation.makespan;
  if (alike &&
      (!found || alike->simulation.makespan < found->simulation.makespan))
    found = std::move(alike);
  if (!found)
    return NoPlan;
  if (fitted && fitted->simulation.makespan <= found->simulation.makespan)
    return Done;
  fitted = std::move(found);
  levels = fitted->levels;
  program.schedule = schedule.name;
  program.alikePs = alikePs;
  return Done;
}

int Splitter::fit() {
  std::vector<std::string> names;
  if (request.schedule)
    names = {*request.schedule};
  else
    for (std::string_view name : pipeline::scheduleNames())
      names.emplace_back(name);
  std::string why;
  for (const std::string &name : names) {
    pipeline::Shape shape;
    int count = static_cast<int>(stages.stages.size());
    shape.stagesPerRank = pipeline::usualStagesPerRank(name);
    if (!request.schedule)
      shape.stagesPerRank = 1; // equal ranks for all that are compared
    shape.ranks = request.ranks.value_or(count / shape.stagesPerRank);
    shape.microBatches = request.microBatches.value_or(2 * shape.ranks);
    if (request.ranks)
      shape.stagesPerRank = count / std::max(1, shape.ranks);
    pipeline::ScheduleError error;
    std::optional<pipeline::Schedule> schedule;
    if (shape.ranks > 0 && shape.ranks * shape.stagesPerRank == count)
      schedule = pipeline::generate(name, shape, error);
    else
      error.message = name + " has not " + formatCount(count, "stage") +
                      " on " + formatCount(shape.ranks, "rank");
    if (schedule)
      (void)fitTo(*schedule, why);
    else if (request.schedule)
      why = error.message;
  }
  if (fitted)
    return Done;
  session.error(why);
  session.note("give more --stage-memory, more --stages, fewer "
               "--micro-batches, or another --schedule");
  return NoPlan;
}

} // namespace cutback
