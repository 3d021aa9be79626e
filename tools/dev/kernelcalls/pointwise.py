# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Elementwise ops: type promotion, broadcasting, special values.

import torch

from .calls import Call
from .values import broadcast_pair, element, floating, integral, scalar, shape, tried

# Name and range of arguments.
UNARY = {
    "exp": (-3, 3), "exp2": (-3, 3), "expm1": (-1, 1), "log": (0, 9), "log2": (0, 9),
    "log10": (0, 9), "log1p": (-1, 5), "sqrt": (-1, 9), "rsqrt": (0, 9),
    "reciprocal": (-3, 3), "sigmoid": (-9, 9), "tanh": (-3, 3), "sin": (-9, 9),
    "cos": (-9, 9), "tan": (-1, 1), "asin": (-1.2, 1.2), "acos": (-1.2, 1.2),
    "atan": (-5, 5), "sinh": (-3, 3), "cosh": (-3, 3), "asinh": (-5, 5), "acosh": (0.5, 9),
    "atanh": (-0.9, 0.9), "erf": (-3, 3), "erfc": (-3, 3), "erfinv": (-0.9, 0.9),
    "lgamma": (0.1, 9), "digamma": (0.2, 9), "sinc": (-0.9, 0.9), "neg": (-3, 3),
    "abs": (-3, 3), "sign": (-2, 2), "square": (-3, 3), "ceil": (-3, 3), "floor": (-3, 3),
    "round": (-3, 3), "trunc": (-3, 3), "isnan": (-1, 1), "isinf": (-1, 1),
    "isfinite": (-1, 1), "logical_not": (-1, 1), "nan_to_num": (-3, 3), "zero": (-3, 3),
    "bitwise_not": (-3, 3), "deg2rad": (-180, 180), "rad2deg": (-3, 3), "frac": (-3, 3),
    "i0": (-5, 5), "special_i0e": (-40, 40), "special_i1": (-5, 5),
    "special_erfcx": (-2, 30), "special_entr": (-1, 3), "special_ndtr": (-3, 3),
    "special_log_ndtr": (-5, 3), "special_ndtri": (0.1, 0.9), "sgn": (-2, 2),
    "signbit": (-2, 2), "isposinf": (-2, 2), "isneginf": (-2, 2), "isreal": (-2, 2),
}
ACTIVATIONS = ["relu", "relu6", "hardtanh", "hardswish", "hardsigmoid", "leaky_relu",
               "silu", "gelu", "elu", "selu", "celu", "mish", "softplus", "log_sigmoid"]
COMPLEX = ["exp", "log", "sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh", "sin", "cos",
           "tan", "sinh", "cosh", "asinh", "neg", "abs", "square", "log10", "log2",
           "log1p", "expm1", "exp2", "isnan", "isinf", "isfinite", "logical_not"]
BINARY = ["add.Tensor", "sub.Tensor", "rsub.Tensor", "mul.Tensor", "div.Tensor",
          "true_divide.Tensor", "maximum", "minimum", "fmax", "fmin", "atan2", "hypot",
          "xlogy.Tensor", "logaddexp", "pow.Tensor_Tensor", "fmod.Tensor",
          "remainder.Tensor", "floor_divide", "eq.Tensor", "ne.Tensor", "lt.Tensor",
          "le.Tensor", "gt.Tensor", "ge.Tensor", "logical_and", "logical_or",
          "logical_xor", "bitwise_and.Tensor", "bitwise_or.Tensor", "bitwise_xor.Tensor",
          "clamp_min.Tensor", "clamp_max.Tensor", "copysign.Tensor", "logaddexp2", "gcd",
          "lcm", "heaviside", "max.other", "min.other", "isclose", "__and__.Tensor",
          "__or__.Tensor", "__xor__.Tensor"]
SCALAR = ["add.Scalar", "sub.Scalar", "rsub.Scalar", "mul.Scalar", "div.Scalar",
          "fmod.Scalar", "remainder.Scalar", "eq.Scalar", "ne.Scalar", "lt.Scalar",
          "le.Scalar", "gt.Scalar", "ge.Scalar", "pow.Tensor_Scalar", "clamp_min",
          "clamp_max", "bitwise_and.Scalar", "bitwise_or.Scalar", "bitwise_xor.Scalar"]


def unary(r):
    made = []
    for name, (low, high) in UNARY.items():
        kinds = {"square": "ffi", "sinc": "f", "special_ndtr": "f"}.get(name, "fffib")
        x = element(r, shape(r), kinds, low=float(low), high=float(high))
        # PyTorch's approximation is that of the type.
        x = x.float() if name in ("special_i0e", "special_ndtr") else x
        made.append(tried(Call(name, x)))
    return made


def unary_complex(r):
    return [tried(Call(name, element(r, shape(r), "c"))) for name in COMPLEX]


def half_points(r):
    x = r.ints(6, low=-9, high=9).to(r.choice([torch.float32, torch.float64])) / 2
    made = [Call(name, x) for name in ("round", "floor", "ceil", "trunc", "sign")]
    return made + [Call("round.decimals", r.uniform(4, low=-99, high=99),
                        decimals=r.randint(-2, 2))]


def activations(r):
    made = []
    for name in ACTIVATIONS:
        # PyTorch's fast library gives NaN for gelu of infinity.
        x = element(r, shape(r), "fffi" if name in ("relu", "relu6") else "f", low=-2.5,
                    high=8.0, special=name != "gelu")
        made.append(tried(Call(name, x)))
    x = floating(r, shape(r), special=False)
    made += [
        tried(Call("gelu", x, approximate="tanh")),
        tried(Call("hardtanh", x, -0.5, 0.75)),
        tried(Call("hardshrink", x, 0.7)),
        tried(Call("softshrink", x, 0.7)),
        tried(Call("_prelu_kernel", r.normal(2, 3), r.normal(1, 3))),
        tried(Call("leaky_relu", x, 0.2)),
        tried(Call("threshold", element(r, shape(r), "ffi"), 1, 7)),
        tried(Call("elu", x, 0.7, 1.3, 1.1)),
        tried(Call("celu", x, 0.7)),
        tried(Call("softplus", x, 2.0, 3.0)),
        tried(Call("logit", floating(r, shape(r), 0.0, 1.0, r.dtype))),
        tried(Call("logit", floating(r, shape(r), 0.0, 1.0, r.dtype), 0.1)),
        tried(Call("glu", floating(r, [2, 4, 3], special=False), r.choice([1, -2]))),
        tried(Call("nan_to_num", floating(r, [6]), 0.5, 7.0, -7.0)),
        tried(Call("fill.Scalar", element(r, shape(r)), scalar(r))),
        tried(Call("fill.Tensor", element(r, shape(r)), element(r, []))),
    ]
    return made


def activation_gradients(r):
    sizes = shape(r, rank=2, low=2)
    dtype = r.choice([torch.float32, torch.float64, torch.bfloat16])
    # PyTorch's vector loops and their remainders differ for NaN.
    g = floating(r, sizes, dtype=dtype, special=False)
    x = floating(r, sizes, -3.0, 8.0, dtype=dtype, special=False)
    y = floating(r, sizes, -1.0, 1.0, dtype=dtype, special=False)
    p = r.uniform(*sizes, low=0.01, high=0.99, dtype=dtype)
    return [tried(call) for call in [
        Call("sigmoid_backward", g, y), Call("tanh_backward", g, y),
        Call("threshold_backward", g, x, 0), Call("hardtanh_backward", g, x, -1.5, 1.0),
        Call("leaky_relu_backward", g, x, 0.2, False), Call("hardswish_backward", g, x),
        Call("hardsigmoid_backward", g.float(), x.float()), Call("gelu_backward", g, x),
        Call("gelu_backward", g, x, approximate="tanh"), Call("silu_backward", g, x),
        Call("elu_backward", g, 0.7, 1.3, 1.1, False, x),
        Call("elu_backward", g, 0.7, 1.3, 1.1, True, y),
        Call("softplus_backward", g, x, 2.0, 5.0), Call("mish_backward", g, x),
        Call("log_sigmoid_backward", g, x, torch.exp(-x.abs())),
        Call("logit_backward", g.float(), p.float()),
        Call("logit_backward", g.double(), p.double(), 0.2),
        Call("hardshrink_backward", g, x, 0.7), Call("softshrink_backward", g, x, 0.7),
        Call("_prelu_kernel_backward", r.normal(2, 3), r.normal(2, 3), r.normal(1, 3)),
        Call("glu_backward", r.normal(2, 2, 3), r.normal(2, 4, 3), 1),
    ]]


def binary(r):
    made = []
    for name in BINARY:
        a, b = broadcast_pair(r)
        kinds = "iib" if name.startswith("bitwise") else "fffiib"
        made.append(tried(Call(name, element(r, a, kinds), element(r, b, kinds))))
    return made


def same_type(r):
    """Values that meet: equal elements, zeros, NaN."""
    dtype = r.choice([torch.float32, torch.float64])
    a = floating(r, [8], dtype=dtype)
    b = floating(r, [8], dtype=dtype)
    b[:3] = a[:3]
    return [tried(Call(name, a, b)) for name in BINARY + ["nextafter"]]


def binary_complex(r):
    a, b = broadcast_pair(r)
    x = element(r, a, "c")
    y = element(r, b, r.choice(["c", "f"]), special=False) + 4
    return [tried(Call(name, x, y)) for name in
            ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "eq.Tensor",
             "ne.Tensor", "rsub.Tensor")] + \
        [tried(Call("sigmoid_backward", x, element(r, a, "c"))),
         tried(Call("tanh_backward", x, element(r, a, "c")))]


def with_scalar(r):
    made = []
    for name in SCALAR:
        kinds = "iib" if name.startswith("bitwise") else "fffiib"
        s = scalar(r, "i" if name.startswith("bitwise") else "fi")
        made.append(tried(Call(name, element(r, shape(r), kinds), s)))
    made.append(tried(Call("pow.Scalar", r.choice([2, 0.5, 3]), element(r, shape(r)))))
    made.append(tried(Call("pow.Tensor_Scalar", floating(r, [5], dtype=r.dtype),
                           r.choice([0.5, -0.5, 2, 3, -1, 0]))))
    made.append(tried(Call("eq.Scalar", torch.tensor([0.1, 0.2, 0.5]), 0.1)))
    made += [tried(Call(name, r.choice([2, 0.5]), floating(r, shape(r))))
             for name in ("xlogy.Scalar_Self", "remainder.Scalar_Tensor")]
    made += [tried(Call(name, floating(r, shape(r)), scalar(r)))
             for name in ("xlogy.Scalar_Other", "copysign.Scalar")]
    # Tensors without dimensions, and numbers where a tensor stands.
    made.append(tried(Call("mul.Tensor", element(r, [3]), element(r, []))))
    made.append(tried(Call("add.Tensor", element(r, []), element(r, [2, 2]))))
    made.append(tried(Call("mul.Tensor", element(r, [3]), scalar(r))))
    made.append(tried(Call("div.Tensor", element(r, [3]), 3)))
    return made


def factors(r):
    a, b = broadcast_pair(r)
    f, i = floating(r, a, special=False), integral(r, a, dtype=torch.int64)
    return [tried(call) for call in [
        Call("add.Tensor", f, floating(r, b), alpha=scalar(r)),
        Call("sub.Tensor", f, floating(r, b), alpha=scalar(r)),
        Call("rsub.Tensor", f, floating(r, b), alpha=2),
        Call("add.Tensor", i, integral(r, b), alpha=3),
        Call("add.Scalar", f, 2, 3), Call("sub.Scalar", i, 2, 3), Call("rsub.Scalar", f, 1, 2),
        Call("addcmul", f, floating(r, b), floating(r, a), value=0.5),
        Call("addcdiv", f, floating(r, a), floating(r, b), value=2),
        Call("addcmul", i, integral(r, b, dtype=torch.int64),
             integral(r, a, dtype=torch.int64), value=2),
        Call("lerp.Scalar", r.normal(*a), r.normal(*b), r.choice([0.25, 0.75])),
        Call("lerp.Tensor", r.normal(*a), r.normal(*b), r.uniform(*a)),
        Call("complex", r.normal(*a), r.normal(*b)), Call("polar", r.normal(*a), r.normal(*b)),
    ]]


def divisions(r):
    a, b = broadcast_pair(r)
    made = []
    for kinds in ("f", "i"):
        # A quotient in half precision is rounded before it is truncated.
        x, y = element(r, a, kinds), element(r, b, kinds)
        if kinds == "f":
            x, y = x.to(r.dtype), y.to(r.dtype)
        if kinds == "i":
            y = torch.where(y == 0, torch.ones_like(y), y)
        for mode in ("floor", "trunc", None):
            made.append(tried(Call("div.Tensor_mode", x, y, rounding_mode=mode)))
            made.append(tried(Call("div.Scalar_mode", x, r.choice([3, -2, 0.7]),
                                   rounding_mode=mode)))
        made += [tried(Call(name, x, y)) for name in
                 ("floor_divide", "fmod.Tensor", "remainder.Tensor", "div.Tensor")]
    return made


def shifts(r):
    dtype = r.choice([torch.int64, torch.int32, torch.int8, torch.uint8])
    x, y = integral(r, [6], -99, 99, dtype), integral(r, [6], 0, 9, dtype)
    return [tried(call) for call in [
        Call("bitwise_left_shift.Tensor", x, y), Call("bitwise_right_shift.Tensor", x, y),
        Call("bitwise_left_shift.Tensor_Scalar", x, 2),
        Call("bitwise_right_shift.Tensor_Scalar", x, 2),
        Call("__lshift__.Tensor", x, y), Call("__rshift__.Scalar", x, 1),
        Call("bitwise_left_shift.Scalar_Tensor", 5, y),
        Call("bitwise_right_shift.Scalar_Tensor", 99, y),
        Call("bitwise_and.Scalar_Tensor", 5, y), Call("bitwise_or.Scalar_Tensor", 5, y),
        Call("bitwise_xor.Scalar_Tensor", 5, y), Call("__xor__.Scalar", x, 3),
        Call("mul.Tensor", x, y), Call("add.Tensor", x, y), Call("neg", x), Call("abs", x),
        Call("pow.Tensor_Tensor", x, integral(r, [6], 0, 5, dtype)),
    ]]


def bounds(r):
    x = element(r, [2, 3], "ffi")
    low, high = element(r, [3], "f"), element(r, [2, 1], "fi")
    return [tried(call) for call in [
        Call("clamp", x, scalar(r), scalar(r)), Call("clamp", x, scalar(r)),
        Call("clamp", x, None, scalar(r)), Call("clamp.Tensor", x, low, high),
        Call("clamp.Tensor", x, low), Call("clamp.Tensor", x, None, high),
    ]]


def choices(r):
    a, b = broadcast_pair(r)
    c = r.mask(*a)
    kinds = r.choice(["f", "i", "b", "c"])
    x, y = element(r, a, kinds), element(r, b, r.choice([kinds, "f", "b"]))
    return [tried(call) for call in [
        Call("where.self", c, x, y), Call("where.ScalarOther", c, x, scalar(r)),
        Call("where.ScalarSelf", c, scalar(r), y), Call("where.Scalar", c, 1.5, 2),
        Call("masked_fill.Scalar", x, r.mask(*a), 2),
        Call("masked_fill.Scalar", floating(r, a), r.mask(*b), float("-inf")),
        Call("masked_fill.Tensor", x, r.mask(*a), element(r, [], kinds)),
        Call("isnan", x), Call("logical_and", x, y), Call("logical_xor", x, y),
    ]]


def prims(r):
    a, b, c = (r.normal(3, 2) for _ in range(3))
    x = element(r, shape(r), "ffib", special=False)
    to = r.choice([torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.bool,
                   torch.float64, torch.uint8 if x.dtype == torch.uint8 else torch.int64])
    return [Call("prims.fma", a, b, c, expect=((a.double() * b.double() + c.double())
                                               .to(a.dtype),)),
            Call("prims.convert_element_type", x, to, expect=(x.to(to),)),
            Call("prims.device_put", x, "cpu", expect=(x,)),
            Call("prims.rev", a, [0, 1], expect=(a.flip([0, 1]),))]


def eight_bits(r):
    """Casts to the small floating-point types, with ties and what overflows."""
    x = torch.tensor([r.choice([0.0, -0.0, 448.0, 464.0, 480.0, 57344.0, 61440.0, 65504.0,
                                65520.0, 1e-8, 2.0 ** -10, 2.0 ** -9 * 1.5, 3.0e38, 1.0625,
                                1.1875, float("inf"), float("nan"),
                                r.gauss(0, 1) * 2.0 ** r.randint(-20, 20)])
                      for _ in range(12)], dtype=r.choice([torch.float32, torch.float64]))
    made = []
    for to in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.bfloat16):
        if to in (torch.float8_e4m3fn, torch.float8_e5m2):
            x = x.to(torch.float32)
        y = x.to(to)
        made.append(Call("_to_copy", x, dtype=to, expect=(y,)))
        made.append(Call("_to_copy", y, dtype=torch.float32, expect=(y.to(torch.float32),)))
    return made


FAMILIES = {"pointwise": [unary, unary_complex, half_points, activations, binary, same_type,
                          binary_complex, with_scalar, factors, divisions, shifts, bounds,
                          choices, prims, eight_bits],
            "pointwise_gradients": [activation_gradients]}
