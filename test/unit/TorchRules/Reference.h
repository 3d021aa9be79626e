// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's rules written a second time, as its documentation has them: node
// by node, with walks, heaps and sets, without any of the shortcuts of the
// library. Slow on purpose. No tags, wrappers or collectives.
#ifndef CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_REFERENCE_H
#define CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_REFERENCE_H

#include "cutback/TorchRules/TorchRules.h"

#include <map>
#include <set>

namespace cutback::reference {

struct Network {
  std::map<std::pair<uint32_t, uint32_t>, int64_t> arcs;
  std::set<FxNodeId> forward, closure, gradients, banned;
};

Network buildNetwork(const FxGraph &graph, const TorchRulesOptions &options);

/// The nodes that DCE and CSE keep, as numbers of `graph`.
std::vector<FxNodeId> simplify(const FxGraph &graph,
                               const TorchRulesOptions &options);

} // namespace cutback::reference

#endif // CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_REFERENCE_H
