// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads training graphs. One entry point for every supported input, which is
// found out by content, never by file name:
//
//   FX text       what `print_readable`, depyf and the PyTorch logs print
//   trace log     TORCH_TRACE records, or TORCH_LOGS output with its prefixes
//   MLIR          text or bytecode
//   .pt2          what torch.export.save writes, of torch 2.1 and later; also
//                 the program in it alone (models/model.json)
//
// Errors are emitted in the context, at FILE:LINE:COL of the input text, or
// FILE/ENTRY:LINE:COL in an archive, with a note that says what to do next.
#ifndef CUTBACK_IMPORT_IMPORT_H
#define CUTBACK_IMPORT_IMPORT_H

#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Import/Weights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cutback {

enum class InputFormat { FxText, TraceLog, MlirText, MlirBytecode, Pt2 };
/// "fx-text", "trace-log", "mlir", "mlir-bytecode", "pt2".
llvm::StringRef stringifyInputFormat(InputFormat format);

/// What a graph is. Joint becomes a `joint.graph`, and so does the Forward of
/// a .pt2, without gradients; the others become a `func.func` whose arguments
/// carry `joint.name` and `joint.role`.
enum class GraphKind { Joint, Forward, Backward, Inference };
/// "joint", "forward", "backward", "inference".
llvm::StringRef stringifyGraphKind(GraphKind kind);

struct ImportOptions {
  /// Which graph of an input with several: its number, from 0, or its name
  /// ("aot_joint_graph 0/0", "@step" or "step" in MLIR), or a name without its
  /// compile id if only one graph has it. Empty: the first joint graph, or the
  /// first graph if none is joint.
  std::string graph;
  /// Which program of a .pt2 with several, by name; empty: as `graph` says.
  std::string model;
  /// What the graph is, where the caller knows better than the text.
  std::optional<GraphKind> kind;
  /// Number of forward results, instead of the rule of the format.
  std::optional<int64_t> forwardOutputs;
  /// An op whose arguments or declared types contradict what is known of it is
  /// an error, and not taken as declared.
  bool strict = false;
  /// Read PyTorch's own forward and backward graph of the same compile id too.
  bool torchHalves = false;
};

/// One graph that an input holds; what `import --list` prints.
struct GraphInfo {
  GraphKind kind = GraphKind::Joint;
  /// "aot_joint_graph 0/0", unique within the input unless the same compile id
  /// was logged twice; the symbol name in MLIR; "joint" for a lone text.
  std::string name;
  std::string compileId; ///< "0/0", "1/2_1"; empty outside of logs
  unsigned line = 1;     ///< of its first line in the input
  uint64_t bytes = 0;    ///< of its text
};

/// An op that no dialect knows, and how often it occurs.
struct OpaqueCount {
  std::string callee; ///< "mylib.op.default"
  uint64_t count = 0;
};

/// What the import of one graph counted.
struct ImportCounts {
  uint64_t ops = 0;
  uint64_t arguments = 0;
  uint64_t droppedChecks = 0;      ///< `_assert_tensor_metadata` of a program
  std::vector<OpaqueCount> opaque; ///< by first occurrence
  uint64_t asDeclared = 0;         ///< calls taken as declared (Declared.h)
  std::optional<mlir::Location> firstAsDeclared; ///< where the file says it
};

struct ImportedModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  InputFormat format = InputFormat::FxText;
  /// The graph that was read. For MLIR, `info.kind` is Joint if the module has
  /// a `joint.graph`.
  GraphInfo info;
  /// One of these two is set, by `info.kind`: symbols of `module`. For MLIR
  /// without a graph that was asked for, neither.
  joint::GraphOp graph;
  mlir::func::FuncOp function;
  ImportCounts counts;
  /// The tensors of a .pt2; null where the input has none. They refer to the
  /// input's memory: it must outlive them where the caller gave a buffer.
  std::shared_ptr<WeightFile> weights;

  /// PyTorch's own halves of the same compile id, in a module of their own; set
  /// if `torchHalves` was asked for and the log has both. A half that does not
  /// import is reported as a warning, and left out.
  mlir::OwningOpRef<mlir::ModuleOp> torchModule;
  mlir::func::FuncOp torchForward, torchBackward;
};

/// Opens a file, or standard input for "-", of which so many bytes are read at
/// most: it is copied, and may never end. Emits an error for a folder, a
/// device, more than that, or what cannot be read.
mlir::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
openInput(llvm::StringRef path, mlir::MLIRContext &context,
          uint64_t mostOfStandardInput = uint64_t(2) << 30);

/// Reads the graph that `options` asks for. Loads the dialects it needs. Time
/// and memory are linear in the size of the input.
///
/// Facts of FX text and where they go:
///   names      attribute `names` of ops, `joint.name` of arguments; the name
///              of a call that gives a tuple or nothing is `joint.call`
///   places     location NameLoc(function, FileLineColLoc(file, line, 0))
///   tags       `joint.policy`
///   strides    `joint.strides`, on what is not contiguous: array<i64> (a
///              symbolic stride is kDynamic); on an op of several results an
///              array of those, unit where contiguous
///   sizes      `symbols` of the graph; `joint.dims` on arguments and on
///              results whose sizes depend on data (on an op of several
///              results an array of those, unit where the sizes are static)
///   other      an op that is known, with arguments or types that contradict
///   releases   what is known of it, is a `joint.opaque` with `joint.declared`,
///              and a diagnostic of severity Note says so, unless `strict`
///   age        `joint.unannotated` on the graph if the text has neither
///              strides nor descriptors
/// A .pt2 has more to say:
///   arguments  `joint.requires_grad` (unit) on what the file says to want a
///              gradient; `joint.tied` (a qualified name) on what is the same
///              tensor as an earlier argument; both may be absent
///   modules    metadata of a FusedLoc around the place: "blocks.3.attn"
///   views      `joint.aliases` (unit) on a call whose result shares storage
///              with its first operand though its schema leaves it open
/// Programs that were not decomposed have calls that change an operand in
/// place; they are ops with effects here.
/// A func.func has `joint.symbols`; of a forward half,
/// `joint.num_forward_results` (the rest of its results is saved), if the text
/// says it; of a backward half, `joint.gradient_of`: for each result, its
/// number in PyTorch's list, that is the number of the primal.
mlir::FailureOr<ImportedModule> readInput(llvm::MemoryBufferRef buffer,
                                          mlir::MLIRContext &context,
                                          const ImportOptions &options = {});
mlir::FailureOr<ImportedModule> readInput(llvm::StringRef path,
                                          mlir::MLIRContext &context,
                                          const ImportOptions &options = {});

/// The graphs of an input, in its order, without importing them (MLIR is
/// parsed).
mlir::FailureOr<std::vector<GraphInfo>> listGraphs(llvm::MemoryBufferRef buffer,
                                                   mlir::MLIRContext &context);

} // namespace cutback

#endif // CUTBACK_IMPORT_IMPORT_H
