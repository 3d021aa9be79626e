// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LSTM, GRU and plain recurrent layers over a sequence, and single cells.
//
// Input [T, B, I] (or [B, T, I] with batch_first). Layer l reads the output of
// layer l - 1; with two directions, the second one runs from the end and its
// output stands behind that of the first. Gates of a row x with state h:
//   LSTM  i, f, g, o = W_ih x + b_ih + W_hh h + b_hh
//         c' = sigmoid(f) c + sigmoid(i) tanh(g),  h' = sigmoid(o) tanh(c'),
//         and h' = W_hr h' where the state is projected
//   GRU   r, z = sigmoid(..);  n = tanh(W_in x + b_in + r (W_hn h + b_hn))
//         h' = (1 - z) n + z h
//   RNN   h' = tanh(..) or max(.., 0)
// Parameters stand layer by layer and direction by direction: W_ih, W_hh, with
// biases b_ih, b_hh, and W_hr where there is a projection. Between layers, a
// training call drops elements. Intermediate values are not rounded.

#include "Draws.h"
#include "Kernels.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

using Vector = std::vector<double>;

/// Rows [steps * batch, width], step by step.
struct Sequence {
  int64_t steps, batch, width;
  Vector values;
};

/// One direction of one layer.
struct Cell {
  Vector inputWeight, stateWeight, inputBias, stateBias, projection;
  int64_t inner, hidden, out;
};

struct State {
  Vector h, c; ///< [batch, out], [batch, hidden]
};

} // namespace

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// weight [rows, width] times x, plus bias if there is one.
static Vector affine(const Vector &weight, const double *x, int64_t width,
                     const Vector &bias) {
  Vector y(weight.size() / std::max<int64_t>(width, 1));
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = bias.empty() ? 0 : bias[i];
    for (int64_t j = 0; j < width; ++j)
      y[i] += weight[i * width + j] * x[j];
  }
  return y;
}

/// One step of one sample; `h` and `c` are its state.
static void stepLstm(const Cell &cell, const double *x, double *h, double *c) {
  Vector a = affine(cell.inputWeight, x, cell.inner, cell.inputBias);
  Vector b = affine(cell.stateWeight, h, cell.out, cell.stateBias);
  int64_t n = cell.hidden;
  Vector next(n);
  for (int64_t i = 0; i < n; ++i) {
    auto gate = [&](int64_t k) { return a[k * n + i] + b[k * n + i]; };
    c[i] = sigmoid(gate(1)) * c[i] + sigmoid(gate(0)) * std::tanh(gate(2));
    next[i] = sigmoid(gate(3)) * std::tanh(c[i]);
  }
  if (!cell.projection.empty())
    next = affine(cell.projection, next.data(), n, {});
  llvm::copy(next, h);
}

static void stepGru(const Cell &cell, const double *x, double *h, double *) {
  Vector a = affine(cell.inputWeight, x, cell.inner, cell.inputBias);
  Vector b = affine(cell.stateWeight, h, cell.out, cell.stateBias);
  int64_t n = cell.hidden;
  for (int64_t i = 0; i < n; ++i) {
    double r = sigmoid(a[i] + b[i]), z = sigmoid(a[n + i] + b[n + i]);
    double fresh = std::tanh(a[2 * n + i] + r * b[2 * n + i]);
    h[i] = (1 - z) * fresh + z * h[i];
  }
}

static double relu(double x) { return x > 0 ? x : 0; }
static double tangent(double x) { return std::tanh(x); }

template <double (*fn)(double)>
static void stepPlain(const Cell &cell, const double *x, double *h, double *) {
  Vector a = affine(cell.inputWeight, x, cell.inner, cell.inputBias);
  Vector b = affine(cell.stateWeight, h, cell.out, cell.stateBias);
  for (int64_t i = 0; i < cell.hidden; ++i)
    h[i] = fn(a[i] + b[i]);
}

using StepFn = void (*)(const Cell &, const double *, double *, double *);

/// Runs one direction over `in`, writing its columns of `out` from `column`.
static void runDirection(const Cell &cell, StepFn step, const Sequence &in,
                         bool backwards, State &state, Sequence &out,
                         int64_t column) {
  for (int64_t i = 0; i < in.steps; ++i) {
    int64_t t = backwards ? in.steps - 1 - i : i;
    for (int64_t b = 0; b < in.batch; ++b) {
      int64_t row = t * in.batch + b;
      double *h = state.h.data() + b * cell.out;
      double *c = state.c.empty() ? nullptr : state.c.data() + b * cell.hidden;
      step(cell, in.values.data() + row * in.width, h, c);
      std::copy(h, h + cell.out, out.values.begin() + row * out.width + column);
    }
  }
}

/// [B, T, ...] from [T, B, ...] and the other way round.
static Vector exchanged(const Vector &values, int64_t rows, int64_t columns,
                        int64_t width) {
  Vector result(values.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      std::copy(values.begin() + (i * columns + j) * width,
                values.begin() + (i * columns + j + 1) * width,
                result.begin() + (j * rows + i) * width);
  return result;
}

namespace {

/// The parameters of a call as cells, layer by layer.
struct Network {
  std::vector<Cell> cells;
  int64_t layers, directions;
};

} // namespace

/// Fails unless a cell's parameters have the sizes that its gates need.
static LogicalResult checkCell(const KernelCall &call, const Cell &cell,
                               int64_t gates) {
  auto check = [&](StringRef name, const Vector &values, int64_t wanted) {
    return checkCount(call, name, static_cast<int64_t>(values.size()), wanted);
  };
  int64_t rows = gates * cell.hidden;
  if (failed(check("w_ih", cell.inputWeight, rows * cell.inner)) ||
      failed(check("w_hh", cell.stateWeight, rows * cell.out)))
    return failure();
  for (const Vector *bias : {&cell.inputBias, &cell.stateBias})
    if (!bias->empty() && failed(check("bias", *bias, rows)))
      return failure();
  return cell.projection.empty()
             ? success(cell.out == cell.hidden ||
                       succeeded(checkCount(call, "hx", cell.out, cell.hidden)))
             : check("w_hr", cell.projection, cell.out * cell.hidden);
}

static FailureOr<Network> networkOf(const KernelCall &call, int64_t inner,
                                    int64_t out, int64_t gates) {
  std::vector<Tensor> params = call.tensors("params");
  Network net{
      {}, call.integer("num_layers"), call.boolean("bidirectional") ? 2 : 1};
  bool biased = call.boolean("has_biases");
  size_t cells = net.layers * net.directions;
  size_t stride = cells == 0 ? 0 : params.size() / cells;
  bool projected = stride == (biased ? 5u : 3u);
  size_t needed = cells * ((biased ? 4 : 2) + (projected ? 1 : 0));
  if (failed(checkCount(call, "params", params.size(), needed)))
    return failure();
  for (size_t i = 0; i < cells; ++i) {
    const Tensor *own = params.data() + i * stride;
    Cell cell;
    cell.inputWeight = own[0].doubles();
    cell.stateWeight = own[1].doubles();
    if (biased) {
      cell.inputBias = own[2].doubles();
      cell.stateBias = own[3].doubles();
    }
    if (projected)
      cell.projection = own[stride - 1].doubles();
    bool first = static_cast<int64_t>(i) < net.directions;
    cell.inner = first ? inner : out * net.directions;
    cell.hidden = own[0].sizes[0] / gates;
    cell.out = out;
    if (own[0].rank() != 2 || failed(checkCell(call, cell, gates)))
      return call.error("parameters of a layer do not fit it");
    net.cells.push_back(std::move(cell));
  }
  return net;
}

/// `count` elements of the states of all layers, from cell `i`.
static Vector partOf(const Vector &states, size_t i, int64_t count) {
  if (states.empty())
    return {};
  return Vector(states.begin() + i * count, states.begin() + (i + 1) * count);
}

/// Runs all layers; `h` and `c` become the last states.
static Sequence runLayers(const KernelCall &call, const Network &net,
                          StepFn step, Sequence x, Vector &h, Vector &c) {
  double dropout = call.boolean("train") ? call.number("dropout") : 0;
  Vector lastH, lastC;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    int64_t out = net.cells[0].out;
    Sequence y{x.steps, x.batch, out * net.directions, {}};
    y.values.resize(y.steps * y.batch * y.width);
    for (int64_t d = 0; d < net.directions; ++d) {
      size_t i = layer * net.directions + d;
      const Cell &cell = net.cells[i];
      State state{partOf(h, i, x.batch * out),
                  partOf(c, i, x.batch * cell.hidden)};
      runDirection(cell, step, x, d == 1, state, y, d * out);
      llvm::append_range(lastH, state.h);
      llvm::append_range(lastC, state.c);
    }
    if (layer + 1 < net.layers && dropout > 0) {
      RandomState random = randomState(call);
      random.stream += layer;
      Vector keep = keepFactors(random, dropout, y.values.size());
      for (auto [value, factor] : llvm::zip_equal(y.values, keep))
        value *= factor;
    }
    x = std::move(y);
  }
  h = std::move(lastH);
  c = std::move(lastC);
  return x;
}

/// Result 0, the output; `h` and `c` become the last states.
static LogicalResult run(const KernelCall &call, StepFn step, int64_t gates,
                         const Tensor &firstState, Vector &h, Vector &c) {
  Tensor input = call.dense("input");
  bool batchFirst = call.boolean("batch_first");
  int64_t rows = input.sizes[0], columns = input.sizes[1];
  Sequence x{batchFirst ? columns : rows, batchFirst ? rows : columns,
             input.sizes[2], input.doubles()};
  if (batchFirst)
    x.values = exchanged(x.values, rows, columns, x.width);
  FailureOr<Network> net = networkOf(call, x.width, firstState.sizes[2], gates);
  if (failed(net))
    return failure();
  int64_t states = static_cast<int64_t>(net->cells.size()) * x.batch;
  if (states == 0 ||
      failed(checkCount(call, "hx", h.size(), states * net->cells[0].out)) ||
      (!c.empty() &&
       failed(checkCount(call, "hx", c.size(), states * net->cells[0].hidden))))
    return call.error("the states do not fit the layers");
  Sequence y = runLayers(call, *net, step, std::move(x), h, c);
  if (batchFirst)
    y.values = exchanged(y.values, y.steps, y.batch, y.width);
  put(call, 0, {rows, columns, y.width}, y.values);
  return success();
}

static LogicalResult lstm(const KernelCall &call) {
  std::vector<Tensor> states = call.tensors("hx");
  Vector h = states[0].doubles(), c = states[1].doubles();
  if (failed(run(call, stepLstm, 4, states[0], h, c)))
    return failure();
  put(call, 1, states[0].sizes, h);
  put(call, 2, states[1].sizes, c);
  return success();
}

/// GRU and plain layers: one state.
template <StepFn step, int64_t gates>
static LogicalResult layers(const KernelCall &call) {
  Tensor state = call.dense("hx");
  Vector h = state.doubles(), none;
  if (failed(run(call, step, gates, state, h, none)))
    return failure();
  put(call, 1, state.sizes, h);
  return success();
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// One step of all samples; `h` and `c` become the next states.
static LogicalResult runCell(const KernelCall &call, StepFn step, int64_t gates,
                             Vector &h, Vector &c) {
  Tensor input = call.dense("input"), weight = call.dense("w_ih");
  Cell cell;
  cell.inputWeight = weight.doubles();
  cell.stateWeight = doubles(call, "w_hh");
  cell.inputBias = doubles(call.optionalTensor("b_ih"));
  cell.stateBias = doubles(call.optionalTensor("b_hh"));
  cell.inner = weight.sizes[1];
  cell.hidden = cell.out = weight.sizes[0] / gates;
  int64_t batch = product(ArrayRef<int64_t>(input.sizes).drop_back());
  Vector x = doubles(call, "input", batch * cell.inner);
  if (failed(checkCell(call, cell, gates)) ||
      failed(checkCount(call, "hx", h.size(), batch * cell.out)) ||
      (!c.empty() &&
       failed(checkCount(call, "hx", c.size(), batch * cell.hidden))))
    return failure();
  for (int64_t b = 0; b < batch; ++b)
    step(cell, x.data() + b * cell.inner, h.data() + b * cell.out,
         c.empty() ? nullptr : c.data() + b * cell.hidden);
  return success();
}

static LogicalResult lstmCell(const KernelCall &call) {
  std::vector<Tensor> states = call.tensors("hx");
  Vector h = states[0].doubles(), c = states[1].doubles();
  if (failed(runCell(call, stepLstm, 4, h, c)))
    return failure();
  put(call, 0, states[0].sizes, h);
  put(call, 1, states[1].sizes, c);
  return success();
}

template <StepFn step, int64_t gates>
static LogicalResult cell(const KernelCall &call) {
  Tensor state = call.dense("hx");
  Vector h = state.doubles(), none;
  if (failed(runCell(call, step, gates, h, none)))
    return failure();
  put(call, 0, state.sizes, h);
  return success();
}

const KernelFn kernels::lstm = ::lstm;
const KernelFn kernels::gru = layers<stepGru, 3>;
const KernelFn kernels::rnnTanh = layers<stepPlain<tangent>, 1>;
const KernelFn kernels::rnnRelu = layers<stepPlain<::relu>, 1>;
const KernelFn kernels::lstmCell = ::lstmCell;
const KernelFn kernels::gruCell = cell<stepGru, 3>;
const KernelFn kernels::rnnTanhCell = cell<stepPlain<tangent>, 1>;
const KernelFn kernels::rnnReluCell = cell<stepPlain<::relu>, 1>;
