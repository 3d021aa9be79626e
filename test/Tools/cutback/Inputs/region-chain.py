"""A chain of products of 0.25 MiB, each with a sine and its square, in nested
checkpoint regions: `region-chain.py 1,6,4` is one region of six regions of four
blocks; `24` is no region at all. With `--small` tensors of 8 x 8."""

import sys

counts = [int(word) for word in sys.argv[1].split(",")]
side = 8 if "--small" in sys.argv else 256
tensor = f"tensor<{side}x{side}xf32>"
lines = []
numbers = iter(range(1_000_000))


def fresh():
    return f"%v{next(numbers)}"


def block(x, indent):
    product, sine, square = fresh(), fresh(), fresh()
    lines.append(f"{indent}{product} = aten.mm({x}, %k) : ({tensor}, {tensor}) -> {tensor}")
    lines.append(f"{indent}{sine} = aten.sin({product}) : ({tensor}) -> {tensor}")
    lines.append(
        f"{indent}{square} = aten.mul.Tensor({sine}, {sine}) : ({tensor}, {tensor}) -> {tensor}"
    )
    return square


def chain(x, counts, indent):
    for _ in range(counts[0]):
        if len(counts) == 1:
            x = block(x, indent)
            continue
        result = fresh()
        lines.append(f"{indent}{result} = joint.checkpoint {{")
        inner = chain(x, counts[1:], indent + "  ")
        lines.append(f"{indent}  joint.yield {inner} : {tensor}")
        lines.append(f"{indent}}} : {tensor}")
        x = result
    return x


y = chain("%w", counts, "  ")
body = "\n".join(lines)
print(
    f"""joint.graph @g(%w: {tensor} {{joint.role = #joint.role<param "w">}}, %k: {tensor} {{joint.role = #joint.role<buffer "k">}}) -> (tensor<f32>) gradients () {{
{body}
  %s = aten.sum({y}) : ({tensor}) -> tensor<f32>
  joint.output %s : tensor<f32>
}}"""
)
