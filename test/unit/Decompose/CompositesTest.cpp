// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products, convolutions, normalizations and attention.
// A call is decomposed and run; beside it stands what torch 2.13 computes, as
// one number (CompositeCheck.h).

#include "CompositeCheck.h"

#include "cutback/Decompose/Composites.h"
#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Aten/Rules.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace cutback;
using namespace cutback::test;

namespace {

TEST(CompositesTest, LinearAndProductsAreWhatTorchComputes) {
  check({
      {"aten.linear.default(f64[4,3], f64[2,3], f64[2])", 2.61454801012},
      {"aten.linear.default(f64[2,4,3], f64[2,3], f64[2])", 0.0883756832001},
      {"aten.linear.default(f64[2,4,3], f64[2,3])", -0.489212651054},
      {"aten.linear.default(f64[3], f64[2,3], f64[2])", -0.643409964359},
      {"aten.matmul.default(f64[3], f64[3])", -0.0196972462253},
      {"aten.matmul.default(f64[2,3], f64[3])", 0.0946440167338},
      {"aten.matmul.default(f64[3], f64[3,2])", -0.592094823185},
      {"aten.matmul.default(f64[2,3], f64[3,4])", -1.00861267725},
      {"aten.matmul.default(f64[2,4,3], f64[3])", 0.188062191813},
      {"aten.matmul.default(f64[2,4,3], f64[3,5])", -0.573881876464},
      {"aten.matmul.default(f64[3], f64[2,3,4])", -0.0193839571631},
      {"aten.matmul.default(f64[5,3], f64[2,3,4])", 0.252654840916},
      {"aten.matmul.default(f64[5,3], f64[2,2,3,4])", 0.187316100695},
      {"aten.matmul.default(f64[2,5,3], f64[2,3,4])", -0.170512770758},
      {"aten.matmul.default(f64[2,1,5,3], f64[3,3,4])", -0.965184526877},
      {"aten.matmul.default(f64[2,2,5,3], f64[1,2,3,4])", -0.106893734362},
      {"aten.matmul.default(f64[1,5,3], f64[2,3,4])", 0.252654840916},
      {"aten.linalg_matmul.default(f64[2,3,4], f64[4,5])", 0.40636119624},
      {"aten.chain_matmul.default([f64[2,3], f64[3,4], f64[4,5]])",
       -0.337075802763},
      {"aten.linalg_vecdot.default(c128[2,3], c128[2,3])", -0.275437808714},
      {"aten.linalg_multi_dot.default([f64[3], f64[3,4], f64[4]])",
       0.259927679881},
      {"aten.addbmm.default(f64[4], f64[2,3,5], f64[2,5,4], beta=0.5, alpha=2)",
       0.394514745624},
      {"aten.addbmm.default(f64[4], f64[2,3,5], f64[2,5,4], beta=0)",
       0.821476484271},
      {"aten.addr.default(f64[3,4], f64[3], f64[4])", 0.291600599886},
      {"aten.outer.default(f64[3], f64[4])", -0.0414981249023},
      {"aten.ger.default(f64[3], f64[4])", -0.0414981249023},
      {"aten.kron.default(f64[2,3], f64[4])", -1.69619284257},
      {"aten.kron.default(f64[2], f64[3,2])", 1.91736101992},
      {"aten.linalg_vecdot.default(f64[2,3], f64[3])", 0.0946440167338},
      {"aten.cross.default(f64[2,3], f64[2,3])", 0.284600198994},
      {"aten.linalg_cross.default(f64[2,3], f64[1,3])", -0.41947385887},
      {"aten.linalg_cross.default(f64[3,2], f64[3,2], dim=0)", 1.2717564655},
      {"aten.einsum.default('ij,jk->ik', [f64[2,3], f64[3,4]])",
       -1.00861267725},
      {"aten.einsum.default('ij,jk->ki', [f64[2,3], f64[3,4]])",
       -0.213628349552},
      {"aten.einsum.default('bij,bjk->bik', [f64[2,3,4], f64[2,4,5]])",
       -1.51881759031},
      {"aten.einsum.default('bhqd,bhkd->bhqk', [f64[2,2,3,4], f64[2,2,5,4]])",
       1.6037965761},
      {"aten.einsum.default('bqhd,bkhd->bhqk', [f64[2,3,2,4], f64[2,5,2,4]])",
       0.435330443054},
      {"aten.einsum.default('...ij,...jk', [f64[2,3,4], f64[4,5]])",
       0.40636119624},
      {"aten.einsum.default('ii->i', [f64[3,3]])", -0.135461321736},
      {"aten.einsum.default('ii', [f64[3,3]])", 0.29487215774},
      {"aten.einsum.default('ij->ji', [f64[2,3]])", 0.657027889112},
      {"aten.einsum.default('ij->', [f64[2,3]])", 0.29606291652},
      {"aten.einsum.default('i,j->ij', [f64[2], f64[3]])", 0.124847202222},
      {"aten.einsum.default('i,i', [f64[3], f64[3]])", -0.0196972462253},
      {"aten.einsum.default('ij,ij->i', [f64[2,3], f64[2,3]])",
       -0.00398863925363},
      {"aten.einsum.default('bn,anm,bm->ba', [f64[2,3], f64[5,3,4], f64[2,4]])",
       -0.500909259587},
      {"aten.einsum.default('bij,bj->bi', [f64[2,3,4], f64[2,4]])",
       -1.70974155381},
      {"aten.einsum.default('ij,kj->ik', [f64[2,1], f64[3,4]])", 1.11507488842},
      {"aten.einsum.default('b...c,c d->b...d', [f64[2,3,4,5], f64[5,2]])",
       0.451522390563},
      {"aten.tensordot.default(f64[1,1,1], f64[2,1,2], [0,1], [2,0])",
       -0.0739647508322},
      {"aten.tensordot.default(f64[3,2], f64[1,4], [0], [0])", 0.587639958569},
      {"aten.tensordot.default(f64[2,1], f64[5,4], [1], [0])", 0.839908610208},
      {"aten.tensordot.default(f64[2,3,4], f64[4,3,5], [1,2], [1,0])",
       -14.827252379},
      {"aten.inner.default(f64[2,3,4], f64[5,4])", -0.819165949433},
      {"aten.inner.default(f64[], f64[5,4])", 0.135237909072},
      {"aten.bilinear.default(f64[2,7,3], f64[2,7,4], f64[5,3,4], f64[5])",
       -0.122101866595},
  });
}

TEST(CompositesTest, ConvolutionsAreWhatTorchComputes) {
  check({
      {"aten.conv1d.default(c128[2,2,5], c128[3,2,2], c128[3], [2], [1])",
       0.77726745487},
      {"aten.conv_transpose2d.input(c128[2,2,3,2], c128[2,3,2,2], none, [2,1], "
       "[1,0], [1,0])",
       27.6791273436},
      {"aten.conv1d.default(f64[2,3,8], f64[4,3,3], f64[4])", -5.44807829279},
      {"aten.conv1d.default(f64[3,8], f64[4,3,3], f64[4], [2], [1])",
       3.61669449335},
      {"aten.conv1d.padding(f64[2,3,8], f64[4,3,2], f64[4], [1], 'same')",
       0.329429225983},
      {"aten.conv2d.default(f64[2,4,6,5], f64[6,2,3,3], f64[6], [2,1], [1,0], "
       "[1,1], 2)",
       -42.6901653179},
      {"aten.conv2d.padding(f64[2,3,6,6], f64[4,3,2,3], none, [1,1], 'same', "
       "[1,2])",
       -1.12049956333},
      {"aten.conv2d.padding(f64[2,3,6,6], f64[4,3,2,3], none, [1,1], 'valid')",
       1.40759447106},
      {"aten.conv3d.default(f64[1,2,4,4,4], f64[3,2,2,2,2], f64[3])",
       -0.442909611702},
      {"aten.conv_transpose1d.default(f64[2,3,5], f64[3,2,3], f64[2], [2], "
       "[1], [1])",
       0.433266410339},
      {"aten.conv_transpose2d.input(f64[2,4,3,3], f64[4,1,3,3], f64[2], [2,2], "
       "[1,1], [1,1], 2)",
       7.05335512355},
      {"aten.conv_transpose2d.input(f64[4,3,3], f64[4,2,2,2])", 2.49391173186},
  });
}

TEST(CompositesTest, NormalizationsAreWhatTorchComputes) {
  check({
      {"aten.layer_norm.default(f64[2,3,4], [4], f64[4], f64[4])",
       2.51961420956},
      {"aten.layer_norm.default(f64[2,3,4], [3,4])", 0.52054372958},
      {"aten.rms_norm.default(f64[2,3,4], [4], f64[4], 0.00001)",
       1.47890829853},
      {"aten.rms_norm.default(f64[2,3,4], [4])", -0.185632447953},
      {"aten.group_norm.default(f64[2,6,4], 3, f64[6], f64[6])", 1.73006857499},
      {"aten.instance_norm.default(f64[2,3,4,4], f64[3], f64[3], none, none, "
       "true, 0.1, 0.00001, false)",
       9.27332572608},
      {"aten.batch_norm.default(f64[4,3,2], f64[3], f64[3], none, none, true, "
       "0.1, 0.00001, false)",
       1.76790428635},
      {"+aten.batch_norm.default(f64[4,3,2], f64[3], f64[3], f64[3], f64[3], "
       "false, 0.1, 0.00001, false)",
       -3.31276698403},
      {"aten.batch_norm.default(f64[0,3], f64[3], f64[3], none, none, true, "
       "0.1, 0.00001, false)",
       0},
      {"+aten.instance_norm.default(f64[2,3,4,4], f64[3], f64[3], f64[3], "
       "f64[3], false, 0.1, 0.00001, false)",
       -4.403505474},
      {"aten.dropout.default(f64[4], 0.5, false)", 0.127744465345},
      {"aten.dropout.default(f64[4], 0.0, true)", 0.127744465345},
      {"aten.feature_dropout.default(f64[2,4], 0.0, true)", 1.89276755574},
      {"aten.alpha_dropout.default(f64[2,4], 0.5, false)", 1.89276755574},
      {"aten.alpha_dropout.default(f64[2,4], 1.0, true)", 0},
      {"aten.feature_alpha_dropout.default(f64[2,4,3], 1.0, true)", 0},
      {"aten.dropout.default(f64[2,4], 1.0, true)", 0},
      {"aten.feature_dropout.default(f64[2,4,3], 1.0, true)", 0},
  });
}

TEST(CompositesTest, AttentionAreWhatTorchComputes) {
  check({
      {"aten.scaled_dot_product_attention.default(f64[2,3,5,4], f64[2,3,6,4], "
       "f64[2,3,6,4])",
       -0.140598470141},
      {"aten.scaled_dot_product_attention.default(f64[2,3,5,4], f64[2,3,5,4], "
       "f64[2,3,5,4], none, 0.0, true)",
       3.65560946939},
      {"aten.scaled_dot_product_attention.default(f64[2,3,5,4], f64[2,3,6,4], "
       "f64[2,3,6,4], f64[5,6])",
       -0.949150204525},
      {"aten.scaled_dot_product_attention.default(f64[2,3,5,4], f64[2,3,6,4], "
       "f64[2,3,6,4], f64[2,1,5,6], scale=0.25)",
       0.0554845391864},
      {"aten.scaled_dot_product_attention.default(f64[3,5,4], f64[3,6,4], "
       "f64[3,6,4])",
       0.0763269103943},
      {"aten.scaled_dot_product_attention.default(f64[5,4], f64[6,4], "
       "f64[6,4], none, 0.0, true)",
       -0.317068256547},
      {"aten.scaled_dot_product_attention.default(f64[2,3,5,4], f64[2,3,6,4], "
       "f64[2,3,6,7])",
       -2.39333738062},
      {"aten.scaled_dot_product_attention.default(f64[2,3,5,4], f64[2,3,6,4], "
       "f64[2,3,6,7], f64[3,5,6])",
       -2.41051811733},
      {"aten.scaled_dot_product_attention.default(f64[2,4,5,4], f64[2,2,6,4], "
       "f64[2,2,6,4], enable_gqa=true)",
       0.342612891116},
      {"aten.scaled_dot_product_attention.default(f64[1,2,3,4], f64[1,2,3,4], "
       "f64[1,2,3,4], b8[3,3])",
       1.79047489417},
  });
}

/// The errors of decomposing an `aten.sigmoid` by `rule`.
std::string decomposeBy(aten::DecomposeFn rule) {
  mlir::MLIRContext context;
  context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  aten::addDecomposeRules(*context.getLoadedDialect<aten::AtenDialect>(),
                          {{"aten.sigmoid.default", rule}});
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
    joint.graph @g(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
      %y = aten.sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
      joint.output %y : tensor<4xf32>
    })mlir",
                                                        &context);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  module->walk([&](joint::GraphOp graph) {
    EXPECT_TRUE(failed(decomposeComposites(graph)));
  });
  return message;
}

TEST(CompositesTest, ARuleThatGivesAnotherTypeIsAnError) {
  EXPECT_EQ(decomposeBy([](aten::CallOp op, mlir::OpBuilder &builder,
                           llvm::SmallVectorImpl<mlir::Value> &results) {
              aten::CallBuilder b(builder, op->getLoc());
              results.push_back(
                  b.call("aten.gt.Scalar", {op->getOperand(0), 0}));
              return b.result();
            }),
            "the decomposition gives type 'tensor<4xi1>', not "
            "'tensor<4xf32>'");
}

TEST(CompositesTest, ARuleThatForgetsAResultIsAnError) {
  EXPECT_EQ(decomposeBy([](aten::CallOp, mlir::OpBuilder &,
                           llvm::SmallVectorImpl<mlir::Value> &) {
              return mlir::success();
            }),
            "the decomposition leaves out a result that is used");
}

} // namespace
