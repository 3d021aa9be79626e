// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The context of the C interface: MLIR's, on one thread as in the driver, and
// the diagnostic function, which gets the message of MLIR and its notes as one
// call each. Without memory for a message it gets a message that needs none.
//
// One thread, because starting a pool costs more than a usual plan, and because
// a library has no business with the threads of the program around it.

#include "Guard.h"

#include "cutback/Dialect/Upstream/ExternalModels.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Support/MLIR/DiagnosticPlace.h"

using namespace mlir;

CutbackContext::CutbackContext(CutbackDiagnosticFn onDiagnostic, void *userData)
    : mlir(MLIRContext::Threading::DISABLED), onDiagnostic(onDiagnostic),
      userData(userData) {
  cutback::registerTrainingGraph(mlir);
  DialectRegistry registry;
  cutback::registerUpstreamDialects(registry);
  mlir.appendDialectRegistry(registry);
  mlir.allowUnregisteredDialects();
  mlir.printOpOnDiagnostic(false);
  mlir.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { report(diagnostic); });
}

void CutbackContext::report(CutbackSeverity severity,
                            const char *message) noexcept {
  if (!onDiagnostic)
    return;
  CutbackDiagnostic diagnostic = {severity, "", 0, 0, message};
  onDiagnostic(&diagnostic, userData);
}

static CutbackSeverity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return CUTBACK_NOTE;
  case DiagnosticSeverity::Warning:
    return CUTBACK_WARNING;
  case DiagnosticSeverity::Remark:
    return CUTBACK_REMARK;
  case DiagnosticSeverity::Error:
    break;
  }
  return CUTBACK_ERROR;
}

void CutbackContext::report(Diagnostic &diagnostic) noexcept {
  if (!onDiagnostic)
    return;
  try {
    auto call = [&](Diagnostic &one) {
      cutback::DiagnosticPlace place =
          cutback::diagnosticPlace(one.getLocation());
      std::string file = place.file.str(), message = one.str();
      CutbackDiagnostic given = {severityOf(one.getSeverity()), file.c_str(),
                                 place.line, place.column, message.c_str()};
      onDiagnostic(&given, userData);
    };
    call(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      call(note);
  } catch (const std::bad_alloc &) {
    report(CUTBACK_ERROR, "out of memory while a message was made");
  }
}

extern "C" {

const char *cutbackVersion(void) { return CUTBACK_VERSION; }

int cutbackApiVersion(void) { return CUTBACK_API_VERSION; }

CutbackContext *cutbackContextCreate(CutbackDiagnosticFn onDiagnostic,
                                     void *userData) {
  try {
    cutback::capi::installFatalErrorHandler();
    return new CutbackContext(onDiagnostic, userData);
  } catch (...) {
    return nullptr;
  }
}

void cutbackContextDestroy(CutbackContext *context) {
  // What a defect left behind may be locked or half made: it is lost.
  if (context && !context->broken)
    delete context;
}

} // extern "C"
