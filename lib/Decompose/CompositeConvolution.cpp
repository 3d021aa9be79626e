// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// conv1d to conv_transpose3d as `convolution`, in one rule: the number of
// spatial dimensions is that of the weight less two, and an input without a
// batch gets one. Padding by name ("same") is the same on both sides; where
// that leaves one element over, the input is padded by it at the end first.

#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

/// Paddings of both sides for "same" and "valid"; pads `input` where they
/// differ. Null in `input` after an error.
static std::vector<Arg> namedPadding(Rewrite &c, Value &input, Value weight,
                                     ArrayRef<int64_t> dilation) {
  int64_t spatial = rankOf(weight) - 2;
  std::vector<Arg> padding(spatial, Arg(int64_t(0)));
  if (c.r.string("padding") == "valid")
    return padding;
  std::vector<Arg> more(2 * spatial, Arg(int64_t(0)));
  bool uneven = false;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t size = shapeOf(weight)[i + 2];
    if (ShapedType::isDynamic(size)) {
      c.b.error("'" + c.packet() +
                "' pads by the size of a filter that is not known");
      return padding;
    }
    int64_t total = dilation[i] * (size - 1);
    padding[i] = Arg(total / 2);
    // The last dimension comes first.
    more[2 * (spatial - 1 - i) + 1] = Arg(total % 2);
    uneven |= total % 2 != 0;
  }
  if (uneven)
    input = c.b.call(op::constant_pad_nd, {input, more, 0});
  return padding;
}

/// Of complex numbers by their parts: three convolutions, of the real parts, of
/// the imaginary ones and of both added.
static Value ofComplex(CallBuilder &b, Value input, Value weight, Value bias,
                       llvm::function_ref<Value(Value, Value)> convolve) {
  auto partOf = [&](const char *name, Value value) {
    return b.call(name, {value});
  };
  auto times = [&](auto part) { return convolve(part(input), part(weight)); };
  auto real = [&](Value x) { return partOf(op::real, x); };
  auto imaginary = [&](Value x) { return partOf(op::imag, x); };
  Value first = times(real), second = times(imaginary);
  Value both = times(
      [&](Value x) { return b.call(op::add_Tensor, {real(x), imaginary(x)}); });
  both = b.call(op::sub_Tensor, {both, first});
  Value result = b.call(op::complex, {b.call(op::sub_Tensor, {first, second}),
                                      b.call(op::sub_Tensor, {both, second})});
  if (!bias || b.failed())
    return result;
  std::vector<Arg> sizes(rankOf(result), Arg(int64_t(1)));
  sizes[1] = b.size(bias, 0);
  return b.call(op::add_Tensor, {result, viewAs(b, bias, sizes)});
}

static Value convolve(Rewrite &c, bool transposed) {
  Value input = c.r.value("input"), weight = c.r.value("weight");
  int64_t spatial = rankOf(weight) - 2;
  bool unbatched = rankOf(input) == spatial + 1;
  if (unbatched)
    input = c.b.call(op::unsqueeze, {input, 0});
  Arg padding = c.r.arg("padding");
  if (!c.r.string("padding").empty())
    padding = namedPadding(
        c, input, weight,
        c.r.integers("dilation").value_or(SmallVector<int64_t>(spatial, 1)));
  std::vector<Arg> none(spatial, Arg(int64_t(0)));
  auto call = [&](Value x, Value w, const Arg &bias) {
    return c.b.call(
        op::convolution,
        {x, w, bias, c.r.arg("stride"), padding, c.r.arg("dilation"),
         transposed,
         transposed ? c.r.arg(optional("output_padding")) : Arg(none),
         c.r.arg("groups")});
  };
  Value result =
      isa<ComplexType>(elementOf(input))
          ? ofComplex(c.b, input, weight, c.r.value("bias"),
                      [&](Value x, Value w) { return call(x, w, Arg()); })
          : call(input, weight, c.r.arg("bias"));
  return unbatched ? c.b.call(op::squeeze_dim, {result, 0}) : result;
}

static Value convolution(Rewrite &c) { return convolve(c, false); }
static Value transposedConvolution(Rewrite &c) { return convolve(c, true); }

//===----------------------------------------------------------------------===//
// Steps, batch, channels
//===----------------------------------------------------------------------===//

static Value ordered(Rewrite &c, Value value, ArrayRef<int64_t> dims) {
  return c.b.call(op::permute, {value, dims});
}

/// Input and result [steps, batch, channels], weight [steps, in, out].
static Value stepConvolution(Rewrite &c) {
  Value result =
      c.b.call(op::convolution, {ordered(c, c.r.value("self"), {1, 2, 0}),
                                 ordered(c, c.r.value("weight"), {2, 1, 0}),
                                 c.r.arg("bias"),
                                 {1},
                                 {c.r.arg("pad")},
                                 {1},
                                 false,
                                 {0},
                                 1});
  return ordered(c, result, {2, 0, 1});
}

static Values stepConvolutionBackward(Rewrite &c) {
  Value bias = c.r.value("bias");
  Values all = c.b.callMany(op::convolution_backward,
                            {ordered(c, c.r.value("self"), {1, 2, 0}),
                             ordered(c, c.r.value("input"), {1, 2, 0}),
                             ordered(c, c.r.value("weight"), {2, 1, 0}),
                             {c.b.size(bias, 0)},
                             {1},
                             {c.r.arg("pad")},
                             {1},
                             false,
                             {0},
                             1,
                             {true, true, true}});
  if (all.empty())
    return {};
  return {ordered(c, all[0], {2, 0, 1}), ordered(c, all[1], {2, 1, 0}), all[2]};
}

const DecomposeFn decompositions::convolution = one<::convolution>;
const DecomposeFn decompositions::transposedConvolution =
    one<::transposedConvolution>;
const DecomposeFn decompositions::stepConvolution = one<::stepConvolution>;
const DecomposeFn decompositions::stepConvolutionBackward =
    many<::stepConvolutionBackward>;
