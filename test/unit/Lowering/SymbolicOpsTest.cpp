// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of ops: with a size that is a symbol each has the kernels that it has
// where the size is a number, at the size that it was planned for and at
// another one, and they are those of its ops after a way through text.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Lowering/SymbolicKernels.h"
#include "cutback/Planner/PartitionPipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

/// In texts `S` is the size, `{n}` an argument that is the size and `{, index}`
/// its type; `S2` and `S1` are twice the size and one more.
struct OneOp {
  const char *call, *operands, *result;
};
const OneOp kOps[] = {
    {"constant_pad_nd(%x, [1, 2, 0, 1, 1, 0], 0.5)", "tensor<Sx4x6xf32>",
     "tensor<S1x5x9xf32>"},
    {"reflection_pad1d(%x, [1, 2])", "tensor<Sx4x6xf32>", "tensor<Sx4x9xf32>"},
    {"replication_pad1d(%x, [1, 2])", "tensor<Sx4x6xf32>", "tensor<Sx4x9xf32>"},
    {"flip(%x, [0, 2])", "tensor<Sx4x6xf32>", "tensor<Sx4x6xf32>"},
    {"roll(%x, [1], [0])", "tensor<Sx4x6xf32>", "tensor<Sx4x6xf32>"},
    {"roll(%x, [2], [])", "tensor<Sx4x6xf32>", "tensor<Sx4x6xf32>"},
    {"cumsum(%x, 0)", "tensor<Sx4x6xf32>", "tensor<Sx4x6xf32>"},
    {"cumprod(%x, 0)", "tensor<Sx4x6xf32>", "tensor<Sx4x6xf32>"},
    {"repeat(%x, [2, 1, 1])", "tensor<Sx4x6xf32>", "tensor<S2x4x6xf32>"},
    {"repeat_interleave.self_int(%x, 2, 0)", "tensor<Sx4x6xf32>",
     "tensor<S2x4x6xf32>"},
    {"index.Tensor(%x, [%i])", "tensor<Sx4x6xf32>, tensor<Sxi64>",
     "tensor<Sx4x6xf32>"},
    {"index.Tensor(%x, [none, %i])", "tensor<Sx4x6xf32>, tensor<Sxi64>",
     "tensor<SxSx6xf32>"},
    {"index.Tensor(%x, [%i, %i])",
     "tensor<Sx4x6xf32>, tensor<Sxi64>, tensor<Sxi64>", "tensor<Sx6xf32>"},
    {"index_put(%x, [%i], %x)",
     "tensor<Sx4x6xf32>, tensor<Sxi64>, tensor<Sx4x6xf32>",
     "tensor<Sx4x6xf32>"},
    {"index_put(%x, [%i], %x, true)",
     "tensor<Sx4x6xf32>, tensor<Sxi64>, tensor<Sx4x6xf32>",
     "tensor<Sx4x6xf32>"},
    {"index_select(%x, 0, %i)", "tensor<Sx4x6xf32>, tensor<Sxi64>",
     "tensor<Sx4x6xf32>"},
    {"index_add(%x, 0, %i, %x)",
     "tensor<Sx4x6xf32>, tensor<Sxi64>, tensor<Sx4x6xf32>",
     "tensor<Sx4x6xf32>"},
    {"gather(%r, 0, %i)", "tensor<Sxf32>, tensor<Sxi64>", "tensor<Sxf32>"},
    {"scatter_add(%r, 0, %i, %r)",
     "tensor<Sxf32>, tensor<Sxi64>, tensor<Sxf32>", "tensor<Sxf32>"},
    {"take(%x, %i)", "tensor<Sx4x6xf32>, tensor<Sxi64>", "tensor<Sxf32>"},
    {"embedding(%w, %i)", "tensor<4x6xf32>, tensor<Sxi64>", "tensor<Sx6xf32>"},
    {"one_hot(%i, 4)", "tensor<Sxi64>", "tensor<Sx4xi64>"},
    {"slice_backward(%x, [{n}, 4, 9], 2, 2, 8, 1)",
     "tensor<Sx4x6xf32>{, index}", "tensor<Sx4x9xf32>"},
    {"select_backward(%w, [{n}, 4, 6], 0, -1)", "tensor<4x6xf32>{, index}",
     "tensor<Sx4x6xf32>"},
    {"diagonal_backward(%r, [{n}, {n}], 0, 0, 1)",
     "tensor<Sxf32>{, index}{, index}", "tensor<SxSxf32>"},
    {"slice_scatter(%x, %x, 0, 0)", "tensor<Sx4x6xf32>, tensor<Sx4x6xf32>",
     "tensor<Sx4x6xf32>"},
    {"select_scatter(%x, %w, 0, -1)", "tensor<Sx4x6xf32>, tensor<4x6xf32>",
     "tensor<Sx4x6xf32>"},
    {"pixel_shuffle(%p, 2)", "tensor<Sx4x2x2xf32>", "tensor<Sx1x4x4xf32>"},
    {"pixel_unshuffle(%p, 2)", "tensor<Sx4x2x2xf32>", "tensor<Sx16x1x1xf32>"},
    {"channel_shuffle(%p, 2)", "tensor<Sx4x2x2xf32>", "tensor<Sx4x2x2xf32>"},
    {"prod.dim_int(%x, 0)", "tensor<Sx4x6xf32>", "tensor<4x6xf32>"},
    {"cat([%x, %x], 0)", "tensor<Sx4x6xf32>, tensor<Sx4x6xf32>",
     "tensor<S2x4x6xf32>"},
    {"stack([%x, %x], 1)", "tensor<Sx4x6xf32>, tensor<Sx4x6xf32>",
     "tensor<Sx2x4x6xf32>"},
    {"tril(%x)", "tensor<Sx4x6xf32>", "tensor<Sx4x6xf32>"},
    {"expand(%w, [{n}, 4, 6])", "tensor<4x6xf32>{, index}",
     "tensor<Sx4x6xf32>"},
    {"full([{n}, 4], 0.5, dtype = f32)", "{index}", "tensor<Sx4xf32>"},
    {"arange({n}, dtype = f32)", "{index}", "tensor<Sxf32>"},
    {"mean(%x)", "tensor<Sx4x6xf32>", "tensor<f32>"},
    {"var.correction(%x, [0])", "tensor<Sx4x6xf32>", "tensor<4x6xf32>"},
    {"_softmax(%x, 0, false)", "tensor<Sx4x6xf32>", "tensor<Sx4x6xf32>"},
    {"upsample_nearest1d(%x, [12])", "tensor<Sx4x6xf32>", "tensor<Sx4x12xf32>"},
    {"as_strided_copy(%x, [2, 3], [6, 1], 4)", "tensor<Sx4x6xf32>",
     "tensor<2x3xf32>"},
};

std::string replaced(std::string text, StringRef from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The graph of `one`: with a symbol, or of `size`.
std::string graphOf(const OneOp &one, int64_t size) {
  bool isOpen = ShapedType::isDynamic(size);
  auto sizes = [&](std::string text) {
    for (auto [token, value] :
         {std::pair("S1x", size + 1), {"S2x", 2 * size}, {"Sx", size}})
      text =
          replaced(text, token, (isOpen ? "?" : std::to_string(value)) + "x");
    return text;
  };
  auto dims = [&](const char *more) {
    return isOpen ? std::string(", joint.dims = [\"s0\"") + more + "]" : "";
  };
  std::string call =
      replaced(one.call, "{n}", isOpen ? "%n" : std::to_string(size));
  std::string operands =
      replaced(one.operands, "{, index}", isOpen ? ", index" : "");
  operands = replaced(operands, "{index}", isOpen ? "index" : "");
  std::string role = " {joint.role = #joint.role<input>";
  return sizes(
      "joint.graph @g(%x: tensor<Sx4x6xf32>" + role + dims(", \"4\", \"6\"") +
      "}, %p: tensor<Sx4x2x2xf32>" + role + dims(", \"4\", \"2\", \"2\"") +
      "}, %r: tensor<Sxf32>" + role + dims("") + "}, %i: tensor<Sxi64>" + role +
      dims("") + "}, %w: tensor<4x6xf32>" + role + "}" +
      (isOpen ? ", %n: index {joint.role = #joint.role<size>" + dims("") + "}"
              : "") +
      ") -> (" + one.result + ") gradients ()" +
      (isOpen
           ? " attributes {symbols = {s0 = #joint.symbol<hint = 5, min = 2>}}"
           : "") +
      " {\n  %y = aten." + call + " : (" + operands + ") -> " + one.result +
      "\n  joint.output %y : " + one.result + "\n}");
}

class SymbolicOpsTest : public testing::Test {
protected:
  SymbolicOpsTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          lastError = diagnostic.str();
          return success();
        }) {
    context.disableMultithreading();
    context.loadDialect<aten::AtenDialect, joint::JointDialect,
                        func::FuncDialect, kernel::KernelDialect>();
  }

  std::unique_ptr<PartitionResult> plan(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    PartitionOptions options;
    options.memory.emplace();
    options.mayLackGradients = true;
    PhaseSeconds seconds;
    auto graph = *module->getOps<joint::GraphOp>().begin();
    if (failed(preparePartition(graph, options, seconds)))
      return nullptr;
    auto result = partitionGraph(graph, options);
    return succeeded(result) ? std::move(*result) : nullptr;
  }

  /// Launches without a kernel, where the size is a number; -1: see lastError.
  int64_t callsAt(const OneOp &one, int64_t size) {
    auto result = plan(graphOf(one, size));
    if (!result || !result->memory)
      return -1;
    auto formed = formKernels(result->partition.link, *result->kernelPlan,
                              *result->memory);
    return succeeded(formed) ? static_cast<int64_t>(formed->calls) : -1;
  }

  MLIRContext context;
  std::string lastError;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

TEST_F(SymbolicOpsTest, HaveTheKernelsOfSizesThatAreKnown) {
  for (const OneOp &one : kOps) {
    int64_t calls = callsAt(one, 5), callsOfOther = callsAt(one, 7);
    ASSERT_GE(calls, 0) << one.call << ": " << lastError;
    ASSERT_GE(callsOfOther, 0) << one.call << ": " << lastError;
    auto result = plan(graphOf(one, ShapedType::kDynamic));
    ASSERT_TRUE(result && result->memory) << one.call << ": " << lastError;
    joint::PartitionOp link = result->partition.link;
    auto own = formKernels(link, *result->kernelPlan, *result->memory);
    ASSERT_TRUE(succeeded(own)) << one.call << ": " << lastError;
    EXPECT_EQ(static_cast<int64_t>(own->calls), calls) << one.call;
    auto formed =
        formSymbolicKernels(link, result->view.graph, *result->kernelPlan);
    ASSERT_TRUE(succeeded(formed)) << one.call << ": " << lastError;
    std::string text;
    llvm::raw_string_ostream os(text);
    formed->module->print(os);
    auto read = readKernelModule(parseSourceString<ModuleOp>(text, &context));
    ASSERT_TRUE(succeeded(read)) << one.call << ": " << lastError;
    EXPECT_TRUE(succeeded(verifyKernels(result->view.graph, *read)))
        << one.call << ": " << lastError;
    for (int64_t size : {5, 7}) {
      auto sized =
          instantiateKernels(*read, result->view.graph, {{"s0", size}});
      ASSERT_TRUE(succeeded(sized)) << one.call << ": " << lastError;
      EXPECT_EQ(static_cast<int64_t>(sized->kernels.calls),
                size == 5 ? calls : callsOfOther)
          << one.call << " at " << size;
    }
  }
}

} // namespace
