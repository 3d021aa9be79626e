# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Recurrent layers and Fourier transforms.

import torch

from .calls import Call


def recurrent(r):
    gates, name = r.choice([(4, "lstm.input"), (3, "gru.input"), (1, "rnn_tanh.input"),
                            (1, "rnn_relu.input")])
    layers, two = r.randint(1, 2), r.coin()
    width, hidden = r.randint(1, 3), r.randint(1, 3)
    t, b = r.randint(1, 4), r.randint(1, 3)
    project = r.choice([0, 0, 1]) if gates == 4 and hidden > 1 else 0
    directions = 2 if two else 1
    out = project or hidden
    biases, first = r.coin(), r.coin()
    params = []
    for layer in range(layers):
        inner = width if layer == 0 else out * directions
        for _ in range(directions):
            params += [r.normal(gates * hidden, inner), r.normal(gates * hidden, out)]
            if biases:
                params += [r.normal(gates * hidden), r.normal(gates * hidden)]
            if project:
                params += [r.normal(project, hidden)]
    h = r.normal(layers * directions, b, out)
    x = r.normal(*((b, t) if first else (t, b)), width)
    state = [h, r.normal(layers * directions, b, hidden)] if gates == 4 else h
    return Call(name, x, state, params, biases, layers, 0.0, False, two, first)


def cells(r):
    b, width, hidden = r.randint(1, 3), r.randint(1, 3), r.randint(1, 3)
    made = []
    for gates, name in ((4, "lstm_cell"), (3, "gru_cell"), (1, "rnn_tanh_cell"),
                        (1, "rnn_relu_cell")):
        rows = gates * hidden
        biases = [r.normal(rows), r.normal(rows)] if r.coin() else []
        h = r.normal(b, hidden)
        made.append(Call(name, r.normal(b, width), [h, r.normal(b, hidden)] if gates == 4 else h,
                         r.normal(rows, width), r.normal(rows, hidden), *biases))
    return made


def fft(r):
    shape = [r.randint(1, 5) for _ in range(r.randint(1, 3))]
    dims = r.sample(range(len(shape)), r.randint(1, len(shape)))
    mode = r.randrange(3)
    x = r.normal(*shape)
    z = torch.complex(x, r.normal(*shape))
    made = [Call("_fft_c2c", z, dims, mode, r.coin()),
            Call("_fft_r2c", x, dims, mode, True), Call("_fft_r2c", x, dims, mode, False)]
    half = torch.fft.rfftn(x, dim=dims)
    made.append(Call("_fft_c2r", half, dims, mode, shape[dims[-1]]))
    return made


def torch_fft(r):
    shape = [r.randint(2, 5) for _ in range(r.randint(2, 3))]
    x = r.normal(*shape)
    z = torch.complex(x, r.normal(*shape))
    norm = r.choice([None, "forward", "backward", "ortho"])
    dim = r.randrange(-len(shape), len(shape))
    n = r.maybe(lambda: r.randint(2, 6))
    s = r.maybe(lambda: [r.randint(2, 5), r.randint(2, 5)])
    made = []
    for name, value in (("fft", z), ("fft", x), ("ifft", z), ("rfft", x), ("irfft", z)):
        made += [Call(f"fft_{name}", value, n, dim, norm),
                 Call(f"fft_{name}2", value, s, [-2, -1], norm),
                 Call(f"fft_{name}n", value, s, None, norm),
                 Call(f"fft_{name}n", value, None, [dim], norm)]
    return made + [Call("fft_fftshift", x, r.choice([None, [dim]])),
                   Call("fft_ifftshift", z, r.choice([None, [dim]]))]


recurrent.times = fft.times = 3
FAMILIES = {"recurrent": [recurrent, cells], "fft": [fft, torch_fft]}
