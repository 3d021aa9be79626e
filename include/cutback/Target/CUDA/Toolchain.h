// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilers of others: nvcc for the device, one of this machine for the host.
#ifndef CUTBACK_TARGET_CUDA_TOOLCHAIN_H
#define CUTBACK_TARGET_CUDA_TOOLCHAIN_H

#include "cutback/Target/CUDA/EmitStep.h"

namespace cutback {

/// What a compiler made of the text, or why it did not.
struct ToolResult {
  std::vector<TextFile> files;
  std::string error;       ///< what failed; empty if nothing did
  std::string log;         ///< the first lines of what the compiler said
  bool isRejected = false; ///< the compiler ran and refused the text
};

/// The path of nvcc: that of CUDACXX, of CUDA_HOME, in PATH, in
/// /usr/local/cuda; empty if there is none.
std::string findNvcc();

/// The compiler of the host: that of CXX, else c++, g++ or clang++ in PATH.
std::string findHostCompiler();

/// "sm_90" and others that the emitted text is for.
bool isArchitecture(llvm::StringRef name);

/// forward.fatbin and backward.fatbin, with machine code for each of
/// `architectures`. Nothing is contracted: `--fmad=false`.
ToolResult buildFatBinaries(const std::string &nvcc,
                            const std::vector<TextFile> &files,
                            llvm::ArrayRef<std::string> architectures);

/// libstep.so, of host.cpp and what it includes, for this machine.
ToolResult buildHostLibrary(const std::string &compiler,
                            const std::vector<TextFile> &files);

} // namespace cutback

#endif // CUTBACK_TARGET_CUDA_TOOLCHAIN_H
