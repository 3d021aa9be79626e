// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan.json against the one that should be there. Both texts are parsed and
// walked side by side; the first value that differs ends the walk with its
// path, such as 'saved[3].bytes'. No list of keys is kept here: whatever a
// plan.json holds is compared, and what it holds too much, too little, twice
// or in another type is a difference.
//
// Whole numbers are compared as they are written, because both sides are
// written by one function; of others every spelling is as good. Members of an
// object are met in the order in which they are written, which is looked up
// only where it differs. Linear.

#include "cutback/Report/PartitionFiles.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/Json.h"

#include "llvm/ADT/StringMap.h"

using llvm::StringRef;

namespace cutback {

static StringRef ref(std::string_view text) {
  return {text.data(), text.size()};
}

namespace {

class Comparison {
public:
  explicit Comparison(bool hasUpdate) : hasUpdate(hasUpdate) {}

  /// True if both values are the same; else `message` says what differs.
  bool compare(JsonValue stored, JsonValue computed);

  std::string message;

private:
  bool compareArrays(JsonValue stored, JsonValue computed);
  bool compareObjects(JsonValue stored, JsonValue computed);
  bool compareMembers(JsonValue stored, JsonValue computed);
  bool findStrayKey(JsonValue stored, JsonValue computed);
  bool enter(StringRef step, JsonValue stored, JsonValue computed);
  bool differ(const std::string &what) {
    message = (path.empty() ? "its value" : "'" + path + "'") + " " + what;
    return false;
  }

  /// An update that only the stored plan has is not looked at.
  bool isUnreadKey(StringRef key) const {
    return !hasUpdate && path.empty() &&
           (key == "optimizer" || key == "update");
  }
  bool isUnreadEntry(JsonValue segment) const {
    return !hasUpdate && (path == "segments" || path == "kernels.segments") &&
           isOptimizerSegment(segment.find("name").decoded());
  }

  bool hasUpdate;
  std::string path;
};

} // namespace

static bool isSameScalar(JsonValue a, JsonValue b) {
  if (a.raw() == b.raw())
    return true;
  if (a.isNumber())
    return !a.asInt() && !b.asInt() && a.asDouble() == b.asDouble();
  return a.isString() && a.decoded() == b.decoded();
}

/// A value for a message.
static std::string show(JsonValue value) {
  if (value.isArray() || value.isObject())
    return describe(value.kind());
  std::string text = ref(value.raw()).take_front(60).str();
  if (value.raw().size() > 60)
    text += "...";
  return value.isString() ? "\"" + text + "\"" : text;
}

bool Comparison::enter(StringRef step, JsonValue stored, JsonValue computed) {
  size_t length = path.size();
  path += step;
  bool isSame = compare(stored, computed);
  path.resize(length);
  return isSame;
}

bool Comparison::compareArrays(JsonValue stored, JsonValue computed) {
  size_t count = stored.size(), wanted = computed.size();
  for (JsonValue entry : stored.children())
    count -= isUnreadEntry(entry);
  if (count != wanted)
    return differ("has " + std::to_string(count) +
                  " entries; computed again, "
                  "it has " +
                  std::to_string(wanted));
  auto other = computed.children().begin();
  size_t index = 0;
  for (JsonValue entry : stored.children()) {
    if (isUnreadEntry(entry))
      continue;
    if (!enter("[" + std::to_string(index++) + "]", entry, *other))
      return false;
    ++other;
  }
  return true;
}

/// Names a key that only one side has, or that is there twice.
bool Comparison::findStrayKey(JsonValue stored, JsonValue computed) {
  llvm::StringMap<bool> known; // whether it was met
  auto keys = [](JsonValue object, llvm::function_ref<bool(StringRef)> visit) {
    bool isKey = true;
    for (JsonValue child : object.children()) {
      if (isKey && !visit(child.decoded()))
        return false;
      isKey = !isKey;
    }
    return true;
  };
  std::string prefix = path.empty() ? "" : path + ".";
  auto stray = [&](StringRef key, const char *what) {
    message = "'" + prefix + key.take_front(60).str() + "' " + what;
    return false;
  };
  keys(computed, [&](StringRef key) {
    known[key] = false;
    return true;
  });
  bool isGood = keys(stored, [&](StringRef key) {
    if (isUnreadKey(key))
      return true;
    auto it = known.find(key);
    if (it == known.end())
      return stray(key, "is no part of this plan");
    if (it->second)
      return stray(key, "is there twice");
    it->second = true;
    return true;
  });
  return isGood && keys(computed, [&](StringRef key) {
           return known[key] || stray(key, "is missing");
         });
}

bool Comparison::compareMembers(JsonValue stored, JsonValue computed) {
  std::string dot = path.empty() ? "" : ".";
  auto other = computed.children().begin();
  JsonValue key;
  for (JsonValue child : stored.children()) {
    if (!key) {
      key = child;
      ++other;
      continue;
    }
    if (!enter(dot + key.decoded(), child, *other))
      return false;
    key = JsonValue();
    ++other;
  }
  return true;
}

bool Comparison::compareObjects(JsonValue stored, JsonValue computed) {
  bool sameKeys = stored.size() == computed.size();
  if (sameKeys) {
    auto other = computed.children().begin();
    bool isKey = true;
    for (JsonValue child : stored.children()) {
      sameKeys &= !isKey || child.raw() == (*other).raw();
      isKey = !isKey;
      ++other;
    }
  }
  if (sameKeys)
    return compareMembers(stored, computed);
  if (!findStrayKey(stored, computed))
    return false;
  llvm::StringMap<JsonValue> members;
  JsonValue key;
  for (JsonValue child : stored.children()) {
    if (key)
      members[key.decoded()] = child;
    key = key ? JsonValue() : child;
  }
  std::string dot = path.empty() ? "" : ".";
  for (JsonValue child : computed.children()) {
    if (key && !enter(dot + key.decoded(), members[key.decoded()], child))
      return false;
    key = key ? JsonValue() : child;
  }
  return true;
}

bool Comparison::compare(JsonValue stored, JsonValue computed) {
  if (stored.kind() == computed.kind()) {
    if (stored.isArray())
      return compareArrays(stored, computed);
    if (stored.isObject())
      return compareObjects(stored, computed);
    if (isSameScalar(stored, computed))
      return true;
  }
  return differ("is " + show(stored) + "; computed again, it is " +
                show(computed));
}

std::vector<std::string> storedOptimizer(StringRef plan) {
  JsonDocument document;
  std::vector<std::string> options;
  if (JsonDocument::parse({plan.data(), plan.size()}, document) ||
      !document.root().isObject())
    return options;
  if (JsonValue list = document.root().find("optimizer");
      list && list.isArray())
    for (JsonValue option : list.children())
      if (option.isString())
        options.push_back(option.decoded());
  return options;
}

std::optional<PartMismatch> comparePlans(StringRef stored, StringRef computed,
                                         bool hasUpdate) {
  auto refuse = [](std::string message, bool isUnreadable) {
    return PartMismatch{kPartitionFiles[3], std::move(message), isUnreadable};
  };
  JsonDocument first, second;
  if (auto error = JsonDocument::parse({stored.data(), stored.size()}, first))
    return refuse("no JSON at byte " + std::to_string(error->offset) + ": " +
                      error->message,
                  true);
  if (auto error =
          JsonDocument::parse({computed.data(), computed.size()}, second))
    return refuse("the plan made again is no JSON: " + error->message, true);
  Comparison comparison(hasUpdate);
  if (comparison.compare(first.root(), second.root()))
    return std::nullopt;
  return refuse(std::move(comparison.message), false);
}

} // namespace cutback
