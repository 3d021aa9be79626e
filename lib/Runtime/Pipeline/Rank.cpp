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
//
// Before the first step it is found out whether each name has a maker and each
// micro-batch a mode; a schedule whose forwards of a stage are not in the order
// of micro-batches is refused where a stage writes buffers.

#include "RankStage.h"

#include "cutback/Runtime/Pipeline/BatchSplit.h"
#include "cutback/Runtime/Pipeline/PipelineCosts.h"
#include "cutback/Runtime/Pipeline/Sums.h"
#include "cutback/Support/Text.h"

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
// Opening
//===----------------------------------------------------------------------===//

/// Parameters and buffers: those that are written are copied, and so is what
/// is where kernels cannot read it.
bool Rank::findKept(Stage &stage, const FindTensor &weights, StepError &error) {
  for (size_t i = 0; i < stage.plan.kept.size(); ++i) {
    const ArtifactTensor &wanted = stage.plan.kept[i];
    char *&address = kept[wanted.name];
    if (!address) {
      auto given = weights(wanted.name);
      if (!given) {
        error = {"there is no tensor '" + wanted.name + "', which stage " +
                     std::to_string(stage.number) + " takes",
                 "--weights takes a safetensors file with it"};
        return false;
      }
      if (given->dtype != wanted.dtype || given->sizes != wanted.sizes) {
        error = {"tensor '" + wanted.name +
                     "' has another type or size than in the model",
                 "give the weights of the model that was split"};
        return false;
      }
      address = const_cast<char *>(given->bytes);
      bool isAligned = reinterpret_cast<uintptr_t>(address) % 16 == 0;
      if (stage.plan.isWritten[i] || !isAligned || options.isTraining ||
          options.memory) {
        BlockRef copy = Block::make(bytesOf(wanted), keptCount);
        if (copy->bytes())
          std::memcpy(copy->data(), given->bytes, copy->bytes());
        address = copy->data();
        ownKept[wanted.name] = copy;
      }
    }
    stage.kept.push_back(address);
  }
  return true;
}

/// Where messages go in an order, all ranks take it that gradients are made
/// with the first action of a backward.
std::string Rank::checkOrder(const Stage &stage) const {
  if (!peers.transport.isOrdered())
    return "";
  for (const SizedStage *size :
       {static_cast<const SizedStage *>(&stage),
        static_cast<const SizedStage *>(stage.smaller.get())})
    if (size)
      for (const StagePlan::Result &result :
           size->plan.phases[PipelineStage::Weight].results)
        if (result.receive >= 0)
          return "the weight phase of stage " + std::to_string(stage.number) +
                 " makes '" + kGradientPrefix +
                 size->of->receives[result.receive].name +
                 "', which is sent before it runs";
  return "";
}

/// The modes of micro-batches, and whether the stage can run in them.
bool Rank::checkStage(Stage &stage, StepError &error) {
  bool hasBackward = schedule.hasBackward();
  stage.modes.assign(schedule.microBatches, !hasBackward ? StagePlan::Evaluation
                                            : stage.isWhole ? StagePlan::Whole
                                                            : StagePlan::Split);
  int lastForward = -1;
  bool inOrder = true;
  for (const auto &[step, action] : actionsToRun) {
    if (action.stage != stage.number)
      continue;
    if (action.kind == ActionKind::Backward)
      stage.modes[action.microBatch] = stage.plan.modeOfWhole();
    if (action.kind == ActionKind::Forward) {
      inOrder &= action.microBatch > lastForward;
      lastForward = action.microBatch;
    }
  }
  std::string what = checkOrder(stage);
  for (int i = 0; i < schedule.microBatches && what.empty(); ++i)
    what = sizeOf(stage, i).plan.check(stage.modes[i]);
  for (int i = 0; i < schedule.microBatches && what.empty(); ++i)
    if (options.mayEvaluate)
      what = sizeOf(stage, i).plan.check(StagePlan::Evaluation);
  for (const PipelineBuffer &buffer : stage.of->buffers)
    if (what.empty() && buffer.isWritten && !inOrder)
      what = "stage " + std::to_string(stage.number) + " writes '" +
             buffer.name + "', and " + schedule.name +
             " does not run its micro-batches in their order";
  if (what.empty())
    return true;
  error = {what, "split the model again, or take another schedule"};
  return false;
}

/// Opens phases, for micro-batches of one size.
bool Rank::openSize(Stage &stage, SizedStage &size,
                    const std::vector<PipelineStage::PhaseKind> &wanted,
                    const OpenPhase &openPhase, StepError &error) {
  for (PipelineStage::PhaseKind kind : wanted) {
    if (!size.of->phases[kind])
      continue;
    size.runners[kind] = openPhase(stage.number, kind, error);
    if (!size.runners[kind])
      return false;
    size.runners[kind]->setThreads(options.threads);
    countArena(*size.runners[kind]);
  }
  std::string what =
      size.plan.make(pipeline, stage.number, size.runners, &size != &stage);
  if (what.empty())
    return true;
  error = {what, "split the model again: its folder is of several splits"};
  return false;
}

bool Rank::openStage(int number, const OpenPhase &openPhase, StepError &error) {
  auto &stage = *(stages[number] = std::make_unique<Stage>());
  stage.number = number;
  stage.of = &pipeline.stages[number];
  std::vector<PipelineStage::PhaseKind> wanted = {PipelineStage::Forward};
  bool hasSplit = false, hasWhole = false;
  for (const auto &[step, action] : actionsToRun) {
    hasWhole |= action.stage == number && action.kind == ActionKind::Backward;
    hasSplit |=
        action.stage == number && (action.kind == ActionKind::InputGradients ||
                                   action.kind == ActionKind::WeightGradients);
  }
  bool hasBackward = bool(stage.of->phases[PipelineStage::Backward]);
  stage.isWhole = hasBackward && !stage.of->phases[PipelineStage::Input] &&
                  !stage.of->phases[PipelineStage::Weight];
  if (hasBackward && (hasWhole || stage.isWhole))
    wanted.push_back(PipelineStage::Backward);
  if (hasSplit || (hasWhole && !hasBackward))
    wanted.insert(wanted.end(), {PipelineStage::Input, PipelineStage::Weight});
  if (!openSize(stage, stage, wanted, openPhase, error))
    return false;
  if (options.firstSmaller < schedule.microBatches) {
    stage.smaller = std::make_unique<SizedStage>();
    stage.smaller->of = &pipeline.smaller[number];
    if (!openSize(stage, *stage.smaller, wanted, options.openSmaller, error))
      return false;
  }
  if (options.isTraining && !openUpdate(stage, openPhase, error))
    return false;
  if (number == pipeline.lossStage)
    for (const ArtifactTensor &made :
         stage.runners[PipelineStage::Forward]->results())
      if (made.name == pipeline.loss)
        loss = made;
  return checkStage(stage, error);
}

void Rank::countArena(const PhaseRunner &runner) {
  if (runner.hasOwnArena())
    ownArenas += runner.arenaBytes();
  else
    arenaSize = std::max(arenaSize, runner.arenaBytes());
}

/// One arena for all phases, at a multiple of 256 bytes; of this machine's
/// memory NaN where nothing was written.
void Rank::shareArena() {
  if (arenaSize == 0)
    return;
  arena = Block::make(arenaSize + 256, keptCount);
  if (!options.memory)
    std::memset(arena->data(), 0xFF, arena->bytes());
  uintptr_t at = (reinterpret_cast<uintptr_t>(arena->data()) + 255) / 256 * 256;
  for (auto &[number, stage] : stages)
    for (auto &runner : stage->runners)
      if (runner)
        runner->setArena(reinterpret_cast<char *>(at));
  for (auto &[number, stage] : stages)
    if (stage->smaller)
      for (auto &runner : stage->smaller->runners)
        if (runner)
          runner->setArena(reinterpret_cast<char *>(at));
}

bool Rank::open(const OpenPhase &openPhase, const FindTensor &weights,
                StepError &error) {
  if (std::string what = exchange.check(); !what.empty()) {
    error = {what, "take fewer micro-batches"};
    return false;
  }
  for (int number : schedule.stagesOf(peers.transport.rank()))
    if (!openStage(number, openPhase, error) ||
        !findKept(*stages[number], weights, error))
      return false;
  if (peers.transport.isOrdered())
    peers.transport.setOrder(exchange.order(costsOf(pipeline)));
  shareArena();
  return true;
}

std::vector<int64_t> Rank::sizesOfBatch(int stage, size_t input) const {
  const PipelineInput &larger = pipeline.stages[stage].inputs[input];
  std::vector<int64_t> sizes = larger.sizes;
  if (int64_t dim = larger.splitDim; dim >= 0) {
    int64_t smaller = pipeline.smaller.empty()
                          ? sizes[dim]
                          : pipeline.smaller[stage].inputs[input].sizes[dim];
    sizes[dim] = elementsBefore(schedule.microBatches, sizes[dim], smaller);
  }
  return sizes;
}

/// "f32[4, 16]"
static std::string textOf(const ArtifactTensor &tensor,
                          const std::vector<int64_t> &sizes) {
  std::string all = tensor.dtype + "[";
  for (int64_t size : sizes)
    all += (all.back() == '[' ? "" : ", ") + std::to_string(size);
  return all + "]";
}

/// "2 micro-batches of f32[4, 16] and 1 of f32[3, 16] are f32[11, 16]"
std::string Rank::describeBatch(int stage, size_t input) const {
  const PipelineInput &larger = pipeline.stages[stage].inputs[input];
  int64_t count =
              std::min<int64_t>(options.firstSmaller, schedule.microBatches),
          rest = schedule.microBatches - count;
  std::string all;
  if (count)
    all = formatCount(count, "micro-batch", "micro-batches") + " of " +
          textOf(larger, larger.sizes);
  if (rest) {
    const PipelineInput &smaller = pipeline.smaller[stage].inputs[input];
    all += (count ? " and " + std::to_string(rest)
                  : formatCount(rest, "micro-batch", "micro-batches")) +
           " of " + textOf(smaller, smaller.sizes);
  }
  return all + (schedule.microBatches == 1 ? " is " : " are ") +
         textOf(larger, sizesOfBatch(stage, input));
}

/// What to give in the place of a batch of another size.
static std::string adviceOn(const Pipeline &pipeline, int stage, size_t input,
                            int64_t microBatches) {
  const PipelineInput &larger = pipeline.stages[stage].inputs[input];
  if (larger.splitDim < 0)
    return "each micro-batch takes all of it: give that type and size";
  std::string dim = std::to_string(larger.splitDim);
  if (pipeline.smaller.empty())
    return "give that size along dimension " + dim +
           ", or another number of --micro-batches; `cutback split --batch` "
           "takes any batch";
  int64_t most = larger.sizes[larger.splitDim],
          least = pipeline.smaller[stage].inputs[input].sizes[larger.splitDim];
  return "all inputs have the rows of one batch, in micro-batches of " +
         std::to_string(most) + " or " + std::to_string(least) +
         " along dimension " + dim + ", " +
         std::to_string(least * microBatches) + " to " +
         std::to_string(most * microBatches) +
         " in all: give others, or split the model for other ones (--batch)";
}

bool Rank::checkInputs(const FindTensor &find, StepError &error) const {
  for (const auto &[number, stage] : stages)
    for (size_t i = 0; i < stage->of->inputs.size(); ++i) {
      const PipelineInput &input = stage->of->inputs[i];
      auto given = find(input.name);
      if (!given) {
        error = {"there is no tensor '" + input.name + "', which stage " +
                     std::to_string(number) + " takes",
                 "--inputs takes a safetensors file with it"};
        return false;
      }
      if (given->dtype == input.dtype &&
          given->sizes == sizesOfBatch(number, i))
        continue;
      error = {"tensor '" + input.name + "' is " +
                   textOf(*given, given->sizes) + ", and " +
                   describeBatch(number, i),
               adviceOn(pipeline, number, i, schedule.microBatches)};
      return false;
    }
  return true;
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
