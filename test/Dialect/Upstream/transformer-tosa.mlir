// A transformer block and its backward in `tosa`, at the sizes of GPT-2.
//
// RUN: cutback-opt %s --pass-pipeline='builtin.module(joint.graph(cutback-eliminate-dead-code,cutback-eliminate-common-subexpressions),cutback-plan,cutback-extract,cutback-verify-partition)' | FileCheck %s
// RUN: cutback-opt %s --cutback-pipeline --cutback-check-phase=phase=placed | FileCheck %s --check-prefix=STEP
// RUN: cutback-opt %s --cutback-plan=byte-price=3 --cutback-extract --cutback-verify-partition | FileCheck %s --check-prefix=DEAR
// RUN: cutback-opt %s --cutback-plan=strategy=recompute-all --cutback-extract --cutback-verify-partition -o /dev/null
// RUN: cutback-opt %s --cutback-plan=cost-model=pytorch --cutback-extract --cutback-verify-partition -o /dev/null
// RUN: cutback-opt %s --cutback-plan="cost-model=pytorch rules=torch-2.3" --cutback-extract --cutback-verify-partition -o /dev/null

joint.graph @block(
    %x: tensor<2048x768xf32> {joint.role = #joint.role<input>},
    %wq: tensor<768x768xf32> {joint.role = #joint.role<param "wq">},
    %wk: tensor<768x768xf32> {joint.role = #joint.role<param "wk">},
    %wv: tensor<768x768xf32> {joint.role = #joint.role<param "wv">},
    %wo: tensor<768x768xf32> {joint.role = #joint.role<param "wo">},
    %w1: tensor<768x3072xf32> {joint.role = #joint.role<param "w1">},
    %w2: tensor<3072x768xf32> {joint.role = #joint.role<param "w2">},
    %g1: tensor<1x768xf32> {joint.role = #joint.role<param "g1">},
    %b1: tensor<1x768xf32> {joint.role = #joint.role<param "b1">},
    %g2: tensor<1x768xf32> {joint.role = #joint.role<param "g2">},
    %b2: tensor<1x768xf32> {joint.role = #joint.role<param "b2">},
    %dy: tensor<2048x768xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<2048x768xf32>) gradients (tensor<2048x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x3072xf32>,
        tensor<3072x768xf32>,
        tensor<1x768xf32>,
        tensor<1x768xf32>,
        tensor<1x768xf32>,
        tensor<1x768xf32>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %ln1_mean = tosa.mul %sum, %c, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %ln1_centred = tosa.sub %x, %ln1_mean : (tensor<2048x768xf32>, tensor<2048x1xf32>) -> tensor<2048x768xf32>
  %sq = tosa.mul %ln1_centred, %ln1_centred, %shift : (tensor<2048x768xf32>, tensor<2048x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sqsum = tosa.reduce_sum %sq {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c_1 = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %ln1_var = tosa.mul %sqsum, %c_1, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %c_2 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shifted = tosa.add %ln1_var, %c_2 : (tensor<2048x1xf32>, tensor<1x1xf32>) -> tensor<2048x1xf32>
  %ln1_rstd = tosa.rsqrt %shifted : (tensor<2048x1xf32>) -> tensor<2048x1xf32>
  %ln1_hat = tosa.mul %ln1_centred, %ln1_rstd, %shift : (tensor<2048x768xf32>, tensor<2048x1xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %mul = tosa.mul %ln1_hat, %g1, %shift : (tensor<2048x768xf32>, tensor<1x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %ln1_out = tosa.add %mul, %b1 : (tensor<2048x768xf32>, tensor<1x768xf32>) -> tensor<2048x768xf32>
  %s = tosa.const_shape {values = dense<[1, 2048, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r = tosa.reshape %ln1_out, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %s_1 = tosa.const_shape {values = dense<[1, 768, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r_1 = tosa.reshape %wq, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %q_proj3 = tosa.matmul %r, %r_1, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %s_2 = tosa.const_shape {values = dense<[2048, 768]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %q_proj = tosa.reshape %q_proj3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %s_3 = tosa.const_shape {values = dense<[4, 512, 12, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %r_2 = tosa.reshape %q_proj, %s_3 : (tensor<2048x768xf32>, !tosa.shape<4>) -> tensor<4x512x12x64xf32>
  %tr = tosa.transpose %r_2 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x512x12x64xf32>) -> tensor<4x12x512x64xf32>
  %s_4 = tosa.const_shape {values = dense<[48, 512, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %q = tosa.reshape %tr, %s_4 : (tensor<4x12x512x64xf32>, !tosa.shape<3>) -> tensor<48x512x64xf32>
  %r_3 = tosa.reshape %ln1_out, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_4 = tosa.reshape %wk, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %k_proj3 = tosa.matmul %r_3, %r_4, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %k_proj = tosa.reshape %k_proj3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %r_5 = tosa.reshape %k_proj, %s_3 : (tensor<2048x768xf32>, !tosa.shape<4>) -> tensor<4x512x12x64xf32>
  %tr_1 = tosa.transpose %r_5 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x512x12x64xf32>) -> tensor<4x12x512x64xf32>
  %k = tosa.reshape %tr_1, %s_4 : (tensor<4x12x512x64xf32>, !tosa.shape<3>) -> tensor<48x512x64xf32>
  %r_6 = tosa.reshape %ln1_out, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_7 = tosa.reshape %wv, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %v_proj3 = tosa.matmul %r_6, %r_7, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %v_proj = tosa.reshape %v_proj3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %r_8 = tosa.reshape %v_proj, %s_3 : (tensor<2048x768xf32>, !tosa.shape<4>) -> tensor<4x512x12x64xf32>
  %tr_2 = tosa.transpose %r_8 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x512x12x64xf32>) -> tensor<4x12x512x64xf32>
  %v = tosa.reshape %tr_2, %s_4 : (tensor<4x12x512x64xf32>, !tosa.shape<3>) -> tensor<48x512x64xf32>
  %tr_3 = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<48x512x64xf32>) -> tensor<48x64x512xf32>
  %scores = tosa.matmul %q, %tr_3, %zp, %zp : (tensor<48x512x64xf32>, tensor<48x64x512xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<48x512x512xf32>
  %c_3 = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %scores_scaled = tosa.mul %scores, %c_3, %shift : (tensor<48x512x512xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<48x512x512xf32>
  %top = tosa.reduce_max %scores_scaled {axis = 2 : i32} : (tensor<48x512x512xf32>) -> tensor<48x512x1xf32>
  %sub = tosa.sub %scores_scaled, %top : (tensor<48x512x512xf32>, tensor<48x512x1xf32>) -> tensor<48x512x512xf32>
  %weights = tosa.exp %sub : (tensor<48x512x512xf32>) -> tensor<48x512x512xf32>
  %norm = tosa.reduce_sum %weights {axis = 2 : i32} : (tensor<48x512x512xf32>) -> tensor<48x512x1xf32>
  %recip = tosa.reciprocal %norm : (tensor<48x512x1xf32>) -> tensor<48x512x1xf32>
  %probs = tosa.mul %weights, %recip, %shift : (tensor<48x512x512xf32>, tensor<48x512x1xf32>, tensor<1xi8>) -> tensor<48x512x512xf32>
  %context = tosa.matmul %probs, %v, %zp, %zp : (tensor<48x512x512xf32>, tensor<48x512x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<48x512x64xf32>
  %s_5 = tosa.const_shape {values = dense<[4, 12, 512, 64]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %r_9 = tosa.reshape %context, %s_5 : (tensor<48x512x64xf32>, !tosa.shape<4>) -> tensor<4x12x512x64xf32>
  %tr_4 = tosa.transpose %r_9 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x12x512x64xf32>) -> tensor<4x512x12x64xf32>
  %context_flat = tosa.reshape %tr_4, %s_2 : (tensor<4x512x12x64xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %r_10 = tosa.reshape %context_flat, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_11 = tosa.reshape %wo, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %attended3 = tosa.matmul %r_10, %r_11, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %attended = tosa.reshape %attended3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %residual = tosa.add %x, %attended : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %sum_1 = tosa.reduce_sum %residual {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c_4 = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %ln2_mean = tosa.mul %sum_1, %c_4, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %ln2_centred = tosa.sub %residual, %ln2_mean : (tensor<2048x768xf32>, tensor<2048x1xf32>) -> tensor<2048x768xf32>
  %sq_1 = tosa.mul %ln2_centred, %ln2_centred, %shift : (tensor<2048x768xf32>, tensor<2048x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sqsum_1 = tosa.reduce_sum %sq_1 {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c_5 = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %ln2_var = tosa.mul %sqsum_1, %c_5, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %c_6 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shifted_1 = tosa.add %ln2_var, %c_6 : (tensor<2048x1xf32>, tensor<1x1xf32>) -> tensor<2048x1xf32>
  %ln2_rstd = tosa.rsqrt %shifted_1 : (tensor<2048x1xf32>) -> tensor<2048x1xf32>
  %ln2_hat = tosa.mul %ln2_centred, %ln2_rstd, %shift : (tensor<2048x768xf32>, tensor<2048x1xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %mul_1 = tosa.mul %ln2_hat, %g2, %shift : (tensor<2048x768xf32>, tensor<1x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %ln2_out = tosa.add %mul_1, %b2 : (tensor<2048x768xf32>, tensor<1x768xf32>) -> tensor<2048x768xf32>
  %r_12 = tosa.reshape %ln2_out, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %s_6 = tosa.const_shape {values = dense<[1, 768, 3072]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r_13 = tosa.reshape %w1, %s_6 : (tensor<768x3072xf32>, !tosa.shape<3>) -> tensor<1x768x3072xf32>
  %up3 = tosa.matmul %r_12, %r_13, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x3072xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x3072xf32>
  %s_7 = tosa.const_shape {values = dense<[2048, 3072]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %up = tosa.reshape %up3, %s_7 : (tensor<1x2048x3072xf32>, !tosa.shape<2>) -> tensor<2048x3072xf32>
  %gate = tosa.sigmoid %up : (tensor<2048x3072xf32>) -> tensor<2048x3072xf32>
  %hidden = tosa.mul %up, %gate, %shift : (tensor<2048x3072xf32>, tensor<2048x3072xf32>, tensor<1xi8>) -> tensor<2048x3072xf32>
  %s_8 = tosa.const_shape {values = dense<[1, 2048, 3072]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r_14 = tosa.reshape %hidden, %s_8 : (tensor<2048x3072xf32>, !tosa.shape<3>) -> tensor<1x2048x3072xf32>
  %s_9 = tosa.const_shape {values = dense<[1, 3072, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r_15 = tosa.reshape %w2, %s_9 : (tensor<3072x768xf32>, !tosa.shape<3>) -> tensor<1x3072x768xf32>
  %down3 = tosa.matmul %r_14, %r_15, %zp, %zp : (tensor<1x2048x3072xf32>, tensor<1x3072x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %down = tosa.reshape %down3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %y = tosa.add %residual, %down : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  // The backward.
  %tr_5 = tosa.transpose %hidden {perms = array<i32: 1, 0>} : (tensor<2048x3072xf32>) -> tensor<3072x2048xf32>
  %s_10 = tosa.const_shape {values = dense<[1, 3072, 2048]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r_16 = tosa.reshape %tr_5, %s_10 : (tensor<3072x2048xf32>, !tosa.shape<3>) -> tensor<1x3072x2048xf32>
  %r_17 = tosa.reshape %dy, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %dw23 = tosa.matmul %r_16, %r_17, %zp, %zp : (tensor<1x3072x2048xf32>, tensor<1x2048x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3072x768xf32>
  %s_11 = tosa.const_shape {values = dense<[3072, 768]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %dw2 = tosa.reshape %dw23, %s_11 : (tensor<1x3072x768xf32>, !tosa.shape<2>) -> tensor<3072x768xf32>
  %tr_6 = tosa.transpose %w2 {perms = array<i32: 1, 0>} : (tensor<3072x768xf32>) -> tensor<768x3072xf32>
  %r_18 = tosa.reshape %dy, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_19 = tosa.reshape %tr_6, %s_6 : (tensor<768x3072xf32>, !tosa.shape<3>) -> tensor<1x768x3072xf32>
  %dhidden3 = tosa.matmul %r_18, %r_19, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x3072xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x3072xf32>
  %dhidden = tosa.reshape %dhidden3, %s_7 : (tensor<1x2048x3072xf32>, !tosa.shape<2>) -> tensor<2048x3072xf32>
  %c_7 = "tosa.const"() <{values = dense<-1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %scaled = tosa.mul %gate, %c_7, %shift : (tensor<2048x3072xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x3072xf32>
  %c_8 = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shifted_2 = tosa.add %scaled, %c_8 : (tensor<2048x3072xf32>, tensor<1x1xf32>) -> tensor<2048x3072xf32>
  %mul_2 = tosa.mul %hidden, %shifted_2, %shift : (tensor<2048x3072xf32>, tensor<2048x3072xf32>, tensor<1xi8>) -> tensor<2048x3072xf32>
  %dsilu = tosa.add %gate, %mul_2 : (tensor<2048x3072xf32>, tensor<2048x3072xf32>) -> tensor<2048x3072xf32>
  %dup = tosa.mul %dhidden, %dsilu, %shift : (tensor<2048x3072xf32>, tensor<2048x3072xf32>, tensor<1xi8>) -> tensor<2048x3072xf32>
  %tr_7 = tosa.transpose %ln2_out {perms = array<i32: 1, 0>} : (tensor<2048x768xf32>) -> tensor<768x2048xf32>
  %s_12 = tosa.const_shape {values = dense<[1, 768, 2048]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r_20 = tosa.reshape %tr_7, %s_12 : (tensor<768x2048xf32>, !tosa.shape<3>) -> tensor<1x768x2048xf32>
  %r_21 = tosa.reshape %dup, %s_8 : (tensor<2048x3072xf32>, !tosa.shape<3>) -> tensor<1x2048x3072xf32>
  %dw13 = tosa.matmul %r_20, %r_21, %zp, %zp : (tensor<1x768x2048xf32>, tensor<1x2048x3072xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x768x3072xf32>
  %s_13 = tosa.const_shape {values = dense<[768, 3072]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %dw1 = tosa.reshape %dw13, %s_13 : (tensor<1x768x3072xf32>, !tosa.shape<2>) -> tensor<768x3072xf32>
  %tr_8 = tosa.transpose %w1 {perms = array<i32: 1, 0>} : (tensor<768x3072xf32>) -> tensor<3072x768xf32>
  %r_22 = tosa.reshape %dup, %s_8 : (tensor<2048x3072xf32>, !tosa.shape<3>) -> tensor<1x2048x3072xf32>
  %r_23 = tosa.reshape %tr_8, %s_9 : (tensor<3072x768xf32>, !tosa.shape<3>) -> tensor<1x3072x768xf32>
  %dln2_out3 = tosa.matmul %r_22, %r_23, %zp, %zp : (tensor<1x2048x3072xf32>, tensor<1x3072x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %dln2_out = tosa.reshape %dln2_out3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %mul_3 = tosa.mul %dln2_out, %ln2_hat, %shift : (tensor<2048x768xf32>, tensor<2048x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %dln2_gamma = tosa.reduce_sum %mul_3 {axis = 0 : i32} : (tensor<2048x768xf32>) -> tensor<1x768xf32>
  %dln2_beta = tosa.reduce_sum %dln2_out {axis = 0 : i32} : (tensor<2048x768xf32>) -> tensor<1x768xf32>
  %mul_4 = tosa.mul %dln2_out, %g2, %shift : (tensor<2048x768xf32>, tensor<1x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sum_2 = tosa.reduce_sum %mul_4 {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c_9 = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %scaled_1 = tosa.mul %sum_2, %c_9, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %mul_5 = tosa.mul %mul_4, %ln2_hat, %shift : (tensor<2048x768xf32>, tensor<2048x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sum_3 = tosa.reduce_sum %mul_5 {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c_10 = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %scaled_2 = tosa.mul %sum_3, %c_10, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %sub_1 = tosa.sub %mul_4, %scaled_1 : (tensor<2048x768xf32>, tensor<2048x1xf32>) -> tensor<2048x768xf32>
  %mul_6 = tosa.mul %ln2_hat, %scaled_2, %shift : (tensor<2048x768xf32>, tensor<2048x1xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sub_2 = tosa.sub %sub_1, %mul_6 : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %dln2_x = tosa.mul %sub_2, %ln2_rstd, %shift : (tensor<2048x768xf32>, tensor<2048x1xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %dresidual = tosa.add %dy, %dln2_x : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %tr_9 = tosa.transpose %context_flat {perms = array<i32: 1, 0>} : (tensor<2048x768xf32>) -> tensor<768x2048xf32>
  %r_24 = tosa.reshape %tr_9, %s_12 : (tensor<768x2048xf32>, !tosa.shape<3>) -> tensor<1x768x2048xf32>
  %r_25 = tosa.reshape %dresidual, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %dwo3 = tosa.matmul %r_24, %r_25, %zp, %zp : (tensor<1x768x2048xf32>, tensor<1x2048x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x768x768xf32>
  %s_14 = tosa.const_shape {values = dense<[768, 768]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %dwo = tosa.reshape %dwo3, %s_14 : (tensor<1x768x768xf32>, !tosa.shape<2>) -> tensor<768x768xf32>
  %tr_10 = tosa.transpose %wo {perms = array<i32: 1, 0>} : (tensor<768x768xf32>) -> tensor<768x768xf32>
  %r_26 = tosa.reshape %dresidual, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_27 = tosa.reshape %tr_10, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %dcontext_flat3 = tosa.matmul %r_26, %r_27, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %dcontext_flat = tosa.reshape %dcontext_flat3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %r_28 = tosa.reshape %dcontext_flat, %s_3 : (tensor<2048x768xf32>, !tosa.shape<4>) -> tensor<4x512x12x64xf32>
  %tr_11 = tosa.transpose %r_28 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x512x12x64xf32>) -> tensor<4x12x512x64xf32>
  %dcontext = tosa.reshape %tr_11, %s_4 : (tensor<4x12x512x64xf32>, !tosa.shape<3>) -> tensor<48x512x64xf32>
  %tr_12 = tosa.transpose %v {perms = array<i32: 0, 2, 1>} : (tensor<48x512x64xf32>) -> tensor<48x64x512xf32>
  %dprobs = tosa.matmul %dcontext, %tr_12, %zp, %zp : (tensor<48x512x64xf32>, tensor<48x64x512xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<48x512x512xf32>
  %tr_13 = tosa.transpose %probs {perms = array<i32: 0, 2, 1>} : (tensor<48x512x512xf32>) -> tensor<48x512x512xf32>
  %dv = tosa.matmul %tr_13, %dcontext, %zp, %zp : (tensor<48x512x512xf32>, tensor<48x512x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<48x512x64xf32>
  %mul_7 = tosa.mul %dprobs, %probs, %shift : (tensor<48x512x512xf32>, tensor<48x512x512xf32>, tensor<1xi8>) -> tensor<48x512x512xf32>
  %dot = tosa.reduce_sum %mul_7 {axis = 2 : i32} : (tensor<48x512x512xf32>) -> tensor<48x512x1xf32>
  %sub_3 = tosa.sub %dprobs, %dot : (tensor<48x512x512xf32>, tensor<48x512x1xf32>) -> tensor<48x512x512xf32>
  %mul_8 = tosa.mul %probs, %sub_3, %shift : (tensor<48x512x512xf32>, tensor<48x512x512xf32>, tensor<1xi8>) -> tensor<48x512x512xf32>
  %c_11 = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %dscores = tosa.mul %mul_8, %c_11, %shift : (tensor<48x512x512xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<48x512x512xf32>
  %dq = tosa.matmul %dscores, %k, %zp, %zp : (tensor<48x512x512xf32>, tensor<48x512x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<48x512x64xf32>
  %r_29 = tosa.reshape %dq, %s_5 : (tensor<48x512x64xf32>, !tosa.shape<4>) -> tensor<4x12x512x64xf32>
  %tr_14 = tosa.transpose %r_29 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x12x512x64xf32>) -> tensor<4x512x12x64xf32>
  %dq_flat = tosa.reshape %tr_14, %s_2 : (tensor<4x512x12x64xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %tr_15 = tosa.transpose %dscores {perms = array<i32: 0, 2, 1>} : (tensor<48x512x512xf32>) -> tensor<48x512x512xf32>
  %dk = tosa.matmul %tr_15, %q, %zp, %zp : (tensor<48x512x512xf32>, tensor<48x512x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<48x512x64xf32>
  %r_30 = tosa.reshape %dk, %s_5 : (tensor<48x512x64xf32>, !tosa.shape<4>) -> tensor<4x12x512x64xf32>
  %tr_16 = tosa.transpose %r_30 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x12x512x64xf32>) -> tensor<4x512x12x64xf32>
  %dk_flat = tosa.reshape %tr_16, %s_2 : (tensor<4x512x12x64xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %r_31 = tosa.reshape %dv, %s_5 : (tensor<48x512x64xf32>, !tosa.shape<4>) -> tensor<4x12x512x64xf32>
  %tr_17 = tosa.transpose %r_31 {perms = array<i32: 0, 2, 1, 3>} : (tensor<4x12x512x64xf32>) -> tensor<4x512x12x64xf32>
  %dv_flat = tosa.reshape %tr_17, %s_2 : (tensor<4x512x12x64xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %tr_18 = tosa.transpose %ln1_out {perms = array<i32: 1, 0>} : (tensor<2048x768xf32>) -> tensor<768x2048xf32>
  %r_32 = tosa.reshape %tr_18, %s_12 : (tensor<768x2048xf32>, !tosa.shape<3>) -> tensor<1x768x2048xf32>
  %r_33 = tosa.reshape %dq_flat, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %dwq3 = tosa.matmul %r_32, %r_33, %zp, %zp : (tensor<1x768x2048xf32>, tensor<1x2048x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x768x768xf32>
  %dwq = tosa.reshape %dwq3, %s_14 : (tensor<1x768x768xf32>, !tosa.shape<2>) -> tensor<768x768xf32>
  %r_34 = tosa.reshape %tr_18, %s_12 : (tensor<768x2048xf32>, !tosa.shape<3>) -> tensor<1x768x2048xf32>
  %r_35 = tosa.reshape %dk_flat, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %dwk3 = tosa.matmul %r_34, %r_35, %zp, %zp : (tensor<1x768x2048xf32>, tensor<1x2048x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x768x768xf32>
  %dwk = tosa.reshape %dwk3, %s_14 : (tensor<1x768x768xf32>, !tosa.shape<2>) -> tensor<768x768xf32>
  %r_36 = tosa.reshape %tr_18, %s_12 : (tensor<768x2048xf32>, !tosa.shape<3>) -> tensor<1x768x2048xf32>
  %r_37 = tosa.reshape %dv_flat, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %dwv3 = tosa.matmul %r_36, %r_37, %zp, %zp : (tensor<1x768x2048xf32>, tensor<1x2048x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x768x768xf32>
  %dwv = tosa.reshape %dwv3, %s_14 : (tensor<1x768x768xf32>, !tosa.shape<2>) -> tensor<768x768xf32>
  %tr_19 = tosa.transpose %wq {perms = array<i32: 1, 0>} : (tensor<768x768xf32>) -> tensor<768x768xf32>
  %r_38 = tosa.reshape %dq_flat, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_39 = tosa.reshape %tr_19, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %mm3 = tosa.matmul %r_38, %r_39, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %mm = tosa.reshape %mm3, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %tr_20 = tosa.transpose %wk {perms = array<i32: 1, 0>} : (tensor<768x768xf32>) -> tensor<768x768xf32>
  %r_40 = tosa.reshape %dk_flat, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_41 = tosa.reshape %tr_20, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %mm3_1 = tosa.matmul %r_40, %r_41, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %mm_1 = tosa.reshape %mm3_1, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %add = tosa.add %mm, %mm_1 : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %tr_21 = tosa.transpose %wv {perms = array<i32: 1, 0>} : (tensor<768x768xf32>) -> tensor<768x768xf32>
  %r_42 = tosa.reshape %dv_flat, %s : (tensor<2048x768xf32>, !tosa.shape<3>) -> tensor<1x2048x768xf32>
  %r_43 = tosa.reshape %tr_21, %s_1 : (tensor<768x768xf32>, !tosa.shape<3>) -> tensor<1x768x768xf32>
  %mm3_2 = tosa.matmul %r_42, %r_43, %zp, %zp : (tensor<1x2048x768xf32>, tensor<1x768x768xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2048x768xf32>
  %mm_2 = tosa.reshape %mm3_2, %s_2 : (tensor<1x2048x768xf32>, !tosa.shape<2>) -> tensor<2048x768xf32>
  %dln1_out = tosa.add %add, %mm_2 : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %mul_9 = tosa.mul %dln1_out, %ln1_hat, %shift : (tensor<2048x768xf32>, tensor<2048x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %dln1_gamma = tosa.reduce_sum %mul_9 {axis = 0 : i32} : (tensor<2048x768xf32>) -> tensor<1x768xf32>
  %dln1_beta = tosa.reduce_sum %dln1_out {axis = 0 : i32} : (tensor<2048x768xf32>) -> tensor<1x768xf32>
  %mul_10 = tosa.mul %dln1_out, %g1, %shift : (tensor<2048x768xf32>, tensor<1x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sum_4 = tosa.reduce_sum %mul_10 {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c_12 = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %scaled_3 = tosa.mul %sum_4, %c_12, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %mul_11 = tosa.mul %mul_10, %ln1_hat, %shift : (tensor<2048x768xf32>, tensor<2048x768xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sum_5 = tosa.reduce_sum %mul_11 {axis = 1 : i32} : (tensor<2048x768xf32>) -> tensor<2048x1xf32>
  %c_13 = "tosa.const"() <{values = dense<0.0013020833333333333> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %scaled_4 = tosa.mul %sum_5, %c_13, %shift : (tensor<2048x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2048x1xf32>
  %sub_4 = tosa.sub %mul_10, %scaled_3 : (tensor<2048x768xf32>, tensor<2048x1xf32>) -> tensor<2048x768xf32>
  %mul_12 = tosa.mul %ln1_hat, %scaled_4, %shift : (tensor<2048x768xf32>, tensor<2048x1xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %sub_5 = tosa.sub %sub_4, %mul_12 : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %dln1_x = tosa.mul %sub_5, %ln1_rstd, %shift : (tensor<2048x768xf32>, tensor<2048x1xf32>, tensor<1xi8>) -> tensor<2048x768xf32>
  %dx = tosa.add %dresidual, %dln1_x : (tensor<2048x768xf32>, tensor<2048x768xf32>) -> tensor<2048x768xf32>
  joint.output %y gradients(%dx of 0, %dwq of 1, %dwk of 2, %dwv of 3, %dwo of 4, %dw1 of 5, %dw2 of 6, %dln1_gamma of 7, %dln1_beta of 8, %dln2_gamma of 9, %dln2_beta of 10)
      : tensor<2048x768xf32>,
        tensor<2048x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x3072xf32>,
        tensor<3072x768xf32>,
        tensor<1x768xf32>,
        tensor<1x768xf32>,
        tensor<1x768xf32>,
        tensor<1x768xf32>
}

// Products, and what is dear otherwise, are saved; only what takes no time runs
// again.
// STEP-LABEL: func.func @block_backward
// STEP: joint.partition @block_partition
// CHECK-LABEL: func.func @block_forward
// CHECK-COUNT-13: joint.save =
// CHECK-NOT: joint.save =
// CHECK-LABEL: func.func @block_backward
// CHECK-NOT: tosa.{{matmul|mul|add|sub|exp|reduce_sum}} {{.*}}joint.recompute
// CHECK: joint.partition @block_partition

// Where a byte is dear, less is saved and products run again.
// DEAR-LABEL: func.func @block_forward
// DEAR-COUNT-5: joint.save =
// DEAR-NOT: joint.save =
// DEAR-LABEL: func.func @block_backward
// DEAR-COUNT-6: tosa.matmul {{.*}}joint.recompute = 
// DEAR: joint.partition @block_partition
