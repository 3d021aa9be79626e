// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stand-ins of NVIDIA's libraries share.
#ifndef CUTBACK_TEST_STANDIN_STANDIN_H
#define CUTBACK_TEST_STANDIN_STANDIN_H

#include "cutback/Runtime/Cuda/Driver.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

/// Ends the process: what a library is asked to do is wrong.
[[noreturn]] inline void refuse(const std::string &what) {
  std::fprintf(stderr, "stand-in: %s\n", what.c_str());
  std::_Exit(86);
}

/// The variable CUTBACK_STAND_IN with this end.
inline std::string setting(const char *name, const char *otherwise) {
  const char *value =
      std::getenv((std::string("CUTBACK_STAND_IN") + name).c_str());
  return value ? value : otherwise;
}

/// 0, or the status with which `call` was asked to fail: each time, or from the
/// N-th on ("CALL=STATUS@N").
inline int statusOf(const char *call) {
  std::string fail = setting("_FAIL", "");
  std::string name = std::string(call) + "=";
  if (fail.compare(0, name.size(), name) != 0)
    return 0;
  static int numCalls = 0;
  size_t at = fail.find('@');
  ++numCalls;
  return at == std::string::npos || numCalls >= std::atoi(&fail[at + 1])
             ? std::atoi(fail.c_str() + name.size())
             : 0;
}

#define FAIL_IF_ASKED                                                          \
  if (int status = statusOf(__func__))                                         \
  return status

/// A product that a library was asked for, in terms of the manifest.
struct StandInProduct {
  std::array<int64_t, 4> sizes;                   ///< m, n, k, batch
  std::array<cutback::cuda::Address, 3> matrices; ///< a, b, out
  cutback::cuda::Address workspace;
  size_t workspaceBytes;
};

/// Of the stand-in driver: compares the product with the manifest's next launch
/// and puts `compute` on the stream.
extern "C" void cutbackStandInProduct(const StandInProduct &product,
                                      cutback::cuda::Handle stream,
                                      std::function<void()> compute);

/// Of work that goes on elsewhere, which is asked for again and again: whether
/// it is done. It calls nothing of the driver.
using StandInTry = std::function<bool()>;
/// Of the stand-in driver, for other libraries: puts such work on a stream;
/// refuses memory that is not there, or is another device's than the context's
/// at work; the number of that device.
extern "C" void cutbackStandInWork(cutback::cuda::Handle stream,
                                   StandInTry tries);
extern "C" void cutbackStandInCheckMemory(cutback::cuda::Address address,
                                          size_t bytes, const char *whose);
extern "C" int cutbackStandInDevice();

#endif // CUTBACK_TEST_STANDIN_STANDIN_H
