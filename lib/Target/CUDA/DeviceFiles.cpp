// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each header of Device/ is a string literal that CMake makes, so that the
// compiler needs no files beside it and an artifact has its own copies. Their
// order here is the order in which an artifact lists them; it means nothing
// else.

#include "DeviceFiles.h"

using namespace cutback::cuda;

static constexpr DeviceFile kFiles[] = {
    {
        "cutback_cuda.cuh",
#include "cutback_cuda.cuh.inc"
    },
    {
        "cutback_angles.cuh",
#include "cutback_angles.cuh.inc"
    },
    {
        "cutback_math.cuh",
#include "cutback_math.cuh.inc"
    },
    {
        "cutback_reduce.cuh",
#include "cutback_reduce.cuh.inc"
    },
    {
        "cutback_factors.cuh",
#include "cutback_factors.cuh.inc"
    },
    {
        "cutback_product.cuh",
#include "cutback_product.cuh.inc"
    },
    {
        "cutback_tile.cuh",
#include "cutback_tile.cuh.inc"
    },
    {
        "cutback_attention.cuh",
#include "cutback_attention.cuh.inc"
    },
    {
        "cutback_tile_attention.cuh",
#include "cutback_tile_attention.cuh.inc"
    },
    {
        "cutback_rows.cuh",
#include "cutback_rows.cuh.inc"
    },
    {
        "cutback_random.cuh",
#include "cutback_random.cuh.inc"
    },
    {
        "cutback_windows.cuh",
#include "cutback_windows.cuh.inc"
    },
    {
        "cutback_grid.cuh",
#include "cutback_grid.cuh.inc"
    },
    {
        "cutback_gamma.cuh",
#include "cutback_gamma.cuh.inc"
    },
    {
        "cutback_special.cuh",
#include "cutback_special.cuh.inc"
    },
};

llvm::ArrayRef<DeviceFile> cutback::cuda::deviceFiles() { return kFiles; }

const DeviceFile &cutback::cuda::hostFile() {
  static const DeviceFile file = {
      "cutback_cuda_host.h",
#include "cutback_cuda_host.h.inc"
  };
  return file;
}
