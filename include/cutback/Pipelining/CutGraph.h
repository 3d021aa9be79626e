// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward program cut into stages: graphs of their own, and the values that
// go from one to another.
#ifndef CUTBACK_PIPELINING_CUTGRAPH_H
#define CUTBACK_PIPELINING_CUTGRAPH_H

#include "cutback/Analysis/GraphView.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace cutback {

/// What becomes of a parameter that several stages read.
enum class MultiUse {
  Replicate, ///< each has it; the gradients are added before the update
  Transmit   ///< the first has it and sends it, once a micro-batch
};

struct CutOptions {
  /// Of all parameters, and by name in the model where that differs.
  MultiUse multiUse = MultiUse::Replicate;
  std::map<std::string, MultiUse> multiUseOf;
};

/// A value that one stage makes, or has, and later ones read. It goes from its
/// maker to each user directly.
struct CrossingValue {
  std::string name; ///< in the graph: "add_12"
  unsigned maker = 0;
  std::vector<unsigned> users; ///< stages, ascending
  mlir::RankedTensorType type;
  /// Whether a gradient comes back. Until makeStages() has differentiated the
  /// users: whether one could.
  bool hasGradient = false;
};

/// What stages read and do not get from each other, by its name in files.
struct StageState {
  std::string name; ///< "param.wte.weight"
  std::vector<unsigned> stages;
  std::vector<std::string> aliases; ///< arguments tied to it
};

/// Stages as forward programs. Their arguments are those of the model that
/// they read, with their names in files (kFileName), and `value.V` for each
/// value that they receive; results are those of the model that they make, and
/// `value.V` for what they send.
struct CutProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< holds the stages
  std::vector<joint::GraphOp> stages;       ///< "model_stage0"
  std::vector<CrossingValue> values;        ///< in the order of their makers
  /// Parameters and buffers; those of several stages are replicated.
  std::vector<StageState> state;
};

/// Prefix of the name of a crossing value, in files.
inline constexpr llvm::StringLiteral kValuePrefix = "value.";

/// By op: whether it depends on no argument and may run twice, so that each
/// stage that reads it makes it. Linear.
std::vector<uint8_t> markConstants(const GraphView &view);

/// Cuts `graph`, a functional forward program without markers, so that stage
/// k > 0 begins with op number begins[k - 1] (ascending, within the ops of the
/// block). An op that reads nothing, nor anything that reads an argument, is
/// in each stage that uses it. Tied arguments are one. An input with a gradient
/// is sent by its first reader, which has all of the gradient. A written buffer
/// belongs to the first stage that reads it, which is where the new value must
/// be made; later ones that read the old value receive it.
///
/// Fails with an error at the op for what cannot cross (a value that is no
/// tensor, or has a size that is not known), for a written argument that is no
/// buffer, a buffer that an earlier stage reads than writes it, and for a name
/// in `options` that is no parameter of several stages. `graph` stays as it is.
/// Linear.
mlir::FailureOr<CutProgram> cutGraph(joint::GraphOp graph,
                                     llvm::ArrayRef<unsigned> begins,
                                     const CutOptions &options = {});

} // namespace cutback

#endif // CUTBACK_PIPELINING_CUTGRAPH_H
