// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops compute several vectors at once, and that the bits are those of
// one after the other: elements beside whole groups of vectors too.

#include "NativeFixture.h"

#include "cutback/Target/CPU/LowerKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class NestScopesTest : public NativeFixture {
protected:
  /// Rows of so many `columns`; `body` makes %z of %x.
  static std::string rows(int64_t columns, const std::string &body) {
    std::string n = std::to_string(columns);
    std::string all = "memref<" + std::to_string(3 * columns) + "xf32>";
    std::string at = "[%i * " + n + " + %j] : " + all + "\n";
    return "kernel.func @k(%a: " + all + ") to (%c: " + all +
           ") schedule \"row\" { kernel.nest (%i, %j) in [3, " + n +
           " reduced] {\n%x = kernel.load %a" + at +
           "%s = kernel.reduce max %x : f32\n" + body +
           "\nkernel.store %z, %c" + at + "} }";
  }

  /// The counts that innermost loops of `text` ask for, without repetition.
  std::set<int64_t> countsOf(const std::string &text) {
    EXPECT_TRUE(compile(text)) << error;
    OwningOpRef<ModuleOp> loops = ModuleOp::create(module->getLoc());
    auto lowered = lowerKernel(function, *loops);
    EXPECT_TRUE(succeeded(lowered)) << error;
    std::set<int64_t> counts;
    lowered->function.walk([&](scf::ForOp loop) {
      auto annotation =
          loop->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
      if (annotation && annotation.getInterleave())
        counts.insert(annotation.getInterleave().getCount().getInt());
    });
    return counts;
  }
};

const char *const kExp = "%1 = arith.subf %x, %s : f32\n"
                         "%z = math.exp %1 : f32";
const char *const kSum = "%z = arith.addf %x, %s : f32";

TEST_F(NestScopesTest, LongLoopsOfFunctionsAreInterleaved) {
  EXPECT_EQ(countsOf(rows(4096, kExp)), std::set<int64_t>({4}));
  EXPECT_EQ(countsOf(rows(96, kExp)), std::set<int64_t>({2}));
  EXPECT_EQ(countsOf(rows(48, kExp)), std::set<int64_t>());
  EXPECT_EQ(countsOf(rows(4096, kSum)), std::set<int64_t>());
}

TEST_F(NestScopesTest, InterleavedBitsAreThoseOfEachElement) {
  for (int64_t columns : {7, 31, 33, 64, 96, 127, 128, 515, 1063}) {
    SCOPED_TRACE(columns);
    check(rows(columns, kExp), 1e-4);
  }
}

} // namespace
