// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON of torch.export: data classes are objects with all their fields,
// unions are objects with one member. Unknown fields are not looked at, so
// later minor versions read; what is needed and missing, or of another kind,
// is an error at its place. Programs of torch 2.1 and 2.2 write a union as
// {"$type": KIND, "$value": VALUE}.

#include "Fields.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

LogicalResult Fields::parse(JsonDocument &document) {
  StringRef text = source.text();
  std::optional<JsonError> error =
      JsonDocument::parse({text.data(), text.size()}, document);
  if (!error)
    return success();
  return fx::emitAt(context, source, text.data() + error->offset,
                    "this is not JSON: " + Twine(error->message), kDamaged);
}

FailureOr<JsonValue> Fields::get(JsonValue object, StringRef key,
                                 JsonKind kind) const {
  if (!object.isObject())
    return fail(object,
                "expected an object with " + fx::quoted(key) + ", found " +
                    describe(object.kind()),
                kDamaged);
  JsonValue value = object.find({key.data(), key.size()});
  if (!value)
    return fail(object, "there is no " + fx::quoted(key) + " here", kDamaged);
  if (value.kind() != kind && !(kind == JsonKind::True && value.isBool()))
    return fail(value,
                fx::quoted(key) + " must be " + describe(kind) + ", and is " +
                    describe(value.kind()),
                kDamaged);
  return value;
}

StringRef Fields::text(JsonValue string) {
  if (!string.hasEscapes())
    return ref(string.raw());
  return strings.save(string.decoded());
}

FailureOr<StringRef> Fields::text(JsonValue object, StringRef key) {
  FailureOr<JsonValue> value = get(object, key, JsonKind::String);
  if (failed(value))
    return failure();
  return text(*value);
}

FailureOr<Fields::Variant> Fields::variant(JsonValue object) const {
  auto fail = [&] {
    return this->fail(object,
                      Twine("expected an object with one member, found ") +
                          describe(object.kind()),
                      kDamaged);
  };
  if (!object.isObject())
    return fail();
  auto range = object.children();
  auto it = range.begin();
  if (!(it != range.end()))
    return fail();
  JsonValue key = *it;
  JsonValue value = *++it;
  if (key.raw() == "$type" && value.isString()) {
    JsonValue inner = object.find("$value");
    if (!inner)
      return fail();
    return Variant{ref(value.raw()), inner};
  }
  if (++it != range.end())
    return fail();
  return Variant{ref(key.raw()), value};
}
