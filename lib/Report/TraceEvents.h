// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of the Trace Event Format, one a line: what traces of a plan and of a
// run are made of.
#ifndef CUTBACK_LIB_REPORT_TRACEEVENTS_H
#define CUTBACK_LIB_REPORT_TRACEEVENTS_H

#include "cutback/Dialect/Joint/BackwardKey.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace cutback {

class TraceEvents {
public:
  using Fields = llvm::function_ref<void(llvm::json::OStream &)>;

  /// Tracks of one process.
  enum Track : int { Memory = 0, Forward = 1, Backward = 2 };
  static llvm::StringRef spell(Track track);

  /// Begins the document; `other` writes what viewers show beside the events.
  void begin(Fields other);
  std::string end();

  /// An event of phase `phase` at `nanoseconds`; metadata ("M") have no time.
  void event(llvm::StringRef name, llvm::StringRef phase, int track,
             int64_t nanoseconds, Fields fields);
  /// A complete event, with its arguments.
  void complete(llvm::StringRef name, Track track, int64_t begin, int64_t end,
                bool isRecomputed, Fields arguments);
  /// Names of the process and of the tracks of both halves.
  void nameTracks(llvm::StringRef title);

  /// Names come from outside.
  static std::string utf8(llvm::StringRef text);
  static void attribute(llvm::json::OStream &json, llvm::StringRef key,
                        llvm::StringRef value);

private:
  bool isFirst = true;
  std::string text;
  llvm::raw_string_ostream os{text};
};

/// The keys of the ops of a step: those of the backward have one each, and tell
/// that of their op of the forward.
class StepKeys {
public:
  /// Reads all keys inside of `root`, which may be null.
  explicit StepKeys(mlir::Operation *root);

  /// The key of an op of either half; `of` is empty in the forward.
  std::optional<BackwardKey> find(mlir::Operation *op) const;

  /// Writes number and region of the last op of `ops` that has a key, and the
  /// ops, each with its key.
  void write(llvm::json::OStream &json,
             llvm::ArrayRef<mlir::Operation *> ops) const;

private:
  llvm::StringMap<BackwardKey> forward; ///< by name of a value
};

} // namespace cutback

#endif // CUTBACK_LIB_REPORT_TRACEEVENTS_H
