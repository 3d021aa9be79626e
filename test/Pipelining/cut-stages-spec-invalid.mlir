// RUN: cutback-opt %s --verify-diagnostics --cutback-cut-stages="split-spec=layer.1=begin"
// RUN: not cutback-opt %s --cutback-cut-stages="split-spec=layer.1" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not cutback-opt %s --cutback-cut-stages="split-spec=a=begin,a=begin" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not cutback-opt %s --cutback-cut-stages="stages=2 split-spec=a=begin" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not cutback-opt %s --cutback-cut-stages="stages=9" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not cutback-opt %s --cutback-cut-stages="multi-use=share" 2>&1 | FileCheck %s --check-prefix=USE
// RUN: not cutback-opt %s --cutback-cut-stages="stages=2 bandwidth-gbps=0" 2>&1 | FileCheck %s --check-prefix=LINK
// RUN: not cutback-opt %S/cut-stages-doc.mlir --cutback-cut-stages="stages=2" 2>&1 | FileCheck %s --check-prefix=MARKERS
// RUN: cutback-opt %s --cutback-cut-stages="split-spec=layers.0=end" | FileCheck %s
// RUN: cutback-opt %s --cutback-cut-stages="split-spec=layers.1=begin" | FileCheck %s

// TEXT: error: --split-spec takes MODULE=begin or MODULE=end, several with commas, not 'layer.1'
// TWICE: error: --split-spec names 'a=begin' twice
// BOTH: error: stages and split-spec both say where to cut
// MANY: error: there are no 9 stages: 'model' has 3 ops, and values between some of them cannot cross
// MANY: note: ask for fewer stages
// USE: error: multi-use is replicate or transmit, not 'share'
// MARKERS: error: 'model' has markers of its own, for 2 stages, and is to be cut elsewhere
// MARKERS: note: leave the number of stages and the split spec out, or the markers
// LINK: error: bandwidth-gbps is not above 0

// CHECK-LABEL: @model_stage0
// CHECK: %mul = aten.mul
// CHECK-LABEL: @model_stage1
// CHECK: %mul_1 = aten.mul
// expected-error@+2 {{no op belongs to a module called 'layer.1', which --split-spec names}}
// expected-note@+1 {{modules near it are layers.1, layers.0}}
joint.graph @model(%w: tensor<4xf32> {joint.role = #joint.role<param "layers.0.weight">}, %v: tensor<4xf32> {joint.role = #joint.role<param "layers.1.weight">}, %x: tensor<4xf32> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %mul = aten.mul.Tensor(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mul_1 = aten.mul.Tensor(%mul, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%mul_1) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
