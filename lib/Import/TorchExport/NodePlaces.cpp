// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metadata of a node:
//
//   stack_trace      lines `File "models.py", line 62, in forward`, each with
//                    its source line, outermost first
//   nn_module_stack  "key,path,type;…", outermost first
//   custom           JSON text; what an export script put there. `recompute`
//                    and `ac_graph_id` are the tags of a checkpoint region
//
// The place is the innermost line outside of PyTorch's own modules, as FX text
// has it. It is wrapped into a FusedLoc whose metadata is the module's path,
// "blocks.3.attn". A joint program has no source lines: its traces lead to the
// code that was generated from the forward program and is gone. Its nodes are
// where they stand in the file.

#include "NodePlaces.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

/// One `File "PATH", line N, in FUNCTION`.
static bool parseFrame(StringRef line, StringRef &path, unsigned &number,
                       StringRef &function) {
  line = line.trim();
  if (!line.consume_front("File \""))
    return false;
  std::tie(path, line) = line.split("\", line ");
  StringRef digits;
  std::tie(digits, function) = line.split(", in ");
  function = function.trim();
  return !path.empty() && !digits.getAsInteger(10, number);
}

LocationAttr NodePlaces::placeOf(StringRef trace) {
  StringRef bestPath, bestFunction;
  unsigned bestLine = 0;
  for (StringRef rest = trace; !rest.empty();) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    StringRef path, function;
    unsigned number = 0;
    if (!parseFrame(line, path, number, function))
      continue;
    bool isOwn = path.starts_with("torch/") || path.contains("/torch/");
    if (isOwn && bestLine)
      continue;
    bestPath = path;
    bestFunction = function;
    bestLine = number;
  }
  // Nobody can open the code that PyTorch generates.
  if (!bestLine || bestPath.starts_with("<eval_with_key>"))
    return {};
  Location location = FileLineColLoc::get(context, bestPath, bestLine, 0);
  if (bestFunction.empty())
    return location;
  return NameLoc::get(StringAttr::get(context, bestFunction), location);
}

/// The path of the last of "key,path,type;key,path,type"; commas inside of
/// brackets do not count.
static StringRef innermostModule(StringRef stack) {
  StringRef last = stack.rsplit(';').second;
  if (last.empty())
    last = stack;
  int depth = 0;
  SmallVector<size_t, 2> commas;
  for (auto [i, c] : llvm::enumerate(last)) {
    depth += c == '(' || c == '[';
    depth -= c == ')' || c == ']';
    if (c == ',' && depth == 0)
      commas.push_back(i);
  }
  if (commas.size() < 2)
    return {};
  return last.slice(commas[0] + 1, commas[1]);
}

joint::PolicyAttr NodePlaces::policyOf(JsonValue custom) {
  // JSON text in a JSON string, or an object.
  std::string text =
      custom.isString() ? custom.decoded() : ref(custom.raw()).str();
  JsonDocument document;
  if (JsonDocument::parse(text, document))
    return {};
  JsonValue root = document.root();
  JsonValue tag = root.find("recompute");
  StringRef name = ref(tag.raw());
  name.consume_front("CheckpointPolicy.");
  auto kind =
      llvm::StringSwitch<std::optional<joint::PolicyKind>>(name)
          .Cases({"MUST_SAVE", "0"}, joint::PolicyKind::MustSave)
          .Cases({"PREFER_SAVE", "1"}, joint::PolicyKind::PreferSave)
          .Cases({"MUST_RECOMPUTE", "2"}, joint::PolicyKind::MustRecompute)
          .Cases({"PREFER_RECOMPUTE", "3"}, joint::PolicyKind::PreferRecompute)
          .Default(std::nullopt);
  if (!kind)
    return {};
  int64_t region = root.find("ac_graph_id").asInt().value_or(-1);
  return joint::PolicyAttr::get(context, *kind, std::max<int64_t>(region, -1));
}

Location NodePlaces::placeInFile(JsonValue node) {
  // The cursor goes forward; nested graphs are read in any order.
  const char *at = node.raw().begin();
  if (cursor.last && at < cursor.last)
    cursor = {};
  return fields.source.locate(context, at, cursor);
}

fx::Place NodePlaces::read(JsonValue node) {
  JsonValue metadata = node.find("metadata");
  fx::Place place;
  place.location = fallback;
  if (JsonValue trace = metadata.find("stack_trace"); trace.isString()) {
    auto [it, isNew] = places.try_emplace(ref(trace.raw()));
    if (isNew)
      it->second = placeOf(trace.decoded());
    place.location = it->second ? it->second : LocationAttr(placeInFile(node));
  }
  if (JsonValue stack = metadata.find("nn_module_stack"); stack.isString()) {
    auto [it, isNew] = modules.try_emplace(ref(stack.raw()));
    if (isNew)
      if (StringRef path = innermostModule(fields.text(stack)); !path.empty())
        it->second = StringAttr::get(context, path);
    if (it->second)
      place.location =
          FusedLoc::get(context, {Location(place.location)}, it->second);
  }
  if (JsonValue custom = metadata.find("custom")) {
    auto [it, isNew] = policies.try_emplace(ref(custom.raw()));
    if (isNew)
      it->second = policyOf(custom);
    place.policy = it->second;
  }
  return place;
}
