// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names become numbers once, so that nothing is looked up while micro-batches
// run, and all that could be wrong with a name is said before the first one.
//
//   1. slots: what a stage receives, its inputs, gradients of what it sends,
//      and each result that a later phase takes
//   2. arguments of all phases, in the order of phases: a name is a parameter,
//      a buffer, a slot, the gradient of the loss, or one that is filled
//   3. results: a result may be several things at once, sent and kept
//   4. of each slot the last phase that takes it, by mode
//
// A buffer that the forward writes is another one for the next micro-batch: a
// later phase that reads it gets a copy of what the forward began with.

#include "cutback/Runtime/Pipeline/StagePlan.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::pipeline;

using PhaseKind = PipelineStage::PhaseKind;

const std::vector<PhaseKind> &StagePlan::phasesOf(Mode mode) {
  static const std::vector<PhaseKind> phases[kModes] = {
      {PipelineStage::Forward},
      {PipelineStage::Forward, PipelineStage::Backward},
      {PipelineStage::Forward, PipelineStage::Input, PipelineStage::Weight}};
  return phases[mode];
}

bool StagePlan::refuse(const std::string &what) {
  if (problem.empty())
    problem = what + ", in stage " + std::to_string(number);
  return false;
}

template <typename List>
static int findNamed(const List &list, std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return static_cast<int>(i);
  return -1;
}

int StagePlan::findSlot(const std::string &name) const {
  return findNamed(slots, name);
}

int StagePlan::addSlot(Slot slot) {
  slots.push_back(std::move(slot));
  return static_cast<int>(slots.size() - 1);
}

void StagePlan::listSlots() {
  auto add = [&](Slot::Origin origin, size_t at, const std::string &name,
                 const ArtifactTensor &tensor) {
    Slot slot;
    slot.origin = origin;
    slot.at = static_cast<int>(at);
    slot.name = name;
    slot.bytes = bytesOf(tensor);
    addSlot(slot);
  };
  for (size_t i = 0; i < stage->receives.size(); ++i)
    add(Slot::Received, i, stage->receives[i].name, stage->receives[i]);
  for (size_t i = 0; i < stage->inputs.size(); ++i)
    add(Slot::Input, i, stage->inputs[i].name, stage->inputs[i]);
  for (size_t i = 0; i < stage->sends.size(); ++i)
    if (stage->sends[i].hasGradient)
      add(Slot::Tangent, i, kTangentPrefix + stage->sends[i].name,
          stage->sends[i]);
  kept.assign(stage->parameters.begin(), stage->parameters.end());
  kept.insert(kept.end(), stage->buffers.begin(), stage->buffers.end());
  isWritten.assign(stage->parameters.size(), false);
  for (const PipelineBuffer &buffer : stage->buffers)
    isWritten.push_back(buffer.isWritten);
}

void StagePlan::checkType(const ArtifactTensor &wanted,
                          const ArtifactTensor &given) {
  if (wanted.dtype != given.dtype || wanted.sizes != given.sizes)
    refuse("a phase has another '" + wanted.name + "' than pipeline.json says");
}

/// A phase takes a parameter or a buffer.
StagePlan::Argument
StagePlan::bindKept(PhaseKind kind, const ArtifactArgument &argument, int at) {
  checkType(argument, kept[at]);
  bool mayWrite = kind == PipelineStage::Update ||
                  (kind == PipelineStage::Forward && isWritten[at]);
  if (argument.isWritten && !mayWrite)
    refuse("phase '" + std::string(nameOf(kind)) + "' writes '" +
           argument.name + "'");
  bool isCopied = isWritten[at] && kind != PipelineStage::Forward &&
                  kind != PipelineStage::Update;
  if (!isCopied)
    return {Argument::Kept, at};
  int slot = findSlot(argument.name);
  if (slot < 0) {
    Slot copy;
    copy.origin = Slot::BufferCopy;
    copy.at = at;
    copy.name = argument.name;
    copy.bytes = bytesOf(kept[at]);
    slot = addSlot(copy);
  }
  return {Argument::Slot, slot};
}

StagePlan::Argument StagePlan::bindArgument(PhaseKind kind,
                                            const ArtifactArgument &argument) {
  if (argument.tied >= 0)
    return {Argument::Tied, static_cast<int>(argument.tied)};
  if (int at = findNamed(kept, argument.name); at >= 0)
    return bindKept(kind, argument, at);
  if (argument.name == kLossTangent)
    return {Argument::LossTangent, -1};
  if (int slot = findSlot(argument.name); slot >= 0) {
    if (slots[slot].bytes != bytesOf(argument))
      refuse("phase '" + std::string(nameOf(kind)) + "' takes '" +
             argument.name + "' of another size than it has");
    if (argument.isWritten)
      refuse("phase '" + std::string(nameOf(kind)) + "' writes '" +
             argument.name + "', which others read");
    return {Argument::Slot, slot};
  }
  if (argument.fill == ArtifactArgument::Seed)
    return {Argument::Seed, -1};
  if (argument.fill == ArtifactArgument::Zeros)
    return {Argument::Zeros, -1};
  refuse("phase '" + std::string(nameOf(kind)) + "' takes '" + argument.name +
         "', which nothing before it makes");
  return {};
}

void StagePlan::bindArguments(PhaseKind kind, const PhaseRunner &runner) {
  for (const ArtifactArgument &argument : runner.arguments())
    phases[kind].arguments.push_back(bindArgument(kind, argument));
}

StagePlan::Result StagePlan::bindResult(const ArtifactTensor &result,
                                        PhaseKind kind) {
  Result use;
  std::string_view name = result.name;
  use.send =
      kind == PipelineStage::Forward ? findNamed(stage->sends, name) : -1;
  if (use.send >= 0)
    checkType(result, stage->sends[use.send]);
  std::string_view prefix = kGradientPrefix;
  if (kind != PipelineStage::Forward && name.substr(0, prefix.size()) == prefix)
    use.receive = findNamed(stage->receives, name.substr(prefix.size()));
  if (use.receive >= 0) {
    if (!stage->receives[use.receive].hasGradient)
      use.receive = -1;
    else if (bytesOf(result) != bytesOf(stage->receives[use.receive]))
      refuse("a phase makes '" + result.name + "' of another size");
  }
  for (size_t i = 0; i < stage->parameters.size(); ++i)
    if (name == stage->parameters[i].gradient) {
      use.parameter = static_cast<int>(i);
      if (result.dtype != stage->parameters[i].dtype ||
          result.sizes != stage->parameters[i].sizes)
        refuse("a phase makes '" + result.name + "' of another type or size");
    }
  use.output = findNamed(stage->outputs, name);
  if (use.output >= 0)
    checkType(result, stage->outputs[use.output]);
  use.isLoss = pipeline->lossStage == number && name == pipeline->loss;
  return use;
}

void StagePlan::bindResults(PhaseKind kind, const PhaseRunner &runner) {
  for (const ArtifactTensor &result : runner.results()) {
    Result use = bindResult(result, kind);
    use.slot = findSlot(result.name);
    if (use.slot < 0) {
      Slot made;
      made.name = result.name;
      made.bytes = bytesOf(result);
      use.slot = addSlot(made);
    } else if (slots[use.slot].origin != Slot::Made) {
      refuse("a phase makes '" + result.name + "', which comes from elsewhere");
    }
    phases[kind].results.push_back(use);
  }
}

void StagePlan::noteUses() {
  for (int mode = 0; mode < kModes; ++mode) {
    const auto &order = phasesOf(static_cast<Mode>(mode));
    for (size_t i = 0; i < order.size(); ++i)
      for (const Argument &argument : phases[order[i]].arguments)
        if (argument.kind == Argument::Slot)
          slots[argument.at].lastUse[mode] = static_cast<int>(i);
  }
}

std::string StagePlan::make(const Pipeline &given, int of,
                            const StagePhases &runners, bool isSmaller) {
  pipeline = &given;
  number = of;
  stage = &(isSmaller ? pipeline->smaller : pipeline->stages)[number];
  hasWhole = runners[PipelineStage::Backward] != nullptr;
  listSlots();
  // What a phase makes is there for those after it in this order; that it is
  // made in the mode at hand is for check().
  for (PhaseKind kind : {PipelineStage::Forward, PipelineStage::Backward,
                         PipelineStage::Input, PipelineStage::Weight})
    if (runners[kind]) {
      bindArguments(kind, *runners[kind]);
      bindResults(kind, *runners[kind]);
    }
  noteUses();
  return problem;
}

int StagePlan::countMakers(Mode mode, int Result::*member, int at) const {
  int count = 0;
  for (PhaseKind kind : phasesOf(mode))
    for (const Result &result : phases[kind].results)
      count += result.*member == at;
  return count;
}

std::string StagePlan::check(Mode mode) const {
  auto say = [&](const std::string &what) {
    return what + ", in stage " + std::to_string(number) +
           (mode == Evaluation ? ""
            : mode == Whole    ? " with a whole backward"
                               : " with a split backward");
  };
  auto wantOne = [&](int Result::*member, size_t at, const std::string &name) {
    int makers = countMakers(mode, member, static_cast<int>(at));
    return makers == 1
               ? ""
               : say((makers ? "two phases make '" : "no phase makes '") +
                     name + "'");
  };
  std::string wrong;
  auto note = [&](std::string what) {
    if (wrong.empty())
      wrong = std::move(what);
  };
  for (size_t i = 0; i < stage->sends.size(); ++i)
    note(wantOne(&Result::send, i, stage->sends[i].name));
  bool hasBackward = mode != Evaluation;
  for (size_t i = 0; hasBackward && i < stage->receives.size(); ++i)
    if (stage->receives[i].hasGradient)
      note(wantOne(&Result::receive, i,
                   kGradientPrefix + stage->receives[i].name));
  for (size_t i = 0; hasBackward && i < stage->parameters.size(); ++i)
    if (!stage->parameters[i].gradient.empty())
      note(wantOne(&Result::parameter, i, stage->parameters[i].gradient));
  for (size_t i = 0; i < stage->outputs.size(); ++i) {
    const std::string &name = stage->outputs[i].name;
    bool isGradient = name.rfind(kGradientPrefix, 0) == 0;
    if (hasBackward || !isGradient)
      note(wantOne(&Result::output, i, name));
  }
  // What is taken was made earlier in this mode.
  const auto &order = phasesOf(mode);
  std::vector<bool> isThere;
  for (const Slot &slot : slots)
    isThere.push_back(slot.origin != Slot::Made);
  for (PhaseKind kind : order) {
    for (const Argument &argument : phases[kind].arguments)
      if (argument.kind == Argument::Slot && !isThere[argument.at])
        note(say("phase '" + std::string(nameOf(kind)) + "' takes '" +
                 slots[argument.at].name + "', which nothing before it makes"));
    for (const Result &result : phases[kind].results)
      isThere[result.slot] = true;
  }
  for (const Slot &slot : slots)
    if (hasBackward && slot.origin == Slot::Tangent && slot.lastUse[mode] < 0)
      note(say("no phase takes '" + slot.name + "'"));
  return wrong;
}

int StagePlan::firstWithTangents(Mode mode) const {
  const auto &order = phasesOf(mode);
  for (size_t i = 0; i < order.size(); ++i)
    for (const Argument &argument : phases[order[i]].arguments)
      if (argument.kind == Argument::Slot &&
          slots[argument.at].origin == Slot::Tangent)
        return static_cast<int>(i);
  return -1;
}

bool StagePlan::isWanted(const Result &result, Mode mode) const {
  return result.send >= 0 || result.receive >= 0 || result.parameter >= 0 ||
         result.output >= 0 || result.isLoss ||
         slots[result.slot].lastUse[mode] >= 0;
}
