# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""write-blocks.py COUNT: the joint graph of COUNT blocks of 24 ops,

    n = norm(x); h = n @ w; y = x + h * sigmoid(h)

as a text on standard output. The minimum cut for time saves more of it than
PyTorch does.
"""

import sys

count = int(sys.argv[1])
full, column = 'f32[64, 64][64, 1]cpu', 'f32[64, 1][1, 1]cpu'
lines = []


def op(name, call, kind=full):
    lines.append(f'        {name}: "{kind}" = torch.ops.aten.{call}')
    return name


x = 'primals_1'
for i in range(count):
    op(f'u{i}', f'mean.dim({x}, [1], True)', column)
    op(f'c{i}', f'sub.Tensor({x}, u{i})')
    op(f'q{i}', f'mul.Tensor(c{i}, c{i})')
    op(f'v{i}', f'mean.dim(q{i}, [1], True)', column)
    op(f'r{i}', f'rsqrt.default(v{i})', column)
    op(f'n{i}', f'mul.Tensor(c{i}, r{i})')
    op(f'h{i}', f'mm.default(n{i}, primals_2)')
    op(f'g{i}', f'sigmoid.default(h{i})')
    op(f'm{i}', f'mul.Tensor(h{i}, g{i})')
    x = op(f'y{i}', f'add.Tensor({x}, m{i})')
d = 'tangents_1'
for i in reversed(range(count)):
    op(f'da{i}', f'mul.Tensor({d}, g{i})')
    op(f'dg{i}', f'mul.Tensor({d}, h{i})')
    op(f'db{i}', f'sigmoid_backward.default(dg{i}, g{i})')
    op(f'dh{i}', f'add.Tensor(da{i}, db{i})')
    op(f'nt{i}', f'permute.default(n{i}, [1, 0])',
       'f32[64, 64][1, 64]cpu')
    op(f'dw{i}', f'mm.default(nt{i}, dh{i})')
    w = op(f'dws{i}', f'add.Tensor({w}, dw{i})') if i < count - 1 else f'dw{i}'
    op(f'dn{i}', f'mm.default(dh{i}, primals_2)')
    op(f'dc{i}', f'mul.Tensor(dn{i}, r{i})')
    op(f'de{i}', f'mul.Tensor(dn{i}, c{i})')
    op(f'dr{i}', f'sum.dim_IntList(de{i}, [1], True)', column)
    op(f'df{i}', f'mul.Tensor(c{i}, dr{i})')
    op(f'dx{i}', f'add.Tensor(dc{i}, df{i})')
    d = op(f'd{i}', f'add.Tensor({d}, dx{i})')
print(f'''class inner_f(torch.nn.Module):
    def forward(
        self,
        primals,
        tangents,
    ):
        primals_1: "{full}"  # PlainAOTInput(idx=0)
        primals_2: "{full}"  # ParamAOTInput(target='weight')
        tangents_1: "{full}"  # TangentAOTInput(output=PlainAOTOutput(idx=0))
        primals_1, primals_2, tangents_1, = fx_pytree.tree_flatten_spec(\
[primals, tangents], self._in_spec)''')
print('\n'.join(lines))
print(f'''        return pytree.tree_unflatten([
            y{count-1},  # PlainAOTOutput(idx=0)
            {d},  # GradAOTOutput(grad_of=PlainAOTInput(idx=0))
            {w},  # GradAOTOutput(grad_of=ParamAOTInput(target='weight'))
        ], self._out_spec)''')
