// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comments of FX text: where the model computes what follows, and what a
// checkpoint region asks for it.
#ifndef CUTBACK_LIB_IMPORT_COMMENTS_H
#define CUTBACK_LIB_IMPORT_COMMENTS_H

#include "SourceText.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/StringMap.h"

namespace cutback::fx {

/// What a comment says of the statements up to the next one.
struct Place {
  mlir::LocationAttr location;
  joint::PolicyAttr policy;
  /// A tag that says what is not done here ("MUST_CPU_OFFLOAD").
  llvm::StringRef unknownTag;
};

class CommentReader {
public:
  CommentReader(mlir::MLIRContext *context, mlir::Location fallback)
      : context(context), fallback(fallback) {}

  /// Reads a comment without its `#`. Costs one look-up. Nothing if it says
  /// nothing about the statements behind it.
  const Place *read(llvm::StringRef comment);

private:
  struct Entry {
    Place place;
    bool isPlace = false;
  };
  void parse(llvm::StringRef key, Entry &entry);

  mlir::MLIRContext *context;
  mlir::Location fallback;
  llvm::StringMap<Entry> entries;
};

/// What stands in the quotes of `Head(target='x')`, `rest` being what is behind
/// `target=`; empty if no quotes are there.
llvm::StringRef quotedArgument(llvm::StringRef rest);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_COMMENTS_H
