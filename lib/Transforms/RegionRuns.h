// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which runs of nested checkpoint regions a step has, in numbers.
#ifndef CUTBACK_LIB_TRANSFORMS_REGIONRUNS_H
#define CUTBACK_LIB_TRANSFORMS_REGIONRUNS_H

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/GraphView.h"
#include "cutback/Transforms/CleanTags.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"

#include <map>
#include <string>
#include <vector>

namespace cutback {

using Runs = uint32_t; ///< bit j: run j
static_assert(joint::kMaxRegionDepth < 32);

/// The runs of the ops of a graph. An op in regions r1 > r2 > … > rd may run
/// once in the forward (run 0) and once for each of its regions: run j is the
/// one for rj.
struct RegionRuns {
  /// By op: the regions around what runs in the forward and may run again.
  std::vector<llvm::ArrayRef<int64_t>> regions;
  std::vector<uint32_t> level; ///< by op: its last run, 0 if it is saved
  std::vector<Runs> needed;    ///< by op: the runs that are copies
  /// By path, of each region that runs whole: the first op that reads something
  /// of it, `numOps` for the terminator.
  std::map<std::string, uint32_t> firstReader;
  llvm::StringSet<> freshRegions; ///< paths of those that draw anew

  /// `policies` are those of the ops of `view`. Linear in ops times levels.
  static RegionRuns find(const GraphView &view, const GraphSets &sets,
                         const Policies &policies);

  /// How many regions two ops have in common.
  uint32_t commonDepth(uint32_t a, uint32_t b) const {
    llvm::ArrayRef<int64_t> one = regions[a], two = regions[b];
    if (one.data() == two.data())
      return one.size();
    uint32_t depth = 0;
    while (depth < one.size() && depth < two.size() && one[depth] == two[depth])
      ++depth;
    return depth;
  }

  /// The run of `def` that run `run` of `reader`, an op of a region, reads.
  uint32_t runRead(uint32_t reader, uint32_t run, uint32_t def) const {
    return std::min({run, commonDepth(reader, def), level[def]});
  }

  /// The place of run `run` of `op` among its copies, from 1; 0 if it is none.
  uint32_t copyNumber(uint32_t op, uint32_t run) const {
    return needed[op] >> run & 1
               ? llvm::popcount(needed[op] & ((Runs(2) << run) - 1))
               : 0;
  }

  bool isFresh(llvm::ArrayRef<int64_t> path) const {
    return !freshRegions.empty() &&
           freshRegions.contains(joint::regionText(path));
  }
};

/// Whether an op belongs to the backward, or might: it reads last runs.
inline bool readsLastRuns(const GraphView &view, const GraphSets &sets,
                          uint32_t op) {
  return sets.ops[op] != GraphSet::Forward && !view.traits[op].copy;
}

} // namespace cutback

#endif // CUTBACK_LIB_TRANSFORMS_REGIONRUNS_H
