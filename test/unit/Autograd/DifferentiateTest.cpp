// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lit tests of --cutback-differentiate cannot say: every op that may
// have a gradient has a rule, and a rule that answers wrongly is caught.

#include "cutback/Autograd/Differentiate.h"

#include "cutback/Autograd/AtenVjps.h"
#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/CallBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace cutback;

namespace {

class DifferentiateTest : public ::testing::Test {
protected:
  DifferentiateTest() {
    DialectRegistry registry;
    registry.insert<aten::AtenDialect, joint::JointDialect>();
    registerAtenVjps(registry);
    registerAtenDecompositions(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  MLIRContext context;
};

/// What is asked for no gradient in a training graph, or gives none in PyTorch
/// either. A graph that asks for one is refused, with the name of the op.
const std::set<std::string> withoutRule = {
    // Gradients that are not differentiated again.
    "aten._cdist_backward.default",
    "aten._ctc_loss_backward.Tensor",
    "aten._ctc_loss_backward.default",
    "aten._embedding_bag_dense_backward.default",
    "aten._fake_quantize_learnable_per_channel_affine_backward.default",
    "aten._fake_quantize_learnable_per_tensor_affine_backward.default",
    "aten._pdist_backward.default",
    "aten._segment_reduce_backward.default",
    "aten._standard_gamma_grad.default",
    "aten._weight_norm_interface_backward.default",
    "aten.grid_sampler_2d_backward.default",
    "aten.grid_sampler_3d_backward.default",
    "aten.linear_backward.default",
    "aten.masked_scatter_backward.default",
    "aten.rrelu_with_noise_backward.default",
    "transformers.grouped_mm_fallback_backward.default",
    // Places, whole quotients, other types, and what stands in inference or in
    // graphs that are differentiated already.
    "aten._embedding_bag_forward_only.default",
    "aten._euclidean_dist.default",
    "aten._scaled_mm.default",
    "aten.argsort.default",
    "aten.argsort.stable",
    "aten.floor_divide.default",
    "aten.linalg_ldl_factor_ex.default",
    "aten.linalg_ldl_solve.default",
    "aten.repeat_interleave.Tensor",
    "aten.view.dtype",
    "prims._low_memory_max_pool_offsets_to_indices.default",
    "prims.inductor_force_stride_order.default",
    // Special functions without a derivative in PyTorch.
    "aten.special_airy_ai.default",
    "aten.special_bessel_j0.default",
    "aten.special_bessel_j1.default",
    "aten.special_bessel_y0.default",
    "aten.special_bessel_y1.default",
    "aten.special_chebyshev_polynomial_t.default",
    "aten.special_chebyshev_polynomial_u.default",
    "aten.special_chebyshev_polynomial_v.default",
    "aten.special_chebyshev_polynomial_w.default",
    "aten.special_hermite_polynomial_h.default",
    "aten.special_hermite_polynomial_he.default",
    "aten.special_laguerre_polynomial_l.default",
    "aten.special_legendre_polynomial_p.default",
    "aten.special_modified_bessel_k0.default",
    "aten.special_modified_bessel_k1.default",
    "aten.special_scaled_modified_bessel_k0.default",
    "aten.special_scaled_modified_bessel_k1.default",
    "aten.special_shifted_chebyshev_polynomial_t.default",
    "aten.special_shifted_chebyshev_polynomial_u.default",
    "aten.special_shifted_chebyshev_polynomial_v.default",
    "aten.special_shifted_chebyshev_polynomial_w.default",
    "aten.special_spherical_bessel_j0.default",
    "aten.special_zeta.default",
};

/// An op from tensors to tensors that is not said to have no gradient, writes
/// nothing, and is not replaced before graphs are differentiated.
bool needsRule(const aten::Schema &schema) {
  auto isTensor = [](const auto &part) {
    return part.kind == aten::ParamKind::Tensor;
  };
  return !aten::getOpInfo(schema.op)->has(aten::kNotDifferentiable) &&
         llvm::any_of(schema.params, isTensor) &&
         llvm::any_of(schema.results, isTensor) &&
         llvm::none_of(schema.params,
                       [](const auto &param) { return param.isWritten; }) &&
         !aten::getDecomposeRule(schema.op);
}

TEST_F(DifferentiateTest, EveryOpHasARuleOrAReason) {
  for (const aten::Schema *schema : aten::SchemaTable::get(&context).all()) {
    if (!needsRule(*schema))
      continue;
    std::string name = aten::getOpInfo(schema->op)->torchName;
    EXPECT_NE(aten::getVjpRule(schema->op) != nullptr, withoutRule.count(name))
        << name;
  }
}

TEST_F(DifferentiateTest, NoRuleBelongsToAnOpWithoutGradients) {
  const aten::SchemaTable &schemas = aten::SchemaTable::get(&context);
  for (const aten::VjpRule &rule : allAtenVjps())
    if (const aten::Schema *schema = schemas.lookup(rule.torchName)) {
      const aten::OpInfo *info = aten::getOpInfo(schema->op);
      EXPECT_FALSE(info->has(aten::kNotDifferentiable)) << rule.torchName;
    }
}

/// Answers with something of another shape.
LogicalResult faulty(aten::CallOp op, joint::VjpContext &vjp) {
  aten::CallBuilder b(vjp.builder, op.getLoc());
  vjp.set(0, b.call("aten.unsqueeze.default", {vjp.gradient(), 0}));
  return success();
}

TEST_F(DifferentiateTest, AFaultyRuleIsCaught) {
  auto *dialect = context.getLoadedDialect<aten::AtenDialect>();
  aten::addVjpRules(*dialect, {{"aten.exp.default", faulty}});
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(
    joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<4xf32>) gradients () {
      %exp = aten.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
      joint.output %exp : tensor<4xf32>
    })mlir",
      &context);
  ASSERT_TRUE(module);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(differentiate(*module->getOps<joint::GraphOp>().begin())));
  EXPECT_EQ(message,
            "the gradient of operand 0 has type 'tensor<1x4xf32>', the operand "
            "has type 'tensor<4xf32>'");
}

} // namespace
