// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step that was compiled with an optimizer, as something to train.
#ifndef CUTBACK_TOOLS_CUTBACK_ARTIFACTTRAINER_H
#define CUTBACK_TOOLS_CUTBACK_ARTIFACTTRAINER_H

#include "ArtifactRun.h"

#include "cutback/Training/Trainer.h"

namespace cutback {

/// Opens the step in `folder`; tensors are those of `sources`, and inputs of
/// the first step those that `find` gives. `checks` look at each step. Exit
/// code.
int openArtifactTrainer(Session &session, const std::string &folder,
                        StepFiles &sources, interpreter::FindTensor find,
                        const RunChecks &checks,
                        std::unique_ptr<Trainer> &trainer);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_ARTIFACTTRAINER_H
