// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether stages go together. Ranks trust a manifest that is right in itself: a
// value has one maker, which lists each of its users, and is of one type and
// size at both ends; a parameter in several stages is listed in each of them;
// what a forward writes is in no other stage. So nothing is checked again while
// micro-batches run.
//
//   1. names, sizes and folders of each stage alone
//   2. values from makers to users, then from users to makers
//   3. parameters, buffers and inputs over all stages, outputs, the loss
//   4. the stages of a smaller micro-batch in the same way, and that they are
//      those of the larger one but for sizes

#include "cutback/Runtime/Pipeline/Pipeline.h"

#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/Pipeline/BatchSplit.h"
#include "cutback/Runtime/Pipeline/Sums.h"

#include <algorithm>
#include <map>
#include <set>

using namespace cutback;

// Those who add up times and bytes of all micro-batches need not look.
static constexpr int64_t kMostPicoseconds = 1000000000000000000;
static constexpr int64_t kMostBytes = int64_t(1) << 50;

namespace {

class Checker {
public:
  explicit Checker(const Pipeline &pipeline) : pipeline(pipeline) {}
  std::string run();

private:
  bool refuse(const std::string &what) {
    if (problem.empty())
      problem = what;
    return false;
  }
  int64_t numStages() const {
    return static_cast<int64_t>(pipeline.stages.size());
  }
  std::string of(int64_t stage) const {
    return " of stage " + std::to_string(stage);
  }
  void checkStage(int64_t stage);
  void checkFolders(int64_t stage);
  void checkSends(int64_t stage);
  void checkReceives(int64_t stage);
  void checkShared(int64_t stage);
  void checkReplicas(int64_t stage, const PipelineParameter &parameter);
  void checkOutputs(int64_t stage);
  void checkLoss();
  bool checkTensor(int64_t stage, const ArtifactTensor &tensor,
                   std::set<std::string> &names);
  const PipelineParameter *findParameter(int64_t stage,
                                         const std::string &name) const;

  const Pipeline &pipeline;
  std::map<std::string, int64_t> makers;
  std::map<std::string, int64_t> outputs;
  /// The first stage with a parameter, buffer or input of that name.
  std::map<std::string, int64_t> parameters;
  std::map<std::string, std::pair<int64_t, const PipelineBuffer *>> buffers;
  std::map<std::string, const PipelineInput *> inputs;
  std::string problem;
};

} // namespace

static bool isSame(const ArtifactTensor &a, const ArtifactTensor &b) {
  return a.dtype == b.dtype && a.sizes == b.sizes;
}

/// A path inside of a folder: parts that neither are hidden nor lead out.
static bool isInside(const std::string &path) {
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    if (end == at || path[at] == '.')
      return false;
    at = end + 1;
  }
  return path.find('\0') == std::string::npos;
}

static bool isAscending(const std::vector<int64_t> &numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(),
                            std::greater_equal<>()) == numbers.end();
}

bool Checker::checkTensor(int64_t stage, const ArtifactTensor &tensor,
                          std::set<std::string> &names) {
  if (tensor.name.empty() || !names.insert(tensor.name).second)
    return refuse("has '" + tensor.name + "'" + of(stage) + " twice");
  return bytesOf(tensor) >= 0 ||
         refuse("has '" + tensor.name + "'" + of(stage) + " of unknown size");
}

void Checker::checkFolders(int64_t stage) {
  const PipelineStage &one = pipeline.stages[stage];
  if (!one.phases[PipelineStage::Forward])
    refuse("has no forward" + of(stage));
  for (int kind = 0; kind < PipelineStage::kPhases; ++kind) {
    const PipelinePhase &phase = one.phases[kind];
    if (phase && !isInside(phase.folder))
      refuse("has a phase in '" + phase.folder + "', which is not in it");
    std::string which =
        "has a phase '" +
        std::string(nameOf(static_cast<PipelineStage::PhaseKind>(kind))) + "'" +
        of(stage);
    if (phase.arenaBytes < 0 || phase.picoseconds < 0)
      refuse(which + " with an arena or a time below 0");
    if (phase.arenaBytes > kMostBytes || phase.picoseconds > kMostPicoseconds)
      refuse(which + " with an arena above 2^50 bytes or a time above 11 days");
  }
  if (one.forwardSavedBytes < 0 || one.inputSavedBytes < 0 ||
      one.throughoutSavedBytes < 0 ||
      one.throughoutSavedBytes >
          std::min(one.forwardSavedBytes, one.inputSavedBytes))
    refuse("keeps less than nothing" + of(stage));
  if (std::max(one.forwardSavedBytes, one.inputSavedBytes) > kMostBytes)
    refuse("keeps more than 2^50 bytes" + of(stage));
}

void Checker::checkStage(int64_t stage) {
  const PipelineStage &one = pipeline.stages[stage];
  checkFolders(stage);
  std::set<std::string> names;
  for (const PipelineReceive &receive : one.receives)
    checkTensor(stage, receive, names);
  for (const PipelineSend &send : one.sends) {
    checkTensor(stage, send, names);
    if (!makers.emplace(send.name, stage).second)
      refuse("has two makers of '" + send.name + "'");
  }
  for (const PipelineInput &input : one.inputs)
    if (checkTensor(stage, input, names) &&
        (input.splitDim < -1 ||
         input.splitDim >= static_cast<int64_t>(input.sizes.size())))
      refuse("splits '" + input.name + "' along dimension " +
             std::to_string(input.splitDim) + ", which it has not");
  for (const PipelineParameter &parameter : one.parameters)
    checkTensor(stage, parameter, names);
  for (const PipelineBuffer &buffer : one.buffers)
    checkTensor(stage, buffer, names);
  for (const PipelineOutput &output : one.outputs)
    checkTensor(stage, output, names);
}

void Checker::checkSends(int64_t stage) {
  for (const PipelineSend &send : pipeline.stages[stage].sends) {
    bool hasGradient = false;
    if (send.to.empty() || !isAscending(send.to) || send.to.front() <= stage ||
        send.to.back() >= numStages()) {
      refuse("sends '" + send.name + "'" + of(stage) + " to no later stage");
      continue;
    }
    for (int64_t to : send.to) {
      const auto &receives = pipeline.stages[to].receives;
      auto found = std::find_if(
          receives.begin(), receives.end(),
          [&](const PipelineReceive &one) { return one.name == send.name; });
      if (found == receives.end() || found->from != stage ||
          !isSame(*found, send))
        refuse("sends '" + send.name + "'" + of(stage) + " to stage " +
               std::to_string(to) + ", which does not receive it as it is");
      else
        hasGradient |= found->hasGradient;
    }
    if (hasGradient != send.hasGradient)
      refuse("has a gradient of '" + send.name + "' at one end alone");
    if (send.hasGradient && !Elements::isKnown(send.dtype))
      refuse("has a gradient of '" + send.name + "', which is " + send.dtype);
  }
}

void Checker::checkReceives(int64_t stage) {
  for (const PipelineReceive &receive : pipeline.stages[stage].receives) {
    auto maker = makers.find(receive.name);
    if (maker == makers.end() || maker->second != receive.from) {
      refuse("receives '" + receive.name + "'" + of(stage) +
             " from a stage that does not send it");
      continue;
    }
    for (const PipelineSend &send : pipeline.stages[receive.from].sends)
      if (send.name == receive.name &&
          !std::binary_search(send.to.begin(), send.to.end(), stage))
        refuse("receives '" + receive.name + "'" + of(stage) + ", and stage " +
               std::to_string(receive.from) + " does not send it there");
  }
}

const PipelineParameter *Checker::findParameter(int64_t stage,
                                                const std::string &name) const {
  for (const PipelineParameter &one : pipeline.stages[stage].parameters)
    if (one.name == name)
      return &one;
  return nullptr;
}

void Checker::checkReplicas(int64_t stage, const PipelineParameter &parameter) {
  const std::vector<int64_t> &all = parameter.replicatedIn;
  if (!parameter.gradient.empty() && !Elements::isKnown(parameter.dtype))
    refuse("has a gradient of '" + parameter.name + "', which is " +
           parameter.dtype);
  auto [first, isFirst] = parameters.emplace(parameter.name, stage);
  if (all.empty()) {
    if (!isFirst)
      refuse("has '" + parameter.name + "' in stages " +
             std::to_string(first->second) + " and " + std::to_string(stage) +
             ", which do not say so");
    return;
  }
  if (!isAscending(all) || all.size() < 2 || all.front() < 0 ||
      all.back() >= numStages() ||
      !std::binary_search(all.begin(), all.end(), stage)) {
    refuse("has '" + parameter.name + "'" + of(stage) +
           " in a list of stages that it is not in");
    return;
  }
  for (int64_t other : all) {
    const PipelineParameter *there = findParameter(other, parameter.name);
    if (!there || !isSame(*there, parameter) || there->replicatedIn != all)
      refuse("has '" + parameter.name + "' in stages " + std::to_string(stage) +
             " and " + std::to_string(other) + ", which is not the same there");
  }
}

void Checker::checkShared(int64_t stage) {
  const PipelineStage &one = pipeline.stages[stage];
  for (const PipelineParameter &parameter : one.parameters)
    checkReplicas(stage, parameter);
  for (const PipelineBuffer &buffer : one.buffers) {
    auto [found, isFirst] =
        buffers.emplace(buffer.name, std::pair(stage, &buffer));
    const auto &[other, first] = found->second;
    if (isFirst)
      continue;
    if (first->isWritten || buffer.isWritten)
      refuse("has '" + buffer.name + "' in stages " + std::to_string(other) +
             " and " + std::to_string(stage) + ", and one writes it");
    if (!isSame(*first, buffer))
      refuse("has '" + buffer.name + "' in two sizes or types");
  }
  for (const PipelineInput &input : one.inputs) {
    const PipelineInput *first =
        inputs.emplace(input.name, &input).first->second;
    if (!isSame(*first, input) || first->splitDim != input.splitDim)
      refuse("has '" + input.name + "' in two sizes, types or dimensions");
    if (input.isWeighted &&
        !Elements::isKnown(pipeline::componentOf(input.dtype)))
      refuse("weighs '" + input.name + "', which is " + input.dtype);
  }
}

void Checker::checkOutputs(int64_t stage) {
  for (const PipelineOutput &output : pipeline.stages[stage].outputs) {
    if (!outputs.emplace(output.name, stage).second)
      refuse("makes '" + output.name + "' in two stages");
    bool isAdded = output.merge == PipelineOutput::Mean ||
                   output.merge == PipelineOutput::Sum;
    bool isCounted = output.merge == PipelineOutput::Sum &&
                     pipeline::isAddedAsInteger(output.dtype);
    if (isAdded && !isCounted && !Elements::isKnown(output.dtype))
      refuse("adds '" + output.name + "', which is " + output.dtype);
    if (output.merge == PipelineOutput::Concatenate &&
        (output.dim < 0 ||
         output.dim >= static_cast<int64_t>(output.sizes.size())))
      refuse("joins '" + output.name + "' along dimension " +
             std::to_string(output.dim) + ", which it has not");
  }
}

void Checker::checkLoss() {
  if (pipeline.lossStage < -1 || pipeline.lossStage >= numStages() ||
      (pipeline.lossStage < 0) != pipeline.loss.empty())
    refuse("has a loss of no stage");
}

std::string Checker::run() {
  if (pipeline.stages.empty())
    refuse("has no stages");
  for (int64_t stage = 0; stage < numStages(); ++stage)
    checkStage(stage);
  for (int64_t stage = 0; stage < numStages(); ++stage) {
    checkSends(stage);
    checkReceives(stage);
    checkShared(stage);
    checkOutputs(stage);
  }
  checkLoss();
  return problem;
}

//===----------------------------------------------------------------------===//
// Two sizes of a micro-batch
//===----------------------------------------------------------------------===//

/// Whether lists have the same tensors in one order, and `isLike` holds of all
/// that they say besides sizes.
template <typename List, typename Fn>
static bool areAlike(const List &larger, const List &smaller, Fn isLike) {
  return std::equal(larger.begin(), larger.end(), smaller.begin(),
                    smaller.end(), [&](const auto &a, const auto &b) {
                      return a.name == b.name && a.dtype == b.dtype &&
                             isLike(a, b);
                    });
}

/// What a stage for a smaller micro-batch has otherwise, or null.
static const char *findOther(const PipelineStage &a, const PipelineStage &b) {
  if (!areAlike(a.receives, b.receives, [](const auto &x, const auto &y) {
        return x.from == y.from && x.hasGradient == y.hasGradient;
      }))
    return "receives";
  if (!areAlike(a.sends, b.sends, [](const auto &x, const auto &y) {
        return x.to == y.to && x.hasGradient == y.hasGradient;
      }))
    return "sends";
  if (!areAlike(a.inputs, b.inputs, [](const auto &x, const auto &y) {
        return x.splitDim == y.splitDim &&
               areParts(x.splitDim, x.sizes, y.sizes);
      }))
    return "inputs";
  if (!areAlike(a.parameters, b.parameters, [](const auto &x, const auto &y) {
        return x.sizes == y.sizes && x.gradient == y.gradient &&
               x.replicatedIn == y.replicatedIn;
      }))
    return "parameters";
  if (!areAlike(a.buffers, b.buffers, [](const auto &x, const auto &y) {
        return x.sizes == y.sizes && x.isWritten == y.isWritten;
      }))
    return "buffers";
  if (!areAlike(a.outputs, b.outputs, [](const auto &x, const auto &y) {
        return x.merge == y.merge && x.dim == y.dim &&
               areParts(x.merge == PipelineOutput::Concatenate ? x.dim : -1,
                        x.sizes, y.sizes);
      }))
    return "outputs";
  for (int kind = 0; kind < PipelineStage::kPhases; ++kind)
    if (bool(a.phases[kind]) != bool(b.phases[kind]))
      return "phases";
  return nullptr;
}

static std::string checkSmaller(const Pipeline &pipeline) {
  if (pipeline.smaller.empty())
    return "";
  if (pipeline.smaller.size() != pipeline.stages.size())
    return "has two sizes of a micro-batch in some stages alone";
  for (size_t i = 0; i < pipeline.stages.size(); ++i)
    if (const char *what = findOther(pipeline.stages[i], pipeline.smaller[i]))
      return "has other " + std::string(what) + " of stage " +
             std::to_string(i) + " for smaller micro-batches";
  Pipeline alone = pipeline;
  alone.stages = std::move(alone.smaller);
  alone.smaller.clear();
  std::string problem = Checker(alone).run();
  return problem.empty() ? "" : kUnderSmaller + problem;
}

std::string Pipeline::verify() const {
  std::string problem = Checker(*this).run();
  return problem.empty() ? checkSmaller(*this) : problem;
}
