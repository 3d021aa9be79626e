// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of a graph. They stand behind the nodes in the file, and are
// read in front of them; a declaration that no node uses costs its place in
// the table and nothing else. Symbolic integers, floats and booleans share one
// table: their names come from one list.

#include "Names.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

LogicalResult Frame::declare(JsonValue graph, StringRef key,
                             Declarations &table, Fields &fields) {
  JsonValue object = graph.find({key.data(), key.size()});
  if (!object)
    return success(); // of a release that had none
  if (!object.isObject())
    return fields.fail(object,
                       fx::quoted(key) + " must be an object, and is " +
                           describe(object.kind()),
                       kDamaged);
  auto range = object.children();
  for (auto it = range.begin(); it != range.end(); ++it) {
    JsonValue name = *it;
    ++it;
    if (!table.names.insert(fields.text(name)).second)
      return fields.fail(
          name, fx::quoted(fields.text(name)) + " is declared twice", kDamaged);
    table.values.push_back(*it);
  }
  return success();
}

LogicalResult Frame::declare(JsonValue graph, Fields &fields) {
  if (failed(fields.get(graph, "tensor_values", JsonKind::Object)) ||
      failed(declare(graph, "tensor_values", tensors, fields)))
    return failure();
  for (StringRef key :
       {"sym_int_values", "sym_bool_values", "sym_float_values"})
    if (failed(declare(graph, key, scalars, fields)))
      return failure();
  return success();
}
