// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recurrent layers, unrolled over time. For each layer and direction:
//
//   1. what the gates get from the input, for all steps, by one product
//   2. step by step, what they get from the state, and the new state
//   3. all steps behind each other; a second direction beside the first
//
// Gates, with i and h the shares of input and state:
//   LSTM  c' = σ(f) c + σ(i) tanh(g),  h' = σ(o) tanh(c')  (projected, if W_hr)
//   GRU   h' = n + z (h - n) with n = tanh(n_i + r n_h)
//   RNN   h' = tanh(i + h), or relu
//
// With 16-bit floats, what lies between the gates and the new state is f32 and
// is rounded once, as in PyTorch's kernels. The number of steps must be known.
// Cost: linear in steps × layers.

#include "CoreRules.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::decompose;

namespace {

enum class Kind { Lstm, Gru, Tanh, Relu };

/// Weights of one layer in one direction; null where it has none.
struct Weights {
  Value ofInput, ofState, inputBias, stateBias, projection;
};

struct State {
  Value h, c; ///< `c` of an LSTM only
};

} // namespace

static Value sigmoid(CallBuilder &b, Value value) {
  return b.call(op::sigmoid, {value});
}

static Value tanhOf(CallBuilder &b, Value value) {
  return b.call(op::tanh, {value});
}

static Value add(CallBuilder &b, Value a, Value c) {
  return b.call(op::add_Tensor, {a, c});
}

static Value mul(CallBuilder &b, Value a, Value c) {
  return b.call(op::mul_Tensor, {a, c});
}

/// Equal pieces of the last dimension.
static Values gatesOf(CallBuilder &b, Value value, int64_t count) {
  Arg width = floorDiv(b, b.size(value, -1), count);
  std::vector<Arg> sizes(count, width);
  Values pieces = b.callMany(op::split_with_sizes, {value, sizes, -1});
  if (pieces.size() != static_cast<size_t>(count))
    pieces.assign(count, Value());
  return pieces;
}

static State stepLstm(CallBuilder &b, Value share, State state,
                      const Weights &weights) {
  Type type = elementOf(share), wide = computeType(share);
  Values gates = gatesOf(b, castTo(b, share, wide), 4);
  Value in = sigmoid(b, gates[0]), forget = sigmoid(b, gates[1]);
  Value cell = tanhOf(b, gates[2]), out = sigmoid(b, gates[3]);
  Value next =
      add(b, mul(b, forget, castTo(b, state.c, wide)), mul(b, in, cell));
  state.h = castTo(b, mul(b, out, tanhOf(b, next)), type);
  state.c = castTo(b, next, type);
  if (weights.projection && !b.failed())
    state.h = linear(b, state.h, weights.projection, Value());
  return state;
}

static State stepGru(CallBuilder &b, Value input, Value own, State state) {
  Type type = elementOf(own), wide = computeType(own);
  Values in = gatesOf(b, castTo(b, input, wide), 3);
  Values of = gatesOf(b, castTo(b, own, wide), 3);
  Value reset = sigmoid(b, add(b, of[0], in[0]));
  Value update = sigmoid(b, add(b, of[1], in[1]));
  Value fresh = tanhOf(b, add(b, in[2], mul(b, of[2], reset)));
  Value rest = b.call(op::sub_Tensor, {castTo(b, state.h, wide), fresh});
  Value next = add(b, mul(b, rest, update), fresh);
  return {castTo(b, next, type), Value()};
}

/// The state after one step; `input` is the input's share of the gates.
static State step(CallBuilder &b, Kind kind, Value input, State state,
                  const Weights &weights) {
  if (b.failed())
    return {};
  Value own = linear(b, state.h, weights.ofState, weights.stateBias);
  if (b.failed())
    return {};
  if (kind == Kind::Gru)
    return stepGru(b, input, own, state);
  Value share = add(b, own, input);
  if (b.failed())
    return {};
  if (kind == Kind::Lstm)
    return stepLstm(b, share, state, weights);
  Value next =
      kind == Kind::Tanh ? tanhOf(b, share) : b.call(op::relu, {share});
  return {next, Value()};
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// A call of lstm.input, gru.input or rnn_*.input, being unrolled.
class Unroller {
public:
  Unroller(Rewrite &c, Kind kind)
      : c(c), b(c.b), kind(kind), hasBias(*c.r.boolean("has_biases")),
        layers(c.r.integer("num_layers").value_or(1)),
        directions(c.r.boolean("bidirectional").value_or(false) ? 2 : 1),
        params(c.r.list("params")) {
    std::vector<Arg> given = c.r.list("hx");
    initial = {given.front().getValue(),
               kind == Kind::Lstm ? given.back().getValue() : Value()};
  }
  Values run();

private:
  Weights weightsOf(int64_t index);
  Value runLayer(Value input, int64_t index, bool reversed);
  Value finals(ArrayRef<Value> states);

  Rewrite &c;
  CallBuilder &b;
  Kind kind;
  bool hasBias;
  int64_t layers, directions;
  std::vector<Arg> params;
  State initial;
  Values lastH, lastC;
};
} // namespace

Weights Unroller::weightsOf(int64_t index) {
  size_t each = params.size() / static_cast<size_t>(layers * directions);
  size_t next = each * static_cast<size_t>(index);
  Weights weights;
  weights.ofInput = params[next++].getValue();
  weights.ofState = params[next++].getValue();
  if (hasBias) {
    weights.inputBias = params[next++].getValue();
    weights.stateBias = params[next++].getValue();
  }
  if (each % 2 != 0)
    weights.projection = params[next].getValue();
  return weights;
}

/// [T, N, F] of the layer's states; `reversed` reads from the end.
Value Unroller::runLayer(Value input, int64_t index, bool reversed) {
  Weights weights = weightsOf(index);
  Value shares = linear(b, input, weights.ofInput, weights.inputBias);
  Values steps = b.callMany(op::unbind_int, {shares, 0});
  State state;
  state.h = b.call(op::select_int, {initial.h, 0, index});
  if (initial.c)
    state.c = b.call(op::select_int, {initial.c, 0, index});
  std::vector<Arg> outputs(steps.size());
  for (size_t i = 0; i < steps.size() && !b.failed(); ++i) {
    size_t at = reversed ? steps.size() - 1 - i : i;
    state = step(b, kind, steps[at], state, weights);
    outputs[at] = state.h;
  }
  lastH.push_back(state.h);
  lastC.push_back(state.c);
  return b.failed() ? Value() : b.call(op::stack, {outputs, 0});
}

Value Unroller::finals(ArrayRef<Value> states) {
  std::vector<Arg> list;
  for (Value state : states)
    list.push_back(state);
  return b.call(op::stack, {list, 0});
}

Values Unroller::run() {
  Value input = c.r.value("input");
  bool batchFirst = c.r.boolean("batch_first").value_or(false);
  size_t perLayer = hasBias ? 4 : 2;
  size_t total = static_cast<size_t>(layers * directions);
  if (ShapedType::isDynamic(shapeOf(input)[batchFirst ? 1 : 0])) {
    b.error("'" + c.packet() + "' over steps whose number is not known");
    return {};
  }
  if (total == 0 || params.size() % total != 0 ||
      params.size() / total < perLayer ||
      params.size() / total > perLayer + 1) {
    b.error("'" + c.packet() + "' has " + Twine(params.size()) +
            " weights for " + Twine(total) + " layers");
    return {};
  }
  if (batchFirst)
    input = b.call(op::transpose_int, {input, 0, 1});
  for (int64_t layer = 0; layer < layers && !b.failed(); ++layer) {
    Value output = runLayer(input, layer * directions, false);
    if (directions == 2 && !b.failed()) {
      Value back = runLayer(input, layer * directions + 1, true);
      output = b.call(op::cat, {{output, back}, -1});
    }
    bool between = layer + 1 < layers;
    if (between && c.r.boolean("train").value_or(true) &&
        c.r.number("dropout") != 0.0)
      output = b.call(op::dropout, {output, c.r.arg("dropout"), true});
    input = output;
  }
  if (b.failed())
    return {};
  Values results = {batchFirst ? b.call(op::transpose_int, {input, 0, 1})
                               : input,
                    finals(lastH)};
  if (kind == Kind::Lstm)
    results.push_back(finals(lastC));
  return results;
}

static Values lstm(Rewrite &c) { return Unroller(c, Kind::Lstm).run(); }
static Values gru(Rewrite &c) { return Unroller(c, Kind::Gru).run(); }
static Values rnnTanh(Rewrite &c) { return Unroller(c, Kind::Tanh).run(); }
static Values rnnRelu(Rewrite &c) { return Unroller(c, Kind::Relu).run(); }

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static State cell(Rewrite &c, Kind kind) {
  Weights weights = {c.r.value("w_ih"), c.r.value("w_hh"), c.r.value("b_ih"),
                     c.r.value("b_hh"), Value()};
  std::vector<Arg> given = c.r.list("hx");
  State state = {given.front().getValue(), given.back().getValue()};
  Value share =
      linear(c.b, c.r.value("input"), weights.ofInput, weights.inputBias);
  return step(c.b, kind, share, state, weights);
}

static Values lstmCell(Rewrite &c) {
  State state = cell(c, Kind::Lstm);
  return {state.h, state.c};
}

static Value gruCell(Rewrite &c) { return cell(c, Kind::Gru).h; }
static Value tanhCell(Rewrite &c) { return cell(c, Kind::Tanh).h; }
static Value reluCell(Rewrite &c) { return cell(c, Kind::Relu).h; }

const DecomposeFn decompositions::lstm = many<::lstm>;
const DecomposeFn decompositions::gru = many<::gru>;
const DecomposeFn decompositions::rnnTanh = many<::rnnTanh>;
const DecomposeFn decompositions::rnnRelu = many<::rnnRelu>;
const DecomposeFn decompositions::lstmCell = many<::lstmCell>;
const DecomposeFn decompositions::gruCell = one<::gruCell>;
const DecomposeFn decompositions::tanhCell = one<::tanhCell>;
const DecomposeFn decompositions::reluCell = one<::reluCell>;
