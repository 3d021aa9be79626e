// The example of --cutback-check-phase, line by line.
//
// RUN: cutback-opt %s --cutback-check-phase=phase=functional | FileCheck %s
// RUN: cutback-opt %s --cutback-check-phase=phase=units | FileCheck %s
// RUN: cutback-opt %s --cutback-check-phase=phase=core | FileCheck %s
// RUN: cutback-opt %s --cutback-check-phase=phase=prepared | FileCheck %s

// CHECK: aten.add.Tensor
joint.graph @double(%x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<4xf32>) gradients () {
  %y = aten.add.Tensor(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  joint.output %y : tensor<4xf32>
}
