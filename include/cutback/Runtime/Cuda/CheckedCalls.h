// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the CUDA driver, each of which may fail.
#ifndef CUTBACK_RUNTIME_CUDA_CHECKEDCALLS_H
#define CUTBACK_RUNTIME_CUDA_CHECKEDCALLS_H

#include "cutback/Runtime/Cuda/Driver.h"

#include <utility>

namespace cutback::cuda {

/// Calls one behind the other, up to the first that fails.
class CheckedCalls {
public:
  /// `error` is empty, or what has gone wrong before. It gets what the first
  /// call that fails has to say (Driver::explain). Both must outlive this.
  CheckedCalls(const Driver &driver, std::string &error)
      : driver(driver), error(error) {}

  /// Makes the call if nothing has gone wrong. Returns whether nothing has.
  template <typename... Parameters, typename... Given>
  bool run(const DriverCall<Status(Parameters...)> &call, Given &&...given) {
    return error.empty() && runAnyway(call, std::forward<Given>(given)...);
  }
  /// Makes the call also if something has: what was begun is to end.
  template <typename... Parameters, typename... Given>
  bool runAnyway(const DriverCall<Status(Parameters...)> &call,
                 Given &&...given) {
    return keep(call(std::forward<Given>(given)...), call.name);
  }

private:
  bool keep(Status status, const char *call);

  const Driver &driver;
  std::string &error;
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_CHECKEDCALLS_H
