// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the tensors of a step come from.
//
// --inputs is a file of tensors; --weights too, or a program that brings them.
// Which of the two it is, its first bytes say. Without it a folder's own
// weights are taken, which `compile --weights` put there. Weights that are
// packed in an archive are unpacked only for commands that run something.

#include "StepSources.h"

#include "llvm/Support/FileSystem.h"
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

bool isArchive(llvm::StringRef path) {
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

int openOwnWeights(Session &session, const std::string &folder,
                   const Artifact &artifact, StepFiles &sources) {
  std::string path = folder + "/" + kWeightsFile;
  bool isThere = artifact.findFile(kWeightsFile) || llvm::sys::fs::exists(path);
  if (!isThere || session.line.has("weights"))
    return Done;
  std::string what = "this is no regular file";
  if (llvm::sys::fs::is_regular_file(path)) {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    what = buffer ? checkWeights(artifact, (*buffer)->getBuffer())
                  : buffer.getError().message();
    if (what.empty())
      what = TensorFile::read(
          std::shared_ptr<llvm::MemoryBuffer>(std::move(*buffer)), path,
          sources.weightTensors);
  }
  if (what.empty())
    return Done;
  session.error("'" + path + "': " + what);
  session.note("compile the model again with --weights, or give "
               "--weights=FILE");
  return NoPlan;
}

int openSources(Session &session, StepFiles &sources) {
  auto given = session.line.get("weights");
  if (!given)
    return openTensors(session, "inputs", sources.inputs);
  std::string path(*given);
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
