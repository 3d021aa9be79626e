// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument that the step changes is changed in memory alone. A tensor that
// does not lie at a multiple of 16 bytes, and one that nobody gave, gets memory
// of its own. Results are copied out of the arena once, with their strides
// taken out, and written as one file.

#include "StepTensors.h"

#include "cutback/Runtime/Arguments.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Support/Heap.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

using namespace cutback;

static std::string textOf(std::string_view dtype,
                          const std::vector<int64_t> &sizes) {
  std::string text = std::string(dtype) + "[";
  for (int64_t size : sizes)
    text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
  return text + "]";
}

void StepTensors::Free::operator()(char *bytes) const { std::free(bytes); }

std::string StepTensors::addFile(const std::string &path) {
  return files.add(path);
}

std::string StepTensors::addOwnWeights(const std::string &folder,
                                       const Artifact &artifact) {
  std::string path = folder + "/" + kWeightsFile;
  if (!artifact.findFile(kWeightsFile) && ::access(path.c_str(), F_OK) != 0)
    return "";
  return files.add(path, [&](std::string_view bytes) {
    return checkWeights(artifact, bytes);
  });
}

std::string StepTensors::findUnknownInput(const Artifact &artifact) const {
  for (const auto &[name, given] : files.all())
    if (isInputName(name) && !takesArgument(artifact, name))
      return name;
  return "";
}

std::optional<std::vector<int64_t>>
StepTensors::sizesOf(const std::string &name) const {
  const TensorFiles::Tensor *found = files.find(name);
  if (!found)
    return std::nullopt;
  return found->entry.sizes;
}

bool StepTensors::bind(const ArtifactArgument &argument, int64_t seed,
                       bool isTaken, StepError &error) {
  bound.push_back(nullptr);
  if (!isTaken)
    return true;
  const TensorFiles::Tensor *found = files.find(argument.name);
  bool isGiven = found != nullptr;
  if (!isGiven && argument.fill == ArtifactArgument::Required) {
    error.what = "there is no tensor '" + argument.name + "'";
    if (argument.name.rfind("optimizer.", 0) == 0) {
      error.next = "the backward of this step updates parameters: `cutback "
                   "train` runs it; --update=after compiles one without";
      return false;
    }
    error.next =
        std::string(isInputName(argument.name) ? "--inputs" : "--weights") +
        " takes a safetensors file with it";
    return false;
  }
  const char *given = nullptr;
  if (isGiven) {
    const TensorEntry &entry = found->entry;
    if (entry.dtype != fileTypeOf(argument.dtype) ||
        entry.sizes != argument.sizes) {
      error.what = "tensor '" + argument.name + "' is " +
                   textOf(entry.dtype, entry.sizes) +
                   ", the step was compiled for " +
                   textOf(fileTypeOf(argument.dtype), argument.sizes);
      error.next = "give that type and size, or compile the model for this one";
      return false;
    }
    given = found->bytes;
    if (reinterpret_cast<uintptr_t>(given) % 16 == 0) {
      bound.back() = const_cast<char *>(given);
      return true;
    }
  }
  int64_t size = bytesOf(argument);
  void *memory = allocateBytes(size, 64);
  if (!memory)
    throw std::bad_alloc();
  bound.back() = static_cast<char *>(memory);
  owned.emplace_back(bound.back());
  if (given)
    std::memcpy(memory, given, size);
  else
    fillArgument(argument, seed, bound.back());
  return true;
}

std::string StepTensors::writeResults(const Artifact &artifact,
                                      Executor &executor,
                                      std::string &file) const {
  std::vector<std::pair<ArtifactTensor, std::string>> tensors;
  auto add = [&](const ArtifactTensor &tensor) -> std::string & {
    std::string bytes(bytesOf(tensor), '\0');
    return tensors.emplace_back(tensor, std::move(bytes)).second;
  };
  for (const ArtifactResult &result : artifact.results) {
    if (result.name.empty() || isOptimizerSegment(result.segment))
      continue;
    std::string &bytes = add(result);
    std::string what = readResult(result, executor, bound, bytes.data());
    if (!what.empty())
      return what;
  }
  for (size_t i = 0; i < bound.size(); ++i)
    if (artifact.arguments[i].isWritten && bound[i]) {
      std::string &bytes = add(artifact.arguments[i]);
      std::memcpy(bytes.data(), bound[i], bytes.size());
    }
  std::vector<std::pair<ArtifactTensor, std::string_view>> all;
  for (const auto &[tensor, bytes] : tensors)
    all.emplace_back(tensor, bytes);
  file = encodeTensorFile(all);
  return "";
}

std::string cutback::describeLoss(const Artifact &artifact, Executor &executor,
                                  const std::vector<char *> &arguments) {
  for (const ArtifactResult &result : artifact.results) {
    float value = 0;
    if (result.name != "loss" || result.dtype != "f32" ||
        bytesOf(result) != sizeof value ||
        !readResult(result, executor, arguments,
                    reinterpret_cast<char *>(&value))
             .empty())
      continue;
    char text[48];
    std::snprintf(text, sizeof text, "loss %.9g, ", double(value));
    return text;
  }
  return "";
}
