// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes `joint.nested` of a call whose graphs are read. Its results are those
// that the graphs give, used or not; elements of the call are checked against
// them like those of any op with a schema. The op is verified here, so that an
// error has its place in the text.

#include "Calls.h"
#include "NextSteps.h"

#include "cutback/Dialect/Joint/Nested.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

/// Where each result stands: gradients of attention's buffers are a tuple in
/// the tuple. Empty: result i is element i.
static std::vector<std::vector<unsigned>> pathsOf(joint::NestedKind kind,
                                                  size_t count) {
  std::vector<std::vector<unsigned>> paths;
  if (kind != joint::NestedKind::FlexAttentionBackward)
    return paths;
  for (unsigned i = 0; i < count; ++i)
    paths.push_back(i < 3 ? std::vector<unsigned>{i}
                          : std::vector<unsigned>{3, i - 3});
  return paths;
}

FailureOr<joint::NestedOp> CallImporter::makeNested(
    const CallTarget &target, joint::NestedKind kind, const CallArguments &args,
    const CallStatement &statement,
    std::vector<std::unique_ptr<Region>> &graphs, const Place &place) {
  ++counts.ops;
  ArrayAttr values = scope.builder.getArrayAttr(args.values);
  SmallVector<Region *> regions;
  for (auto &graph : graphs)
    regions.push_back(graph.get());
  auto types = joint::nestedResultTypes(
      kind, values, TypeRange(ValueRange(args.operands)), regions);
  if (!types)
    return scope.fail(statement.at,
                      "the graphs of " + quoted(target.name) +
                          " do not give what such a call gives",
                      nextSteps(scope.source).cut);
  OperationState state(place.location, joint::NestedOp::getOperationName());
  state.addOperands(args.operands);
  state.addTypes(*types);
  state.addAttribute("callee", scope.builder.getStringAttr(target.name));
  state.addAttribute("args", values);
  if (!args.keywords.empty())
    state.addAttribute("keywords",
                       scope.builder.getStrArrayAttr(SmallVector<StringRef>(
                           args.keywords.begin(), args.keywords.end())));
  state.addAttribute("tuple", scope.builder.getUnitAttr());
  for (auto &graph : graphs)
    state.addRegion(std::move(graph));
  Operation *op = scope.builder.create(state);
  op->setDiscardableAttrs(attributes(statement, place, /*isNamed=*/true,
                                     /*keepDims=*/true));
  std::string reason;
  {
    ScopedDiagnosticHandler handler(scope.context, [&](Diagnostic &diag) {
      llvm::raw_string_ostream(reason) << diag;
      return success();
    });
    if (succeeded(verify(op)))
      reason.clear();
  }
  if (!reason.empty())
    return scope.fail(statement.at, "this call does not type: " + reason,
                      nextSteps(scope.source).otherMeaning);
  return cast<joint::NestedOp>(op);
}

LogicalResult CallImporter::buildNested(
    const CallTarget &target, joint::NestedKind kind, const CallArguments &args,
    const CallStatement &statement,
    std::vector<std::unique_ptr<Region>> &graphs, const Place &place) {
  FailureOr<joint::NestedOp> op =
      makeNested(target, kind, args, statement, graphs, place);
  if (failed(op))
    return failure();
  return bindTuple(*op, pathsOf(kind, (*op)->getNumResults()), statement.name,
                   args.isBackward);
}

FailureOr<Operation *> CallImporter::buildDeclaredNested(
    const CallTarget &target, joint::NestedKind kind, const CallArguments &args,
    const CallStatement &statement, ArrayRef<CallStatement> results,
    std::vector<std::unique_ptr<Region>> &graphs, const Place &place) {
  FailureOr<joint::NestedOp> op =
      makeNested(target, kind, args, statement, graphs, place);
  if (failed(op))
    return failure();
  if ((*op)->getNumResults() != results.size())
    return scope.fail(statement.at,
                      quoted(statement.name) + " is declared with " +
                          Twine(results.size()) + " results, but its graphs " +
                          "give " + Twine((*op)->getNumResults()),
                      nextSteps(scope.source).cut);
  for (auto [result, value] : llvm::zip_equal(results, (*op)->getResults())) {
    FailureOr<Type> type = reconcile(result, value.getType(), target.name);
    if (failed(type))
      return failure();
    value.setType(*type);
  }
  describeResults(*op, results);
  return op->getOperation();
}
