// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to make a graph smaller. Each edits one graph in place; what does not
// verify afterwards was no way.
#ifndef CUTBACK_REDUCE_GRAPHEDITS_H
#define CUTBACK_REDUCE_GRAPHEDITS_H

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/BitVector.h"

#include <vector>

namespace cutback {

/// How big a graph is, as reductions report it.
struct GraphSize {
  uint64_t ops = 0, arguments = 0, results = 0;
};
GraphSize sizeOf(joint::GraphOp graph);

/// Ops of the body in order, without the terminator.
std::vector<mlir::Operation *> bodyOps(joint::GraphOp graph);

/// Takes results [begin, end) of the step away; the tangent of one becomes a
/// gradient seed, so that what depends on it stays in the backward.
void dropResults(joint::GraphOp graph, unsigned begin, unsigned end);

/// Takes ops [begin, end) of the body away, and whatever depends on them.
void dropOpsAndUsers(joint::GraphOp graph, unsigned begin, unsigned end);

/// Takes ops [begin, end) of the body away; what others read of them becomes
/// an argument: an input, or a gradient seed where it depends on a tangent.
void cutOps(joint::GraphOp graph, unsigned begin, unsigned end);

/// Replaces each of ops [begin, end) by an operand of the same type where it
/// has one.
void bypassOps(joint::GraphOp graph, unsigned begin, unsigned end);

/// The results of op `number` become those of the step, all of them forward
/// results; tangents and gradient seeds become inputs.
void keepOnly(joint::GraphOp graph, unsigned number);

/// Replaces a region op by what is in it.
void unwrapOps(joint::GraphOp graph, unsigned begin, unsigned end);

/// Lets an earlier argument of the same type and role stand for arguments
/// [begin, end), where there is one and they have no gradient.
void mergeArguments(joint::GraphOp graph, unsigned begin, unsigned end);

/// Removes what nothing reads: ops, arguments without a gradient; brings the
/// signature up to date. Every edit above ends with it.
void tidy(joint::GraphOp graph);

/// Removes everything in the graph's module but the graph.
void dropOtherSymbols(joint::GraphOp graph);

//===----------------------------------------------------------------------===//
// Sizes and attributes
//===----------------------------------------------------------------------===//

/// Sizes of dimensions, distinct, largest first; without 0 and 1.
std::vector<int64_t> distinctSizes(joint::GraphOp graph);

/// Replaces the size `from` by `to`, in types and in whole numbers of calls;
/// of its multiples too if `multiples`. Types of results follow those of
/// operands where an op can tell.
void replaceSize(joint::GraphOp graph, int64_t from, int64_t to,
                 bool multiples);

/// Keeps the last `rank` dimensions of all tensors.
void limitRank(joint::GraphOp graph, int64_t rank);

/// Symbolic sizes become `size`.
void bindSymbols(joint::GraphOp graph, int64_t size);

/// Attributes that ops and arguments can do without, in program order.
struct AttributeSite {
  mlir::Operation *op = nullptr; ///< null: of an argument of the graph
  unsigned argument = 0;
  mlir::StringAttr name;
};
std::vector<AttributeSite> attributeSites(joint::GraphOp graph);
/// Removes those with numbers [begin, end); of a role, the name.
void dropAttributes(joint::GraphOp graph, unsigned begin, unsigned end);

/// Entries of the argument lists of all calls.
unsigned numCallEntries(joint::GraphOp graph);
/// What an entry can be replaced by: None; an empty list; the first half of a
/// list; 0 or false.
enum class Simpler { None, Empty, Half, Zero };
/// Replaces entry `number`, with the operands that stand in it.
void simplifyEntry(joint::GraphOp graph, unsigned number, Simpler to);

} // namespace cutback

#endif // CUTBACK_REDUCE_GRAPHEDITS_H
