// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a folder with a manifest to named results.
//
//   1. the manifest, verified; files that are not those that it names are
//      refused
//   2. arguments by name; what a kernel reads sixteen bytes at a time is copied
//      to where it may be
//   3. the step
//   4. results, with their strides taken out

#include "ArtifactRun.h"

#include "cutback/Runtime/HostStep.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Target/CUDA/Toolchain.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

bool isArtifact(const std::string &path) {
  return llvm::sys::fs::exists(path + "/" + kManifestFile);
}

static int badArtifact(Session &session, const std::string &path,
                       const std::string &what) {
  session.error("'" + path + "' " + what);
  session.note("compile the model again: cutback compile MODEL -o DIR "
               "--target=cuda-host");
  return NoPlan;
}

static int readArtifact(Session &session, const std::string &folder,
                        Artifact &artifact) {
  std::string path = folder + "/" + kManifestFile;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return badArtifact(session, path, "cannot be read");
  std::string error = readManifest((*buffer)->getBuffer().str(), artifact);
  if (!error.empty())
    return badArtifact(session, path, error);
  for (const auto &[name, checksum] : artifact.files) {
    auto file = llvm::MemoryBuffer::getFile(folder + "/" + name);
    if (!file)
      return badArtifact(session, folder, "lacks '" + name + "'");
    if (checksumOf((*file)->getBuffer().str()) != checksum)
      return badArtifact(session, folder,
                         "has another '" + name + "' than its manifest names");
  }
  return Done;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static DType dtypeNamed(StringRef name) {
  for (int type = 0; type <= static_cast<int>(DType::Bool); ++type)
    if (nameOf(static_cast<DType>(type)) == name)
      return static_cast<DType>(type);
  return DType::F32;
}

static int wrongArgument(Session &session, const std::string &what,
                         const std::string &next) {
  session.error(what);
  session.note(next);
  return WrongInput;
}

/// Bytes that kernels may read sixteen at a time, and a copy if they are
/// written.
static Tensor placed(const Tensor &given, bool isWritten) {
  Tensor dense = given.contiguous();
  if (!isWritten && reinterpret_cast<uintptr_t>(dense.data()) % 16 == 0)
    return dense;
  Tensor copy = Tensor::zeros(dense.type, dense.sizes);
  std::memcpy(copy.data(), dense.data(), dense.numel() * itemSize(dense.type));
  return copy;
}

static int bindArgument(Session &session, const ArtifactArgument &argument,
                        const StepFiles &sources, int64_t seed,
                        Tensor &tensor) {
  DType type = dtypeNamed(argument.dtype);
  std::optional<Tensor> found;
  if (!argument.name.empty())
    found = sources.find(argument.name);
  if (found) {
    if (found->type != type ||
        ArrayRef<int64_t>(found->sizes) != ArrayRef<int64_t>(argument.sizes))
      return wrongArgument(
          session,
          "tensor '" + argument.name + "' is " +
              textOf(found->type, found->sizes) +
              ", the step was compiled for " + textOf(type, argument.sizes),
          "give that type and size, or compile the model for this one");
    tensor = placed(*found, argument.isWritten);
    return Done;
  }
  if (argument.fill == ArtifactArgument::Required) {
    bool isInput = StringRef(argument.name).starts_with("input.");
    return wrongArgument(session, "there is no tensor '" + argument.name + "'",
                         isInput ? "--inputs takes a safetensors file with it"
                                 : "--weights takes the .pt2 or safetensors "
                                   "file with it");
  }
  tensor = Tensor::zeros(type, argument.sizes);
  for (int64_t i = 0, n = tensor.numel(); i < n; ++i) {
    if (argument.fill == ArtifactArgument::Ones)
      tensor.set(i, 1);
    else if (argument.fill == ArtifactArgument::Seed)
      tensor.setInt(i, seed);
  }
  return Done;
}

/// A name of an input that the step does not have is a mistake.
static int checkNames(Session &session, const Artifact &artifact,
                      const StepFiles &sources) {
  for (const auto &[name, tensor] : sources.inputs.tensors()) {
    if (!StringRef(name).starts_with("input.") &&
        !StringRef(name).starts_with("tangent."))
      continue;
    bool isKnown = false;
    for (const ArtifactArgument &argument : artifact.arguments)
      isKnown |= argument.name == name;
    if (!isKnown)
      return wrongArgument(session,
                           "the file of --inputs has '" + name +
                               "', and the step takes nothing of that name",
                           "the manifest lists what it takes");
  }
  return Done;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static Tensor collect(const ArtifactResult &result, const char *bytes) {
  Tensor view;
  view.type = dtypeNamed(result.dtype);
  view.sizes.assign(result.sizes.begin(), result.sizes.end());
  view.strides.assign(result.strides.begin(), result.strides.end());
  view.offset = result.offset;
  view.storage = std::make_shared<Storage>();
  view.storage->data = const_cast<char *>(bytes);
  int64_t last = result.offset;
  for (size_t i = 0; i < result.sizes.size(); ++i)
    last += result.sizes[i] ? (result.sizes[i] - 1) * result.strides[i] : 0;
  view.storage->bytes = (last + 1) * itemSize(view.type);
  Tensor own = Tensor::zeros(view.type, view.sizes);
  if (own.numel())
    copyElements(view, own);
  return own;
}

int runArtifact(Session &session, const std::string &folder,
                const StepFiles &sources, ReferenceResult &result) {
  Artifact artifact;
  if (int code = readArtifact(session, folder, artifact))
    return code;
  if (artifact.target != "cuda-host") {
    session.error("'" + folder +
                  "' is for a GPU, and this version runs what "
                  "is compiled with --target=cuda-host");
    session.note("its kernels are in forward.cu and backward.cu, with the "
                 "launches in manifest.json");
    return NoPlan;
  }
  if (int code = checkNames(session, artifact, sources))
    return code;
  std::vector<Tensor> tensors(artifact.arguments.size());
  std::vector<char *> arguments;
  int64_t seed = session.line.integer("seed").value_or(0);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (int code = bindArgument(session, artifact.arguments[i], sources, seed,
                                tensors[i]))
      return code;
    arguments.push_back(tensors[i].data());
  }
  SmallString<256> library(folder);
  llvm::sys::fs::make_absolute(library);
  llvm::sys::path::append(library, kHostLibrary);
  HostStep step;
  std::string error = HostStep::open(library.str().str(), step);
  if (!error.empty())
    return badArtifact(session, folder, "does not run: " + error);
  session.progress.step("running");
  HostStep::Options options;
  options.checkMemory = session.line.has("check-memory");
  error = step.run(artifact, arguments, options);
  if (!error.empty()) {
    session.error(error);
    session.note("nothing was written");
    return NoPlan;
  }
  for (const ArtifactResult &one : artifact.results) {
    result.tensors.emplace_back(one.name,
                                collect(one, step.at(one.memory, arguments)));
    if (one.rounding != 0)
      result.rounding[one.name] = one.rounding;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ArtifactArgument &argument = artifact.arguments[i];
    if (!argument.isWritten)
      continue;
    result.tensors.emplace_back(argument.name, tensors[i]);
    if (argument.rounding != 0)
      result.rounding[argument.name] = argument.rounding;
  }
  result.arenaBytes = artifact.arenaBytes;
  return Done;
}

} // namespace cutback
