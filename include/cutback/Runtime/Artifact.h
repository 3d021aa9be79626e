// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled step as data: what `compile --target=...` writes to manifest.json
// and what a runtime needs to run it. No compiler in it.
#ifndef CUTBACK_RUNTIME_ARTIFACT_H
#define CUTBACK_RUNTIME_ARTIFACT_H

#include "cutback/Support/HookKind.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cutback {

inline constexpr const char *kManifestFile = "manifest.json";
/// Parameters and buffers that travel with a step, if it has such a file.
inline constexpr const char *kWeightsFile = "weights.safetensors";
/// The launches of a step, for checks of them: not read by a runtime.
inline constexpr const char *kKernelsFile = "kernels.mlir";
/// The kernels of a step for this machine.
inline constexpr const char *kHostLibrary = "libstep.so";
/// The file of the kernel of collectives: there is none, a runtime that has a
/// group of processes runs them.
inline constexpr const char *kGroupFile = "group";
/// Calls of a step that have no machine code, for the interpreter: the file of
/// their kernels.
inline constexpr const char *kCallsFile = "calls.mlir";
/// In a folder: machine code for other sizes, a folder each.
inline constexpr const char *kSizesFolder = "sizes";
/// The target of machine code for this machine's processor.
inline constexpr const char *kCpuTarget = "cpu";
/// Behind a kernel's name: its symbol in such a library.
inline constexpr const char *kCodeSuffix = ".run";
/// Such a kernel takes addresses of its operands and this many cells (i64):
/// what it found wrong, from 1 on, and where; which part of its work it is to
/// do, and of how many; of a call, the size that a wrong index is outside of.
/// Parts have equal bits however many there are, and run at the same time.
inline constexpr int64_t kKernelCells = 5, kPartCell = 2, kPartsCell = 3,
                         kSizeCell = 4;

/// A stretch of memory of a step.
struct ArtifactMemory {
  enum Kind {
    None,
    Argument, ///< the elements of argument number `at`
    Arena     ///< from byte `at` of the arena
  } kind = None;
  int64_t at = 0;
};

/// A tensor that goes in or comes out. Sizes, strides and offset count
/// elements.
struct ArtifactTensor {
  std::string name;  ///< in files of tensors; empty if no file has it
  std::string dtype; ///< "f32"
  std::vector<int64_t> sizes;
};

/// A size that inputs decide.
struct ArtifactSymbol {
  std::string name;
  int64_t value = 0; ///< that the machine code is for
  int64_t min = 0, max = INT64_MAX;
};

struct ArtifactArgument : ArtifactTensor {
  /// Its sizes as expressions of the symbols; empty if they are known.
  std::vector<std::string> declared;
  /// What it holds if no file has it.
  enum Fill { Required, Zeros, Ones, Seed } fill = Required;
  bool isWritten = false;   ///< and is a result, under its name
  bool isUpdated = false;   ///< by a segment of the optimizer
  bool isUndecayed = false; ///< and without weight decay that others have
  /// The segment that takes it first, of an optimizer's; empty for one of the
  /// step.
  std::string segment;
  /// The earlier argument that is the same memory; -1 for none.
  int64_t tied = -1;
  double rounding = 0; ///< as of results
};

struct ArtifactResult : ArtifactTensor {
  std::vector<int64_t> strides;
  int64_t offset = 0;
  ArtifactMemory memory;
  std::string segment; ///< that makes it
  /// The step of the coarsest 16-bit float that it is computed from, or 0.
  double rounding = 0;
};

struct ArtifactOperand {
  ArtifactMemory memory;
  int64_t bytes = 0;
  bool isWritten = false;
};

struct ArtifactKernel {
  std::string name, file;
  bool waits = false;  ///< threads wait for each other
  bool checks = false; ///< takes the address of a mark for wrong indices
  /// Of "cpu": by what it checks, how many elements there are; -1 for a place
  /// of a row. Empty for a call, which leaves a mark.
  std::vector<int64_t> bounds;
};

/// A matrix of each product of a batch. Element (i, j) is at
/// `offset + i * leading + j` of its operand, or with i and j swapped where it
/// is transposed; all count elements.
struct ArtifactMatrix {
  int64_t operand = -1; ///< number in the launch; -1 for none
  int64_t offset = 0, leading = 1, batchStride = 0;
  bool isTransposed = false;
};

/// What a launch computes, for a library: out = alpha * a b + beta * c + bias,
/// for each matrix of a batch. The kernel of the launch computes the same.
struct ArtifactProduct {
  std::string dtype; ///< of all elements: "f32", "f64", "bf16", "f16"
  int64_t m = 0, n = 0, k = 0, batch = 1;
  ArtifactMatrix a, b, c, out; ///< m x k, k x n, m x n, m x n
  int64_t bias = -1;           ///< operand with n elements, added to each row
  double alpha = 1, beta = 0;
  int64_t workspaceAt = 0, workspaceBytes = 0; ///< in the arena
};

/// What all ranks of a group do together (`_c10d_functional`), in place of a
/// kernel: from the first operand to the second one, in row-major order.
struct ArtifactCollective {
  enum Kind {
    AllReduce,
    AllGather,     ///< by rank
    ReduceScatter, ///< equal parts of the first operand
    AllToAll,      ///< parts of both
    Broadcast,     ///< of rank `root`
  } kind = AllReduce;
  std::string group;
  std::string reduction; ///< "sum", "avg", "max"; empty for none
  std::string dtype;     ///< of all elements
  int64_t ranks = 0;     ///< that the group must have; 0: any
  int64_t root = 0;
  /// Of AllToAll: bytes for each rank, and of each; empty: equal parts.
  std::vector<int64_t> sends, takes;
};
/// "all_reduce", "all_gather_into_tensor", ...
const char *nameOf(ArtifactCollective::Kind kind);

struct ArtifactLaunch {
  int64_t kernel = 0; ///< number in `kernels`
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  int64_t sharedBytes = 0;
  std::vector<ArtifactOperand> operands;
  std::string op, place;                        ///< "aten.addmm", "blocks.0.fc"
  std::optional<ArtifactProduct> product;       ///< if a library may compute it
  std::optional<ArtifactCollective> collective; ///< of "cpu"
  int64_t flops = 0; ///< of a product, convolution or attention, else 0
};

/// A point between launches at which functions of the user run on a gradient;
/// its name is that of what the gradient is of.
struct ArtifactHook : ArtifactTensor {
  HookKind kind = HookKind::TensorPre;
  int64_t key = 0;       ///< tells the points of a step apart
  bool replaces = false; ///< functions may change the gradient
  int64_t before = 0;    ///< the launch of this number in the segment
  ArtifactMemory memory;
};

/// Launches that run one behind the other; their kernels are in NAME.cu.
struct ArtifactSegment {
  std::string name; ///< "forward"
  std::vector<ArtifactLaunch> launches;
  std::vector<ArtifactHook> hooks; ///< in the order in which they run

  /// Those in front of launch number `launch`, or behind the last one: begin
  /// and end. Logarithmic.
  std::pair<const ArtifactHook *, const ArtifactHook *>
  hooksBefore(size_t launch) const;
};

/// The segment that a step has if it was compiled with an optimizer: what
/// `train` runs behind all others, and `run` does not.
inline constexpr const char *kUpdateSegment = "update";
/// The one before it, of a step for several micro-batches: adds gradients to
/// their sums, which the update takes.
inline constexpr const char *kAccumulateSegment = "accumulate";

/// Whether a segment is one of these: an optimizer's, and none of the step.
inline bool isOptimizerSegment(std::string_view name) {
  return name == kUpdateSegment || name == kAccumulateSegment;
}

/// Attribute of the op of `update`: the arguments that it updates without
/// weight decay.
inline constexpr const char *kUndecayed = "undecayed";

/// A file of a step's folder.
struct ArtifactFile {
  std::string name;
  int64_t bytes = 0;
  std::string checksum; ///< checksumOf() its bytes
  /// What was read and found to be that, of code (readStepFolder); else null.
  std::shared_ptr<const std::string> contents;
};

struct Artifact {
  /// Of the format: a runtime takes no other.
  static constexpr int64_t kVersion = 8;

  std::string target; ///< "cpu", "cuda", "cuda-host"
  std::vector<std::string> architectures;
  /// Each load and store of a kernel tests that it stays in its memory ("cpu").
  bool testsAccesses = false;
  bool tf32 = false; ///< what products of f32 round their factors to
  /// Of "cpu": the machine ("x86_64") and what its processor must have.
  std::string machine;
  std::vector<std::string> features;
  int64_t arenaBytes = 0;
  /// Of a step for all sizes.
  std::vector<ArtifactSymbol> symbols;
  /// Of machine code for other sizes: the checksum of the step.
  std::string of;
  std::vector<ArtifactArgument> arguments;
  std::vector<ArtifactResult> results;
  std::vector<ArtifactKernel> kernels;
  std::vector<ArtifactSegment> segments; ///< in the order in which they run
  std::vector<ArtifactFile> files;
  /// Of the manifest that it was read from.
  std::string checksum;

  /// What is wrong with it, or empty: numbers out of range, memory outside of
  /// the arena or of an argument. Linear.
  std::string verify() const;

  /// The file of that name, or null.
  const ArtifactFile *findFile(std::string_view name) const;
  /// Whether a library is to compute a launch of it.
  bool hasProducts() const;
  /// Whether functions of the user may run between its launches.
  bool hasHooks() const;
  /// Numbers of the segments of a step, without those of an optimizer.
  std::vector<size_t> stepSegments() const;
  /// Whether `segment` may take `argument`: it is one of the step, of this
  /// segment, or of an earlier one. Linear in the segments.
  bool mayTake(std::string_view segment,
               const ArtifactArgument &argument) const;
};

/// The JSON text of manifest.json. The same artifact gives the same bytes.
std::string writeManifest(const Artifact &artifact);
/// Reads and verifies it. An empty string, or what is wrong.
std::string readManifest(std::string_view text, Artifact &artifact);
/// The text of a manifest that was edited, with its checksum: for tests of what
/// is refused nevertheless.
std::string signManifest(std::string_view text);

/// Bytes of an element of type "f32", 0 for a type that is none.
int64_t bytesOfType(std::string_view dtype);
/// Bytes that a result spans in its memory, up to its last element; 0 if it has
/// none, -1 if they are out of range.
int64_t spanOf(const ArtifactResult &result);
/// Bytes of all elements, -1 for a type that is none or sizes out of range.
int64_t bytesOf(const ArtifactTensor &tensor);
/// Bytes of all operands, read or written.
int64_t bytesOf(const ArtifactLaunch &launch);

} // namespace cutback

#endif // CUTBACK_RUNTIME_ARTIFACT_H
