// A model whose inputs have any number of rows, from 2 to 64: weights under two
// names, one that is frozen, one in bf16, dropout, batch norm, a mean over labels,
// and an output that has the rows.
module {
  joint.graph @model(%p_embed: tensor<7x4xf32> {joint.role = #joint.role<param "embed.weight">, joint.requires_grad},
    %p_head: tensor<7x4xf32> {joint.role = #joint.role<param "head.weight">, joint.tied = "embed.weight", joint.requires_grad},
    %p_frozen: tensor<4x4xf32> {joint.role = #joint.role<param "frozen.weight">},
    %p_factor: tensor<4xbf16> {joint.role = #joint.role<param "factor">, joint.requires_grad},
    %p_bn_weight: tensor<4xf32> {joint.role = #joint.role<param "bn.weight">, joint.requires_grad},
    %p_bn_bias: tensor<4xf32> {joint.role = #joint.role<param "bn.bias">, joint.requires_grad},
    %b_bn_running_mean: tensor<4xf32> {joint.role = #joint.role<buffer "bn.running_mean">},
    %b_bn_running_var: tensor<4xf32> {joint.role = #joint.role<buffer "bn.running_var">},
    %b_bn_num_batches_tracked: tensor<i64> {joint.role = #joint.role<buffer "bn.num_batches_tracked">},
    %tokens: tensor<?x3xi64> {joint.role = #joint.role<input>, joint.dims = ["s0", "3"]},
    %labels: tensor<?x3xi64> {joint.role = #joint.role<input>, joint.dims = ["s0", "3"]}) -> (tensor<f32>, tensor<?x4xf32>) gradients () attributes {symbols = {s0 = #joint.symbol<hint = 5, min = 2, max = 64>}} {
    %embedding = aten.embedding(%p_embed, %tokens) : (tensor<7x4xf32>, tensor<?x3xi64>) -> tensor<?x3x4xf32>
    %dropout = aten.dropout(%embedding, 2.500000e-01, true) : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
    %mul = aten.mul.Tensor(%dropout, %p_factor) : (tensor<?x3x4xf32>, tensor<4xbf16>) -> tensor<?x3x4xf32>
    %view = aten.view(%mul, [-1, 4]) : (tensor<?x3x4xf32>) -> tensor<?x4xf32>
    %linear = aten.linear(%view, %p_frozen) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %add_ = aten.add_.Tensor(%b_bn_num_batches_tracked, 1) : (tensor<i64>) -> tensor<i64>
    %batch_norm = aten.batch_norm(%linear, %p_bn_weight, %p_bn_bias, %b_bn_running_mean, %b_bn_running_var, true, 1.000000e-01, 1.000000e-05, false) : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    %logits = aten.linear(%batch_norm, %p_head) : (tensor<?x4xf32>, tensor<7x4xf32>) -> tensor<?x7xf32>
    %flat = aten.view(%labels, [-1]) : (tensor<?x3xi64>) -> tensor<?xi64>
    %loss = aten.cross_entropy_loss(%logits, %flat) : (tensor<?x7xf32>, tensor<?xi64>) -> tensor<f32>
    joint.output %loss, %batch_norm : tensor<f32>, tensor<?x4xf32>
  }
}
