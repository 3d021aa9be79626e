// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions for messages. The readers keep pointers into the text and count no
// lines; a position costs a scan of the text before it, and is asked for when
// there is something to report, which is once or a few times an import.
//
// A graph inside a trace log is lexed where it lies (its lines begin with a
// tab), so that its positions are those of the log. Only text that carries a
// logging prefix in every line is copied, together with a table of origins.

#include "SourceText.h"

using namespace mlir;
using namespace cutback::fx;

std::pair<unsigned, unsigned> SourceText::lineAndColumn(const char *at) const {
  if (at < file.begin() || at > file.end())
    at = file.begin();
  StringRef before(file.begin(), at - file.begin());
  unsigned line = before.count('\n');
  size_t newline = before.rfind('\n');
  return origin(line, newline == StringRef::npos ? before.size()
                                                 : before.size() - newline - 1);
}

/// Where a place of `file`, counted from 0, was in the user's file.
std::pair<unsigned, unsigned> SourceText::origin(unsigned line,
                                                 unsigned column) const {
  if (!stripped)
    return {line + 1, column + 1};
  if (line >= stripped->lines.size())
    return {1, 1};
  StrippedLog::Line origin = stripped->lines[line];
  return {origin.line, origin.column + column};
}

std::pair<unsigned, unsigned> SourceText::lineAndColumn(const char *at,
                                                        Cursor &cursor) const {
  if (!cursor.last)
    cursor.last = cursor.lineBegin = file.begin();
  StringRef between(cursor.last, at - cursor.last);
  cursor.line += between.count('\n');
  if (size_t newline = between.rfind('\n'); newline != StringRef::npos)
    cursor.lineBegin = cursor.last + newline + 1;
  cursor.last = at;
  return origin(cursor.line, at - cursor.lineBegin);
}

Location SourceText::locate(MLIRContext *context, const char *at,
                            Cursor &cursor) const {
  auto [line, column] = lineAndColumn(at, cursor);
  return FileLineColLoc::get(context, fileName, line, column);
}

Location SourceText::locate(MLIRContext *context, const char *at) const {
  auto [line, column] = lineAndColumn(at);
  return FileLineColLoc::get(context, fileName, line, column);
}

LogicalResult cutback::fx::emitAt(MLIRContext *context,
                                  const SourceText &source, const char *at,
                                  const Twine &what, const Twine &next) {
  InFlightDiagnostic diag = mlir::emitError(source.locate(context, at));
  diag << what;
  diag.attachNote() << next;
  return diag;
}
