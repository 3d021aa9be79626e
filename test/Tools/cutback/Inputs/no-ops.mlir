module {
  joint.graph @no_ops(%w: tensor<f64> {joint.role = #joint.role<param>}, %x: tensor<f64> {joint.role = #joint.role<input>}) -> () gradients (tensor<f64>) {
    joint.output gradients(%x of 0) : tensor<f64>
  }
}

