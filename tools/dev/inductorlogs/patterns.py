# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of single patterns, which Inductor may rewrite."""
from .making import attention, f, model, module, of, t, unary, weights


@model
def index():
    return of([t().randn(4, 8), t().tensor([0, 2, 2])],
              lambda m, x, i: (x * m.w)[i] + (x * m.w)[:, i].sum(),
              w=weights(8))


@model
def gather():
    return of([t().randn(4, 8), t().randint(0, 8, (4, 3))],
              lambda m, x, i: (x * m.w).gather(1, i).exp(), w=weights(8))


@model
def scatter():
    return of([t().randn(4, 3), t().randint(0, 8, (4, 3))],
              lambda m, x, i: t().zeros(4, 8).scatter_add(1, i, x * m.w)
              + t().zeros(4, 8).scatter(1, i, 1.0), w=weights(3))


@model
def scatter_one_hot():
    return of([t().randn(4, 8), t().randint(0, 8, (4,))],
              lambda m, x, y: -(f().one_hot(y, 8).float()
                                * (x * m.w).log_softmax(-1)).sum(),
              w=weights(8))


@model
def index_put():
    def forward(m, x, i):
        out = t().zeros(6, 4)
        out = out.index_put((i,), x * m.w, accumulate=True)
        return out.relu()
    return of([t().randn(5, 4), t().randint(0, 6, (5,))], forward, w=weights(4))


@model
def cat_split():
    def forward(m, x):
        a, b = t().split(x * m.w, [3, 5], -1)
        return t().cat([b.sin(), a.cos(), x], -1)
    return of([t().randn(4, 8)], forward, w=weights(8))


@model
def split_cat_same():
    def forward(m, x):
        return t().cat(t().split(x * m.w, 2, -1), -1).tanh()
    return of([t().randn(4, 8)], forward, w=weights(8))


@model
def stack_unbind():
    def forward(m, x):
        a, b, c = (x * m.w).unbind(0)
        return t().stack([c, a, b]).exp()
    return of([t().randn(3, 8)], forward, w=weights(8))


@model
def pads():
    return unary(lambda x: f().pad(x, (1, 2)) .exp())


@model
def pad_modes():
    return unary(lambda x: f().pad(x, (1, 2), mode="reflect")
                 + f().pad(x, (1, 2), mode="replicate"), 2, 3, 8)


@model
def einsum():
    return of([t().randn(2, 4, 8)],
              lambda m, x: t().einsum("bij,jk,bkl->bil", x, m.a,
                                      x.transpose(1, 2)), a=weights(8, 8))


@model
def einsum_outer():
    return of([t().randn(4, 8)],
              lambda m, x: t().einsum("ij,k->ijk", x, m.a).relu(),
              a=weights(3))


@model
def autocast():
    nn = t().nn

    def forward(m, x):
        with t().autocast("cpu", dtype=t().bfloat16):
            return m.b(f().gelu(m.a(x))).float()
    return of([t().randn(6, 8)], forward, a=nn.Linear(8, 16),
              b=nn.Linear(16, 4))


@model
def autocast_attention():
    made, inputs = attention(f().scaled_dot_product_attention)

    def forward(m, x):
        with t().autocast("cpu", dtype=t().bfloat16):
            return m.a(x).float()
    return of(inputs, forward, a=made)


@model
def autocast_norm():
    nn = t().nn

    def forward(m, x):
        with t().autocast("cpu", dtype=t().bfloat16):
            return m.n(m.a(x) + x).softmax(-1)
    return of([t().randn(6, 8)], forward, a=nn.Linear(8, 8), n=nn.LayerNorm(8))


@model
def casts_back_and_forth():
    return unary(lambda x: x.bfloat16().float().exp().double().float())


@model
def casts_twice():
    return unary(lambda x: x.double().float().exp())


@model
def several_outputs():
    nn = t().nn

    def forward(m, x):
        h = m.a(x)
        return h, h.tanh(), h.sum()
    return of([t().randn(6, 8)], forward, a=nn.Linear(8, 4))


@model
def output_is_view():
    nn = t().nn

    def forward(m, x):
        h = m.a(x).tanh()
        return h.view(3, 2, 4), h.t()
    return of([t().randn(6, 8)], forward, a=nn.Linear(8, 4))


@model
def tied_weights():
    nn = t().nn

    def forward(m, x):
        return f().linear(m.a(x).tanh(), m.a.weight.t())
    return of([t().randn(6, 8)], forward, a=nn.Linear(8, 4))


@model
def views_of_views():
    return unary(lambda x: x.view(8, 4).t().reshape(2, 16).unsqueeze(0)
                 .squeeze(0).view(4, 8).permute(1, 0).permute(1, 0).exp())


@model
def expand_twice():
    return of([t().randn(4, 8)],
              lambda m, x: (x + m.w.expand(2, 4, 8).expand(3, 2, 4, 8)).exp(),
              w=weights(8))


@model
def slices():
    return unary(lambda x: x[:, 0:8].exp() + x[0:4][:, :8] + x[::1])


@model
def slice_scatter():
    def forward(m, x):
        y = (x * m.w).clone()
        y[:, 2:4] = 0.0
        return y.exp()
    return of([t().randn(4, 8)], forward, w=weights(8))


@model
def where_constant():
    return unary(lambda x: t().where(x > 0, x, 0.0)
                 + t().where(t().ones(4, 8, dtype=t().bool), x, x * 2))


@model
def add_zero():
    return unary(lambda x: x * 1 + 0 + x / 1 - 0)


@model
def ones_and_zeros():
    return unary(lambda x: x * t().ones(4, 8) + t().zeros(4, 8)
                 + x / t().ones(8))


@model
def full_mul():
    return unary(lambda x: x * t().full((4, 8), 2.0) + t().full((8,), 3.0))


@model
def masks_of_arange():
    return unary(lambda x: x.masked_fill(
        t().arange(8)[None, :] > t().arange(4)[:, None], 0.0))


@model
def cumsum():
    return unary(lambda x: x.cumsum(-1).exp() + t().ones(4, 8).cumsum(-1))


@model
def pow_functions():
    return unary(lambda x: x.pow(2) + x.pow(3) + (x * x + 1).pow(0.5))


@model
def softmax_scaled():
    return unary(lambda x: (x * 0.125).softmax(-1))


@model
def softmax_times():
    return unary(lambda x: (x * 0.125).softmax(-1) + (x / 8.0).softmax(-1))


@model
def softmax_mask_scaled():
    return unary(lambda x: ((x.masked_fill(x > 1, -1e9)) * 2.0).softmax(-1))


@model
def log_softmax():
    return unary(lambda x: x.log_softmax(-1) + x.logsumexp(-1, keepdim=True))


@model
def mm_plus_mm():
    return of([t().randn(4, 8), t().randn(4, 8)],
              lambda m, x, y: (x @ m.a + y @ m.b).relu(), a=weights(8, 8),
              b=weights(8, 8))


@model
def bmm_batch_one():
    return of([t().randn(1, 4, 8)], lambda m, x: t().bmm(x, m.a[None]).relu(),
              a=weights(8, 8))


@model
def mm_by_one():
    return of([t().randn(4, 1)], lambda m, x: (x @ m.a).relu(), a=weights(1, 8))


@model
def addmm_plain():
    return of([t().randn(4, 8)],
              lambda m, x: (x @ m.a + m.b).relu() + t().addmm(m.b, x, m.a),
              a=weights(8, 8), b=weights(8))


@model
def lstm_cell():
    nn = t().nn

    def forward(m, x):
        h = c = t().zeros(2, 4)
        for i in range(3):
            h, c = m.cell(x[i], (h, c))
        return h
    return of([t().randn(3, 2, 8)], forward, cell=nn.LSTMCell(8, 4))


@model
def buffer_update():
    nn = t().nn
    m = module(lambda m, x: (m.b.mul_(0.9).add_(x.mean(0)) * 0 + x * m.w).exp(),
               w=weights(8))
    m.register_buffer("b", t().zeros(8))
    return m, [t().randn(4, 8)]


@model
def checkpointed():
    from torch.utils.checkpoint import checkpoint
    nn = t().nn
    return of([t().randn(4, 8)],
              lambda m, x: m.b(checkpoint(lambda y: m.a(y).relu().exp(), x,
                                          use_reentrant=False)),
              a=nn.Linear(8, 8), b=nn.Linear(8, 8))


@model
def gradient_inside():
    return of([t().randn(5, 4)],
              lambda m, x: (m.w - 0.1 * t().func.grad(
                  lambda w: t().tanh(x @ w).sum())(m.w)).pow(2).sum(),
              w=weights(4, 3))


@model
def router():
    nn = t().nn

    def forward(m, x):
        scores = m.gate(x).softmax(-1)
        top, at = scores.topk(2, -1)
        mask = t().zeros_like(scores).scatter(1, at, top)
        return (mask[:, :, None] * t().stack([m.a(x), m.b(x), x], 1)).sum(1)
    return of([t().randn(6, 8)], forward, gate=nn.Linear(8, 3),
              a=nn.Linear(8, 8), b=nn.Linear(8, 8))


@model
def sort_and_max():
    return unary(lambda x: x.sort(-1)[0] + x.max(-1, keepdim=True)[0]
                 + x.amax(0))


@model
def norm_clip():
    return unary(lambda x: x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)
                 + f().normalize(x, dim=0))


@model
def variances():
    return unary(lambda x: (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt()
                 + x.std(-1, keepdim=True))


@model
def roll_flip():
    return unary(lambda x: x.roll(2, -1).exp() + x.flip(0))


@model
def repeat():
    return unary(lambda x: x.repeat(2, 1).exp().sum(0)
                 + x.repeat_interleave(2, 0).sum(0))


@model
def tril_mask():
    return unary(lambda x: (x @ x.t()).tril().exp())


@model
def random_inside():
    return unary(lambda x: x * t().rand(4, 8) + t().randn(8))


@model
def t5_bias():
    nn = t().nn

    def forward(m, x):
        at = (t().arange(6)[None] - t().arange(6)[:, None]).clamp(-2, 2) + 2
        bias = m.e(at).permute(2, 0, 1).unsqueeze(0)
        q = (x @ m.w).view(2, 6, 2, 4).transpose(1, 2)
        return ((q @ q.transpose(-2, -1)) + bias).softmax(-1) @ q
    return of([t().randn(2, 6, 8)], forward, e=nn.Embedding(5, 2),
              w=weights(8, 8))
