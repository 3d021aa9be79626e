// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases compute in loops over floats, each operation rounded once, so that
// the same phases in another order of micro-batches have the same bits. The
// loop in runHere() knows nothing of slots, messages or schedules: maps of
// vectors by name.

#include "SyntheticStages.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

constexpr int64_t kRows = SyntheticStages::kRows;
constexpr int64_t kColumns = SyntheticStages::kColumns;

template <typename T> T tensor(const std::string &name, int64_t rows = kRows) {
  T one;
  one.name = name;
  one.dtype = "f32";
  one.sizes = {rows, kColumns};
  return one;
}

std::string parameterOf(const Pipeline &pipeline, int stage) {
  return pipeline.stages[stage].parameters[0].name;
}

class SyntheticPhase : public PhaseRunner {
public:
  using Kind = PipelineStage::PhaseKind;

  SyntheticPhase(const SyntheticStages &all, int number, Kind kind,
                 bool isSmaller = false)
      : all(all), stage(all.pipeline.stages[number]), number(number),
        kind(kind), isLast(all.pipeline.lossStage == number),
        parameter(parameterOf(all.pipeline, number)),
        rows(isSmaller ? kRows - 1 : kRows), size(rows * kColumns) {
    if (kind == PipelineStage::Forward)
      listForward();
    else
      listBackward();
  }

  int64_t arenaBytes() const override { return 64; }
  void setArena(char *bytes) override { arena = bytes; }
  std::string run(const std::vector<char *> &arguments,
                  const std::vector<char *> &results) override;
  std::string read(size_t result, char *to) override {
    std::memcpy(to, values[made[result].name].data(), bytesOf(made[result]));
    return "";
  }

private:
  void listForward();
  void listBackward();
  void take(const std::string &name, int64_t count = 0,
            bool isWritten = false) {
    auto argument = tensor<ArtifactArgument>(name, count ? count : rows);
    argument.isWritten = isWritten;
    taken.push_back(argument);
  }
  void make(const std::string &name, int64_t count = 0) {
    made.push_back(tensor<ArtifactTensor>(name, count ? count : rows));
  }
  void forward();
  void backward();
  /// dw * h and the gradient of h, from the gradients of what it made.
  Floats sumTangents() const;

  const SyntheticStages &all;
  const PipelineStage &stage;
  int number;
  Kind kind;
  bool isLast;
  std::string parameter;
  int64_t rows, size;
  char *arena = nullptr;
  NamedFloats values;
};

void SyntheticPhase::listForward() {
  for (const PipelineReceive &receive : stage.receives)
    take(receive.name);
  for (const PipelineInput &input : stage.inputs)
    take(input.name);
  take(parameter, 1);
  if (!stage.buffers.empty())
    take(stage.buffers[0].name, 1, true);
  for (const PipelineSend &send : stage.sends)
    make(send.name);
  make("saved.h");
  if (isLast) {
    make("output.0");
    ArtifactTensor loss = tensor<ArtifactTensor>("loss");
    loss.sizes = {};
    made.push_back(loss);
  }
}

void SyntheticPhase::listBackward() {
  bool isInput = kind != PipelineStage::Weight;
  bool isWeight = kind != PipelineStage::Input;
  if (isInput)
    for (const PipelineSend &send : stage.sends)
      take(kTangentPrefix + send.name);
  if (isInput && isLast) {
    take(kLossTangent);
    taken.back().sizes = {};
  }
  if (!isInput)
    take("saved.t");
  if (isWeight)
    take("saved.h");
  take(parameter, 1);
  if (!stage.buffers.empty())
    take(stage.buffers[0].name, 1);
  if (isInput)
    for (const PipelineReceive &receive : stage.receives)
      make(kGradientPrefix + receive.name);
  if (kind == PipelineStage::Input)
    make("saved.t");
  if (isWeight)
    make(stage.parameters[0].gradient, 1);
}

void SyntheticPhase::forward() {
  Floats h(size), n(kColumns);
  for (const ArtifactArgument &argument : taken)
    if (argument.name.rfind("value.", 0) == 0 || argument.name == "input.0")
      for (int64_t i = 0; i < size; ++i)
        h[i] += values[argument.name][i];
  if (!stage.buffers.empty())
    n = values[stage.buffers[0].name];
  Floats y(size);
  for (int64_t i = 0; i < size; ++i)
    y[i] = h[i] * values[parameter][i % kColumns] * (1 + n[i % kColumns]);
  for (size_t v = 0; v < stage.sends.size(); ++v)
    for (int64_t i = 0; i < size; ++i)
      values[stage.sends[v].name].push_back(y[i] * (float(v + 1) / 2));
  values["saved.h"] = h;
  values["output.0"] = y;
  values["loss"] = {0};
  for (float one : y)
    values["loss"][0] += one;
  if (!stage.buffers.empty())
    for (int64_t i = 0; i < kColumns; ++i)
      values[stage.buffers[0].name][i] = n[i] / 2 + h[i];
}

Floats SyntheticPhase::sumTangents() const {
  Floats sum(size);
  for (size_t v = 0; v < stage.sends.size(); ++v)
    for (int64_t i = 0; i < size; ++i)
      sum[i] += values.at(kTangentPrefix + stage.sends[v].name)[i] *
                (float(v + 1) / 2);
  if (isLast)
    for (float &one : sum)
      one += values.at(kLossTangent)[0];
  return sum;
}

void SyntheticPhase::backward() {
  Floats n(kColumns);
  if (!stage.buffers.empty())
    n = values[stage.buffers[0].name];
  if (kind != PipelineStage::Weight)
    values["saved.t"] = sumTangents();
  const Floats &t = values["saved.t"];
  for (const PipelineReceive &receive : stage.receives)
    for (int64_t i = 0; i < size; ++i)
      values[kGradientPrefix + receive.name].push_back(
          t[i] * values[parameter][i % kColumns] * (1 + n[i % kColumns]));
  if (kind == PipelineStage::Input)
    return;
  Floats &dw = values[stage.parameters[0].gradient];
  dw.assign(kColumns, 0);
  for (int64_t i = 0; i < size; ++i)
    dw[i % kColumns] += t[i] * values["saved.h"][i] * (1 + n[i % kColumns]);
}

std::string SyntheticPhase::run(const std::vector<char *> &arguments,
                                const std::vector<char *> &results) {
  if (all.before)
    if (std::string error = all.before(number, kind); !error.empty())
      return error;
  std::memset(arena, int(kind), 64);
  values.clear();
  for (size_t i = 0; i < taken.size(); ++i) {
    Floats &one = values[taken[i].name];
    one.resize(bytesOf(taken[i]) / 4);
    std::memcpy(one.data(), arguments[i], bytesOf(taken[i]));
  }
  kind == PipelineStage::Forward ? forward() : backward();
  for (size_t i = 0; i < made.size(); ++i)
    if (results[i])
      read(i, results[i]);
  for (size_t i = 0; i < taken.size(); ++i)
    if (taken[i].isWritten)
      std::memcpy(arguments[i], values[taken[i].name].data(),
                  bytesOf(taken[i]));
  return "";
}

} // namespace

SyntheticStages::SyntheticStages(int stages, uint64_t seed, bool hasBuffers) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  auto draw = [&](int64_t count) {
    Floats all(count);
    for (float &one : all)
      one = value(random);
    return all;
  };
  pipeline.model = "synthetic";
  pipeline.target = "reference";
  pipeline.stages.resize(stages);
  for (int s = 0; s < stages; ++s) {
    PipelineStage &stage = pipeline.stages[s];
    stage.name = "stage" + std::to_string(s);
    for (int kind : {0, 1, 2, 3})
      stage.phases[kind].folder = stage.name + "/p" + std::to_string(kind);
    std::string name = std::to_string(s);
    auto parameter = tensor<PipelineParameter>("param." + name, 1);
    if (stages >= 3 && (s == 0 || s == stages - 1)) {
      parameter.name = "param.w";
      parameter.replicatedIn = {0, stages - 1};
    }
    parameter.gradient = "grad." + parameter.name.substr(6);
    stage.parameters = {parameter};
    given[parameter.name] = draw(kColumns);
    if (hasBuffers && s % 2 == 1) {
      stage.buffers = {tensor<PipelineBuffer>("buffer." + name, 1)};
      stage.buffers[0].isWritten = true;
      given[stage.buffers[0].name] = draw(kColumns);
    }
    // To the next stage, and by chance to later ones; one value or two.
    for (int v = 0; s + 1 < stages && v < 1 + int(random() % 2); ++v) {
      auto send =
          tensor<PipelineSend>("value." + name + "_" + std::to_string(v));
      send.to = {s + 1};
      send.hasGradient = true;
      for (int to = s + 2; to < stages; ++to)
        if (random() % 3 == 0)
          send.to.push_back(to);
      for (int64_t to : send.to) {
        auto receive = tensor<PipelineReceive>(send.name);
        receive.from = s;
        receive.hasGradient = true;
        pipeline.stages[to].receives.push_back(receive);
      }
      stage.sends.push_back(send);
    }
  }
  pipeline.stages[0].inputs = {tensor<PipelineInput>("input.0")};
  pipeline.stages.back().outputs = {tensor<PipelineOutput>("output.0")};
  pipeline.lossStage = stages - 1;
  pipeline.loss = "loss";
  batch["input.0"] = draw(kSize * 64);
}

OpenPhase SyntheticStages::open(bool isSmaller) const {
  return [=](int stage, PipelineStage::PhaseKind kind, StepError &) {
    return std::make_unique<SyntheticPhase>(*this, stage, kind, isSmaller);
  };
}

void SyntheticStages::addSmaller(int64_t count) {
  larger = count;
  pipeline.smaller = pipeline.stages;
  for (PipelineStage &stage : pipeline.smaller) {
    auto shrink = [](ArtifactTensor &one) { --one.sizes[0]; };
    std::for_each(stage.receives.begin(), stage.receives.end(), shrink);
    std::for_each(stage.sends.begin(), stage.sends.end(), shrink);
    std::for_each(stage.inputs.begin(), stage.inputs.end(), shrink);
    std::for_each(stage.outputs.begin(), stage.outputs.end(), shrink);
    for (PipelinePhase &phase : stage.phases)
      if (phase)
        phase.folder += "/smaller";
  }
}

int64_t SyntheticStages::sizeBefore(int microBatch) const {
  return kSize * microBatch -
         kColumns * std::max<int64_t>(0, microBatch - larger);
}

FindTensor SyntheticStages::finder(const NamedFloats *tensors) const {
  return [tensors](const std::string &name) -> std::optional<GivenTensor> {
    auto found = tensors->find(name);
    if (found == tensors->end())
      return std::nullopt;
    auto one = tensor<GivenTensor>(name, found->second.size() / kColumns);
    one.bytes = reinterpret_cast<const char *>(found->second.data());
    return one;
  };
}

FindTensor SyntheticStages::inputs(int microBatches) {
  batch["input.0"].resize(sizeBefore(microBatches));
  return finder(&batch);
}

/// One phase on maps of tensors: what it takes from `here`, what it makes
/// there.
static void runOn(PhaseRunner &phase, NamedFloats &here, NamedFloats &kept,
                  int64_t arenaBytes = 64) {
  std::string arena(arenaBytes, 0);
  phase.setArena(arena.data());
  std::vector<char *> arguments, results;
  for (const ArtifactArgument &argument : phase.arguments()) {
    auto found = here.find(argument.name);
    Floats &one = found != here.end() ? found->second : kept.at(argument.name);
    arguments.push_back(reinterpret_cast<char *>(one.data()));
  }
  for (const ArtifactTensor &result : phase.results()) {
    here[result.name].assign(bytesOf(result) / 4, 0);
    results.push_back(reinterpret_cast<char *>(here[result.name].data()));
  }
  phase.run(arguments, results);
}

static void addFloats(Floats &sum, const Floats &more) {
  if (sum.empty())
    sum = more;
  else
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = sum[i] + more[i];
}

NamedFloats
SyntheticStages::runReplicas(int replicas, int microBatches,
                             const std::vector<std::vector<int>> &order,
                             bool hasBackward) const {
  NamedFloats made;
  for (int replica = 0; replica < replicas; ++replica) {
    int first = replica * microBatches;
    NamedFloats own = runShare({first, microBatches, replicas * microBatches},
                               order, hasBackward);
    for (auto &[name, value] : own) {
      if (name.rfind("buffer.", 0) == 0)
        made.try_emplace(name, value);
      else if (name.rfind("grad.", 0) == 0)
        addFloats(made[name], value);
      else if (name.rfind("loss.", 0) == 0)
        made["loss." + std::to_string(first + std::stoi(name.substr(5)))] =
            value;
      else
        made[name].insert(made[name].end(), value.begin(), value.end());
    }
  }
  return made;
}

void SyntheticStages::takeBuffers(const NamedFloats &made) {
  for (const auto &[name, value] : made)
    if (name.rfind("buffer.", 0) == 0)
      given[name] = value;
}

NamedFloats
SyntheticStages::runShare(Share share,
                          const std::vector<std::vector<int>> &order,
                          bool hasBackward) const {
  int microBatches = share.count;
  NamedFloats kept = given, made;
  int stages = static_cast<int>(pipeline.stages.size());
  // Gradients of each stage and micro-batch.
  std::vector<std::vector<Floats>> gradients(stages,
                                             std::vector<Floats>(microBatches));
  for (int k = 0; k < microBatches; ++k) {
    std::vector<NamedFloats> here(stages);
    NamedFloats values, contributions;
    const Floats &all = batch.at("input.0");
    int number = share.first + k;
    bool isSmaller = number >= larger;
    values["input.0"].assign(all.begin() + sizeBefore(number),
                             all.begin() + sizeBefore(number + 1));
    for (int s = 0; s < stages; ++s) {
      here[s] = values;
      for (const PipelineBuffer &buffer : pipeline.stages[s].buffers)
        values["old." + buffer.name] = kept[buffer.name];
      SyntheticPhase forward(*this, s, PipelineStage::Forward, isSmaller);
      runOn(forward, here[s], kept);
      for (const PipelineSend &send : pipeline.stages[s].sends)
        values[send.name] = here[s][send.name];
    }
    made["loss." + std::to_string(k)] = here[stages - 1]["loss"];
    Floats &output = made["output.0"];
    const Floats &part = here[stages - 1]["output.0"];
    output.insert(output.end(), part.begin(), part.end());
    for (int s = stages - 1; hasBackward && s >= 0; --s) {
      const PipelineStage &stage = pipeline.stages[s];
      for (const PipelineBuffer &buffer : stage.buffers)
        here[s][buffer.name] = values["old." + buffer.name];
      here[s][kLossTangent] = {float(1.0 / share.all)};
      for (const PipelineSend &send : stage.sends)
        for (auto to = send.to.rbegin(); to != send.to.rend(); ++to)
          addFloats(here[s][kTangentPrefix + send.name],
                    here[*to][kGradientPrefix + send.name]);
      SyntheticPhase backward(*this, s, PipelineStage::Backward, isSmaller);
      runOn(backward, here[s], kept);
      gradients[s][k] = here[s][stage.parameters[0].gradient];
    }
  }
  for (int s = 0; hasBackward && s < stages; ++s) {
    Floats sum;
    for (int k : order[s])
      addFloats(sum, gradients[s][k]);
    addFloats(made[pipeline.stages[s].parameters[0].gradient], sum);
  }
  for (const auto &[name, value] : kept)
    if (name.rfind("buffer.", 0) == 0)
      made[name] = value;
  return made;
}

double SyntheticStages::lossWith(int microBatches, const std::string &name,
                                 int element, double change) const {
  int stages = static_cast<int>(pipeline.stages.size());
  double loss = 0;
  auto valueOf = [&](const std::string &wanted, int64_t i) {
    return double(given.at(wanted)[i]) +
           (wanted == name && i == element ? change : 0);
  };
  std::map<std::string, std::vector<double>> buffers;
  for (int k = 0; k < microBatches; ++k) {
    std::map<std::string, std::vector<double>> values;
    for (int s = 0; s < stages; ++s) {
      const PipelineStage &stage = pipeline.stages[s];
      std::vector<double> h(kSize), n(kColumns);
      for (const PipelineReceive &receive : stage.receives)
        for (int64_t i = 0; i < kSize; ++i)
          h[i] += values[receive.name][i];
      for (int64_t i = 0; s == 0 && i < kSize; ++i)
        h[i] += batch.at("input.0")[k * kSize + i];
      if (!stage.buffers.empty()) {
        std::vector<double> &now = buffers[stage.buffers[0].name];
        for (int64_t i = 0; k == 0 && i < kColumns; ++i)
          now.push_back(given.at(stage.buffers[0].name)[i]);
        n = now;
        for (int64_t i = 0; i < kColumns; ++i)
          now[i] = now[i] / 2 + h[i];
      }
      for (int64_t i = 0; i < kSize; ++i) {
        double y = h[i] * valueOf(parameterOf(pipeline, s), i % kColumns) *
                   (1 + n[i % kColumns]);
        for (size_t v = 0; v < stage.sends.size(); ++v)
          values[stage.sends[v].name].push_back(y * double(v + 1) / 2);
        if (s + 1 == stages)
          loss += y / microBatches;
      }
    }
  }
  return loss;
}
