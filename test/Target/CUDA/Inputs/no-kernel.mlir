// Ops without a kernel for a GPU.
module {
  joint.graph @spectrum(
      %x: tensor<3x3xf32> {joint.role = #joint.role<input>},
      %t: tensor<3xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<3xf32>) gradients (tensor<3x3xf32>) {
    %l, %v = aten._linalg_eigh(%x) : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>) loc("spectrum.py":7:1)
    %inverse, %info = aten.linalg_inv_ex(%x) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>) loc("spectrum.py":9:1)
    %other, %info2 = aten.linalg_inv_ex(%inverse) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>) loc("spectrum.py":11:1)
    %d = aten.mul.Tensor(%other, %t) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
    joint.output %l gradients(%d of 0) : tensor<3xf32>, tensor<3x3xf32>
  }
}
