// Sizes under the hint of a symbol, through the interface, or through what MLIR
// knows of an elementwise op.

// CHECK-LABEL: sizes: 3 ops, {{.*}}, verified
// CHECK-NEXT: saved 16777216 bytes of acme.dense
// CHECK-NEXT: saved 16777216 bytes of acme.swish
// EIGHT-LABEL: sizes: 3 ops, {{.*}}, verified
// EIGHT: saved 32768 bytes of acme.dense
joint.graph @sizes(
    %x: tensor<?x1024xf32> {joint.dims = ["n", "1024"], joint.role = #joint.role<input>},
    %w: tensor<1024x1024xf32> {joint.role = #joint.role<param "w">},
    %t: tensor<?x1024xf32> {joint.dims = ["n", "1024"], joint.role = #joint.role<tangent of 0>})
    -> (tensor<?x1024xf32>) gradients (tensor<?x1024xf32>)
    attributes {symbols = {n = #joint.symbol<hint = 4096>}} {
  %h = acme.dense %x, %w : (tensor<?x1024xf32>, tensor<1024x1024xf32>) -> tensor<?x1024xf32>
  %s = acme.swish %h : (tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %g = acme.swish_grad %t, %h, %s : (tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?x1024xf32>) -> tensor<?x1024xf32>
  joint.output %s gradients(%g of 0) : tensor<?x1024xf32>, tensor<?x1024xf32>
}
