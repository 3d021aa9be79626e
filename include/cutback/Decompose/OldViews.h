// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of arguments that are written, as copies.
#ifndef CUTBACK_DECOMPOSE_OLDVIEWS_H
#define CUTBACK_DECOMPOSE_OLDVIEWS_H

#include "cutback/Dialect/Joint/Joint.h"

namespace cutback {

/// Whether a view of an argument of `graph` may have to be a copy: there are
/// both a view and a write of one argument.
bool hasOldViews(joint::GraphOp graph);

/// Lets who reads a view of an argument that is written before it is read last
/// read a copy of the view, an op `aten.clone` of the view's name. What the
/// backward may run counts as behind all writes of the forward; with
/// `ofAnyPlan` so does every reader, whatever a plan saves. No half of the
/// graph needs findForcedCopies() then. Returns how many copies. Linear.
unsigned copyOldViews(joint::GraphOp graph, bool ofAnyPlan = false);

} // namespace cutback

#endif // CUTBACK_DECOMPOSE_OLDVIEWS_H
