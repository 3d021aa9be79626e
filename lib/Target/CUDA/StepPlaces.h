// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a compiled step, and where each tensor of it lies.
#ifndef CUTBACK_LIB_TARGET_CUDA_STEPPLACES_H
#define CUTBACK_LIB_TARGET_CUDA_STEPPLACES_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Runtime/Artifact.h"

namespace cutback::cuda {

/// Of tensors with known sizes.
int64_t itemBytes(mlir::Value tensor);
int64_t numElements(mlir::Value tensor);
/// As an artifact names a type.
std::string dtypeText(mlir::Type element);

/// Moves the memory of the root of `value` on to its elements; whether they
/// lie there in their order, at a multiple of 16 bytes.
bool findElements(mlir::Value value, ArtifactMemory &memory);
/// What a write gives back is the argument that the kernel stores into: the
/// root of a result.
mlir::Value writtenRoot(mlir::Value result);
/// Whether a launch writes over another operand of it.
bool overlaps(const ArtifactLaunch &launch);

class StepPlaces {
public:
  /// All are kept, and `segments` may still be filled.
  StepPlaces(joint::GraphOp graph, kernel::StepSegments &segments,
             Artifact &artifact)
      : graph(graph), segments(segments), artifact(artifact) {}

  /// Those of the graph, then those that only a segment has. Fails where
  /// parameters that are said to be tied cannot be, with an error.
  llvm::LogicalResult addArguments();
  /// Places of what the launches of `module` make, and what segments write.
  void find(mlir::ModuleOp module);

  /// The memory of a root; nothing, with an error, where it has none.
  std::optional<ArtifactMemory> placeOf(mlir::Value root) const;
  /// Where a later segment's argument lies that an earlier one hands over.
  void setTaken(mlir::BlockArgument argument, ArtifactMemory memory) {
    taken[argument] = memory;
  }
  /// Whether what segment `from` has there is of an argument that a segment
  /// behind it, up to `to`, writes.
  bool isOverwritten(const ArtifactMemory &memory, size_t from,
                     size_t to) const;
  /// The seed of what the graph draws itself: an argument of the step that the
  /// graph does not have.
  int64_t seedNumber();
  /// By name in the graph.
  const llvm::StringMap<int64_t> &argumentNumbers() const {
    return argumentNumber;
  }

private:
  void addSegmentArguments();
  void markUndecayed(mlir::ArrayAttr names);
  void findWritten(size_t segment);

  joint::GraphOp graph;
  kernel::StepSegments &segments;
  Artifact &artifact;
  std::optional<int64_t> seed; ///< number of that argument
  llvm::StringMap<int64_t> argumentNumber;
  llvm::DenseMap<mlir::Value, ArtifactMemory> places, taken;
  /// Segments, with the numbers of arguments that they write.
  llvm::DenseSet<std::pair<size_t, int64_t>> writtenIn;
};

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_STEPPLACES_H
