// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code for 8.0 runs on 8.0 and 8.9, and not on 9.0: the major number
// must be the same, and the minor one no larger. A folder without code for the
// device still has the text, which NVRTC compiles for it: with the flags that
// nvcc gets, so kernels give the same bits. That takes seconds, in every run;
// nothing is kept.

#include "cutback/Runtime/Cuda/DeviceImages.h"

#include "cutback/Runtime/Cuda/DeviceCompiler.h"

#include <cstdlib>

using namespace cutback;
using namespace cutback::cuda;

/// The bytes of a file that was read and checked.
static bool readFile(const Artifact &artifact, const std::string &name,
                     std::string &text) {
  const ArtifactFile *file = artifact.findFile(name);
  if (!file || !file->contents)
    return false;
  text = *file->contents;
  return true;
}

static bool hasCodeFor(const Artifact &artifact,
                       const DeviceArchitecture &device) {
  for (const std::string &architecture : artifact.architectures) {
    long number = std::strtol(architecture.c_str() + 3, nullptr, 10);
    if (number / 10 == device.major && number % 10 <= device.minor)
      return true;
  }
  return false;
}

static std::string compileText(const Artifact &artifact,
                               const DeviceCompiler &compiler,
                               const std::string &architecture,
                               DeviceImages &images) {
  SourceFiles headers;
  for (const ArtifactFile &file : artifact.files)
    if (file.name.size() > 4 &&
        file.name.compare(file.name.size() - 4, 4, ".cuh") == 0 &&
        !readFile(artifact, file.name,
                  headers.emplace_back(file.name, "").second))
      return "'" + file.name + "' is not there";
  for (size_t i = 0; i < artifact.segments.size(); ++i) {
    std::string name = artifact.segments[i].name + ".cu", text;
    if (!readFile(artifact, name, text))
      return "'" + name + "' is not there";
    std::string error =
        compiler.compile({name, text}, headers, architecture, images[i]);
    if (!error.empty())
      return name + ": " + error;
  }
  return "";
}

bool cutback::cuda::loadImages(const std::string &folder,
                               const Artifact &artifact,
                               const DeviceArchitecture &device,
                               DeviceImages &images, StepError &error) {
  images.resize(artifact.segments.size());
  bool hasCode = true;
  for (size_t i = 0; i < images.size() && hasCode; ++i)
    hasCode =
        readFile(artifact, artifact.segments[i].name + ".fatbin", images[i]);
  if (hasCode && hasCodeFor(artifact, device))
    return true;
  std::string own = device.text(), all;
  for (const std::string &architecture : artifact.architectures)
    all += (all.empty() ? "" : ", ") + architecture;
  std::string missing;
  std::unique_ptr<DeviceCompiler> compiler = DeviceCompiler::open(missing);
  if (!compiler) {
    error.what = hasCode ? "'" + folder + "' has machine code for " + all +
                               ", and " + device.name + " is " + own
                         : "'" + folder + "' has no machine code";
    error.what += "; its text cannot be compiled here: " + missing;
    error.next = "compile the model where nvcc is, with --arch=" + own +
                 ", or install NVIDIA's NVRTC";
    return false;
  }
  error.what = compileText(artifact, *compiler, own, images);
  error.next = "the text is cutback's, so this is a defect of cutback, unless "
               "NVRTC is older than the device; please report it";
  return error.what.empty();
}
