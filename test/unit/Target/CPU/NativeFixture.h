// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as text, run by machine code and by the interpreter on equal memory.
#ifndef CUTBACK_TEST_UNIT_TARGET_CPU_NATIVEFIXTURE_H
#define CUTBACK_TEST_UNIT_TARGET_CPU_NATIVEFIXTURE_H

#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/KernelBodies.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

namespace cutback::test {

class NativeFixture : public testing::Test {
protected:
  using Tensors = std::vector<interpreter::Tensor>;

  NativeFixture()
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          error = diagnostic.str();
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            if (note.str().find("see current operation") == std::string::npos)
              error += "\n" + note.str();
          return mlir::success();
        }) {
    context.loadDialect<kernel::KernelDialect>();
  }

  /// Compiles the kernels of `text`: results that pass caches, too.
  bool compile(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return false;
    auto compiled = compileNativeKernels(*module);
    auto inParts = compileNativeKernelsInParts(
        *module, 3, {LoopsFor::Processor, AccessTests::OfAll});
    auto asThreads =
        compileNativeKernelsInParts(*module, 50, {LoopsFor::Thread});
    auto streamed = compileNativeKernelsInParts(
        *module, 2,
        {LoopsFor::Processor, AccessTests::OfData, /*streamedBytes=*/0});
    if (mlir::failed(compiled) || mlir::failed(inParts) ||
        mlir::failed(asThreads) || mlir::failed(streamed))
      return false;
    streamedRunner = std::move(*streamed);
    runner = std::move(*compiled);
    partsRunner = std::move(*inParts);
    threadsRunner = std::move(*asThreads);
    function = *module->getOps<kernel::FuncOp>().begin();
    return true;
  }

  static interpreter::Tensor copyOf(const interpreter::Tensor &tensor) {
    auto copy = interpreter::Tensor::zeros(tensor.type, tensor.sizes);
    interpreter::copyElements(tensor, copy);
    return copy;
  }

  /// Memories of the kernel: numbers of a normal distribution, integers from 0
  /// to `most`.
  Tensors randomArguments(int64_t most = 3) {
    Tensors arguments;
    std::normal_distribution<double> normal;
    for (mlir::Type type : function.getBody().getArgumentTypes()) {
      auto memory = mlir::cast<mlir::MemRefType>(type);
      auto tensor = interpreter::Tensor::zeros(
          *interpreter::dtypeOf(memory.getElementType()), memory.getShape());
      for (int64_t i = 0, n = tensor.numel(); i < n; ++i) {
        if (interpreter::isFloating(tensor.type))
          tensor.set(i, normal(random));
        else
          tensor.setInt(i, tensor.type == interpreter::DType::Bool
                               ? random() & 1
                               : int64_t(random() % (most + 1)));
      }
      arguments.push_back(tensor);
    }
    return arguments;
  }

  /// Runs both; argument i lies in the memory of argument places[i]. Elements
  /// may differ by `tolerance` of the largest; with 0 their bits are equal, as
  /// are those of the kernel in parts that test each access, and cut for
  /// threads of a device, or with results that pass the caches.
  void runBoth(const Tensors &arguments, double tolerance = 0,
               std::vector<unsigned> places = {}) {
    auto memories = [&] {
      Tensors made;
      for (size_t i = 0; i < arguments.size(); ++i) {
        bool isOwn = places.empty() || places[i] == i;
        made.push_back(isOwn ? copyOf(arguments[i]) : made[places[i]]);
      }
      return made;
    };
    Tensors native = memories(), inParts = memories(), asThreads = memories();
    Tensors expected = memories(), streamed = memories();
    ASSERT_TRUE(mlir::succeeded(interpreter::runKernelBody(function, expected)))
        << error;
    ASSERT_TRUE(mlir::succeeded(runner->run(function, native))) << error;
    ASSERT_TRUE(mlir::succeeded(partsRunner->run(function, inParts))) << error;
    ASSERT_TRUE(mlir::succeeded(threadsRunner->run(function, asThreads)))
        << error;
    ASSERT_TRUE(mlir::succeeded(streamedRunner->run(function, streamed)))
        << error;
    for (size_t i = 0; i < arguments.size(); ++i) {
      compare(i, expected[i], native[i], tolerance);
      compare(i, native[i], inParts[i], 0);
      compare(i, native[i], asThreads[i], 0);
      compare(i, native[i], streamed[i], 0);
    }
  }

  /// The same, for a text.
  void check(const std::string &text, double tolerance = 0,
             std::vector<unsigned> places = {}) {
    ASSERT_TRUE(compile(text)) << error;
    runBoth(randomArguments(), tolerance, std::move(places));
  }

  static void compare(size_t argument, const interpreter::Tensor &expected,
                      const interpreter::Tensor &is, double tolerance) {
    std::vector<double> a = expected.doubles(), b = is.doubles();
    double scale = 1e-3;
    for (double x : a)
      scale = std::isfinite(x) ? std::max(scale, std::fabs(x)) : scale;
    for (size_t i = 0; i < a.size(); ++i) {
      bool isSame = tolerance == 0 ? std::memcmp(&a[i], &b[i], sizeof a[i]) == 0
                                   : a[i] == b[i];
      ASSERT_TRUE(isSame || (std::isnan(a[i]) && std::isnan(b[i])) ||
                  std::fabs(a[i] - b[i]) <= tolerance * scale)
          << "argument " << argument << ", element " << i << ": " << b[i]
          << ", and not " << a[i];
    }
  }

  mlir::MLIRContext context;
  std::string error;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<interpreter::KernelRunner> runner;
  std::unique_ptr<interpreter::KernelRunner> partsRunner, threadsRunner,
      streamedRunner;
  kernel::FuncOp function;
  std::mt19937_64 random{7};
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_TARGET_CPU_NATIVEFIXTURE_H
