// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FX texts, trace logs, exported programs and archives: reading ends with a
// module that verifies, or with an error. MLIR's own parser is not ours to
// test.

#include "cutback/Import/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace mlir;
using namespace cutback;

static bool looksLikeMlir(llvm::StringRef text) {
  return text.starts_with("ML\xefR") || text.contains("joint.") ||
         text.contains("module") || text.contains("func.func");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (looksLikeMlir(text.take_front(4096)))
    return 0;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  bool hasError = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  auto module = readInput(llvm::MemoryBufferRef(text, "input"), context);
  if (failed(module) && !hasError)
    std::abort(); // a failure without a message
  if (succeeded(module) && failed(verify(*module->module)))
    std::abort();
  return 0;
}
