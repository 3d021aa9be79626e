// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM is built without exceptions: out of memory, or a state that it takes for
// impossible, it calls a handler that must not return, and ends the process if
// there is none. Ours throws. The frames between have unwind tables, as all
// code on this platform has, but no clean-up: what they owned is lost and what
// they locked stays locked. So the context is given up: each later call with it
// fails at once. Other contexts are not touched.

#include "Guard.h"

#include "llvm/Support/ErrorHandling.h"

#include <mutex>
#include <new>
#include <stdexcept>

namespace cutback::capi {

namespace {
struct FatalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
} // namespace

static void throwFatalError(void *, const char *reason, bool) {
  throw FatalError(reason);
}

static void throwBadAlloc(void *, const char *, bool) {
  throw std::bad_alloc();
}

void installFatalErrorHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(throwFatalError);
    llvm::install_bad_alloc_error_handler(throwBadAlloc);
  });
}

static CutbackStatus giveUp(CutbackContext &context,
                            const char *what) noexcept {
  context.broken = true;
  context.report(CUTBACK_ERROR, what);
  context.report(CUTBACK_NOTE, "this is a defect of cutback, not of your "
                               "input; please report it");
  return CUTBACK_DEFECT;
}

/// Memory that runs out is what the input asked for.
static CutbackStatus giveUpWithoutMemory(CutbackContext &context) noexcept {
  context.broken = true;
  context.report(CUTBACK_ERROR, "out of memory");
  context.report(CUTBACK_NOTE, "this input needs more than the process may "
                               "have; make a new context");
  return CUTBACK_WRONG_INPUT;
}

CutbackStatus guarded(CutbackContext &context,
                      llvm::function_ref<CutbackStatus()> body) noexcept {
  if (context.broken) {
    context.report(CUTBACK_ERROR,
                   "an earlier defect, or the end of memory, has broken this "
                   "context");
    context.report(CUTBACK_NOTE, "make a new one");
    return CUTBACK_DEFECT;
  }
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return giveUpWithoutMemory(context);
  } catch (const std::length_error &) { // a container beyond all memory
    return giveUpWithoutMemory(context);
  } catch (const std::exception &exception) {
    return giveUp(context, exception.what());
  } catch (...) {
    return giveUp(context, "unknown exception");
  }
}

} // namespace cutback::capi
