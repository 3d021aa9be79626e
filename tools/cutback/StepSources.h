// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of a step from the files of a command line.
#ifndef CUTBACK_TOOLS_CUTBACK_STEPSOURCES_H
#define CUTBACK_TOOLS_CUTBACK_STEPSOURCES_H

#include "Session.h"

#include "cutback/Planner/StepFiles.h"
#include "cutback/Runtime/StepFolder.h"

namespace cutback {

/// Whether a file is a zip archive, as those of torch.export are.
bool isArchive(llvm::StringRef path);
/// Opens the safetensors file of an option, if it is given. Exit code.
int openTensors(Session &session, const char *option,
                interpreter::TensorFile &file);
/// Opens the weights in the folder of a step, if it has any and --weights is
/// not given: those that its manifest names, or none. Exit code.
int openOwnWeights(Session &session, const std::string &folder,
                   const Artifact &artifact, StepFiles &sources);
/// Opens the files of --weights and --inputs. Exit code.
int openSources(Session &session, StepFiles &sources);
/// A step needs the weights: what is packed is unpacked now. Exit code.
int unpackWeights(Session &session, StepFiles &sources);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_STEPSOURCES_H
