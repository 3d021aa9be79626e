// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `aten` and its schema table, which is read from the ops' strings when
// somebody first asks for it: most runs of a tool need it, the registration of
// the dialect does not. The table is shared by all threads of the context. The
// dialects of element formulas come along, because whether a call has one is
// found out by building it.

#include "cutback/Dialect/Aten/Aten.h"

#include "DeclaredCalls.h"
#include "SchemaDetail.h"
#include "ViewLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <mutex>

using namespace mlir;
using namespace cutback::aten;

struct AtenDialect::Storage {
  std::once_flag once;
  SchemaTable::Impl impl;
  SchemaTable table{impl};
};

#include "cutback/Dialect/Aten/AtenDialect.cpp.inc"

AtenDialect::~AtenDialect() = default;

void AtenDialect::initialize() {
  storage = std::make_unique<Storage>();
  registerCalls(*this);
  addInterface(createViewLayouts(this));
  addInterface(createDeclaredCalls(this));
}

const SchemaTable &AtenDialect::getSchemas() {
  std::call_once(storage->once, [&] { storage->impl.fill(getContext()); });
  return storage->table;
}
