// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of a compiled step for the C interface (cutback-c/Calls.h). Each list
// has a context of its own, so that steps on different threads do not meet;
// what went wrong is a string of the thread, because whoever asks has loaded
// three functions and no more: a diagnostic function would be a fourth thing to
// agree on between two libraries.

#include "Guard.h"

#include "cutback-c/Calls.h"

#include "cutback/Interpreter/StoredCalls.h"

using namespace cutback;
using namespace cutback::capi;

struct CutbackCalls {
  CutbackContext context{nullptr, nullptr};
  std::unique_ptr<interpreter::StoredCalls> calls;
};

/// What went wrong in the last call of this thread.
static thread_local std::string said;

extern "C" {

CutbackCalls *cutbackCallsCreate(const char *text, size_t size,
                                 const char **error) {
  auto made = std::make_unique<CutbackCalls>();
  said = "";
  CutbackStatus status = guarded(made->context, [&] {
    made->calls =
        interpreter::StoredCalls::read(made->context.mlir, {text, size}, said);
    return made->calls ? CUTBACK_DONE : CUTBACK_WRONG_INPUT;
  });
  if (status == CUTBACK_DONE)
    return made.release();
  if (said.empty())
    said = "a defect of cutback";
  *error = said.c_str();
  return nullptr;
}

void cutbackCallsDestroy(CutbackCalls *calls) {
  if (calls && !calls->context.broken)
    delete calls;
}

const char *cutbackCallsRun(CutbackCalls *calls, const char *name,
                            void *const *operands) {
  said = "";
  CutbackStatus status = guarded(calls->context, [&] {
    said = calls->calls->run(name, operands);
    return said.empty() ? CUTBACK_DONE : CUTBACK_WRONG_INPUT;
  });
  if (status == CUTBACK_DONE)
    return nullptr;
  if (said.empty())
    said = "a defect of cutback";
  return said.c_str();
}

} // extern "C"
