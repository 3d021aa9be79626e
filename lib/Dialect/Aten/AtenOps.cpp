// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of the ops of dialect `aten` and their registration. All ops share
// the model of CallOp; an op adds its name, its TypeID and its OpInfo. MLIR's
// own registration would instantiate one model and ten interface tables an op,
// and its generator's classes took longer to compile than any library.
//
// An OperationName of the dialect points to the model of its op, so the data
// of an op is one load away.

#include "cutback/Dialect/Aten/AtenOps.h"

#include "SchemaDetail.h"
#include "cutback/Dialect/Aten/Elements.h"
#include "cutback/Dialect/Aten/Flops.h"
#include "cutback/Dialect/Aten/InferComposite.h"
#include "cutback/Dialect/Aten/Loops.h"

using namespace mlir;
using namespace cutback::aten;

#define ATEN_OP(Class, name, torchName, schema, inferRule, loopsRule,          \
                elementRule, flopsRule, weight, fusion, ...)                   \
  static constexpr OpInfo k##Class = {torchName,                               \
                                      schema,                                  \
                                      &infer::inferRule,                       \
                                      &loops::loopsRule,                       \
                                      &elements::elementRule,                  \
                                      &flops::flopsRule,                       \
                                      weight,                                  \
                                      cutback::joint::FusionKind::fusion,      \
                                      __VA_ARGS__};                            \
  const OpInfo &Class::getOpInfo() { return k##Class; }
#include "cutback/Dialect/Aten/AtenOps.inc"

namespace {
struct Entry {
  const char *name;
  const OpInfo *info;
};
} // namespace

static constexpr Entry kEntries[] = {
#define ATEN_OP(Class, name, ...) Entry{name, &k##Class},
#include "cutback/Dialect/Aten/AtenOps.inc"
};

CallModel::CallModel(Dialect *dialect, StringRef name, TypeID typeId,
                     const OpInfo &info)
    : Model(dialect), info(info) {
  this->name = StringAttr::get(dialect->getContext(), name);
  this->typeID = typeId;
}

CallModel *CallModel::get(OperationName name) {
  std::optional<RegisteredOperationName> info = name.getRegisteredInfo();
  if (!info || !isa<AtenDialect>(info->getDialect()))
    return nullptr;
  return static_cast<CallModel *>(
      static_cast<OperationName::Impl *>(name.getAsOpaquePointer()));
}

const OpInfo *cutback::aten::getOpInfo(OperationName name) {
  CallModel *model = CallModel::get(name);
  return model ? &model->info : nullptr;
}

void cutback::aten::registerCalls(AtenDialect &dialect) {
  for (const Entry &entry : kEntries)
    RegisteredOperationName::insert(
        std::make_unique<CallModel>(&dialect, entry.name,
                                    getTypeId(*entry.info), *entry.info),
        CallOp::getAttributeNames());
}
