// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block, x of shape [rows, width]:
//
//   mean, centred, squared, variance, rsqrt → n = norm(x)     (7 ops)
//   p = permute(w); h = mm(n, p); a = h + b; g = sigmoid(a)
//   s = a · g; m = s · shared; y = x + m                      (7 ops)
//
// and the backward of it in reverse order, as an autograd engine writes it.

#include "GenerateGraph.h"

using namespace cutback::bench;

namespace {

class Writer {
public:
  explicit Writer(const GraphShape &shape) : shape(shape) {
    full = "f32[" + std::to_string(shape.rows) + ", " +
           std::to_string(shape.width) + "][" + std::to_string(shape.width) +
           ", 1]cuda:0";
    column = "f32[" + std::to_string(shape.rows) + ", 1][1, 1]cuda:0";
    square = "f32[" + std::to_string(shape.width) + ", " +
             std::to_string(shape.width) + "][" + std::to_string(shape.width) +
             ", 1]cuda:0";
    transposed = "f32[" + std::to_string(shape.width) + ", " +
                 std::to_string(shape.width) + "][1, " +
                 std::to_string(shape.width) + "]cuda:0";
    row = "f32[" + std::to_string(shape.width) + "][1]cuda:0";
    flippedFull = "f32[" + std::to_string(shape.width) + ", " +
                  std::to_string(shape.rows) + "][1, " +
                  std::to_string(shape.width) + "]cuda:0";
  }

  std::string run();

private:
  static constexpr unsigned kOpsPerBlock = 39;

  void line(const std::string &name, const std::string &type,
            const std::string &call) {
    text += "        " + name + ": \"" + type + "\" = torch.ops.aten." + call +
            "\n";
  }
  void place(uint64_t block) {
    text +=
        "        # File: /model/blocks.py:" + std::to_string(10 + block % 9) +
        " in forward, code: x = x + self.block(x)\n";
  }
  void header(uint64_t blocks);
  void forward(uint64_t block);
  void backward(uint64_t block);
  static std::string id(const char *name, uint64_t block) {
    return name + ("_" + std::to_string(block));
  }
  std::string input(uint64_t block) const {
    return block == 0 ? "primals_1" : id("y", block - 1);
  }

  const GraphShape &shape;
  std::string full, column, square, transposed, row, flippedFull;
  std::string text;
};

void Writer::header(uint64_t blocks) {
  text += "class inner_f(torch.nn.Module):\n    def forward(\n        self,\n"
          "        primals,\n        tangents,\n    ):\n";
  std::string all;
  auto declare = [&](const std::string &name, const std::string &type,
                     const std::string &what) {
    text += "        " + name + ": \"" + type + "\"  # " + what + "\n";
    all += name + ", ";
  };
  declare("primals_1", full, "PlainAOTInput(idx=0)");
  declare("primals_2", full, "PlainAOTInput(idx=1)");
  for (uint64_t block = 0; block < blocks; ++block) {
    std::string prefix = "blocks." + std::to_string(block);
    declare("primals_" + std::to_string(3 + 2 * block), square,
            "ParamAOTInput(target='" + prefix + ".fc.weight')");
    declare("primals_" + std::to_string(4 + 2 * block), row,
            "ParamAOTInput(target='" + prefix + ".fc.bias')");
  }
  declare("tangents_1", full, "TangentAOTInput(output=PlainAOTOutput(idx=0))");
  text += "        " + all +
          "= fx_pytree.tree_flatten_spec([primals, tangents], "
          "self._in_spec)\n";
}

void Writer::forward(uint64_t b) {
  std::string x = input(b), weight = "primals_" + std::to_string(3 + 2 * b),
              bias = "primals_" + std::to_string(4 + 2 * b);
  place(b);
  line(id("mean", b), column, "mean.dim(" + x + ", [1], True)");
  line(id("c", b), full, "sub.Tensor(" + x + ", " + id("mean", b) + ")");
  line(id("sq", b), full, "mul.Tensor(" + id("c", b) + ", " + id("c", b) + ")");
  line(id("var", b), column, "mean.dim(" + id("sq", b) + ", [1], True)");
  line(id("eps", b), column, "add.Tensor(" + id("var", b) + ", 1e-05)");
  line(id("rstd", b), column, "rsqrt.default(" + id("eps", b) + ")");
  line(id("n", b), full,
       "mul.Tensor(" + id("c", b) + ", " + id("rstd", b) + ")");
  line(id("p", b), transposed, "permute.default(" + weight + ", [1, 0])");
  line(id("h", b), full, "mm.default(" + id("n", b) + ", " + id("p", b) + ")");
  line(id("a", b), full, "add.Tensor(" + id("h", b) + ", " + bias + ")");
  line(id("g", b), full, "sigmoid.default(" + id("a", b) + ")");
  line(id("s", b), full, "mul.Tensor(" + id("a", b) + ", " + id("g", b) + ")");
  line(id("m", b), full,
       "mul.Tensor(" + id("s", b) + ", " +
           (shape.sharedValue ? std::string("shared") : id("g", b)) + ")");
  line(id("y", b), full, "add.Tensor(" + x + ", " + id("m", b) + ")");
}

void Writer::backward(uint64_t b) {
  std::string gy = id("gy", b);
  std::string other = shape.sharedValue ? std::string("shared") : id("g", b);
  place(b);
  line(id("gs", b), full, "mul.Tensor(" + gy + ", " + other + ")");
  line(id("ga1", b), full,
       "mul.Tensor(" + id("gs", b) + ", " + id("g", b) + ")");
  line(id("gg", b), full,
       "mul.Tensor(" + id("gs", b) + ", " + id("a", b) + ")");
  line(id("og", b), full, "sub.Tensor(1, " + id("g", b) + ")");
  line(id("dg", b), full,
       "mul.Tensor(" + id("g", b) + ", " + id("og", b) + ")");
  line(id("ga2", b), full,
       "mul.Tensor(" + id("gg", b) + ", " + id("dg", b) + ")");
  line(id("ga", b), full,
       "add.Tensor(" + id("ga1", b) + ", " + id("ga2", b) + ")");
  line(id("gb1", b),
       "f32[1, " + std::to_string(shape.width) + "][" +
           std::to_string(shape.width) + ", 1]cuda:0",
       "sum.dim_IntList(" + id("ga", b) + ", [0], True)");
  line(id("gb", b), row,
       "view.default(" + id("gb1", b) + ", [" + std::to_string(shape.width) +
           "])");
  line(id("nt", b), flippedFull,
       "permute.default(" + id("ga", b) + ", [1, 0])");
  line(id("gw", b), square,
       "mm.default(" + id("nt", b) + ", " + id("n", b) + ")");
  line(id("pt", b), square, "permute.default(" + id("p", b) + ", [1, 0])");
  line(id("gn", b), full,
       "mm.default(" + id("ga", b) + ", " + id("pt", b) + ")");
  line(id("gc1", b), full,
       "mul.Tensor(" + id("gn", b) + ", " + id("rstd", b) + ")");
  line(id("gr1", b), full,
       "mul.Tensor(" + id("gn", b) + ", " + id("c", b) + ")");
  line(id("gr", b), column, "sum.dim_IntList(" + id("gr1", b) + ", [1], True)");
  line(id("r3", b), column, "pow.Tensor_Scalar(" + id("rstd", b) + ", 3)");
  line(id("gv1", b), column,
       "mul.Tensor(" + id("gr", b) + ", " + id("r3", b) + ")");
  line(id("gv", b), column, "mul.Tensor(" + id("gv1", b) + ", -0.5)");
  line(id("gv2", b), column,
       "div.Scalar(" + id("gv", b) + ", " + std::to_string(shape.width) + ")");
  line(id("c2", b), full, "mul.Scalar(" + id("c", b) + ", 2.0)");
  line(id("gc2", b), full,
       "mul.Tensor(" + id("c2", b) + ", " + id("gv2", b) + ")");
  line(id("gc", b), full,
       "add.Tensor(" + id("gc1", b) + ", " + id("gc2", b) + ")");
  line(id("gm", b), column, "mean.dim(" + id("gc", b) + ", [1], True)");
  line(id("gx", b), full,
       "sub.Tensor(" + id("gc", b) + ", " + id("gm", b) + ")");
  line(b == 0 ? "gin" : id("gy", b - 1), full,
       "add.Tensor(" + gy + ", " + id("gx", b) + ")");
}

std::string Writer::run() {
  uint64_t blocks = shape.ops / kOpsPerBlock + 1;
  text.reserve(blocks * 4000);
  header(blocks);
  if (shape.sharedValue)
    line("shared", full, "cos.default(primals_2)");
  for (uint64_t block = 0; block < blocks; ++block)
    forward(block);
  // The engine starts from the tangent of the last block's result.
  line(id("gy", blocks - 1), full, "mul.Tensor(tangents_1, 1.0)");
  for (uint64_t block = blocks; block-- > 0;)
    backward(block);
  text += "        return pytree.tree_unflatten([\n            " +
          id("y", blocks - 1) +
          ",  # PlainAOTOutput(idx=0)\n"
          "            gin,  # GradAOTOutput(grad_of=PlainAOTInput(idx=0))\n"
          "            None,  # None\n";
  for (uint64_t block = 0; block < blocks; ++block) {
    std::string prefix = "blocks." + std::to_string(block);
    text += "            " + id("gw", block) +
            ",  # GradAOTOutput(grad_of=ParamAOTInput(target='" + prefix +
            ".fc.weight'))\n            " + id("gb", block) +
            ",  # GradAOTOutput(grad_of=ParamAOTInput(target='" + prefix +
            ".fc.bias'))\n";
  }
  text += "        ], self._out_spec)\n";
  return std::move(text);
}

} // namespace

std::string cutback::bench::generateJointText(const GraphShape &shape) {
  return Writer(shape).run();
}
