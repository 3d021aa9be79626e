// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members of the objects in a manifest, each of its kind or refused.
#ifndef CUTBACK_LIB_RUNTIME_MEMBERREADER_H
#define CUTBACK_LIB_RUNTIME_MEMBERREADER_H

#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/Json.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

namespace cutback {

/// What is missing or of another kind is noted, once, and something that is
/// nothing is returned: a reader goes on to its end and then asks `problem`.
class MemberReader {
protected:
  enum Presence { Required, Optional };

  void refuse(const std::string &what) {
    if (problem.empty())
      problem = what;
  }

  /// The member `key` of `value`, of this kind. Missing if it is not there, or
  /// of another kind, which is noted.
  JsonValue member(JsonValue value, const char *key, Presence presence,
                   JsonKind kind) {
    JsonValue found = value.find(key);
    if (!found && presence == Optional)
      return {};
    if (found.kind() == kind)
      return found;
    refuse(std::string("lacks ") + describe(kind) + " '" + key + "'");
    return {};
  }
  JsonValue::Range list(JsonValue value, const char *key,
                        Presence presence = Required) {
    return member(value, key, presence, JsonKind::Array).children();
  }
  std::string text(JsonValue value, const char *key,
                   Presence presence = Required) {
    return member(value, key, presence, JsonKind::String).decoded();
  }
  /// True where it is there, as it is written.
  bool flag(JsonValue value, const char *key) {
    return bool(member(value, key, Optional, JsonKind::True));
  }
  int64_t number(JsonValue value, const char *key) {
    return integer(member(value, key, Required, JsonKind::Number), key);
  }
  int64_t number(JsonValue value, const char *key, int64_t otherwise) {
    JsonValue found = member(value, key, Optional, JsonKind::Number);
    return found ? integer(found, key) : otherwise;
  }
  int64_t integer(JsonValue value, const char *key) {
    std::optional<int64_t> number = value.asInt();
    if (!number)
      refuse(std::string("lacks a number '") + key + "'");
    return number.value_or(0);
  }
  double real(JsonValue value, const char *key, double otherwise) {
    JsonValue found = member(value, key, Optional, JsonKind::Number);
    return found ? found.asDouble().value_or(otherwise) : otherwise;
  }
  std::vector<int64_t> numbers(JsonValue value, const char *key,
                               Presence presence = Required) {
    std::vector<int64_t> all;
    for (JsonValue one : list(value, key, presence))
      all.push_back(integer(one, key));
    return all;
  }
  std::vector<std::string> texts(JsonValue value, const char *key,
                                 Presence presence = Required) {
    std::vector<std::string> all;
    for (JsonValue one : list(value, key, presence)) {
      if (!one.isString())
        refuse(std::string("has no words in '") + key + "'");
      all.push_back(one.decoded());
    }
    return all;
  }
  template <size_t Count>
  std::array<int64_t, Count> exactly(JsonValue value, const char *key) {
    std::vector<int64_t> all = numbers(value, key);
    if (all.size() != Count)
      refuse(std::string("lacks a number '") + key + "'");
    all.resize(Count);
    std::array<int64_t, Count> made;
    std::copy(all.begin(), all.end(), made.begin());
    return made;
  }

  /// `value` is an object with these members alone, each once.
  void only(JsonValue value, std::initializer_list<std::string_view> keys) {
    if (!value.isObject())
      return refuse("has a list with what does not belong into it");
    std::set<std::string_view> seen;
    bool isKey = true;
    for (JsonValue child : value.children()) {
      if (isKey) {
        std::string_view key = child.raw();
        if (std::find(keys.begin(), keys.end(), key) == keys.end() ||
            !seen.insert(key).second)
          refuse("has a member '" + std::string(key.substr(0, 40)) +
                 "' that it cannot have");
      }
      isKey = !isKey;
    }
  }
  void readTensor(JsonValue value, ArtifactTensor &tensor) {
    tensor.name = text(value, "name");
    tensor.dtype = text(value, "dtype");
    tensor.sizes = numbers(value, "sizes");
  }

  std::string problem; ///< the first one
};

} // namespace cutback

#endif // CUTBACK_LIB_RUNTIME_MEMBERREADER_H
