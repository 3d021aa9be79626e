// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of a compiled step.
#ifndef CUTBACK_TOOLS_CUTBACK_TARGETFILES_H
#define CUTBACK_TOOLS_CUTBACK_TARGETFILES_H

#include "Session.h"

#include "cutback/Target/CUDA/EmitStep.h"

namespace cutback {

struct TargetChoice {
  std::string target;                     ///< "cpu", "cuda", "cuda-host"
  std::vector<std::string> architectures; ///< of "cuda"
  bool tf32 = false;                      ///< of "cuda", "cuda-host"
  bool useLibrary = false;                ///< cuBLASLt computes products
  bool testsAccesses = false;             ///< of "cpu": each load and store
  bool isStrict = false; ///< of "cpu": no call is the interpreter's
  bool hasGroup = false; ///< of "cpu": a runtime has collectives
  /// Compilers of others are asked for machine code.
  bool compiles = true;
};

/// The architectures of --arch, each once; sm_90 where it is not given. Returns
/// an exit code.
int readArchitectures(Session &session,
                      std::vector<std::string> &architectures);
/// The device that a plan for `architecture` is priced on.
std::string deviceOf(llvm::StringRef architecture);

/// Whether nvcc is there; says what comes of it if it is not.
bool checkNvcc(Session &session);

/// What `artifact` was compiled with.
TargetChoice choiceOf(const Artifact &artifact);

/// What a manifest says of a file.
ArtifactFile describeFile(const std::string &name, llvm::StringRef data);

/// The manifest of a step of `graph` and all files that it names. Returns an
/// exit code.
int emitTarget(Session &session, joint::GraphOp graph,
               const KernelModule &kernels, const TargetChoice &choice,
               Artifact &artifact, std::vector<TextFile> &files);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_TARGETFILES_H
