// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op of `arith` and `math` that a body may hold (the interpreter knows
// what it computes), on every type that kernels have: it has a text, and on
// numbers where ops go wrong (NaN, infinities, both zeros, ties, the ends of
// integer types) the bits of machine code for a CPU. Element formulas are made
// of nothing else, which ElementsTest sees.

#include "HostKernels.h"

#include "Interpreter/ScalarOps.h"
#include "Target/CUDA/ScalarText.h"
#include "cutback/Target/CPU/NativeKernels.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

constexpr int64_t kCount = 1000;

const char *const kTypes[] = {"f64", "f32", "bf16", "f16", "i64",
                              "i32", "i16", "i8",   "i1",  "index"};

/// An op on %x, %y and %w of one type, %t of i1 and %n of i32.
struct Scalar {
  std::string operation; ///< "arith.cmpf of predicate 3"
  std::string operands;  ///< "%x, %y"
  std::string text, result;
};

class ScalarTextTest : public testing::TestWithParam<const char *> {
protected:
  ScalarTextTest() : handler(&context, [](Diagnostic &) { return success(); }) {
    context.loadDialect<kernel::KernelDialect, arith::ArithDialect,
                        math::MathDialect>();
  }

  Type typeOf(const std::string &name) { return parseType(name, &context); }
  /// In memory an index is an i64.
  static std::string memoryOf(const std::string &type) {
    return "memref<" + std::to_string(kCount) + "x" +
           (type == "index" ? "i64" : type) + ">";
  }
  void findScalars(const std::string &type);
  void tryScalar(OperationName name, const std::vector<std::string> &operands,
                 const std::string &result, const std::string &properties);
  std::string kernelText(const std::string &type) const;
  std::vector<Tensor> arguments(kernel::FuncOp function);

  MLIRContext context;
  ScopedDiagnosticHandler handler;
  std::string type;
  std::vector<Scalar> scalars;
  std::string missing;
};

/// Adds an op that verifies and that the interpreter knows.
void ScalarTextTest::tryScalar(OperationName name,
                               const std::vector<std::string> &operands,
                               const std::string &result,
                               const std::string &properties) {
  Block block;
  OperationState state(UnknownLoc::get(&context), name);
  Scalar scalar;
  std::string types;
  std::vector<cuda::Text> texts;
  for (const std::string &operand : operands) {
    std::string of = operand == "%t" ? "i1" : operand == "%n" ? "i32" : type;
    state.operands.push_back(block.addArgument(typeOf(of), state.location));
    types += (types.empty() ? "" : ", ") + of;
    scalar.operands += (scalar.operands.empty() ? "" : ", ") + operand;
    texts.push_back({operand.substr(1)});
  }
  state.addTypes(typeOf(result));
  if (!properties.empty())
    state.propertiesAttr = parseAttribute("{" + properties + "}", &context);
  block.push_back(Operation::create(state));
  if (failed(verify(&block.back())) || !findScalarOp(&block.back()))
    return;
  if (!cuda::scalarText(&block.back(), texts)) {
    missing += block.back().getName().getStringRef().str() + " of " + types +
               " to " + result + "\n";
    return;
  }
  scalar.operation = name.getStringRef().str() + " " + properties;
  scalar.text = "\"" + name.getStringRef().str() + "\"(" + scalar.operands +
                ") " + (properties.empty() ? "" : "<{" + properties + "}> ") +
                ": (" + types + ") -> " + result;
  scalar.result = result;
  scalars.push_back(scalar);
}

void ScalarTextTest::findScalars(const std::string &of) {
  type = of;
  const std::vector<std::vector<std::string>> operands = {{"%x"},
                                                          {"%x", "%y"},
                                                          {"%x", "%y", "%w"},
                                                          {"%t", "%x", "%y"},
                                                          {"%x", "%n"}};
  for (const char *dialect : {"arith", "math"})
    for (RegisteredOperationName name :
         context.getRegisteredOperationsByDialect(dialect)) {
      if (name.getStringRef() == "arith.constant")
        continue;
      int predicates = name.getStringRef() == "arith.cmpf"   ? 16
                       : name.getStringRef() == "arith.cmpi" ? 10
                                                             : 0;
      for (const auto &list : operands) {
        if (of == "i32" && list.back() == "%n")
          continue;
        for (const char *result : kTypes)
          for (int predicate = 0; predicate < std::max(predicates, 1);
               ++predicate)
            tryScalar(name, list, result,
                      predicates ? "predicate = " + std::to_string(predicate) +
                                       " : i64"
                                 : std::string());
      }
    }
}

/// All ops in one body, each with a memory of its own for its result.
std::string ScalarTextTest::kernelText(const std::string &of) const {
  std::string parameters, loads, body;
  for (const auto &[name, type] : {std::pair<std::string, std::string>{"x", of},
                                   {"y", of},
                                   {"w", of},
                                   {"t", "i1"},
                                   {"n", "i32"}}) {
    parameters +=
        (parameters.empty() ? "%m" : ", %m") + name + ": " + memoryOf(type);
    bool isIndex = type == "index";
    loads += "%" + name + (isIndex ? "_" : "") + " = kernel.load %m" + name +
             "[%i] : " + memoryOf(type) + "\n";
    if (isIndex)
      loads +=
          "%" + name + " = arith.index_cast %" + name + "_ : i64 to index\n";
  }
  std::string results;
  for (auto [i, scalar] : llvm::enumerate(scalars)) {
    std::string z = "%z" + std::to_string(i), to = "%r" + std::to_string(i);
    body += z + " = " + scalar.text + "\n";
    if (scalar.result == "index") {
      body += z + "_ = arith.index_cast " + z + " : index to i64\n";
      z += "_";
    }
    body += "kernel.store " + z + ", " + to +
            "[%i] : " + memoryOf(scalar.result) + "\n";
    results += (i ? ", " : "") + to + ": " + memoryOf(scalar.result);
  }
  return "kernel.func @k(" + parameters + ") to (" + results +
         ") schedule \"pointwise\" { kernel.nest (%i) in [" +
         std::to_string(kCount) + "] {\n" + loads + body + "} }";
}

/// Special numbers so that each pair of them meets, then random ones.
std::vector<Tensor> ScalarTextTest::arguments(kernel::FuncOp function) {
  const std::vector<double> reals = {
      0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, -2.5, 3, 7, -7, 20.5, 88, -88, 0.01,
      -0.3, 1e19, -1e19, 3e38, INFINITY, NAN,
      // Halfway between two numbers of 16 bits once it is rounded to single.
      1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, 0x1p-24 + 0x1p-70};
  const std::vector<int64_t> integers = {0,
                                         1,
                                         2,
                                         3,
                                         5,
                                         7,
                                         8,
                                         31,
                                         63,
                                         64,
                                         127,
                                         -1,
                                         -2,
                                         -7,
                                         -128,
                                         32767,
                                         -32768,
                                         1 << 24,
                                         INT32_MAX,
                                         INT32_MIN,
                                         INT64_MAX,
                                         INT64_MIN,
                                         (int64_t(1) << 53) + 1};
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 2);
  std::vector<Tensor> memory;
  for (Type type : function.getBody().getArgumentTypes()) {
    size_t m = memory.size();
    Type element = cast<MemRefType>(type).getElementType();
    Tensor tensor = Tensor::zeros(*dtypeOf(element), {kCount});
    for (int64_t i = 0; m < 5 && i < kCount; ++i) {
      bool isSpecial = i < 24 * 24;
      auto pick = [&](size_t count) {
        return (m == 0   ? i / 24
                : m == 1 ? i % 24
                         : int64_t(random() >> 40)) %
               count;
      };
      if (isFloating(tensor.type))
        tensor.set(i, isSpecial ? reals[pick(reals.size())] : normal(random));
      else if (tensor.type == DType::Bool)
        tensor.setInt(i, random() & 1);
      else
        tensor.setInt(i, isSpecial ? integers[pick(integers.size())]
                         : i % 2   ? int64_t(random())
                                   : int64_t(random() % 200) - 100);
    }
    memory.push_back(tensor);
  }
  return memory;
}

/// Where two tensors differ; a NaN is one, whatever its bits.
int64_t firstDifference(const Tensor &a, const Tensor &b) {
  for (int64_t i = 0, bytes = itemSize(a.type); i < a.numel(); ++i) {
    bool isNan = isFloating(a.type) && std::isnan(a.getDouble(i)) &&
                 std::isnan(b.getDouble(i));
    if (!isNan && std::memcmp(static_cast<const char *>(a.data()) + i * bytes,
                              static_cast<const char *>(b.data()) + i * bytes,
                              bytes) != 0)
      return i;
  }
  return -1;
}

TEST_P(ScalarTextTest, HasTheBitsOfACpu) {
  findScalars(GetParam());
  EXPECT_EQ(missing, "");
  EXPECT_GT(scalars.size(), 20u);
  RecordProperty("ops", static_cast<int>(scalars.size()));
  std::string text = kernelText(GetParam());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  auto function = *module->getOps<kernel::FuncOp>().begin();
  test::HostKernels kernels;
  ASSERT_TRUE(kernels.build(*module));
  auto native = compileNativeKernels(*module);
  ASSERT_TRUE(succeeded(native));
  std::vector<Tensor> device = arguments(function), cpu = arguments(function);
  std::vector<void *> pointers;
  for (Tensor &tensor : device)
    pointers.push_back(tensor.data());
  EXPECT_EQ(kernels.run(0, pointers), 0);
  ASSERT_TRUE(succeeded((*native)->run(function, cpu)));
  for (auto [k, scalar] : llvm::enumerate(scalars)) {
    int64_t i = firstDifference(device[5 + k], cpu[5 + k]);
    if (i < 0)
      continue;
    auto at = [&](const Tensor &tensor) {
      return isFloating(tensor.type) ? std::to_string(tensor.getDouble(i))
                                     : std::to_string(tensor.getInt(i));
    };
    ADD_FAILURE() << scalar.text << "\nx = " << at(cpu[0])
                  << ", y = " << at(cpu[1]) << ", w = " << at(cpu[2])
                  << "\non the device " << at(device[5 + k]) << ", on a CPU "
                  << at(cpu[5 + k]);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ScalarTextTest, testing::ValuesIn(kTypes),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
