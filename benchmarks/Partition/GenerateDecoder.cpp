// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoder as PyTorch's joint texts show one, of any depth. One layer:
//
//   n = rmsnorm(x); q, k, v = n · Wq, n · Wk, n · Wv, by heads
//   q, k = rotate(q), rotate(k); p = softmax(q · kᵀ / √d + mask)
//   x = x + (p · v) · Wo
//   x = x + (silu(rmsnorm(x) · Wg) * (rmsnorm(x) · Wu)) · Wd
//
// Each function writes its forward call and puts what the backward writes for
// it on a tape, which is run from the end, as an autograd engine would. The
// rotary tables and the mask are computed once and read in every layer of both
// halves; without `sharedValue` there are none.

#include "GenerateGraph.h"

#include <functional>
#include <map>
#include <vector>

using namespace cutback::bench;

namespace {

using Sizes = std::vector<int64_t>;

struct Tensor {
  std::string name;
  Sizes sizes, strides;
  uint32_t id = 0;
  bool needsGradient = false;
};

Sizes contiguous(const Sizes &sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

std::string list(const Sizes &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

class Decoder {
public:
  explicit Decoder(const GraphShape &shape) : shape(shape) {}
  std::string run();

private:
  static constexpr int64_t kHeads = 16;

  // Writing.
  Tensor call(const std::string &op, const std::string &arguments,
              const Sizes &sizes, Sizes strides = {});
  Tensor parameter(const std::string &target, const Sizes &sizes);
  void place(const char *function, int line, const char *code);
  static std::string type(const Tensor &tensor) {
    return "f32" + list(tensor.sizes) + list(tensor.strides) + "cuda:0";
  }

  // The tape.
  Tensor differentiable(Tensor tensor, std::function<void(Tensor)> backward);
  void accumulate(const Tensor &tensor, Tensor gradient);

  // Ops with a gradient.
  Tensor add(Tensor a, Tensor b);
  Tensor mul(Tensor a, Tensor b);
  Tensor scale(Tensor a, const std::string &factor);
  Tensor view(Tensor a, Sizes sizes);
  Tensor permute(Tensor a, std::vector<int> order);
  Tensor copy(Tensor a);
  Tensor product(const char *op, Tensor a, Tensor b);
  Tensor softmax(Tensor a);
  Tensor silu(Tensor a);
  Tensor rotateHalf(Tensor a);
  Tensor rmsnorm(Tensor x, const std::string &target);

  // Parts of a layer.
  Tensor linear(Tensor x, const std::string &target, int64_t in, int64_t out);
  Tensor heads(Tensor x);
  Tensor rotate(Tensor x);
  Tensor attention(Tensor x, const std::string &prefix);
  Tensor feedForward(Tensor x, const std::string &prefix);

  const GraphShape &shape;
  std::string header, all, body, results;
  std::map<std::string, uint64_t> used; ///< names given away, by stem
  std::vector<std::pair<uint32_t, std::function<void(Tensor)>>> tape;
  std::vector<Tensor> gradients; ///< by id; no name: none yet
  std::vector<Tensor> parameters;
  std::vector<std::string> targets;
  Tensor cosine, sine, mask;
  uint32_t nextId = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Text and tape
//===----------------------------------------------------------------------===//

/// `op` is "mul.Tensor"; the value is called mul, mul_1, …
Tensor Decoder::call(const std::string &op, const std::string &arguments,
                     const Sizes &sizes, Sizes strides) {
  Tensor tensor;
  tensor.name = op.substr(0, op.find('.'));
  if (uint64_t before = used[tensor.name]++)
    tensor.name += "_" + std::to_string(before);
  tensor.sizes = sizes;
  tensor.strides = strides.empty() ? contiguous(sizes) : std::move(strides);
  tensor.id = nextId++;
  body += "        " + tensor.name + ": \"" + type(tensor) +
          "\" = torch.ops.aten." + op + "(" + arguments + ")\n";
  return tensor;
}

void Decoder::place(const char *function, int line, const char *code) {
  body += "\n        # File: /model/decoder.py:" + std::to_string(line) +
          " in " + function + ", code: " + code + "\n";
}

Tensor Decoder::parameter(const std::string &target, const Sizes &sizes) {
  Tensor tensor;
  tensor.name = "primals_" + std::to_string(parameters.size() + 1);
  tensor.sizes = sizes;
  tensor.strides = contiguous(sizes);
  tensor.id = nextId++;
  tensor.needsGradient = target != "";
  header +=
      "        " + tensor.name + ": \"" + type(tensor) + "\"  # " +
      (target.empty()
           ? "PlainAOTInput(idx=" + std::to_string(parameters.size()) + ")"
           : "ParamAOTInput(target='" + target + "')") +
      "\n";
  all += tensor.name + ", ";
  parameters.push_back(tensor);
  targets.push_back(target);
  return tensor;
}

Tensor Decoder::differentiable(Tensor tensor,
                               std::function<void(Tensor)> backward) {
  tensor.needsGradient = true;
  tape.push_back({tensor.id, std::move(backward)});
  return tensor;
}

void Decoder::accumulate(const Tensor &tensor, Tensor gradient) {
  if (!tensor.needsGradient)
    return;
  if (gradients.size() < nextId)
    gradients.resize(nextId);
  Tensor &sum = gradients[tensor.id];
  if (!sum.name.empty())
    gradient = call("add.Tensor", sum.name + ", " + gradient.name, sum.sizes);
  gradients.resize(nextId);
  gradients[tensor.id] = gradient;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Tensor Decoder::add(Tensor a, Tensor b) {
  Tensor y = call("add.Tensor", a.name + ", " + b.name, a.sizes);
  return differentiable(y, [=](Tensor g) {
    accumulate(b, g);
    accumulate(a, g);
  });
}

/// b may be one row for all of a.
Tensor Decoder::mul(Tensor a, Tensor b) {
  Tensor y = call("mul.Tensor", a.name + ", " + b.name, a.sizes);
  return differentiable(y, [=](Tensor g) {
    if (b.needsGradient) {
      Tensor gb = call("mul.Tensor", g.name + ", " + a.name, a.sizes);
      if (b.sizes.size() < a.sizes.size()) {
        Sizes row = {1, a.sizes[1]};
        gb = call("sum.dim_IntList", gb.name + ", [0], True", row);
        gb = call("view.default", gb.name + ", " + list(b.sizes), b.sizes);
      }
      accumulate(b, gb);
    }
    accumulate(a, call("mul.Tensor", g.name + ", " + b.name, a.sizes));
  });
}

Tensor Decoder::scale(Tensor a, const std::string &factor) {
  Tensor y = call("mul.Tensor", a.name + ", " + factor, a.sizes);
  return differentiable(y, [=](Tensor g) {
    accumulate(a, call("mul.Tensor", g.name + ", " + factor, a.sizes));
  });
}

Tensor Decoder::view(Tensor a, Sizes sizes) {
  Tensor y = call("view.default", a.name + ", " + list(sizes), sizes);
  return differentiable(y, [=](Tensor g) {
    accumulate(a, call("view.default", g.name + ", " + list(a.sizes), a.sizes));
  });
}

static Sizes permuted(const Sizes &values, const std::vector<int> &order) {
  Sizes result;
  for (int dim : order)
    result.push_back(values[dim]);
  return result;
}

Tensor Decoder::permute(Tensor a, std::vector<int> order) {
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[order[i]] = static_cast<int>(i);
  auto dims = [](const std::vector<int> &order) {
    return list(Sizes(order.begin(), order.end()));
  };
  Tensor y = call("permute.default", a.name + ", " + dims(order),
                  permuted(a.sizes, order), permuted(a.strides, order));
  return differentiable(y, [=](Tensor g) {
    Tensor back =
        call("permute.default", g.name + ", " + dims(inverse),
             permuted(g.sizes, inverse), permuted(g.strides, inverse));
    accumulate(a, call("clone.default",
                       back.name + ", memory_format = torch.contiguous_format",
                       back.sizes));
  });
}

Tensor Decoder::copy(Tensor a) {
  Tensor y =
      call("clone.default",
           a.name + ", memory_format = torch.contiguous_format", a.sizes);
  return differentiable(y, [=](Tensor g) { accumulate(a, g); });
}

/// A product of matrices, or of stacks of them.
Tensor Decoder::product(const char *op, Tensor a, Tensor b) {
  size_t rank = a.sizes.size();
  auto flip = [=](Tensor t) {
    std::vector<int> order;
    for (size_t i = 0; i < rank; ++i)
      order.push_back(static_cast<int>(i));
    std::swap(order[rank - 1], order[rank - 2]);
    return call("permute.default",
                t.name + (rank == 2 ? ", [1, 0]" : ", [0, 2, 1]"),
                permuted(t.sizes, order), permuted(t.strides, order));
  };
  auto multiply = [=](Tensor left, Tensor right) {
    Sizes sizes = left.sizes;
    sizes.back() = right.sizes.back();
    return call(op, left.name + ", " + right.name, sizes);
  };
  return differentiable(multiply(a, b), [=](Tensor g) {
    accumulate(b, multiply(flip(a), g));
    accumulate(a, multiply(g, flip(b)));
  });
}

Tensor Decoder::softmax(Tensor a) {
  Tensor y = call("_softmax.default", a.name + ", -1, False", a.sizes);
  return differentiable(y, [=](Tensor g) {
    accumulate(a,
               call("_softmax_backward_data.default",
                    g.name + ", " + y.name + ", -1, torch.float32", a.sizes));
  });
}

Tensor Decoder::silu(Tensor a) {
  Tensor s = call("sigmoid.default", a.name, a.sizes);
  Tensor y = call("mul.Tensor", a.name + ", " + s.name, a.sizes);
  return differentiable(y, [=](Tensor g) {
    Tensor t = call("sigmoid.default", a.name, a.sizes);
    Tensor r = call("sub.Tensor", "1, " + t.name, a.sizes);
    r = call("mul.Tensor", a.name + ", " + r.name, a.sizes);
    r = call("add.Tensor", r.name + ", 1", a.sizes);
    r = call("mul.Tensor", t.name + ", " + r.name, a.sizes);
    accumulate(a, call("mul.Tensor", g.name + ", " + r.name, a.sizes));
  });
}

/// [a, b] becomes [-b, a] in the last dimension.
Tensor Decoder::rotateHalf(Tensor x) {
  Sizes half = x.sizes;
  half.back() /= 2;
  std::string middle = std::to_string(half.back());
  auto part = [=](Tensor t, bool second) {
    return call(
        "slice.Tensor",
        t.name + ", 3, " +
            (second ? middle + ", 9223372036854775807" : "0, " + middle),
        half, t.strides);
  };
  auto join = [=](Tensor a, Tensor b) {
    return call("cat.default", "[" + a.name + ", " + b.name + "], -1", x.sizes);
  };
  auto negate = [=](Tensor t) { return call("neg.default", t.name, half); };
  Tensor a = part(x, false), b = part(x, true);
  return differentiable(join(negate(b), a), [=](Tensor g) {
    Tensor first = part(g, false), second = part(g, true);
    accumulate(x, join(second, negate(first)));
  });
}

/// x / √(mean(x²) + ε) · w
Tensor Decoder::rmsnorm(Tensor x, const std::string &target) {
  place("rmsnorm", 31, "return x * rsqrt(x.pow(2).mean(-1)) * self.weight");
  Tensor weight = parameter(target, {shape.width});
  Sizes column = {x.sizes[0], 1};
  Tensor r = call("pow.Tensor_Scalar", x.name + ", 2", x.sizes);
  r = call("mean.dim", r.name + ", [-1], True", column);
  r = call("add.Tensor", r.name + ", 1e-05", column);
  Tensor root = call("rsqrt.default", r.name, column);
  Tensor y = call("mul.Tensor", x.name + ", " + root.name, x.sizes);
  y = differentiable(y, [=](Tensor g) {
    Tensor p = call("mul.Tensor", g.name + ", " + x.name, x.sizes);
    p = call("sum.dim_IntList", p.name + ", [1], True", column);
    Tensor q = call("pow.Tensor_Scalar", root.name + ", 3", column);
    p = call("mul.Scalar", p.name + ", -0.5", column);
    p = call("mul.Tensor", p.name + ", " + q.name, column);
    p = call("expand.default", p.name + ", " + list(x.sizes), x.sizes, {1, 0});
    p = call("div.Scalar", p.name + ", " + std::to_string(shape.width),
             x.sizes);
    Tensor twice = call("mul.Scalar", x.name + ", 2.0", x.sizes);
    p = call("mul.Tensor", p.name + ", " + twice.name, x.sizes);
    Tensor direct = call("mul.Tensor", g.name + ", " + root.name, x.sizes);
    accumulate(x, direct);
    accumulate(x, p);
  });
  return mul(y, weight);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

Tensor Decoder::linear(Tensor x, const std::string &target, int64_t in,
                       int64_t out) {
  place("linear", 12, "return x @ self.weight.t()");
  return product("mm.default", x,
                 permute(parameter(target, {out, in}), {1, 0}));
}

Tensor Decoder::heads(Tensor x) {
  place("heads", 44, "return x.view(b, t, h, -1).transpose(1, 2)");
  x = view(x, {shape.rows / kTokens, kTokens, kHeads, shape.width / kHeads});
  return permute(x, {0, 2, 1, 3});
}

Tensor Decoder::rotate(Tensor x) {
  if (!shape.sharedValue)
    return x;
  place("rotate", 52, "return x * cos + rotate_half(x) * sin");
  Tensor turned = mul(rotateHalf(x), sine);
  return add(mul(x, cosine), turned);
}

Tensor Decoder::attention(Tensor x, const std::string &prefix) {
  int64_t width = shape.width, dim = width / kHeads;
  int64_t stacks = shape.rows / kTokens * kHeads;
  Tensor n = rmsnorm(x, prefix + ".norm1.weight");
  Tensor q = rotate(heads(linear(n, prefix + ".wq.weight", width, width)));
  Tensor k = rotate(heads(linear(n, prefix + ".wk.weight", width, width)));
  Tensor v = heads(linear(n, prefix + ".wv.weight", width, width));
  place("attend", 71, "p = softmax(q @ k.transpose(-1, -2) / dim ** 0.5)");
  auto stack = [&](Tensor t) { return view(copy(t), {stacks, kTokens, dim}); };
  Tensor transposed = permute(stack(k), {0, 2, 1});
  Tensor scores = product("bmm.default", stack(q), transposed);
  scores = scale(scores, "0.125");
  scores = view(scores, {stacks / kHeads, kHeads, kTokens, kTokens});
  if (shape.sharedValue)
    scores = add(scores, mask);
  Tensor p = view(softmax(scores), {stacks, kTokens, kTokens});
  Tensor y = view(product("bmm.default", p, stack(v)),
                  {stacks / kHeads, kHeads, kTokens, dim});
  y = view(copy(permute(y, {0, 2, 1, 3})), {shape.rows, width});
  return add(x, linear(y, prefix + ".wo.weight", width, width));
}

Tensor Decoder::feedForward(Tensor x, const std::string &prefix) {
  int64_t width = shape.width, inner = 4 * width;
  Tensor n = rmsnorm(x, prefix + ".norm2.weight");
  Tensor gate = linear(n, prefix + ".gate.weight", width, inner);
  Tensor up = linear(n, prefix + ".up.weight", width, inner);
  place("feed", 90, "return self.down(silu(self.gate(x)) * self.up(x))");
  Tensor y = mul(silu(gate), up);
  return add(x, linear(y, prefix + ".down.weight", inner, width));
}

std::string Decoder::run() {
  const uint64_t opsPerLayer = shape.sharedValue ? 198 : 168;
  uint64_t layers = std::max<uint64_t>(1, shape.ops / opsPerLayer);
  int64_t dim = shape.width / kHeads;
  Tensor x = parameter("", {shape.rows, shape.width});
  if (shape.sharedValue) {
    place("tables", 20, "return angle.cos(), angle.sin(), mask");
    Tensor angle = parameter("", {kTokens, dim});
    Tensor allowed = parameter("", {kTokens, kTokens});
    cosine = call("cos.default", angle.name, angle.sizes);
    sine = call("sin.default", angle.name, angle.sizes);
    mask = call("log.default", allowed.name, allowed.sizes);
  }
  Tensor y = x;
  for (uint64_t layer = 0; layer < layers; ++layer) {
    std::string prefix = "layers." + std::to_string(layer);
    y = feedForward(attention(y, prefix), prefix);
  }
  Tensor tangent = y;
  tangent.name = "tangents_1";
  gradients.resize(nextId);
  gradients[y.id] = tangent;
  body += "\n        # No stacktrace found for following nodes\n";
  for (size_t i = tape.size(); i-- > 0; tape.pop_back())
    if (tape[i].first < gradients.size())
      if (Tensor g = gradients[tape[i].first]; !g.name.empty())
        tape[i].second(g);
  for (size_t i = 0; i < parameters.size(); ++i)
    results += targets[i].empty()
                   ? "            None,  # None\n"
                   : "            " + gradients[parameters[i].id].name +
                         ",  # GradAOTOutput(grad_of=ParamAOTInput(target='" +
                         targets[i] + "'))\n";
  header += "        tangents_1: \"" + type(tangent) +
            "\"  # TangentAOTInput(output=PlainAOTOutput(idx=0))\n";
  return "class inner_f(torch.nn.Module):\n    def forward(\n        self,\n"
         "        primals,\n        tangents,\n    ):\n" +
         header + "        " + all +
         "tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], "
         "self._in_spec)\n" +
         body + "        return pytree.tree_unflatten([\n            " +
         y.name + ",  # PlainAOTOutput(idx=0)\n" + results +
         "        ], self._out_spec)\n";
}

std::string cutback::bench::generateDecoderText(const GraphShape &shape) {
  return Decoder(shape).run();
}
