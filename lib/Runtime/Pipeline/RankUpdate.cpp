// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The optimizer of a rank's stages. Each stage has a phase that updates its
// parameters, and one that gives what the norm of all gradients is made of. A
// parameter of two stages of one rank is one tensor there: the first stage
// updates it, the other one a copy that is thrown away.

#include "RankStage.h"

#include "cutback/Runtime/Elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

static constexpr const char *kSquarePrefix = "square.";
static constexpr const char *kRate = "optimizer.lr";
static constexpr const char *kStep = "optimizer.step";
static constexpr const char *kScale = "optimizer.loss_scale";
static constexpr const char *kNorm = "grad_norm";
static constexpr const char *kGreatest = "grad_max";

static bool startsWith(const std::string &text, const char *prefix) {
  return text.rfind(prefix, 0) == 0;
}

template <typename Stage> static PhaseRunner *normsOf(const Stage &stage) {
  return stage.runners[PipelineStage::Norms].get();
}

template <typename Stage> static PhaseRunner *updateOf(const Stage &stage) {
  return stage.runners[PipelineStage::Update].get();
}

bool Rank::openUpdate(Stage &stage, const OpenPhase &openPhase,
                      StepError &error) {
  const auto &phases = stage.of->phases;
  for (PipelineStage::PhaseKind kind :
       {PipelineStage::Norms, PipelineStage::Update}) {
    if (!phases[kind])
      continue;
    std::unique_ptr<PhaseRunner> &runner = stage.runners[kind];
    runner = openPhase(stage.number, kind, error);
    if (!runner)
      return false;
    runner->setThreads(options.threads);
    countArena(*runner);
  }
  const PhaseRunner *update = updateOf(stage);
  if (!update)
    return true;
  for (const ArtifactArgument &argument : update->arguments()) {
    const std::string &name = argument.name;
    if (!startsWith(name, "optimizer.") || name == kRate || name == kStep ||
        name == kScale)
      continue;
    BlockRef &state = optimizerStates[name];
    if (state)
      continue;
    state = Block::make(bytesOf(argument), keptCount);
    std::memset(state->data(), 0, state->bytes());
    optimizerTensors[name] = argument;
  }
  return true;
}

bool Rank::scalesLoss() const {
  for (const auto &[number, stage] : stages)
    if (const PhaseRunner *update = updateOf(*stage))
      for (const ArtifactArgument &argument : update->arguments())
        if (argument.name == kScale)
          return true;
  return false;
}

bool Rank::clips() const {
  for (const auto &[number, stage] : stages)
    if (const PhaseRunner *own = normsOf(*stage))
      for (const ArtifactTensor &result : own->results())
        if (startsWith(result.name, kSquarePrefix))
          return true;
  return false;
}

/// Runs a phase of the optimizer on gradients, parameters, states and numbers.
std::string Rank::runUpdate(Stage &stage, PhaseRunner &runner,
                            const std::map<std::string, double> &numbers,
                            const std::vector<char *> &results) {
  std::vector<char *> addresses;
  std::vector<BlockRef> own;
  std::vector<std::string> changed;
  for (const ArtifactArgument &argument : runner.arguments()) {
    char *address = nullptr;
    for (size_t i = 0; i < stage.of->parameters.size(); ++i) {
      const PipelineParameter &parameter = stage.of->parameters[i];
      if (argument.name == parameter.name)
        address = kept[parameter.name];
      else if (argument.name == parameter.gradient && stage.sums[i])
        address = stage.sums[i]->data();
    }
    if (auto state = optimizerStates.find(argument.name);
        state != optimizerStates.end())
      address = state->second->data();
    auto number = numbers.find(argument.name);
    bool isAgain = argument.isWritten && updated.count(argument.name);
    if (number != numbers.end() || (address && isAgain)) {
      own.push_back(Block::make(bytesOf(argument), sumCount));
      if (number == numbers.end())
        std::memcpy(own.back()->data(), address, own.back()->bytes());
      else
        Elements(own.back()->data(), own.back()->bytes(), argument.dtype)
            .set(0, number->second);
      address = own.back()->data();
    }
    if (!address)
      return "the update of stage " + std::to_string(stage.number) +
             " takes '" + argument.name + "', which there is not";
    if (argument.isWritten)
      changed.push_back(argument.name);
    addresses.push_back(address);
  }
  std::string error = runner.run(addresses, results);
  updated.insert(changed.begin(), changed.end());
  return error;
}

std::string Rank::findNorms(double lossScale, GradientNorms &norms) {
  for (auto &[number, stage] : stages) {
    PhaseRunner *own = normsOf(*stage);
    if (!own)
      continue;
    std::vector<BlockRef> made;
    std::vector<char *> results;
    for (const ArtifactTensor &result : own->results()) {
      made.push_back(Block::make(bytesOf(result), sumCount));
      results.push_back(made.back()->data());
    }
    std::string error = runUpdate(*stage, *own, {{kScale, lossScale}}, results);
    if (!error.empty())
      return error;
    for (size_t i = 0; i < made.size(); ++i) {
      const ArtifactTensor &result = own->results()[i];
      Elements value(made[i]->data(), made[i]->bytes(), result.dtype);
      norms.isDouble |= result.dtype == "f64";
      if (!startsWith(result.name, kSquarePrefix)) {
        // A NaN stays.
        if (!(value[0] <= norms.greatest))
          norms.greatest = value[0];
        continue;
      }
      std::string name =
          "param." + result.name.substr(std::strlen(kSquarePrefix));
      norms.squares.emplace(name, value[0]);
    }
  }
  return "";
}

std::string Rank::update(const UpdateNumbers &numbers, double norm,
                         double greatest) {
  updated.clear();
  for (auto &[number, stage] : stages) {
    PhaseRunner *own = updateOf(*stage);
    if (!own)
      continue;
    std::string error = runUpdate(*stage, *own,
                                  {{kRate, numbers.learningRate},
                                   {kStep, numbers.step},
                                   {kScale, numbers.lossScale},
                                   {kNorm, norm},
                                   {kGreatest, greatest}},
                                  {});
    if (!error.empty())
      return error;
  }
  return "";
}

std::vector<RankTensor> Rank::state(bool isAll) const {
  std::map<std::string, RankTensor> byName;
  auto add = [&](const ArtifactTensor &tensor, const char *bytes) {
    RankTensor &one = byName[tensor.name];
    static_cast<ArtifactTensor &>(one) = tensor;
    one.bytes = bytes;
  };
  for (const auto &[number, stage] : stages) {
    for (const PipelineParameter &parameter : stage->of->parameters) {
      bool isFirst = parameter.replicatedIn.empty() ||
                     parameter.replicatedIn.front() == number;
      if (!isFirst && !isAll)
        continue;
      add(parameter, kept.at(parameter.name));
      std::string suffix = parameter.name.substr(std::strlen("param."));
      for (const auto &[name, block] : optimizerStates) {
        size_t dot = name.find('.', std::strlen("optimizer."));
        if (dot != std::string::npos && name.substr(dot + 1) == suffix)
          add(optimizerTensors.at(name), block->data());
      }
    }
    for (const PipelineBuffer &buffer : stage->of->buffers)
      if (startsWith(buffer.name, "buffer."))
        add(buffer, kept.at(buffer.name));
  }
  std::vector<RankTensor> all;
  for (const auto &[name, tensor] : byName)
    all.push_back(tensor);
  return all;
}
