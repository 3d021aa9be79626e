// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named ranges for a profiler (NVTX), where one has attached itself.
#ifndef CUTBACK_RUNTIME_CUDA_PROFILERRANGES_H
#define CUTBACK_RUNTIME_CUDA_PROFILERRANGES_H

#include <string>

namespace cutback::cuda {

/// A range from here to the end of the scope. Nothing where no profiler asks
/// for ranges (NVTX_INJECTION64_PATH, which nsys sets).
class ProfilerRange {
public:
  explicit ProfilerRange(const std::string &name);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange &) = delete;
  ProfilerRange &operator=(const ProfilerRange &) = delete;
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_PROFILERRANGES_H
