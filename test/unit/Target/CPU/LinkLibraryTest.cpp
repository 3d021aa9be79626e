// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is called must be there when a library is linked, not when it is loaded;
// a call that gets no memory says so; what a product reaches is a rate. That
// calls run as they should is seen call by call (DeviceCallsTests).

#include "Target/CPU/LinkLibrary.h"
#include "Target/CPU/Precompiled.h"
#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/KernelCode.h"
#include "cutback/Target/CPU/NativeKernels.h"
#include "cutback/Target/CPU/ProductRate.h"
#include "cutback/Target/CPU/StridedCalls.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

/// An object file with one call.
std::string objectOf(const char *function,
                     const std::string &told = std::string(64, 0)) {
  MLIRContext context;
  OwningOpRef<ModuleOp> none(ModuleOp::create(UnknownLoc::get(&context)));
  FailureOr<KernelObject> object =
      compileKernelObject(*none, {{"one", {function, told}}});
  return failed(object) ? "" : object->bytes;
}

TEST(LinkLibraryTest, RefusesWhatNobodyDefines) {
  std::vector<std::string> objects = {objectOf("cutback_nothing")};
  cpu::addPrecompiledObjects(objects);
  std::string library, log, error;
  EXPECT_EQ(cpu::linkLibrary(objects, library, log),
            "lld does not link the kernels");
  EXPECT_NE(log.find("undefined symbol: cutback_nothing"), std::string::npos);
  EXPECT_TRUE(library.empty());
  EXPECT_FALSE(cpu::LoadedLibrary::link(objects, error));
  EXPECT_EQ(error.rfind("lld does not link the kernels: ", 0), 0u) << error;
}

TEST(LinkLibraryTest, FindsWhatWasLinked) {
  std::vector<std::string> objects = {objectOf("cutback_products")};
  cpu::addPrecompiledObjects(objects);
  std::string error;
  auto library = cpu::LoadedLibrary::link(objects, error);
  ASSERT_TRUE(library) << error;
  EXPECT_TRUE(library->find("one"));
  EXPECT_FALSE(library->find("other"));
}

// A process that runs steps for many sizes has a library for each: what their
// threads have of their own must not be of the little that all of them share.
TEST(LinkLibraryTest, LoadsAsManyAsAProcessAsksFor) {
  std::vector<std::string> objects = {objectOf("cutback_products")};
  cpu::addPrecompiledObjects(objects);
  std::vector<std::unique_ptr<cpu::LoadedLibrary>> libraries;
  for (int i = 0; i < 100; ++i) {
    std::string error;
    libraries.push_back(cpu::LoadedLibrary::link(objects, error));
    ASSERT_TRUE(libraries.back()) << error << " " << i;
  }
}

/// A row of 2^50 elements is sorted in no memory of this machine.
TEST(LinkLibraryTest, MarksThatThereIsNoMemory) {
  precompiled::StridedTensor row;
  row.operand = 0, row.rank = 1;
  row.sizes[0] = int64_t(1) << 50, row.strides[0] = 1;
  const precompiled::StridedTensor tensors[3] = {row, {}, {}};
  const precompiled::StridedCall call = {3};
  const precompiled::Order order;
  std::string told;
  told.append(reinterpret_cast<const char *>(&call), sizeof(call));
  told.append(reinterpret_cast<const char *>(tensors), sizeof(tensors));
  told.append(reinterpret_cast<const char *>(&order), sizeof(order));
  std::vector<std::string> objects = {objectOf("cutback_order", told)};
  cpu::addPrecompiledObjects(objects);
  std::string error;
  auto library = cpu::LoadedLibrary::link(objects, error);
  ASSERT_TRUE(library) << error;
  float element = 0;
  void *operands[] = {&element};
  int64_t cells[kKernelCells] = {0, 0, 0, 1};
  callKernel(library->find("one"), operands, cells);
  EXPECT_EQ(describeMark({static_cast<int>(cells[0]), 0, 0, 0}),
            "this machine has no memory for what is summed up or sorted beside "
            "the arena");
}

TEST(ProductRateTest, IsThatOfAMachine) {
  std::string error;
  double rate = measureProductRate(1, error);
  EXPECT_EQ(error, "");
  EXPECT_GT(rate, 1e7);
  EXPECT_LT(rate, 1e13);
}

} // namespace
