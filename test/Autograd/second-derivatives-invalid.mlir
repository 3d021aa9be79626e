// RUN: not cutback-opt %s --cutback-differentiate=of=grad.x 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not cutback-opt %s --cutback-differentiate=of=output.1 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not cutback-opt %s --cutback-differentiate=of=w 2>&1 | FileCheck %s --check-prefix=WORD

// NAME: error: 'g' has no gradient of 'x' that could be differentiated
// NAME: note: it has gradients of 'w'
// RESULT: error: no result of 'g' is called 'output.1', which is to be differentiated
// RESULT: note: results are called loss (the first), output.N and grad.NAME; there are 1 besides gradients
// WORD: error: no result of 'g' is called 'w', which is to be differentiated
joint.graph @g(%w: tensor<f32> {joint.role = #joint.role<param "w">}, %x: tensor<f32> {joint.role = #joint.role<input>}, %s: tensor<f32> {joint.role = #joint.role<grad_seed of 0>}) -> (tensor<f32>) gradients (tensor<f32>) {
  %y = aten.mul.Tensor(%w, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = aten.mul.Tensor(%s, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  joint.output %y gradients(%g of 0) : tensor<f32>, tensor<f32>
}
