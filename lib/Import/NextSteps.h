// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What messages on calls advise, by what is read.
#ifndef CUTBACK_LIB_IMPORT_NEXTSTEPS_H
#define CUTBACK_LIB_IMPORT_NEXTSTEPS_H

#include "SourceText.h"

namespace cutback::fx {

struct NextSteps {
  const char *cut, *otherRelease, *otherMeaning;
};
inline constexpr NextSteps kTextSteps = {kCut, kOtherRelease, kOtherMeaning};
/// That a program is damaged is what its reader says where it finds it so.
inline constexpr char kProgramStep[] =
    "the program is of a release whose op is another: export the model again "
    "with torch 2.2 to 2.14, or write it without this call";
inline constexpr NextSteps kProgramSteps = {kProgramStep, kProgramStep,
                                            kProgramStep};

/// Of an exported program, which is JSON, or of FX text.
inline const NextSteps &nextSteps(const SourceText &source) {
  return source.text().ltrim().starts_with("{") ? kProgramSteps : kTextSteps;
}

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_NEXTSTEPS_H
