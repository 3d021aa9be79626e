// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph's text, read in place, and where a position in it lies in the file
// that the user gave.
#ifndef CUTBACK_LIB_IMPORT_SOURCETEXT_H
#define CUTBACK_LIB_IMPORT_SOURCETEXT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cutback::fx {

/// Takes the first line off `rest`, without its end.
inline llvm::StringRef takeLine(llvm::StringRef &rest) {
  size_t end = rest.find('\n');
  llvm::StringRef line = rest.take_front(end);
  rest = rest.drop_front(std::min(line.size() + 1, rest.size()));
  return line;
}

/// A file without the prefixes and colours that logging put in front of its
/// lines, and where each line came from.
struct StrippedLog {
  struct Line {
    unsigned line, column; ///< of the line's first character, both from 1
  };
  std::string text;
  std::vector<Line> lines;
};

class SourceText {
public:
  /// `text` lies within `file`, which is the user's file, or the text of
  /// `stripped`.
  SourceText(llvm::StringRef fileName, llvm::StringRef file,
             llvm::StringRef text,
             std::shared_ptr<const StrippedLog> stripped = nullptr)
      : fileName(fileName), file(file), content(text),
        stripped(std::move(stripped)) {}

  llvm::StringRef text() const { return content; }
  llvm::StringRef name() const { return fileName; }
  SourceText slice(llvm::StringRef part) const {
    return SourceText(fileName, file, part, stripped);
  }
  /// Line and column of `at`, from 1. Linear in the text before it: for
  /// diagnostics.
  std::pair<unsigned, unsigned> lineAndColumn(const char *at) const;
  mlir::Location locate(mlir::MLIRContext *context, const char *at) const;
  /// The same for positions in ascending order, linear over all of them.
  struct Cursor {
    const char *last = nullptr;      ///< the last position
    const char *lineBegin = nullptr; ///< of its line
    unsigned line = 0;               ///< in `file`, from 0
  };
  std::pair<unsigned, unsigned> lineAndColumn(const char *at,
                                              Cursor &cursor) const;
  mlir::Location locate(mlir::MLIRContext *context, const char *at,
                        Cursor &cursor) const;

private:
  std::pair<unsigned, unsigned> origin(unsigned line, unsigned column) const;

  llvm::StringRef fileName, file, content;
  std::shared_ptr<const StrippedLog> stripped;
};

/// Emits the error `what` at `at` and, as a note, what to do `next`.
mlir::LogicalResult emitAt(mlir::MLIRContext *context, const SourceText &source,
                           const char *at, const llvm::Twine &what,
                           const llvm::Twine &next);

/// Next steps that several messages have.
inline constexpr char kCut[] =
    "the text is cut or edited; dump the graph again";
inline constexpr char kOtherRelease[] =
    "the text is of a release with another signature, or was edited";
inline constexpr char kOtherMeaning[] =
    "the text was edited, or the op of its release has another meaning";
inline constexpr char kNoSuchArgument[] =
    "no operator takes such an argument; dump the graph again";
inline constexpr char kBeforeAot[] =
    "this looks like a graph before AOTAutograd; dump aot_joint_graph instead "
    "of the Dynamo graph";
inline constexpr char kNestedGraphs[] =
    "dump a graph without higher-order ops (checkpoint, cond, scan), as after "
    "AOTAutograd's inlining";

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_SOURCETEXT_H
