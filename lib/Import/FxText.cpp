// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the statements of a graph to an op of a module: a `joint.graph` for a
// joint graph, a `func.func` for the halves that PyTorch made and for inference
// graphs.
//
// In a function, results that are None are left out. A forward function says
// how many of its results are not saved values, if the text does
// (`joint.num_forward_results`); a backward function says for each result which
// entry of PyTorch's list it is (`joint.gradient_of`), which is the number of
// the primal that it is the gradient of. Where nested graphs were read in
// place, a forward function says what the text calls its results
// (`joint.result_names`): a backward goes by that.
//
// The region that was read is moved into the op, so a failed import leaves
// nothing behind.

#include "FxText.h"

#include "Roles.h"

#include "cutback/Dialect/Joint/CallArgs.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

GraphKind fx::sniffGraphKind(StringRef text) {
  StringRef rest =
      text.drop_front(std::min(text.find("def forward("), text.size()));
  StringRef header = rest.take_front(rest.find("):"));
  bool hasGroups = header.contains("primals,") ||
                   header.contains("primals )") ||
                   rest.contains("tree_flatten_spec([primals, tangents]");
  if (hasGroups && header.contains("tangents"))
    return GraphKind::Joint;
  bool hasPlainResults = rest.contains("# PlainAOTOutput(");
  if (rest.contains("# GradAOTOutput("))
    return hasPlainResults ? GraphKind::Joint : GraphKind::Backward;
  if (rest.contains("# SavedForBackwardsAOTOutput("))
    return GraphKind::Forward;
  if (header.contains("tangents"))
    return GraphKind::Backward;
  return header.contains("primals") ? GraphKind::Forward : GraphKind::Inference;
}

namespace {

class GraphMaker {
public:
  GraphMaker(FxReader &reader, const FxRequest &request, OpBuilder &builder)
      : reader(reader), request(request), scope(reader.scope),
        builder(builder) {}

  FailureOr<Operation *> makeJoint();
  Operation *makeFunction();

private:
  DictionaryAttr symbols() { return symbolAttrs(scope, request.hints); }
  SmallVector<DictionaryAttr> argumentAttrs(ArrayRef<joint::RoleAttr> roles);
  Location location() {
    return scope.source.locate(scope.context, scope.source.text().begin());
  }
  /// No input has a descriptor, and no type says strides ("f32[2][1]cpu").
  bool isUnannotated() {
    return !scope.source.text().contains("][") &&
           llvm::none_of(scope.arguments, [](const Argument &argument) {
             return !argument.descriptor.empty();
           });
  }
  SmallVector<Type> argumentTypes() {
    return SmallVector<Type>(scope.block().getArgumentTypes());
  }
  const Output &output(unsigned i) { return reader.outputs[i]; }

  FxReader &reader;
  const FxRequest &request;
  Scope &scope;
  OpBuilder &builder;
};

} // namespace

DictionaryAttr fx::symbolAttrs(const Scope &scope, const GraphHints *hints) {
  Builder builder(scope.context);
  SmallVector<NamedAttribute> attrs;
  for (const std::string &name : scope.types.getSymbols()) {
    SymbolHint hint;
    if (hints)
      hint = hints->symbols.lookup(name);
    attrs.push_back(builder.getNamedAttr(
        name,
        joint::SymbolAttr::get(scope.context, hint.value, hint.min, hint.max)));
  }
  return attrs.empty() ? DictionaryAttr() : builder.getDictionaryAttr(attrs);
}

SmallVector<DictionaryAttr>
GraphMaker::argumentAttrs(ArrayRef<joint::RoleAttr> roles) {
  SmallVector<DictionaryAttr> all;
  for (auto [argument, role] : llvm::zip(scope.arguments, roles)) {
    NamedAttrList attrs;
    attrs.set(joint::JointDialect::kName, builder.getStringAttr(argument.name));
    attrs.set(joint::JointDialect::kRole, role);
    if (argument.type->dims)
      attrs.set(joint::JointDialect::kDims, argument.type->dims);
    if (argument.type->strides)
      attrs.set(joint::JointDialect::kStrides, argument.type->strides);
    all.push_back(attrs.getDictionary(scope.context));
  }
  return all;
}

FailureOr<Operation *> GraphMaker::makeJoint() {
  FailureOr<GraphRoles> roles = assignJointRoles(reader, request);
  if (failed(roles))
    return failure();
  scope.builder.setInsertionPointToEnd(&scope.block());
  for (auto [out, argument] : roles->writes)
    joint::WriteOp::create(
        scope.builder, location(), scope.arguments[argument].type->type,
        scope.block().getArgument(argument), output(out).value,
        joint::Side::Backward, ArrayAttr());
  SmallVector<Value> results;
  SmallVector<int32_t> gradientOf;
  for (unsigned i : roles->forward)
    results.push_back(output(i).value);
  for (auto [out, argument] : roles->gradients) {
    results.push_back(output(out).value);
    gradientOf.push_back(argument);
  }
  joint::OutputOp::create(scope.builder, location(), results,
                          builder.getDenseI32ArrayAttr(gradientOf));
  auto type =
      builder.getFunctionType(argumentTypes(), TypeRange(ValueRange(results)));
  auto graph =
      joint::GraphOp::create(builder, location(), request.symbolName, type,
                             static_cast<int64_t>(roles->forward.size()),
                             argumentAttrs(roles->arguments));
  if (DictionaryAttr dictionary = symbols())
    graph.setSymbolsAttr(dictionary);
  if (isUnannotated())
    graph->setDiscardableAttr(joint::kUnannotatedText, builder.getUnitAttr());
  graph.getBody().takeBody(scope.region);
  return graph.getOperation();
}

Operation *GraphMaker::makeFunction() {
  SmallVector<Value> results;
  SmallVector<StringRef> texts;
  SmallVector<int32_t> gradientOf;
  int64_t numForward = 0;
  bool hasSaved = false;
  for (auto [i, out] : llvm::enumerate(reader.outputs)) {
    if (out.kind != Output::Value)
      continue;
    results.push_back(out.value);
    texts.push_back(out.text);
    gradientOf.push_back(i);
    bool isSaved = out.descriptor.starts_with("SavedForBackwards");
    hasSaved |= isSaved;
    numForward += !isSaved;
  }
  scope.builder.setInsertionPointToEnd(&scope.block());
  func::ReturnOp::create(scope.builder, location(), results);
  auto type =
      builder.getFunctionType(argumentTypes(), TypeRange(ValueRange(results)));
  auto function =
      func::FuncOp::create(builder, location(), request.symbolName, type);
  function.setAllArgAttrs(
      argumentAttrs(assignArgumentRoles(reader, request, {})));
  function.getBody().takeBody(scope.region);
  if (DictionaryAttr dictionary = symbols())
    function->setAttr("joint.symbols", dictionary);
  if (request.kind == GraphKind::Forward && hasSaved)
    function->setAttr("joint.num_forward_results",
                      builder.getI64IntegerAttr(numForward));
  if (request.kind == GraphKind::Forward && !scope.results.empty())
    function->setAttr("joint.result_names", builder.getStrArrayAttr(texts));
  if (request.kind == GraphKind::Backward) {
    function->setAttr("joint.gradient_of",
                      builder.getDenseI32ArrayAttr(gradientOf));
    for (joint::WriteOp write : reader.calls.getWrites())
      write.setSide(joint::Side::Backward);
  }
  return function;
}

FailureOr<Operation *> fx::importFxText(const FxRequest &request,
                                        OpBuilder &builder,
                                        ImportCounts &counts) {
  counts = ImportCounts();
  FxReader reader(request.source, builder.getContext(), counts);
  reader.scope.isHalf =
      request.kind == GraphKind::Forward || request.kind == GraphKind::Backward;
  reader.scope.isStrict = request.isStrict;
  if (failed(reader.read()))
    return failure();
  counts.arguments = reader.scope.arguments.size();
  GraphMaker maker(reader, request, builder);
  if (request.kind == GraphKind::Joint)
    return maker.makeJoint();
  return maker.makeFunction();
}
