// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the tensors of a step come from.
//
// --inputs is a file of tensors; --weights too, or a program that brings them.
// Which of the two it is, its first bytes say. Without it a folder's own
// weights are taken, which `compile --weights` put there. Weights that are
// packed in an archive are unpacked only for commands that run something.

#include "StepSources.h"

#include "cutback/Runtime/StepFolder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

int openTensors(Session &session, const char *option, TensorFile &file) {
  auto path = session.line.get(option);
  std::string own;
  if (!path && option == StringRef("weights")) {
    own = session.line.arguments.front() + "/" + kWeightsFile;
    if (llvm::sys::fs::exists(own))
      path = own;
  }
  if (!path)
    return Done;
  std::string error = TensorFile::open(std::string(*path), file);
  if (error.empty())
    return Done;
  session.error(error);
  session.note("--" + std::string(option) + " takes a safetensors file");
  return WrongInput;
}

static bool isArchive(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, 2, 0);
  return buffer && (*buffer)->getBuffer() == "PK";
}

int unpackWeights(Session &session, StepFiles &sources) {
  std::string error = sources.weights ? sources.weights->unpack() : "";
  if (error.empty())
    return Done;
  session.error(error);
  session.note("export the model again; torch.export packs nothing");
  return WrongInput;
}

int openSources(Session &session, StepFiles &sources) {
  auto path = session.line.get("weights");
  if (!path || !isArchive(StringRef(path->data(), path->size()))) {
    if (int code = openTensors(session, "weights", sources.weightTensors))
      return code;
    return openTensors(session, "inputs", sources.inputs);
  }
  double seconds = 0;
  FailureOr<ImportedModule> model =
      session.load(std::string(*path), ImportOptions(), seconds);
  if (failed(model))
    return WrongInput;
  sources.weights = model->weights;
  return openTensors(session, "inputs", sources.inputs);
}

} // namespace cutback
