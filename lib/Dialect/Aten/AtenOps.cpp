// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op classes of dialect `aten` and their registration. All ops share the
// model of CallOp; an op adds its name, its TypeID and its OpInfo. MLIR's own
// registration would instantiate one model and ten interface tables an op.
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

#define GET_OP_CLASSES
#include "cutback/Dialect/Aten/AtenOps.cpp.inc"

namespace {
struct Entry {
  StringRef name;
  TypeID typeId;
  const OpInfo *info;
};
} // namespace

template <typename... Ops> static void getEntries(std::vector<Entry> &entries) {
  entries = {
      Entry{Ops::getOperationName(), TypeID::get<Ops>(), &Ops::getOpInfo()}...};
}

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
  std::vector<Entry> entries;
  getEntries<
#define GET_OP_LIST
#include "cutback/Dialect/Aten/AtenOps.cpp.inc"
      >(entries);
  for (const Entry &entry : entries)
    RegisteredOperationName::insert(
        std::make_unique<CallModel>(&dialect, entry.name, entry.typeId,
                                    *entry.info),
        CallOp::getAttributeNames());
}
