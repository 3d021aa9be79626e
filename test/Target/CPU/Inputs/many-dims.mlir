// A sum along one of 17 dimensions.
!many = tensor<2x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
module {
  joint.graph @many(
      %x: !many {joint.role = #joint.role<input>},
      %t: !many {joint.role = #joint.role<tangent of 0>})
      -> (!many) gradients (!many) {
    %y = aten.cumsum(%x, 0) : (!many) -> !many loc("many.py":3:1)
    %d = aten.neg(%t) : (!many) -> !many
    joint.output %y gradients(%d of 0) : !many, !many
  }
}
