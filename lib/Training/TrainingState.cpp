// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a training as a file of tensors: those of the trainer, and some
// of one number each.
//
// A file is compared with the trainer as a whole before anything of it is taken
// over: names, types and sizes must be those of this model and optimizer.
// Linear.

#include "cutback/Training/Trainer.h"

#include "cutback/Runtime/StateNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>
#include <set>
#include <tuple>

using namespace cutback;
using namespace cutback::interpreter;
using namespace cutback::state;

Trainer::~Trainer() = default;

static Tensor numberOf(int64_t value) {
  Tensor tensor = Tensor::zeros(DType::I64, {});
  tensor.setInt(0, value);
  return tensor;
}

/// Names with line ends, as bytes.
static Tensor bytesOf(const std::vector<std::string> &names) {
  std::string text = llvm::join(names, "\n");
  Tensor tensor = Tensor::zeros(DType::U8, {static_cast<int64_t>(text.size())});
  std::memcpy(tensor.data(), text.data(), text.size());
  return tensor;
}

/// Whether parameters decay there as here. An empty string, or which does not.
static std::string checkUndecayed(const TensorFile &file,
                                  const Trainer &trainer) {
  std::set<std::string> there;
  if (const Tensor *stored = file.find(kUndecayedNames)) {
    if (stored->type != DType::U8 || stored->rank() != 1)
      return "has a list '" + std::string(kUndecayedNames) +
             "' that no training has";
    Tensor bytes = stored->contiguous();
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(bytes.data(), bytes.numel()).split(names, '\n');
    for (llvm::StringRef name : names)
      there.insert(name.str());
  }
  std::vector<std::string> own = trainer.undecayed();
  std::set<std::string> here(own.begin(), own.end());
  for (const auto &[some, others, where] :
       {std::tuple(&there, &here, "there, and decays here"),
        std::tuple(&here, &there, "here, and decays there")})
    for (const std::string &name : *some)
      if (!others->count(name))
        return "is the state of another training: '" + name +
               "' has no weight decay " + where + " (--no-decay)";
  return "";
}

std::string cutback::encodeState(const Trainer &trainer,
                                 const TrainingPoint &point) {
  std::vector<NamedTensor> tensors = trainer.state();
  tensors.emplace_back(kSeed, numberOf(point.seed));
  tensors.emplace_back(kSteps, numberOf(point.steps));
  if (std::vector<std::string> names = trainer.undecayed(); !names.empty())
    tensors.emplace_back(kUndecayedNames, bytesOf(names));
  if (point.scale) {
    Tensor scale = Tensor::zeros(DType::F64, {});
    scale.set(0, point.scale->scale);
    tensors.emplace_back(kScale, scale);
    tensors.emplace_back(kGood, numberOf(point.scale->good));
    tensors.emplace_back(kSkipped, numberOf(point.scale->skipped));
  }
  // As ranks write it.
  llvm::sort(tensors, llvm::less_first());
  return encodeTensors(tensors);
}

/// A number of the file; nothing where it has none of that name.
static std::optional<int64_t> readNumber(const TensorFile &file,
                                         const char *name) {
  const Tensor *tensor = file.find(name);
  if (!tensor || tensor->type != DType::I64 || tensor->numel() != 1)
    return std::nullopt;
  return tensor->contiguous().getInt(0);
}

/// Into `scale`, one that is dynamic or has this very number. An empty string,
/// or what is missing.
static std::string readScale(const TensorFile &file, LossScale &scale) {
  const Tensor *stored = file.find(kScale);
  std::optional<int64_t> good = readNumber(file, kGood),
                         skipped = readNumber(file, kSkipped);
  if (!stored || stored->type != DType::F64 || stored->numel() != 1 || !good ||
      !skipped)
    return "is the state of another training: it lacks '" +
           std::string(kScale) + "', '" + kGood + "' or '" + kSkipped + "'";
  double found = stored->contiguous().getDouble(0);
  if (!(found > 0) || *good < 0 || *skipped < 0)
    return "has a loss scale that no training has";
  if (scale.isDynamic)
    scale.scale = std::min(found, scale.greatest);
  scale.good = *good;
  scale.skipped = *skipped;
  return "";
}

std::string cutback::restoreState(const TensorFile &file, Trainer &trainer,
                                  TrainingPoint &point) {
  std::optional<int64_t> steps = readNumber(file, kSteps),
                         seed = readNumber(file, kSeed);
  if (!steps || !seed || *steps < 0)
    return "is no state of a training: it lacks 'training.steps' or "
           "'training.seed'";
  std::vector<NamedTensor> state = trainer.state();
  llvm::StringSet<> known;
  for (const auto &[name, tensor] : state) {
    known.insert(name);
    const Tensor *found = file.find(name);
    if (!found)
      return "is the state of another training: it lacks '" + name + "'";
    if (found->type != tensor.type || found->sizes != tensor.sizes)
      return "is the state of another training: '" + name + "' is " +
             textOf(found->type, found->sizes) + " there, and here " +
             textOf(tensor.type, tensor.sizes);
  }
  if (std::string error = checkUndecayed(file, trainer); !error.empty())
    return error;
  for (const char *name : {kSteps, kSeed, kUndecayedNames})
    known.insert(name);
  std::optional<LossScale> scale = point.scale;
  if (scale) {
    if (std::string error = readScale(file, *scale); !error.empty())
      return error;
    for (const char *name : {kScale, kGood, kSkipped})
      known.insert(name);
  }
  for (const auto &[name, tensor] : file.tensors())
    if (!known.contains(name))
      return "is the state of another training: it has '" + name + "'";
  for (const auto &[name, tensor] : state)
    copyElements(*file.find(name), tensor);
  point = {*steps, *seed, scale};
  return trainer.placeState();
}
