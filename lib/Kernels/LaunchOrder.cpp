// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stable sort of the ops by their launches. It is an order that runs: kernels
// read what earlier ones write, ops of one kernel keep their order, and what no
// kernel runs needs only values whose launches are no later than that of its
// own first reader, and before the launch that writes into an argument that it
// looks at. Literals stand with that reader too, and not where they were
// written: what is made early lies in memory until it is read. O(n).

#include "cutback/Kernels/LaunchOrder.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace cutback;

LaunchOrder cutback::orderByLaunches(const GraphView &view,
                                     llvm::ArrayRef<uint32_t> order,
                                     const SegmentKernels &segment) {
  constexpr uint32_t kNone = SegmentKernels::kNone;
  uint32_t last = segment.kernels.empty() ? 0 : segment.kernels.size() - 1;
  // From the last op to the first, so that readers are known.
  std::vector<uint32_t> launchOf(view.numOps(), kNone);
  llvm::DenseMap<uint32_t, uint32_t> writtenBy; // by value: launch
  for (uint32_t op : llvm::reverse(order)) {
    uint32_t launch = segment.kernelOf[op];
    if (launch == kNone) {
      for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
        for (uint32_t user : view.users(r))
          if (user < view.numOps() && launchOf[user] != kNone)
            launch = std::min(launch, launchOf[user]);
      for (uint32_t value : view.operands(op))
        if (auto write = writtenBy.find(value); write != writtenBy.end())
          launch = std::min(launch, write->second);
    }
    launchOf[op] = launch;
    if (isa<joint::WriteOp>(view.ops[op]) && launch != kNone)
      writtenBy[view.operands(op).front()] = launch;
  }
  // What is read behind the segment alone stands with what it reads; effects,
  // which nothing may read, also behind those before them.
  uint32_t lastOrdered = 0;
  for (uint32_t op : order) {
    bool isOrdered = view.traits[op].ordered;
    if (launchOf[op] == kNone) {
      launchOf[op] = isOrdered ? lastOrdered : 0;
      for (uint32_t value : view.operands(op))
        if (uint32_t def = view.definer[value];
            def != GraphView::kNone && launchOf[def] != kNone)
          launchOf[op] = std::max(launchOf[op], launchOf[def]);
    }
    if (isOrdered)
      lastOrdered = std::max(lastOrdered, launchOf[op]);
  }
  LaunchOrder launches;
  launches.sizes.assign(last + 1, 0);
  for (uint32_t op : order)
    ++launches.sizes[launchOf[op]];
  std::vector<uint32_t> next(last + 1, 0);
  for (uint32_t launch = 1; launch <= last; ++launch)
    next[launch] = next[launch - 1] + launches.sizes[launch - 1];
  launches.order.resize(order.size());
  for (uint32_t op : order)
    launches.order[next[launchOf[op]]++] = op;
  return launches;
}
