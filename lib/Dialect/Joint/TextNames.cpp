// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser forgets what results are called in the text, and an op of
// MLIR's own dialects has no place for it. The parser of `joint.graph` has the
// text of its body at hand, so names survive in every program that reads a
// graph: `mlir-opt` with the plugin, too, where nothing of ours runs but this.
//
//   1. In the text, outside of nested brackets, strings and comments, results
//      are `%a, %b:2 =` and the name of an op.
//   2. These and the ops of the block that have results are two lists in one
//      order. Unless they agree in length, and pair by pair in the op's name
//      and the number of results, nothing is done: a name is not worth a guess.
//   3. `%h` is "h", the second result of `%h:2` is "h_1".

#include "TextNames.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback::joint;

namespace {

/// `%a, %b:2 = linalg.generic`
struct Definition {
  SmallVector<std::string, 1> results; ///< empty for a number
  StringRef op;
};

class Scanner {
public:
  explicit Scanner(StringRef text) : rest(text) {}

  std::vector<Definition> run() {
    std::vector<Definition> definitions;
    unsigned depth = 0;
    while (!rest.empty()) {
      char c = rest.front();
      if (c == '"') {
        skipString();
      } else if (rest.starts_with("//")) {
        rest = rest.drop_until([](char end) { return end == '\n'; });
      } else if (rest.consume_front("->")) {
        continue;
      } else if (c == '%' && depth == 1) {
        if (std::optional<Definition> definition = takeDefinition())
          definitions.push_back(std::move(*definition));
      } else {
        depth += StringRef("([{<").contains(c);
        depth -= depth > 0 && StringRef(")]}>").contains(c);
        rest = rest.drop_front();
      }
    }
    return definitions;
  }

private:
  void skipString() {
    rest = rest.drop_front();
    while (!rest.empty() && rest.front() != '"')
      rest = rest.drop_front(
          rest.front() == '\\' ? std::min<size_t>(2, rest.size()) : 1);
    rest = rest.drop_front(rest.empty() ? 0 : 1);
  }

  StringRef takeWord(StringRef extra) {
    StringRef word = rest.take_while(
        [&](char c) { return llvm::isAlnum(c) || extra.contains(c); });
    rest = rest.drop_front(word.size());
    return word;
  }

  /// What begins with `%`; nothing if it is an operand. Goes on behind it.
  std::optional<Definition> takeDefinition() {
    Definition definition;
    do {
      rest = rest.ltrim();
      if (!rest.consume_front("%"))
        return std::nullopt;
      StringRef name = takeWord("_$.-");
      unsigned count = 1;
      if (rest.consume_front(":") && takeWord("").getAsInteger(10, count))
        return std::nullopt;
      bool isNumber = name.empty() || llvm::isDigit(name.front());
      for (unsigned i = 0; i < std::min(count, 4096u); ++i)
        definition.results.push_back(isNumber ? ""
                                     : i      ? (name + "_" + Twine(i)).str()
                                              : name.str());
      rest = rest.ltrim();
    } while (rest.consume_front(","));
    if (!rest.consume_front("="))
      return std::nullopt;
    rest = rest.ltrim();
    rest.consume_front("\"");
    definition.op = takeWord("_$.");
    rest.consume_front("\"");
    if (definition.op.empty())
      return std::nullopt;
    return definition;
  }

  StringRef rest;
};

} // namespace

static bool isForeign(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  return dialect != "aten" && dialect != JointDialect::getDialectNamespace();
}

/// `op` is "matmul" or "linalg.matmul" for the latter.
static bool isOf(const Definition &definition, Operation &op) {
  StringRef name = op.getName().getStringRef();
  return definition.results.size() == op.getNumResults() &&
         name.consume_back(definition.op) &&
         (name.empty() || name.ends_with("."));
}

void cutback::joint::keepTextNames(Block &block, StringRef text) {
  if (block.empty())
    return;
  auto id = StringAttr::get(block.front().getContext(), "names");
  SmallVector<Operation *> withResults;
  bool isAsked = false;
  for (Operation &op : block)
    if (op.getNumResults()) {
      withResults.push_back(&op);
      isAsked |= isForeign(op) && !op.hasAttr(id);
    }
  if (!isAsked)
    return;
  std::vector<Definition> definitions = Scanner(text).run();
  if (definitions.size() != withResults.size())
    return;
  for (auto [definition, op] : llvm::zip(definitions, withResults))
    if (!isOf(definition, *op))
      return;
  for (auto [definition, op] : llvm::zip(definitions, withResults)) {
    if (!isForeign(*op) || op->hasAttr(id) ||
        llvm::is_contained(definition.results, ""))
      continue;
    SmallVector<Attribute> names;
    for (const std::string &name : definition.results)
      names.push_back(StringAttr::get(id.getContext(), name));
    op->setDiscardableAttr(id, ArrayAttr::get(id.getContext(), names));
  }
}
