// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the executors share: how a message names a launch. The name of the
// kernel is that of a function of forward.cu, backward.cu or another segment's;
// op and place are those of the model. And what an executor does that has no
// launches one by one: it says so.

#include "cutback/Runtime/Executor.h"

#include <cstring>

using namespace cutback;

/// Of the marks of kernels (cutback_math.cuh), and of calls on a CPU: the
/// others are indices.
static constexpr int kCheckFailed = 2, kNoMemory = 3;

Executor::~Executor() = default;
CollectiveRunner::~CollectiveRunner() = default;

static constexpr const char *kNotOneByOne =
    "runs its launches on a device, not one by one";

std::string Executor::readArgument(size_t, int64_t from, int64_t bytes,
                                   const char *given, char *to) {
  if (to != given + from)
    std::memcpy(to, given + from, bytes);
  return "";
}

std::string Executor::setStream(void *) {
  return "the step takes memory of this machine, and no stream";
}

char *Executor::beginLaunches(std::string &error) {
  error = kNotOneByOne;
  return nullptr;
}

std::string Executor::runLaunch(size_t, size_t, const std::vector<char *> &) {
  return kNotOneByOne;
}

std::string cutback::describeLaunch(const Artifact &artifact,
                                    const ArtifactLaunch &launch) {
  return "'" + artifact.kernels[launch.kernel].name + "' (" + launch.op +
         (launch.place.empty() ? "" : ", " + launch.place) + ")";
}

std::vector<HookPoint> cutback::hookPointsOf(const Artifact &artifact) {
  std::vector<HookPoint> points;
  for (const ArtifactSegment &segment : artifact.segments)
    for (const ArtifactHook &hook : segment.hooks)
      points.push_back({hook.name, hook.kind, hook.key, hook.replaces});
  return points;
}

std::string cutback::describeMark(const KernelMark &mark) {
  if (mark.kind == kNoMemory)
    return "this machine has no memory for what is summed up or sorted beside "
           "the arena";
  if (mark.kind == kCheckFailed)
    return "a check of the program failed";
  return "index " + std::to_string(mark.index) +
         " is out of range for a dimension of size " +
         std::to_string(mark.size);
}
