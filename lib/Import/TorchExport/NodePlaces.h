// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a node comes from, by its metadata.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_NODEPLACES_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_NODEPLACES_H

#include "../Comments.h"
#include "Fields.h"

namespace cutback::pt2 {

class NodePlaces {
public:
  explicit NodePlaces(Fields &fields)
      : fields(fields), context(fields.context),
        fallback(fields.source.locate(fields.context,
                                      fields.source.text().begin())) {}

  /// The place of the whole text.
  mlir::Location whole() const { return fallback; }
  /// Location and checkpoint tag of a node. Costs a look-up where the same
  /// metadata was seen before.
  fx::Place read(JsonValue node);

private:
  /// Null where the trace leads to no file.
  mlir::LocationAttr placeOf(llvm::StringRef trace);
  mlir::Location placeInFile(JsonValue node);
  joint::PolicyAttr policyOf(JsonValue custom);

  Fields &fields;
  mlir::MLIRContext *context;
  mlir::Location fallback;
  fx::SourceText::Cursor cursor;
  llvm::StringMap<mlir::LocationAttr> places;  ///< by stack trace
  llvm::StringMap<mlir::StringAttr> modules;   ///< by module stack
  llvm::StringMap<joint::PolicyAttr> policies; ///< by custom text
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_NODEPLACES_H
