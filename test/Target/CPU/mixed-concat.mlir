// Parts of other types than the result are converted before a kernel puts them
// behind each other.

// RUN: rm -rf %t && cutback compile %s --to=kernels -o %t 2>&1 | count 0
// RUN: FileCheck %s --input-file=%t/kernels.mlir
// RUN: cutback compile %s --target=cpu -o %t/cpu 2>&1 | count 0
// CHECK-LABEL: kernel.func
// CHECK: arith.extf {{.*}} : f32 to f64
// CHECK-NOT: call at

joint.graph @mixed(
    %x: tensor<3xf64> {joint.role = #joint.role<param "x">, joint.requires_grad},
    %y: tensor<2xf32> {joint.role = #joint.role<param "y">, joint.requires_grad})
    -> (tensor<f64>) gradients () {
  %c = aten.cat([%x, %y]) : (tensor<3xf64>, tensor<2xf32>) -> tensor<5xf64>
  %m = aten.mul.Tensor(%c, %c) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
  %s = aten.sum(%m) : (tensor<5xf64>) -> tensor<f64>
  joint.output %s gradients() : tensor<f64>
}
