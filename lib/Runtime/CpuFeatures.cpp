// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Features of a processor by the compiler's own test, which asks the operating
// system too whether it saves the wide registers. Extensions that make loops
// faster, and no others: what an artifact uses is this list, so it can be
// checked whole.

#include "cutback/Runtime/CpuFeatures.h"

#include <algorithm>

using namespace cutback;

const char *cutback::machineName() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

std::vector<std::string> cutback::cpuFeatures() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  // The test takes nothing but a literal.
#define CUTBACK_FEATURE(name)                                                  \
  if (__builtin_cpu_supports(name))                                            \
  features.emplace_back(name)
  CUTBACK_FEATURE("sse3");
  CUTBACK_FEATURE("ssse3");
  CUTBACK_FEATURE("sse4.1");
  CUTBACK_FEATURE("sse4.2");
  CUTBACK_FEATURE("popcnt");
  CUTBACK_FEATURE("lzcnt");
  CUTBACK_FEATURE("bmi");
  CUTBACK_FEATURE("bmi2");
  CUTBACK_FEATURE("avx");
  CUTBACK_FEATURE("f16c");
  CUTBACK_FEATURE("fma");
  CUTBACK_FEATURE("avx2");
  CUTBACK_FEATURE("avx512f");
  CUTBACK_FEATURE("avx512cd");
  CUTBACK_FEATURE("avx512dq");
  CUTBACK_FEATURE("avx512bw");
  CUTBACK_FEATURE("avx512vl");
  CUTBACK_FEATURE("avx512bf16");
#undef CUTBACK_FEATURE
#endif
  return features;
}

std::string
cutback::findMissingFeature(const std::vector<std::string> &features) {
  std::vector<std::string> has = cpuFeatures();
  for (const std::string &feature : features)
    if (std::find(has.begin(), has.end(), feature) == has.end())
      return feature;
  return "";
}
