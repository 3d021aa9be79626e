// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call that gives a tuple has no annotation; its elements have, where they
// are taken: `getitem_3: "f32[8]" = mystery[1]`. For an op with a schema that
// is a check. For an unknown op it is all there is, and an MLIR op needs its
// result types when it is made. So at the first such call the text is scanned
// once for all statements of that form.
//
// A tuple may hold tuples (`run_and_save_rng_state` gives the state and what
// the op gave). Names are visited once, whatever cycles a mutilated text has:
// linear.

#include "GetItems.h"

#include "Lexer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace cutback::fx;
using llvm::StringRef;

void GetItems::scan() {
  isScanned = true;
  Lexer lexer(text);
  while (!lexer.atEnd()) {
    lexer.skipBlank();
    const char *begin = lexer.position();
    Item item{0, lexer.identifier(), {}};
    if (item.name == "return") // nested graphs have names of their own
      return;
    if (!item.name.empty() && lexer.eat(':'))
      item.type = lexer.string().value_or("");
    if (!item.name.empty() && lexer.eat('=')) {
      StringRef tuple = lexer.identifier();
      if (!tuple.empty() && lexer.eat('[') &&
          !lexer.number().getAsInteger(10, item.index) && lexer.eat(']'))
        items[tuple].push_back(item);
    }
    lexer.moveTo(begin);
    lexer.restOfLine();
  }
}

std::vector<TupleLeaf> GetItems::leavesOf(StringRef name) {
  if (!isScanned)
    scan();
  std::vector<TupleLeaf> leaves;
  llvm::StringSet<> visited;
  std::vector<std::pair<StringRef, std::vector<unsigned>>> open = {{name, {}}};
  visited.insert(name);
  // Deeper tuples do not occur, and paths would make a chain quadratic.
  constexpr size_t kMaxDepth = 8;
  while (!open.empty()) {
    auto [tuple, prefix] = std::move(open.back());
    open.pop_back();
    auto it = items.find(tuple);
    if (it == items.end() || prefix.size() >= kMaxDepth)
      continue;
    for (const Item &item : it->second) {
      std::vector<unsigned> path = prefix;
      path.push_back(item.index);
      if (!item.type.empty())
        leaves.push_back({std::move(path), item.type, item.name});
      else if (visited.insert(item.name).second)
        open.push_back({item.name, std::move(path)});
    }
  }
  llvm::stable_sort(leaves, [](const TupleLeaf &a, const TupleLeaf &b) {
    return a.path < b.path;
  });
  leaves.erase(std::unique(leaves.begin(), leaves.end(),
                           [](const TupleLeaf &a, const TupleLeaf &b) {
                             return a.path == b.path;
                           }),
               leaves.end());
  return leaves;
}
