// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is emitted for artifacts.

#include "Target/CPU/Machine.h"
#include "NativeFixture.h"

#include "cutback/Target/CPU/LowerKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class MachineTest : public NativeFixture {};

// Where LLVM is not told that there is a memset it writes loops over bytes:
// here for the 4,096 accumulators of a row.
TEST_F(MachineTest, BlocksOfMemoryAreFilledByTheLibrary) {
  ASSERT_TRUE(compile(
      R"(kernel.func @k(%a: memref<16384xf32>) to (%b: memref<1xf32>)
             schedule "row" { kernel.nest (%i, %j) in [1, 16384 reduced] {
           %0 = kernel.load %a[%i * 16384 + %j] : memref<16384xf32>
           %1 = kernel.reduce add %0 : f32
           kernel.store %1, %b[%i] : memref<1xf32> } })"))
      << error;
  OwningOpRef<ModuleOp> loops = ModuleOp::create(module->getLoc());
  auto lowered = lowerKernel(*module->getOps<kernel::FuncOp>().begin(), *loops);
  ASSERT_TRUE(succeeded(lowered)) << error;
  auto object = cpu::compileObject(*loops, {std::string("k")}, {});
  ASSERT_TRUE(succeeded(object)) << error;
  EXPECT_NE(object->find("k.run"), std::string::npos);
  EXPECT_NE(object->find("memset"), std::string::npos);
}

} // namespace
