// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank runs its row, action by action:
//
//   1. receives for this action and the next one are posted
//   2. it waits for those of this action, so that computing is measured alone
//   3. the phases of the action run (RankStep.cpp)
//   4. what was sent and has arrived is let go
//
// and after its row adds the gradients of parameters that several stages have.
// All phases of a rank share one arena, as large as the largest: one runs at a
// time. Bubbles, sends and receives of a schedule are left out: a rank waits
// where a value is not there yet.

#include "RankStage.h"

#include "cutback/Runtime/Pipeline/BatchSplit.h"
#include "cutback/Runtime/Pipeline/Sums.h"

#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

int64_t pipeline::seedOfMicroBatch(int64_t seed, int64_t microBatch) {
  return static_cast<int64_t>(static_cast<uint64_t>(seed) +
                              static_cast<uint64_t>(microBatch));
}

Rank::Rank(const Pipeline &pipeline, const Schedule &schedule, Peers &peers,
           const RankOptions &options)
    : pipeline(pipeline), schedule(schedule), peers(peers), options(options),
      exchange(pipeline, schedule, peers, slotCount, options.firstSmaller) {
  for (BlockCount *count : {&slotCount, &sumCount, &keptCount})
    count->memory = options.memory;
  const Row &row = schedule.rows[peers.transport.rank()];
  for (size_t step = 0; step < row.size(); ++step)
    if (row[step] && isCompute(row[step]->kind))
      forEachPart(*row[step], [&](const Action &part) {
        actionsToRun.emplace_back(static_cast<int>(step), part);
      });
}

Rank::~Rank() = default;

std::string Rank::fail(const std::string &what) {
  isOwn = true;
  return what;
}

double Rank::shareOf(int64_t number) const {
  return numbers.shares.empty() ? 1.0 / static_cast<double>(allMicroBatches())
                                : numbers.shares[number];
}

Extent Rank::extentOf(int microBatch) const {
  return numbers.extents.empty()
             ? Extent::All
             : numbers.extents[firstMicroBatch() + microBatch];
}

Rank::Mode Rank::modeOf(const Stage &stage, int microBatch) const {
  return extentOf(microBatch) == Extent::All ? stage.modes[microBatch]
                                             : StagePlan::Evaluation;
}

Rank::SizedStage &Rank::sizeOf(Stage &stage, int microBatch) const {
  return microBatch < options.firstSmaller ? stage : *stage.smaller;
}

int64_t Rank::elementsBefore(int64_t microBatch, int64_t larger,
                             int64_t smaller) const {
  return cutback::elementsBefore(microBatch, options.firstSmaller, larger,
                                 smaller);
}

/// The phases of an action. Of a stage whose backward is not split I is all of
/// it, and W nothing.
std::vector<PipelineStage::PhaseKind> Rank::phasesOf(const Stage &stage,
                                                     ActionKind kind) const {
  std::vector<PipelineStage::PhaseKind> wanted;
  if (kind == ActionKind::Forward)
    wanted = {PipelineStage::Forward};
  else if (stage.isWhole && kind != ActionKind::Backward)
    wanted = kind == ActionKind::InputGradients
                 ? std::vector{PipelineStage::Backward}
                 : std::vector<PipelineStage::PhaseKind>();
  else if (kind == ActionKind::InputGradients)
    wanted = {PipelineStage::Input};
  else if (kind == ActionKind::WeightGradients)
    wanted = {PipelineStage::Weight};
  else if (stage.plan.modeOfWhole() == StagePlan::Whole)
    wanted = {PipelineStage::Backward};
  else
    wanted = {PipelineStage::Input, PipelineStage::Weight};
  return wanted;
}

//===----------------------------------------------------------------------===//
// The row
//===----------------------------------------------------------------------===//

/// What an action takes of other stages.
std::vector<Rank::Message> Rank::messagesOf(const Action &action) const {
  Stage &stage = *stages.at(action.stage);
  std::vector<Message> all;
  if (action.kind == ActionKind::Forward) {
    for (int edge : exchange.into(action.stage))
      all.emplace_back(edge, Exchange::Value);
    return all;
  }
  Mode mode = modeOf(stage, action.microBatch);
  int first = sizeOf(stage, action.microBatch).plan.firstWithTangents(mode);
  if (first < 0)
    return all;
  PipelineStage::PhaseKind taker = StagePlan::phasesOf(mode)[first];
  // Which phase takes them other ranks do not know.
  bool isOrdered = peers.transport.isOrdered();
  std::vector<PipelineStage::PhaseKind> kinds = phasesOf(stage, action.kind);
  if (isOrdered)
    kinds = {makesInputGradients(action.kind) ? taker : PipelineStage::Forward};
  for (PipelineStage::PhaseKind kind : kinds)
    if (kind == taker)
      for (int edge : exchange.outOf(action.stage))
        if (exchange.edges()[edge].hasGradient)
          all.emplace_back(edge, Exchange::Gradient);
  return all;
}

void Rank::postFor(const Action &action) {
  for (auto [edge, direction] : messagesOf(action))
    exchange.post(edge, action.microBatch, direction);
}

std::string Rank::waitFor(const Action &action,
                          std::vector<MeasuredWait> &waits) {
  for (auto [edge, direction] : messagesOf(action)) {
    if (!exchange.isMessage(edge, direction))
      continue;
    MeasuredWait one;
    one.what = exchange.describe(edge, action.microBatch, direction);
    one.begin = seconds();
    std::string error = exchange.wait(edge, action.microBatch, direction);
    one.end = seconds();
    if (!error.empty())
      return error;
    waits.push_back(std::move(one));
  }
  return "";
}

/// Since the step began.
double Rank::seconds() const {
  return std::chrono::duration<double>(Waiter::Clock::now() - stepStart)
      .count();
}

/// Written buffers of a stage, by number in `kept`.
std::map<size_t, std::string> Rank::copyWritten(const Stage &stage) const {
  std::map<size_t, std::string> copies;
  for (size_t i = 0; i < stage.plan.kept.size(); ++i)
    if (stage.plan.isWritten[i])
      copies[i].assign(stage.kept[i], bytesOf(stage.plan.kept[i]));
  return copies;
}

std::string Rank::run(const Action &action) {
  Stage &stage = *stages.at(action.stage);
  std::string error;
  std::map<size_t, std::string> before;
  if (numbers.keepsBuffers)
    before = copyWritten(stage);
  if (action.kind == ActionKind::Forward)
    error = collectReceives(stage, action.microBatch);
  for (PipelineStage::PhaseKind kind : phasesOf(stage, action.kind))
    if (error.empty())
      error = runPhase(stage, action.microBatch, kind);
  for (const auto &[number, bytes] : before)
    std::memcpy(stage.kept[number], bytes.data(), bytes.size());
  Mode mode = modeOf(stage, action.microBatch);
  if (mode == StagePlan::Evaluation || makesWeightGradients(action.kind))
    stage.open.erase(action.microBatch);
  return error;
}

/// The actions of the row that run in this step. Those that are left out are
/// so on all ranks: what waits for what is as in the whole schedule.
std::vector<std::pair<int, Action>> Rank::actionsOfStep() const {
  std::vector<std::pair<int, Action>> chosen;
  for (const auto &one : actionsToRun) {
    Extent extent = extentOf(one.second.microBatch);
    if (extent == Extent::All ||
        (extent == Extent::Forward && one.second.kind == ActionKind::Forward))
      chosen.push_back(one);
  }
  return chosen;
}

std::string Rank::step(const FindTensor &given) {
  inputs = &given;
  isOwn = false;
  measured.clear();
  lossBytes.assign(stages.count(static_cast<int>(pipeline.lossStage))
                       ? schedule.microBatches
                       : 0,
                   "");
  for (auto &[number, stage] : stages) {
    stage->open.clear();
    stage->sums.assign(stage->of->parameters.size(), nullptr);
    stage->outputs.assign(stage->of->outputs.size(), nullptr);
    stage->outputSizes.assign(stage->of->outputs.size(), {});
  }
  stepStart = Waiter::Clock::now();
  std::vector<std::pair<int, Action>> chosen = actionsOfStep();
  for (size_t i = 0; i < chosen.size(); ++i) {
    const auto &[step, action] = chosen[i];
    peers.begin(step);
    postFor(action);
    if (i + 1 < chosen.size())
      postFor(chosen[i + 1].second);
    MeasuredAction one;
    one.action = action;
    std::string error = waitFor(action, one.waits);
    one.begin = seconds();
    if (error.empty())
      error = run(action);
    if (error.empty())
      error = exchange.poll();
    if (!error.empty())
      return error;
    one.end = seconds();
    measured.push_back(std::move(one));
  }
  peers.begin(static_cast<int>(schedule.rows[peers.transport.rank()].size()));
  std::string error = addReplicas();
  if (error.empty())
    error = addOverReplicas();
  divideMeans();
  return error.empty() ? exchange.finish() : error;
}

//===----------------------------------------------------------------------===//
// After the row
//===----------------------------------------------------------------------===//

void Rank::divideMeans() {
  for (auto &[number, stage] : stages)
    for (size_t i = 0; i < stage->outputs.size(); ++i)
      if (stage->outputs[i] &&
          stage->of->outputs[i].merge == PipelineOutput::Mean)
        scale(stage->of->outputs[i].dtype, stage->outputs[i]->data(),
              1.0 / static_cast<double>(allMicroBatches()),
              stage->outputs[i]->bytes());
}

BlockRef &Rank::sumOf(int64_t number, const PipelineParameter &parameter) {
  Stage &stage = *stages.at(static_cast<int>(number));
  size_t i = 0;
  while (stage.of->parameters[i].name != parameter.name)
    ++i;
  return stage.sums[i];
}

std::string Rank::waitForSum(const PipelineParameter &parameter, int rank,
                             int64_t tag, Block &block) {
  return peers.wait(exchange.receiveOther(rank, tag, block),
                    "the gradient of '" + parameter.name + "' from rank " +
                        std::to_string(peers.transport.numberOf(rank)));
}

/// The sums of all stages to the rank of the first one, which adds them in the
/// order of stages to `sum`.
std::string Rank::gatherReplica(const PipelineParameter &parameter, int64_t tag,
                                BlockRef &sum) {
  int own = peers.transport.rank();
  int root = schedule.rankOfStage[parameter.replicatedIn.front()];
  int64_t bytes = bytesOf(parameter);
  for (int64_t stage : parameter.replicatedIn) {
    int rank = schedule.rankOfStage[stage];
    if (!hasGradient(pipeline.stages[stage], parameter.name))
      continue;
    if (rank == own && own != root)
      exchange.sendOther(root, tag + 2 * stage, sumOf(stage, parameter));
    if (own != root)
      continue;
    BlockRef part =
        rank == own ? sumOf(stage, parameter) : Block::make(bytes, sumCount);
    std::string error;
    if (rank != own)
      error = waitForSum(parameter, rank, tag + 2 * stage, *part);
    if (!error.empty())
      return error;
    if (!sum)
      sum = part;
    else
      addTo(parameter.dtype, sum->data(), part->data(), bytes);
  }
  return "";
}

/// A parameter of several stages: sums go to the rank of the first one, are
/// added there, and the sum goes to all ranks, once each; stages of one rank
/// share it.
std::string Rank::addReplica(const PipelineParameter &parameter,
                             int64_t number) {
  int own = peers.transport.rank();
  int root = schedule.rankOfStage[parameter.replicatedIn.front()];
  int64_t tag = number * 2 * static_cast<int64_t>(pipeline.stages.size());
  BlockRef sum;
  std::string error = gatherReplica(parameter, tag, sum);
  std::vector<bool> hasIt(peers.transport.size(), false);
  for (int64_t stage : parameter.replicatedIn) {
    int rank = schedule.rankOfStage[stage];
    if (!error.empty())
      return error;
    if (own == root && rank != own && !hasIt[rank])
      exchange.sendOther(rank, tag + 2 * stage + 1, sum);
    if (own != root && rank == own && !hasIt[rank]) {
      sum = Block::make(bytesOf(parameter), sumCount);
      error = waitForSum(parameter, root, tag + 2 * stage + 1, *sum);
    }
    hasIt[rank] = true;
    if (rank == own)
      sumOf(stage, parameter) = sum;
  }
  return error;
}

std::string Rank::addReplicas() {
  if (!schedule.hasBackward() || !makesGradients(/*ofAll=*/false))
    return "";
  int64_t number = 0;
  for (size_t first = 0; first < pipeline.stages.size(); ++first)
    for (const PipelineParameter &parameter :
         pipeline.stages[first].parameters) {
      const std::vector<int64_t> &all = parameter.replicatedIn;
      bool hasGradient = false, isHere = false;
      for (int64_t stage : all) {
        isHere |= schedule.rankOfStage[stage] == peers.transport.rank();
        for (const PipelineParameter &one : pipeline.stages[stage].parameters)
          hasGradient |= one.name == parameter.name && !one.gradient.empty();
      }
      if (!hasGradient || all.front() != static_cast<int64_t>(first))
        continue;
      ++number;
      if (!isHere)
        continue;
      if (std::string error = addReplica(parameter, number); !error.empty())
        return error;
    }
  return "";
}

std::vector<RankTensor> Rank::results() const {
  std::vector<RankTensor> all;
  auto add = [&](const ArtifactTensor &tensor, const std::string &name,
                 const char *bytes) {
    RankTensor &one = all.emplace_back();
    static_cast<ArtifactTensor &>(one) = tensor;
    one.name = name;
    one.bytes = bytes;
  };
  for (const auto &[number, stage] : stages) {
    for (size_t i = 0; i < stage->outputs.size(); ++i)
      if (stage->outputs[i]) {
        add(stage->of->outputs[i], stage->of->outputs[i].name,
            stage->outputs[i]->data());
        all.back().sizes = stage->outputSizes[i];
      }
    for (size_t i = 0; i < stage->sums.size(); ++i) {
      const PipelineParameter &parameter = stage->of->parameters[i];
      bool isFirst = parameter.replicatedIn.empty() ||
                     parameter.replicatedIn.front() == number;
      // The first stage may have no gradient of its own.
      std::string name = parameter.gradient;
      for (int64_t other : parameter.replicatedIn)
        for (const PipelineParameter &one : pipeline.stages[other].parameters)
          if (one.name == parameter.name && name.empty())
            name = one.gradient;
      if (!stage->sums[i] || !isFirst)
        continue;
      add(parameter, name, stage->sums[i]->data());
      for (const std::string &alias : parameter.aliases)
        add(parameter, kGradientPrefix + alias.substr(alias.find('.') + 1),
            stage->sums[i]->data());
    }
    for (size_t i = 0; i < stage->plan.kept.size(); ++i)
      if (stage->plan.isWritten[i])
        add(stage->plan.kept[i], stage->plan.kept[i].name, stage->kept[i]);
  }
  return all;
}
