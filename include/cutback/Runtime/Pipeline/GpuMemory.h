// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that a GPU and this machine share.
#ifndef CUTBACK_RUNTIME_PIPELINE_GPUMEMORY_H
#define CUTBACK_RUNTIME_PIPELINE_GPUMEMORY_H

#include "cutback/Runtime/Cuda/Driver.h"
#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/Pipeline/Block.h"

#include <map>
#include <memory>

namespace cutback::pipeline {

/// Managed memory of CUDA: pages are on the GPU or on this machine, where they
/// were used last. Of one thread.
class GpuMemory : public BlockMemory {
public:
  /// That of the device of this number (StepOptions::device). Null where the
  /// machine cannot reach it while the GPU runs; with `error` set, if a call
  /// fails.
  static std::unique_ptr<GpuMemory> open(int device, StepError &error);
  ~GpuMemory() override;

  void *take(int64_t bytes) override;
  void giveBack(void *memory, int64_t bytes) override;

private:
  GpuMemory() = default;

  std::unique_ptr<cuda::Driver> driver;
  int device = -1;
  cuda::Handle context = nullptr;
  bool hasContext = false;
  std::multimap<int64_t, void *> free; ///< by bytes
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_GPUMEMORY_H
