// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals: windows by their formulas, frequencies, and transforms of the pieces
// of a signal (`stft`) and back (`istft`). A piece is a view of the signal; on
// the way back pieces that overlap are added (`unfold_backward`), and divided
// by the sum of the squared windows.

#include "Rules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// The places 0, 1, ... of a window; a periodic one is the first part of one
/// that is longer by 1.
struct Places {
  explicit Places(Rewrite &c) : b(c.b), type(elementOf(c.result())) {
    count = c.r.integer("window_length").value_or(0);
    bool periodic = c.r.boolean(optional("periodic")).value_or(true);
    last = static_cast<double>(periodic ? count : count - 1);
    steps = b.call(op::arange, {count}, {{"dtype", type}});
  }

  /// scale cos(2 pi k i / last) + offset
  Value cosine(double k, double scale, double offset) {
    constexpr double turn = 6.283185307179586476925286766559;
    Value wave = b.call(
        op::cos,
        {b.call(op::mul_Scalar, {steps, k * turn / std::max(last, 1.0)})});
    return b.call(op::add_Scalar,
                  {b.call(op::mul_Scalar, {wave, scale}), offset});
  }

  CallBuilder &b;
  Type type;
  int64_t count = 0;
  double last = 0;
  Value steps;
};
} // namespace

static Value ones(Rewrite &c, const Arg &size) {
  return c.b.call(op::ones, {{size}}, {{"dtype", elementOf(c.result())}});
}

/// A window of less than two places is all ones.
static bool isTrivial(Rewrite &c) {
  return c.r.integer("window_length").value_or(0) < 2;
}

/// alpha - beta cos: hann_window and hamming_window.
static Value raisedCosine(Rewrite &c) {
  if (isTrivial(c))
    return ones(c, c.r.arg("window_length"));
  bool hann = c.packet() == "aten.hann_window";
  double alpha = c.r.number(optional("alpha")).value_or(hann ? 0.5 : 0.54);
  double beta = c.r.number(optional("beta")).value_or(hann ? 0.5 : 0.46);
  return Places(c).cosine(1, -beta, alpha);
}

static Value blackman(Rewrite &c) {
  if (isTrivial(c))
    return ones(c, c.r.arg("window_length"));
  Places places(c);
  return c.b.call(op::add_Tensor,
                  {places.cosine(2, 0.08, 0.42), places.cosine(1, -0.5, 0)});
}

/// A triangle: 1 - |2 i / last - 1|
static Value bartlett(Rewrite &c) {
  if (isTrivial(c))
    return ones(c, c.r.arg("window_length"));
  Places places(c);
  Value rising = c.b.call(op::mul_Scalar, {places.steps, 2 / places.last});
  Value centred = c.b.call(op::sub_Scalar, {rising, 1});
  return c.b.call(op::rsub_Scalar, {c.b.call(op::abs, {centred}), 1});
}

/// i0(beta sqrt(1 - (2 i / last - 1)^2)) / i0(beta)
static Value kaiser(Rewrite &c) {
  if (isTrivial(c))
    return ones(c, c.r.arg("window_length"));
  CallBuilder &b = c.b;
  Places places(c);
  double beta = c.r.number(optional("beta")).value_or(12.0);
  Value centred =
      b.call(op::sub_Scalar,
             {b.call(op::mul_Scalar, {places.steps, 2 / places.last}), 1});
  Value height = b.call(op::rsub_Scalar, {b.call(op::square, {centred}), 1});
  Value root = b.call(op::sqrt, {height});
  Value top = b.call(op::i0, {b.call(op::mul_Scalar, {root, beta})});
  Value whole =
      b.call(op::full, {ArrayRef<int64_t>(), beta}, {{"dtype", places.type}});
  return b.call(op::div_Tensor, {top, b.call(op::i0, {whole})});
}

/// 0, 1, ..., then (but for rfftfreq) the negative ones; divided by n d.
static Value frequencies(Rewrite &c) {
  int64_t n = c.r.integer("n").value_or(1);
  Type type = elementOf(c.result());
  bool half = c.packet() == "aten.fft_rfftfreq";
  int64_t positive = half ? n / 2 + 1 : (n + 1) / 2;
  Value result = c.b.call(op::arange, {positive}, {{"dtype", type}});
  if (!half && n > 1) {
    Value negative =
        c.b.call(op::arange_start, {-(n / 2), 0}, {{"dtype", type}});
    result = c.b.call(op::cat, {{result, negative}});
  }
  double step = static_cast<double>(n) * c.r.number("d").value_or(1.0);
  return c.b.call(op::div_Scalar, {result, step});
}

//===----------------------------------------------------------------------===//
// Transforms of pieces
//===----------------------------------------------------------------------===//

namespace {
/// What stft and istft are told, with the defaults.
struct Pieces {
  explicit Pieces(Rewrite &c) : c(c) {
    size = c.r.integer("n_fft").value_or(1);
    hop = c.r.integer("hop_length").value_or(size / 4);
    length = c.r.integer("win_length").value_or(size);
    center = c.r.boolean(optional("center")).value_or(false);
    norm = c.r.boolean("normalized").value_or(false) ? 1 : 0;
  }
  /// The window in the middle of `size` places; null for ones.
  Value window() {
    Value given = c.r.value("window");
    if (length == size || (!given && length == size))
      return given;
    if (!given)
      given = c.b.call(op::ones, {{length}},
                       {{"dtype", elementOf(c.r.value("self"))}});
    int64_t left = (size - length) / 2;
    return c.b.call(op::constant_pad_nd, {given, {left, size - length - left}});
  }

  Rewrite &c;
  int64_t size = 1, hop = 1, length = 1, norm = 0;
  bool center = false;
};
} // namespace

static Value stft(Rewrite &c) {
  Pieces pieces(c);
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  if (isa<ComplexType>(elementOf(self))) {
    b.error("'aten.stft' of complex numbers is not supported");
    return {};
  }
  bool isVector = rankOf(self) == 1;
  if (isVector)
    self = b.call(op::unsqueeze, {self, 0});
  if (pieces.center) {
    StringRef mode = c.r.string(optional("pad_mode"));
    int64_t half = pieces.size / 2;
    self = b.call(op::pad, {b.call(op::unsqueeze, {self, 0}),
                            {half, half},
                            mode.empty() ? StringRef("reflect") : mode});
    self = b.call(op::squeeze_dim, {self, 0});
  }
  Value frames = b.call(op::unfold, {self, -1, pieces.size, pieces.hop});
  if (Value window = pieces.window())
    frames = b.call(op::mul_Tensor, {frames, window});
  bool half = c.r.isNone("onesided") || *c.r.boolean("onesided");
  Value spectrum = b.call(op::_fft_r2c, {frames, {2}, pieces.norm, half});
  spectrum = b.call(op::transpose_int, {spectrum, 1, 2});
  if (isVector)
    spectrum = b.call(op::squeeze_dim, {spectrum, 0});
  return c.r.boolean("return_complex").value_or(false)
             ? spectrum
             : b.call(op::view_as_real, {spectrum});
}

/// The pieces `frames`, [B, pieces, size], added where they overlap.
static Value overlapAdd(CallBuilder &b, Value frames, const Arg &length,
                        const Pieces &pieces) {
  return b.call(
      op::unfold_backward,
      {frames, {b.size(frames, 0), length}, 1, pieces.size, pieces.hop});
}

static Value istft(Rewrite &c) {
  Pieces pieces(c);
  CallBuilder &b = c.b;
  Value self = c.r.value("self");
  bool isVector = rankOf(self) == 2;
  if (isVector)
    self = b.call(op::unsqueeze, {self, 0});
  int64_t count = self ? shapeOf(self).back() : 0;
  bool isOneSided = c.r.isNone("onesided")
                        ? self && shapeOf(self)[1] == pieces.size / 2 + 1
                        : *c.r.boolean("onesided");
  if (self && ShapedType::isDynamicShape(shapeOf(self).drop_front())) {
    b.error("'aten.istft' of sizes that are not known");
    return {};
  }
  if (!isOneSided || c.r.boolean("return_complex").value_or(false)) {
    b.error("'aten.istft' is supported to a real signal from a one-sided "
            "spectrum");
    return {};
  }
  int64_t whole = (count - 1) * pieces.hop + pieces.size;
  self = b.call(op::transpose_int, {self, 1, 2});
  Value frames =
      b.call(op::_fft_c2r, {self, {2}, pieces.norm ? 1 : 2, pieces.size});
  Value window = pieces.window();
  if (!window)
    window =
        b.call(op::ones, {{pieces.size}}, {{"dtype", elementOf(c.result())}});
  Value signal =
      overlapAdd(b, b.call(op::mul_Tensor, {frames, window}), whole, pieces);
  Value squares = b.call(
      op::expand, {b.call(op::square, {window}), {1, count, pieces.size}});
  Value envelope = overlapAdd(b, squares, whole, pieces);
  int64_t start = pieces.center ? pieces.size / 2 : 0;
  int64_t end = c.r.isNone("length")
                    ? whole - start
                    : start + c.r.integer("length").value_or(0);
  int64_t missing = std::max<int64_t>(end - whole, 0);
  auto cut = [&](Value value) {
    return sliceOf(b, value, 1, start, end - missing);
  };
  signal = b.call(op::div_Tensor, {cut(signal), cut(envelope)});
  if (missing)
    signal = b.call(op::constant_pad_nd, {signal, {0, missing}});
  return isVector ? b.call(op::squeeze_dim, {signal, 0}) : signal;
}

const DecomposeFn decompositions::raisedCosine = one<::raisedCosine>;
const DecomposeFn decompositions::blackman = one<::blackman>;
const DecomposeFn decompositions::bartlett = one<::bartlett>;
const DecomposeFn decompositions::kaiser = one<::kaiser>;
const DecomposeFn decompositions::frequencies = one<::frequencies>;
const DecomposeFn decompositions::stft = one<::stft>;
const DecomposeFn decompositions::istft = one<::istft>;
