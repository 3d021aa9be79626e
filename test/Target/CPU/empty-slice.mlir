// The gradient of a slice without elements: nothing is read of it.

// RUN: rm -rf %t && cutback compile %s --to=kernels -o %t 2>&1 | count 0
// RUN: FileCheck %s --input-file=%t/kernels.mlir
// CHECK: kernel.func @k_full
// CHECK-NOT: kernel.load
// CHECK: kernel.store

joint.graph @empty(
    %x: tensor<1xf64> {joint.role = #joint.role<param "x">, joint.requires_grad})
    -> (tensor<f64>) gradients () {
  %s = aten.slice.Tensor(%x, 0, 1) : (tensor<1xf64>) -> tensor<0xf64>
  %m = aten.mul.Tensor(%s, %s) : (tensor<0xf64>, tensor<0xf64>) -> tensor<0xf64>
  %l = aten.sum(%m) : (tensor<0xf64>) -> tensor<f64>
  joint.output %l gradients() : tensor<f64>
}
