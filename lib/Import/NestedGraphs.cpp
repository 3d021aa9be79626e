// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where nested graphs stand in a text. PyTorch prints the graph of each
// submodule as a class behind the return statement of the graph that has it,
// indented by four more:
//
//   class inner_f(torch.nn.Module):
//       def forward(self, primals, tangents):
//           repeated_subgraph0 = self.repeated_subgraph0
//           ...
//       class repeated_subgraph0(torch.nn.Module):
//           def forward(self, arg0_1: "f32[4]"):
//
// Two graphs may each have a submodule of one name, so a class is looked up in
// the class of whoever calls. The first class line of the text is the graph's
// own; older dumps lack it. Linear, once for each text.

#include "NestedGraphs.h"

#include "SourceText.h"

#include "llvm/ADT/STLExtras.h"

using namespace cutback::fx;
using llvm::StringRef;

void NestedGraphs::scan() {
  isScanned = true;
  std::vector<size_t> open; // classes that enclose the line
  auto closeTo = [&](size_t indent, const char *end) {
    while (!open.empty() && classes[open.back()].indent >= indent) {
      Class &last = classes[open.back()];
      last.text = StringRef(last.text.begin(), end - last.text.begin());
      open.pop_back();
    }
  };
  for (StringRef rest = text; !rest.empty();) {
    StringRef line = takeLine(rest);
    StringRef name = line.ltrim();
    size_t indent = line.size() - name.size();
    // What stands in front of the first class may be a path.
    if (!name.consume_front("class ") || !name.contains("(torch.nn.Module):"))
      continue;
    closeTo(indent, line.begin());
    Class found{name.take_until([](char c) { return c == '('; }),
                StringRef(line.begin(), text.end() - line.begin()), indent,
                open.empty() ? kOutermost : open.back()};
    open.push_back(classes.size());
    classes.push_back(found);
  }
  // The graph's own class: what is indented further is nested in it, and what
  // it calls is looked up from outside.
  if (!classes.empty() && classes.front().text.begin() == text.begin()) {
    for (Class &nested : llvm::drop_begin(classes))
      nested.parent = nested.parent == 0 || nested.parent == kOutermost
                          ? kOutermost
                          : nested.parent - 1;
    classes.erase(classes.begin());
  }
}

std::optional<StringRef> NestedGraphs::find(StringRef name,
                                            const char *caller) {
  if (!isScanned)
    scan();
  // The innermost class around the caller is the last one that begins before.
  size_t parent = kOutermost;
  for (auto [i, entry] : llvm::enumerate(classes)) {
    if (entry.text.begin() > caller)
      break;
    if (caller < entry.text.end())
      parent = i;
  }
  for (const Class &entry : classes)
    if (entry.parent == parent && entry.name == name)
      return entry.text;
  return std::nullopt;
}
