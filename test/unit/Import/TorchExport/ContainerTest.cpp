// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Containers of all releases, what is in them, and what is not.

#include "../ExportText.h"
#include "../ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

std::string errorOf(const std::string &bytes,
                    const ImportOptions &options = {}) {
  Imported in(bytes, options);
  EXPECT_FALSE(in.isGood);
  return in.errors();
}

std::string irOf(const std::string &bytes, const ImportOptions &options = {}) {
  Imported in(bytes, options);
  EXPECT_TRUE(in.isGood) << in.errors();
  return in.isGood ? in.ir() : "";
}

} // namespace

TEST(Container, AllFormsHoldTheSameProgram) {
  std::string program = linearProgram().json();
  std::string ir = irOf(program);
  EXPECT_EQ(irOf(linearProgram().archive().str()), ir);
  ZipWriter withoutRoot;
  withoutRoot.add("models/model.json", program, /*deflated=*/true);
  withoutRoot.add("archive_format", "pt2");
  EXPECT_EQ(irOf(withoutRoot.str()), ir);
  ZipWriter flat;
  flat.add("serialized_exported_program.json", program);
  flat.add("version", "8.1");
  EXPECT_EQ(irOf(flat.str()), ir);
  EXPECT_EQ(irOf("\n " + program), ir);
}

TEST(Container, SeveralModels) {
  ExportText relu;
  relu.input("x", "f32[2]")
      .node("aten.relu.default", {{"self", tensorArg("x")}},
            {{"relu", "f32[2]"}})
      .output("relu");
  ZipWriter zip = linearProgram().archive();
  zip.add("model/models/second-one.json", relu.json());
  std::string bytes = zip.str();
  EXPECT_TRUE(has(irOf(bytes), "joint.graph @model("));
  ImportOptions options;
  options.model = "second-one";
  EXPECT_TRUE(has(irOf(bytes, options), "joint.graph @second_one("));
  options.model.clear();
  options.graph = "1";
  EXPECT_TRUE(has(irOf(bytes, options), "joint.graph @second_one("));
  options.graph = "third";
  EXPECT_TRUE(has(errorOf(bytes, options), "there is no model 'third' | the "
                                           "models are: model, second-one"));
  mlir::MLIRContext context;
  auto list = listGraphs(llvm::MemoryBufferRef(bytes, "in.pt2"), context);
  ASSERT_TRUE(succeeded(list));
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].name, "model");
  EXPECT_EQ((*list)[0].kind, GraphKind::Forward);
  EXPECT_EQ((*list)[1].name, "second-one");
  EXPECT_EQ((*list)[1].bytes, relu.json().size());
}

TEST(Container, JointProgramsAreListedAsSuch) {
  std::string text = linearProgram().gradient("linear", "fc.weight").json();
  mlir::MLIRContext context;
  auto list = listGraphs(llvm::MemoryBufferRef(text, "in.json"), context);
  ASSERT_TRUE(succeeded(list));
  EXPECT_EQ(list->front().kind, GraphKind::Joint);
}

TEST(Container, WhatIsNoProgram) {
  ZipWriter other;
  other.add("readme.txt", "hello");
  EXPECT_TRUE(has(errorOf(other.str()),
                  "this zip archive is not one that torch.export writes | "
                  "expected models/NAME.json or "
                  "serialized_exported_program.json in it, as "
                  "torch.export.save writes them"));
  ZipWriter empty;
  empty.add("m/archive_format", "pt2");
  EXPECT_TRUE(has(errorOf(empty.str()),
                  "this archive of torch.export holds no program"));
  ZipWriter compiled;
  compiled.add("m/archive_format", "pt2");
  compiled.add("m/data/aotinductor/model/a.so", "ELF");
  EXPECT_TRUE(has(errorOf(compiled.str()),
                  "this is a package of AOTInductor: compiled code, not a "
                  "program | save the exported program itself: "
                  "torch.export.save(ep, FILE)"));
  EXPECT_TRUE(has(errorOf(ZipWriter().str()),
                  "this zip archive is not one that torch.export writes"));
}

TEST(Container, EveryPrefixOfAnArchiveIsAnError) {
  std::string bytes = linearProgram().archive().str();
  mlir::MLIRContext context;
  for (size_t size = 0; size < bytes.size(); size += size < 400 ? 1 : 13) {
    Imported in(bytes.substr(0, size), {}, &context);
    EXPECT_FALSE(in.isGood) << size;
    EXPECT_FALSE(in.diagnostics.empty()) << size;
  }
}

TEST(Container, ADamagedProgramIsFoundByItsChecksum) {
  std::string bytes = linearProgram().archive().str();
  bytes[bytes.find("aten.mean") + 5] = 'M';
  EXPECT_TRUE(has(errorOf(bytes), "entry 'model/models/model.json' does not "
                                  "have its checksum"));
}
