// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which format an input has, and inputs that have none.

#include "ImportTestSupport.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"

#include <fcntl.h>
#include <unistd.h>

using namespace cutback;
using namespace cutback::test;

namespace {

std::string errorOf(const std::string &text, const std::string &graph = "") {
  ImportOptions options;
  options.graph = graph;
  Imported in(text, options);
  EXPECT_FALSE(in.isGood) << text;
  return in.errors();
}

/// What opening or reading `path` says.
std::string errorOfPath(const std::string &path,
                        std::optional<uint64_t> most = std::nullopt) {
  mlir::MLIRContext context;
  std::string text;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diag) {
    llvm::raw_string_ostream os(text);
    os << diag;
    for (mlir::Diagnostic &note : diag.getNotes())
      os << " | " << note;
  });
  EXPECT_TRUE(most ? failed(openInput(path, context, *most))
                   : failed(readInput(llvm::StringRef(path), context)));
  return text;
}

/// A file in the place of standard input.
class StandardInput {
public:
  explicit StandardInput(const char *path) : before(::dup(0)) {
    int file = ::open(path, O_RDONLY);
    ::dup2(file, 0);
    ::close(file);
  }
  ~StandardInput() {
    ::dup2(before, 0);
    ::close(before);
  }

private:
  int before;
};

const char *const kMlir = R"mlir(
module {
  func.func @helper() { return }
  joint.graph @step(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
    %y = aten.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
    joint.output %y : tensor<4xf32>
  }
  joint.graph @other(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
    joint.output %x : tensor<4xf32>
  }
}
)mlir";

} // namespace

TEST(Input, MlirIsReadAsText) {
  Imported in(kMlir);
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_EQ(in.module.format, InputFormat::MlirText);
  EXPECT_EQ(in.module.info.name, "step");
  ASSERT_TRUE(in.module.graph);
  EXPECT_EQ(in.module.counts.ops, 2u);
  ImportOptions options;
  options.graph = "@other";
  Imported other(kMlir, options);
  ASSERT_TRUE(other.isGood);
  EXPECT_EQ(other.module.info.name, "other");
  options.graph = "0";
  Imported helper(kMlir, options);
  ASSERT_TRUE(helper.isGood);
  EXPECT_TRUE(helper.module.function);
  EXPECT_TRUE(has(errorOf(kMlir, "nobody"),
                  "the module has no graph 'nobody' | --list "
                  "names the graphs of an input"));
  mlir::MLIRContext context;
  auto list = listGraphs(llvm::MemoryBufferRef(kMlir, "in.mlir"), context);
  ASSERT_TRUE(succeeded(list));
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[1].kind, GraphKind::Joint);
  EXPECT_EQ((*list)[1].line, 4u);
}

TEST(Input, MlirIsReadAsBytecode) {
  Imported in(jointText(""));
  ASSERT_TRUE(in.isGood);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ASSERT_TRUE(succeeded(
      mlir::writeBytecodeToFile(in.module.module->getOperation(), os)));
  Imported again(bytes);
  ASSERT_TRUE(again.isGood) << again.errors();
  EXPECT_EQ(again.module.format, InputFormat::MlirBytecode);
  EXPECT_EQ(again.ir(), in.ir());
}

TEST(Input, AModuleWithoutGraphsIsNoError) {
  Imported in("module {}");
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_FALSE(in.module.graph);
  EXPECT_FALSE(in.module.function);
}

TEST(Input, TellsWhatItCannotRead) {
  EXPECT_TRUE(has(errorOf(""), "1:1: the input is empty | expected .pt2, FX "
                               "text, a trace log, or MLIR"));
  EXPECT_TRUE(has(errorOf(" \n\t\n"), "the input is empty"));
  EXPECT_TRUE(
      has(errorOf(std::string("PK\x03\x04zip", 7)),
          "the archive is cut off: it has no directory (at byte 7) | copy or "
          "export the file again"));
  EXPECT_TRUE(has(errorOf(std::string("a\0b", 3)),
                  "this is a binary file of unknown format"));
  EXPECT_TRUE(has(errorOf(std::string("\xff\xfe"
                                      "d\0e\0",
                                      6)),
                  "1:1: this is text in UTF-16 | save it as UTF-8"));
  EXPECT_TRUE(
      has(errorOf("hello"),
          "this is neither .pt2, nor FX text, nor a trace log, nor MLIR | FX "
          "text has a line "
          "'def forward(', a log records of TORCH_TRACE, MLIR a joint.graph"));
  EXPECT_TRUE(has(errorOf("x = torch.ops.aten.mm.default(a, b)\n"),
                  "there is no 'def forward(' at the beginning of a line"));
  EXPECT_TRUE(has(errorOf("module { joint.graph"), "expected"));
  EXPECT_TRUE(has(errorOf(std::string("ML\xefR", 4) + "rubbish"), ""));
  EXPECT_TRUE(has(
      errorOf("module attributes {a = " + std::string(100000, '[')),
      "brackets nest deeper than 256 levels | no graph is nested like this"));
}

/// What is asked for and would be left out.
TEST(Input, TellsWhatItCannotFollow) {
  ImportOptions options;
  options.model = "other";
  EXPECT_TRUE(has(Imported(kMlir, options).errors(),
                  "there are no programs here to choose 'other' from (--model) "
                  "| only a .pt2 has some; --graph chooses a graph of a log or "
                  "of a module"));
  options = {};
  options.forwardOutputs = 1;
  EXPECT_TRUE(
      has(Imported(kMlir, options).errors(),
          "the file says which outputs belong to the forward: a number "
          "(--forward-outputs) would have no effect | it is for FX text "
          "and logs; leave it out"));
  options.kind = GraphKind::Backward;
  EXPECT_TRUE(
      has(Imported("def forward(self, x):\n    return x\n", options).errors(),
          "graph 'inference' is no joint graph: a number of outputs of its "
          "forward (--forward-outputs) would have no effect | leave it "
          "out, or choose another graph with --graph"));
}

/// Lines that define alias 1 ... `count`, each by the one before.
static std::string aliases(const std::string &first, unsigned count,
                           const std::string &opening,
                           const std::string &closing, unsigned times) {
  std::string text = first + "\n", mark = first.substr(0, 1);
  for (unsigned i = 1; i <= count; ++i) {
    text += mark + "a" + std::to_string(i) + " = " + opening;
    for (unsigned k = 0; k < times; ++k)
      text += (k ? ", " : "") + mark + "a" + std::to_string(i - 1);
    text += closing + "\n";
  }
  return text;
}

TEST(Input, WhatMlirWouldWriteOutIsMeasured) {
  auto errorWith = [](const std::string &before, const std::string &last) {
    return errorOf(before + "module attributes {t.a = " + last + "} {}");
  };
  EXPECT_TRUE(
      has(errorWith(aliases("#a0 = 1", 1000, "[", "]", 1), "#a1000"),
          "an attribute of an op 'builtin.module' nests deeper than 256 "
          "levels | no graph is nested like this; check the file"));
  EXPECT_TRUE(has(errorWith(aliases("#a0 = 1", 60, "[", "]", 2), "#a60"),
                  "has more than 1048576 parts when written out"));
  EXPECT_TRUE(has(errorWith(aliases("!a0 = i64", 60, "tuple<", ">", 2), "!a60"),
                  "has more than 1048576 parts when written out"));
  std::string places =
      aliases("#a0 = loc(\"f\":1:1)", 300, "loc(\"g\"(", "))", 1);
  EXPECT_TRUE(has(errorOf(places + "module {} loc(#a300)"),
                  "the location of an op 'builtin.module' nests deeper than "
                  "256 levels"));
  EXPECT_TRUE(has(
      errorWith("", "affine_map<(d0) -> (" + std::string(5000, '-') + "d0)>"),
      "an affine map has more than 4096 characters"));
  std::string ones;
  for (unsigned i = 0; i < 3000; ++i)
    ones += "1x";
  EXPECT_TRUE(has(errorWith("", "tensor<" + ones + "f32>"),
                  "the sizes of a type have more than 4096 characters"));
  // What is shared as often as in a usual file is no error.
  Imported shared(aliases("#a0 = 1", 16, "[", "]", 2) +
                  "module attributes {t.a = #a16} {}");
  EXPECT_TRUE(shared.isGood) << shared.errors();
  Imported maps("module attributes {t.a = affine_set<(d0) : (d0 >= 0, d0 - 4 "
                ">= 0)>, t.b = affine_map<(d0) -> (-d0)>, t.c = "
                "tensor<2x3xf32>} {}");
  EXPECT_TRUE(maps.isGood) << maps.errors();
  // Each alone is allowed, all together are not.
  std::string many = aliases("#a0 = 1", 18, "[", "]", 2) + "module {\n";
  for (unsigned i = 0; i < 600; ++i)
    many += "module attributes {t.a = #a18} {}\n";
  EXPECT_TRUE(has(errorOf(many + "}"),
                  "the attributes and types of the file have more than "
                  "268435456 parts when written out"));
}

TEST(Input, FilesAreOpenedOrExplained) {
  EXPECT_TRUE(has(errorOfPath(CUTBACK_SOURCE_DIR "/test"),
                  "/test is a folder | name a file: .pt2, FX text, a "
                  "trace log, .mlir or .mlirbc"));
  EXPECT_TRUE(has(errorOfPath("/no/such/file"),
                  "cannot read /no/such/file: No such file or directory | "
                  "check the path, and that the file may be read"));
  mlir::MLIRContext context;
  auto result = readInput(
      llvm::StringRef(CUTBACK_SOURCE_DIR "/test/corpus/mlp/joint.txt"),
      context);
  EXPECT_TRUE(succeeded(result));
}

TEST(Input, StandardInputIsReadToItsEndOrALimit) {
  const char *joint = CUTBACK_SOURCE_DIR "/test/corpus/mlp/joint.txt";
  {
    StandardInput file(joint);
    mlir::MLIRContext context;
    EXPECT_TRUE(succeeded(readInput(llvm::StringRef("-"), context)));
  }
  {
    StandardInput file(joint);
    EXPECT_TRUE(has(errorOfPath("-", 1024),
                    "standard input has more than 1.0 KiB | give the file by "
                    "its name: then it is not copied"));
  }
  {
    StandardInput device("/dev/zero");
    EXPECT_TRUE(
        has(errorOfPath("-"), "this is a binary file of unknown format"));
  }
  StandardInput folder("/");
  EXPECT_TRUE(
      has(errorOfPath("-"),
          "cannot read standard input: Is a directory | give a file, or "
          "a program that writes one"));
}

TEST(Input, OpsThatNestInBytecodeAreCounted) {
  mlir::MLIRContext context;
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(builder.getUnknownLoc());
  mlir::ModuleOp inner = *module;
  for (unsigned i = 0; i < 300; ++i) {
    builder.setInsertionPointToStart(inner.getBody());
    inner = mlir::ModuleOp::create(builder, builder.getUnknownLoc());
  }
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ASSERT_TRUE(succeeded(mlir::writeBytecodeToFile(*module, os)));
  EXPECT_TRUE(has(errorOf(bytes), "ops nest deeper than 256 levels | no graph "
                                  "is nested like this; check the file"));
}

TEST(Input, NamesOfFormatsAndKinds) {
  EXPECT_EQ(stringifyInputFormat(InputFormat::FxText), "fx-text");
  EXPECT_EQ(stringifyInputFormat(InputFormat::TraceLog), "trace-log");
  EXPECT_EQ(stringifyInputFormat(InputFormat::MlirText), "mlir");
  EXPECT_EQ(stringifyInputFormat(InputFormat::MlirBytecode), "mlir-bytecode");
  EXPECT_EQ(stringifyInputFormat(InputFormat::Pt2), "pt2");
  EXPECT_EQ(stringifyGraphKind(GraphKind::Joint), "joint");
  EXPECT_EQ(stringifyGraphKind(GraphKind::Forward), "forward");
  EXPECT_EQ(stringifyGraphKind(GraphKind::Backward), "backward");
  EXPECT_EQ(stringifyGraphKind(GraphKind::Inference), "inference");
}
