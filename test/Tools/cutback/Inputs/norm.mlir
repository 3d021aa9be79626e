// A linear layer, batch norm in training, and a loss.
module {
  joint.graph @model(%p_fc_weight: tensor<4x3xf32> {joint.role = #joint.role<param "fc.weight">},
    %p_fc_bias: tensor<4xf32> {joint.role = #joint.role<param "fc.bias">},
    %p_bn_weight: tensor<4xf32> {joint.role = #joint.role<param "bn.weight">},
    %p_bn_bias: tensor<4xf32> {joint.role = #joint.role<param "bn.bias">},
    %b_bn_running_mean: tensor<4xf32> {joint.role = #joint.role<buffer "bn.running_mean">},
    %b_bn_running_var: tensor<4xf32> {joint.role = #joint.role<buffer "bn.running_var">},
    %b_bn_num_batches_tracked: tensor<i64> {joint.role = #joint.role<buffer "bn.num_batches_tracked">},
    %x: tensor<6x3xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
    %linear = aten.linear(%x, %p_fc_weight, %p_fc_bias) : (tensor<6x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<6x4xf32>
    %add_ = aten.add_.Tensor(%b_bn_num_batches_tracked, 1) : (tensor<i64>) -> tensor<i64>
    %batch_norm = aten.batch_norm(%linear, %p_bn_weight, %p_bn_bias, %b_bn_running_mean, %b_bn_running_var, true, 1.000000e-01, 1.000000e-05, false) : (tensor<6x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
    %square = aten.square(%batch_norm) : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %arange = aten.arange(4.000000e+00, device = "cpu", pin_memory = false) : () -> tensor<4xf32>
    %mul = aten.mul.Tensor(%square, %arange) : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
    %mean = aten.mean(%mul) : (tensor<6x4xf32>) -> tensor<f32>
    joint.output %mean : tensor<f32>
  }
}

