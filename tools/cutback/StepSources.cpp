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

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

/// `path` is of an option.
static int openFile(Session &session, const char *option,
                    const std::string &path, TensorFile &file) {
  std::string error = TensorFile::open(path, file);
  if (error.empty())
    return Done;
  session.error(error);
  session.note("--" + std::string(option) + " takes a safetensors file");
  return WrongInput;
}

int openTensors(Session &session, const char *option, TensorFile &file) {
  auto path = session.line.get(option);
  return path ? openFile(session, option, std::string(*path), file) : Done;
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
  auto given = session.line.get("weights");
  std::string path =
      given ? std::string(*given) : ownWeights(session.line.arguments.front());
  if (path.empty())
    return openTensors(session, "inputs", sources.inputs);
  if (!isArchive(path)) {
    if (int code = openFile(session, "weights", path, sources.weightTensors))
      return code;
    return openTensors(session, "inputs", sources.inputs);
  }
  double seconds = 0;
  FailureOr<ImportedModule> model =
      session.load(path, ImportOptions(), seconds);
  if (failed(model))
    return WrongInput;
  sources.weights = model->weights;
  return openTensors(session, "inputs", sources.inputs);
}

} // namespace cutback
