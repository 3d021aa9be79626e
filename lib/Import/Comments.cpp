// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comments that PyTorch prints between statements:
//
//   # File: models.py:117 in forward, code: q = self.wq(h)
//   # ac_graph_id: 3 - PREFER_RECOMPUTE File: models.py:46 in forward, code: …
//   # recompute: MUST_SAVE File: …
//   # Annotation: {'stage': 2} ac_graph_id: 0 - MUST_SAVE File: …
//   # No stacktrace found for following nodes
//
// The place becomes NameLoc("forward", FileLineColLoc(models.py, 117)), the
// tag `#joint.policy`. What stands behind ", code:" is the model's text, which
// may hold anything: it is cut off first. One model line is the place of many
// runs of ops, so each comment is read once and then found by its text.

#include "Comments.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

StringRef cutback::fx::quotedArgument(StringRef rest) {
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
    return {};
  size_t end = rest.find(rest.front(), 1);
  return end == StringRef::npos ? StringRef() : rest.slice(1, end);
}

const Place *CommentReader::read(StringRef comment) {
  StringRef key = comment.take_front(comment.find(", code:")).trim();
  auto [it, isNew] = entries.try_emplace(key);
  if (isNew)
    parse(key, it->second);
  return it->second.isPlace ? &it->second.place : nullptr;
}

static std::optional<joint::PolicyKind> policyOf(StringRef name) {
  return llvm::StringSwitch<std::optional<joint::PolicyKind>>(name)
      .Case("MUST_SAVE", joint::PolicyKind::MustSave)
      .Case("PREFER_SAVE", joint::PolicyKind::PreferSave)
      .Case("MUST_RECOMPUTE", joint::PolicyKind::MustRecompute)
      .Case("PREFER_RECOMPUTE", joint::PolicyKind::PreferRecompute)
      .Default(std::nullopt);
}

/// The word at the front of `text`, taken off it.
static StringRef takeWord(StringRef &text) {
  text = text.ltrim();
  StringRef word = text.take_until([](char c) { return c == ' '; });
  text = text.drop_front(word.size());
  return word;
}

/// Reads a tag off `text`: "ac_graph_id: 3 - POLICY", "recompute: POLICY".
/// `unknown` is one that is no policy.
static joint::PolicyAttr takePolicy(StringRef &text, MLIRContext *context,
                                    StringRef &unknown) {
  int64_t region = -1;
  StringRef rest = text;
  if (rest.consume_front("ac_graph_id:")) {
    if (takeWord(rest).getAsInteger(10, region) || region < 0)
      return {};
    text = rest;
    rest = rest.ltrim();
    if (!rest.consume_front("-"))
      return {};
  } else if (!rest.consume_front("recompute:")) {
    return {};
  }
  StringRef word = takeWord(rest);
  std::optional<joint::PolicyKind> kind = policyOf(word);
  if (!kind) {
    unknown = word;
    return {};
  }
  text = rest;
  return joint::PolicyAttr::get(context, *kind, region);
}

/// What stands behind "Annotation: {...}", which is the model's: a dictionary
/// whose texts may hold anything. The tag is the last thing in front of the
/// place.
static StringRef skipAnnotation(StringRef text) {
  if (!text.starts_with("Annotation: "))
    return text;
  size_t tag = std::max(text.rfind("} ac_graph_id: ") + 1,
                        text.rfind("} recompute: ") + 1);
  return tag ? text.drop_front(tag + 1) : text;
}

/// "path:line in function", "path:line".
static LocationAttr parsePlace(StringRef text, MLIRContext *context) {
  StringRef function;
  if (size_t in = text.rfind(" in "); in != StringRef::npos) {
    function = text.drop_front(in + 4).trim();
    text = text.take_front(in);
  }
  auto [path, lineText] = text.rsplit(':');
  unsigned line = 0;
  if (path.empty() || lineText.trim().getAsInteger(10, line))
    return {};
  Location location = FileLineColLoc::get(context, path.trim(), line, 0);
  if (function.empty())
    return location;
  return NameLoc::get(StringAttr::get(context, function), location);
}

void CommentReader::parse(StringRef key, Entry &entry) {
  StringRef rest = key;
  // The printer may put several annotations in front, each with its own '#'.
  size_t file = rest.find("File: ");
  for (StringRef part = rest.take_front(file); !part.empty();) {
    part = skipAnnotation(part.ltrim(" #"));
    if (joint::PolicyAttr policy =
            takePolicy(part, context, entry.place.unknownTag)) {
      entry.place.policy = policy;
      entry.isPlace = true;
    }
    part = part.drop_front(std::min(part.find('#'), part.size()));
  }
  entry.isPlace |= !entry.place.unknownTag.empty();
  entry.place.location = fallback;
  if (file != StringRef::npos) {
    if (LocationAttr place = parsePlace(rest.drop_front(file + 6), context)) {
      entry.place.location = place;
      entry.isPlace = true;
    }
  } else if (rest.contains("No stacktrace found")) {
    entry.isPlace = true;
  }
}
