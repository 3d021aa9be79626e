// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One training step with named tensors: from files to the arguments of a joint
// graph, and from its results back to names.
//
//   arguments   param.NAME, buffer.NAME, const.NAME, input.N, tangent.N
//   results     loss, output.N, grad.NAME, grad.input.N, buffer.NAME
#ifndef CUTBACK_INTERPRETER_STEP_H
#define CUTBACK_INTERPRETER_STEP_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/TensorFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace cutback::interpreter {

/// Argument attribute: its name in files, where its role does not say it (the
/// stage of a pipeline has the inputs of the model that it reads).
inline constexpr llvm::StringLiteral kFileName = "joint.file_name";
/// Graph attribute: the names of its forward results in files, one string each.
inline constexpr llvm::StringLiteral kResultNames = "joint.result_names";

/// What the tensors of a graph are called in files.
struct StepNames {
  /// One an argument: "param.fc.weight", "input.0", "tangent.0"; empty for
  /// sizes, seeds and gradient seeds, which no file holds.
  std::vector<std::string> arguments;
  /// One a result of the graph, forward results first.
  std::vector<std::string> results;
  /// One an argument that the graph writes: its name and number.
  std::vector<std::pair<std::string, unsigned>> written;
};
StepNames nameStep(joint::GraphOp graph);

/// Looks a tensor up; nothing if there is none of that name.
using FindTensor =
    llvm::function_ref<std::optional<Tensor>(llvm::StringRef name)>;

/// The arguments of `graph`, one a block argument. Tensors come from `find`
/// and are checked against the declared types; symbolic sizes take the values
/// that the tensors have (returned in `symbols`), within their ranges. The
/// gradient of the loss is one; a tangent that no file holds is one for a
/// scalar first result and zero otherwise. Arguments that the graph writes are
/// copies. Errors, with the next step, are emitted at the graph.
mlir::FailureOr<std::vector<RuntimeValue>>
bindArguments(joint::GraphOp graph, const StepNames &names, FindTensor find,
              llvm::StringMap<int64_t> &symbols);

/// Results and written arguments after the step, by name. Undefined results
/// are left out.
std::vector<NamedTensor> collectResults(const StepNames &names,
                                        llvm::ArrayRef<RuntimeValue> arguments,
                                        llvm::ArrayRef<RuntimeValue> results);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_STEP_H
