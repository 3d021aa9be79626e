// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files of Precompiled/, one for each set of vectors that processors
// have, lie in this program as CMake made them. A step gets those of the
// largest set that this processor has all extensions of: so it needs nothing
// that its manifest does not name. What its calls do not use, the linker leaves
// out.

#include "Precompiled.h"

#include "cutback/Runtime/CpuFeatures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace cutback;
using llvm::StringRef;

#define CUTBACK_LEVEL(features)
#define CUTBACK_COMMON
#define CUTBACK_OBJECT(name, file)                                             \
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
#undef CUTBACK_LEVEL
#undef CUTBACK_COMMON
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
  bool isTaken = false, isThis = false;
  // A level is followed by its objects; the last one asks for nothing. Behind
  // them stand those that all have.
#define CUTBACK_LEVEL(features)                                                \
  isThis = !isTaken && hasAll(features);                                       \
  isTaken |= isThis;
#define CUTBACK_COMMON isThis = true;
#define CUTBACK_OBJECT(name, file)                                             \
  if (isThis)                                                                  \
    objects.emplace_back(cutback_##name##_begin,                               \
                         cutback_##name##_end - cutback_##name##_begin);
#include "PrecompiledObjects.inc"
#undef CUTBACK_LEVEL
#undef CUTBACK_COMMON
#undef CUTBACK_OBJECT
}
