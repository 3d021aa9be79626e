// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a folder to something that runs, and from the arena to results.
//
// All files are read once, and checked, and the bytes that were checked are
// those that are loaded: a folder that was copied in part, or of which one file
// is of another compilation, is refused before anything of it runs. A result
// has strides, because views cost nothing in the arena; who asks for it gets
// its elements in their order.

#include "cutback/Runtime/StepFolder.h"

#include "cutback/Runtime/Contract.h"
#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Runtime/Cuda/CudaStep.h"
#include "cutback/Runtime/HostStep.h"

#include "cutback/Support/Checksum.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace cutback;

/// All bytes of a regular file; of anything else, which may never end, why not.
static std::string readWhole(const std::string &path, std::string &bytes) {
  int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return std::strerror(errno);
  struct stat status = {};
  std::string what;
  if (::fstat(file, &status) != 0)
    what = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    what = "this is no regular file";
  bytes.clear();
  constexpr size_t step = 1 << 20;
  while (what.empty()) {
    size_t at = bytes.size();
    bytes.resize(at + (at == 0 ? status.st_size + 1 : step));
    ssize_t count = ::read(file, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno != EINTR)
      what = std::strerror(errno);
    bytes.resize(at + std::max<ssize_t>(count, 0));
    if (count == 0)
      break;
  }
  ::close(file);
  return what;
}

/// What to do about a folder that is damaged, or of another machine.
static std::string compileAgain(const Artifact &artifact) {
  return "compile the model again: cutback compile MODEL -o DIR --target=" +
         (artifact.target == kCpuTarget ? artifact.target : "cuda-host");
}

/// Reads `file` of `folder`, and keeps its bytes if they are code: what is
/// loaded is what was checked. Weights have gigabytes: they are checked when
/// they are mapped (checkWeights). What is wrong, or empty.
static std::string checkFile(const std::string &folder, ArtifactFile &file) {
  if (file.name == kWeightsFile)
    return "";
  auto bytes = std::make_shared<std::string>();
  std::string what = readWhole(folder + "/" + file.name, *bytes);
  if (!what.empty())
    return "lacks '" + file.name + "' (" + what + ")";
  if (static_cast<int64_t>(bytes->size()) != file.bytes ||
      checksumOf(*bytes) != file.checksum)
    return "has another '" + file.name + "' than its manifest names";
  if (file.name != kKernelsFile)
    file.contents = std::move(bytes);
  return "";
}

/// Whether the launches of a manifest are those that its code is for. What is
/// wrong, or empty.
static std::string checkContract(const Artifact &artifact) {
  const ArtifactFile *file = artifact.findFile(kContractFile);
  if (!file || !file->contents)
    return std::string("lacks '") + kContractFile + "'";
  return findBreach(artifact, *file->contents);
}

/// Reads the folder as it is now. `manifest` is the text that was read.
static bool tryFolder(const std::string &folder, Artifact &artifact,
                      std::string &manifest, StepError &error) {
  auto refuse = [&](const std::string &path, const std::string &what) {
    error = {"'" + path + "' " + what, compileAgain(artifact)};
    return false;
  };
  std::string path = folder + "/" + kManifestFile;
  if (std::string what = readWhole(path, manifest); !what.empty())
    return refuse(path, "cannot be read: " + what);
  if (std::string what = readManifest(manifest, artifact); !what.empty())
    return refuse(path, what);
  for (ArtifactFile &file : artifact.files)
    if (std::string what = checkFile(folder, file); !what.empty())
      return refuse(folder, what);
  if (std::string what = checkContract(artifact); !what.empty())
    return refuse(path, what);
  return true;
}

bool cutback::readStepFolder(const std::string &folder, Artifact &artifact,
                             StepError &error) {
  // Where the model is compiled anew meanwhile, files are of two steps until
  // the manifest, the last one, is there.
  std::string manifest, before;
  for (int tries = 0; tries < 4; ++tries) {
    if (tryFolder(folder, artifact, manifest, error))
      return true;
    if (tries > 0 && manifest == before)
      return false;
    before = manifest;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

std::string cutback::checkWeights(const Artifact &artifact,
                                  std::string_view bytes) {
  const ArtifactFile *file = artifact.findFile(kWeightsFile);
  bool isSame = file && static_cast<int64_t>(bytes.size()) == file->bytes &&
                checksumOf(bytes) == file->checksum;
  return isSame ? ""
                : std::string("has another '") + kWeightsFile +
                      "' than its manifest names";
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
  const ArtifactFile *library = artifact.findFile(kHostLibrary);
  if (!library || !library->contents) {
    error = {"'" + folder + "' has no " + kHostLibrary, compileAgain(artifact)};
    return nullptr;
  }
  std::string what;
  auto executor = HostStep::open(*library, artifact, options, what);
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

/// Copies `count` elements that are `step` bytes apart. Of a known size they
/// are moved by one instruction each.
template <size_t kItem>
static void gatherRow(const char *from, int64_t step, int64_t count,
                      char *&to) {
  for (int64_t i = 0; i < count; ++i, to += kItem)
    std::memcpy(to, from + i * step, kItem);
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
  if (axis + 1 == result.sizes.size() && (item == 4 || item == 2)) {
    auto *copy = item == 4 ? gatherRow<4> : gatherRow<2>;
    copy(from, result.strides[axis] * item, size, to);
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    gather(result, axis + 1, from + i * result.strides[axis] * item, to);
}

int64_t cutback::lyingBytes(const ArtifactResult &result) {
  int64_t span = spanOf(result);
  return span ? span - result.offset * bytesOfType(result.dtype) : 0;
}

bool cutback::isDense(const ArtifactResult &result) {
  int64_t stride = 1;
  for (size_t axis = result.sizes.size(); axis-- > 0;) {
    if (result.sizes[axis] != 1 && result.strides[axis] != stride)
      return false;
    stride *= result.sizes[axis];
  }
  return true;
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

void cutback::putInOrder(const ArtifactResult &result, const char *lying,
                         char *to) {
  gather(result, 0, lying, to);
}

std::string cutback::readResult(const ArtifactResult &result,
                                Executor &executor,
                                const std::vector<char *> &arguments,
                                char *to) {
  if (isDense(result))
    return readLying(result, executor, arguments, to);
  std::string lying(lyingBytes(result), 0);
  std::string what = readLying(result, executor, arguments, lying.data());
  if (what.empty() && !lying.empty())
    gather(result, 0, lying.data(), to);
  return what;
}
