// RUN: not cutback-opt %s --cutback-differentiate=grad-of=z 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not cutback-opt %s --cutback-differentiate=grad-of=n 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not cutback-opt %s --cutback-differentiate=loss-outputs=2 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not cutback-opt %s --cutback-differentiate=loss-outputs=1 2>&1 | FileCheck %s --check-prefix=INT

// NAME: error: no argument of 'g' is called 'z', whose gradient is asked for
// NAME: note: arguments that take a gradient: 'w'
// TYPE: error: argument 'n' has type 'tensor<i64>', which takes no gradient
// NUMBER: error: forward result 2 is to be differentiated, and there are 2
// INT: error: forward result 1 is to be differentiated, and has type 'tensor<i64>'

joint.graph @g(%w: tensor<f32> {joint.role = #joint.role<param "w">}, %n: tensor<i64> {joint.role = #joint.role<input>}) -> (tensor<f32>, tensor<i64>) gradients () {
  joint.output %w, %n : tensor<f32>, tensor<i64>
}
