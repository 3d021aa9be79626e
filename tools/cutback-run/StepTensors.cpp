// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are mapped, privately: an argument that the step changes is changed in
// memory alone, and pages that no kernel reads are never read. A tensor that
// does not lie at a multiple of 16 bytes, and one that nobody gave, gets memory
// of its own. Results are copied out of the arena once, with their strides
// taken out, and written behind one header.

#include "StepTensors.h"

#include "cutback/Runtime/Arguments.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Support/Heap.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace cutback;

/// The safetensors word of a type of an artifact.
static std::string fileTypeOf(std::string_view dtype) {
  if (dtype == "i1")
    return "BOOL";
  if (dtype.substr(0, 8) == "complex<") // bits of both parts
    return "C" + std::to_string(8 * bytesOfType(dtype));
  std::string word(dtype);
  if (dtype.substr(0, 2) == "ui") // "ui8" is "U8"
    word = "u" + word.substr(2);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return word;
}

static std::string textOf(std::string_view dtype,
                          const std::vector<int64_t> &sizes) {
  std::string text = std::string(dtype) + "[";
  for (int64_t size : sizes)
    text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
  return text + "]";
}

void StepTensors::Free::operator()(char *bytes) const { std::free(bytes); }

StepTensors::~StepTensors() {
  for (auto [bytes, size] : mapped)
    ::munmap(bytes, size);
}

/// Maps all of a regular file; none of an empty one. What failed, or empty.
static std::string mapFile(const std::string &path, void *&bytes,
                           size_t &size) {
  int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status = {};
  if (file < 0 || ::fstat(file, &status) != 0) {
    std::string what = std::strerror(errno);
    if (file >= 0)
      ::close(file);
    return what;
  }
  std::string what;
  size = static_cast<size_t>(status.st_size);
  bytes = nullptr;
  if (!S_ISREG(status.st_mode))
    what = "this is not a file";
  else if (size > 0 && (bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE, file, 0)) == MAP_FAILED)
    what = std::strerror(errno);
  ::close(file);
  return what;
}

std::string StepTensors::addFile(const std::string &path) {
  return addFile(path, [](std::string_view) { return std::string(); });
}

std::string StepTensors::addOwnWeights(const std::string &folder,
                                       const Artifact &artifact) {
  std::string path = folder + "/" + kWeightsFile;
  if (!artifact.findFile(kWeightsFile) && ::access(path.c_str(), F_OK) != 0)
    return "";
  return addFile(path, [&](std::string_view bytes) {
    return checkWeights(artifact, bytes);
  });
}

std::string StepTensors::addFile(const std::string &path, const Check &check) {
  void *bytes = nullptr;
  size_t size = 0;
  std::string what = mapFile(path, bytes, size);
  if (what.empty() && bytes)
    mapped.emplace_back(bytes, size);
  std::vector<TensorEntry> entries;
  std::string_view text(static_cast<const char *>(bytes), size);
  if (what.empty())
    what = check(text);
  if (what.empty())
    what = readTensorHeader(text, entries);
  if (!what.empty())
    return path + ": " + what;
  for (TensorEntry &entry : entries) {
    const char *at = text.data() + entry.begin;
    std::string name = entry.name;
    byName.try_emplace(std::move(name), Given{std::move(entry), at});
  }
  return "";
}

std::string StepTensors::findUnknownInput(const Artifact &artifact) const {
  for (const auto &[name, given] : byName)
    if (isInputName(name) && !takesArgument(artifact, name))
      return name;
  return "";
}

std::optional<std::vector<int64_t>>
StepTensors::sizesOf(const std::string &name) const {
  auto found = byName.find(name);
  if (found == byName.end())
    return std::nullopt;
  return found->second.entry.sizes;
}

bool StepTensors::bind(const ArtifactArgument &argument, int64_t seed,
                       bool isTaken, StepError &error) {
  bound.push_back(nullptr);
  if (!isTaken)
    return true;
  auto found = byName.find(argument.name);
  bool isGiven = found != byName.end();
  if (!isGiven && argument.fill == ArtifactArgument::Required) {
    error.what = "there is no tensor '" + argument.name + "'";
    error.next =
        std::string(isInputName(argument.name) ? "--inputs" : "--weights") +
        " takes a safetensors file with it";
    return false;
  }
  const char *given = nullptr;
  if (isGiven) {
    const TensorEntry &entry = found->second.entry;
    if (entry.dtype != fileTypeOf(argument.dtype) ||
        entry.sizes != argument.sizes) {
      error.what = "tensor '" + argument.name + "' is " +
                   textOf(entry.dtype, entry.sizes) +
                   ", the step was compiled for " +
                   textOf(fileTypeOf(argument.dtype), argument.sizes);
      error.next = "give that type and size, or compile the model for this one";
      return false;
    }
    given = found->second.bytes;
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
  std::vector<std::pair<TensorEntry, std::string>> tensors;
  auto add = [&](const ArtifactTensor &tensor) -> std::string & {
    auto &[entry, bytes] = tensors.emplace_back();
    entry.name = tensor.name;
    entry.dtype = fileTypeOf(tensor.dtype);
    entry.sizes = tensor.sizes;
    bytes.resize(bytesOf(tensor));
    return bytes;
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
  // Wide types first: then all data is aligned.
  std::stable_sort(tensors.begin(), tensors.end(), [](auto &a, auto &b) {
    return bytesOfTensorType(a.first.dtype) > bytesOfTensorType(b.first.dtype);
  });
  std::vector<TensorEntry> entries;
  for (const auto &[entry, bytes] : tensors)
    entries.push_back(entry);
  file = writeTensorHeader(entries);
  for (const auto &[entry, bytes] : tensors)
    file += bytes;
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
