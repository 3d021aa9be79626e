// A norm whose statistics are handed over as views, and computed again as what
// they are views of.
module {
  joint.graph @saved_view(%p_scale: tensor<f64> {joint.role = #joint.role<param>}, %p_p0: tensor<5x5x5xf64> {joint.role = #joint.role<param>}, %p_p1: tensor<5xf64> {joint.role = #joint.role<param>}, %inputs_0_old: tensor<5xf64> {joint.role = #joint.role<input>}, %mul_9: tensor<f64> {joint.role = #joint.role<input>}) -> (tensor<f64>) gradients (tensor<f64>, tensor<5x5x5xf64>) {
    %getitem, %getitem_1, %getitem_2, %getitem_3, %getitem_4, %getitem_5 = aten._batch_norm_with_update_functional(%p_p0, none, none, %inputs_0_old, %inputs_0_old, 0.000000e+00, 0.000000e+00) : (tensor<5x5x5xf64>, tensor<5xf64>, tensor<5xf64>) -> (tensor<5x5x5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<0xui8>, tensor<5xf64>, tensor<5xf64>)
    %view = aten.view(%getitem, [-1]) : (tensor<5x5x5xf64>) -> tensor<125xf64>
    %sum_1 = aten.sum.dim_IntList(%view, none) : (tensor<125xf64>) -> tensor<f64>
    %mul_8 = aten.mul.Tensor(%p_scale, %sum_1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %full_like = aten.full_like(%mul_8, 0) : (tensor<f64>) -> tensor<f64>
    %expand = aten.expand(%mul_9, [125]) : (tensor<f64>) -> tensor<125xf64>
    %view_4 = aten.view(%expand, [5, 5, 5]) : (tensor<125xf64>) -> tensor<5x5x5xf64>
    %getitem_6, %getitem_7, %getitem_8 = aten.batch_norm_backward(%view_4, %p_p0, %p_p1, none, none, none, %getitem_2, false, 0.000000e+00, [true, true, true], %getitem_3) : (tensor<5x5x5xf64>, tensor<5x5x5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<0xui8>) -> (tensor<5x5x5xf64>, tensor<5xf64>, tensor<5xf64>)
    joint.output %mul_8 gradients(%full_like of 0, %getitem_6 of 1) : tensor<f64>, tensor<f64>, tensor<5x5x5xf64>
  }
}

