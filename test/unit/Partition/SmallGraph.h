// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded training graphs that are small enough to try every saved set: with
// views, random and unknown ops, ops with two results, writes to a buffer, and
// ops that neither half claims. Every op is needed.
#ifndef CUTBACK_TEST_UNIT_PARTITION_SMALLGRAPH_H
#define CUTBACK_TEST_UNIT_PARTITION_SMALLGRAPH_H

#include "../Transforms/RandomGraph.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Transforms/DeadCode.h"

#include <optional>

namespace cutback::test {

class SmallGraphText {
public:
  explicit SmallGraphText(uint64_t seed) : random(seed) {}

  std::string text() {
    for (unsigned i = 0, n = 2 + pick(4); i < n; ++i)
      addOp(forward, forward, "f");
    std::string result = forward.back();
    // One write a buffer: into what the forward wrote, the backward may not.
    bool writes = pick(3) == 0, early = pick(2) == 0;
    if (writes && early)
      body += write(any(forward), "");
    std::vector<std::string> unclaimed = forward;
    for (unsigned i = 0, n = pick(4); i < n; ++i)
      addOp(unclaimed, unclaimed, "x");
    if (writes && !early)
      body += write(any(unclaimed), " {side = #joint.side<backward>}");
    std::vector<std::string> backward{"t"};
    for (unsigned i = 0, n = 1 + pick(4); i < n; ++i)
      addBinary(backward, unclaimed);
    std::string gradients[2] = {backward.back(), backward.back()};
    if (pick(3) == 0)
      gradients[1] = any(unclaimed);
    return std::string("joint.graph @g(%p: ") + type + role("param") +
           "%x: " + type + role("input") +
           (writes ? std::string("%b: ") + type + role("buffer") : "") +
           "%t: " + type + " {joint.role = #joint.role<tangent of 0>}) -> (" +
           type + ") gradients (" + type + ", " + type + ") {\n" + body +
           "  joint.output %" + result + " gradients(%" + gradients[0] +
           " of 0, %" + gradients[1] + " of 1) : " + type + ", " + type + ", " +
           type + "\n}\n";
  }

private:
  using Names = std::vector<std::string>;
  static constexpr const char *type = "tensor<4x4xf32>";

  static std::string role(const char *what) {
    return std::string(" {joint.role = #joint.role<") + what + ">}, ";
  }
  std::string write(const std::string &value, const char *side) {
    std::string name = "w" + std::to_string(next++);
    return "  %" + name + " = joint.write %b, %" + value + side + " : " + type +
           ", " + type + "\n";
  }
  unsigned pick(unsigned n) { return random() % n; }
  const std::string &any(const Names &names) {
    // The last ones more often, so that chains come about.
    return names[pick(2) ? names.size() - 1 -
                               pick(std::min<unsigned>(names.size(), 2))
                         : pick(names.size())];
  }

  void line(const Names &results, const std::string &call,
            const Names &operands) {
    std::string left, in, out;
    for (const std::string &name : results) {
      left += (left.empty() ? "%" : ", %") + name;
      out += (out.empty() ? "" : ", ") + std::string(type);
    }
    std::string args;
    for (const std::string &name : operands) {
      args += (args.empty() ? "%" : ", %") + name;
      in += (in.empty() ? "" : ", ") + std::string(type);
    }
    body += "  " + left + " = " + call + "(" + args + ")" +
            (results.size() > 1 ? " {tuple}" : "") + " : (" + in + ") -> " +
            (results.size() > 1 ? "(" + out + ")" : out) + "\n";
  }

  void addOp(Names &values, const Names &from, const char *prefix) {
    std::string name = prefix + std::to_string(next++);
    std::string a = any(from), b = any(from);
    switch (pick(10)) {
    case 0:
      line({name}, "aten.bernoulli", {a});
      break;
    case 1:
      line({name, name + "_1"}, "joint.opaque \"my.op\"", {a});
      values.push_back(name + "_1");
      break;
    case 2:
    case 3:
      line({name}, "aten.t", {a});
      break;
    case 4:
    case 5:
      line({name}, "aten.mm", {a, b});
      break;
    case 6:
    case 7:
      line({name}, "aten.mul.Tensor", {a, b});
      break;
    default:
      line({name}, "aten.sin", {a});
    }
    values.push_back(name);
  }

  void addBinary(Names &backward, const Names &other) {
    std::string name = "g" + std::to_string(next++);
    line({name}, "aten.mul.Tensor", {backward.back(), any(other)});
    backward.push_back(name);
  }

  std::mt19937_64 random;
  std::string body;
  Names forward{"p", "x"};
  unsigned next = 0;
};

/// A parsed graph with its numbers; dead code is gone.
struct SmallGraph {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphView view;
  std::optional<GraphSets> sets;
  std::optional<ValueSizes> sizes;

  /// False if the text does not parse or its sets overlap.
  bool load(mlir::MLIRContext &context, const std::string &text) {
    module = parse(context, text);
    if (!module)
      return false;
    eliminateDeadCode(graphOf(*module));
    view = GraphView::build(graphOf(*module));
    mlir::FailureOr<GraphSets> computed = GraphSets::compute(view);
    mlir::FailureOr<ValueSizes> bytes = ValueSizes::compute(view, {});
    if (failed(computed) || failed(bytes))
      return false;
    sets = std::move(*computed);
    sizes = std::move(*bytes);
    return true;
  }
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PARTITION_SMALLGRAPH_H
