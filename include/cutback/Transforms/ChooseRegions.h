// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint regions that a user asks for by name.
#ifndef CUTBACK_TRANSFORMS_CHOOSEREGIONS_H
#define CUTBACK_TRANSFORMS_CHOOSEREGIONS_H

#include "cutback/Dialect/Joint/Joint.h"

#include <string>
#include <vector>

namespace cutback {

struct RegionRequest {
  /// Patterns over paths of modules, "blocks.*", each module that fits one a
  /// region; `*` stands for any part of one name. A module inside of another
  /// one that fits is a region inside of its region. After a comma are
  /// attributes of `joint.checkpoint`: "blocks.*,early_stop=false".
  std::vector<std::string> modules;
  /// Segments of the longest numbered list of modules, all but the last
  /// regions; 0: none.
  unsigned segments = 0;
  /// "save:matmul", "must-recompute:gelu": what ops of regions do instead, by
  /// name, by name with namespace, or all matrix products ("matmul").
  std::vector<std::string> policies;

  bool empty() const {
    return modules.empty() && segments == 0 && policies.empty();
  }
  bool operator==(const RegionRequest &other) const {
    return modules == other.modules && segments == other.segments &&
           policies == other.policies;
  }
};

/// Tags the forward ops of a joint graph without `joint.checkpoint` as asked.
/// An op that has a tag keeps what it asks for; of two
/// policies for an op, `must_save` wins. A module or op that is not there, a
/// module without a gradient, fewer modules than segments are errors at the
/// graph, with the nearest names; so is a reentrant region in which PyTorch
/// would find no gradient: the backward is there already. A graph that was
/// given the same request before stays as it is. Linear.
mlir::LogicalResult chooseRegions(joint::GraphOp graph,
                                  const RegionRequest &request);

/// Whether an entry of RegionRequest::modules fits a module of `graph`. Fails
/// with an error at the graph where it is no pattern. Linear.
mlir::FailureOr<bool> fitsModule(joint::GraphOp graph, llvm::StringRef request);

} // namespace cutback

#endif // CUTBACK_TRANSFORMS_CHOOSEREGIONS_H
