placeholder primals_1 tensor 60 s=0:60 role=primal static
placeholder primals_2 tensor 12 s=1:12 role=primal static
placeholder primals_3 tensor 200 s=2:200 role=primal syms=s53
placeholder primals_4 tensor 40 s=3:40 role=primal syms=s53
placeholder primals_5 tensor 120 s=4:120 role=primal syms=s53
placeholder tangents_1 tensor 4 s=5:4 role=tangent
call permute tensor 60 s=0:60 aten.permute.default %primals_1 [ i:1 i:0 ]
call sym_size_int_1 symint 0 syms=s53 aten.sym_size.int %primals_3 i:0
call mm tensor 120 s=6:120 syms=s53 aten.mm.default %primals_3 %permute
call add_3 tensor 120 s=7:120 syms=s53 aten.add.Tensor %mm %primals_2
call sub_2 tensor 120 s=8:120 syms=s53 aten.sub.Tensor %add_3 %primals_5
call pow_1 tensor 120 s=9:120 syms=s53 aten.pow.Tensor_Scalar %sub_2 i:2
call sum_1 tensor 40 s=10:40 syms=s53 aten.sum.dim_IntList %pow_1 [ i:-1 ]
call mul_9 tensor 40 s=11:40 syms=s53 aten.mul.Tensor %primals_4 %sum_1
call sym_size_int_2 symint 0 syms=s53 aten.sym_size.int %primals_4 i:0
call mean tensor 4 s=12:4 aten.mean.default %mul_9
call abs_1 tensor 60 s=13:60 aten.abs.default %primals_1
call sum_2 tensor 4 s=14:4 aten.sum.default %abs_1
call mul_11 tensor 4 s=15:4 aten.mul.Tensor %sum_2 f:0.01
call add_17 tensor 4 s=16:4 aten.add.Tensor %mean %mul_11
call mul_12 tensor 4 s=17:4 aten.mul.Tensor %tangents_1 f:0.01
call expand tensor 60 s=17:4 aten.expand.default %mul_12 [ i:3 i:5 ]
call sign tensor 60 s=18:60 aten.sign.default %primals_1
call mul_13 tensor 60 s=19:60 aten.mul.Tensor %expand %sign
call expand_1 tensor 40 s=5:4 syms=s53 aten.expand.default %tangents_1 [ %sym_size_int_2 ]
call div tensor 40 s=20:40 syms=s53 aten.div.Scalar %expand_1 %sym_size_int_2
call mul_14 tensor 40 s=21:40 syms=s53 aten.mul.Tensor %div %primals_4
call mul_15 tensor 40 s=22:40 syms=s53 aten.mul.Tensor %div %sum_1
call unsqueeze tensor 40 s=21:40 syms=s53 aten.unsqueeze.default %mul_14 i:-1
call expand_2 tensor 120 s=21:40 syms=s53 aten.expand.default %unsqueeze [ %sym_size_int_1 i:3 ]
call pow_2 tensor 120 s=23:120 syms=s53 aten.pow.Tensor_Scalar %sub_2 f:1.0
call mul_16 tensor 120 s=24:120 syms=s53 aten.mul.Scalar %pow_2 f:2.0
call mul_17 tensor 120 s=25:120 syms=s53 aten.mul.Tensor %expand_2 %mul_16
call sum_3 tensor 12 s=26:12 aten.sum.dim_IntList %mul_17 [ i:0 ] b:1
call view tensor 12 s=26:12 aten.view.default %sum_3 [ i:3 ]
call permute_1 tensor 120 s=25:120 syms=s53 aten.permute.default %mul_17 [ i:1 i:0 ]
call mm_1 tensor 60 s=27:60 aten.mm.default %permute_1 %primals_3
call permute_2 tensor 60 s=27:60 aten.permute.default %mm_1 [ i:1 i:0 ]
call permute_3 tensor 60 s=0:60 aten.permute.default %permute [ i:1 i:0 ]
call mm_2 tensor 200 s=28:200 syms=s53 aten.mm.default %mul_17 %permute_3
call permute_4 tensor 60 s=27:60 aten.permute.default %permute_2 [ i:1 i:0 ]
call add_18 tensor 60 s=29:60 aten.add.Tensor %mul_13 %permute_4
output 1 add_17 add_18 view mm_2 mul_15 None
