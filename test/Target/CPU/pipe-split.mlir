// A marker of a pipeline's stages is nothing to launch.

// RUN: rm -rf %t && cutback compile %s --target=cpu -o %t
// RUN: FileCheck %s --input-file=%t/manifest.json
// CHECK: "op": "k_mul_sum"
// CHECK-NOT: pipe_split

joint.graph @marked(
    %x: tensor<4xf32> {joint.role = #joint.role<param "x">, joint.requires_grad})
    -> (tensor<f32>) gradients () {
  aten.pipe_split() : () -> ()
  %m = aten.mul.Tensor(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  aten.pipe_split() : () -> ()
  %l = aten.sum(%m) : (tensor<4xf32>) -> tensor<f32>
  joint.output %l gradients() : tensor<f32>
}
