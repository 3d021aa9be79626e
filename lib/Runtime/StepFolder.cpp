// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a folder to something that runs, and from the arena to results.
//
// All files are read once, for their checksums: a folder that was copied in
// part, or of which one file is of another compilation, is refused before
// anything of it is loaded. A result has strides, because views cost nothing in
// the arena; who asks for it gets its elements in their order.

#include "cutback/Runtime/StepFolder.h"

#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Runtime/Cuda/CudaStep.h"
#include "cutback/Runtime/HostStep.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace cutback;

static bool readWhole(const std::string &path, std::string &bytes) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  if (!file || !(all << file.rdbuf()))
    return false;
  bytes = all.str();
  return true;
}

/// What to do about a folder that is damaged, or of another machine.
static std::string compileAgain(const Artifact &artifact) {
  return "compile the model again: cutback compile MODEL -o DIR --target=" +
         (artifact.target == kCpuTarget ? artifact.target : "cuda-host");
}

std::string cutback::ownWeights(const std::string &folder) {
  std::string path = folder + "/" + kWeightsFile;
  return ::access(path.c_str(), F_OK) == 0 ? path : "";
}

bool cutback::readStepFolder(const std::string &folder, Artifact &artifact,
                             StepError &error) {
  auto refuse = [&](const std::string &path, const std::string &what) {
    error = {"'" + path + "' " + what, compileAgain(artifact)};
    return false;
  };
  std::string path = folder + "/" + kManifestFile, bytes;
  if (!readWhole(path, bytes))
    return refuse(path, "cannot be read");
  if (std::string what = readManifest(bytes, artifact); !what.empty())
    return refuse(path, what);
  for (const auto &[name, checksum] : artifact.files) {
    if (!readWhole(folder + "/" + name, bytes))
      return refuse(folder, "lacks '" + name + "'");
    if (checksumOf(bytes) != checksum)
      return refuse(folder, "has another '" + name +
                                "' than its manifest "
                                "names");
  }
  return true;
}

/// Why this machine cannot run the machine code of `artifact`, or empty.
static std::string refuseProcessor(const Artifact &artifact) {
  if (artifact.target != kCpuTarget)
    return "";
  if (artifact.machine != machineName())
    return "it is for '" + artifact.machine + "', and this machine is '" +
           machineName() + "'";
  std::string missing = findMissingFeature(artifact.features);
  return missing.empty()
             ? ""
             : "it uses '" + missing + "', which this processor does not have";
}

static std::unique_ptr<Executor> openOnHost(const std::string &folder,
                                            const StepOptions &options,
                                            const Artifact &artifact,
                                            StepError &error) {
  if (std::string what = refuseProcessor(artifact); !what.empty()) {
    error = {"'" + folder + "' does not run here: " + what,
             "compile the model on this machine: cutback compile MODEL -o DIR "
             "--target=cpu"};
    return nullptr;
  }
  // Without a slash the loader would look in the system's folders.
  char *absolute = ::realpath((folder + "/" + kHostLibrary).c_str(), nullptr);
  std::string library = absolute ? absolute : folder + "/" + kHostLibrary;
  std::free(absolute);
  std::string what;
  auto executor = HostStep::open(library, artifact, options, what);
  if (!executor)
    error = {"'" + folder + "' does not run: " + what, compileAgain(artifact)};
  return executor;
}

std::unique_ptr<Executor> cutback::openStep(const std::string &folder,
                                            const StepOptions &options,
                                            const Artifact &artifact,
                                            StepError &error) {
  if (artifact.target != "cuda" && options.onDevice) {
    error = {"'" + folder +
                 "' runs on this machine, and takes no memory of a "
                 "device",
             "compile the model with --target=cuda"};
    return nullptr;
  }
  if (artifact.target != "cuda")
    return openOnHost(folder, options, artifact, error);
  return cuda::CudaStep::open(artifact, folder, options, error);
}

/// Copies the elements of `result` from `bytes`, axis by axis.
static void gather(const ArtifactResult &result, size_t axis, const char *from,
                   char *&to) {
  int64_t item = bytesOfType(result.dtype);
  if (axis == result.sizes.size()) {
    std::memcpy(to, from, item);
    to += item;
    return;
  }
  int64_t size = result.sizes[axis];
  if (axis + 1 == result.sizes.size() && result.strides[axis] == 1) {
    std::memcpy(to, from, size * item);
    to += size * item;
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    gather(result, axis + 1, from + i * result.strides[axis] * item, to);
}

int64_t cutback::lyingBytes(const ArtifactResult &result) {
  int64_t span = spanOf(result);
  return span ? span - result.offset * bytesOfType(result.dtype) : 0;
}

std::string cutback::readLying(const ArtifactResult &result, Executor &executor,
                               const std::vector<char *> &arguments, char *to) {
  int64_t from = result.offset * bytesOfType(result.dtype);
  int64_t bytes = lyingBytes(result), at = result.memory.at;
  if (bytes == 0)
    return "";
  return result.memory.kind == ArtifactMemory::Arena
             ? executor.read(at + from, bytes, to)
             : executor.readArgument(at, from, bytes, arguments[at], to);
}

std::string cutback::readResult(const ArtifactResult &result,
                                Executor &executor,
                                const std::vector<char *> &arguments,
                                char *to) {
  std::string lying(lyingBytes(result), 0);
  std::string what = readLying(result, executor, arguments, lying.data());
  if (what.empty() && !lying.empty())
    gather(result, 0, lying.data(), to);
  return what;
}
