// Convolutions with a channel or two a group: strides, dilation, two rows a
// group, channels last, along one and three axes, transposed.
module {
  joint.graph @model(%p_a_weight: tensor<37x1x3x3xf32> {joint.requires_grad, joint.role = #joint.role<param "a.weight">}, %p_b_weight: tensor<37x1x5x3xf32> {joint.requires_grad, joint.role = #joint.role<param "b.weight">}, %p_b_bias: tensor<37xf32> {joint.requires_grad, joint.role = #joint.role<param "b.bias">}, %p_c_weight: tensor<74x1x3x3xf32> {joint.requires_grad, joint.role = #joint.role<param "c.weight">}, %p_c_bias: tensor<74xf32> {joint.requires_grad, joint.role = #joint.role<param "c.bias">}, %p_d_weight: tensor<40x1x7x7xf32> {joint.requires_grad, joint.role = #joint.role<param "d.weight">}, %p_d_bias: tensor<40xf32> {joint.requires_grad, joint.role = #joint.role<param "d.bias">}, %p_e_weight: tensor<24x1x4xf32> {joint.requires_grad, joint.role = #joint.role<param "e.weight">}, %p_e_bias: tensor<24xf32> {joint.requires_grad, joint.role = #joint.role<param "e.bias">}, %p_f_weight: tensor<20x1x3x3x3xf32> {joint.requires_grad, joint.role = #joint.role<param "f.weight">}, %p_f_bias: tensor<20xf32> {joint.requires_grad, joint.role = #joint.role<param "f.bias">}, %p_g_weight: tensor<37x1x3x3xf32> {joint.requires_grad, joint.role = #joint.role<param "g.weight">}, %p_g_bias: tensor<37xf32> {joint.requires_grad, joint.role = #joint.role<param "g.bias">}, %x: tensor<2x37x19x23xf32> {joint.role = #joint.role<input>}, %y: tensor<2x19x23x40xf32> {joint.role = #joint.role<input>}, %z: tensor<2x24x61xf32> {joint.role = #joint.role<input>}, %v: tensor<1x20x5x6x7xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
    %mul = aten.mul.Tensor(%y, 1.500000e+00) : (tensor<2x19x23x40xf32>) -> tensor<2x19x23x40xf32>
    %permute = aten.permute(%mul, [0, 3, 1, 2]) {joint.strides = array<i64: 17480, 1, 920, 40>} : (tensor<2x19x23x40xf32>) -> tensor<2x40x19x23xf32>
    %conv2d = aten.conv2d(%x, %p_a_weight, none, [1, 1], [1, 1], [1, 1], 37) : (tensor<2x37x19x23xf32>, tensor<37x1x3x3xf32>) -> tensor<2x37x19x23xf32>
    %square = aten.square(%conv2d) : (tensor<2x37x19x23xf32>) -> tensor<2x37x19x23xf32>
    %mean = aten.mean(%square) : (tensor<2x37x19x23xf32>) -> tensor<f32>
    %tanh = aten.tanh(%x) : (tensor<2x37x19x23xf32>) -> tensor<2x37x19x23xf32>
    %conv2d_1 = aten.conv2d(%tanh, %p_b_weight, %p_b_bias, [2, 2], [1, 2], [1, 1], 37) : (tensor<2x37x19x23xf32>, tensor<37x1x5x3xf32>, tensor<37xf32>) -> tensor<2x37x9x13xf32>
    %square_1 = aten.square(%conv2d_1) : (tensor<2x37x9x13xf32>) -> tensor<2x37x9x13xf32>
    %mean_1 = aten.mean(%square_1) : (tensor<2x37x9x13xf32>) -> tensor<f32>
    %add = aten.add.Tensor(%mean, %mean_1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %conv2d_2 = aten.conv2d(%x, %p_c_weight, %p_c_bias, [1, 1], [0, 0], [2, 1], 37) : (tensor<2x37x19x23xf32>, tensor<74x1x3x3xf32>, tensor<74xf32>) -> tensor<2x74x15x21xf32>
    %square_2 = aten.square(%conv2d_2) : (tensor<2x74x15x21xf32>) -> tensor<2x74x15x21xf32>
    %mean_2 = aten.mean(%square_2) : (tensor<2x74x15x21xf32>) -> tensor<f32>
    %add_1 = aten.add.Tensor(%add, %mean_2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %conv2d_3 = aten.conv2d(%permute, %p_d_weight, %p_d_bias, [1, 1], [3, 3], [1, 1], 40) {joint.strides = array<i64: 17480, 1, 920, 40>} : (tensor<2x40x19x23xf32>, tensor<40x1x7x7xf32>, tensor<40xf32>) -> tensor<2x40x19x23xf32>
    %square_3 = aten.square(%conv2d_3) {joint.strides = array<i64: 17480, 1, 920, 40>} : (tensor<2x40x19x23xf32>) -> tensor<2x40x19x23xf32>
    %mean_3 = aten.mean(%square_3) : (tensor<2x40x19x23xf32>) -> tensor<f32>
    %add_2 = aten.add.Tensor(%add_1, %mean_3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %conv1d = aten.conv1d(%z, %p_e_weight, %p_e_bias, [1], [3], [1], 24) : (tensor<2x24x61xf32>, tensor<24x1x4xf32>, tensor<24xf32>) -> tensor<2x24x64xf32>
    %square_4 = aten.square(%conv1d) : (tensor<2x24x64xf32>) -> tensor<2x24x64xf32>
    %mean_4 = aten.mean(%square_4) : (tensor<2x24x64xf32>) -> tensor<f32>
    %add_3 = aten.add.Tensor(%add_2, %mean_4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %conv3d = aten.conv3d(%v, %p_f_weight, %p_f_bias, [1, 1, 1], [1, 1, 1], [1, 1, 1], 20) : (tensor<1x20x5x6x7xf32>, tensor<20x1x3x3x3xf32>, tensor<20xf32>) -> tensor<1x20x5x6x7xf32>
    %square_5 = aten.square(%conv3d) : (tensor<1x20x5x6x7xf32>) -> tensor<1x20x5x6x7xf32>
    %mean_5 = aten.mean(%square_5) : (tensor<1x20x5x6x7xf32>) -> tensor<f32>
    %add_4 = aten.add.Tensor(%add_3, %mean_5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %conv_transpose2d = aten.conv_transpose2d.input(%x, %p_g_weight, %p_g_bias, [2, 2], [1, 1], [0, 0], 37) : (tensor<2x37x19x23xf32>, tensor<37x1x3x3xf32>, tensor<37xf32>) -> tensor<2x37x37x45xf32>
    %square_6 = aten.square(%conv_transpose2d) : (tensor<2x37x37x45xf32>) -> tensor<2x37x37x45xf32>
    %mean_6 = aten.mean(%square_6) : (tensor<2x37x37x45xf32>) -> tensor<f32>
    %add_5 = aten.add.Tensor(%add_4, %mean_6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    joint.output %add_5 : tensor<f32>
  }
}
