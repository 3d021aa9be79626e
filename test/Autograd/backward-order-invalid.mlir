// RUN: not cutback-opt %s --cutback-differentiate=sequence=sinn=3 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not cutback-opt %s --cutback-differentiate=sequence=other=3 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not cutback-opt %s --cutback-differentiate=sequence=w=3 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not cutback-opt %s --cutback-differentiate=sequence=shape=3 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cutback-opt %s --cutback-differentiate=sequence=sin=x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not cutback-opt %s --cutback-differentiate=sequence=sin=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not cutback-opt %s --cutback-differentiate=sequence=sin=1,sin=2 2>&1 | FileCheck %s --check-prefix=TWO

// NEAR: error: no value of 'g' is called 'sinn', whose sequence number is given
// NEAR: note: names near it are sin
// FAR: error: no value of 'g' is called 'other', whose sequence number is given
// FAR: note: `cutback import` prints all names
// ARGUMENT: error: no value of 'g' is called 'w', whose sequence number is given
// ARGUMENT: note: it is an argument: its gradient is added up as soon as it is there
// NONE: error: a sequence number is given to 'shape', and no gradient flows through it
// NONE: note: the order of the backward is that of ops that have a gradient
// NUMBER: error: a sequence number is given as VALUE=N (mm_3=100), not 'sin=x'
// NEGATIVE: error: a sequence number is given as VALUE=N (mm_3=100), not 'sin=-1'
// TWO: error: 'sin' has two sequence numbers, 1 and 2
joint.graph @g(%w: tensor<4xf32> {joint.role = #joint.role<param "w">}) -> (tensor<f32>) gradients () {
  %shape = aten.gt.Scalar(%w, 0) : (tensor<4xf32>) -> tensor<4xi1>
  %sin = aten.sin(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = aten.sum(%sin) : (tensor<4xf32>) -> tensor<f32>
  joint.output %sum : tensor<f32>
}
