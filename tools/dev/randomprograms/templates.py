# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random programs are made of.

A template is Python text with holes:

    {f} {f:2} {f:2-4}  a floating-point tensor (of that rank); the first is `t`
    {s} {c}            one of the shape of `t`; one that broadcasts with it
    {i} {b}            an integer tensor; a Boolean that broadcasts with `t`
    {d} {e}            a dimension of `t`; another one
    {n:0,2} {x}        an integer from 0 to 2; a number
    {P:t.shape[1], 3}  a parameter of that shape
    {V} {U}            a chain of views, behind a value; one view
    [[a|b]]            one of the texts

A text that PyTorch refuses for the values chosen is drawn again.
"""

UNARY = """
{f}.[[relu|tanh|sigmoid|sin|cos|neg|abs|square|erf|atan|exp|expm1|asinh]]()
({f}.abs() + 0.5).[[log|sqrt|rsqrt|reciprocal|log2|log1p|log10|lgamma]]()
F.[[gelu|silu|elu|selu|softplus|mish|hardswish]]({f})
F.[[hardtanh|relu6|leaky_relu|logsigmoid|softsign|celu|tanhshrink]]({f})
F.gelu({f}, approximate='tanh')
F.glu({f}, {d})
F.prelu({f}, {P:1})
{f}.clamp(-0.5, 0.5)
{f}.clamp([[min|max]]={x})
{f}.clamp({c}, {c})
{f}.pow([[2|3|0|1]])
{f} ** 2
{x} / ({f}.abs() + 1)
{f} * {x}
{f}.detach()
""".strip().splitlines()

BINARY = """
{f} [[+|-|*]] {c}
{f} / ({c}.abs() + 1)
torch.[[maximum|minimum|fmax|fmin|atan2|logaddexp|hypot|copysign]]({f}, {c})
torch.[[max|min]]({f}, {s})
torch.[[sub|add]]({f}, {c}, alpha={x})
torch.lerp({f}, {s}, [[0.3|0.7]])
torch.lerp({f}, {s}, {c})
torch.[[addcmul|addcdiv]]({f}, {c}, {c}.abs() + 0.5, value={x})
torch.where({b}, {f}, {c})
torch.where({b}, {f}, {x})
{f}.masked_fill({b}, {x})
({f}.abs() + 0.5).pow({c})
({f}.abs() + 0.5) ** {c}
{f} * {b}
{f} + {i}.sum()
F.dropout({f}, 0.5, False)
F.dropout({f}, 0.0)
torch.broadcast_tensors({f}, {s})[0]
{f}.ravel()
F.cosine_similarity({f:1-4}, {s}, dim={d})
""".strip().splitlines()

REDUCTIONS = """
{f}.[[sum|mean|amax|amin|logsumexp|var|std|prod]]({d}, keepdim=[[True|False]])
{f}.[[sum|mean|var|std|prod|max|min|norm|median]]()
{f}.[[sum|mean|amax|amin|var|std|logsumexp]](({d}, {e}))
{f}.[[max|min|median|cummax|cummin|sort]]({d})[0]
{f}.[[max|min|sort]]({d}, [[True|False]]).values
{f}.norm([[1|2|3|float('inf')]], {d})
torch.linalg.vector_norm({f}, [[1|2|3|0.5]], [[{d}|None]])
{f}.[[cumsum|logcumsumexp]]({d})
({f}.abs() + 0.5).cumprod({d})
{f}.var({d}, correction=[[0|1]])
{f}.aminmax(dim={d})[{n:0,1}]
{f}.diff(dim={d})
F.[[softmax|log_softmax|softmin]]({f}, {d})
F.softmax({f}, {d}, dtype=torch.float64)
""".strip().splitlines()

PRODUCTS = """
torch.matmul({f:1-4}, {f:1-4})
{f:2-4} @ {P:t.shape[-1], 3}
{f:2-4} @ {s}.transpose(-1, -2)
torch.[[mm|addmm]]({f:2}, {f:2})
torch.mm({f:2}, {f:2}.t())
torch.bmm({f:3}, {f:3}.transpose(1, 2))
torch.baddbmm({f:3}, {f:3}, {f:3}, beta={x}, alpha={x})
torch.addmm({c}, {f:2}, {f:2}, beta={x}, alpha={x})
torch.outer({f:1}, {f:1})
torch.dot({f:1}, {f:1})
torch.mv({f:2}, {f:1})
F.linear({f:1-4}, {P:3, t.shape[-1]}, {P:3})
F.linear({f:1-4}, {P:2, t.shape[-1]})
F.bilinear({f:2-3}, {s}, {P:2, t.shape[-1], t.shape[-1]})
torch.einsum('[[ij,kj->ik|ij,ij->i|ij,kl->jk|ij,jk->k]]', {f:2}, {f:2})
torch.einsum('b...,b...->...b', {f:2-4}, {s})
F.scaled_dot_product_attention({f:3-4}, {s}, {s}, is_causal=[[True|False]])
F.scaled_dot_product_attention({f:3-4}, {s}, {s}, attn_mask={s} @ {s}.mT)
F.scaled_dot_product_attention({f:3-4}, {s}, {s}, ({s} @ {s}.mT) > 0)
""".strip().splitlines()

LAYERS = """
F.layer_norm({f}, t.shape[-1:], {P:t.shape[-1]}, {P:t.shape[-1]})
F.layer_norm({f:2-4}, t.shape[-2:])
F.rms_norm({f}, t.shape[-1:], {P:t.shape[-1]})
F.group_norm({f:3-4}, [[1|2]], {P:t.shape[1]}, {P:t.shape[1]})
F.instance_norm({f:3-4})
F.batch_norm({f:2-4}, None, None, {P:t.shape[1]}, {P:t.shape[1]}, training=True)
F.batch_norm({f:2-4}, {B:t.shape[1]}, {B:t.shape[1]}.abs() + 0.5)
F.batch_norm({f:2-4}, {B:t.shape[1]}, {B:t.shape[1]}, training=True)
F.normalize({f}, dim={d})
F.conv1d({f:3}, {P:2, t.shape[1], 2}, {P:2}, padding={n:0,1})
F.conv2d({f:4}, {P:2, t.shape[1], 2, 2}, stride={n:1,2}, padding={n:0,1})
F.conv2d({f:4}, {P:t.shape[1], 1, 2, 2}, groups=t.shape[1], dilation={n:1,2})
F.conv_transpose1d({f:3}, {P:t.shape[1], 2, 2}, stride={n:1,2})
F.conv_transpose2d({f:4}, {P:t.shape[1], 2, 2, 2}, {P:2}, output_padding=0)
F.[[max|avg]]_pool1d({f:2-3}, 2, [[1|2]])
F.[[max|avg]]_pool2d({f:3-4}, 2, stride={n:1,2}, padding={n:0,1})
F.adaptive_[[avg|max]]_pool2d({f:3-4}, ({n:1,3}, 2))
F.adaptive_[[avg|max]]_pool1d({f:2-3}, {n:1,3})
F.unfold({f:4}, 2, padding={n:0,1})
F.interpolate({f:4}, scale_factor=2, mode='[[nearest|bilinear|bicubic]]')
F.pad({f:2-4}, (1, {n:-1,2}))
F.pad({f:2-4}, (1, 1), mode='[[reflect|replicate|circular]]')
F.pixel_[[shuffle|unshuffle]]({f:4}, [[1|2]])
F.grid_sample({f:4}, {P:t.shape[0], 2, 3, 2}, align_corners=[[True|False]])
F.embedding({i} % 4, {P:4, 3})
F.embedding({i} % 4, {P:4, 3}, padding_idx={n:0,3})
F.one_hot({i} % 3, 4) * {x}
F.[[mse_loss|l1_loss|smooth_l1_loss|huber_loss]]({f}, {s})
F.[[mse_loss|l1_loss]]({f}, {s}, reduction='[[none|sum]]')
F.cross_entropy({f:2}, torch.arange(t.shape[0]) % t.shape[1])
F.cross_entropy({f:2}, F.softmax({s}, 1), label_smoothing={n:0,1} * 0.1)
F.nll_loss(F.log_softmax({f:2-4}, 1), torch.argmax({s}, 1), ignore_index=1)
F.binary_cross_entropy_with_logits({f}, {s}.sigmoid(), pos_weight={c}.abs())
F.binary_cross_entropy({f}.sigmoid(), {s}.sigmoid().detach())
F.kl_div(F.log_softmax({f}, -1), F.softmax({s}, -1), reduction='batchmean')
F.triplet_margin_loss({f:2}, {s}, {s}.roll(1, 0))
""".strip().splitlines()

VIEWS = """
.transpose({d}, {e})
[{n:-2,1}]
[..., {n:0,1}:]
[:, {n:-2,1}]
[:, ::2]
[..., -1:]
[None]
[..., None]
[1:, :1]
.narrow({d}, {n:0,1}, {n:1,2})
.select({d}, {n:-1,1})
.diagonal()
.diagonal({n:-1,1}, {d}, {e})
.unfold({d}, 2, {n:1,2})
.unsqueeze({d})
.squeeze({d})
.squeeze()
.flatten()
.reshape(-1)
.view(-1)
.flatten({n:0,1})
.unflatten({d}, (-1, [[1|2]]))
.expand(2, *t.shape)
.broadcast_to((2, *t.shape))
.expand_as({s})
.view_as({s})
.permute(*reversed(range(t.dim())))
.movedim({d}, {e})
.mT
.t()
.as_strided((2, 2), ({n:1,2}, 1), {n:0,1})
.split(1, {d})[{n:-1,1}]
.split([1, 1], {d})[{n:0,1}]
.chunk(2, {d})[{n:0,1}]
.unbind({d})[{n:-1,1}]
.tensor_split(2, {d})[{n:0,1}]
.swapaxes({d}, {e})
.contiguous()
.to(t.dtype)
.view(t.shape)
.reshape(t.shape[::-1])
.reshape(t.shape[0], -1)
.ravel()
""".strip().splitlines()

MOVES = """
{f}{V}
{f}{V}
{f}{V}
{f}.[[roll|flip]]({n:0,1}, {d})
{f}.roll(1, {d})
{f}.flip({d})
{f}.repeat(2, *[1] * t.dim())
{f}.repeat_interleave(2, {d})
torch.[[cat|stack]]([{f}, {s}], {d})
torch.cat([{f}, {f}, {s}], {d})
torch.[[hstack|vstack|dstack]]([{f}, {s}])
{f}.[[tril|triu]]({n:-1,1})
torch.diag_embed({f})
torch.diag({f:1-2})
torch.meshgrid({f:1}, {f:1}, indexing='ij')[{n:0,1}]
{f}.index_select({d}, torch.tensor([0, 1, 0]))
{f}.gather({d}, {s}.argsort({d}))
{f}.take(torch.tensor([0, -1, 1]))
{f}[torch.tensor([0, -1, 0])]
{f}[:, torch.tensor([[0, 1], [-1, 0]])]
{f}[torch.tensor([0, 1]), torch.tensor([-1, 0])]
{f}[torch.tensor([[0], [1]]), ..., torch.tensor([0, 1])]
{f}[{i} % 2]
{f}.scatter({d}, {s}.argsort({d}), {s})
{f}.scatter({d}, torch.zeros_like({s}, dtype=torch.int64), {x})
{f}.scatter_add({d}, {s}.argmax({d}, True), {s})
{f}.scatter_reduce({d}, {s}.argmin({d}, True), {s}, '[[sum|mean|amax|prod]]')
{f}.index_add({d}, torch.tensor([0, 0]), {f})
{f}.index_copy({d}, torch.tensor([1, 0]), {f})
{f}.index_fill({d}, torch.tensor([1]), {x})
{f}.index_put((torch.tensor([0, -1, 0]),), {c}, accumulate=True)
torch.[[slice_scatter|select_scatter]]({f}, {c}, {d}, {n:0,1})
torch.diagonal_scatter({f:2}, {s}.diagonal() * {x})
torch.select_scatter({f}, {s}.select({d}, 0) * {x}, {d}, -1)
torch.view_as_real(torch.complex({f}, {s}) * torch.complex({s}, {s}))
torch.broadcast_tensors({f}, {c})[{n:0,1}]
torch.full_like({f}, {x}) * {c}
torch.tensor([0.5, -1.0, 0.0]) * {f}
torch.ones(2, 2)[0, 0] * {f}
{f}[:0]
torch.cat([{f}[:0], {s}])
{f}[:0].sum() + {f}
{f}[{b}.reshape(-1)[0].long()]
""".strip().splitlines()

CASTS = """
{f}.to(torch.[[float32|float64|float32]])
{f}.to(torch.[[bfloat16|float16]])
{f}.to(torch.[[int64|int32]]).to(torch.float64)
{f}.type_as({c})
{f}.float() * {c}
{f}.double()
({f} > 0).[[double|float]]()
{i}.to(torch.[[float64|float32]])
{i} * {x} + {f}
{i} / 2
""".strip().splitlines()

INDICES = """
{f}.[[argmax|argmin]]({d})
{f}.argsort({d})
{f}.max({d})[1]
{i} + {n:0,2}
{i} // 2
{i}{U}
{b}.long().cumsum(-1)
{f}.sign().long()
{f} [[>|<|>=|<=|==|!=]] {c}
{f} > {x}
~{b}
{b} [[&|^]] ({f} > 0)
{b}{U}
{b}.[[any|all]]({d})
torch.ones_like({f}, dtype=torch.bool).tril()
""".strip().splitlines()

# Statements without a result.
WRITES = """
{f}{V}.[[add_|sub_|mul_|copy_]]({c})
{f}{V}.[[add_|mul_|fill_|clamp_min_]]({x})
{f}{U}.[[relu_|neg_|abs_|sin_|sigmoid_|tanh_|zero_|floor_|square_]]()
{f}{U}.clamp_(-0.5, 0.5)
{f}{U}.masked_fill_({b}, {x})
{f}{U}.div_({c}.abs() + 1)
{f}.addcmul_({c}, {c}, value={x})
{f}.lerp_({s}, 0.25)
{f}.pow_(2)
{f}.cumsum_({d})
{f}.[[tril_|triu_]]()
{f}.fill_diagonal_({x})
{f}{U}.index_put_((torch.tensor([0, -1]),), {c})
{f}.index_put_((torch.tensor([0, 0]),), {c}, accumulate=True)
{f}{U}.scatter_({d}, {s}.argsort({d}), {s})
{f}{U}.scatter_({d}, torch.zeros_like({s}, dtype=torch.int64), {x})
{f}.scatter_add_({d}, {s}.argmax({d}, True), {s})
{f}{U}.index_add_({d}, torch.tensor([0]), {f})
{f}.index_fill_({d}, torch.tensor([1]), {x})
{f}.index_copy_({d}, torch.tensor([0]), {f})
{f}[1:] = {c}
{f}{U}[0] = {x}
{f}[:, torch.tensor([0, -1])] = {x}
{f}[{b}] = {x}
{f}[..., 0] += {c}
{f}[0] = {s}[-1]
{f}[torch.tensor([1]), 0] = {x}
F.relu({f}, inplace=True)
{i}.add_({n:0,2})
{i}[0] = {n:0,1}
{b}{U}.logical_not_()
""".strip().splitlines()

# Statements that write buffers.
BUFFERS = """
{B:2, 3}.add_({x})
{B:3}.mul_(0.5).add_({f:1}.detach())
{B:t.shape}.copy_({f})
{B:t.shape}.lerp_({s}.detach(), 0.25)
{B:2, 3}[0] = {x}
""".strip().splitlines()
