// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a forward program is cut into stages: by markers in it, or by modules
// that a user names. (BalanceStages.h: by the time of stages.)
#ifndef CUTBACK_PIPELINING_STAGEBOUNDARIES_H
#define CUTBACK_PIPELINING_STAGEBOUNDARIES_H

#include "cutback/Dialect/Joint/Joint.h"

#include <string>
#include <vector>

namespace cutback {

/// A module before or after which a stage begins.
struct SplitPoint {
  std::string module; ///< "layers.4"
  bool isEnd = false; ///< after it
};

/// Reads "layers.4=begin,layers.8=end". False, with a sentence in `error`, if
/// it is no such text or names a point twice.
bool parseSplitSpec(llvm::StringRef text, std::vector<SplitPoint> &points,
                    std::string &error);

/// Takes the markers (`pippy._pipe_split`) out of `graph`, and gives the
/// numbers of the ops with which stages begin (cutGraph()). Markers at the
/// start, at the end or one after the other make no empty stage. Fails with an
/// error at a marker inside of a region. Linear.
mlir::FailureOr<std::vector<unsigned>> takeMarkers(joint::GraphOp graph);

/// The same by modules: a stage begins with the first op of a module, or after
/// its last one; of a module that is called several times, at each call. Fails
/// with an error at the graph, and the names nearest to it, for a module that
/// has no ops. Linear.
mlir::FailureOr<std::vector<unsigned>>
findSplitPoints(joint::GraphOp graph, llvm::ArrayRef<SplitPoint> points);

} // namespace cutback

#endif // CUTBACK_PIPELINING_STAGEBOUNDARIES_H
