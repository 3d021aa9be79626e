// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files of Precompiled/, one of a source for each set of vectors that
// processors have, lie in this program as CMake made them. A step gets that of
// the largest set that this processor has all extensions of: so it needs
// nothing that its manifest does not name. What its calls do not use, the
// linker leaves out.

#include "Precompiled.h"

#include "cutback/Runtime/CpuFeatures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace cutback;
using llvm::StringRef;

#define CUTBACK_SOURCE
#define CUTBACK_OBJECT(features, name, file)                                   \
  __asm__(".pushsection .rodata\n"                                             \
          ".balign 16\n"                                                       \
          "cutback_" #name "_begin:\n"                                         \
          ".incbin \"" file "\"\n"                                             \
          "cutback_" #name "_end:\n"                                           \
          ".popsection\n");                                                    \
  extern "C" __attribute__((visibility("hidden")))                             \
  const char cutback_##name##_begin[],                                         \
      cutback_##name##_end[];
#include "PrecompiledObjects.inc"
#undef CUTBACK_SOURCE
#undef CUTBACK_OBJECT

/// Whether this processor has each of "sse3 avx".
static bool hasAll(StringRef features) {
  llvm::SmallVector<StringRef> needed;
  features.split(needed, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> has = cpuFeatures();
  return llvm::all_of(needed, [&](StringRef feature) {
    return llvm::is_contained(has, feature);
  });
}

void cpu::addPrecompiledObjects(std::vector<std::string> &objects) {
  bool isTaken = false;
  // A source is followed by its objects, the largest set first; the last one
  // asks for nothing.
#define CUTBACK_SOURCE isTaken = false;
#define CUTBACK_OBJECT(features, name, file)                                   \
  if (!isTaken && hasAll(features)) {                                          \
    isTaken = true;                                                            \
    objects.emplace_back(cutback_##name##_begin,                               \
                         cutback_##name##_end - cutback_##name##_begin);       \
  }
#include "PrecompiledObjects.inc"
#undef CUTBACK_SOURCE
#undef CUTBACK_OBJECT
}
