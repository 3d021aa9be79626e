// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The skeleton of a call is walked once, to note the operand that each argument
// starts at; after that an argument is found in constant time by position, and
// by a scan over the schema's few parameters by name. A parameter that there is
// not is found out here, at run time, for each op that a rule serves; that no
// op at all has it, Clang finds out (ParamRef).

#include "cutback/Dialect/Aten/Arguments.h"

#include "SchemaDetail.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

int ParamRef::resolve(const Schema &schema) const {
  if (index < 0)
    return schema.find(name);
  return static_cast<size_t>(index) < schema.params.size() ? index : -1;
}

void ParamRef::print(raw_ostream &os) const {
  if (index < 0)
    os << "'" << name << "'";
  else
    os << index;
}

ParamRef aten::optional(const char *name) {
  ParamRef param{StringRef(name)};
  param.mayLack = true;
  return param;
}

bool Arguments::Item::isNone() const {
  return !value || isa<joint::NoneAttr>(value);
}

bool Arguments::Item::isOperand() const {
  return isa_and_nonnull<joint::OperandAttr>(value);
}

Arguments::Arguments(const Schema &schema, ArrayAttr args,
                     std::optional<Location> loc)
    : schema(schema), args(args), loc(loc) {
  for (Attribute arg : args ? args.getValue() : ArrayRef<Attribute>()) {
    firstOperand.push_back(numOperands);
    numOperands += countOperandsIn(arg);
  }
}

Arguments::Item Arguments::item(ParamRef param) const {
  int index = param.resolve(schema);
  if (index < 0 && !param.isOptional()) {
    misread = true;
    if (loc) {
      std::string name;
      llvm::raw_string_ostream os(name);
      param.print(os);
      InFlightDiagnostic diag = emitError(*loc);
      diag << "'" << schema.packet << "' is read for a parameter " << name
           << " that it does not have";
      diag.attachNote() << "this is a defect of the program; report it with "
                           "this op";
    }
  }
  if (index < 0 || static_cast<size_t>(index) >= firstOperand.size())
    return {};
  return {index, args[index], firstOperand[index]};
}

SmallVector<Arguments::Item> Arguments::entries(ParamRef param) const {
  Item all = item(param);
  if (all.isNone())
    return {};
  auto list = dyn_cast<ArrayAttr>(all.value);
  if (!list)
    return {all};
  SmallVector<Item> items;
  unsigned operand = all.operand;
  for (Attribute entry : list) {
    items.push_back({all.param, entry, operand});
    operand += countOperandsIn(entry);
  }
  return items;
}
