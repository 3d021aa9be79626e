// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MLIR can say in few bytes and nobody can walk. Two measures:
//
//   1. Of text, before it is parsed: how deep its brackets nest, for nesting of
//      ops, and of attributes written out, is nesting of brackets; and how long
//      affine maps and shapes are, which need no bracket to be deep.
//   2. Of what was parsed, text or bytecode: how deep ops and attributes nest,
//      and how long attributes are when written out. Fifty lines
//      `#a1 = [#a0, #a0]`, ... are fifty attributes, and 2^50 when printed; a
//      chain of 50,000 such lines has no deep bracket, and the first walk along
//      it ends the stack.
//
// Attributes and types are unique, so each is measured once, its parts before
// it, with a stack of our own. Locations are printed under short names, so only
// their depth and the length of one of them count, not their sum.

#include "MlirNesting.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cutback::fx;

static constexpr unsigned kMaxDepth = 256;
/// Of an affine map or a shape: MLIR reads both in time that grows with the
/// square of their length, and the operators of a map by recursion.
static constexpr size_t kMaxLength = 4096;
/// Parts of one attribute, and of all together, when written out.
static constexpr uint64_t kMaxParts = uint64_t(1) << 20;
static constexpr uint64_t kMaxAllParts = uint64_t(1) << 28;

/// How many characters of `text` from `at` on are digits and "x": the sizes of
/// a type, which the lexer reads again from each of them on.
static size_t shapeLength(StringRef text, size_t at) {
  StringRef rest = text.drop_front(at);
  size_t end = rest.find_first_not_of("0123456789x");
  return end == StringRef::npos ? rest.size() : end;
}

LogicalResult cutback::fx::checkBrackets(const SourceText &source,
                                         MLIRContext &context) {
  StringRef text = source.text();
  auto fail = [&](size_t at, const Twine &what) {
    return emitAt(&context, source, text.begin() + at, what,
                  "no graph is nested like this; check the file");
  };
  unsigned depth = 0, mapDepth = 0;
  size_t mapBegin = 0; // of an affine map that is open at `mapDepth`
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (mapDepth && i - mapBegin > kMaxLength)
      return fail(mapBegin, "an affine map has more than " + Twine(kMaxLength) +
                                " characters");
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > kMaxDepth)
        return fail(i, "brackets nest deeper than " + Twine(kMaxDepth) +
                           " levels");
      StringRef before = text.take_front(i);
      if (c == '<' && !mapDepth &&
          (before.ends_with("affine_map") || before.ends_with("affine_set"))) {
        mapDepth = depth;
        mapBegin = i;
      }
      if (size_t length = c == '<' ? shapeLength(text, i + 1) : 0) {
        if (length > kMaxLength)
          return fail(i, "the sizes of a type have more than " +
                             Twine(kMaxLength) + " characters");
        i += length;
      }
    } else if (c == ')' || c == ']' || c == '}' ||
               (c == '>' && i > 0 && text[i - 1] != '-' &&
                !(mapDepth && text.substr(i + 1).starts_with("=")))) {
      if (depth == mapDepth)
        mapDepth = 0;
      depth -= depth > 0;
    }
  }
  return success();
}

namespace {

class Expansion {
public:
  struct Measure {
    uint64_t depth = 0, parts = 0;
  };

  /// Of an attribute or a type, by its address in the context.
  Measure measure(Attribute attribute) {
    return attribute ? measured(attribute.getAsOpaquePointer(), attribute)
                     : Measure();
  }
  Measure measure(Type type) {
    return type ? measured(type.getAsOpaquePointer(), type) : Measure();
  }

private:
  /// One of the two is set.
  struct Item {
    Attribute attribute;
    Type type;
    bool isOpen = false; ///< its parts are above it on the stack

    Item(Attribute attribute) : attribute(attribute) {}
    Item(Type type) : type(type) {}
    const void *key() const {
      return attribute ? attribute.getAsOpaquePointer()
                       : type.getAsOpaquePointer();
    }
    void visitParts(llvm::function_ref<void(Item)> visit) const {
      auto see = [&](auto part) {
        if (part)
          visit(Item(part));
      };
      if (attribute)
        attribute.walkImmediateSubElements(see, see);
      else
        type.walkImmediateSubElements(see, see);
    }
  };

  Measure measured(const void *key, Item item) {
    if (auto it = known.find(key); it != known.end())
      return it->second;
    stack.push_back(item);
    while (!stack.empty()) {
      Item top = stack.back();
      if (top.isOpen) {
        stack.pop_back();
        known[top.key()] = sum(top);
        continue;
      }
      stack.back().isOpen = true;
      top.visitParts([&](Item part) {
        if (!known.contains(part.key()))
          stack.push_back(part);
      });
    }
    return known.lookup(key);
  }

  Measure sum(const Item &item) {
    Measure all{0, 1};
    item.visitParts([&](Item part) {
      Measure one = known.lookup(part.key());
      all.depth = std::max(all.depth, one.depth);
      all.parts = std::min(all.parts + one.parts, kMaxAllParts + 1);
    });
    ++all.depth;
    return all;
  }

  llvm::DenseMap<const void *, Measure> known;
  SmallVector<Item> stack;
};

class NestingCheck {
public:
  LogicalResult run(Operation *root);

private:
  LogicalResult check(Operation *op);
  LogicalResult checkOne(Operation *op, Expansion::Measure measure,
                         bool isLocation, StringRef what);
  /// The location is not used: it may be what is too deep.
  LogicalResult fail(Operation *op, const Twine &what) {
    InFlightDiagnostic diag = emitError(UnknownLoc::get(op->getContext()));
    diag << what;
    diag.attachNote() << "no graph is nested like this; check the file";
    return diag;
  }

  Expansion expansion;
  uint64_t allParts = 0;
};

} // namespace

LogicalResult NestingCheck::checkOne(Operation *op, Expansion::Measure measure,
                                     bool isLocation, StringRef what) {
  StringRef name = op->getName().getStringRef();
  if (measure.depth > kMaxDepth)
    return fail(op, what + " of an op '" + name + "' nests deeper than " +
                        Twine(kMaxDepth) + " levels");
  if (measure.parts > kMaxParts)
    return fail(op, what + " of an op '" + name + "' has more than " +
                        Twine(kMaxParts) + " parts when written out");
  allParts += isLocation ? 1 : measure.parts;
  if (allParts > kMaxAllParts)
    return fail(op, "the attributes and types of the file have more than " +
                        Twine(kMaxAllParts) + " parts when written out");
  return success();
}

LogicalResult NestingCheck::check(Operation *op) {
  auto one = [&](auto part, StringRef what) {
    return checkOne(op, expansion.measure(part), false, what);
  };
  Attribute location = op->getLoc();
  if (failed(checkOne(op, expansion.measure(location), true, "the location")) ||
      failed(one(Attribute(op->getAttrDictionary()), "an attribute")))
    return failure();
  for (Type type : op->getResultTypes())
    if (failed(one(type, "a type")))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (failed(one(argument.getType(), "a type")) ||
            failed(checkOne(op, expansion.measure(Attribute(argument.getLoc())),
                            true, "the location")))
          return failure();
  return success();
}

/// Every op before those inside of it, without recursion.
LogicalResult NestingCheck::run(Operation *root) {
  SmallVector<std::pair<Operation *, unsigned>> stack = {{root, 1}};
  while (!stack.empty()) {
    auto [op, depth] = stack.pop_back_val();
    if (depth > kMaxDepth)
      return fail(op, "ops nest deeper than " + Twine(kMaxDepth) + " levels");
    if (failed(check(op)))
      return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          stack.push_back({&inner, depth + 1});
  }
  return success();
}

LogicalResult cutback::fx::checkExpansion(Operation *root) {
  return NestingCheck().run(root);
}
