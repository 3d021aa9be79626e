// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler of this machine makes of text, with the flags of a step.

#include "cutback/Target/CUDA/Toolchain.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <dlfcn.h>
#include <fstream>

using namespace cutback;

namespace {

/// As a product fetches: what a thread has of a slice, four neighbors at once.
/// GCC 12 at -O2 takes `fetch` for a function without effects.
const char *const kFetching = R"(
struct alignas(16) Four { float e[4]; };
struct Part { int at[4]; Four values[2][4]; };
inline Four get(const float *from, int at) {
  Four x, own = {};
  if (at >= 0)
    own = *reinterpret_cast<const Four *>(from + at);
  for (int e = 0; e < 4; ++e)
    x.e[e] = at >= 0 ? own.e[e] : -0.0f;
  return x;
}
__attribute__((noinline)) static void fetch(Part &part, const float *from,
                                            int set) {
  for (int i = 0; i < 4; ++i)
    part.values[set][i] = get(from, part.at[i]);
}
extern "C" void cutback_fetch(const float *from, int set, float *to) {
  Part part;
  for (int i = 0; i < 4; ++i)
    part.at[i] = i < 3 ? 4 * i : -1;
  fetch(part, from, set);
  for (int i = 0; i < 16; ++i)
    to[i] = part.values[set][i / 4].e[i % 4];
}
)";

TEST(ToolchainTest, WhatAFunctionStoresIsThereForItsCaller) {
  ToolResult built =
      buildHostLibrary(findHostCompiler(), {{"host.cpp", kFetching}});
  ASSERT_EQ(built.error, "") << built.log;
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("cutback", "so", path));
  std::ofstream(path.c_str(), std::ios::binary) << built.files[0].second;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  ASSERT_TRUE(library) << ::dlerror();
  auto fetch = reinterpret_cast<void (*)(const float *, int, float *)>(
      ::dlsym(library, "cutback_fetch"));
  ASSERT_TRUE(fetch);
  alignas(16) float from[16], to[16] = {};
  for (int i = 0; i < 16; ++i)
    from[i] = static_cast<float>(i + 1);
  for (int set : {0, 1}) {
    fetch(from, set, to);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(to[i], i < 12 ? from[i] : 0) << i << " of set " << set;
  }
  ::dlclose(library);
}

TEST(ToolchainTest, RefusedTextIsNoFailureOfTheCompiler) {
  ToolResult built =
      buildHostLibrary(findHostCompiler(), {{"host.cpp", "int f( {"}});
  EXPECT_TRUE(built.isRejected);
  EXPECT_TRUE(built.files.empty());
  EXPECT_NE(built.error.find("does not compile the text"), std::string::npos);
  EXPECT_NE(built.log.find("host.cpp"), std::string::npos);
}

} // namespace
