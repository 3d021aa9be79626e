placeholder primals_1 tensor 32768 s=0:32768 role=primal static
placeholder primals_2 tensor 8192 s=1:8192 role=primal static
placeholder primals_3 tensor 256 s=2:256 role=primal static
placeholder primals_4 tensor 256 s=3:256 role=primal static
placeholder primals_5 tensor 256 s=4:256 role=primal static
placeholder primals_6 tensor 256 s=5:256 role=primal static
placeholder primals_7 tensor 49152 s=6:49152 role=primal static
placeholder primals_8 tensor 768 s=7:768 role=primal static
placeholder primals_9 tensor 16384 s=8:16384 role=primal static
placeholder primals_10 tensor 256 s=9:256 role=primal static
placeholder primals_11 tensor 65536 s=10:65536 role=primal static
placeholder primals_12 tensor 1024 s=11:1024 role=primal static
placeholder primals_13 tensor 65536 s=12:65536 role=primal static
placeholder primals_14 tensor 256 s=13:256 role=primal static
placeholder primals_15 tensor 256 s=14:256 role=primal static
placeholder primals_16 tensor 256 s=15:256 role=primal static
placeholder primals_17 tensor 256 s=16:256 role=primal static
placeholder primals_18 tensor 256 s=17:256 role=primal static
placeholder primals_19 tensor 49152 s=18:49152 role=primal static
placeholder primals_20 tensor 768 s=19:768 role=primal static
placeholder primals_21 tensor 16384 s=20:16384 role=primal static
placeholder primals_22 tensor 256 s=21:256 role=primal static
placeholder primals_23 tensor 65536 s=22:65536 role=primal static
placeholder primals_24 tensor 1024 s=23:1024 role=primal static
placeholder primals_25 tensor 65536 s=24:65536 role=primal static
placeholder primals_26 tensor 256 s=25:256 role=primal static
placeholder primals_27 tensor 256 s=26:256 role=primal static
placeholder primals_28 tensor 256 s=27:256 role=primal static
placeholder primals_29 tensor 1024 s=28:1024 role=primal static
placeholder primals_30 tensor 1024 s=29:1024 role=primal static
placeholder primals_31 tensor 512 s=30:512 role=primal
placeholder primals_32 tensor 512 s=31:512 role=primal
placeholder tangents_1 tensor 4 s=32:4 role=tangent
call embedding tensor 16384 s=33:16384 aten.embedding.default %primals_1 %primals_31
call iota tensor 256 s=34:256 prims.iota.default i:32 kw:start i:0 kw:step i:1 kw:dtype t:torch.int64 kw:device t:device(type='cpu') kw:requires_grad b:0
call embedding_1 tensor 8192 s=35:8192 aten.embedding.default %primals_2 %iota
call add tensor 16384 s=36:16384 aten.add.Tensor %embedding %embedding_1
call clone tensor 16384 s=37:16384 aten.clone.default %add
call var_mean tuple 512 tag=PREFER_RECOMPUTE:3 aten.var_mean.correction %clone [ i:2 ] kw:correction i:0 kw:keepdim b:1
getitem getitem tensor 256 s=38:256 tag=PREFER_RECOMPUTE:3 operator.getitem %var_mean i:0
getitem getitem_1 tensor 256 s=39:256 tag=PREFER_RECOMPUTE:3 operator.getitem %var_mean i:1
call add_1 tensor 256 s=40:256 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %getitem f:1e-05
call rsqrt tensor 256 s=41:256 tag=PREFER_RECOMPUTE:3 aten.rsqrt.default %add_1
call sub tensor 16384 s=42:16384 tag=PREFER_RECOMPUTE:3 aten.sub.Tensor %clone %getitem_1
call mul tensor 16384 s=43:16384 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %sub %rsqrt
call mul_1 tensor 16384 s=44:16384 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %mul %primals_3
call add_2 tensor 16384 s=45:16384 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %mul_1 %primals_4
call view tensor 16384 s=45:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %add_2 [ i:64 i:64 ]
call permute tensor 49152 s=6:49152 tag=PREFER_RECOMPUTE:3 aten.permute.default %primals_7 [ i:1 i:0 ]
call addmm tensor 49152 s=46:49152 tag=MUST_SAVE:3 aten.addmm.default %primals_8 %view %permute
call view_1 tensor 49152 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.view.default %addmm [ i:2 i:32 i:192 ]
call split tuple 49152 tag=PREFER_RECOMPUTE:3 aten.split.Tensor %view_1 i:64 i:2
getitem getitem_2 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 operator.getitem %split i:0
getitem getitem_3 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 operator.getitem %split i:1
getitem getitem_4 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 operator.getitem %split i:2
call view_2 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.view.default %getitem_2 [ i:2 i:32 i:4 i:16 ]
call permute_1 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.permute.default %view_2 [ i:0 i:2 i:1 i:3 ]
call view_3 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.view.default %getitem_3 [ i:2 i:32 i:4 i:16 ]
call permute_2 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.permute.default %view_3 [ i:0 i:2 i:1 i:3 ]
call view_4 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.view.default %getitem_4 [ i:2 i:32 i:4 i:16 ]
call permute_3 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.permute.default %view_4 [ i:0 i:2 i:1 i:3 ]
call permute_4 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.permute.default %permute_2 [ i:0 i:1 i:3 i:2 ]
call expand tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.expand.default %permute_1 [ i:2 i:4 i:32 i:16 ]
call clone_1 tensor 16384 s=47:16384 tag=PREFER_RECOMPUTE:3 aten.clone.default %expand kw:memory_format t:torch.contiguous_format
call view_5 tensor 16384 s=47:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %clone_1 [ i:8 i:32 i:16 ]
call expand_1 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.expand.default %permute_4 [ i:2 i:4 i:16 i:32 ]
call clone_2 tensor 16384 s=48:16384 tag=PREFER_RECOMPUTE:3 aten.clone.default %expand_1 kw:memory_format t:torch.contiguous_format
call view_6 tensor 16384 s=48:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %clone_2 [ i:8 i:16 i:32 ]
call bmm tensor 32768 s=49:32768 tag=MUST_SAVE:3 aten.bmm.default %view_5 %view_6
call view_7 tensor 32768 s=49:32768 tag=PREFER_RECOMPUTE:3 aten.view.default %bmm [ i:2 i:4 i:32 i:32 ]
call div tensor 32768 s=50:32768 tag=PREFER_RECOMPUTE:3 aten.div.Tensor %view_7 f:4.0
call alias_26 tensor 1024 s=28:1024 tag=PREFER_RECOMPUTE:3 aten.alias.default %primals_29
call bitwise_not tensor 1024 s=51:1024 tag=PREFER_RECOMPUTE:3 aten.bitwise_not.default %alias_26
call scalar_tensor tensor 4 s=52:4 tag=PREFER_RECOMPUTE:3 aten.scalar_tensor.default f:-inf kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where tensor 32768 s=53:32768 tag=PREFER_RECOMPUTE:3 aten.where.self %bitwise_not %scalar_tensor %div
call amax tensor 1024 s=54:1024 tag=PREFER_RECOMPUTE:3 aten.amax.default %where [ i:-1 ] b:1
call sub_1 tensor 32768 s=55:32768 tag=PREFER_RECOMPUTE:3 aten.sub.Tensor %where %amax
call exp tensor 32768 s=56:32768 tag=PREFER_RECOMPUTE:3 aten.exp.default %sub_1
call sum_1 tensor 1024 s=57:1024 tag=PREFER_RECOMPUTE:3 aten.sum.dim_IntList %exp [ i:-1 ] b:1
call div_1 tensor 32768 s=58:32768 tag=PREFER_RECOMPUTE:3 aten.div.Tensor %exp %sum_1
call alias_31 tensor 32768 s=58:32768 tag=PREFER_RECOMPUTE:3 aten.alias.default %div_1
call clone_3 tensor 32768 s=59:32768 tag=PREFER_RECOMPUTE:3 aten.clone.default %div_1
call expand_2 tensor 32768 s=59:32768 tag=PREFER_RECOMPUTE:3 aten.expand.default %clone_3 [ i:2 i:4 i:32 i:32 ]
call view_8 tensor 32768 s=59:32768 tag=PREFER_RECOMPUTE:3 aten.view.default %expand_2 [ i:8 i:32 i:32 ]
call expand_3 tensor 16384 s=46:49152 tag=PREFER_RECOMPUTE:3 aten.expand.default %permute_3 [ i:2 i:4 i:32 i:16 ]
call clone_4 tensor 16384 s=60:16384 tag=PREFER_RECOMPUTE:3 aten.clone.default %expand_3 kw:memory_format t:torch.contiguous_format
call view_9 tensor 16384 s=60:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %clone_4 [ i:8 i:32 i:16 ]
call bmm_1 tensor 16384 s=61:16384 tag=MUST_SAVE:3 aten.bmm.default %view_8 %view_9
call view_10 tensor 16384 s=61:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %bmm_1 [ i:2 i:4 i:32 i:16 ]
call permute_5 tensor 16384 s=61:16384 tag=PREFER_RECOMPUTE:3 aten.permute.default %view_10 [ i:0 i:2 i:1 i:3 ]
call clone_5 tensor 16384 s=62:16384 tag=PREFER_RECOMPUTE:3 aten.clone.default %permute_5 kw:memory_format t:torch.contiguous_format
call view_11 tensor 16384 s=62:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %clone_5 [ i:2 i:32 i:64 ]
call view_12 tensor 16384 s=62:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %view_11 [ i:64 i:64 ]
call permute_6 tensor 16384 s=8:16384 tag=PREFER_RECOMPUTE:3 aten.permute.default %primals_9 [ i:1 i:0 ]
call addmm_1 tensor 16384 s=63:16384 tag=MUST_SAVE:3 aten.addmm.default %primals_10 %view_12 %permute_6
call view_13 tensor 16384 s=63:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %addmm_1 [ i:2 i:32 i:64 ]
call clone_6 tensor 16384 s=64:16384 tag=PREFER_RECOMPUTE:3 aten.clone.default %view_13
call add_3 tensor 16384 s=65:16384 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %clone %clone_6
call var_mean_1 tuple 512 tag=PREFER_RECOMPUTE:3 aten.var_mean.correction %add_3 [ i:2 ] kw:correction i:0 kw:keepdim b:1
getitem getitem_5 tensor 256 s=66:256 tag=PREFER_RECOMPUTE:3 operator.getitem %var_mean_1 i:0
getitem getitem_6 tensor 256 s=67:256 tag=PREFER_RECOMPUTE:3 operator.getitem %var_mean_1 i:1
call add_4 tensor 256 s=68:256 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %getitem_5 f:1e-05
call rsqrt_1 tensor 256 s=69:256 tag=PREFER_RECOMPUTE:3 aten.rsqrt.default %add_4
call sub_2 tensor 16384 s=70:16384 tag=PREFER_RECOMPUTE:3 aten.sub.Tensor %add_3 %getitem_6
call mul_2 tensor 16384 s=71:16384 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %sub_2 %rsqrt_1
call mul_3 tensor 16384 s=72:16384 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %mul_2 %primals_5
call add_5 tensor 16384 s=73:16384 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %mul_3 %primals_6
call view_14 tensor 16384 s=73:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %add_5 [ i:64 i:64 ]
call permute_7 tensor 65536 s=10:65536 tag=PREFER_RECOMPUTE:3 aten.permute.default %primals_11 [ i:1 i:0 ]
call addmm_2 tensor 65536 s=74:65536 tag=MUST_SAVE:3 aten.addmm.default %primals_12 %view_14 %permute_7
call view_15 tensor 65536 s=74:65536 tag=PREFER_RECOMPUTE:3 aten.view.default %addmm_2 [ i:2 i:32 i:256 ]
call mul_4 tensor 65536 s=75:65536 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %view_15 %view_15
call mul_5 tensor 65536 s=76:65536 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %mul_4 %view_15
call mul_6 tensor 65536 s=77:65536 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %mul_5 f:0.044715
call add_6 tensor 65536 s=78:65536 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %view_15 %mul_6
call mul_7 tensor 65536 s=79:65536 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %add_6 f:0.7978845608028654
call mul_8 tensor 65536 s=80:65536 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %view_15 f:0.5
call tanh tensor 65536 s=81:65536 tag=PREFER_RECOMPUTE:3 aten.tanh.default %mul_7
call add_7 tensor 65536 s=82:65536 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %tanh i:1
call mul_9 tensor 65536 s=83:65536 tag=PREFER_RECOMPUTE:3 aten.mul.Tensor %mul_8 %add_7
call view_16 tensor 65536 s=83:65536 tag=PREFER_RECOMPUTE:3 aten.view.default %mul_9 [ i:64 i:256 ]
call permute_8 tensor 65536 s=12:65536 tag=PREFER_RECOMPUTE:3 aten.permute.default %primals_13 [ i:1 i:0 ]
call addmm_3 tensor 16384 s=84:16384 tag=MUST_SAVE:3 aten.addmm.default %primals_14 %view_16 %permute_8
call view_17 tensor 16384 s=84:16384 tag=PREFER_RECOMPUTE:3 aten.view.default %addmm_3 [ i:2 i:32 i:64 ]
call clone_7 tensor 16384 s=85:16384 tag=PREFER_RECOMPUTE:3 aten.clone.default %view_17
call add_8 tensor 16384 s=86:16384 tag=PREFER_RECOMPUTE:3 aten.add.Tensor %add_3 %clone_7
call var_mean_2 tuple 512 tag=PREFER_RECOMPUTE:4 aten.var_mean.correction %add_8 [ i:2 ] kw:correction i:0 kw:keepdim b:1
getitem getitem_7 tensor 256 s=87:256 tag=PREFER_RECOMPUTE:4 operator.getitem %var_mean_2 i:0
getitem getitem_8 tensor 256 s=88:256 tag=PREFER_RECOMPUTE:4 operator.getitem %var_mean_2 i:1
call add_9 tensor 256 s=89:256 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %getitem_7 f:1e-05
call rsqrt_2 tensor 256 s=90:256 tag=PREFER_RECOMPUTE:4 aten.rsqrt.default %add_9
call sub_3 tensor 16384 s=91:16384 tag=PREFER_RECOMPUTE:4 aten.sub.Tensor %add_8 %getitem_8
call mul_10 tensor 16384 s=92:16384 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %sub_3 %rsqrt_2
call mul_11 tensor 16384 s=93:16384 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %mul_10 %primals_15
call add_10 tensor 16384 s=94:16384 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %mul_11 %primals_16
call view_18 tensor 16384 s=94:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %add_10 [ i:64 i:64 ]
call permute_9 tensor 49152 s=18:49152 tag=PREFER_RECOMPUTE:4 aten.permute.default %primals_19 [ i:1 i:0 ]
call addmm_4 tensor 49152 s=95:49152 tag=MUST_SAVE:4 aten.addmm.default %primals_20 %view_18 %permute_9
call view_19 tensor 49152 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.view.default %addmm_4 [ i:2 i:32 i:192 ]
call split_1 tuple 49152 tag=PREFER_RECOMPUTE:4 aten.split.Tensor %view_19 i:64 i:2
getitem getitem_9 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 operator.getitem %split_1 i:0
getitem getitem_10 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 operator.getitem %split_1 i:1
getitem getitem_11 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 operator.getitem %split_1 i:2
call view_20 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.view.default %getitem_9 [ i:2 i:32 i:4 i:16 ]
call permute_10 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.permute.default %view_20 [ i:0 i:2 i:1 i:3 ]
call view_21 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.view.default %getitem_10 [ i:2 i:32 i:4 i:16 ]
call permute_11 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.permute.default %view_21 [ i:0 i:2 i:1 i:3 ]
call view_22 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.view.default %getitem_11 [ i:2 i:32 i:4 i:16 ]
call permute_12 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.permute.default %view_22 [ i:0 i:2 i:1 i:3 ]
call permute_13 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.permute.default %permute_11 [ i:0 i:1 i:3 i:2 ]
call expand_4 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.expand.default %permute_10 [ i:2 i:4 i:32 i:16 ]
call clone_8 tensor 16384 s=96:16384 tag=PREFER_RECOMPUTE:4 aten.clone.default %expand_4 kw:memory_format t:torch.contiguous_format
call view_23 tensor 16384 s=96:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %clone_8 [ i:8 i:32 i:16 ]
call expand_5 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.expand.default %permute_13 [ i:2 i:4 i:16 i:32 ]
call clone_9 tensor 16384 s=97:16384 tag=PREFER_RECOMPUTE:4 aten.clone.default %expand_5 kw:memory_format t:torch.contiguous_format
call view_24 tensor 16384 s=97:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %clone_9 [ i:8 i:16 i:32 ]
call bmm_2 tensor 32768 s=98:32768 tag=MUST_SAVE:4 aten.bmm.default %view_23 %view_24
call view_25 tensor 32768 s=98:32768 tag=PREFER_RECOMPUTE:4 aten.view.default %bmm_2 [ i:2 i:4 i:32 i:32 ]
call div_2 tensor 32768 s=99:32768 tag=PREFER_RECOMPUTE:4 aten.div.Tensor %view_25 f:4.0
call alias_89 tensor 1024 s=29:1024 tag=PREFER_RECOMPUTE:4 aten.alias.default %primals_30
call bitwise_not_1 tensor 1024 s=100:1024 tag=PREFER_RECOMPUTE:4 aten.bitwise_not.default %alias_89
call scalar_tensor_1 tensor 4 s=101:4 tag=PREFER_RECOMPUTE:4 aten.scalar_tensor.default f:-inf kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_1 tensor 32768 s=102:32768 tag=PREFER_RECOMPUTE:4 aten.where.self %bitwise_not_1 %scalar_tensor_1 %div_2
call amax_1 tensor 1024 s=103:1024 tag=PREFER_RECOMPUTE:4 aten.amax.default %where_1 [ i:-1 ] b:1
call sub_4 tensor 32768 s=104:32768 tag=PREFER_RECOMPUTE:4 aten.sub.Tensor %where_1 %amax_1
call exp_1 tensor 32768 s=105:32768 tag=PREFER_RECOMPUTE:4 aten.exp.default %sub_4
call sum_2 tensor 1024 s=106:1024 tag=PREFER_RECOMPUTE:4 aten.sum.dim_IntList %exp_1 [ i:-1 ] b:1
call div_3 tensor 32768 s=107:32768 tag=PREFER_RECOMPUTE:4 aten.div.Tensor %exp_1 %sum_2
call alias_94 tensor 32768 s=107:32768 tag=PREFER_RECOMPUTE:4 aten.alias.default %div_3
call clone_10 tensor 32768 s=108:32768 tag=PREFER_RECOMPUTE:4 aten.clone.default %div_3
call expand_6 tensor 32768 s=108:32768 tag=PREFER_RECOMPUTE:4 aten.expand.default %clone_10 [ i:2 i:4 i:32 i:32 ]
call view_26 tensor 32768 s=108:32768 tag=PREFER_RECOMPUTE:4 aten.view.default %expand_6 [ i:8 i:32 i:32 ]
call expand_7 tensor 16384 s=95:49152 tag=PREFER_RECOMPUTE:4 aten.expand.default %permute_12 [ i:2 i:4 i:32 i:16 ]
call clone_11 tensor 16384 s=109:16384 tag=PREFER_RECOMPUTE:4 aten.clone.default %expand_7 kw:memory_format t:torch.contiguous_format
call view_27 tensor 16384 s=109:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %clone_11 [ i:8 i:32 i:16 ]
call bmm_3 tensor 16384 s=110:16384 tag=MUST_SAVE:4 aten.bmm.default %view_26 %view_27
call view_28 tensor 16384 s=110:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %bmm_3 [ i:2 i:4 i:32 i:16 ]
call permute_14 tensor 16384 s=110:16384 tag=PREFER_RECOMPUTE:4 aten.permute.default %view_28 [ i:0 i:2 i:1 i:3 ]
call clone_12 tensor 16384 s=111:16384 tag=PREFER_RECOMPUTE:4 aten.clone.default %permute_14 kw:memory_format t:torch.contiguous_format
call view_29 tensor 16384 s=111:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %clone_12 [ i:2 i:32 i:64 ]
call view_30 tensor 16384 s=111:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %view_29 [ i:64 i:64 ]
call permute_15 tensor 16384 s=20:16384 tag=PREFER_RECOMPUTE:4 aten.permute.default %primals_21 [ i:1 i:0 ]
call addmm_5 tensor 16384 s=112:16384 tag=MUST_SAVE:4 aten.addmm.default %primals_22 %view_30 %permute_15
call view_31 tensor 16384 s=112:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %addmm_5 [ i:2 i:32 i:64 ]
call clone_13 tensor 16384 s=113:16384 tag=PREFER_RECOMPUTE:4 aten.clone.default %view_31
call add_11 tensor 16384 s=114:16384 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %add_8 %clone_13
call var_mean_3 tuple 512 tag=PREFER_RECOMPUTE:4 aten.var_mean.correction %add_11 [ i:2 ] kw:correction i:0 kw:keepdim b:1
getitem getitem_12 tensor 256 s=115:256 tag=PREFER_RECOMPUTE:4 operator.getitem %var_mean_3 i:0
getitem getitem_13 tensor 256 s=116:256 tag=PREFER_RECOMPUTE:4 operator.getitem %var_mean_3 i:1
call add_12 tensor 256 s=117:256 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %getitem_12 f:1e-05
call rsqrt_3 tensor 256 s=118:256 tag=PREFER_RECOMPUTE:4 aten.rsqrt.default %add_12
call sub_5 tensor 16384 s=119:16384 tag=PREFER_RECOMPUTE:4 aten.sub.Tensor %add_11 %getitem_13
call mul_12 tensor 16384 s=120:16384 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %sub_5 %rsqrt_3
call mul_13 tensor 16384 s=121:16384 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %mul_12 %primals_17
call add_13 tensor 16384 s=122:16384 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %mul_13 %primals_18
call view_32 tensor 16384 s=122:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %add_13 [ i:64 i:64 ]
call permute_16 tensor 65536 s=22:65536 tag=PREFER_RECOMPUTE:4 aten.permute.default %primals_23 [ i:1 i:0 ]
call addmm_6 tensor 65536 s=123:65536 tag=MUST_SAVE:4 aten.addmm.default %primals_24 %view_32 %permute_16
call view_33 tensor 65536 s=123:65536 tag=PREFER_RECOMPUTE:4 aten.view.default %addmm_6 [ i:2 i:32 i:256 ]
call mul_14 tensor 65536 s=124:65536 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %view_33 %view_33
call mul_15 tensor 65536 s=125:65536 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %mul_14 %view_33
call mul_16 tensor 65536 s=126:65536 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %mul_15 f:0.044715
call add_14 tensor 65536 s=127:65536 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %view_33 %mul_16
call mul_17 tensor 65536 s=128:65536 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %add_14 f:0.7978845608028654
call mul_18 tensor 65536 s=129:65536 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %view_33 f:0.5
call tanh_1 tensor 65536 s=130:65536 tag=PREFER_RECOMPUTE:4 aten.tanh.default %mul_17
call add_15 tensor 65536 s=131:65536 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %tanh_1 i:1
call mul_19 tensor 65536 s=132:65536 tag=PREFER_RECOMPUTE:4 aten.mul.Tensor %mul_18 %add_15
call view_34 tensor 65536 s=132:65536 tag=PREFER_RECOMPUTE:4 aten.view.default %mul_19 [ i:64 i:256 ]
call permute_17 tensor 65536 s=24:65536 tag=PREFER_RECOMPUTE:4 aten.permute.default %primals_25 [ i:1 i:0 ]
call addmm_7 tensor 16384 s=133:16384 tag=MUST_SAVE:4 aten.addmm.default %primals_26 %view_34 %permute_17
call view_35 tensor 16384 s=133:16384 tag=PREFER_RECOMPUTE:4 aten.view.default %addmm_7 [ i:2 i:32 i:64 ]
call clone_14 tensor 16384 s=134:16384 tag=PREFER_RECOMPUTE:4 aten.clone.default %view_35
call add_16 tensor 16384 s=135:16384 tag=PREFER_RECOMPUTE:4 aten.add.Tensor %add_11 %clone_14
call var_mean_4 tuple 512 aten.var_mean.correction %add_16 [ i:2 ] kw:correction i:0 kw:keepdim b:1
getitem getitem_14 tensor 256 s=136:256 operator.getitem %var_mean_4 i:0
getitem getitem_15 tensor 256 s=137:256 operator.getitem %var_mean_4 i:1
call add_17 tensor 256 s=138:256 aten.add.Tensor %getitem_14 f:1e-05
call rsqrt_4 tensor 256 s=139:256 aten.rsqrt.default %add_17
call sub_6 tensor 16384 s=140:16384 aten.sub.Tensor %add_16 %getitem_15
call mul_20 tensor 16384 s=141:16384 aten.mul.Tensor %sub_6 %rsqrt_4
call mul_21 tensor 16384 s=142:16384 aten.mul.Tensor %mul_20 %primals_27
call add_18 tensor 16384 s=143:16384 aten.add.Tensor %mul_21 %primals_28
call permute_18 tensor 32768 s=0:32768 aten.permute.default %primals_1 [ i:1 i:0 ]
call view_36 tensor 16384 s=143:16384 aten.view.default %add_18 [ i:64 i:64 ]
call mm tensor 32768 s=144:32768 aten.mm.default %view_36 %permute_18
call view_37 tensor 32768 s=144:32768 aten.view.default %mm [ i:2 i:32 i:128 ]
call view_38 tensor 32768 s=144:32768 aten.view.default %view_37 [ i:64 i:128 ]
call view_39 tensor 512 s=31:512 aten.view.default %primals_32 [ i:64 ]
call amax_2 tensor 256 s=145:256 aten.amax.default %view_38 [ i:1 ] b:1
call sub_7 tensor 32768 s=146:32768 aten.sub.Tensor %view_38 %amax_2
call exp_2 tensor 32768 s=147:32768 aten.exp.default %sub_7
call sum_3 tensor 256 s=148:256 aten.sum.dim_IntList %exp_2 [ i:1 ] b:1
call log tensor 256 s=149:256 aten.log.default %sum_3
call sub_8 tensor 32768 s=150:32768 aten.sub.Tensor %sub_7 %log
call alias_126 tensor 32768 s=150:32768 aten.alias.default %sub_8
call ne tensor 64 s=151:64 aten.ne.Scalar %view_39 i:-100
call scalar_tensor_2 tensor 8 s=152:8 aten.scalar_tensor.default i:0 kw:dtype t:torch.int64 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_2 tensor 512 s=153:512 aten.where.self %ne %view_39 %scalar_tensor_2
call unsqueeze tensor 512 s=153:512 aten.unsqueeze.default %where_2 i:1
call gather tensor 256 s=154:256 aten.gather.default %sub_8 i:1 %unsqueeze
call squeeze tensor 256 s=154:256 aten.squeeze.dim %gather i:1
call neg tensor 256 s=155:256 aten.neg.default %squeeze
call ne_1 tensor 64 s=156:64 aten.ne.Scalar %view_39 i:-100
call scalar_tensor_3 tensor 4 s=157:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_3 tensor 256 s=158:256 aten.where.self %ne_1 %neg %scalar_tensor_3
call ne_2 tensor 64 s=159:64 aten.ne.Scalar %view_39 i:-100
call sum_4 tensor 8 s=160:8 aten.sum.default %ne_2
call convert_element_type tensor 4 s=161:4 prims.convert_element_type.default %sum_4 t:torch.float32
call sum_5 tensor 4 s=162:4 aten.sum.default %where_3
call div_4 tensor 4 s=163:4 aten.div.Tensor %sum_5 %convert_element_type
call div_5 tensor 4 s=164:4 aten.div.Tensor %tangents_1 %convert_element_type
call unsqueeze_1 tensor 512 s=31:512 aten.unsqueeze.default %view_39 i:1
call ne_3 tensor 64 s=165:64 aten.ne.Scalar %unsqueeze_1 i:-100
call scalar_tensor_4 tensor 8 s=166:8 aten.scalar_tensor.default i:0 kw:dtype t:torch.int64 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_4 tensor 512 s=167:512 aten.where.self %ne_3 %unsqueeze_1 %scalar_tensor_4
call full tensor 32768 s=168:32768 aten.full.default [ i:64 i:128 ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call scatter tensor 32768 s=169:32768 aten.scatter.value %full i:1 %where_4 f:-1.0
call ne_4 tensor 64 s=170:64 aten.ne.Scalar %unsqueeze_1 i:-100
call scalar_tensor_5 tensor 4 s=171:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_5 tensor 256 s=172:256 aten.where.self %ne_4 %div_5 %scalar_tensor_5
call mul_22 tensor 32768 s=173:32768 aten.mul.Tensor %scatter %where_5
call alias_127 tensor 32768 s=150:32768 aten.alias.default %alias_126
call exp_3 tensor 32768 s=174:32768 aten.exp.default %alias_127
call sum_6 tensor 256 s=175:256 aten.sum.dim_IntList %mul_22 [ i:1 ] b:1
call mul_23 tensor 32768 s=176:32768 aten.mul.Tensor %exp_3 %sum_6
call sub_9 tensor 32768 s=177:32768 aten.sub.Tensor %mul_22 %mul_23
call view_40 tensor 32768 s=177:32768 aten.view.default %sub_9 [ i:2 i:32 i:128 ]
call view_41 tensor 32768 s=177:32768 aten.view.default %view_40 [ i:64 i:128 ]
call permute_19 tensor 32768 s=177:32768 aten.permute.default %view_41 [ i:1 i:0 ]
call mm_1 tensor 32768 s=178:32768 aten.mm.default %permute_19 %view_36
call permute_20 tensor 32768 s=178:32768 aten.permute.default %mm_1 [ i:1 i:0 ]
call permute_21 tensor 32768 s=0:32768 aten.permute.default %permute_18 [ i:1 i:0 ]
call mm_2 tensor 16384 s=179:16384 aten.mm.default %view_41 %permute_21
call view_42 tensor 16384 s=179:16384 aten.view.default %mm_2 [ i:2 i:32 i:64 ]
call permute_22 tensor 32768 s=178:32768 aten.permute.default %permute_20 [ i:1 i:0 ]
call sub_10 tensor 16384 s=180:16384 aten.sub.Tensor %add_16 %getitem_15
call mul_24 tensor 16384 s=181:16384 aten.mul.Tensor %sub_10 %rsqrt_4
call mul_25 tensor 16384 s=182:16384 aten.mul.Tensor %view_42 %primals_27
call mul_26 tensor 16384 s=183:16384 aten.mul.Tensor %mul_25 i:64
call sum_7 tensor 256 s=184:256 aten.sum.dim_IntList %mul_25 [ i:2 ] b:1
call mul_27 tensor 16384 s=185:16384 aten.mul.Tensor %mul_25 %mul_24
call sum_8 tensor 256 s=186:256 aten.sum.dim_IntList %mul_27 [ i:2 ] b:1
call mul_28 tensor 16384 s=187:16384 aten.mul.Tensor %mul_24 %sum_8
call sub_11 tensor 16384 s=188:16384 aten.sub.Tensor %mul_26 %sum_7
call sub_12 tensor 16384 s=189:16384 aten.sub.Tensor %sub_11 %mul_28
call div_6 tensor 256 s=190:256 aten.div.Tensor %rsqrt_4 i:64
call mul_29 tensor 16384 s=191:16384 aten.mul.Tensor %div_6 %sub_12
call mul_30 tensor 16384 s=192:16384 aten.mul.Tensor %view_42 %mul_24
call sum_9 tensor 256 s=193:256 aten.sum.dim_IntList %mul_30 [ i:0 i:1 ]
call sum_10 tensor 256 s=194:256 aten.sum.dim_IntList %view_42 [ i:0 i:1 ]
call view_43 tensor 16384 s=191:16384 aten.view.default %mul_29 [ i:64 i:64 ]
call permute_23 tensor 65536 s=24:65536 aten.permute.default %permute_17 [ i:1 i:0 ]
call mm_3 tensor 65536 s=195:65536 aten.mm.default %view_43 %permute_23
call permute_24 tensor 16384 s=191:16384 aten.permute.default %view_43 [ i:1 i:0 ]
call mm_4 tensor 65536 s=196:65536 aten.mm.default %permute_24 %view_34
call permute_25 tensor 65536 s=196:65536 aten.permute.default %mm_4 [ i:1 i:0 ]
call sum_11 tensor 256 s=197:256 aten.sum.dim_IntList %view_43 [ i:0 ] b:1
call view_44 tensor 256 s=197:256 aten.view.default %sum_11 [ i:64 ]
call permute_26 tensor 65536 s=196:65536 aten.permute.default %permute_25 [ i:1 i:0 ]
call view_45 tensor 65536 s=195:65536 aten.view.default %mm_3 [ i:2 i:32 i:256 ]
call mul_31 tensor 65536 s=198:65536 aten.mul.Tensor %view_33 %view_33
call mul_32 tensor 65536 s=199:65536 aten.mul.Tensor %mul_31 %view_33
call mul_33 tensor 65536 s=200:65536 aten.mul.Tensor %mul_32 f:0.044715
call add_19 tensor 65536 s=201:65536 aten.add.Tensor %view_33 %mul_33
call mul_34 tensor 65536 s=202:65536 aten.mul.Tensor %add_19 f:0.7978845608028654
call tanh_2 tensor 65536 s=203:65536 aten.tanh.default %mul_34
call mul_35 tensor 65536 s=204:65536 aten.mul.Tensor %view_33 f:0.5
call add_20 tensor 65536 s=205:65536 aten.add.Tensor %tanh_2 i:1
call mul_36 tensor 65536 s=206:65536 aten.mul.Tensor %add_20 f:0.5
call mul_37 tensor 65536 s=207:65536 aten.mul.Tensor %tanh_2 %tanh_2
call sub_13 tensor 65536 s=208:65536 aten.sub.Tensor i:1 %mul_37
call mul_38 tensor 65536 s=209:65536 aten.mul.Tensor %mul_31 f:0.134145
call add_21 tensor 65536 s=210:65536 aten.add.Tensor %mul_38 i:1
call mul_39 tensor 65536 s=211:65536 aten.mul.Tensor %add_21 f:0.7978845608028654
call mul_40 tensor 65536 s=212:65536 aten.mul.Tensor %mul_35 %sub_13
call mul_41 tensor 65536 s=213:65536 aten.mul.Tensor %mul_40 %mul_39
call add_22 tensor 65536 s=214:65536 aten.add.Tensor %mul_36 %mul_41
call mul_42 tensor 65536 s=215:65536 aten.mul.Tensor %view_45 %add_22
call view_46 tensor 65536 s=215:65536 aten.view.default %mul_42 [ i:64 i:256 ]
call permute_27 tensor 65536 s=22:65536 aten.permute.default %permute_16 [ i:1 i:0 ]
call mm_5 tensor 16384 s=216:16384 aten.mm.default %view_46 %permute_27
call permute_28 tensor 65536 s=215:65536 aten.permute.default %view_46 [ i:1 i:0 ]
call mm_6 tensor 65536 s=217:65536 aten.mm.default %permute_28 %view_32
call permute_29 tensor 65536 s=217:65536 aten.permute.default %mm_6 [ i:1 i:0 ]
call sum_12 tensor 1024 s=218:1024 aten.sum.dim_IntList %view_46 [ i:0 ] b:1
call view_47 tensor 1024 s=218:1024 aten.view.default %sum_12 [ i:256 ]
call permute_30 tensor 65536 s=217:65536 aten.permute.default %permute_29 [ i:1 i:0 ]
call view_48 tensor 16384 s=216:16384 aten.view.default %mm_5 [ i:2 i:32 i:64 ]
call sub_14 tensor 16384 s=219:16384 aten.sub.Tensor %add_11 %getitem_13
call mul_43 tensor 16384 s=220:16384 aten.mul.Tensor %sub_14 %rsqrt_3
call mul_44 tensor 16384 s=221:16384 aten.mul.Tensor %view_48 %primals_17
call mul_45 tensor 16384 s=222:16384 aten.mul.Tensor %mul_44 i:64
call sum_13 tensor 256 s=223:256 aten.sum.dim_IntList %mul_44 [ i:2 ] b:1
call mul_46 tensor 16384 s=224:16384 aten.mul.Tensor %mul_44 %mul_43
call sum_14 tensor 256 s=225:256 aten.sum.dim_IntList %mul_46 [ i:2 ] b:1
call mul_47 tensor 16384 s=226:16384 aten.mul.Tensor %mul_43 %sum_14
call sub_15 tensor 16384 s=227:16384 aten.sub.Tensor %mul_45 %sum_13
call sub_16 tensor 16384 s=228:16384 aten.sub.Tensor %sub_15 %mul_47
call div_7 tensor 256 s=229:256 aten.div.Tensor %rsqrt_3 i:64
call mul_48 tensor 16384 s=230:16384 aten.mul.Tensor %div_7 %sub_16
call mul_49 tensor 16384 s=231:16384 aten.mul.Tensor %view_48 %mul_43
call sum_15 tensor 256 s=232:256 aten.sum.dim_IntList %mul_49 [ i:0 i:1 ]
call sum_16 tensor 256 s=233:256 aten.sum.dim_IntList %view_48 [ i:0 i:1 ]
call add_23 tensor 16384 s=234:16384 aten.add.Tensor %mul_29 %mul_48
call view_49 tensor 16384 s=234:16384 aten.view.default %add_23 [ i:64 i:64 ]
call permute_31 tensor 16384 s=20:16384 aten.permute.default %permute_15 [ i:1 i:0 ]
call mm_7 tensor 16384 s=235:16384 aten.mm.default %view_49 %permute_31
call permute_32 tensor 16384 s=234:16384 aten.permute.default %view_49 [ i:1 i:0 ]
call mm_8 tensor 16384 s=236:16384 aten.mm.default %permute_32 %view_30
call permute_33 tensor 16384 s=236:16384 aten.permute.default %mm_8 [ i:1 i:0 ]
call sum_17 tensor 256 s=237:256 aten.sum.dim_IntList %view_49 [ i:0 ] b:1
call view_50 tensor 256 s=237:256 aten.view.default %sum_17 [ i:64 ]
call permute_34 tensor 16384 s=236:16384 aten.permute.default %permute_33 [ i:1 i:0 ]
call view_51 tensor 16384 s=235:16384 aten.view.default %mm_7 [ i:2 i:32 i:64 ]
call view_52 tensor 16384 s=235:16384 aten.view.default %view_51 [ i:2 i:32 i:4 i:16 ]
call permute_35 tensor 16384 s=235:16384 aten.permute.default %view_52 [ i:0 i:2 i:1 i:3 ]
call clone_15 tensor 16384 s=238:16384 aten.clone.default %permute_35 kw:memory_format t:torch.contiguous_format
call view_53 tensor 16384 s=238:16384 aten.view.default %clone_15 [ i:8 i:32 i:16 ]
call permute_36 tensor 32768 s=108:32768 aten.permute.default %view_26 [ i:0 i:2 i:1 ]
call bmm_4 tensor 16384 s=239:16384 aten.bmm.default %permute_36 %view_53
call permute_37 tensor 16384 s=109:16384 aten.permute.default %view_27 [ i:0 i:2 i:1 ]
call bmm_5 tensor 32768 s=240:32768 aten.bmm.default %view_53 %permute_37
call view_54 tensor 16384 s=239:16384 aten.view.default %bmm_4 [ i:2 i:4 i:32 i:16 ]
call view_55 tensor 32768 s=240:32768 aten.view.default %bmm_5 [ i:2 i:4 i:32 i:32 ]
call alias_128 tensor 32768 s=107:32768 aten.alias.default %alias_94
call mul_50 tensor 32768 s=241:32768 aten.mul.Tensor %view_55 %alias_128
call sum_18 tensor 1024 s=242:1024 aten.sum.dim_IntList %mul_50 [ i:-1 ] b:1
call neg_1 tensor 32768 s=243:32768 aten.neg.default %alias_128
call fma tensor 32768 s=244:32768 prims.fma.default %neg_1 %sum_18 %mul_50
call scalar_tensor_6 tensor 4 s=245:4 aten.scalar_tensor.default f:0.0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_6 tensor 32768 s=246:32768 aten.where.self %bitwise_not_1 %scalar_tensor_6 %fma
call div_8 tensor 32768 s=247:32768 aten.div.Tensor %where_6 f:4.0
call view_56 tensor 32768 s=247:32768 aten.view.default %div_8 [ i:8 i:32 i:32 ]
call permute_38 tensor 16384 s=96:16384 aten.permute.default %view_23 [ i:0 i:2 i:1 ]
call bmm_6 tensor 16384 s=248:16384 aten.bmm.default %permute_38 %view_56
call permute_39 tensor 16384 s=97:16384 aten.permute.default %view_24 [ i:0 i:2 i:1 ]
call bmm_7 tensor 16384 s=249:16384 aten.bmm.default %view_56 %permute_39
call view_57 tensor 16384 s=248:16384 aten.view.default %bmm_6 [ i:2 i:4 i:16 i:32 ]
call view_58 tensor 16384 s=249:16384 aten.view.default %bmm_7 [ i:2 i:4 i:32 i:16 ]
call permute_40 tensor 16384 s=248:16384 aten.permute.default %view_57 [ i:0 i:1 i:3 i:2 ]
call permute_41 tensor 16384 s=239:16384 aten.permute.default %view_54 [ i:0 i:2 i:1 i:3 ]
call clone_16 tensor 16384 s=250:16384 aten.clone.default %permute_41 kw:memory_format t:torch.contiguous_format
call view_59 tensor 16384 s=250:16384 aten.view.default %clone_16 [ i:2 i:32 i:64 ]
call permute_42 tensor 16384 s=248:16384 aten.permute.default %permute_40 [ i:0 i:2 i:1 i:3 ]
call view_60 tensor 16384 s=248:16384 aten.view.default %permute_42 [ i:2 i:32 i:64 ]
call permute_43 tensor 16384 s=249:16384 aten.permute.default %view_58 [ i:0 i:2 i:1 i:3 ]
call clone_17 tensor 16384 s=251:16384 aten.clone.default %permute_43 kw:memory_format t:torch.contiguous_format
call view_61 tensor 16384 s=251:16384 aten.view.default %clone_17 [ i:2 i:32 i:64 ]
call cat tensor 49152 s=252:49152 aten.cat.default [ %view_61 %view_60 %view_59 ] i:2
call view_62 tensor 49152 s=252:49152 aten.view.default %cat [ i:64 i:192 ]
call permute_44 tensor 49152 s=18:49152 aten.permute.default %permute_9 [ i:1 i:0 ]
call mm_9 tensor 16384 s=253:16384 aten.mm.default %view_62 %permute_44
call permute_45 tensor 49152 s=252:49152 aten.permute.default %view_62 [ i:1 i:0 ]
call mm_10 tensor 49152 s=254:49152 aten.mm.default %permute_45 %view_18
call permute_46 tensor 49152 s=254:49152 aten.permute.default %mm_10 [ i:1 i:0 ]
call sum_19 tensor 768 s=255:768 aten.sum.dim_IntList %view_62 [ i:0 ] b:1
call view_63 tensor 768 s=255:768 aten.view.default %sum_19 [ i:192 ]
call permute_47 tensor 49152 s=254:49152 aten.permute.default %permute_46 [ i:1 i:0 ]
call view_64 tensor 16384 s=253:16384 aten.view.default %mm_9 [ i:2 i:32 i:64 ]
call sub_17 tensor 16384 s=256:16384 aten.sub.Tensor %add_8 %getitem_8
call mul_51 tensor 16384 s=257:16384 aten.mul.Tensor %sub_17 %rsqrt_2
call mul_52 tensor 16384 s=258:16384 aten.mul.Tensor %view_64 %primals_15
call mul_53 tensor 16384 s=259:16384 aten.mul.Tensor %mul_52 i:64
call sum_20 tensor 256 s=260:256 aten.sum.dim_IntList %mul_52 [ i:2 ] b:1
call mul_54 tensor 16384 s=261:16384 aten.mul.Tensor %mul_52 %mul_51
call sum_21 tensor 256 s=262:256 aten.sum.dim_IntList %mul_54 [ i:2 ] b:1
call mul_55 tensor 16384 s=263:16384 aten.mul.Tensor %mul_51 %sum_21
call sub_18 tensor 16384 s=264:16384 aten.sub.Tensor %mul_53 %sum_20
call sub_19 tensor 16384 s=265:16384 aten.sub.Tensor %sub_18 %mul_55
call div_9 tensor 256 s=266:256 aten.div.Tensor %rsqrt_2 i:64
call mul_56 tensor 16384 s=267:16384 aten.mul.Tensor %div_9 %sub_19
call mul_57 tensor 16384 s=268:16384 aten.mul.Tensor %view_64 %mul_51
call sum_22 tensor 256 s=269:256 aten.sum.dim_IntList %mul_57 [ i:0 i:1 ]
call sum_23 tensor 256 s=270:256 aten.sum.dim_IntList %view_64 [ i:0 i:1 ]
call add_24 tensor 16384 s=271:16384 aten.add.Tensor %add_23 %mul_56
call view_65 tensor 16384 s=271:16384 aten.view.default %add_24 [ i:64 i:64 ]
call permute_48 tensor 65536 s=12:65536 aten.permute.default %permute_8 [ i:1 i:0 ]
call mm_11 tensor 65536 s=272:65536 aten.mm.default %view_65 %permute_48
call permute_49 tensor 16384 s=271:16384 aten.permute.default %view_65 [ i:1 i:0 ]
call mm_12 tensor 65536 s=273:65536 aten.mm.default %permute_49 %view_16
call permute_50 tensor 65536 s=273:65536 aten.permute.default %mm_12 [ i:1 i:0 ]
call sum_24 tensor 256 s=274:256 aten.sum.dim_IntList %view_65 [ i:0 ] b:1
call view_66 tensor 256 s=274:256 aten.view.default %sum_24 [ i:64 ]
call permute_51 tensor 65536 s=273:65536 aten.permute.default %permute_50 [ i:1 i:0 ]
call view_67 tensor 65536 s=272:65536 aten.view.default %mm_11 [ i:2 i:32 i:256 ]
call mul_58 tensor 65536 s=275:65536 aten.mul.Tensor %view_15 %view_15
call mul_59 tensor 65536 s=276:65536 aten.mul.Tensor %mul_58 %view_15
call mul_60 tensor 65536 s=277:65536 aten.mul.Tensor %mul_59 f:0.044715
call add_25 tensor 65536 s=278:65536 aten.add.Tensor %view_15 %mul_60
call mul_61 tensor 65536 s=279:65536 aten.mul.Tensor %add_25 f:0.7978845608028654
call tanh_3 tensor 65536 s=280:65536 aten.tanh.default %mul_61
call mul_62 tensor 65536 s=281:65536 aten.mul.Tensor %view_15 f:0.5
call add_26 tensor 65536 s=282:65536 aten.add.Tensor %tanh_3 i:1
call mul_63 tensor 65536 s=283:65536 aten.mul.Tensor %add_26 f:0.5
call mul_64 tensor 65536 s=284:65536 aten.mul.Tensor %tanh_3 %tanh_3
call sub_20 tensor 65536 s=285:65536 aten.sub.Tensor i:1 %mul_64
call mul_65 tensor 65536 s=286:65536 aten.mul.Tensor %mul_58 f:0.134145
call add_27 tensor 65536 s=287:65536 aten.add.Tensor %mul_65 i:1
call mul_66 tensor 65536 s=288:65536 aten.mul.Tensor %add_27 f:0.7978845608028654
call mul_67 tensor 65536 s=289:65536 aten.mul.Tensor %mul_62 %sub_20
call mul_68 tensor 65536 s=290:65536 aten.mul.Tensor %mul_67 %mul_66
call add_28 tensor 65536 s=291:65536 aten.add.Tensor %mul_63 %mul_68
call mul_69 tensor 65536 s=292:65536 aten.mul.Tensor %view_67 %add_28
call view_68 tensor 65536 s=292:65536 aten.view.default %mul_69 [ i:64 i:256 ]
call permute_52 tensor 65536 s=10:65536 aten.permute.default %permute_7 [ i:1 i:0 ]
call mm_13 tensor 16384 s=293:16384 aten.mm.default %view_68 %permute_52
call permute_53 tensor 65536 s=292:65536 aten.permute.default %view_68 [ i:1 i:0 ]
call mm_14 tensor 65536 s=294:65536 aten.mm.default %permute_53 %view_14
call permute_54 tensor 65536 s=294:65536 aten.permute.default %mm_14 [ i:1 i:0 ]
call sum_25 tensor 1024 s=295:1024 aten.sum.dim_IntList %view_68 [ i:0 ] b:1
call view_69 tensor 1024 s=295:1024 aten.view.default %sum_25 [ i:256 ]
call permute_55 tensor 65536 s=294:65536 aten.permute.default %permute_54 [ i:1 i:0 ]
call view_70 tensor 16384 s=293:16384 aten.view.default %mm_13 [ i:2 i:32 i:64 ]
call sub_21 tensor 16384 s=296:16384 aten.sub.Tensor %add_3 %getitem_6
call mul_70 tensor 16384 s=297:16384 aten.mul.Tensor %sub_21 %rsqrt_1
call mul_71 tensor 16384 s=298:16384 aten.mul.Tensor %view_70 %primals_5
call mul_72 tensor 16384 s=299:16384 aten.mul.Tensor %mul_71 i:64
call sum_26 tensor 256 s=300:256 aten.sum.dim_IntList %mul_71 [ i:2 ] b:1
call mul_73 tensor 16384 s=301:16384 aten.mul.Tensor %mul_71 %mul_70
call sum_27 tensor 256 s=302:256 aten.sum.dim_IntList %mul_73 [ i:2 ] b:1
call mul_74 tensor 16384 s=303:16384 aten.mul.Tensor %mul_70 %sum_27
call sub_22 tensor 16384 s=304:16384 aten.sub.Tensor %mul_72 %sum_26
call sub_23 tensor 16384 s=305:16384 aten.sub.Tensor %sub_22 %mul_74
call div_10 tensor 256 s=306:256 aten.div.Tensor %rsqrt_1 i:64
call mul_75 tensor 16384 s=307:16384 aten.mul.Tensor %div_10 %sub_23
call mul_76 tensor 16384 s=308:16384 aten.mul.Tensor %view_70 %mul_70
call sum_28 tensor 256 s=309:256 aten.sum.dim_IntList %mul_76 [ i:0 i:1 ]
call sum_29 tensor 256 s=310:256 aten.sum.dim_IntList %view_70 [ i:0 i:1 ]
call add_29 tensor 16384 s=311:16384 aten.add.Tensor %add_24 %mul_75
call view_71 tensor 16384 s=311:16384 aten.view.default %add_29 [ i:64 i:64 ]
call permute_56 tensor 16384 s=8:16384 aten.permute.default %permute_6 [ i:1 i:0 ]
call mm_15 tensor 16384 s=312:16384 aten.mm.default %view_71 %permute_56
call permute_57 tensor 16384 s=311:16384 aten.permute.default %view_71 [ i:1 i:0 ]
call mm_16 tensor 16384 s=313:16384 aten.mm.default %permute_57 %view_12
call permute_58 tensor 16384 s=313:16384 aten.permute.default %mm_16 [ i:1 i:0 ]
call sum_30 tensor 256 s=314:256 aten.sum.dim_IntList %view_71 [ i:0 ] b:1
call view_72 tensor 256 s=314:256 aten.view.default %sum_30 [ i:64 ]
call permute_59 tensor 16384 s=313:16384 aten.permute.default %permute_58 [ i:1 i:0 ]
call view_73 tensor 16384 s=312:16384 aten.view.default %mm_15 [ i:2 i:32 i:64 ]
call view_74 tensor 16384 s=312:16384 aten.view.default %view_73 [ i:2 i:32 i:4 i:16 ]
call permute_60 tensor 16384 s=312:16384 aten.permute.default %view_74 [ i:0 i:2 i:1 i:3 ]
call clone_18 tensor 16384 s=315:16384 aten.clone.default %permute_60 kw:memory_format t:torch.contiguous_format
call view_75 tensor 16384 s=315:16384 aten.view.default %clone_18 [ i:8 i:32 i:16 ]
call permute_61 tensor 32768 s=59:32768 aten.permute.default %view_8 [ i:0 i:2 i:1 ]
call bmm_8 tensor 16384 s=316:16384 aten.bmm.default %permute_61 %view_75
call permute_62 tensor 16384 s=60:16384 aten.permute.default %view_9 [ i:0 i:2 i:1 ]
call bmm_9 tensor 32768 s=317:32768 aten.bmm.default %view_75 %permute_62
call view_76 tensor 16384 s=316:16384 aten.view.default %bmm_8 [ i:2 i:4 i:32 i:16 ]
call view_77 tensor 32768 s=317:32768 aten.view.default %bmm_9 [ i:2 i:4 i:32 i:32 ]
call alias_129 tensor 32768 s=58:32768 aten.alias.default %alias_31
call mul_77 tensor 32768 s=318:32768 aten.mul.Tensor %view_77 %alias_129
call sum_31 tensor 1024 s=319:1024 aten.sum.dim_IntList %mul_77 [ i:-1 ] b:1
call neg_2 tensor 32768 s=320:32768 aten.neg.default %alias_129
call fma_1 tensor 32768 s=321:32768 prims.fma.default %neg_2 %sum_31 %mul_77
call scalar_tensor_7 tensor 4 s=322:4 aten.scalar_tensor.default f:0.0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_7 tensor 32768 s=323:32768 aten.where.self %bitwise_not %scalar_tensor_7 %fma_1
call div_11 tensor 32768 s=324:32768 aten.div.Tensor %where_7 f:4.0
call view_78 tensor 32768 s=324:32768 aten.view.default %div_11 [ i:8 i:32 i:32 ]
call permute_63 tensor 16384 s=47:16384 aten.permute.default %view_5 [ i:0 i:2 i:1 ]
call bmm_10 tensor 16384 s=325:16384 aten.bmm.default %permute_63 %view_78
call permute_64 tensor 16384 s=48:16384 aten.permute.default %view_6 [ i:0 i:2 i:1 ]
call bmm_11 tensor 16384 s=326:16384 aten.bmm.default %view_78 %permute_64
call view_79 tensor 16384 s=325:16384 aten.view.default %bmm_10 [ i:2 i:4 i:16 i:32 ]
call view_80 tensor 16384 s=326:16384 aten.view.default %bmm_11 [ i:2 i:4 i:32 i:16 ]
call permute_65 tensor 16384 s=325:16384 aten.permute.default %view_79 [ i:0 i:1 i:3 i:2 ]
call permute_66 tensor 16384 s=316:16384 aten.permute.default %view_76 [ i:0 i:2 i:1 i:3 ]
call clone_19 tensor 16384 s=327:16384 aten.clone.default %permute_66 kw:memory_format t:torch.contiguous_format
call view_81 tensor 16384 s=327:16384 aten.view.default %clone_19 [ i:2 i:32 i:64 ]
call permute_67 tensor 16384 s=325:16384 aten.permute.default %permute_65 [ i:0 i:2 i:1 i:3 ]
call view_82 tensor 16384 s=325:16384 aten.view.default %permute_67 [ i:2 i:32 i:64 ]
call permute_68 tensor 16384 s=326:16384 aten.permute.default %view_80 [ i:0 i:2 i:1 i:3 ]
call clone_20 tensor 16384 s=328:16384 aten.clone.default %permute_68 kw:memory_format t:torch.contiguous_format
call view_83 tensor 16384 s=328:16384 aten.view.default %clone_20 [ i:2 i:32 i:64 ]
call cat_1 tensor 49152 s=329:49152 aten.cat.default [ %view_83 %view_82 %view_81 ] i:2
call view_84 tensor 49152 s=329:49152 aten.view.default %cat_1 [ i:64 i:192 ]
call permute_69 tensor 49152 s=6:49152 aten.permute.default %permute [ i:1 i:0 ]
call mm_17 tensor 16384 s=330:16384 aten.mm.default %view_84 %permute_69
call permute_70 tensor 49152 s=329:49152 aten.permute.default %view_84 [ i:1 i:0 ]
call mm_18 tensor 49152 s=331:49152 aten.mm.default %permute_70 %view
call permute_71 tensor 49152 s=331:49152 aten.permute.default %mm_18 [ i:1 i:0 ]
call sum_32 tensor 768 s=332:768 aten.sum.dim_IntList %view_84 [ i:0 ] b:1
call view_85 tensor 768 s=332:768 aten.view.default %sum_32 [ i:192 ]
call permute_72 tensor 49152 s=331:49152 aten.permute.default %permute_71 [ i:1 i:0 ]
call view_86 tensor 16384 s=330:16384 aten.view.default %mm_17 [ i:2 i:32 i:64 ]
call sub_24 tensor 16384 s=333:16384 aten.sub.Tensor %clone %getitem_1
call mul_78 tensor 16384 s=334:16384 aten.mul.Tensor %sub_24 %rsqrt
call mul_79 tensor 16384 s=335:16384 aten.mul.Tensor %view_86 %primals_3
call mul_80 tensor 16384 s=336:16384 aten.mul.Tensor %mul_79 i:64
call sum_33 tensor 256 s=337:256 aten.sum.dim_IntList %mul_79 [ i:2 ] b:1
call mul_81 tensor 16384 s=338:16384 aten.mul.Tensor %mul_79 %mul_78
call sum_34 tensor 256 s=339:256 aten.sum.dim_IntList %mul_81 [ i:2 ] b:1
call mul_82 tensor 16384 s=340:16384 aten.mul.Tensor %mul_78 %sum_34
call sub_25 tensor 16384 s=341:16384 aten.sub.Tensor %mul_80 %sum_33
call sub_26 tensor 16384 s=342:16384 aten.sub.Tensor %sub_25 %mul_82
call div_12 tensor 256 s=343:256 aten.div.Tensor %rsqrt i:64
call mul_83 tensor 16384 s=344:16384 aten.mul.Tensor %div_12 %sub_26
call mul_84 tensor 16384 s=345:16384 aten.mul.Tensor %view_86 %mul_78
call sum_35 tensor 256 s=346:256 aten.sum.dim_IntList %mul_84 [ i:0 i:1 ]
call sum_36 tensor 256 s=347:256 aten.sum.dim_IntList %view_86 [ i:0 i:1 ]
call add_30 tensor 16384 s=348:16384 aten.add.Tensor %add_29 %mul_83
call sum_37 tensor 8192 s=349:8192 aten.sum.dim_IntList %add_30 [ i:0 ] b:1
call view_87 tensor 8192 s=349:8192 aten.view.default %sum_37 [ i:32 i:64 ]
call ge tensor 32 s=350:32 aten.ge.Scalar %iota i:0
call lt tensor 32 s=351:32 aten.lt.Scalar %iota i:32
call bitwise_and tensor 32 s=352:32 aten.bitwise_and.Tensor %ge %lt
call ne_5 tensor 32 s=353:32 aten.ne.Scalar %iota i:-1
call bitwise_and_1 tensor 32 s=354:32 aten.bitwise_and.Tensor %bitwise_and %ne_5
call unsqueeze_2 tensor 32 s=354:32 aten.unsqueeze.default %bitwise_and_1 i:-1
call full_1 tensor 8192 s=355:8192 aten.full.default [ i:32 i:64 ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call _unsafe_masked_index_put_accumulate tensor 8192 s=356:8192 aten._unsafe_masked_index_put_accumulate.default %full_1 %unsqueeze_2 [ %iota ] %view_87
call ge_1 tensor 64 s=357:64 aten.ge.Scalar %primals_31 i:0
call lt_1 tensor 64 s=358:64 aten.lt.Scalar %primals_31 i:128
call bitwise_and_2 tensor 64 s=359:64 aten.bitwise_and.Tensor %ge_1 %lt_1
call ne_6 tensor 64 s=360:64 aten.ne.Scalar %primals_31 i:-1
call bitwise_and_3 tensor 64 s=361:64 aten.bitwise_and.Tensor %bitwise_and_2 %ne_6
call unsqueeze_3 tensor 64 s=361:64 aten.unsqueeze.default %bitwise_and_3 i:-1
call full_2 tensor 32768 s=362:32768 aten.full.default [ i:128 i:64 ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call _unsafe_masked_index_put_accumulate_1 tensor 32768 s=363:32768 aten._unsafe_masked_index_put_accumulate.default %full_2 %unsqueeze_3 [ %primals_31 ] %add_30
call add_31 tensor 32768 s=364:32768 aten.add.Tensor %permute_22 %_unsafe_masked_index_put_accumulate_1
output 1 div_4 add_31 _unsafe_masked_index_put_accumulate sum_35 sum_36 sum_28 sum_29 permute_72 view_85 permute_59 view_72 permute_55 view_69 permute_51 view_66 sum_22 sum_23 sum_15 sum_16 permute_47 view_63 permute_34 view_50 permute_30 view_47 permute_26 view_44 sum_9 sum_10 None None None None
