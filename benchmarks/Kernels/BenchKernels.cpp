// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as machine code on more memory than the caches hold, against memcpy
// of as many bytes. Each line: the best of some runs, processor time, kernel
// and copy by turns, so that what else the machine does meets both. One thread.
//
// With files that `compile --to=kernels` wrote: how long compiling takes.

#include "../Usage.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/InitAll.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

struct Case {
  const char *name;
  std::string text;
};

std::string memory(int64_t count, const char *type = "f32") {
  return "memref<" + std::to_string(count) + "x" + type + ">";
}

/// One load of %x and one of %y, `body`, one store of %z.
std::string pointwise(const std::string &body) {
  std::string all = memory(12 << 20);
  return "kernel.func @k(%a: " + all + ", %b: " + all + ") to (%c: " + all +
         ") schedule \"pointwise\" { kernel.nest (%i, %j) in [4096, 3072] {\n"
         "%x = kernel.load %a[%i * 3072 + %j] : " +
         all + "\n%y = kernel.load %b[%i * 3072 + %j] : " + all + "\n" + body +
         "\nkernel.store %z, %c[%i * 3072 + %j] : " + all + "} }";
}

/// A kernel over `rows` x `columns`: `body` has %x, stores by itself into %c.
std::string overRows(int64_t rows, int64_t columns, const std::string &body,
                     bool isStored = true) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  std::string all = memory(rows * columns);
  std::string text = "kernel.func @k(%a: " + all +
                     ") to (%c: " + (isStored ? all : memory(rows)) +
                     ") schedule \"row\" { kernel.nest (%i, %j) in [" + r +
                     ", " + c + " reduced] {\n%x = kernel.load %a[%i * " + c +
                     " + %j] : " + all + "\n" + body + "\n";
  if (isStored)
    return text + "kernel.store %z, %c[%i * " + c + " + %j] : " + all + "} }";
  return text + "kernel.store %z, %c[%i] : " + memory(rows) + "} }";
}

std::string addNorm(int64_t rows, int64_t columns) {
  std::string c = std::to_string(columns), all = memory(rows * columns);
  std::string at = "[%i * " + c + " + %j] : " + all + "\n";
  return "kernel.func @k(%a: " + all + ", %b: " + all +
         ", %w: " + memory(columns) + ", %v: " + memory(columns) +
         ") to (%s: " + all + ", %y: " + all + ", %m: " + memory(rows) +
         ") schedule \"row\" { kernel.nest (%i, %j) in [" +
         std::to_string(rows) + ", " + c + " reduced] {\n%x0 = kernel.load %a" +
         at + "%x1 = kernel.load %b" + at + "%x = arith.addf %x0, %x1 : f32\n" +
         "%n = arith.constant " + c + R"(.0 : f32
           %1 = kernel.reduce add %x : f32
           %2 = arith.divf %1, %n : f32
           %3 = arith.subf %x, %2 : f32
           %4 = arith.mulf %3, %3 : f32
           %5 = kernel.reduce add %4 : f32
           %6 = arith.divf %5, %n : f32
           %e = arith.constant 1.0e-5 : f32
           %7 = arith.addf %6, %e : f32
           %8 = math.rsqrt %7 : f32
           %9 = arith.mulf %3, %8 : f32
           %10 = kernel.load %w[%j] : )" +
         memory(columns) + "\n%11 = arith.mulf %9, %10 : f32\n" +
         "%12 = kernel.load %v[%j] : " + memory(columns) +
         "\n%13 = arith.addf %11, %12 : f32\nkernel.store %x, %s" + at +
         "kernel.store %13, %y" + at +
         "kernel.store %8, %m[%i] : " + memory(rows) + "} }";
}

std::string columnSum(int64_t rows, int64_t columns) {
  std::string c = std::to_string(columns), all = memory(rows * columns);
  return "kernel.func @k(%a: " + all + ") to (%c: " + memory(columns) +
         ") schedule \"partial\" { kernel.nest (%i, %j) in [" +
         std::to_string(rows) + " reduced, " + c +
         "] {\n%x = kernel.load %a[%i * " + c + " + %j] : " + all +
         "\n%1 = kernel.reduce add %x : f32\nkernel.store %1, %c[%j] : " +
         memory(columns) + "} }";
}

std::string transpose(int64_t rows, int64_t columns) {
  std::string all = memory(rows * columns);
  return "kernel.func @k(%a: " + all + ") to (%c: " + all +
         ") schedule \"pointwise\" { kernel.nest (%i, %j) in [" +
         std::to_string(rows) + ", " + std::to_string(columns) +
         "] {\n%x = kernel.load %a[%j * " + std::to_string(rows) +
         " + %i] : " + all + "\nkernel.store %x, %c[%i * " +
         std::to_string(columns) + " + %j] : " + all + "} }";
}

const char *const kGelu = R"(
  %h = arith.constant 0.5 : f32
  %s = arith.constant 0.707106769 : f32
  %o = arith.constant 1.0 : f32
  %1 = arith.mulf %x, %s : f32
  %2 = math.erf %1 : f32
  %3 = arith.addf %2, %o : f32
  %4 = arith.mulf %x, %h : f32
  %5 = arith.mulf %4, %3 : f32
  %z = arith.mulf %5, %y : f32)";

const char *const kDropout = R"(
  %s = arith.constant 7 : i64
  %p = arith.constant 0.1 : f32
  %f = arith.constant 1.11111116 : f32
  %o = arith.constant 0.0 : f32
  %n = arith.constant 3072 : index
  %1 = arith.muli %i, %n : index
  %2 = arith.addi %1, %j : index
  %d = kernel.draw uniform %s stream 3[%2] : f32
  %m = arith.cmpf oge, %d, %p : f32
  %3 = arith.mulf %x, %f : f32
  %4 = arith.select %m, %3, %o : f32
  %z = arith.addf %4, %y : f32)";

const char *const kSoftmax = R"(
  %m = kernel.reduce max %x : f32
  %1 = arith.subf %x, %m : f32
  %2 = math.exp %1 : f32
  %3 = kernel.reduce add %2 : f32
  %z = arith.divf %2, %3 : f32)";

const char *const kLogSum = R"(
  %m = kernel.reduce max %x : f32
  %1 = arith.subf %x, %m : f32
  %2 = math.exp %1 : f32
  %3 = kernel.reduce add %2 : f32
  %4 = math.log %3 : f32
  %z = arith.addf %4, %m : f32)";

std::vector<Case> allCases() {
  return {
      {"add", pointwise("%z = arith.addf %x, %y : f32")},
      {"gelu * y", pointwise(kGelu)},
      {"dropout + y", pointwise(kDropout)},
      {"add, layer norm 16384 x 768", addNorm(16384, 768)},
      {"add, layer norm 131072 x 96", addNorm(131072, 96)},
      {"softmax 12288 x 1024", overRows(12288, 1024, kSoftmax)},
      {"softmax 262144 x 48", overRows(262144, 48, kSoftmax)},
      {"softmax 250 x 50257", overRows(250, 50257, kSoftmax)},
      {"logsumexp 250 x 50257", overRows(250, 50257, kLogSum, false)},
      {"column sum 16384 x 768", columnSum(16384, 768)},
      {"transpose 4096 x 3072", transpose(4096, 3072)},
  };
}

double secondsOf(llvm::function_ref<void()> run) {
  auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  };
  double start = now();
  run();
  return now() - start;
}

int runCase(const Case &one, MLIRContext &context, int runs) {
  auto module = parseSourceString<ModuleOp>(one.text, &context);
  if (!module)
    return 1;
  FailureOr<std::unique_ptr<KernelRunner>> kernels = failure();
  double compile = secondsOf([&] { kernels = compileNativeKernels(*module); });
  if (failed(kernels))
    return 1;
  auto function = *module->getOps<kernel::FuncOp>().begin();
  std::mt19937 random(1);
  std::vector<Tensor> arguments;
  int64_t bytes = 0;
  for (Type type : function.getBody().getArgumentTypes()) {
    auto sizes = cast<MemRefType>(type).getShape();
    Tensor tensor = Tensor::zeros(DType::F32, sizes);
    auto *data = reinterpret_cast<float *>(tensor.data());
    for (int64_t i = 0; i < tensor.numel(); ++i)
      data[i] = static_cast<float>(random() % 2048) / 512.0F - 2.0F;
    bytes += tensor.numel() * 4;
    arguments.push_back(tensor);
  }
  Tensor from = Tensor::zeros(DType::I8, {bytes / 2});
  Tensor to = Tensor::zeros(DType::I8, {bytes / 2});
  std::memset(from.data(), 1, bytes / 2);
  double best = 1e9, copy = 1e9;
  for (int run = 0; run < runs; ++run) {
    LogicalResult ran = success();
    best = std::min(
        best, secondsOf([&] { ran = (*kernels)->run(function, arguments); }));
    copy = std::min(copy, secondsOf([&] {
                      std::memcpy(to.data(), from.data(), bytes / 2);
                    }));
    if (failed(ran))
      return 1;
  }
  std::printf("%-30s %7.1f ms  %6.2f ms  %6.1f GB/s  %5.2f of memcpy\n",
              one.name, compile * 1e3, best * 1e3, bytes / best * 1e-9,
              copy / best);
  return 0;
}

/// How long the kernels of a step take to be compiled.
int compileFile(const char *path, MLIRContext &context) {
  auto module = parseSourceFile<ModuleOp>(path, &context);
  if (!module)
    return 1;
  FailureOr<std::unique_ptr<KernelRunner>> kernels = failure();
  double seconds = secondsOf([&] { kernels = compileNativeKernels(*module); });
  if (failed(kernels))
    return 1;
  auto all = module->getOps<kernel::FuncOp>();
  std::printf("%s: %td kernels, %.2f s\n", path,
              std::distance(all.begin(), all.end()), seconds);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "bench-kernels [--runs=N] [--only=NAME] [KERNELS.mlir...]";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  int runs = 9;
  const char *only = ""; // what a case's name has in it
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], "--runs=", 7) == 0)
      runs = std::max(1, std::atoi(argv[i] + 7));
    else if (std::strncmp(argv[i], "--only=", 7) == 0)
      only = argv[i] + 7;
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, kernel::KernelDialect>();
  bool hasFile = false;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-')
      continue;
    hasFile = true;
    if (int code = compileFile(argv[i], context))
      return code;
  }
  if (hasFile)
    return 0;
  std::printf("%-30s %10s  %9s  %11s  %s\n", "kernel", "compile", "run",
              "moves", "speed");
  for (const Case &one : allCases()) {
    if (!std::strstr(one.name, only))
      continue;
    if (int code = runCase(one, context, runs))
      return code;
  }
  return 0;
}
