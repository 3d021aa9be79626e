// Ops of MLIR's dialects and of one that nobody knows, with names and without.
joint.graph @foreign(
    %x: tensor<100x100xf32> {joint.role = #joint.role<input>},
    %t: tensor<100x100xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<100x100xf32>) gradients (tensor<100x100xf32>) {
  %two = arith.constant dense<2.0> : tensor<100x100xf32>
  %0 = arith.mulf %x, %two : tensor<100x100xf32>
  %1 = arith.mulf %0, %x : tensor<100x100xf32>
  %mulf_1 = arith.mulf %1, %two : tensor<100x100xf32>
  %pair:2 = "who.knows"(%mulf_1) : (tensor<100x100xf32>) -> (tensor<100x100xf32>, tensor<100x100xf32>)
  %e = math.exp %pair#1 : tensor<100x100xf32>
  %again = math.exp %pair#1 : tensor<100x100xf32>
  %y = arith.addf %e, %pair#0 : tensor<100x100xf32>
  %g = arith.mulf %t, %again : tensor<100x100xf32>
  joint.output %y gradients(%g of 0) : tensor<100x100xf32>, tensor<100x100xf32>
}
