// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports a text and keeps what was said about it.
#ifndef CUTBACK_TEST_UNIT_IMPORT_IMPORTTESTSUPPORT_H
#define CUTBACK_TEST_UNIT_IMPORT_IMPORTTESTSUPPORT_H

#include "cutback/Import/Import.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace cutback::test {

/// One import: the module, its text, and all diagnostics as
/// "LINE:COL: text | note".
struct Imported {
  explicit Imported(llvm::StringRef text, const ImportOptions &options = {},
                    mlir::MLIRContext *shared = nullptr)
      : own(shared ? nullptr : new mlir::MLIRContext()),
        context(shared ? *shared : *own) {
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diag) { return keep(diag); });
    auto result =
        readInput(llvm::MemoryBufferRef(text, "in.txt"), context, options);
    if (failed(result))
      return;
    isGood = true;
    module = std::move(*result);
    isValid = succeeded(mlir::verify(*module.module));
    if (module.torchModule)
      isValid &= succeeded(mlir::verify(*module.torchModule));
  }

  /// The module, without locations.
  std::string ir() { return print(*module.module); }
  static std::string print(mlir::ModuleOp op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op.print(os);
    return text;
  }
  std::string errors() const {
    std::string text;
    for (const std::string &error : diagnostics)
      text += error + "\n";
    return text;
  }

  std::unique_ptr<mlir::MLIRContext> own;
  mlir::MLIRContext &context; ///< making one costs more than a small import
  ImportedModule module;
  bool isGood = false, isValid = false;
  std::vector<std::string> diagnostics;

private:
  mlir::LogicalResult keep(mlir::Diagnostic &diag) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (auto at = diag.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      os << at.getLine() << ":" << at.getColumn() << ": ";
    os << diag;
    for (mlir::Diagnostic &note : diag.getNotes())
      os << " | " << note;
    diagnostics.push_back(text);
    return mlir::success();
  }
};

/// A joint graph of one product in today's form, with `body` behind it (from
/// line 14 on) and the lines `results` in its return statement.
std::string jointText(const std::string &body, const std::string &results);
/// The same, returning the product and no gradients.
std::string jointText(const std::string &body);

/// A file of test/corpus.
std::string corpusText(const std::string &path);

/// `text` contains `part`.
inline testing::AssertionResult has(const std::string &text,
                                    const std::string &part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in:\n" << text;
}

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_IMPORT_IMPORTTESTSUPPORT_H
