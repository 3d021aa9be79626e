// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Real graphs import whole: all of test/corpus, and, where CUTBACK_SHARED names
// a folder of unpacked golden data and corpus files, every text and log in it.

#include "ImportTestSupport.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstdlib>

using namespace cutback;
using namespace cutback::test;

namespace {

bool isGraphFile(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  return name == "joint.txt" || name == "trace.log" || name == "forward.txt" ||
         name == "backward.txt" || name.contains(" graph ");
}

/// Imports all graph files below `folder`; gives their number.
size_t importAll(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error))
    if (isGraphFile(it->path()))
      paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  for (const std::string &path : paths) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file) {
      ADD_FAILURE() << "cannot read " << path;
      continue;
    }
    ImportOptions options;
    options.torchHalves = true;
    Imported in((*file)->getBuffer(), options);
    EXPECT_TRUE(in.isGood) << path << ": " << in.errors();
    if (!in.isGood)
      continue;
    EXPECT_TRUE(in.isValid) << path << ": " << in.errors();
    EXPECT_TRUE(in.module.counts.opaque.empty())
        << path << ": " << in.module.counts.opaque.front().callee;
    if (llvm::StringRef(path).ends_with("trace.log")) {
      EXPECT_TRUE(in.module.torchForward) << path << ": " << in.errors();
    }
  }
  return paths.size();
}

} // namespace

TEST(ImportCorpus, Bundled) {
  EXPECT_GE(importAll(CUTBACK_SOURCE_DIR "/test/corpus"), 20u);
}

TEST(ImportCorpus, Shared) {
  const char *folder = std::getenv("CUTBACK_SHARED");
  if (!folder)
    GTEST_SKIP() << "CUTBACK_SHARED is not set: it names a folder with the "
                    "unpacked golden data";
  size_t count = importAll(folder);
  EXPECT_GT(count, 0u);
  RecordProperty("texts", static_cast<int>(count));
  std::printf("[   texts  ] %zu\n", count);
}
