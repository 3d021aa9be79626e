// Calls that no dialect knows, with texts that name somebody.
module {
  joint.graph @acme_step(%acme_x: tensor<4xf32> {joint.role = #joint.role<input>, acme.owner = "acme"},
                         %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
      -> (tensor<4xf32>) gradients (tensor<4xf32>)
      attributes {acme.project = "acme"} {
    %acme_y = joint.opaque "acme.router.default"(%acme_x, "acme", scale = 0.1973) : (tensor<4xf32>) -> tensor<4xf32>
    %acme_z = joint.opaque "aten.special.default"(%acme_y, mode = "mean") : (tensor<4xf32>) -> tensor<4xf32>
    %ok = aten.gt.Scalar(%acme_z, 0) : (tensor<4xf32>) -> tensor<4xi1>
    joint.assert %ok, "acme needs positive routes" : tensor<4xi1>
    %d = aten.mul.Tensor(%t, %acme_z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    joint.output %acme_z gradients(%d of 0) : tensor<4xf32>, tensor<4xf32>
  }
}
