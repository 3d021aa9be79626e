// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls become ops.
//
//   1. The callee is looked up once by its text: an op with a schema, an
//      unknown op, or one of the few that mean something else (copy_, asserts).
//   2. The arguments are brought into the schema's order and filled up with
//      its defaults. The result is a function of schema and literals, so it is
//      kept under that key.
//   3. Result types are inferred, which is a function of schema, arguments and
//      operand types, and kept likewise. A graph of many equal layers infers
//      one of them.
//   4. The declared type must agree; it is what the op gets, as it may know a
//      size that inference leaves open.
//
// A call that misses no table costs about a microsecond with all attributes.

#include "Calls.h"
#include "NextSteps.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

CallImporter::CallImporter(Scope &scope, ImportCounts &counts)
    : scope(scope), counts(counts), getItems(scope.source.text()),
      schemas(aten::SchemaTable::get(scope.context)),
      callName(scope.builder.getStringAttr("joint.call")),
      dimsName(scope.builder.getStringAttr(joint::JointDialect::kDims)),
      policyName(scope.builder.getStringAttr(joint::JointDialect::kPolicy)),
      stridesName(scope.builder.getStringAttr(joint::JointDialect::kStrides)) {}

//===----------------------------------------------------------------------===//
// Callees
//===----------------------------------------------------------------------===//

/// True for names of ops that change an operand: "aten.add_.Tensor".
static bool isInPlaceName(StringRef name) {
  StringRef op = name;
  if (op.count('.') >= 2)
    op = op.rsplit('.').first;
  op = op.rsplit('.').second;
  return op.ends_with("_") && !op.ends_with("__");
}

void CallImporter::classify(StringRef path, CallTarget &target) {
  target.name = path;
  bool isTorchOp = target.name.consume_front("torch.ops.");
  // A hook on a gradient, as the printer spells the function of PyTorch that
  // calls it: an op that is not known.
  isTorchOp |= path == "torch__dynamo__trace_wrapped_higher_order_op_self_"
                       "invoke";
  if (!isTorchOp && path == "round")
    target.name = "builtins.round";
  target.schema = schemas.lookup(target.name);
  target.kind =
      llvm::StringSwitch<CallTarget::Kind>(target.name)
          .Case("aten.copy_.default", CallTarget::Copy)
          .Cases({"aten._assert_async.default", "aten._assert_async.msg",
                  "aten._assert_scalar.default"},
                 CallTarget::Assert)
          .Case("aten._assert_tensor_metadata.default", CallTarget::Check)
          .Cases({"higher_order.invoke_subgraph", "higher_order.wrap",
                  "higher_order.wrap_activation_checkpoint",
                  "higher_order.tag_activation_checkpoint"},
                 CallTarget::Graph)
          .Default(CallTarget::Known);
  if (target.kind != CallTarget::Known)
    return;
  target.keepsType =
      llvm::StringSwitch<bool>(target.name)
          .Cases({"aten.lift_fresh_copy.default", "aten.lift_fresh.default",
                  "aten.clone.default", "aten.detach.default",
                  "aten.alias.default"},
                 true)
          .Default(false);
  bool writes = target.schema
                    ? llvm::any_of(target.schema->params,
                                   [](const aten::SchemaParam &param) {
                                     return param.isWritten;
                                   })
                    : isTorchOp && isInPlaceName(target.name);
  if (writes)
    target.kind = CallTarget::InPlace;
  else if (!target.schema)
    target.kind = isTorchOp ? CallTarget::Unknown : CallTarget::Foreign;
}

const CallTarget &CallImporter::target(StringRef path) {
  auto [it, isNew] = targets.try_emplace(path);
  if (isNew)
    classify(it->first(), it->second);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static unsigned countOperands(Attribute value) {
  if (auto list = dyn_cast<ArrayAttr>(value))
    return joint::countOperands(list);
  return isa<joint::OperandAttr>(value) ? 1 : 0;
}

LogicalResult CallImporter::fillSlots(const aten::Schema &schema,
                                      const CallArguments &args, const char *at,
                                      SmallVectorImpl<int> &slots) {
  slots.assign(schema.params.size(), -1);
  unsigned numPositional = args.values.size() - args.keywords.size();
  if (numPositional > schema.params.size())
    return contradict(args.positions[schema.params.size()],
                      schema.packet + " takes at most " +
                          Twine(schema.params.size()) +
                          " arguments, and there are " + Twine(numPositional),
                      nextSteps(scope.source).otherRelease);
  for (unsigned i = 0; i < numPositional; ++i)
    slots[i] = i;
  for (auto [i, keyword] : llvm::enumerate(args.keywords)) {
    int param = schema.find(keyword);
    if (param < 0)
      return contradict(keyword.begin(),
                        schema.packet + " has no parameter " + quoted(keyword),
                        nextSteps(scope.source).otherRelease);
    if (slots[param] >= 0)
      return scope.fail(keyword.begin(),
                        schema.packet + " is given twice its parameter " +
                            quoted(keyword),
                        nextSteps(scope.source).otherRelease);
    slots[param] = numPositional + i;
  }
  for (auto [slot, param] : llvm::zip(slots, schema.params))
    if (slot < 0 && !param.defaultValue)
      return contradict(
          at, schema.packet + " lacks its argument " + quoted(param.name),
          nextSteps(scope.source).otherRelease);
  return success();
}

const CallImporter::Skeleton *
CallImporter::mapArguments(const aten::Schema &schema,
                           const CallArguments &args, const char *at) {
  key.clear();
  key.push_back(&schema);
  for (Attribute value : args.values)
    key.push_back(value.getAsOpaquePointer());
  for (StringRef keyword : args.keywords)
    key.push_back(reinterpret_cast<const void *>(
        static_cast<uintptr_t>(8 * (schema.find(keyword) + 1))));
  key.push_back(reinterpret_cast<const void *>(
      static_cast<uintptr_t>(8 * args.keywords.size())));
  auto [number, isNew] = skeletonKeys.insert(key);
  if (isNew)
    skeletons.emplace_back();
  Skeleton &skeleton = skeletons[number];
  if (skeleton.args)
    return &skeleton;
  SmallVector<int> slots;
  if (failed(fillSlots(schema, args, at, slots)))
    return nullptr;
  SmallVector<unsigned> firstOperand;
  unsigned next = 0;
  for (Attribute value : args.values) {
    firstOperand.push_back(next);
    next += countOperands(value);
  }
  firstOperand.push_back(next);
  SmallVector<Attribute> values;
  for (auto [slot, param] : llvm::zip(slots, schema.params)) {
    if (slot < 0) {
      values.push_back(param.defaultValue);
      continue;
    }
    Attribute value = aten::canonicalizeArg(param, args.values[slot]);
    if (!value) {
      (void)contradict(args.positions[slot],
                       "this is not an argument for parameter " +
                           quoted(param.name) + " of " + schema.packet,
                       nextSteps(scope.source).otherRelease);
      return nullptr;
    }
    values.push_back(value);
    for (unsigned i = firstOperand[slot]; i < firstOperand[slot + 1]; ++i)
      skeleton.order.push_back(i);
  }
  if (llvm::is_sorted(skeleton.order))
    skeleton.order.clear();
  skeleton.args = scope.builder.getArrayAttr(values);
  return &skeleton;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult CallImporter::checkOperands(const aten::Schema &schema,
                                          ArrayAttr args,
                                          ArrayRef<Value> operands,
                                          const char *at) {
  unsigned next = 0;
  for (auto [value, param] : llvm::zip(args, schema.params)) {
    for (unsigned end = next + countOperands(value); next < end; ++next)
      if (Type type = operands[next].getType();
          !aten::acceptsOperand(param, type)) {
        std::string text;
        llvm::raw_string_ostream(text) << type;
        return contradict(at,
                          schema.packet + " takes no value of type " + text +
                              " for its parameter " + quoted(param.name),
                          nextSteps(scope.source).cut);
      }
  }
  return success();
}

const CallImporter::Types *CallImporter::inferTypes(const aten::Schema &schema,
                                                    ArrayAttr args,
                                                    ArrayRef<Value> operands,
                                                    const char *at) {
  key.clear();
  key.push_back(&schema);
  key.push_back(args.getAsOpaquePointer());
  for (Value operand : operands)
    key.push_back(operand.getType().getAsOpaquePointer());
  auto [number, isNew] = typeKeys.insert(key);
  if (isNew)
    inferred.emplace_back();
  std::optional<Types> &known = inferred[number];
  if (known)
    return &*known;
  if (failed(checkOperands(schema, args, operands, at)))
    return nullptr;
  SmallVector<Type> result;
  // The error of a rule is kept, and emitted with the text's position.
  std::string reason;
  {
    ScopedDiagnosticHandler handler(scope.context, [&](Diagnostic &diag) {
      llvm::raw_string_ostream(reason) << diag;
      return success();
    });
    if (succeeded(aten::inferResultTypes(
            schema, args, TypeRange(ValueRange(operands)), {},
            UnknownLoc::get(scope.context), result))) {
      return &known.emplace(result.begin(), result.end());
    }
  }
  (void)contradict(at, "this call does not type: " + reason,
                   nextSteps(scope.source).otherMeaning);
  return nullptr;
}

/// What an annotation and a rule say together, or null if they differ.
static Type meet(const DeclaredType &declared, Type inferred) {
  if (declared.type == inferred)
    return inferred;
  if (declared.isScalar) {
    // An expression says little of its kind; the op knows.
    bool isScalar = inferred.isIndex() || inferred.isF64() ||
                    inferred.isInteger(1) || inferred.isInteger(64);
    return isScalar ? inferred : Type();
  }
  if (isa<NoneType>(inferred))
    return declared.type;
  auto a = dyn_cast<RankedTensorType>(declared.type);
  auto b = dyn_cast<RankedTensorType>(inferred);
  if (!a || !b || a.getElementType() != b.getElementType() ||
      failed(verifyCompatibleShape(a, b)))
    return {};
  return a;
}

FailureOr<Type> CallImporter::reconcile(const CallStatement &statement,
                                        Type inferred, StringRef callee) {
  if (!statement.declared)
    return inferred;
  if (Type type = meet(*statement.declared, inferred))
    return type;
  std::string declaredText, inferredText;
  llvm::raw_string_ostream(declaredText) << statement.declared->type;
  llvm::raw_string_ostream(inferredText) << inferred;
  return contradict(statement.typeAt,
                    quoted(statement.name) + " is declared as " + declaredText +
                        ", but " + callee + " gives " + inferredText,
                    nextSteps(scope.source).otherMeaning);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

StringAttr CallImporter::nameAttr(StringRef name) {
  return scope.builder.getStringAttr(scope.valueName(name));
}

ArrayAttr CallImporter::names(StringRef name) {
  return scope.builder.getArrayAttr({nameAttr(name)});
}

DictionaryAttr CallImporter::attributes(const CallStatement &statement,
                                        const Place &place, bool isNamed,
                                        bool keepDims) {
  // In the order of their names.
  SmallVector<NamedAttribute, 4> attrs;
  const DeclaredType *declared = statement.declared;
  if (isNamed)
    attrs.emplace_back(callName, nameAttr(statement.name));
  if (declared && declared->dims && (keepDims || declared->hasUnboundSymbols))
    attrs.emplace_back(dimsName, declared->dims);
  if (place.policy)
    attrs.emplace_back(policyName, place.policy);
  if (declared && declared->strides)
    attrs.emplace_back(stridesName, declared->strides);
  if (attrs.empty())
    return scope.builder.getDictionaryAttr({});
  return DictionaryAttr::getWithSorted(scope.context, attrs);
}

LogicalResult CallImporter::typeCall(const aten::Schema &schema,
                                     const CallArguments &args, const char *at,
                                     const Types *declared, TypedCall &call) {
  call.skeleton = mapArguments(schema, args, at);
  if (!call.skeleton)
    return failure();
  call.operands = args.operands;
  if (!call.skeleton->order.empty()) {
    operands.clear();
    for (unsigned i : call.skeleton->order)
      operands.push_back(args.operands[i]);
    call.operands = operands;
  }
  // Without a rule the text's word is taken; it is not kept, as another call
  // on the same types may give another one.
  call.types = !schema.infer && declared
                   ? declared
                   : inferTypes(schema, call.skeleton->args, call.operands, at);
  if (!call.types)
    return failure();
  return declared && declared->size() == 1
             ? tellDefaultType(schema, declared->front(), at, call)
             : success();
}

/// The type of floats is a setting of PyTorch (torch.set_default_dtype), which
/// a program has in the types that it declares alone.
LogicalResult CallImporter::tellDefaultType(const aten::Schema &schema,
                                            Type declared, const char *at,
                                            TypedCall &call) {
  int slot = schema.find("dtype");
  auto wanted = dyn_cast<RankedTensorType>(declared);
  auto made = call.types->size() == 1
                  ? dyn_cast<RankedTensorType>(call.types->front())
                  : RankedTensorType();
  bool isDefault = slot >= 0 && wanted && made &&
                   isa<joint::NoneAttr>(call.skeleton->args[slot]) &&
                   made.getElementType().isF32() &&
                   isa<FloatType>(wanted.getElementType()) &&
                   wanted.getElementType() != made.getElementType();
  if (!isDefault ||
      llvm::any_of(schema.params, [](const aten::SchemaParam &param) {
        return param.kind == aten::ParamKind::Tensor;
      }))
    return success();
  SmallVector<Attribute> values(call.skeleton->args.begin(),
                                call.skeleton->args.end());
  values[slot] = TypeAttr::get(wanted.getElementType());
  told = {scope.builder.getArrayAttr(values), call.skeleton->order};
  call.skeleton = &told;
  call.types = inferTypes(schema, told.args, call.operands, at);
  return success(call.types != nullptr);
}

Operation *CallImporter::create(const aten::Schema &schema,
                                const TypedCall &call, TypeRange types,
                                StringAttr name, DictionaryAttr attrs,
                                const Place &place) {
  aten::CallProperties properties;
  properties.name = schema.op.getAsOpaquePointer();
  properties.args = call.skeleton->args;
  properties.names = name;
  Operation *op = Operation::create(
      place.location, schema.op, types, ValueRange(call.operands), attrs,
      OpaqueProperties(&properties), BlockRange(), /*numRegions=*/0);
  scope.block().push_back(op);
  return op;
}

LogicalResult CallImporter::makeKnown(const CallTarget &target,
                                      const CallArguments &args,
                                      const CallStatement &statement,
                                      const Place &place) {
  const aten::Schema &schema = *target.schema;
  Types declared;
  if (statement.declared)
    declared.push_back(statement.declared->type);
  TypedCall call;
  if (failed(typeCall(schema, args, statement.at,
                      statement.declared ? &declared : nullptr, call)))
    return failure();
  bool isSingle = !schema.returnsTuple() && call.types->size() == 1;
  if (failed(checkElements(schema, statement, *call.types, !isSingle)))
    return failure();
  DictionaryAttr attrs =
      attributes(statement, place, !isSingle, /*keepDims=*/!schema.infer);
  if (!isSingle)
    return bindTuple(create(schema, call,
                            TypeRange(ArrayRef<Type>(*call.types)),
                            StringAttr(), attrs, place),
                     {}, statement.name, args.isBackward);
  FailureOr<Type> type =
      reconcile(statement, call.types->front(), schema.packet);
  if (failed(type))
    return failure();
  Operation *op = create(schema, call, TypeRange(*type),
                         nameAttr(statement.name), attrs, place);
  Binding binding;
  binding.value = op->getResult(0);
  binding.isBackward = args.isBackward;
  return scope.define(statement.name, binding);
}

LogicalResult CallImporter::build(const CallTarget &target,
                                  const CallArguments &args,
                                  const CallStatement &statement,
                                  const Place &place) {
  ++counts.ops;
  switch (target.kind) {
  case CallTarget::Known:
  case CallTarget::Check: // PyTorch's rules count it as a reader
    return args.hasComplex ? buildUnknown(target, args, statement, place)
                           : buildKnown(target, args, statement, place);
  case CallTarget::Unknown:
    if (const CallTarget *inner = wrappedTarget(target, args))
      return buildReplayed(target, *inner, args, statement, place);
    return buildUnknown(target, args, statement, place);
  case CallTarget::Copy:
    return buildWrite(args, statement, place);
  case CallTarget::Assert:
    return buildAssert(target, args, statement, place);
  case CallTarget::InPlace:
    return scope.fail(statement.at,
                      quoted(target.name) + " changes its operand in place",
                      "functionalize the graph before dumping it: AOTAutograd "
                      "and run_decompositions() do; only copy_ onto an input "
                      "may stay");
  case CallTarget::Graph: // the reader of the text does it
  case CallTarget::Foreign:
    break;
  }
  return scope.fail(statement.at,
                    quoted(target.name) + " is not a call that an ATen graph "
                                          "has",
                    kBeforeAot);
}
