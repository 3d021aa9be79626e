// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of the manifest are the state: parameters and buffers under
// their names, and what the update alone takes. A micro-batch sets inputs,
// seeds and numbers, and runs all segments, the last one of them where its step
// ends.
//
// The state is kept where launches run, and so are sums of gradients, which are
// no part of it. A GPU gets it once, gives it back when it is saved, and in a
// step takes inputs, seeds and numbers alone.

#include "ArtifactTrainer.h"

#include "ArtifactChecks.h"

#include "cutback/Dialect/Joint/InsideUpdate.h"

#include <cmath>
#include <cstring>
#include <map>

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

namespace {

constexpr const char *kNoLoss = "the step has no result 'loss' of one element";

class ArtifactTrainer : public Trainer {
public:
  BoundArtifact bound;
  std::unique_ptr<WatchedStep> watched; ///< if somebody looks on

  std::vector<NamedTensor> state() const override {
    std::map<std::string, Tensor> sorted;
    for (size_t i = 0; i < bound.tensors.size(); ++i)
      if (isState(bound.artifact.arguments[i]))
        sorted[bound.artifact.arguments[i].name] = bound.tensors[i];
    return {sorted.begin(), sorted.end()};
  }

  std::string fetchState() override {
    std::string error;
    for (size_t i = 0; i < bound.tensors.size() && error.empty(); ++i) {
      const ArtifactArgument &argument = bound.artifact.arguments[i];
      if (isState(argument))
        error = bound.executor->readArgument(
            i, 0, bytesOf(argument), bound.arguments[i], bound.arguments[i]);
    }
    return error;
  }

  std::string placeState() override {
    std::string error;
    for (size_t i = 0; i < bound.tensors.size() && error.empty(); ++i)
      if (isKept(bound.artifact.arguments[i]))
        error = bound.executor->keep(i, bound.arguments[i]);
    return error;
  }

  int64_t arenaBytes() const override { return bound.artifact.arenaBytes; }

  void findSeeds() {
    const std::vector<ArtifactArgument> &arguments = bound.artifact.arguments;
    for (const ArtifactArgument &argument : arguments) {
      scalesLoss |= argument.name == kLossScale;
      addsUp |= argument.name == kMicroBatch;
    }
    if (!scalesLoss && !addsUp)
      return;
    seeds.emplace();
    for (size_t i = 0; i < bound.tensors.size(); ++i)
      if (arguments[i].fill == ArtifactArgument::Ones ||
          StringRef(arguments[i].name).starts_with("tangent."))
        seeds->add(i, bound.tensors[i]);
  }

  std::string run(const TrainingInputs &inputs,
                  TrainingResult &result) override {
    if (std::string error = setInputs(inputs); !error.empty())
      return error;
    std::string error = runSegments(inputs.isLast);
    std::optional<double> loss;
    for (const ArtifactResult &one : bound.artifact.results) {
      bool isUpdate = one.segment == kUpdateSegment;
      if (!error.empty() || (isUpdate ? !inputs.isLast : one.name != "loss"))
        continue;
      Tensor tensor;
      error = readTensor(one, *bound.executor, bound.arguments, tensor);
      if (!error.empty() || tensor.numel() != 1)
        continue;
      if (isUpdate && one.name == kGreatestGradient)
        result.isSkipped = !std::isfinite(tensor.getDouble(0));
      else
        (isUpdate ? result.gradientNorm : loss) = tensor.getDouble(0);
    }
    if (error.empty() && !loss)
      error = kNoLoss;
    result.loss = loss.value_or(0);
    return error;
  }

  std::string evaluate(const TrainingInputs &inputs, double &loss) override {
    if (std::string error = setInputs(inputs); !error.empty())
      return error;
    std::vector<std::pair<size_t, std::vector<char>>> written;
    std::string error = keepWritten(written);
    if (error.empty())
      error = runForward(loss);
    for (const auto &[i, bytes] : written) {
      std::memcpy(bound.arguments[i], bytes.data(), bytes.size());
      if (std::string wrong = bound.executor->keep(i, bound.arguments[i]);
          error.empty())
        error = wrong;
    }
    return error;
  }

  std::vector<std::string> undecayed() const override {
    std::vector<std::string> list;
    for (const ArtifactArgument &argument : bound.artifact.arguments)
      if (argument.isUndecayed)
        list.push_back(argument.name);
    llvm::sort(list);
    return list;
  }

private:
  /// What the forward writes, as it is.
  std::string
  keepWritten(std::vector<std::pair<size_t, std::vector<char>>> &written) {
    std::string error;
    for (size_t i = 0; i < bound.tensors.size() && error.empty(); ++i) {
      const ArtifactArgument &argument = bound.artifact.arguments[i];
      if (!argument.isWritten || !isKept(argument))
        continue;
      auto &[number, bytes] = written.emplace_back();
      number = i;
      bytes.resize(bytesOf(argument));
      error = bound.executor->readArgument(i, 0, bytesOf(argument),
                                           bound.arguments[i], bytes.data());
    }
    return error;
  }

  std::string runForward(double &loss) {
    const std::vector<ArtifactSegment> &segments = bound.artifact.segments;
    auto forward = llvm::find_if(segments, [](const ArtifactSegment &segment) {
      return segment.name == kernel::kForward;
    });
    if (forward == segments.end())
      return "the step has no forward";
    std::string error = bound.executor->run(
        {static_cast<size_t>(forward - segments.begin())}, bound.arguments);
    for (const ArtifactResult &one : bound.artifact.results) {
      if (!error.empty() || one.name != "loss")
        continue;
      Tensor tensor;
      error = readTensor(one, *bound.executor, bound.arguments, tensor);
      if (!error.empty() || tensor.numel() != 1)
        break;
      loss = tensor.getDouble(0);
      return "";
    }
    return error.empty() ? kNoLoss : error;
  }

  static bool isState(const ArtifactArgument &argument) {
    StringRef name = argument.name;
    bool isOwn = name.starts_with(joint::kOptimizerPrefix) &&
                 name != kLearningRate && name != kStepNumber &&
                 name != kLossScale && name != kMicroBatch;
    return argument.tied < 0 &&
           (isOwn || name.starts_with("param.") || name.starts_with("buffer."));
  }

  /// Is where launches run, from step to step.
  static bool isKept(const ArtifactArgument &argument) {
    bool isSum = argument.segment == kAccumulateSegment && argument.isUpdated;
    return isSum || isState(argument) ||
           StringRef(argument.name).starts_with("const.");
  }

  std::string runSegments(bool isLast) {
    std::vector<size_t> all;
    SmallVector<StringRef> names;
    for (size_t i = 0; i < bound.artifact.segments.size(); ++i) {
      if (!isLast && bound.artifact.segments[i].name == kUpdateSegment)
        continue;
      all.push_back(i);
      names.push_back(bound.artifact.segments[i].name);
    }
    if (!watched)
      return bound.executor->run(all, bound.arguments);
    return watched->run(names) ? "" : "the step does not run";
  }

  std::string setInputs(const TrainingInputs &inputs) {
    for (size_t i = 0; i < bound.tensors.size(); ++i) {
      const ArtifactArgument &argument = bound.artifact.arguments[i];
      Tensor &tensor = bound.tensors[i];
      if (argument.fill == ArtifactArgument::Seed)
        for (int64_t e = 0, n = tensor.numel(); e < n; ++e)
          tensor.setInt(e, inputs.seed);
      if (argument.name == kLearningRate)
        tensor.set(0, inputs.learningRate);
      else if (argument.name == kStepNumber)
        tensor.set(0, static_cast<double>(inputs.number + 1));
      else if (argument.name == kLossScale)
        tensor.set(0, inputs.lossScale);
      else if (argument.name == kMicroBatch)
        tensor.set(0, static_cast<double>(inputs.microBatch));
      for (const auto &[name, given] : inputs.tensors) {
        if (name != argument.name)
          continue;
        if (given.type != tensor.type || given.sizes != tensor.sizes)
          return "tensor '" + name + "' is " + textOf(given.type, given.sizes) +
                 ", the step was compiled for " +
                 textOf(tensor.type, tensor.sizes);
        std::memcpy(tensor.data(), given.contiguous().data(),
                    tensor.numel() * itemSize(tensor.type));
        if (seeds)
          seeds->replace(i, given);
      }
    }
    if (seeds)
      seeds->forEach(inputs.lossScale * inputs.share,
                     [&](size_t i, const Tensor &scaled) {
                       copyElements(scaled, bound.tensors[i]);
                     });
    return "";
  }
};

} // namespace

int openArtifactTrainer(Session &session, const std::string &folder,
                        StepFiles &sources, FindTensor find,
                        const RunChecks &checks,
                        std::unique_ptr<Trainer> &trainer) {
  auto made = std::make_unique<ArtifactTrainer>();
  if (int code = openArtifact(session, folder, sources, find, made->bound))
    return code;
  if (!hasUpdate(made->bound.artifact)) {
    session.error("'" + folder +
                  "' has no update: it was compiled without "
                  "an optimizer");
    session.note("compile it with --optimizer=sgd or adamw");
    return NoPlan;
  }
  if (checks.any()) {
    made->watched = std::make_unique<WatchedStep>();
    if (int code = made->watched->open(session, folder, made->bound, checks))
      return code;
  }
  made->findSeeds();
  if (std::string error = made->placeState(); !error.empty()) {
    session.error(error);
    session.note("the parameters are not on the device, and no step was run");
    return NoPlan;
  }
  trainer = std::move(made);
  return Done;
}

} // namespace cutback
