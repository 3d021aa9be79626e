// A model that computes in f16, as under torch.autocast, up to its loss, whose gradient
// then holds no scale above 32768.
module {
  joint.graph @half(%p_a: tensor<4x8xf32> {joint.role = #joint.role<param "a">, joint.requires_grad},
    %p_b: tensor<8x3xf32> {joint.role = #joint.role<param "b">, joint.requires_grad},
    %x: tensor<2x4xf16> {joint.role = #joint.role<input>},
    %y: tensor<2x3xf16> {joint.role = #joint.role<input>}) -> (tensor<f16>) gradients () {
    %a = aten._to_copy(%p_a, dtype = f16) : (tensor<4x8xf32>) -> tensor<4x8xf16>
    %mm = aten.mm(%x, %a) : (tensor<2x4xf16>, tensor<4x8xf16>) -> tensor<2x8xf16>
    %tanh = aten.tanh(%mm) : (tensor<2x8xf16>) -> tensor<2x8xf16>
    %b = aten._to_copy(%p_b, dtype = f16) : (tensor<8x3xf32>) -> tensor<8x3xf16>
    %out = aten.mm(%tanh, %b) : (tensor<2x8xf16>, tensor<8x3xf16>) -> tensor<2x3xf16>
    %loss = aten.mse_loss(%out, %y) : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<f16>
    joint.output %loss : tensor<f16>
  }
}
