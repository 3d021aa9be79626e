placeholder primals_1 tensor 64 s=0:64 role=primal static
placeholder primals_2 tensor 12 s=1:12 role=primal static
placeholder primals_3 tensor 512 s=2:512 role=primal static
placeholder primals_4 tensor 64 s=3:64 role=primal static
placeholder primals_5 tensor 256 s=4:256 role=primal static
placeholder primals_6 tensor 16 s=5:16 role=primal static
placeholder primals_7 tensor 256 s=6:256 role=primal static
placeholder primals_8 tensor 16 s=7:16 role=primal static
placeholder primals_9 tensor 4 s=8:4 role=primal static
placeholder primals_10 tensor 192 s=9:192 role=primal syms=s29
placeholder primals_11 tensor 48 s=10:48 role=primal syms=s29
placeholder tangents_1 tensor 4 s=11:4 role=tangent
call permute tensor 512 s=2:512 aten.permute.default %primals_3 [ i:1 i:0 ]
call sym_size_int symint 0 syms=s29 aten.sym_size.int %primals_10 i:0
call addmm tensor 384 s=12:384 syms=s29 aten.addmm.default %primals_4 %primals_10 %permute
call relu tensor 384 s=13:384 syms=s29 aten.relu.default %addmm
call alias tensor 384 s=13:384 syms=s29 aten.alias.default %relu
call add_9 tensor 384 s=14:384 syms=s29 aten.add.Tensor %relu %primals_1
call abs_1 tensor 384 s=15:384 syms=s29 aten.abs.default %add_9
call amax tensor 24 s=16:24 syms=s29 aten.amax.default %abs_1 [ i:1 ] b:1
call clamp_min tensor 24 s=17:24 syms=s29 aten.clamp_min.default %amax f:0.001
call div tensor 384 s=18:384 syms=s29 aten.div.Tensor %add_9 %clamp_min
call permute_1 tensor 256 s=4:256 aten.permute.default %primals_5 [ i:1 i:0 ]
call addmm_1 tensor 96 s=19:96 syms=s29 aten.addmm.default %primals_6 %div %permute_1
call alias_1 tensor 384 s=18:384 syms=s29 aten.alias.default %div
call permute_2 tensor 256 s=6:256 aten.permute.default %primals_7 [ i:1 i:0 ]
call addmm_2 tensor 96 s=20:96 syms=s29 aten.addmm.default %primals_8 %alias_1 %permute_2
call amax_1 tensor 24 s=21:24 syms=s29 aten.amax.default %addmm_2 [ i:-1 ] b:1
call sub_11 tensor 96 s=22:96 syms=s29 aten.sub.Tensor %addmm_2 %amax_1
call exp tensor 96 s=23:96 syms=s29 aten.exp.default %sub_11
call sum_1 tensor 24 s=24:24 syms=s29 aten.sum.dim_IntList %exp [ i:-1 ] b:1
call log tensor 24 s=25:24 syms=s29 aten.log.default %sum_1
call sub_12 tensor 96 s=26:96 syms=s29 aten.sub.Tensor %sub_11 %log
call alias_2 tensor 96 s=26:96 syms=s29 aten.alias.default %sub_12
call amax_2 tensor 24 s=27:24 syms=s29 aten.amax.default %addmm_1 [ i:1 ] b:1
call sub_15 tensor 96 s=28:96 syms=s29 aten.sub.Tensor %addmm_1 %amax_2
call exp_1 tensor 96 s=29:96 syms=s29 aten.exp.default %sub_15
call sum_2 tensor 24 s=30:24 syms=s29 aten.sum.dim_IntList %exp_1 [ i:1 ] b:1
call log_1 tensor 24 s=31:24 syms=s29 aten.log.default %sum_2
call sub_16 tensor 96 s=32:96 syms=s29 aten.sub.Tensor %sub_15 %log_1
call alias_3 tensor 96 s=32:96 syms=s29 aten.alias.default %sub_16
call ne tensor 6 s=33:6 syms=s29 aten.ne.Scalar %primals_11 i:-100
call scalar_tensor tensor 8 s=34:8 aten.scalar_tensor.default i:0 kw:dtype t:torch.int64 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where tensor 48 s=35:48 syms=s29 aten.where.self %ne %primals_11 %scalar_tensor
call unsqueeze tensor 48 s=35:48 syms=s29 aten.unsqueeze.default %where i:1
call gather tensor 24 s=36:24 syms=s29 aten.gather.default %sub_16 i:1 %unsqueeze
call squeeze tensor 24 s=36:24 syms=s29 aten.squeeze.dim %gather i:1
call neg tensor 24 s=37:24 syms=s29 aten.neg.default %squeeze
call ne_1 tensor 6 s=38:6 syms=s29 aten.ne.Scalar %primals_11 i:-100
call scalar_tensor_1 tensor 4 s=39:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_1 tensor 24 s=40:24 syms=s29 aten.where.self %ne_1 %neg %scalar_tensor_1
call ne_2 tensor 6 s=41:6 syms=s29 aten.ne.Scalar %primals_11 i:-100
call sum_3 tensor 8 s=42:8 aten.sum.default %ne_2
call convert_element_type tensor 4 s=43:4 prims.convert_element_type.default %sum_3 t:torch.float32
call sum_4 tensor 4 s=44:4 aten.sum.default %where_1
call div_1 tensor 4 s=45:4 aten.div.Tensor %sum_4 %convert_element_type
call amax_3 tensor 24 s=46:24 syms=s29 aten.amax.default %sub_12 [ i:1 ] b:1
call sub_19 tensor 96 s=47:96 syms=s29 aten.sub.Tensor %sub_12 %amax_3
call exp_2 tensor 96 s=48:96 syms=s29 aten.exp.default %sub_19
call sum_5 tensor 24 s=49:24 syms=s29 aten.sum.dim_IntList %exp_2 [ i:1 ] b:1
call log_2 tensor 24 s=50:24 syms=s29 aten.log.default %sum_5
call sub_20 tensor 96 s=51:96 syms=s29 aten.sub.Tensor %sub_19 %log_2
call alias_4 tensor 96 s=51:96 syms=s29 aten.alias.default %sub_20
call ne_3 tensor 6 s=52:6 syms=s29 aten.ne.Scalar %primals_11 i:-100
call scalar_tensor_2 tensor 8 s=53:8 aten.scalar_tensor.default i:0 kw:dtype t:torch.int64 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_2 tensor 48 s=54:48 syms=s29 aten.where.self %ne_3 %primals_11 %scalar_tensor_2
call unsqueeze_1 tensor 48 s=54:48 syms=s29 aten.unsqueeze.default %where_2 i:1
call gather_1 tensor 24 s=55:24 syms=s29 aten.gather.default %sub_20 i:1 %unsqueeze_1
call squeeze_1 tensor 24 s=55:24 syms=s29 aten.squeeze.dim %gather_1 i:1
call neg_1 tensor 24 s=56:24 syms=s29 aten.neg.default %squeeze_1
call ne_4 tensor 6 s=57:6 syms=s29 aten.ne.Scalar %primals_11 i:-100
call scalar_tensor_3 tensor 4 s=58:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_3 tensor 24 s=59:24 syms=s29 aten.where.self %ne_4 %neg_1 %scalar_tensor_3
call ne_5 tensor 6 s=60:6 syms=s29 aten.ne.Scalar %primals_11 i:-100
call sum_6 tensor 8 s=61:8 aten.sum.default %ne_5
call convert_element_type_1 tensor 4 s=62:4 prims.convert_element_type.default %sum_6 t:torch.float32
call sum_7 tensor 4 s=63:4 aten.sum.default %where_3
call div_2 tensor 4 s=64:4 aten.div.Tensor %sum_7 %convert_element_type_1
call add_52 tensor 4 s=65:4 aten.add.Tensor %div_1 %div_2
call amax_4 tensor 24 s=66:24 syms=s29 aten.amax.default %addmm_1 [ i:-1 ] b:1
call sub_23 tensor 96 s=67:96 syms=s29 aten.sub.Tensor %addmm_1 %amax_4
call exp_3 tensor 96 s=68:96 syms=s29 aten.exp.default %sub_23
call sum_8 tensor 24 s=69:24 syms=s29 aten.sum.dim_IntList %exp_3 [ i:-1 ] b:1
call log_3 tensor 24 s=70:24 syms=s29 aten.log.default %sum_8
call sub_24 tensor 96 s=71:96 syms=s29 aten.sub.Tensor %sub_23 %log_3
call alias_5 tensor 96 s=71:96 syms=s29 aten.alias.default %sub_24
call alias_6 tensor 96 s=26:96 syms=s29 aten.alias.default %sub_12
call sub_28 tensor 96 s=72:96 syms=s29 aten.sub.Tensor %alias_6 %sub_24
call exp_4 tensor 96 s=73:96 syms=s29 aten.exp.default %alias_6
call mul_48 tensor 96 s=74:96 syms=s29 aten.mul.Tensor %exp_4 %sub_28
call sum_9 tensor 4 s=75:4 aten.sum.default %mul_48
call div_3 tensor 4 s=76:4 aten.div.Tensor %sum_9 %sym_size_int
call mul_51 tensor 4 s=77:4 aten.mul.Tensor %div_3 f:0.1
call add_71 tensor 4 s=78:4 aten.add.Tensor %add_52 %mul_51
call add_72 tensor 4 s=79:4 aten.add.Tensor %primals_9 i:6
call alias_7 tensor 96 s=19:96 syms=s29 aten.alias.default %addmm_1
call argmax tensor 48 s=80:48 syms=s29 aten.argmax.default %addmm_1 i:-1
call alias_8 tensor 24 s=17:24 syms=s29 aten.alias.default %clamp_min
call mul_56 tensor 4 s=81:4 aten.mul.Tensor %tangents_1 f:0.1
call div_4 tensor 4 s=82:4 aten.div.Tensor %mul_56 %sym_size_int
call expand tensor 96 s=82:4 syms=s29 aten.expand.default %div_4 [ %sym_size_int i:4 ]
call mul_57 tensor 96 s=83:96 syms=s29 aten.mul.Tensor %expand %exp_4
call neg_2 tensor 96 s=84:96 syms=s29 aten.neg.default %mul_57
call alias_9 tensor 96 s=71:96 syms=s29 aten.alias.default %alias_5
call exp_5 tensor 96 s=85:96 syms=s29 aten.exp.default %alias_9
call sum_10 tensor 24 s=86:24 syms=s29 aten.sum.dim_IntList %neg_2 [ i:-1 ] b:1
call mul_58 tensor 96 s=87:96 syms=s29 aten.mul.Tensor %exp_5 %sum_10
call sub_35 tensor 96 s=88:96 syms=s29 aten.sub.Tensor %neg_2 %mul_58
call div_5 tensor 4 s=89:4 aten.div.Tensor %tangents_1 %convert_element_type_1
call unsqueeze_2 tensor 48 s=10:48 syms=s29 aten.unsqueeze.default %primals_11 i:1
call ne_6 tensor 6 s=90:6 syms=s29 aten.ne.Scalar %unsqueeze_2 i:-100
call scalar_tensor_4 tensor 8 s=91:8 aten.scalar_tensor.default i:0 kw:dtype t:torch.int64 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_4 tensor 48 s=92:48 syms=s29 aten.where.self %ne_6 %unsqueeze_2 %scalar_tensor_4
call full tensor 96 s=93:96 syms=s29 aten.full.default [ %sym_size_int i:4 ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call scatter tensor 96 s=94:96 syms=s29 aten.scatter.value %full i:1 %where_4 f:-1.0
call ne_7 tensor 6 s=95:6 syms=s29 aten.ne.Scalar %unsqueeze_2 i:-100
call scalar_tensor_5 tensor 4 s=96:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_5 tensor 24 s=97:24 syms=s29 aten.where.self %ne_7 %div_5 %scalar_tensor_5
call mul_59 tensor 96 s=98:96 syms=s29 aten.mul.Tensor %scatter %where_5
call alias_10 tensor 96 s=51:96 syms=s29 aten.alias.default %alias_4
call exp_6 tensor 96 s=99:96 syms=s29 aten.exp.default %alias_10
call sum_11 tensor 24 s=100:24 syms=s29 aten.sum.dim_IntList %mul_59 [ i:1 ] b:1
call mul_60 tensor 96 s=101:96 syms=s29 aten.mul.Tensor %exp_6 %sum_11
call sub_36 tensor 96 s=102:96 syms=s29 aten.sub.Tensor %mul_59 %mul_60
call div_6 tensor 4 s=103:4 aten.div.Tensor %tangents_1 %convert_element_type
call unsqueeze_3 tensor 48 s=10:48 syms=s29 aten.unsqueeze.default %primals_11 i:1
call ne_8 tensor 6 s=104:6 syms=s29 aten.ne.Scalar %unsqueeze_3 i:-100
call scalar_tensor_6 tensor 8 s=105:8 aten.scalar_tensor.default i:0 kw:dtype t:torch.int64 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_6 tensor 48 s=106:48 syms=s29 aten.where.self %ne_8 %unsqueeze_3 %scalar_tensor_6
call full_1 tensor 96 s=107:96 syms=s29 aten.full.default [ %sym_size_int i:4 ] i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu') kw:pin_memory b:0
call scatter_1 tensor 96 s=108:96 syms=s29 aten.scatter.value %full_1 i:1 %where_6 f:-1.0
call ne_9 tensor 6 s=109:6 syms=s29 aten.ne.Scalar %unsqueeze_3 i:-100
call scalar_tensor_7 tensor 4 s=110:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_7 tensor 24 s=111:24 syms=s29 aten.where.self %ne_9 %div_6 %scalar_tensor_7
call mul_61 tensor 96 s=112:96 syms=s29 aten.mul.Tensor %scatter_1 %where_7
call alias_11 tensor 96 s=32:96 syms=s29 aten.alias.default %alias_3
call exp_7 tensor 96 s=113:96 syms=s29 aten.exp.default %alias_11
call sum_12 tensor 24 s=114:24 syms=s29 aten.sum.dim_IntList %mul_61 [ i:1 ] b:1
call mul_62 tensor 96 s=115:96 syms=s29 aten.mul.Tensor %exp_7 %sum_12
call sub_37 tensor 96 s=116:96 syms=s29 aten.sub.Tensor %mul_61 %mul_62
call add_81 tensor 96 s=117:96 syms=s29 aten.add.Tensor %sub_35 %sub_37
call alias_12 tensor 96 s=26:96 syms=s29 aten.alias.default %alias_2
call exp_8 tensor 96 s=118:96 syms=s29 aten.exp.default %alias_12
call sum_13 tensor 24 s=119:24 syms=s29 aten.sum.dim_IntList %sub_36 [ i:-1 ] b:1
call mul_63 tensor 96 s=120:96 syms=s29 aten.mul.Tensor %exp_8 %sum_13
call sub_38 tensor 96 s=121:96 syms=s29 aten.sub.Tensor %sub_36 %mul_63
call permute_3 tensor 96 s=121:96 syms=s29 aten.permute.default %sub_38 [ i:1 i:0 ]
call mm tensor 256 s=122:256 aten.mm.default %permute_3 %alias_1
call permute_4 tensor 256 s=122:256 aten.permute.default %mm [ i:1 i:0 ]
call sum_14 tensor 16 s=123:16 aten.sum.dim_IntList %sub_38 [ i:0 ] b:1
call view tensor 16 s=123:16 aten.view.default %sum_14 [ i:4 ]
call permute_5 tensor 256 s=122:256 aten.permute.default %permute_4 [ i:1 i:0 ]
call permute_6 tensor 256 s=4:256 aten.permute.default %permute_1 [ i:1 i:0 ]
call mm_1 tensor 384 s=124:384 syms=s29 aten.mm.default %add_81 %permute_6
call permute_7 tensor 96 s=117:96 syms=s29 aten.permute.default %add_81 [ i:1 i:0 ]
call mm_2 tensor 256 s=125:256 aten.mm.default %permute_7 %div
call permute_8 tensor 256 s=125:256 aten.permute.default %mm_2 [ i:1 i:0 ]
call sum_15 tensor 16 s=126:16 aten.sum.dim_IntList %add_81 [ i:0 ] b:1
call view_1 tensor 16 s=126:16 aten.view.default %sum_15 [ i:4 ]
call permute_9 tensor 256 s=125:256 aten.permute.default %permute_8 [ i:1 i:0 ]
call div_7 tensor 384 s=127:384 syms=s29 aten.div.Tensor %mm_1 %clamp_min
call alias_13 tensor 384 s=13:384 syms=s29 aten.alias.default %alias
call le tensor 96 s=128:96 syms=s29 aten.le.Scalar %alias_13 i:0
call scalar_tensor_8 tensor 4 s=129:4 aten.scalar_tensor.default i:0 kw:dtype t:torch.float32 kw:layout t:torch.strided kw:device t:device(type='cpu')
call where_8 tensor 384 s=130:384 syms=s29 aten.where.self %le %scalar_tensor_8 %div_7
call permute_10 tensor 384 s=130:384 syms=s29 aten.permute.default %where_8 [ i:1 i:0 ]
call mm_3 tensor 512 s=131:512 aten.mm.default %permute_10 %primals_10
call permute_11 tensor 512 s=131:512 aten.permute.default %mm_3 [ i:1 i:0 ]
call sum_16 tensor 64 s=132:64 aten.sum.dim_IntList %where_8 [ i:0 ] b:1
call view_2 tensor 64 s=132:64 aten.view.default %sum_16 [ i:16 ]
call permute_12 tensor 512 s=131:512 aten.permute.default %permute_11 [ i:1 i:0 ]
call copy_ tensor 4 s=8:4 flags=mutable dest=primals_9 aten.copy_.default %primals_9 %add_72
output 4 add_71 alias_7 argmax alias_8 None None permute_12 view_2 permute_9 view_1 permute_5 view None None None
