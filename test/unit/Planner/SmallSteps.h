// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded random training steps of at most 16 ops or so, with tensors of unequal
// sizes and with gradients that are right: small enough to look at every plan,
// and with something to choose.
#ifndef CUTBACK_TEST_UNIT_PLANNER_SMALLSTEPS_H
#define CUTBACK_TEST_UNIT_PLANNER_SMALLSTEPS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cutback::test {

class SmallStep {
public:
  explicit SmallStep(uint64_t seed) : random(seed) {}

  /// The text of the graph, of at most `most` ops; empty where this seed has
  /// more.
  std::string text(unsigned most = 16) {
    values.push_back(argument("x", "input", widths[pick(4)]));
    unsigned count = 3 + pick(4);
    for (unsigned i = 0; i < count; ++i)
      addForward();
    addLoss();
    for (size_t i = ops.size(); i-- > 0;)
      addBackward(ops[i]);
    if (numOps > most || gradients.empty())
      return "";
    std::sort(gradients.begin(), gradients.end(),
              [](const auto &a, const auto &b) { return a.second < b.second; });
    std::string list, types;
    for (const auto &[name, parameter] : gradients) {
      list += (list.empty() ? "" : ", ") + name + " of " +
              std::to_string(parameter);
      types += ", " + typeOfParameter[parameter];
    }
    return "joint.graph @g(" + arguments +
           ", %t: tensor<f32> {joint.role = #joint.role<tangent of 0>}) -> "
           "(tensor<f32>) gradients (" +
           types.substr(2) + ") {\n" + body +
           "  joint.output %loss gradients(" + list + ") : tensor<f32>" +
           types + "\n}\n";
  }

private:
  static constexpr int64_t rows = 256;
  static constexpr int64_t widths[4] = {64, 256, 512, 1024};

  struct Tensor {
    std::string name;
    int64_t width;
    std::string gradient;   ///< "" as long as there is none
    bool hasWeight = false; ///< it depends on a parameter
  };
  enum Kind { Product, Sine, Exponential, Tanh, Sum, Multiply };
  struct Op {
    Kind kind;
    size_t result, left, right; ///< `right`: of a product the parameter
  };

  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }
  static std::string type(int64_t m, int64_t n) {
    return "tensor<" + std::to_string(m) + "x" + std::to_string(n) + "xf32>";
  }
  static std::string type(const Tensor &tensor) {
    return type(rows, tensor.width);
  }

  Tensor argument(const std::string &name, const std::string &role,
                  int64_t width) {
    arguments += (arguments.empty() ? "%" : ", %") + name + ": " +
                 type(rows, width) + " {joint.role = #joint.role<" + role +
                 ">}";
    typeOfParameter.push_back(type(rows, width));
    return {"%" + name, width, "", false};
  }

  std::string add(const std::string &op, const std::string &operands,
                  const std::string &types, const std::string &result) {
    std::string name = "%v" + std::to_string(numOps++);
    addNamed(name, op, operands, types, result);
    return name;
  }
  void addNamed(const std::string &name, const std::string &op,
                const std::string &operands, const std::string &types,
                const std::string &result) {
    body += "  " + name + " = aten." + op + "(" + operands + ") : (" + types +
            ") -> " + result + "\n";
  }

  void addForward() {
    size_t left = pick(4) ? values.size() - 1 : pick(values.size());
    auto kind = static_cast<Kind>(pick(3) ? pick(4) : pick(6));
    size_t right = left;
    const Tensor a = values[left];
    Tensor made{"", a.width, "", kind == Product || a.hasWeight};
    if (kind == Sum || kind == Multiply) {
      right = pick(values.size());
      if (values[right].width != a.width)
        right = left;
      made.hasWeight |= values[right].hasWeight;
    }
    if (kind == Product) {
      made.width = widths[pick(4)];
      std::string w = "w" + std::to_string(typeOfParameter.size());
      right = typeOfParameter.size();
      typeOfParameter.push_back(type(a.width, made.width));
      arguments += ", %" + w + ": " + typeOfParameter.back() +
                   " {joint.role = #joint.role<param>}";
      made.name = add("mm", a.name + ", %" + w,
                      type(a) + ", " + typeOfParameter.back(), type(made));
    } else if (kind == Sum || kind == Multiply) {
      made.name = add(kind == Sum ? "add.Tensor" : "mul.Tensor",
                      a.name + ", " + values[right].name,
                      type(a) + ", " + type(a), type(a));
    } else {
      made.name = add(kind == Sine   ? "sin"
                      : kind == Tanh ? "tanh"
                                     : "exp",
                      a.name, type(a), type(a));
    }
    ops.push_back({kind, values.size(), left, right});
    values.push_back(std::move(made));
  }

  void addLoss() {
    Tensor &last = values.back();
    ++numOps;
    addNamed("%loss", "sum", last.name, type(last), "tensor<f32>");
    last.gradient = add("expand",
                        "%t, [" + std::to_string(rows) + ", " +
                            std::to_string(last.width) + "]",
                        "tensor<f32>", type(last));
  }

  void give(size_t value, const std::string &gradient) {
    Tensor &to = values[value];
    if (!to.hasWeight)
      return; // nobody wants it
    to.gradient = to.gradient.empty()
                      ? gradient
                      : add("add.Tensor", to.gradient + ", " + gradient,
                            type(to) + ", " + type(to), type(to));
  }

  std::string times(const Tensor &of, const std::string &a,
                    const std::string &b) {
    return add("mul.Tensor", a + ", " + b, type(of) + ", " + type(of),
               type(of));
  }

  void addBackward(const Op &op) {
    const Tensor made = values[op.result];
    const Tensor left = values[op.left];
    const std::string &g = made.gradient;
    if (g.empty())
      return;
    switch (op.kind) {
    case Product:
      addBackwardOfProduct(op, made, left);
      return;
    case Sine:
      if (left.hasWeight)
        give(op.left,
             times(left, g, add("cos", left.name, type(left), type(left))));
      return;
    case Exponential:
      if (left.hasWeight)
        give(op.left, times(left, g, made.name));
      return;
    case Tanh:
      if (left.hasWeight)
        give(op.left, add("tanh_backward", g + ", " + made.name,
                          type(left) + ", " + type(left), type(left)));
      return;
    case Sum:
      give(op.left, g);
      give(op.right, g);
      return;
    case Multiply:
      if (left.hasWeight)
        give(op.left, times(left, g, values[op.right].name));
      if (values[op.right].hasWeight)
        give(op.right, times(left, g, left.name));
      return;
    }
  }

  void addBackwardOfProduct(const Op &op, const Tensor &made,
                            const Tensor &left) {
    std::string across = type(left.width, rows);
    std::string turned = add("t", left.name, type(left), across);
    gradients.emplace_back(add("mm", turned + ", " + made.gradient,
                               across + ", " + type(made),
                               typeOfParameter[op.right]),
                           op.right);
    if (!left.hasWeight)
      return;
    std::string turnedType = type(made.width, left.width);
    std::string w = add("t", "%w" + std::to_string(op.right),
                        typeOfParameter[op.right], turnedType);
    give(op.left, add("mm", made.gradient + ", " + w,
                      type(made) + ", " + turnedType, type(left)));
  }

  std::mt19937_64 random;
  std::string arguments, body;
  std::vector<Tensor> values;
  std::vector<Op> ops;
  /// By position among the arguments.
  std::vector<std::string> typeOfParameter;
  std::vector<std::pair<std::string, size_t>> gradients;
  unsigned numOps = 0;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PLANNER_SMALLSTEPS_H
