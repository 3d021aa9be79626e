// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What machine code of a step may use of the processor. The compiler takes from
// here what it uses, the runtime what must be there.
#ifndef CUTBACK_RUNTIME_CPUFEATURES_H
#define CUTBACK_RUNTIME_CPUFEATURES_H

#include <string>
#include <vector>

namespace cutback {

/// What this program is compiled for: "x86_64", "aarch64".
const char *machineName();

/// The extensions of that which this processor has, of those that compiled
/// steps use. Their names are LLVM's and those of -m options: "avx2".
std::vector<std::string> cpuFeatures();

/// The first of `features` that this processor lacks or nobody knows here;
/// empty if it has them all.
std::string findMissingFeature(const std::vector<std::string> &features);

} // namespace cutback

#endif // CUTBACK_RUNTIME_CPUFEATURES_H
