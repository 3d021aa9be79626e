// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files to a shared library.
#ifndef CUTBACK_LIB_TARGET_CPU_LINKLIBRARY_H
#define CUTBACK_LIB_TARGET_CPU_LINKLIBRARY_H

#include "cutback/Runtime/KernelCode.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace cutback::cpu {

/// Links `objects` (whole files) to a library, `library`, which needs nothing
/// but the C library and libm. The same objects give the same bytes. Returns an
/// empty string, or what went wrong; `log` is then what lld says.
std::string linkLibrary(llvm::ArrayRef<std::string> objects,
                        std::string &library, std::string &log);

/// Kernels and calls that this process runs itself: a library that is linked
/// and loaded as that of a step. ORC would do for kernels; the functions that
/// calls name have variables of threads, for which it needs a runtime.
class LoadedLibrary {
public:
  /// Null, with why in `error`, where `objects` are not linked or loaded.
  static std::unique_ptr<LoadedLibrary>
  link(llvm::ArrayRef<std::string> objects, std::string &error);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary &) = delete;
  LoadedLibrary &operator=(const LoadedLibrary &) = delete;

  /// Null if there is none of this name.
  KernelCode find(llvm::StringRef name) const;

private:
  explicit LoadedLibrary(void *handle) : handle(handle) {}

  void *handle;
};

/// `calls` as functions of this process. Null, with why in `error`, or where
/// that has been said at `loc`.
std::unique_ptr<LoadedLibrary>
loadCalls(const NamedCalls &calls, mlir::Location loc, std::string &error);

} // namespace cutback::cpu

#endif // CUTBACK_LIB_TARGET_CPU_LINKLIBRARY_H
