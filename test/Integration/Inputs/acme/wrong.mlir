// What is wrong is told at its place, as everywhere.
// CHECK: wrong.mlir:[[@LINE+1]]:1: error: 'joint.graph' op forward result 0 ('y') depends on a tangent
joint.graph @wrong(
    %x: tensor<4xf32> {joint.role = #joint.role<input>},
    %t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4xf32>) gradients (tensor<4xf32>) {
  %y = acme.swish %t : (tensor<4xf32>) -> tensor<4xf32>
  joint.output %y gradients(%t of 0) : tensor<4xf32>, tensor<4xf32>
}
