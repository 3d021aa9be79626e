placeholder primals_1 tensor 6400 s=0:6400 role=primal static
placeholder primals_2 tensor 3200 s=1:3200 role=primal static
placeholder primals_3 tensor 12800 s=2:12800 role=primal static
placeholder primals_4 tensor 1664 s=3:1664 role=primal static
placeholder primals_5 tensor 128 s=4:128 role=primal static
placeholder primals_6 tensor 2048 s=5:2048 role=primal static
placeholder primals_7 tensor 64 s=6:64 role=primal static
placeholder primals_8 tensor 2816 s=7:2816 role=primal static
placeholder primals_9 tensor 128 s=8:128 role=primal static
placeholder primals_10 tensor 128 s=9:128 role=primal static
placeholder primals_11 tensor 4 s=10:4 role=primal static
placeholder primals_12 tensor 48 s=11:48 role=primal static
placeholder primals_13 tensor 416 s=12:416 role=primal syms=s25
placeholder primals_14 tensor 32 s=13:32 role=primal syms=s25
placeholder primals_15 tensor 192 s=14:192 role=primal syms=s70
placeholder primals_16 tensor 192 s=15:192 role=primal syms=s70
placeholder primals_17 tensor 192 s=16:192 role=primal syms=s70
placeholder primals_18 tensor 64 s=17:64 role=primal syms=s25
placeholder primals_19 tensor 64 s=18:64 role=primal syms=s25
placeholder primals_20 tensor 64 s=19:64 role=primal syms=s25
placeholder tangents_1 tensor 4 s=20:4 role=tangent
call permute tensor 1664 s=3:1664 aten.permute.default %primals_4 [ i:1 i:0 ]
call sym_size_int symint 0 syms=s25 aten.sym_size.int %primals_13 i:0
call addmm tensor 1024 s=21:1024 syms=s25 aten.addmm.default %primals_5 %primals_13 %permute
call relu tensor 1024 s=22:1024 syms=s25 aten.relu.default %addmm
call alias tensor 1024 s=22:1024 syms=s25 aten.alias.default %relu
call permute_1 tensor 2048 s=5:2048 aten.permute.default %primals_6 [ i:1 i:0 ]
call addmm_1 tensor 512 s=23:512 syms=s25 aten.addmm.default %primals_7 %relu %permute_1
call relu_1 tensor 512 s=24:512 syms=s25 aten.relu.default %addmm_1
call alias_1 tensor 512 s=24:512 syms=s25 aten.alias.default %relu_1
call _embedding_bag tuple 640 aten._embedding_bag.default %primals_1 %primals_15 %primals_18
getitem getitem tensor 512 s=25:512 syms=s25 operator.getitem %_embedding_bag i:0
getitem getitem_1 tensor 0 s=26:0 operator.getitem %_embedding_bag i:1
getitem getitem_2 tensor 64 s=27:64 syms=s25 operator.getitem %_embedding_bag i:2
getitem getitem_3 tensor 64 s=28:64 syms=s25 operator.getitem %_embedding_bag i:3
call _embedding_bag_1 tuple 640 aten._embedding_bag.default %primals_2 %primals_16 %primals_19
getitem getitem_4 tensor 512 s=29:512 syms=s25 operator.getitem %_embedding_bag_1 i:0
getitem getitem_5 tensor 0 s=30:0 operator.getitem %_embedding_bag_1 i:1
getitem getitem_6 tensor 64 s=31:64 syms=s25 operator.getitem %_embedding_bag_1 i:2
getitem getitem_7 tensor 64 s=32:64 syms=s25 operator.getitem %_embedding_bag_1 i:3
call _embedding_bag_2 tuple 640 aten._embedding_bag.default %primals_3 %primals_17 %primals_20
getitem getitem_8 tensor 512 s=33:512 syms=s25 operator.getitem %_embedding_bag_2 i:0
getitem getitem_9 tensor 0 s=34:0 operator.getitem %_embedding_bag_2 i:1
getitem getitem_10 tensor 64 s=35:64 syms=s25 operator.getitem %_embedding_bag_2 i:2
getitem getitem_11 tensor 64 s=36:64 syms=s25 operator.getitem %_embedding_bag_2 i:3
call cat tensor 2048 s=37:2048 syms=s25 aten.cat.default [ %relu_1 %getitem %getitem_4 %getitem_8 ] i:1
call view tensor 2048 s=37:2048 syms=s25 aten.view.default %cat [ %sym_size_int i:4 i:16 ]
call permute_2 tensor 2048 s=37:2048 syms=s25 aten.permute.default %view [ i:0 i:2 i:1 ]
call bmm tensor 512 s=38:512 syms=s25 aten.bmm.default %view %permute_2
call view_1 tensor 512 s=38:512 syms=s25 aten.view.default %bmm [ %sym_size_int i:16 ]
call slice_1 tensor 512 s=38:512 syms=s25 aten.slice.Tensor %view_1 i:0 i:0 i:9223372036854775807
call sym_size_int_7 symint 0 syms=s25 aten.sym_size.int %slice_1 i:0
call index tensor 192 s=39:192 syms=s25 aten.index.Tensor %slice_1 [ t:None %primals_12 ]
call cat_1 tensor 704 s=40:704 syms=s25 aten.cat.default [ %relu_1 %index ] i:1
call permute_3 tensor 2816 s=7:2816 aten.permute.default %primals_8 [ i:1 i:0 ]
call addmm_2 tensor 1024 s=41:1024 syms=s25 aten.addmm.default %primals_9 %cat_1 %permute_3
call relu_2 tensor 1024 s=42:1024 syms=s25 aten.relu.default %addmm_2
call alias_2 tensor 1024 s=42:1024 syms=s25 aten.alias.default %relu_2
call permute_4 tensor 128 s=9:128 aten.permute.default %primals_10 [ i:1 i:0 ]
call addmm_3 tensor 32 s=43:32 syms=s25 aten.addmm.default %primals_11 %relu_2 %permute_4
call squeeze tensor 32 s=43:32 syms=s25 aten.squeeze.dim %addmm_3 i:1
call sub_27 tensor 32 s=44:32 syms=s25 aten.sub.Tensor i:1 %primals_14
call mul_50 tensor 32 s=45:32 syms=s25 aten.mul.Tensor %sub_27 %squeeze
call full tensor 4 s=46:4 aten.full.default [ ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call minimum tensor 32 s=47:32 syms=s25 aten.minimum.default %full %squeeze
call abs_1 tensor 32 s=48:32 syms=s25 aten.abs.default %squeeze
call neg tensor 32 s=49:32 syms=s25 aten.neg.default %abs_1
call exp tensor 32 s=50:32 syms=s25 aten.exp.default %neg
call log1p tensor 32 s=51:32 syms=s25 aten.log1p.default %exp
call sub_28 tensor 32 s=52:32 syms=s25 aten.sub.Tensor %minimum %log1p
call sub_29 tensor 32 s=53:32 syms=s25 aten.sub.Tensor %mul_50 %sub_28
call mean tensor 4 s=54:4 aten.mean.default %sub_29
call sigmoid tensor 32 s=55:32 syms=s25 aten.sigmoid.default %squeeze
call sub_30 tensor 32 s=56:32 syms=s25 aten.sub.Tensor %sigmoid %primals_14
call mul_51 tensor 32 s=57:32 syms=s25 aten.mul.Tensor %sub_30 %tangents_1
call div tensor 32 s=58:32 syms=s25 aten.div.Scalar %mul_51 %sym_size_int
call permute_5 tensor 128 s=9:128 aten.permute.default %permute_4 [ i:1 i:0 ]
call unsqueeze_1 tensor 32 s=58:32 syms=s25 aten.unsqueeze.default %div i:1
call mm tensor 1024 s=59:1024 syms=s25 aten.mm.default %unsqueeze_1 %permute_5
call unsqueeze_2 tensor 32 s=58:32 syms=s25 aten.unsqueeze.default %div i:1
call permute_7 tensor 32 s=58:32 syms=s25 aten.permute.default %unsqueeze_2 [ i:1 i:0 ]
call mm_1 tensor 128 s=60:128 aten.mm.default %permute_7 %relu_2
call permute_8 tensor 128 s=60:128 aten.permute.default %mm_1 [ i:1 i:0 ]
call sum_1 tensor 4 s=61:4 aten.sum.dim_IntList %unsqueeze_1 [ i:0 ] b:1
call view_2 tensor 4 s=61:4 aten.view.default %sum_1 [ i:1 ]
call permute_9 tensor 128 s=60:128 aten.permute.default %permute_8 [ i:1 i:0 ]
call alias_3 tensor 1024 s=42:1024 syms=s25 aten.alias.default %alias_2
call le_1 tensor 256 s=62:256 syms=s25 aten.le.Scalar %alias_3 i:0
call scalar_tensor tensor 4 s=63:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where tensor 1024 s=64:1024 syms=s25 aten.where.self %le_1 %scalar_tensor %mm
call permute_10 tensor 2816 s=7:2816 aten.permute.default %permute_3 [ i:1 i:0 ]
call mm_2 tensor 704 s=65:704 syms=s25 aten.mm.default %where %permute_10
call permute_11 tensor 1024 s=64:1024 syms=s25 aten.permute.default %where [ i:1 i:0 ]
call mm_3 tensor 2816 s=66:2816 aten.mm.default %permute_11 %cat_1
call permute_12 tensor 2816 s=66:2816 aten.permute.default %mm_3 [ i:1 i:0 ]
call sum_2 tensor 128 s=67:128 aten.sum.dim_IntList %where [ i:0 ] b:1
call view_3 tensor 128 s=67:128 aten.view.default %sum_2 [ i:32 ]
call permute_13 tensor 2816 s=66:2816 aten.permute.default %permute_12 [ i:1 i:0 ]
call slice_2 tensor 512 s=65:704 syms=s25 aten.slice.Tensor %mm_2 i:1 i:0 i:16
call slice_3 tensor 192 s=65:704 syms=s25 aten.slice.Tensor %mm_2 i:1 i:16 i:22
call full_1 tensor 512 s=68:512 syms=s25 aten.full.default [ %sym_size_int_7 i:16 ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call index_put tensor 512 s=69:512 syms=s25 aten.index_put.default %full_1 [ t:None %primals_12 ] %slice_3 b:1
call full_2 tensor 512 s=70:512 syms=s25 aten.full.default [ %sym_size_int i:16 ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call slice_scatter tensor 512 s=71:512 syms=s25 aten.slice_scatter.default %full_2 %index_put i:0 i:0 i:9223372036854775807
call view_4 tensor 512 s=71:512 syms=s25 aten.view.default %slice_scatter [ %sym_size_int i:4 i:4 ]
call permute_14 tensor 2048 s=37:2048 syms=s25 aten.permute.default %view [ i:0 i:2 i:1 ]
call bmm_1 tensor 2048 s=72:2048 syms=s25 aten.bmm.default %permute_14 %view_4
call permute_15 tensor 2048 s=37:2048 syms=s25 aten.permute.default %permute_2 [ i:0 i:2 i:1 ]
call bmm_2 tensor 2048 s=73:2048 syms=s25 aten.bmm.default %view_4 %permute_15
call permute_16 tensor 2048 s=72:2048 syms=s25 aten.permute.default %bmm_1 [ i:0 i:2 i:1 ]
call add_77 tensor 2048 s=74:2048 syms=s25 aten.add.Tensor %bmm_2 %permute_16
call select tensor 512 s=74:2048 syms=s25 aten.select.int %add_77 i:1 i:0
call select_1 tensor 512 s=74:2048 syms=s25 aten.select.int %add_77 i:1 i:1
call select_2 tensor 512 s=74:2048 syms=s25 aten.select.int %add_77 i:1 i:2
call select_3 tensor 512 s=74:2048 syms=s25 aten.select.int %add_77 i:1 i:3
call add_78 tensor 512 s=75:512 syms=s25 aten.add.Tensor %slice_2 %select
call _embedding_bag_backward tensor 12800 s=76:12800 aten._embedding_bag_backward.default %select_3 %primals_17 %primals_20 %getitem_9 %getitem_10 %getitem_11 i:200 b:0 i:0 b:0 t:None
call _embedding_bag_backward_1 tensor 3200 s=77:3200 aten._embedding_bag_backward.default %select_2 %primals_16 %primals_19 %getitem_5 %getitem_6 %getitem_7 i:50 b:0 i:0 b:0 t:None
call _embedding_bag_backward_2 tensor 6400 s=78:6400 aten._embedding_bag_backward.default %select_1 %primals_15 %primals_18 %getitem_1 %getitem_2 %getitem_3 i:100 b:0 i:0 b:0 t:None
call alias_4 tensor 512 s=24:512 syms=s25 aten.alias.default %alias_1
call le_2 tensor 128 s=79:128 syms=s25 aten.le.Scalar %alias_4 i:0
call scalar_tensor_1 tensor 4 s=80:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_1 tensor 512 s=81:512 syms=s25 aten.where.self %le_2 %scalar_tensor_1 %add_78
call permute_17 tensor 2048 s=5:2048 aten.permute.default %permute_1 [ i:1 i:0 ]
call mm_4 tensor 1024 s=82:1024 syms=s25 aten.mm.default %where_1 %permute_17
call permute_18 tensor 512 s=81:512 syms=s25 aten.permute.default %where_1 [ i:1 i:0 ]
call mm_5 tensor 2048 s=83:2048 aten.mm.default %permute_18 %relu
call permute_19 tensor 2048 s=83:2048 aten.permute.default %mm_5 [ i:1 i:0 ]
call sum_3 tensor 64 s=84:64 aten.sum.dim_IntList %where_1 [ i:0 ] b:1
call view_5 tensor 64 s=84:64 aten.view.default %sum_3 [ i:16 ]
call permute_20 tensor 2048 s=83:2048 aten.permute.default %permute_19 [ i:1 i:0 ]
call alias_5 tensor 1024 s=22:1024 syms=s25 aten.alias.default %alias
call le_3 tensor 256 s=85:256 syms=s25 aten.le.Scalar %alias_5 i:0
call scalar_tensor_2 tensor 4 s=86:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_2 tensor 1024 s=87:1024 syms=s25 aten.where.self %le_3 %scalar_tensor_2 %mm_4
call permute_21 tensor 1024 s=87:1024 syms=s25 aten.permute.default %where_2 [ i:1 i:0 ]
call mm_6 tensor 1664 s=88:1664 aten.mm.default %permute_21 %primals_13
call permute_22 tensor 1664 s=88:1664 aten.permute.default %mm_6 [ i:1 i:0 ]
call sum_4 tensor 128 s=89:128 aten.sum.dim_IntList %where_2 [ i:0 ] b:1
call view_6 tensor 128 s=89:128 aten.view.default %sum_4 [ i:32 ]
call permute_23 tensor 1664 s=88:1664 aten.permute.default %permute_22 [ i:1 i:0 ]
output 1 mean _embedding_bag_backward_2 _embedding_bag_backward_1 _embedding_bag_backward permute_23 view_6 permute_20 view_5 permute_13 view_3 permute_9 view_2 None None None None None None None None None
