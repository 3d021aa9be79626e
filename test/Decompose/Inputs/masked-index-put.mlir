joint.graph @put(%self: tensor<6x4xf32> {joint.role = #joint.role<param>},
                 %mask: tensor<5x1xi1> {joint.role = #joint.role<input>},
                 %index: tensor<5xi64> {joint.role = #joint.role<input>},
                 %values: tensor<5x4xf32> {joint.role = #joint.role<input>})
    -> (tensor<f32>) gradients () {
  %0 = aten._unsafe_masked_index(%self, %mask, [%index], 0.0)
    : (tensor<6x4xf32>, tensor<5x1xi1>, tensor<5xi64>) -> tensor<5x4xf32>
  %1 = aten.mul.Tensor(%0, %values)
    : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %2 = aten.sum(%1, dtype = none) : (tensor<5x4xf32>) -> tensor<f32>
  joint.output %2 : tensor<f32>
}
