// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamo describes where a tensor was found by a Python expression on the
// frame's locals and globals:
//
//   source := ("L" | "G") "['" NAME "']" step*
//   step   := "._modules['" NAME "']" | "._parameters['" NAME "']"
//           | "._buffers['" NAME "']" | "." NAME | "['" NAME "']" | "[" INT "]"
//
// The qualified name is the list of steps without the root, as
// `named_parameters()` of the root has it. A root without steps is an input of
// the function, called by its own name.

#include "SourceNames.h"

#include "llvm/ADT/StringExtras.h"

using namespace cutback;
using namespace cutback::fx;
using joint::RoleKind;
using llvm::StringRef;

/// Takes "['x']" or "[3]" off `text`; empty if it does not begin so.
static StringRef takeSubscript(StringRef &text) {
  StringRef rest = text;
  if (!rest.consume_front("["))
    return {};
  StringRef name;
  if (rest.starts_with("'") || rest.starts_with("\"")) {
    size_t end = rest.find(rest.front(), 1);
    if (end == StringRef::npos)
      return {};
    name = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
  } else {
    name = rest.take_while([](char c) { return llvm::isDigit(c); });
    rest = rest.drop_front(name.size());
  }
  if (!rest.consume_front("]"))
    return {};
  text = rest;
  return name;
}

SourceName cutback::fx::parseSourceName(StringRef source) {
  SourceName result;
  StringRef rest = source;
  if (!rest.consume_front("L") && !rest.consume_front("G"))
    return result;
  StringRef root = takeSubscript(rest);
  if (root.empty())
    return result;
  RoleKind kind = RoleKind::Input;
  std::string name;
  while (!rest.empty()) {
    StringRef step;
    kind = RoleKind::Input;
    if (rest.consume_front("._parameters"))
      kind = RoleKind::Param;
    else if (rest.consume_front("._buffers"))
      kind = RoleKind::Buffer;
    else if (!rest.consume_front("._modules") && rest.consume_front("."))
      step =
          rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!step.empty())
      rest = rest.drop_front(step.size());
    else
      step = takeSubscript(rest);
    if (step.empty())
      return result;
    name += (name.empty() ? "" : ".") + step.str();
  }
  result.kind = kind;
  result.name = name.empty() ? root.str() : name;
  return result;
}

std::string cutback::fx::placeholderName(StringRef source) {
  std::string name;
  for (char c : source) {
    if (llvm::isAlnum(c))
      name += c;
    else if (name.empty() || name.back() != '_')
      name += '_';
  }
  return name;
}
