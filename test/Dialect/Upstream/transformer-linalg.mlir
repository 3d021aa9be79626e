// A transformer block and its backward in `linalg`, at the sizes of GPT-2.
//
// RUN: cutback-opt %s --pass-pipeline='builtin.module(joint.graph(cutback-eliminate-dead-code,cutback-eliminate-common-subexpressions),cutback-plan,cutback-extract,cutback-verify-partition)' | FileCheck %s
// RUN: cutback-opt %s --cutback-pipeline --cutback-check-phase=phase=placed | FileCheck %s --check-prefix=STEP
// RUN: cutback-opt %s --cutback-plan=byte-price=3 --cutback-extract --cutback-verify-partition | FileCheck %s --check-prefix=DEAR
// RUN: cutback-opt %s --cutback-plan=strategy=recompute-all --cutback-extract --cutback-verify-partition -o /dev/null
// RUN: cutback-opt %s --cutback-plan=cost-model=pytorch --cutback-extract --cutback-verify-partition -o /dev/null
// RUN: cutback-opt %s --cutback-plan="cost-model=pytorch rules=torch-2.3" --cutback-extract --cutback-verify-partition -o /dev/null

#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0) -> (d0)>
#m3 = affine_map<(d0, d1) -> (d1)>
#m4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#m5 = affine_map<(d0, d1, d2) -> (d0, d1)>
joint.graph @block(
    %x: tensor<2048x768xf32> {joint.role = #joint.role<input>},
    %wq: tensor<768x768xf32> {joint.role = #joint.role<param "wq">},
    %wk: tensor<768x768xf32> {joint.role = #joint.role<param "wk">},
    %wv: tensor<768x768xf32> {joint.role = #joint.role<param "wv">},
    %wo: tensor<768x768xf32> {joint.role = #joint.role<param "wo">},
    %w1: tensor<768x3072xf32> {joint.role = #joint.role<param "w1">},
    %w2: tensor<3072x768xf32> {joint.role = #joint.role<param "w2">},
    %g1: tensor<768xf32> {joint.role = #joint.role<param "g1">},
    %b1: tensor<768xf32> {joint.role = #joint.role<param "b1">},
    %g2: tensor<768xf32> {joint.role = #joint.role<param "g2">},
    %b2: tensor<768xf32> {joint.role = #joint.role<param "b2">},
    %dy: tensor<2048x768xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<2048x768xf32>) gradients (tensor<2048x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x3072xf32>,
        tensor<3072x768xf32>,
        tensor<768xf32>,
        tensor<768xf32>,
        tensor<768xf32>,
        tensor<768xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2048xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2048xf32>) -> tensor<2048xf32>
  %sum = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %c = arith.constant 0.0013020833333333333 : f32
  %ln1_mean = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sum : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %e_1 = tensor.empty() : tensor<2048x768xf32>
  %ln1_centred = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%x, %ln1_mean : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sq = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln1_centred, %ln1_centred : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sqsum = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%sq : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln1_var = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sqsum : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %c_1 = arith.constant 1.0e-05 : f32
  %shifted = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%ln1_var : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %c_1 : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln1_rstd = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%shifted : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.rsqrt %i0 : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln1_hat = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln1_centred, %ln1_rstd : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %mul = linalg.generic {indexing_maps = [#m0, #m3, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln1_hat, %g1 : tensor<2048x768xf32>, tensor<768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %ln1_out = linalg.generic {indexing_maps = [#m0, #m3, #m0], iterator_types = ["parallel", "parallel"]} ins(%mul, %b1 : tensor<2048x768xf32>, tensor<768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %init_1 = linalg.fill ins(%zero : f32) outs(%e_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %q_proj = linalg.matmul ins(%ln1_out, %wq : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %x4 = tensor.expand_shape %q_proj [[0, 1], [2, 3]] output_shape [4, 512, 12, 64] : tensor<2048x768xf32> into tensor<4x512x12x64xf32>
  %e_2 = tensor.empty() : tensor<4x12x512x64xf32>
  %tr = linalg.transpose ins(%x4 : tensor<4x512x12x64xf32>) outs(%e_2 : tensor<4x12x512x64xf32>) permutation = [0, 2, 1, 3]
  %q = tensor.collapse_shape %tr [[0, 1], [2], [3]] : tensor<4x12x512x64xf32> into tensor<48x512x64xf32>
  %k_proj = linalg.matmul ins(%ln1_out, %wk : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %x4_1 = tensor.expand_shape %k_proj [[0, 1], [2, 3]] output_shape [4, 512, 12, 64] : tensor<2048x768xf32> into tensor<4x512x12x64xf32>
  %tr_1 = linalg.transpose ins(%x4_1 : tensor<4x512x12x64xf32>) outs(%e_2 : tensor<4x12x512x64xf32>) permutation = [0, 2, 1, 3]
  %k = tensor.collapse_shape %tr_1 [[0, 1], [2], [3]] : tensor<4x12x512x64xf32> into tensor<48x512x64xf32>
  %v_proj = linalg.matmul ins(%ln1_out, %wv : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %x4_2 = tensor.expand_shape %v_proj [[0, 1], [2, 3]] output_shape [4, 512, 12, 64] : tensor<2048x768xf32> into tensor<4x512x12x64xf32>
  %tr_2 = linalg.transpose ins(%x4_2 : tensor<4x512x12x64xf32>) outs(%e_2 : tensor<4x12x512x64xf32>) permutation = [0, 2, 1, 3]
  %v = tensor.collapse_shape %tr_2 [[0, 1], [2], [3]] : tensor<4x12x512x64xf32> into tensor<48x512x64xf32>
  %e_3 = tensor.empty() : tensor<48x64x512xf32>
  %tr_3 = linalg.transpose ins(%k : tensor<48x512x64xf32>) outs(%e_3 : tensor<48x64x512xf32>) permutation = [0, 2, 1]
  %e_4 = tensor.empty() : tensor<48x512x512xf32>
  %init_2 = linalg.fill ins(%zero : f32) outs(%e_4 : tensor<48x512x512xf32>) -> tensor<48x512x512xf32>
  %scores = linalg.batch_matmul ins(%q, %tr_3 : tensor<48x512x64xf32>, tensor<48x64x512xf32>) outs(%init_2 : tensor<48x512x512xf32>) -> tensor<48x512x512xf32>
  %c_2 = arith.constant 0.125 : f32
  %scores_scaled = linalg.generic {indexing_maps = [#m4, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores : tensor<48x512x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c_2 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %e_5 = tensor.empty() : tensor<48x512xf32>
  %init_3 = linalg.fill ins(%low : f32) outs(%e_5 : tensor<48x512xf32>) -> tensor<48x512xf32>
  %top = linalg.generic {indexing_maps = [#m4, #m5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores_scaled : tensor<48x512x512xf32>) outs(%init_3 : tensor<48x512xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.maximumf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<48x512xf32>
  %sub = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores_scaled, %top : tensor<48x512x512xf32>, tensor<48x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %weights = linalg.generic {indexing_maps = [#m4, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sub : tensor<48x512x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.exp %i0 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %init_4 = linalg.fill ins(%zero : f32) outs(%e_5 : tensor<48x512xf32>) -> tensor<48x512xf32>
  %norm = linalg.generic {indexing_maps = [#m4, #m5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%weights : tensor<48x512x512xf32>) outs(%init_4 : tensor<48x512xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<48x512xf32>
  %c_3 = arith.constant 1.0 : f32
  %recip = linalg.generic {indexing_maps = [#m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%norm : tensor<48x512xf32>) outs(%e_5 : tensor<48x512xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.divf %c_3, %i0 : f32
    linalg.yield %r : f32
  } -> tensor<48x512xf32>
  %probs = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%weights, %recip : tensor<48x512x512xf32>, tensor<48x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %e_6 = tensor.empty() : tensor<48x512x64xf32>
  %init_5 = linalg.fill ins(%zero : f32) outs(%e_6 : tensor<48x512x64xf32>) -> tensor<48x512x64xf32>
  %context = linalg.batch_matmul ins(%probs, %v : tensor<48x512x512xf32>, tensor<48x512x64xf32>) outs(%init_5 : tensor<48x512x64xf32>) -> tensor<48x512x64xf32>
  %x4_3 = tensor.expand_shape %context [[0, 1], [2], [3]] output_shape [4, 12, 512, 64] : tensor<48x512x64xf32> into tensor<4x12x512x64xf32>
  %e_7 = tensor.empty() : tensor<4x512x12x64xf32>
  %tr_4 = linalg.transpose ins(%x4_3 : tensor<4x12x512x64xf32>) outs(%e_7 : tensor<4x512x12x64xf32>) permutation = [0, 2, 1, 3]
  %context_flat = tensor.collapse_shape %tr_4 [[0, 1], [2, 3]] : tensor<4x512x12x64xf32> into tensor<2048x768xf32>
  %attended = linalg.matmul ins(%context_flat, %wo : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %residual = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%x, %attended : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sum_1 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%residual : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln2_mean = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sum_1 : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln2_centred = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%residual, %ln2_mean : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sq_1 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln2_centred, %ln2_centred : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sqsum_1 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%sq_1 : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln2_var = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sqsum_1 : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %shifted_1 = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%ln2_var : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %c_1 : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln2_rstd = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%shifted_1 : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.rsqrt %i0 : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %ln2_hat = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln2_centred, %ln2_rstd : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %mul_1 = linalg.generic {indexing_maps = [#m0, #m3, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln2_hat, %g2 : tensor<2048x768xf32>, tensor<768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %ln2_out = linalg.generic {indexing_maps = [#m0, #m3, #m0], iterator_types = ["parallel", "parallel"]} ins(%mul_1, %b2 : tensor<2048x768xf32>, tensor<768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %e_8 = tensor.empty() : tensor<2048x3072xf32>
  %init_6 = linalg.fill ins(%zero : f32) outs(%e_8 : tensor<2048x3072xf32>) -> tensor<2048x3072xf32>
  %up = linalg.matmul ins(%ln2_out, %w1 : tensor<2048x768xf32>, tensor<768x3072xf32>) outs(%init_6 : tensor<2048x3072xf32>) -> tensor<2048x3072xf32>
  %gate = linalg.generic {indexing_maps = [#m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%up : tensor<2048x3072xf32>) outs(%e_8 : tensor<2048x3072xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %n = arith.negf %i0 : f32
    %ex = math.exp %n : f32
    %p = arith.addf %ex, %c_3 : f32
    %r = arith.divf %c_3, %p : f32
    linalg.yield %r : f32
  } -> tensor<2048x3072xf32>
  %hidden = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%up, %gate : tensor<2048x3072xf32>, tensor<2048x3072xf32>) outs(%e_8 : tensor<2048x3072xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x3072xf32>
  %down = linalg.matmul ins(%hidden, %w2 : tensor<2048x3072xf32>, tensor<3072x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %y = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%residual, %down : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  // The backward.
  %e_9 = tensor.empty() : tensor<3072x2048xf32>
  %tr_5 = linalg.transpose ins(%hidden : tensor<2048x3072xf32>) outs(%e_9 : tensor<3072x2048xf32>) permutation = [1, 0]
  %e_10 = tensor.empty() : tensor<3072x768xf32>
  %init_7 = linalg.fill ins(%zero : f32) outs(%e_10 : tensor<3072x768xf32>) -> tensor<3072x768xf32>
  %dw2 = linalg.matmul ins(%tr_5, %dy : tensor<3072x2048xf32>, tensor<2048x768xf32>) outs(%init_7 : tensor<3072x768xf32>) -> tensor<3072x768xf32>
  %e_11 = tensor.empty() : tensor<768x3072xf32>
  %tr_6 = linalg.transpose ins(%w2 : tensor<3072x768xf32>) outs(%e_11 : tensor<768x3072xf32>) permutation = [1, 0]
  %dhidden = linalg.matmul ins(%dy, %tr_6 : tensor<2048x768xf32>, tensor<768x3072xf32>) outs(%init_6 : tensor<2048x3072xf32>) -> tensor<2048x3072xf32>
  %c_4 = arith.constant -1.0 : f32
  %scaled = linalg.generic {indexing_maps = [#m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%gate : tensor<2048x3072xf32>) outs(%e_8 : tensor<2048x3072xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c_4 : f32
    linalg.yield %r : f32
  } -> tensor<2048x3072xf32>
  %shifted_2 = linalg.generic {indexing_maps = [#m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%scaled : tensor<2048x3072xf32>) outs(%e_8 : tensor<2048x3072xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %c_3 : f32
    linalg.yield %r : f32
  } -> tensor<2048x3072xf32>
  %mul_2 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%hidden, %shifted_2 : tensor<2048x3072xf32>, tensor<2048x3072xf32>) outs(%e_8 : tensor<2048x3072xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x3072xf32>
  %dsilu = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%gate, %mul_2 : tensor<2048x3072xf32>, tensor<2048x3072xf32>) outs(%e_8 : tensor<2048x3072xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x3072xf32>
  %dup = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%dhidden, %dsilu : tensor<2048x3072xf32>, tensor<2048x3072xf32>) outs(%e_8 : tensor<2048x3072xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x3072xf32>
  %e_12 = tensor.empty() : tensor<768x2048xf32>
  %tr_7 = linalg.transpose ins(%ln2_out : tensor<2048x768xf32>) outs(%e_12 : tensor<768x2048xf32>) permutation = [1, 0]
  %init_8 = linalg.fill ins(%zero : f32) outs(%e_11 : tensor<768x3072xf32>) -> tensor<768x3072xf32>
  %dw1 = linalg.matmul ins(%tr_7, %dup : tensor<768x2048xf32>, tensor<2048x3072xf32>) outs(%init_8 : tensor<768x3072xf32>) -> tensor<768x3072xf32>
  %tr_8 = linalg.transpose ins(%w1 : tensor<768x3072xf32>) outs(%e_10 : tensor<3072x768xf32>) permutation = [1, 0]
  %dln2_out = linalg.matmul ins(%dup, %tr_8 : tensor<2048x3072xf32>, tensor<3072x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %mul_3 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%dln2_out, %ln2_hat : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %e_13 = tensor.empty() : tensor<768xf32>
  %init_9 = linalg.fill ins(%zero : f32) outs(%e_13 : tensor<768xf32>) -> tensor<768xf32>
  %dln2_gamma = linalg.generic {indexing_maps = [#m0, #m3], iterator_types = ["reduction", "parallel"]} ins(%mul_3 : tensor<2048x768xf32>) outs(%init_9 : tensor<768xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<768xf32>
  %dln2_beta = linalg.generic {indexing_maps = [#m0, #m3], iterator_types = ["reduction", "parallel"]} ins(%dln2_out : tensor<2048x768xf32>) outs(%init_9 : tensor<768xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<768xf32>
  %mul_4 = linalg.generic {indexing_maps = [#m0, #m3, #m0], iterator_types = ["parallel", "parallel"]} ins(%dln2_out, %g2 : tensor<2048x768xf32>, tensor<768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sum_2 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%mul_4 : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %scaled_1 = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sum_2 : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %mul_5 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%mul_4, %ln2_hat : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sum_3 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%mul_5 : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %scaled_2 = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sum_3 : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %sub_1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%mul_4, %scaled_1 : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %mul_6 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln2_hat, %scaled_2 : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sub_2 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%sub_1, %mul_6 : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %dln2_x = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%sub_2, %ln2_rstd : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %dresidual = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%dy, %dln2_x : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %tr_9 = linalg.transpose ins(%context_flat : tensor<2048x768xf32>) outs(%e_12 : tensor<768x2048xf32>) permutation = [1, 0]
  %e_14 = tensor.empty() : tensor<768x768xf32>
  %init_10 = linalg.fill ins(%zero : f32) outs(%e_14 : tensor<768x768xf32>) -> tensor<768x768xf32>
  %dwo = linalg.matmul ins(%tr_9, %dresidual : tensor<768x2048xf32>, tensor<2048x768xf32>) outs(%init_10 : tensor<768x768xf32>) -> tensor<768x768xf32>
  %tr_10 = linalg.transpose ins(%wo : tensor<768x768xf32>) outs(%e_14 : tensor<768x768xf32>) permutation = [1, 0]
  %dcontext_flat = linalg.matmul ins(%dresidual, %tr_10 : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %x4_4 = tensor.expand_shape %dcontext_flat [[0, 1], [2, 3]] output_shape [4, 512, 12, 64] : tensor<2048x768xf32> into tensor<4x512x12x64xf32>
  %tr_11 = linalg.transpose ins(%x4_4 : tensor<4x512x12x64xf32>) outs(%e_2 : tensor<4x12x512x64xf32>) permutation = [0, 2, 1, 3]
  %dcontext = tensor.collapse_shape %tr_11 [[0, 1], [2], [3]] : tensor<4x12x512x64xf32> into tensor<48x512x64xf32>
  %tr_12 = linalg.transpose ins(%v : tensor<48x512x64xf32>) outs(%e_3 : tensor<48x64x512xf32>) permutation = [0, 2, 1]
  %dprobs = linalg.batch_matmul ins(%dcontext, %tr_12 : tensor<48x512x64xf32>, tensor<48x64x512xf32>) outs(%init_2 : tensor<48x512x512xf32>) -> tensor<48x512x512xf32>
  %tr_13 = linalg.transpose ins(%probs : tensor<48x512x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) permutation = [0, 2, 1]
  %dv = linalg.batch_matmul ins(%tr_13, %dcontext : tensor<48x512x512xf32>, tensor<48x512x64xf32>) outs(%init_5 : tensor<48x512x64xf32>) -> tensor<48x512x64xf32>
  %mul_7 = linalg.generic {indexing_maps = [#m4, #m4, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dprobs, %probs : tensor<48x512x512xf32>, tensor<48x512x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %dot = linalg.generic {indexing_maps = [#m4, #m5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%mul_7 : tensor<48x512x512xf32>) outs(%init_4 : tensor<48x512xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<48x512xf32>
  %sub_3 = linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dprobs, %dot : tensor<48x512x512xf32>, tensor<48x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %mul_8 = linalg.generic {indexing_maps = [#m4, #m4, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%probs, %sub_3 : tensor<48x512x512xf32>, tensor<48x512x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %dscores = linalg.generic {indexing_maps = [#m4, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mul_8 : tensor<48x512x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c_2 : f32
    linalg.yield %r : f32
  } -> tensor<48x512x512xf32>
  %dq = linalg.batch_matmul ins(%dscores, %k : tensor<48x512x512xf32>, tensor<48x512x64xf32>) outs(%init_5 : tensor<48x512x64xf32>) -> tensor<48x512x64xf32>
  %x4_5 = tensor.expand_shape %dq [[0, 1], [2], [3]] output_shape [4, 12, 512, 64] : tensor<48x512x64xf32> into tensor<4x12x512x64xf32>
  %tr_14 = linalg.transpose ins(%x4_5 : tensor<4x12x512x64xf32>) outs(%e_7 : tensor<4x512x12x64xf32>) permutation = [0, 2, 1, 3]
  %dq_flat = tensor.collapse_shape %tr_14 [[0, 1], [2, 3]] : tensor<4x512x12x64xf32> into tensor<2048x768xf32>
  %tr_15 = linalg.transpose ins(%dscores : tensor<48x512x512xf32>) outs(%e_4 : tensor<48x512x512xf32>) permutation = [0, 2, 1]
  %dk = linalg.batch_matmul ins(%tr_15, %q : tensor<48x512x512xf32>, tensor<48x512x64xf32>) outs(%init_5 : tensor<48x512x64xf32>) -> tensor<48x512x64xf32>
  %x4_6 = tensor.expand_shape %dk [[0, 1], [2], [3]] output_shape [4, 12, 512, 64] : tensor<48x512x64xf32> into tensor<4x12x512x64xf32>
  %tr_16 = linalg.transpose ins(%x4_6 : tensor<4x12x512x64xf32>) outs(%e_7 : tensor<4x512x12x64xf32>) permutation = [0, 2, 1, 3]
  %dk_flat = tensor.collapse_shape %tr_16 [[0, 1], [2, 3]] : tensor<4x512x12x64xf32> into tensor<2048x768xf32>
  %x4_7 = tensor.expand_shape %dv [[0, 1], [2], [3]] output_shape [4, 12, 512, 64] : tensor<48x512x64xf32> into tensor<4x12x512x64xf32>
  %tr_17 = linalg.transpose ins(%x4_7 : tensor<4x12x512x64xf32>) outs(%e_7 : tensor<4x512x12x64xf32>) permutation = [0, 2, 1, 3]
  %dv_flat = tensor.collapse_shape %tr_17 [[0, 1], [2, 3]] : tensor<4x512x12x64xf32> into tensor<2048x768xf32>
  %tr_18 = linalg.transpose ins(%ln1_out : tensor<2048x768xf32>) outs(%e_12 : tensor<768x2048xf32>) permutation = [1, 0]
  %dwq = linalg.matmul ins(%tr_18, %dq_flat : tensor<768x2048xf32>, tensor<2048x768xf32>) outs(%init_10 : tensor<768x768xf32>) -> tensor<768x768xf32>
  %dwk = linalg.matmul ins(%tr_18, %dk_flat : tensor<768x2048xf32>, tensor<2048x768xf32>) outs(%init_10 : tensor<768x768xf32>) -> tensor<768x768xf32>
  %dwv = linalg.matmul ins(%tr_18, %dv_flat : tensor<768x2048xf32>, tensor<2048x768xf32>) outs(%init_10 : tensor<768x768xf32>) -> tensor<768x768xf32>
  %tr_19 = linalg.transpose ins(%wq : tensor<768x768xf32>) outs(%e_14 : tensor<768x768xf32>) permutation = [1, 0]
  %mm = linalg.matmul ins(%dq_flat, %tr_19 : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %tr_20 = linalg.transpose ins(%wk : tensor<768x768xf32>) outs(%e_14 : tensor<768x768xf32>) permutation = [1, 0]
  %mm_1 = linalg.matmul ins(%dk_flat, %tr_20 : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %add = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%mm, %mm_1 : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %tr_21 = linalg.transpose ins(%wv : tensor<768x768xf32>) outs(%e_14 : tensor<768x768xf32>) permutation = [1, 0]
  %mm_2 = linalg.matmul ins(%dv_flat, %tr_21 : tensor<2048x768xf32>, tensor<768x768xf32>) outs(%init_1 : tensor<2048x768xf32>) -> tensor<2048x768xf32>
  %dln1_out = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%add, %mm_2 : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %mul_9 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%dln1_out, %ln1_hat : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %dln1_gamma = linalg.generic {indexing_maps = [#m0, #m3], iterator_types = ["reduction", "parallel"]} ins(%mul_9 : tensor<2048x768xf32>) outs(%init_9 : tensor<768xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<768xf32>
  %dln1_beta = linalg.generic {indexing_maps = [#m0, #m3], iterator_types = ["reduction", "parallel"]} ins(%dln1_out : tensor<2048x768xf32>) outs(%init_9 : tensor<768xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<768xf32>
  %mul_10 = linalg.generic {indexing_maps = [#m0, #m3, #m0], iterator_types = ["parallel", "parallel"]} ins(%dln1_out, %g1 : tensor<2048x768xf32>, tensor<768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sum_4 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%mul_10 : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %scaled_3 = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sum_4 : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %mul_11 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%mul_10, %ln1_hat : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sum_5 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]} ins(%mul_11 : tensor<2048x768xf32>) outs(%init : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %scaled_4 = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel"]} ins(%sum_5 : tensor<2048xf32>) outs(%e : tensor<2048xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2048xf32>
  %sub_4 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%mul_10, %scaled_3 : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %mul_12 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%ln1_hat, %scaled_4 : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %sub_5 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%sub_4, %mul_12 : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %dln1_x = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]} ins(%sub_5, %ln1_rstd : tensor<2048x768xf32>, tensor<2048xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  %dx = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]} ins(%dresidual, %dln1_x : tensor<2048x768xf32>, tensor<2048x768xf32>) outs(%e_1 : tensor<2048x768xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<2048x768xf32>
  joint.output %y gradients(%dx of 0, %dwq of 1, %dwk of 2, %dwv of 3, %dwo of 4, %dw1 of 5, %dw2 of 6, %dln1_gamma of 7, %dln1_beta of 8, %dln2_gamma of 9, %dln2_beta of 10)
      : tensor<2048x768xf32>,
        tensor<2048x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x768xf32>,
        tensor<768x3072xf32>,
        tensor<3072x768xf32>,
        tensor<768xf32>,
        tensor<768xf32>,
        tensor<768xf32>,
        tensor<768xf32>
}

// Products, and what is dear otherwise, are saved; only what takes no time runs
// again.
// STEP-LABEL: func.func @block_backward
// STEP: joint.partition @block_partition
// CHECK-LABEL: func.func @block_forward
// CHECK-COUNT-13: joint.save =
// CHECK-NOT: joint.save =
// CHECK-LABEL: func.func @block_backward
// CHECK-NOT: linalg.{{(batch_)?matmul|reduce}} {{.*}}joint.recompute
// CHECK: joint.partition @block_partition

// Where a byte is dear, less is saved and products run again.
// DEAR-LABEL: func.func @block_forward
// DEAR-COUNT-5: joint.save =
// DEAR-NOT: joint.save =
// DEAR-LABEL: func.func @block_backward
// DEAR-COUNT-6: linalg.{{(batch_)?}}matmul {{.*}}joint.recompute = 
// DEAR: joint.partition @block_partition
