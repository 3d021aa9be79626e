// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded random training graphs, as text: pointwise ops, products, views,
// random draws, duplicates, writes to buffers. Used by the tests of the
// transforms, of the peak and of the certificate.
#ifndef CUTBACK_TEST_UNIT_TRANSFORMS_RANDOMGRAPH_H
#define CUTBACK_TEST_UNIT_TRANSFORMS_RANDOMGRAPH_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <random>
#include <string>
#include <vector>

namespace cutback::test {

inline void loadDialects(mlir::MLIRContext &context) {
  context.disableMultithreading();
  context.loadDialect<aten::AtenDialect, joint::JointDialect,
                      mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                      mlir::tensor::TensorDialect>();
}

struct RandomGraphOptions {
  unsigned numForward = 40, numBackward = 60;
  unsigned numParams = 4, numBuffers = 2;
  unsigned percentRandom = 5, percentView = 10, percentWrite = 4;
  unsigned percentDuplicate = 10;
  /// Operands are among the last so many values, mostly.
  unsigned window = 12;
  /// Every op reads the one before it: little is dead.
  bool isChain = false;
};

class RandomGraph {
public:
  RandomGraph(uint64_t seed, const RandomGraphOptions &options)
      : random(seed), options(options) {}

  std::string text() {
    addArguments();
    for (unsigned i = 0; i < options.numForward; ++i)
      addOp(forward, "f");
    for (const std::string &buffer : buffers)
      if (chance(options.percentWrite * 10))
        write("f", buffer, near(forward));
    backward.push_back("t0");
    for (unsigned i = 0; i < options.numBackward; ++i)
      addBackwardOp();
    body +=
        "    joint.output %" + result + ", %" + forward.back() + " gradients(";
    for (unsigned i = 0; i < options.numParams; ++i)
      body += (i ? ", %" : "%") + backward[backward.size() - 1 - pick(6)] +
              " of " + std::to_string(i);
    body += ") : " + types(2 + options.numParams) + "\n";
    return "joint.graph @g(" + arguments + ") -> (" + types(2) +
           ") gradients (" + types(options.numParams) + ") {\n" + body +
           "  }\n";
  }

private:
  static constexpr const char *type = "tensor<4x4xf32>";

  unsigned pick(unsigned n) { return random() % n; }
  bool chance(unsigned percent) { return pick(100) < percent; }

  static std::string types(unsigned n) {
    std::string text;
    for (unsigned i = 0; i < n; ++i)
      text += (i ? ", " : "") + std::string(type);
    return text;
  }

  void addArgument(const std::string &name, const std::string &role) {
    arguments += (arguments.empty() ? "%" : ", %") + name + ": " + type +
                 " {joint.role = #joint.role<" + role + ">}";
  }

  void addArguments() {
    for (unsigned i = 0; i < options.numParams; ++i) {
      addArgument("p" + std::to_string(i), "param");
      forward.push_back("p" + std::to_string(i));
    }
    for (unsigned i = 0; i < options.numBuffers; ++i) {
      addArgument("b" + std::to_string(i), "buffer");
      buffers.push_back("b" + std::to_string(i));
    }
    addArgument("x0", "input");
    forward.push_back("x0");
    addArgument("t0", "tangent of 0");
  }

  const std::string &near(const std::vector<std::string> &values) {
    unsigned n = values.size();
    if (chance(85))
      return values[n - 1 - pick(std::min(n, options.window))];
    return values[pick(n)];
  }

  std::string call(const std::vector<std::string> &a,
                   const std::vector<std::string> &b) {
    static const char *unary[] = {"sin", "exp", "relu", "tanh"};
    static const char *binary[] = {"mul.Tensor", "sub.Tensor", "mm"};
    std::string x = "%" + (options.isChain ? a.back() : near(a));
    std::string y = "%" + near(b);
    std::string one = std::string(" : (") + type + ") -> " + type;
    std::string two = " : (" + types(2) + ") -> " + type;
    if (chance(options.percentRandom))
      return "aten.bernoulli(" + x + ")" + one;
    if (chance(options.percentView))
      return "aten.t(" + x + ")" + one;
    switch (pick(4)) {
    case 0:
      return std::string("aten.") + unary[pick(4)] + "(" + x + ")" + one;
    case 1:
      return "aten.mul.Tensor(" + x + ", " + std::to_string(pick(3)) + ".5)" +
             one;
    default:
      return std::string("aten.") + binary[pick(3)] + "(" + x + ", " + y + ")" +
             two;
    }
  }

  void addOp(std::vector<std::string> &values, const char *prefix) {
    std::string name = prefix + std::to_string(next++);
    if (!calls.empty() && !options.isChain && chance(options.percentDuplicate))
      calls.push_back(
          calls[calls.size() - 1 - pick(std::min<unsigned>(calls.size(), 20))]);
    else
      calls.push_back(call(values, values));
    body += "    %" + name + " = " + calls.back() + "\n";
    values.push_back(name);
    result = name;
    if (chance(options.percentWrite) && !buffers.empty())
      readBuffer(values, prefix);
  }

  void readBuffer(std::vector<std::string> &values, const char *prefix) {
    std::string name = prefix + std::to_string(next++);
    body += "    %" + name + " = aten.sub.Tensor(%" +
            buffers[pick(buffers.size())] + ", %" + near(values) + ") : (" +
            types(2) + ") -> " + type + "\n";
    values.push_back(name);
  }

  void write(const char *prefix, const std::string &buffer,
             const std::string &value) {
    std::string name = prefix + std::to_string(next++);
    body += "    %" + name + " = joint.write %" + buffer + ", %" + value +
            " : " + types(2) + "\n";
  }

  void addBackwardOp() {
    std::string name = "g" + std::to_string(next++);
    std::string text;
    if (!backwardCalls.empty() && !options.isChain &&
        chance(options.percentDuplicate))
      text = backwardCalls[backwardCalls.size() - 1 -
                           pick(std::min<unsigned>(backwardCalls.size(), 10))];
    else if (chance(60))
      text = call(backward, forward);
    else
      text = call(backward, backward);
    backwardCalls.push_back(text);
    body += "    %" + name + " = " + text + "\n";
    backward.push_back(name);
    if (buffers.empty() || !chance(options.percentWrite))
      return;
    if (chance(50))
      readBuffer(backward, "g");
    else
      write("g", buffers[pick(buffers.size())], near(backward));
  }

  std::mt19937_64 random;
  RandomGraphOptions options;
  std::string arguments, body, result;
  std::vector<std::string> forward, backward, buffers, calls, backwardCalls;
  unsigned next = 0;
};

inline std::string randomGraphText(uint64_t seed,
                                   const RandomGraphOptions &options = {}) {
  return RandomGraph(seed, options).text();
}

inline mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context,
                                               const std::string &text) {
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
}

inline joint::GraphOp graphOf(mlir::ModuleOp module) {
  return *module.getOps<joint::GraphOp>().begin();
}

inline std::string print(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  return text;
}

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_TRANSFORMS_RANDOMGRAPH_H
