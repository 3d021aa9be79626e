// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product large enough that nothing but multiplying takes time, small enough
// that its matrices stay in caches (4 MiB each). It is a call like those of a
// step: a description, for the function that was compiled with Cutback, linked
// and loaded as a step is. Parts are threads of a pool, as a launch has them.

#include "cutback/Target/CPU/ProductRate.h"

#include "LinkLibrary.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/KernelCode.h"
#include "cutback/Runtime/ThreadPool.h"
#include "cutback/Target/CPU/PrecompiledCalls.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <chrono>
#include <vector>

using namespace mlir;
using namespace cutback;

static constexpr int64_t kSize = 1024;

/// Rows of a matrix.
static precompiled::Index strideOf(int64_t stride) {
  precompiled::Index index;
  index.numDigits = 1;
  index.digits[0].stride = stride;
  return index;
}

static PrecompiledCall describeProduct() {
  precompiled::Products all;
  all.count = 1;
  precompiled::Product product;
  product.rows = product.columns = product.steps = kSize;
  product.a.tensor.operand = 0;
  product.a.line = product.b.step = product.outRow = strideOf(kSize);
  product.a.step = product.b.line = product.outColumn = strideOf(1);
  product.b.tensor.operand = 1;
  product.out.operand = 2;
  PrecompiledCall call{"cutback_products", ""};
  appendDescription(call.description, all);
  appendDescription(call.description, product);
  return call;
}

double cutback::measureProductRate(unsigned threads, std::string &error) {
  MLIRContext context;
  std::unique_ptr<cpu::LoadedLibrary> library = cpu::loadCalls(
      {{"product", describeProduct()}}, UnknownLoc::get(&context), error);
  KernelCode code = library ? library->find("product") : nullptr;
  if (!code)
    return 0;
  std::vector<float> a(kSize * kSize, 1), b(a), out(a);
  void *operands[] = {a.data(), b.data(), out.data()};
  ThreadPool pool(threads);
  double least = 0;
  for (int run = 0; run < 6; ++run) {
    auto begin = std::chrono::steady_clock::now();
    pool.run([&](unsigned part) {
      int64_t cells[kKernelCells] = {0, 0, part, pool.size()};
      callKernel(code, operands, cells);
    });
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    if (run > 0)
      least = run == 1 ? took.count() : std::min(least, took.count());
  }
  return 2.0 * kSize * kSize * kSize / least;
}
