placeholder primals_1 tensor 4096 s=0:4096 role=primal static
placeholder primals_2 tensor 256 s=1:256 role=primal static
placeholder primals_3 tensor 16384 s=2:16384 role=primal static
placeholder primals_4 tensor 256 s=3:256 role=primal static
placeholder primals_5 tensor 2048 s=4:2048 role=primal static
placeholder primals_6 tensor 32 s=5:32 role=primal static
placeholder primals_7 tensor 2048 s=6:2048 role=primal syms=s1
placeholder primals_8 tensor 1024 s=7:1024 role=primal syms=s1
placeholder tangents_1 tensor 4 s=8:4 role=tangent
call permute tensor 4096 s=0:4096 aten.permute.default %primals_1 [ i:1 i:0 ]
call addmm tensor 8192 s=9:8192 syms=s1 aten.addmm.default %primals_2 %primals_7 %permute
call mul_2 tensor 8192 s=10:8192 syms=s1 aten.mul.Tensor %addmm f:0.5
call mul_3 tensor 8192 s=11:8192 syms=s1 aten.mul.Tensor %addmm f:0.7071067811865476
call erf tensor 8192 s=12:8192 syms=s1 aten.erf.default %mul_3
call add_3 tensor 8192 s=13:8192 syms=s1 aten.add.Tensor %erf i:1
call mul_4 tensor 8192 s=14:8192 syms=s1 aten.mul.Tensor %mul_2 %add_3
call permute_1 tensor 16384 s=2:16384 aten.permute.default %primals_3 [ i:1 i:0 ]
call addmm_1 tensor 8192 s=15:8192 syms=s1 aten.addmm.default %primals_4 %mul_4 %permute_1
call tanh tensor 8192 s=16:8192 syms=s1 aten.tanh.default %addmm_1
call alias tensor 8192 s=16:8192 syms=s1 aten.alias.default %tanh
call permute_2 tensor 2048 s=4:2048 aten.permute.default %primals_5 [ i:1 i:0 ]
call addmm_2 tensor 1024 s=17:1024 syms=s1 aten.addmm.default %primals_6 %tanh %permute_2
call sub_6 tensor 1024 s=18:1024 syms=s1 aten.sub.Tensor %addmm_2 %primals_8
call pow_1 tensor 1024 s=19:1024 syms=s1 aten.pow.Tensor_Scalar %sub_6 i:2
call mean tensor 4 s=20:4 aten.mean.default %pow_1
call sub_7 tensor 1024 s=21:1024 syms=s1 aten.sub.Tensor %addmm_2 %primals_8
call sym_numel_default symint 0 syms=s1 aten.sym_numel.default %addmm_2
call sym_float symfloat 0 syms=s1 torch.sym_float %sym_numel_default
call truediv symfloat 0 syms=s1 operator.truediv f:2.0 %sym_float
call mul_15 tensor 1024 s=22:1024 syms=s1 aten.mul.Tensor %sub_7 %truediv
call mul_16 tensor 1024 s=23:1024 syms=s1 aten.mul.Tensor %mul_15 %tangents_1
call permute_3 tensor 2048 s=4:2048 aten.permute.default %permute_2 [ i:1 i:0 ]
call mm tensor 8192 s=24:8192 syms=s1 aten.mm.default %mul_16 %permute_3
call permute_4 tensor 1024 s=23:1024 syms=s1 aten.permute.default %mul_16 [ i:1 i:0 ]
call mm_1 tensor 2048 s=25:2048 aten.mm.default %permute_4 %tanh
call permute_5 tensor 2048 s=25:2048 aten.permute.default %mm_1 [ i:1 i:0 ]
call sum_1 tensor 32 s=26:32 aten.sum.dim_IntList %mul_16 [ i:0 ] b:1
call view tensor 32 s=26:32 aten.view.default %sum_1 [ i:8 ]
call permute_6 tensor 2048 s=25:2048 aten.permute.default %permute_5 [ i:1 i:0 ]
call alias_1 tensor 8192 s=16:8192 syms=s1 aten.alias.default %alias
call mul_17 tensor 8192 s=27:8192 syms=s1 aten.mul.Tensor %alias_1 %alias_1
call sub_8 tensor 8192 s=28:8192 syms=s1 aten.sub.Tensor i:1 %mul_17
call mul_18 tensor 8192 s=29:8192 syms=s1 aten.mul.Tensor %mm %sub_8
call permute_7 tensor 16384 s=2:16384 aten.permute.default %permute_1 [ i:1 i:0 ]
call mm_2 tensor 8192 s=30:8192 syms=s1 aten.mm.default %mul_18 %permute_7
call permute_8 tensor 8192 s=29:8192 syms=s1 aten.permute.default %mul_18 [ i:1 i:0 ]
call mm_3 tensor 16384 s=31:16384 aten.mm.default %permute_8 %mul_4
call permute_9 tensor 16384 s=31:16384 aten.permute.default %mm_3 [ i:1 i:0 ]
call sum_2 tensor 256 s=32:256 aten.sum.dim_IntList %mul_18 [ i:0 ] b:1
call view_1 tensor 256 s=32:256 aten.view.default %sum_2 [ i:64 ]
call permute_10 tensor 16384 s=31:16384 aten.permute.default %permute_9 [ i:1 i:0 ]
call mul_19 tensor 8192 s=33:8192 syms=s1 aten.mul.Tensor %addmm f:0.7071067811865476
call erf_1 tensor 8192 s=34:8192 syms=s1 aten.erf.default %mul_19
call add_19 tensor 8192 s=35:8192 syms=s1 aten.add.Tensor %erf_1 i:1
call mul_20 tensor 8192 s=36:8192 syms=s1 aten.mul.Tensor %add_19 f:0.5
call mul_21 tensor 8192 s=37:8192 syms=s1 aten.mul.Tensor %addmm %addmm
call mul_22 tensor 8192 s=38:8192 syms=s1 aten.mul.Tensor %mul_21 f:-0.5
call exp tensor 8192 s=39:8192 syms=s1 aten.exp.default %mul_22
call mul_23 tensor 8192 s=40:8192 syms=s1 aten.mul.Tensor %exp f:0.3989422804014327
call mul_24 tensor 8192 s=41:8192 syms=s1 aten.mul.Tensor %addmm %mul_23
call add_20 tensor 8192 s=42:8192 syms=s1 aten.add.Tensor %mul_20 %mul_24
call mul_25 tensor 8192 s=43:8192 syms=s1 aten.mul.Tensor %mm_2 %add_20
call permute_11 tensor 8192 s=43:8192 syms=s1 aten.permute.default %mul_25 [ i:1 i:0 ]
call mm_4 tensor 4096 s=44:4096 aten.mm.default %permute_11 %primals_7
call permute_12 tensor 4096 s=44:4096 aten.permute.default %mm_4 [ i:1 i:0 ]
call sum_3 tensor 256 s=45:256 aten.sum.dim_IntList %mul_25 [ i:0 ] b:1
call view_2 tensor 256 s=45:256 aten.view.default %sum_3 [ i:64 ]
call permute_13 tensor 4096 s=44:4096 aten.permute.default %permute_12 [ i:1 i:0 ]
output 1 mean permute_13 view_2 permute_10 view_1 permute_6 view None None
