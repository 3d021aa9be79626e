// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that do not become an op of dialect aten with one result: tuples,
// writes to inputs, checks, and ops that no dialect knows.
//
// An op with several results is made when its call is read. The names of its
// results are those of the getitem statements, which come later; they are set
// at the end. The call's own name is kept as `joint.call`, since a network
// vertex is called after it.
//
// An unknown op keeps what the text says: arguments, declared types, symbolic
// sizes. It has effects, as far as we know, if it gives nothing, communicates,
// or is a higher-order op.

#include "Calls.h"
#include "NextSteps.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/KernelTypes.h"
#include "cutback/Dialect/Aten/OpInfo.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

LogicalResult CallImporter::bindTuple(Operation *op,
                                      std::vector<std::vector<unsigned>> paths,
                                      StringRef name, bool isBackward) {
  Binding binding;
  binding.isBackward = isBackward;
  if (op->getNumResults() == 0) {
    binding.kind = Binding::Nothing;
    return scope.define(name, binding);
  }
  // A short text may ask for a tensor to be split into very many parts; a
  // graph takes about as many as it has lines.
  scope.numTupleResults += op->getNumResults();
  if (scope.numTupleResults > scope.source.text().size() + (1 << 16))
    return scope.fail(name.begin(),
                      "calls give more results than a text of this length "
                      "can use",
                      nextSteps(scope.source).cut);
  binding.kind = Binding::Tuple;
  binding.tuple = scope.tuples.size();
  scope.tuples.push_back(
      {static_cast<uint32_t>(scope.calls.size()), /*prefix=*/{}});
  TupleCall call;
  call.op = op;
  call.paths = std::move(paths);
  call.names.resize(op->getNumResults());
  scope.calls.push_back(std::move(call));
  return scope.define(name, binding);
}

/// The result at `path`, or the number of results if there is none; and
/// whether the path leads to a tuple of results.
static std::pair<unsigned, bool> findLeaf(const TupleCall &call,
                                          ArrayRef<unsigned> path) {
  unsigned count = call.op->getNumResults();
  if (call.paths.empty())
    return {path.size() == 1 ? std::min(path.front(), count) : count, false};
  // The paths are sorted, so what begins with `path` comes first behind it.
  auto it = llvm::lower_bound(
      call.paths, path,
      [](ArrayRef<unsigned> a, ArrayRef<unsigned> b) { return a < b; });
  if (it == call.paths.end() ||
      ArrayRef<unsigned>(*it).take_front(path.size()) != path)
    return {count, false};
  if (it->size() > path.size())
    return {count, true};
  return {static_cast<unsigned>(it - call.paths.begin()), false};
}

/// Gives a result of `call` the name, type, strides and sizes that its
/// statement declares.
FailureOr<Value> CallImporter::nameResult(const CallStatement &statement,
                                          TupleCall &call, unsigned result) {
  Value value = call.op->getResult(result);
  Type own = value.getType();
  if (auto known = dyn_cast<aten::CallOp>(call.op); known && statement.declared)
    own = aten::resultAs(known.getSchema(), result, own,
                         statement.declared->type);
  FailureOr<Type> type =
      reconcile(statement, own,
                cast<joint::FrameworkCallOpInterface>(call.op).getPacketName());
  if (failed(type))
    return failure();
  value.setType(*type);
  call.names[result] = scope.valueName(statement.name);
  if (statement.declared && statement.declared->strides) {
    call.strides.resize(call.op->getNumResults());
    call.strides[result] = statement.declared->strides;
  }
  // Sizes of secondary results may depend on the device; the text knows.
  if (statement.declared && statement.declared->dims) {
    call.dims.resize(call.op->getNumResults());
    call.dims[result] = statement.declared->dims;
  }
  return value;
}

LogicalResult CallImporter::bindElement(const CallStatement &statement,
                                        StringRef tuple, StringRef index) {
  Binding *from = scope.find(tuple);
  if (!from)
    return scope.failUndefined(tuple);
  unsigned element = 0;
  bool isNumber = !index.getAsInteger(10, element);
  if (isNumber && from->kind == Binding::Random)
    return bindRandom(statement, Binding(*from), index, element);
  if (isNumber && from->kind == Binding::Results)
    return bindResult(statement, Binding(*from), tuple, index, element);
  if (from->kind != Binding::Tuple || !isNumber)
    return scope.fail(tuple.begin(),
                      quoted(tuple) + " has no elements that can be taken",
                      "an ATen graph takes elements of calls with several "
                      "results only");
  Binding binding = *from;
  TupleBinding path = scope.tuples[from->tuple];
  TupleCall &call = scope.calls[path.call];
  path.prefix.push_back(element);
  auto [result, isTuple] = findLeaf(call, path.prefix);
  if (isTuple) {
    binding.tuple = scope.tuples.size();
    scope.tuples.push_back(path);
    return scope.define(statement.name, binding);
  }
  if (result == call.op->getNumResults()) {
    // An unknown op whose element nobody annotates: nobody uses it either.
    if (!call.paths.empty() && !statement.declared) {
      binding.kind = Binding::Nothing;
      return scope.define(statement.name, binding);
    }
    return scope.fail(index.begin(),
                      "element " + index + " of " + quoted(tuple) +
                          ", which has " + Twine(call.op->getNumResults()) +
                          " results",
                      nextSteps(scope.source).cut);
  }
  FailureOr<Value> value = nameResult(statement, call, result);
  if (failed(value))
    return failure();
  binding.kind = Binding::Value;
  binding.value = *value;
  return scope.define(statement.name, binding);
}

/// Binds a name to one of the results of a nested graph.
LogicalResult CallImporter::bindResult(const CallStatement &statement,
                                       const Binding &call, StringRef tuple,
                                       StringRef index, unsigned element) {
  ArrayRef<Binding> results = scope.results[call.tuple];
  if (element >= results.size())
    return scope.fail(index.begin(),
                      "element " + index + " of a nested graph with " +
                          Twine(results.size()) + " results",
                      nextSteps(scope.source).cut);
  const Binding &result = results[element];
  if (result.kind == Binding::Value && result.value.getDefiningOp())
    scope.taken.push_back({result.value, scope.valueName(tuple),
                           scope.valueName(statement.name)});
  return bindAs(statement, result, "the nested graph");
}

LogicalResult CallImporter::bindAs(const CallStatement &statement,
                                   const Binding &binding, StringRef giver) {
  if (binding.kind == Binding::Value &&
      failed(reconcile(statement, binding.value.getType(), giver)))
    return failure();
  return scope.define(statement.name, binding);
}

/// One entry a result, unit where there is none.
static void setByResult(Operation *op, StringAttr name,
                        ArrayRef<Attribute> entries) {
  if (entries.empty())
    return;
  SmallVector<Attribute> all;
  for (Attribute entry : entries)
    all.push_back(entry ? entry : UnitAttr::get(op->getContext()));
  op->setDiscardableAttr(name, ArrayAttr::get(op->getContext(), all));
}

void CallImporter::nameTuples() {
  for (const TupleCall &call : scope.calls) {
    call.op->setAttr("names", scope.builder.getStrArrayAttr(call.names));
    setByResult(call.op, stridesName, call.strides);
    setByResult(call.op, dimsName, call.dims);
  }
  for (const TakenResult &taken : scope.taken) {
    StringRef name = joint::getValueName(taken.value);
    // What a graph hands through keeps its name, and so does what is taken
    // twice.
    if (!name.consume_front(taken.call) || !name.starts_with("."))
      continue;
    Operation *op = taken.value.getDefiningOp();
    SmallVector<Attribute> all;
    for (OpResult result : op->getResults())
      all.push_back(result == taken.value
                        ? scope.builder.getStringAttr(taken.name)
                        : joint::getResultName(result));
    op->setAttr("names", scope.builder.getArrayAttr(all));
  }
}

/// What the results of one call are declared as, in the order of the results.
static SmallVector<Type> typesOf(ArrayRef<CallStatement> results,
                                 MLIRContext *context) {
  SmallVector<Type> types;
  for (const CallStatement &result : results)
    types.push_back(result.declared ? result.declared->type
                                    : NoneType::get(context));
  return types;
}

Operation *CallImporter::makeUnknown(const CallTarget &target,
                                     const CallArguments &args,
                                     const CallStatement &statement,
                                     ArrayRef<CallStatement> results,
                                     const Contradiction &why,
                                     const Place &place) {
  bool isSingle = results.size() == 1 && results.front().declared;
  Operation *op =
      buildOpaque(target, args, isSingle ? results.front() : statement,
                  typesOf(results, scope.context), isSingle, why, place);
  if (!isSingle)
    describeResults(op, results);
  return op;
}

FailureOr<Operation *>
CallImporter::makeDeclared(const CallTarget &target, const CallArguments &args,
                           const CallStatement &statement,
                           ArrayRef<CallStatement> results,
                           const Place &place) {
  const aten::Schema &schema = *target.schema;
  Types declared(typesOf(results, scope.context));
  TypedCall call;
  if (failed(typeCall(schema, args, statement.at, &declared, call)))
    return failure();
  if (call.types->size() != results.size())
    return contradict(statement.at,
                      quoted(statement.name) + " is declared with " +
                          Twine(results.size()) + " results, but " +
                          schema.packet + " gives " + Twine(call.types->size()),
                      nextSteps(scope.source).otherMeaning);
  for (auto [i, result, inferred, type] :
       llvm::enumerate(results, *call.types, declared)) {
    Type own = result.declared
                   ? aten::resultAs(schema, i, inferred, result.declared->type)
                   : inferred;
    FailureOr<Type> met = reconcile(result, own, schema.packet);
    if (failed(met))
      return failure();
    type = *met;
  }
  bool isSingle = !schema.returnsTuple() && results.size() == 1;
  Operation *op =
      create(schema, call, TypeRange(ArrayRef<Type>(declared)),
             isSingle ? nameAttr(results.front().name) : StringAttr(),
             attributes(isSingle ? results.front() : statement, place,
                        !isSingle, /*keepDims=*/!schema.infer),
             place);
  if (!isSingle)
    describeResults(op, results);
  return op;
}

/// Names, strides and sizes of the results of a tuple.
void CallImporter::describeResults(Operation *op,
                                   ArrayRef<CallStatement> results) {
  SmallVector<StringRef> resultNames;
  SmallVector<Attribute> strides(results.size()), dims(results.size());
  for (auto [i, result] : llvm::enumerate(results)) {
    resultNames.push_back(result.name);
    if (!result.declared)
      continue;
    strides[i] = result.declared->strides;
    dims[i] = result.declared->dims;
  }
  op->setAttr("names", scope.builder.getStrArrayAttr(resultNames));
  if (llvm::any_of(strides, [](Attribute attr) { return bool(attr); }))
    setByResult(op, stridesName, strides);
  if (llvm::any_of(dims, [](Attribute attr) { return bool(attr); }))
    setByResult(op, dimsName, dims);
}

//===----------------------------------------------------------------------===//
// Writes and checks
//===----------------------------------------------------------------------===//

LogicalResult CallImporter::buildWrite(const CallArguments &args,
                                       const CallStatement &statement,
                                       const Place &place) {
  bool isBlocking = args.values.size() == 2 && args.operands.size() == 2;
  auto destination =
      isBlocking ? dyn_cast<BlockArgument>(args.operands[0]) : BlockArgument();
  if (!destination)
    return scope.fail(statement.at,
                      "copy_ writes to something that is no input of the "
                      "graph",
                      "functionalize the graph before dumping it: AOTAutograd "
                      "and run_decompositions() do");
  Value value = args.operands[1];
  auto to = dyn_cast<RankedTensorType>(destination.getType());
  auto from = dyn_cast<RankedTensorType>(value.getType());
  if (!to || !from || failed(verifyCompatibleShape(to, from))) {
    std::string toText, fromText;
    llvm::raw_string_ostream(toText) << destination.getType();
    llvm::raw_string_ostream(fromText) << value.getType();
    return scope.fail(statement.at,
                      "copy_ writes a value of type " + fromText +
                          " to an input of type " + toText,
                      nextSteps(scope.source).cut);
  }
  if (failed(reconcile(statement, to, "copy_")))
    return failure();
  auto write = joint::WriteOp::create(
      scope.builder, place.location, destination.getType(), destination, value,
      args.isBackward ? joint::Side::Backward : joint::Side::Forward,
      names(statement.name));
  if (place.policy)
    write->setDiscardableAttr(policyName, place.policy);
  writes.push_back(write);
  Binding binding;
  binding.value = write.getResult();
  binding.isBackward = args.isBackward;
  return scope.define(statement.name, binding);
}

LogicalResult CallImporter::buildAssert(const CallTarget &target,
                                        const CallArguments &args,
                                        const CallStatement &statement,
                                        const Place &place) {
  StringAttr message = scope.builder.getStringAttr("");
  if (args.values.size() > 1)
    message = dyn_cast<StringAttr>(args.values[1]);
  if (args.operands.size() != 1 || !message || args.values.size() > 2 ||
      !isa<joint::OperandAttr>(args.values[0]))
    return scope.fail(statement.at, "a check takes a condition and a message",
                      nextSteps(scope.source).cut);
  auto check = joint::AssertOp::create(
      scope.builder, place.location, args.operands[0], message,
      scope.builder.getStringAttr(target.name), ArrayAttr());
  check->setDiscardableAttr(callName, nameAttr(statement.name));
  if (place.policy)
    check->setDiscardableAttr(policyName, place.policy);
  Binding nothing;
  nothing.kind = Binding::Nothing;
  return scope.define(statement.name, nothing);
}

//===----------------------------------------------------------------------===//
// Unknown ops
//===----------------------------------------------------------------------===//

void CallImporter::countOpaque(StringRef callee) {
  auto [it, isNew] = opaqueIndex.try_emplace(callee, counts.opaque.size());
  if (isNew)
    counts.opaque.push_back({callee.str(), 0});
  ++counts.opaque[it->second].count;
}

/// An op of dialect aten that has an argument which dialect aten cannot say.
static bool isRepeatable(const aten::Schema &schema) {
  const aten::OpInfo *info = aten::getOpInfo(schema.op);
  return info && !info->has(aten::kRandom) &&
         !info->has(aten::kRandomWithDropout) && !info->has(aten::kOrdered);
}

joint::OpaqueOp CallImporter::buildOpaque(const CallTarget &target,
                                          const CallArguments &args,
                                          const CallStatement &statement,
                                          ArrayRef<Type> types, bool isSingle,
                                          const Contradiction &why,
                                          const Place &place) {
  ArrayAttr keywords, resultNames;
  if (!args.keywords.empty())
    keywords = scope.builder.getStrArrayAttr(
        SmallVector<StringRef>(args.keywords.begin(), args.keywords.end()));
  if (isSingle)
    resultNames = names(statement.name);
  auto unitIf = [&](bool flag) {
    return flag ? scope.builder.getUnitAttr() : UnitAttr();
  };
  bool hasEffects = types.empty() || target.name.starts_with("higher_order.") ||
                    target.name.starts_with("_c10d_functional.");
  auto op = joint::OpaqueOp::create(
      scope.builder, place.location, types,
      scope.builder.getStringAttr(target.name), args.operands,
      scope.builder.getArrayAttr(args.values), keywords, unitIf(hasEffects),
      unitIf(!isSingle), resultNames);
  op->setDiscardableAttrs(
      attributes(statement, place, !isSingle, /*keepDims=*/true));
  if (why.at)
    markDeclared(op, why);
  else
    countOpaque(target.name);
  if (!why.at && target.schema && !hasEffects && isRepeatable(*target.schema))
    op->setDiscardableAttr(joint::kRepeatable, scope.builder.getUnitAttr());
  return op;
}

LogicalResult CallImporter::buildUnknown(const CallTarget &target,
                                         const CallArguments &args,
                                         const CallStatement &statement,
                                         const Place &place,
                                         const Contradiction &why) {
  SmallVector<Type> types;
  std::vector<std::vector<unsigned>> paths;
  bool isSingle = statement.declared != nullptr;
  if (isSingle) {
    types.push_back(statement.declared->type);
  } else {
    for (TupleLeaf &leaf : getItems.leavesOf(statement.name)) {
      const DeclaredType *type = scope.readType(leaf.type);
      if (!type)
        return failure();
      types.push_back(type->type);
      paths.push_back(std::move(leaf.path));
    }
  }
  auto op = buildOpaque(target, args, statement, types, isSingle, why, place);
  if (!isSingle)
    return bindTuple(op, std::move(paths), statement.name, args.isBackward);
  Binding binding;
  binding.value = op->getResult(0);
  binding.isBackward = args.isBackward;
  return scope.define(statement.name, binding);
}
