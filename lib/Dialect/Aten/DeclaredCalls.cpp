// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds of an ATen call that is taken as declared: all that its family
// says about the op but types and views. Its arguments are those of the text,
// which need not be those of the schema; one with a name is found by it, others
// by their place.

#include "DeclaredCalls.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

namespace {

/// The argument for the first of `names` that the schema has.
Attribute argumentOf(joint::OpaqueOp call, const Schema &schema,
                     ArrayRef<StringRef> names) {
  ArrayAttr args = call.getArgs(), keywords = call.getKeywordsAttr();
  size_t numKeywords = keywords ? keywords.size() : 0;
  size_t numPositional = args.size() - numKeywords;
  for (StringRef name : names) {
    int param = schema.find(name);
    if (param < 0)
      continue;
    for (size_t i = 0; i < numKeywords; ++i)
      if (cast<StringAttr>(keywords[i]).getValue() == name)
        return args[numPositional + i];
    return static_cast<size_t>(param) < numPositional
               ? args[param]
               : schema.params[param].defaultValue;
  }
  return {};
}

class DeclaredCalls : public joint::CalleeInterface {
public:
  using CalleeInterface::CalleeInterface;

  std::optional<joint::CalleeFacts>
  factsOf(joint::OpaqueOp call) const override {
    const Schema *schema = schemaOf(call);
    if (!schema)
      return std::nullopt;
    const OpInfo &info = *getOpInfo(schema->op);
    joint::CalleeFacts facts;
    facts.isRandom =
        drawsRandomly(info, argumentOf(call, *schema, {"train", "training"}),
                      argumentOf(call, *schema, {"dropout_p", "p", "dropout"}));
    facts.hasOrderedEffects = info.has(kOrdered);
    facts.isComputeIntensive = info.has(kComputeIntensive);
    facts.usesMatrixUnits = info.has(kMatrixUnits);
    return facts;
  }

  double flopsOf(joint::OpaqueOp call,
                 ArrayRef<ArrayRef<int64_t>> shapes) const override {
    const Schema *schema = schemaOf(call);
    if (!schema)
      return 0;
    const OpInfo &info = *getOpInfo(schema->op);
    return info.flops(call, shapes, info.flopsWeight);
  }

private:
  const Schema *schemaOf(joint::OpaqueOp call) const {
    return static_cast<AtenDialect *>(getDialect())
        ->getSchemas()
        .lookup(call.getCallee());
  }
};

} // namespace

bool aten::drawsRandomly(const OpInfo &info, Attribute training,
                         Attribute probability) {
  if (!info.has(kRandomWithDropout))
    return info.has(kRandom);
  auto isTraining = dyn_cast_or_null<BoolAttr>(training);
  if (isTraining && !isTraining.getValue())
    return false;
  auto dropout = dyn_cast_or_null<FloatAttr>(probability);
  return !dropout || !dropout.getValue().isZero();
}

std::unique_ptr<joint::CalleeInterface>
aten::createDeclaredCalls(Dialect *dialect) {
  return std::make_unique<DeclaredCalls>(dialect);
}
