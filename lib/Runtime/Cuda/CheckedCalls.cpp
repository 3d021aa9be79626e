// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every call of the driver returns a status, and most follow from the one in
// front of them: a copy behind an allocation, a wait behind an event. So a list
// of calls stops by itself, and the message is that of the first that failed;
// what comes of later ones would only follow from it.
//
// Nothing is given back here: owners do that, whatever has failed.

#include "cutback/Runtime/Cuda/CheckedCalls.h"

using namespace cutback::cuda;

bool CheckedCalls::keep(Status status, const char *call) {
  if (error.empty())
    error = driver.explain(status, call);
  return error.empty();
}
