// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of kernels, one a file (or family of files).
#ifndef CUTBACK_LIB_INTERPRETER_KERNELS_KERNELS_H
#define CUTBACK_LIB_INTERPRETER_KERNELS_KERNELS_H

#include "cutback/Dialect/Aten/SecondNames.h"
#include "cutback/Interpreter/Kernel.h"

namespace cutback::interpreter {

llvm::ArrayRef<KernelEntry> symbolicKernels();
llvm::ArrayRef<KernelEntry> batchNormKernels();
llvm::ArrayRef<KernelEntry> convolutionKernels();
llvm::ArrayRef<KernelEntry> layerNormKernels();
llvm::ArrayRef<KernelEntry> lossKernels();
llvm::ArrayRef<KernelEntry> matmulKernels();
llvm::ArrayRef<KernelEntry> nllLossKernels();
llvm::ArrayRef<KernelEntry> softmaxKernels();
llvm::ArrayRef<KernelEntry> attentionKernels();
llvm::ArrayRef<KernelEntry> attentionBackwardKernels();
llvm::ArrayRef<KernelEntry> embeddingKernels();
llvm::ArrayRef<KernelEntry> indexKernels();
llvm::ArrayRef<KernelEntry> scatterKernels();
llvm::ArrayRef<KernelEntry> arithmeticKernels();
llvm::ArrayRef<KernelEntry> compareKernels();
llvm::ArrayRef<KernelEntry> unaryKernels();
llvm::ArrayRef<KernelEntry> activationKernels();
llvm::ArrayRef<KernelEntry> reduceKernels();
llvm::ArrayRef<KernelEntry> selectKernels();
llvm::ArrayRef<KernelEntry> scanKernels();
llvm::ArrayRef<KernelEntry> copyKernels();
llvm::ArrayRef<KernelEntry> moveKernels();
llvm::ArrayRef<KernelEntry> createKernels();
llvm::ArrayRef<KernelEntry> randomKernels();
llvm::ArrayRef<KernelEntry> slicePoolKernels();
llvm::ArrayRef<KernelEntry> einsumKernels();
llvm::ArrayRef<KernelEntry> distanceKernels();
llvm::ArrayRef<KernelEntry> poolKernels();
llvm::ArrayRef<KernelEntry> upsampleKernels();
llvm::ArrayRef<KernelEntry> unfoldKernels();
llvm::ArrayRef<KernelEntry> gridSampleKernels();
llvm::ArrayRef<KernelEntry> recurrentKernels();
llvm::ArrayRef<KernelEntry> fftKernels();
llvm::ArrayRef<KernelEntry> productKernels();
llvm::ArrayRef<KernelEntry> stackKernels();
llvm::ArrayRef<KernelEntry> distanceLossKernels();
llvm::ArrayRef<KernelEntry> ctcKernels();
llvm::ArrayRef<KernelEntry> linalgKernels();
llvm::ArrayRef<KernelEntry> specialKernels();
llvm::ArrayRef<KernelEntry> besselKernels();
llvm::ArrayRef<KernelEntry> spectrumKernels();
llvm::ArrayRef<KernelEntry> uniqueKernels();
llvm::ArrayRef<KernelEntry> segmentKernels();
llvm::ArrayRef<KernelEntry> gammaKernels();
llvm::ArrayRef<KernelEntry> eigenKernels();

/// Ops that the kernels of others run, besides aten::getSecondNames().
llvm::ArrayRef<aten::SecondName> kernelAliases();
llvm::ArrayRef<KernelEntry> compositeKernels();

/// All tables, for the map in Kernel.cpp.
inline std::vector<llvm::ArrayRef<KernelEntry>> allKernels() {
  return {
      slicePoolKernels(),   randomKernels(),
      createKernels(),      moveKernels(),
      copyKernels(),        scanKernels(),
      selectKernels(),      reduceKernels(),
      activationKernels(),  unaryKernels(),
      compareKernels(),     arithmeticKernels(),
      symbolicKernels(),    batchNormKernels(),
      convolutionKernels(), layerNormKernels(),
      lossKernels(),        matmulKernels(),
      nllLossKernels(),     softmaxKernels(),
      attentionKernels(),   attentionBackwardKernels(),
      embeddingKernels(),   indexKernels(),
      scatterKernels(),     einsumKernels(),
      distanceKernels(),    poolKernels(),
      upsampleKernels(),    unfoldKernels(),
      gridSampleKernels(),  recurrentKernels(),
      fftKernels(),         productKernels(),
      stackKernels(),       distanceLossKernels(),
      compositeKernels(),   ctcKernels(),
      linalgKernels(),      specialKernels(),
      spectrumKernels(),    besselKernels(),
      uniqueKernels(),      segmentKernels(),
      gammaKernels(),       eigenKernels(),
  };
}

} // namespace cutback::interpreter

#endif // CUTBACK_LIB_INTERPRETER_KERNELS_KERNELS_H
