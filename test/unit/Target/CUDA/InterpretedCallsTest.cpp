// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that the files of PyTorch's results have not, with operands that are
// drawn, against the interpreter: attention in more sizes and types, calls of
// more than one block, and products of f32 in tf32. Else as the others: the
// same bits in both orders of blocks and on a CPU, which has no tf32.

#include "DeviceCalls.h"

#include "cutback/Interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"

#include <cstring>
#include <random>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class InterpretedCalls : public test::DeviceCalls {
protected:
  /// Arguments that are not `given` are drawn; what the interpreter makes of
  /// them is expected, and returned behind them.
  std::vector<RuntimeValue> addCall(const std::string &function,
                                    std::vector<RuntimeValue> given = {});
  FailureOr<std::vector<RuntimeValue>> interpret(test::TorchCall &call);
  Tensor draw(Type type);
  static std::optional<Tensor> tensorOf(const RuntimeValue &value) {
    const Tensor *tensor = std::get_if<Tensor>(&value);
    return tensor ? std::optional<Tensor>(*tensor) : std::nullopt;
  }

  std::mt19937 generator{7};
};

/// Of booleans one in four is false, and never the first of a row.
Tensor InterpretedCalls::draw(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Tensor values =
      Tensor::zeros(*dtypeOf(tensor.getElementType()), tensor.getShape());
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < values.numel(); ++i)
    if (isIntegral(values.type))
      values.setInt(i, i % tensor.getShape().back() == 0 || generator() % 4);
    else
      values.set(i, normal(generator));
  return values;
}

/// A mask of booleans, which PyTorch does not give to these ops, is one of
/// floats there.
FailureOr<std::vector<RuntimeValue>>
InterpretedCalls::interpret(test::TorchCall &call) {
  std::vector<RuntimeValue> arguments = call.arguments;
  Value last = call.function.getArguments().back();
  auto type = cast<RankedTensorType>(last.getType());
  if (!type.getElementType().isInteger(1))
    return interpreter::run(call.function, arguments);
  std::vector<int64_t> truth = std::get<Tensor>(arguments.back()).ints();
  Tensor mask = Tensor::zeros(DType::F32, type.getShape());
  for (int64_t i = 0; i < mask.numel(); ++i)
    mask.set(i, truth[i] ? 0.0 : -INFINITY);
  arguments.back() = mask;
  auto floats = type.clone(Float32Type::get(&context));
  last.setType(floats);
  auto results = interpreter::run(call.function, arguments);
  last.setType(type);
  return results;
}

std::vector<RuntimeValue>
InterpretedCalls::addCall(const std::string &function,
                          std::vector<RuntimeValue> given) {
  Call call{function, {}};
  call.torch.module = parseSourceString<ModuleOp>(function, &context);
  EXPECT_TRUE(call.torch.module) << function;
  if (!call.torch.module)
    return {};
  call.torch.function = *call.torch.module->getOps<func::FuncOp>().begin();
  ArrayRef<Type> types = call.torch.function.getArgumentTypes();
  for (Type type : types.drop_front(given.size()))
    given.emplace_back(draw(type));
  call.torch.arguments = std::move(given);
  FailureOr<std::vector<RuntimeValue>> results = interpret(call.torch);
  EXPECT_TRUE(succeeded(results)) << function;
  if (failed(results))
    return {};
  std::vector<RuntimeValue> all = call.torch.arguments;
  for (const RuntimeValue &result : *results) {
    call.torch.expected.push_back(tensorOf(result));
    all.push_back(result);
  }
  size_t before = calls.size();
  add(std::move(call));
  EXPECT_EQ(calls.size(), before + 1) << function << " has no kernel";
  return all;
}

class AttentionCallsTest : public InterpretedCalls {};

/// Two batches of two heads. `mask`: its type, of one element a score; "".
struct Attention {
  const char *type;
  int queries, keys, width, outWidth;
  bool isCausal;
  const char *mask;

  std::string tensor(int rows, int columns) const {
    return "tensor<2x2x" + std::to_string(rows) + "x" +
           std::to_string(columns) + "x" + type + ">";
  }
  std::string maskType() const {
    return "tensor<2x2x" + std::to_string(queries) + "x" +
           std::to_string(keys) + "x" + mask + ">";
  }
  std::string sumType() const {
    return "tensor<2x2x" + std::to_string(queries) + "xf32>";
  }
  /// Operands behind the sizes, and results.
  std::string forward() const {
    bool hasMask = *mask;
    return "aten._scaled_dot_product_flash_attention_for_cpu(%0, %1, %2, "
           "0.0, " +
           std::string(isCausal ? "true" : "false") +
           ", attn_mask = " + (hasMask ? "%3" : "none") + ", scale = 0.3) : (" +
           tensor(queries, width) + ", " + tensor(keys, width) + ", " +
           tensor(keys, outWidth) + (hasMask ? ", " + maskType() : "") +
           ") -> (" + tensor(queries, outWidth) + ", " + sumType() + ")";
  }
  /// Of the gradient, the operands, what the forward gave, and the mask.
  std::string backward() const {
    bool hasMask = *mask;
    return "aten._scaled_dot_product_flash_attention_for_cpu_backward(%0, %1, "
           "%2, %3, %4, %5, 0.0, " +
           std::string(isCausal ? "true" : "false") +
           ", attn_mask = " + (hasMask ? "%6" : "none") + ", scale = 0.3) : (" +
           tensor(queries, outWidth) + ", " + tensor(queries, width) + ", " +
           tensor(keys, width) + ", " + tensor(keys, outWidth) + ", " +
           tensor(queries, outWidth) + ", " + sumType() +
           (hasMask ? ", " + maskType() : "") + ") -> (" +
           tensor(queries, width) + ", " + tensor(keys, width) + ", " +
           tensor(keys, outWidth) + ")";
  }
  /// The same with the gradient of a mask of floats.
  std::string biasBackward() const {
    return "aten._scaled_dot_product_efficient_attention_backward(%0, %1, %2, "
           "%3, %4, %5, %6, %7, %8, 0.0, [true, true, true, true], " +
           std::string(isCausal ? "true" : "false") + ", scale = 0.3) : (" +
           tensor(queries, outWidth) + ", " + tensor(queries, width) + ", " +
           tensor(keys, width) + ", " + tensor(keys, outWidth) + ", " +
           maskType() + ", " + tensor(queries, outWidth) + ", " + sumType() +
           ", tensor<i64>, tensor<i64>) -> (" + tensor(queries, width) + ", " +
           tensor(keys, width) + ", " + tensor(keys, outWidth) + ", " +
           maskType() + ")";
  }
};

TEST_F(AttentionCallsTest, AgreeWithTheInterpreter) {
  const Attention all[] = {
      {"f32", 37, 53, 20, 20, false, ""},
      {"f32", 200, 70, 64, 40, true, ""},
      {"f32", 37, 53, 130, 64, false, "i1"},
      {"f32", 1, 97, 3, 5, false, "f32"},
      {"bf16", 37, 53, 20, 20, false, ""},
      {"bf16", 70, 70, 64, 64, true, ""},
      {"f16", 37, 53, 130, 20, false, "i1"},
      {"f16", 53, 1, 200, 9, true, ""},
      // More keys than a block of a CPU has.
      {"f32", 70, 210, 64, 40, true, ""},
      {"bf16", 35, 401, 64, 9, false, "i1"},
  };
  for (const Attention &one : all) {
    bool hasMask = *one.mask;
    auto values = addCall(test::functionAround(one.forward()));
    ASSERT_EQ(values.size(), hasMask ? 6u : 5u) << one.forward();
    size_t out = hasMask ? 4 : 3;
    std::vector<RuntimeValue> given = {
        draw(cast<RankedTensorType>(
            calls.back().torch.function.getResultTypes().front())),
        values[0],
        values[1],
        values[2],
        values[out],
        values[out + 1]};
    if (hasMask)
      given.push_back(values[3]);
    addCall(test::functionAround(one.backward()), given);
    if (one.mask != std::string("f32"))
      continue;
    std::rotate(given.begin() + 4, given.end() - 1, given.end());
    for (int i = 0; i < 2; ++i) // random numbers that are not drawn
      given.emplace_back(Tensor::zeros(DType::I64, {}));
    addCall(test::functionAround(one.biasBackward()), given);
  }
  compareAll();
}

/// A result that nobody reads has no memory.
TEST_F(AttentionCallsTest, OneOfTwoResultsIsMade) {
  for (int read : {0, 1}) {
    std::string type = read ? "tensor<1x2x37xf32>" : "tensor<1x2x37x20xf32>";
    addCall("func.func @f(%q: tensor<1x2x37x20xf32>, %k: "
            "tensor<1x2x53x20xf32>, %v: tensor<1x2x53x20xf32>) -> " +
            type +
            " {\n  %r:2 = aten._scaled_dot_product_flash_attention_for_cpu(%q, "
            "%k, %v, 0.0, false, attn_mask = none, scale = 0.3) : "
            "(tensor<1x2x37x20xf32>, tensor<1x2x53x20xf32>, "
            "tensor<1x2x53x20xf32>) -> (tensor<1x2x37x20xf32>, "
            "tensor<1x2x37xf32>)\n  return %r#" +
            std::to_string(read) + " : " + type + "\n}\n");
    ASSERT_FALSE(calls.empty());
    auto &expected = calls.back().torch.expected;
    if (read) // results are numbered as the op has them
      expected.insert(expected.begin(), std::nullopt);
    else
      expected.emplace_back();
  }
  compareAll();
}

/// More than the functions of a CPU have in one block.
class ManyBlocksTest : public InterpretedCalls {};

/// Blocks of a line, of rows or of columns, and planes that parts share.
TEST_F(ManyBlocksTest, PoolsScattersAndOrdersAgreeWithTheInterpreter) {
  const char *const texts[] = {
      "aten.max_pool2d_with_indices(%0, [3, 3], [2, 1], [1, 1]) : "
      "(tensor<3x5x601xf32>) -> (tensor<3x3x601xf32>, tensor<3x3x601xi64>)",
      "aten.avg_pool2d(%0, [2, 3], [1, 2], [1, 1]) : (tensor<2x4x1203xbf16>) "
      "-> tensor<2x5x602xbf16>",
      "aten.avg_pool2d_backward(%0, %1, [2, 3], [1, 2], [1, 1], false, true, "
      "none) : (tensor<2x5x602xf32>, tensor<2x4x1203xf32>) -> "
      "tensor<2x4x1203xf32>",
      "aten.upsample_bilinear2d(%0, [6, 522], false) : (tensor<1x2x3x261xf32>) "
      "-> tensor<1x2x6x522xf32>",
      "aten.upsample_bicubic2d_backward(%0, [4, 521], [1, 2, 3, 260], false) : "
      "(tensor<1x2x4x521xf16>) -> tensor<1x2x3x260xf16>",
      "aten.upsample_nearest2d_backward(%0, [6, 522], [1, 2, 3, 261]) : "
      "(tensor<1x2x6x522xf32>) -> tensor<1x2x3x261xf32>",
      "aten.scatter_add(%0, 0, %1, %2) : (tensor<5x601xbf16>, "
      "tensor<9x601xi64>, tensor<9x601xbf16>) -> tensor<5x601xbf16>",
      "aten.index_add(%0, 1, %1, %2) : (tensor<301x5xf32>, tensor<7xi64>, "
      "tensor<301x7xf32>) -> tensor<301x5xf32>",
      "aten.index_put(%0, [%1], %2, true) : (tensor<601x37xf32>, "
      "tensor<33xi64>, tensor<33x37xf32>) -> tensor<601x37xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [%2], %3) : "
      "(tensor<601x40xf32>, tensor<33x1xi1>, tensor<33xi64>, "
      "tensor<33x40xf32>) -> "
      "tensor<601x40xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [none, %2], %3) : "
      "(tensor<9x4xf32>, tensor<9x33xi1>, tensor<33xi64>, tensor<9x33xf32>) -> "
      "tensor<9x4xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [%2], %3) : "
      "(tensor<601x37xf32>, tensor<33x37xi1>, tensor<33xi64>, "
      "tensor<33x37xf32>) -> tensor<601x37xf32>",
      "aten._unsafe_masked_index_put_accumulate(%0, %1, [%2], %3) : "
      "(tensor<601x37xbf16>, tensor<33x1xi1>, tensor<33xi64>, "
      "tensor<33x37xbf16>) -> tensor<601x37xbf16>",
      "aten.index_put(%0, [%1, %2], %3, true) : (tensor<9x3x300xf16>, "
      "tensor<31xi64>, tensor<31xi64>, tensor<31x300xf16>) -> "
      "tensor<9x3x300xf16>",
      "aten.sort(%0, 0, true) : (tensor<301x3xf32>) -> (tensor<301x3xf32>, "
      "tensor<301x3xi64>)",
      "aten.topk(%0, 7) : (tensor<5x301xbf16>) -> (tensor<5x7xbf16>, "
      "tensor<5x7xi64>)",
      "aten.cumsum(%0, 1) : (tensor<3x301x5xf16>) -> tensor<3x301x5xf16>",
      "aten.gather(%0, 1, %1) : (tensor<3x301xf32>, tensor<3x601xi64>) -> "
      "tensor<3x601xf32>",
  };
  for (const char *text : texts)
    addCall(test::functionAround(text));
  ASSERT_EQ(calls.size(), std::size(texts));
  compareAll();
}

/// Blocks of points, of a line or of its places, and what is left of a block.
TEST_F(ManyBlocksTest, WindowsGridsAndDistancesAgreeWithTheInterpreter) {
  std::vector<std::string> texts = {
      "aten.im2col(%0, [2, 3], [1, 2], [1, 2], [2, 1]) : "
      "(tensor<2x3x5x601xf32>) -> tensor<2x18x1803xf32>",
      "aten.col2im(%0, [5, 601], [2, 3], [1, 2], [1, 2], [2, 1]) : "
      "(tensor<2x18x1803xbf16>) -> tensor<2x3x5x601xbf16>",
      "aten.col2im(%0, [3, 19], [2, 7], [1, 1], [0, 0], [3, 4]) : "
      "(tensor<14x4xf32>) -> tensor<1x3x19xf32>",
      "aten.unfold_backward(%0, [3, 603], 1, 5, 2) : (tensor<3x300x5xf32>) -> "
      "tensor<3x603xf32>",
      "aten.unfold_backward(%0, [2, 9, 521], 1, 3, 2) : "
      "(tensor<2x4x521x3xf16>) -> tensor<2x9x521xf16>",
      "aten.reflection_pad1d_backward(%0, %1, [520, 3]) : "
      "(tensor<2x1046xf32>, tensor<2x523xf32>) -> tensor<2x523xf32>",
      "aten.reflection_pad2d_backward(%0, %1, [3, 2, 4, 4]) : "
      "(tensor<3x13x9xbf16>, tensor<3x5x4xbf16>) -> tensor<3x5x4xbf16>",
      "aten.replication_pad3d_backward(%0, %1, [3, 9, 1, 2, 2, 0]) : "
      "(tensor<2x3x4x525xf64>, tensor<2x1x1x513xf64>) -> "
      "tensor<2x1x1x513xf64>",
      "aten.avg_pool2d_backward(%0, %1, [3, 5], [2, 2], [1, 2], true, false, "
      "none) : (tensor<2x3x301xf16>, tensor<2x5x601xf16>) -> "
      "tensor<2x5x601xf16>",
      "aten.avg_pool2d_backward(%0, %1, [2, 2], [2, 3], [0, 0], false, true, "
      "7) : (tensor<2x2x200xf32>, tensor<2x5x601xf32>) -> "
      "tensor<2x5x601xf32>",
      "aten._adaptive_avg_pool2d_backward(%0, %1) : (tensor<3x5x300xf32>, "
      "tensor<3x9x601xf32>) -> tensor<3x9x601xf32>",
      "aten._adaptive_avg_pool2d(%0, [5, 300]) : (tensor<3x9x601xf32>) -> "
      "tensor<3x5x300xf32>",
      "aten.grid_sampler_2d(%0, %1, 0, 0, false) : (tensor<2x3x9x7xbf16>, "
      "tensor<2x3x131x2xbf16>) -> tensor<2x3x3x131xbf16>",
      "aten.grid_sampler_3d_backward(%0, %1, %2, 0, 1, true, [true, true]) : "
      "(tensor<2x3x2x3x70xf32>, tensor<2x3x4x3x5xf32>, "
      "tensor<2x2x3x70x3xf32>) -> (tensor<2x3x4x3x5xf32>, "
      "tensor<2x2x3x70x3xf32>)",
  };
  // Distances are not negative, but gradients take what there is.
  for (const char *p : {"0.0", "1.0", "2.0", "3.0"}) {
    std::string power = p;
    texts.push_back("aten._cdist_forward(%0, %1, " + power +
                    ", none) : (tensor<2x37x21xf32>, tensor<1x83x21xf32>) -> "
                    "tensor<2x37x83xf32>");
    texts.push_back("aten._cdist_backward(%0, %1, %2, " + power +
                    ", %3) : (tensor<37x139xf32>, tensor<37x67xf32>, "
                    "tensor<139x67xf32>, tensor<37x139xf32>) -> "
                    "tensor<37x67xf32>");
    texts.push_back("aten._pdist_forward(%0, " + power +
                    ") : (tensor<75x5xf32>) -> tensor<2775xf32>");
    texts.push_back("aten._pdist_backward(%0, %1, " + power +
                    ", %2) : (tensor<2775xf32>, tensor<75x5xf32>, "
                    "tensor<2775xf32>) -> tensor<75x5xf32>");
  }
  for (const std::string &text : texts)
    addCall(test::functionAround(text));
  ASSERT_EQ(calls.size(), texts.size());
  compareAll();
}

/// Products of f32 on tensor cores.
class Tf32CallsTest : public InterpretedCalls {
protected:
  Tf32CallsTest() { options.cuda.tf32 = true; }

  /// A call of factors alone; what is expected is the product of their nearest
  /// tf32. Gives how far that is from their own product, of the largest.
  double addProduct(const std::string &text);
  static Tensor rounded(const Tensor &values);
};

/// Ten bits of mantissa; of two that are as near the larger one.
Tensor Tf32CallsTest::rounded(const Tensor &values) {
  Tensor result = copyOf(values);
  for (int64_t i = 0; i < values.numel(); ++i) {
    auto x = static_cast<float>(values.getDouble(i));
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits = (bits + 0x1000) & ~0x1fffu;
    std::memcpy(&x, &bits, 4);
    result.set(i, x);
  }
  return result;
}

double Tf32CallsTest::addProduct(const std::string &text) {
  size_t before = calls.size();
  std::vector<RuntimeValue> all = addCall(test::functionAround(text));
  if (calls.size() == before)
    return 0;
  test::TorchCall &call = calls.back().torch;
  std::vector<RuntimeValue> own = call.arguments;
  for (RuntimeValue &value : call.arguments)
    value = rounded(std::get<Tensor>(value));
  FailureOr<std::vector<RuntimeValue>> results = interpret(call);
  call.arguments = own;
  EXPECT_TRUE(succeeded(results)) << text;
  if (failed(results))
    return 0;
  double apart = 0, largest = 0;
  Tensor exact = *call.expected[0], tensor = std::get<Tensor>((*results)[0]);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    apart = std::max(apart, std::abs(exact.getDouble(i) - tensor.getDouble(i)));
    largest = std::max(largest, std::abs(exact.getDouble(i)));
  }
  for (auto [expected, result] : llvm::zip_equal(call.expected, *results))
    expected = tensorOf(result);
  return apart / largest;
}

TEST_F(Tf32CallsTest, FactorsHaveTenBitsOfMantissa) {
  const char *const texts[] = {
      "aten.mm(%0, %1) : (tensor<70x37xf32>, tensor<37x90xf32>) -> "
      "tensor<70x90xf32>",
      "aten.bmm(%0, %1) : (tensor<2x64x40xf32>, tensor<2x40x64xf32>) -> "
      "tensor<2x64x64xf32>",
      "aten.mm(%0, %1) : (tensor<1300x9xf32>, tensor<9x1536xf32>) -> "
      "tensor<1300x1536xf32>",
      "aten.convolution(%0, %1, none, [2, 1], [1, 0], [1, 1], false, [0, 0], "
      "1) : (tensor<2x5x9x7xf32>, tensor<6x5x3x2xf32>) -> "
      "tensor<2x6x5x6xf32>",
      "aten.convolution(%0, %1, none, [2], [1], [1], true, [1], 2) : "
      "(tensor<2x6x9xf32>, tensor<6x4x3xf32>) -> tensor<2x8x18xf32>",
      "aten.convolution_backward(%0, %1, %2, none, [2, 1], [1, 0], [1, 1], "
      "false, [0, 0], 1, [true, true, false]) : (tensor<2x6x5x6xf32>, "
      "tensor<2x5x9x7xf32>, tensor<6x5x3x2xf32>) -> (tensor<2x5x9x7xf32>, "
      "tensor<6x5x3x2xf32>, none)",
  };
  for (const char *text : texts) {
    double apart = addProduct(text);
    EXPECT_GT(apart, 1e-5) << text;
    EXPECT_LT(apart, 1e-3) << text;
  }
  for (const Call &call : calls)
    EXPECT_NE(call.kernels[0].kernel.body.find("tileProduct<"),
              std::string::npos);
  compareAll();
}

} // namespace
