// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields of the JSON that torch.export writes, with errors that say where.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_FIELDS_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_FIELDS_H

#include "../Scope.h"

#include "cutback/Support/Json.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

namespace cutback::pt2 {

/// Next steps that several messages have.
inline constexpr char kDamaged[] =
    "the file is damaged or was edited; export and save the program again";
inline constexpr char kNewer[] =
    "it is of a release that is not known, or was edited; export it with "
    "torch 2.2 to 2.14";

inline llvm::StringRef ref(std::string_view text) {
  return {text.data(), text.size()};
}

/// One document: its text for positions, and the strings that it had escaped.
class Fields {
public:
  Fields(mlir::MLIRContext *context, fx::SourceText source)
      : context(context), source(std::move(source)), strings(allocator) {}

  /// Parses the document; fails with an error at the place.
  mlir::LogicalResult parse(JsonDocument &document);

  mlir::LogicalResult fail(JsonValue at, const llvm::Twine &what,
                           const llvm::Twine &next) const {
    return fx::emitAt(context, source, at ? at.raw().data() : nullptr, what,
                      next);
  }

  /// The member `key` of `object`, which must be of `kind`.
  mlir::FailureOr<JsonValue> get(JsonValue object, llvm::StringRef key,
                                 JsonKind kind) const;
  /// The same for a string.
  mlir::FailureOr<llvm::StringRef> text(JsonValue object, llvm::StringRef key);
  /// The value of a string; lives as long as this.
  llvm::StringRef text(JsonValue string);

  /// A union: an object of one member, whose key says what the value is.
  struct Variant {
    llvm::StringRef kind;
    JsonValue value;
  };
  mlir::FailureOr<Variant> variant(JsonValue object) const;
  /// The entries of an array member.
  mlir::FailureOr<JsonValue> list(JsonValue object, llvm::StringRef key) const {
    return get(object, key, JsonKind::Array);
  }

  mlir::MLIRContext *context;
  fx::SourceText source;

private:
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver strings;
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_FIELDS_H
