// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Real files of torch 2.13 import: those of test/corpus, and, where
// CUTBACK_GOLDEN names a folder of unpacked golden data, all in it. In their
// graphs nothing is opaque, and what the file has data for is found.

#include "../ImportTestSupport.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cstdlib>

using namespace cutback;
using namespace cutback::test;

namespace {

std::vector<std::string> findPrograms(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".pt2"))
      paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void checkProgram(const std::string &path) {
  SCOPED_TRACE(path);
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(file);
  Imported in((*file)->getBuffer());
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_TRUE(in.module.counts.opaque.empty());
  ASSERT_TRUE(in.module.graph && in.module.weights);
  bool isJoint = llvm::StringRef(path).ends_with("joint.pt2");
  joint::GraphOp graph = in.module.graph;
  EXPECT_EQ(in.module.info.kind,
            isJoint ? GraphKind::Joint : GraphKind::Forward);
  EXPECT_EQ(graph.getOutput().getGradients().empty(), !isJoint);
  for (unsigned i = 0; i < graph.getArgumentTypes().size(); ++i) {
    joint::RoleAttr role = graph.getRole(i);
    if (role.getName()) {
      EXPECT_TRUE(in.module.weights->find(role.getName().getValue()))
          << role.getName().str();
    }
  }
}

} // namespace

TEST(ExportedFiles, OfTheCorpus) {
  std::vector<std::string> paths =
      findPrograms(CUTBACK_SOURCE_DIR "/test/corpus");
  EXPECT_GE(paths.size(), 7u);
  for (const std::string &path : paths)
    checkProgram(path);
}

TEST(ExportedFiles, OfTheGoldenData) {
  const char *golden = std::getenv("CUTBACK_GOLDEN");
  if (!golden)
    GTEST_SKIP() << "CUTBACK_GOLDEN is not set: it names a folder with the "
                    "unpacked golden data";
  std::vector<std::string> paths = findPrograms(golden);
  EXPECT_GE(paths.size(), 70u);
  for (const std::string &path : paths)
    checkProgram(path);
}

TEST(ExportedFiles, WeightsHaveTheirData) {
  auto file = llvm::MemoryBuffer::getFile(CUTBACK_SOURCE_DIR
                                          "/test/corpus/gpt2/model.pt2");
  ASSERT_TRUE(file);
  Imported in((*file)->getBuffer());
  ASSERT_TRUE(in.isGood) << in.errors();
  // This one uses its embedding twice under one name.
  EXPECT_FALSE(llvm::StringRef(in.ir()).contains("joint.tied"));
  const WeightTensor *weight = in.module.weights->find("wte.weight");
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->sizes.size(), 2u);
  EXPECT_EQ(weight->storage->size(),
            static_cast<size_t>(weight->getNumElements()) * 4);
}
