// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's table of functions for a graph that the interpreter runs: the
// same functions, at the same points, as in a compiled step. The interpreter
// hands over contiguous tensors, whose memory is this machine's.

#include "cutback/Planner/StepHooks.h"

#include "cutback/Dialect/Joint/Hook.h"

using namespace mlir;
using namespace cutback;

std::vector<HookPoint> cutback::hookPointsOf(joint::GraphOp graph) {
  std::vector<HookPoint> points;
  for (auto hook : graph.getBlock().getOps<joint::HookOp>())
    points.push_back({hook.getPoint().str(),
                      static_cast<HookKind>(hook.getKind()),
                      static_cast<int64_t>(hook.getKey()),
                      static_cast<bool>(hook.getResult())});
  return points;
}

interpreter::RunHook cutback::runHooksOf(HookTable &table) {
  return [&table](int64_t key, const interpreter::Tensor &gradient) {
    std::vector<int64_t> sizes(gradient.sizes.begin(), gradient.sizes.end());
    std::string type = interpreter::nameOf(gradient.type).str();
    return table.run(key,
                     {gradient.data(),
                      gradient.numel() * interpreter::itemSize(gradient.type),
                      type.c_str(), &sizes});
  };
}
