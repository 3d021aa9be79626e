// A model of PyTorch 2.13 whose sizes depend on data in all ways: exported, read
// and printed without places. step.safetensors has its parameters and inputs,
// loss and gradients of eager PyTorch.
//
//   h = relu(fc(x));  v = masked_select(h, h > 0.1)
//   o = out(h[nonzero(h.sum(1) > 0.5).squeeze(1)])
//   u, inv = unique(idx, return_inverse=True);  e = emb(u)[inv]
//   z = emb.weight[:idx.max().item()].sum()
//   loss = (v * v).sum() + (o * o).sum() + (e * h).sum() + z
//
module {
  joint.graph @model(%p_fc_weight: tensor<8x8xf32> {joint.requires_grad, joint.role = #joint.role<param "fc.weight">}, %p_fc_bias: tensor<8xf32> {joint.requires_grad, joint.role = #joint.role<param "fc.bias">}, %p_out_weight: tensor<4x8xf32> {joint.requires_grad, joint.role = #joint.role<param "out.weight">}, %p_out_bias: tensor<4xf32> {joint.requires_grad, joint.role = #joint.role<param "out.bias">}, %p_emb_weight: tensor<16x8xf32> {joint.requires_grad, joint.role = #joint.role<param "emb.weight">}, %x: tensor<6x8xf32> {joint.role = #joint.role<input>}, %idx: tensor<6xi64> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () attributes {symbols = {u0 = #joint.symbol<min = 0, max = 48>, u1 = #joint.symbol<min = 0, max = 6>, u2 = #joint.symbol<min = 0, max = 6>, u3 = #joint.symbol<min = 2, max = 15>}} {
    %linear = aten.linear(%x, %p_fc_weight, %p_fc_bias) : (tensor<6x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
    %relu = aten.relu(%linear) : (tensor<6x8xf32>) -> tensor<6x8xf32>
    %gt = aten.gt.Scalar(%relu, 1.000000e-01) : (tensor<6x8xf32>) -> tensor<6x8xi1>
    %masked_select = aten.masked_select(%relu, %gt) {joint.dims = ["u0"]} : (tensor<6x8xf32>, tensor<6x8xi1>) -> tensor<?xf32>
    %sym_size_int = aten.sym_size.int(%masked_select, 0) {joint.dims = ["u0"]} : (tensor<?xf32>) -> index
    %ge_1 = aten.sym.ge(%sym_size_int, 0) {joint.dims = ["u0 >= 0"]} : (index) -> i1
    joint.assert %ge_1, "Runtime assertion failed for expression u0 >= 0 on node 'ge_1'" {callee = "aten._assert_scalar.default"} : i1
    %le = aten.sym.le(%sym_size_int, 48) {joint.dims = ["u0 <= 48"]} : (index) -> i1
    joint.assert %le, "Runtime assertion failed for expression u0 <= 48 on node 'le'" {callee = "aten._assert_scalar.default"} : i1
    %sum_1 = aten.sum.dim_IntList(%relu, [1]) : (tensor<6x8xf32>) -> tensor<6xf32>
    %gt_1 = aten.gt.Scalar(%sum_1, 5.000000e-01) : (tensor<6xf32>) -> tensor<6xi1>
    %nonzero = aten.nonzero(%gt_1) {joint.dims = ["u1", "1"]} : (tensor<6xi1>) -> tensor<?x1xi64>
    %sym_size_int_1 = aten.sym_size.int(%nonzero, 0) {joint.dims = ["u1"]} : (tensor<?x1xi64>) -> index
    %ge_2 = aten.sym.ge(%sym_size_int_1, 0) {joint.dims = ["u1 >= 0"]} : (index) -> i1
    joint.assert %ge_2, "Runtime assertion failed for expression u1 >= 0 on node 'ge_2'" {callee = "aten._assert_scalar.default"} : i1
    %le_1 = aten.sym.le(%sym_size_int_1, 6) {joint.dims = ["u1 <= 6"]} : (index) -> i1
    joint.assert %le_1, "Runtime assertion failed for expression u1 <= 6 on node 'le_1'" {callee = "aten._assert_scalar.default"} : i1
    %squeeze = aten.squeeze.dim(%nonzero, 1) {joint.dims = ["u1"]} : (tensor<?x1xi64>) -> tensor<?xi64>
    %index = aten.index.Tensor(%relu, [%squeeze]) {joint.dims = ["u1", "8"]} : (tensor<6x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
    %getitem_3, %getitem_1, %getitem_2 = aten._unique2(%idx, true, true) {joint.call = "_unique2", joint.dims = [["u2"], unit, unit]} : (tensor<6xi64>) -> (tensor<?xi64>, tensor<6xi64>, tensor<0xi64>)
    %sym_size_int_2 = aten.sym_size.int(%getitem_3, 0) {joint.dims = ["u2"]} : (tensor<?xi64>) -> index
    %ge_3 = aten.sym.ge(%sym_size_int_2, 0) {joint.dims = ["u2 >= 0"]} : (index) -> i1
    joint.assert %ge_3, "Runtime assertion failed for expression u2 >= 0 on node 'ge_3'" {callee = "aten._assert_scalar.default"} : i1
    %le_2 = aten.sym.le(%sym_size_int_2, 6) {joint.dims = ["u2 <= 6"]} : (index) -> i1
    joint.assert %le_2, "Runtime assertion failed for expression u2 <= 6 on node 'le_2'" {callee = "aten._assert_scalar.default"} : i1
    %embedding = aten.embedding(%p_emb_weight, %getitem_3) {joint.dims = ["u2", "8"]} : (tensor<16x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
    %index_1 = aten.index.Tensor(%embedding, [%getitem_1]) : (tensor<?x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
    %max_1 = aten.max(%idx) : (tensor<6xi64>) -> tensor<i64>
    %item = aten.item(%max_1) {joint.dims = ["u3"]} : (tensor<i64>) -> index
    %ge_4 = aten.sym.ge(%item, 2) {joint.dims = ["u3 >= 2"]} : (index) -> i1
    joint.assert %ge_4, "Runtime assertion failed for expression u3 >= 2 on node 'ge_4'" {callee = "aten._assert_scalar.default"} : i1
    %le_3 = aten.sym.le(%item, 15) {joint.dims = ["u3 <= 15"]} : (index) -> i1
    joint.assert %le_3, "Runtime assertion failed for expression u3 <= 15 on node 'le_3'" {callee = "aten._assert_scalar.default"} : i1
    %lt_1 = aten.sym.lt(%item, 16) {joint.dims = ["u3 < 16"]} : (index) -> i1
    joint.assert %lt_1, "Runtime assertion failed for expression u3 < 16 on node 'lt_1'" {callee = "aten._assert_scalar.default"} : i1
    %slice_1 = aten.slice.Tensor(%p_emb_weight, 0, none, %item) {joint.dims = ["u3", "8"]} : (tensor<16x8xf32>, index) -> tensor<?x8xf32>
    %sum_2 = aten.sum(%slice_1) : (tensor<?x8xf32>) -> tensor<f32>
    %linear_1 = aten.linear(%index, %p_out_weight, %p_out_bias) {joint.dims = ["u1", "4"]} : (tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    %mul = aten.mul.Tensor(%masked_select, %masked_select) {joint.dims = ["u0"]} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %sum_3 = aten.sum(%mul) : (tensor<?xf32>) -> tensor<f32>
    %mul_1 = aten.mul.Tensor(%linear_1, %linear_1) {joint.dims = ["u1", "4"]} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %sum_4 = aten.sum(%mul_1) : (tensor<?x4xf32>) -> tensor<f32>
    %add = aten.add.Tensor(%sum_3, %sum_4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %mul_2 = aten.mul.Tensor(%index_1, %relu) : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
    %sum_5 = aten.sum(%mul_2) : (tensor<6x8xf32>) -> tensor<f32>
    %add_1 = aten.add.Tensor(%add, %sum_5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %add_2 = aten.add.Tensor(%add_1, %sum_2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    joint.output %add_2 : tensor<f32>
  }
}
