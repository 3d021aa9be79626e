// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number is a product of a constant and symbols if, in all points, what is
// left behind dividing by the symbols is one constant. Else it is a sum if it
// divides by a symbol with a small rest, and quotient and rest are expressions.
// Two numbers that are equal in all points are one expression; that this is so
// by chance, of primes that no size is a multiple of, would need polynomials of
// a degree that sizes do not have. Who instantiates compares with what the ops
// give all the same.

#include "SizeNumbers.h"

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Support/SizeExpr.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <numeric>

using namespace mlir;
using namespace cutback;

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

static void addTexts(Attribute dims, llvm::SetVector<StringRef> &texts) {
  if (auto text = dyn_cast_or_null<StringAttr>(dims))
    texts.insert(text.getValue());
  if (auto list = dyn_cast_or_null<ArrayAttr>(dims))
    for (Attribute entry : list)
      addTexts(entry, texts);
}

/// Size expressions of arguments and ops, in their order.
static llvm::SetVector<StringRef> findTexts(ArrayRef<Operation *> halves) {
  llvm::SetVector<StringRef> texts;
  for (Operation *half : halves) {
    auto function = cast<FunctionOpInterface>(half);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      addTexts(function.getArgAttr(i, joint::JointDialect::kDims), texts);
    half->walk([&](Operation *op) {
      addTexts(op->getDiscardableAttr(joint::JointDialect::kDims), texts);
    });
  }
  return texts;
}

/// Sums of products have neither divisions nor functions.
static bool isPolynomial(StringRef text) {
  if (text.find_first_of("/%=<>'") != StringRef::npos)
    return false;
  for (size_t i = 1; i < text.size(); ++i)
    if (text[i] == '(' && (llvm::isAlnum(text[i - 1]) || text[i - 1] == '_'))
      return false;
  return true;
}

static constexpr int64_t kMostMultiple = 4096;

/// What sizes must be multiples of, so that whatever `texts` divide by does.
static int64_t findMultiple(ArrayRef<StringRef> texts) {
  int64_t multiple = 1;
  for (StringRef text : texts)
    while (!text.empty()) {
      int64_t number = 0;
      bool isWord = llvm::isAlpha(text.front()) || text.front() == '_';
      if (isWord) {
        text = text.drop_while(
            [](char c) { return llvm::isAlnum(c) || c == '_'; });
        continue;
      }
      if (text.consumeInteger(10, number))
        text = text.drop_front();
      else if (number > 1)
        if (int64_t both = std::lcm(multiple, number); both <= kMostMultiple)
          multiple = both;
    }
  return multiple;
}

/// A multiple of `multiple` that ops of sizes divide by numbers without a rest.
static int64_t divideInOps(ArrayRef<Operation *> halves, int64_t multiple) {
  for (Operation *half : halves)
    half->walk([&](aten::CallOp call) {
      StringRef packet = call.getSchema().packet;
      auto by = packet == "operator.floordiv" || packet == "operator.mod"
                    ? dyn_cast<IntegerAttr>(call.getArgs()[1])
                    : IntegerAttr();
      if (by && by.getInt() > 1)
        if (int64_t both = std::lcm(multiple, by.getInt());
            both <= kMostMultiple)
          multiple = both;
    });
  return multiple;
}

static bool isPrime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0)
      return false;
  return number > 1;
}

SizeNumbers::SizeNumbers(DictionaryAttr symbols, ArrayRef<Operation *> halves,
                         Kind kind)
    : context(symbols.getContext()), kind(kind) {
  llvm::SetVector<StringRef> texts = findTexts(halves);
  texts.remove_if([](StringRef text) { return isPolynomial(text); });
  choosePoints(symbols, halves,
               divideInOps(halves, findMultiple(texts.getArrayRef())));
  if (kind.equal == EqualHints::Together)
    joinEqualHints(symbols);
  for (NamedAttribute symbol : symbols)
    if (!valueOf(symbol))
      addAtom(symbol.getName());
  if (kind.multiples == Multiples::OfHints)
    addQuotients(symbols);
  for (StringRef text : texts)
    addAtom(text);
  bySize.resize(atoms.size());
  std::iota(bySize.begin(), bySize.end(), 0);
  llvm::stable_sort(bySize, [&](unsigned a, unsigned b) {
    return atoms[a].values[0] > atoms[b].values[0];
  });
}

std::optional<int64_t> SizeNumbers::valueOf(NamedAttribute entry) {
  auto symbol = dyn_cast<joint::SymbolAttr>(entry.getValue());
  return symbol && symbol.getMin() && symbol.getMin() == symbol.getMax()
             ? symbol.getMin()
             : std::nullopt;
}

static std::optional<int64_t> hintOf(NamedAttribute entry) {
  auto symbol = dyn_cast<joint::SymbolAttr>(entry.getValue());
  return symbol ? symbol.getHint() : std::nullopt;
}

/// What a symbol is a multiple of, where all are of `multiple`.
int64_t SizeNumbers::multipleOf(NamedAttribute symbol, int64_t multiple) const {
  int64_t hint = hintOf(symbol).value_or(0);
  if (kind.multiples == Multiples::OfTexts || hint < 1)
    return multiple;
  int64_t both = std::lcm(hint, multiple);
  return both <= kMostMultiple ? both : hint;
}

/// Of symbols, by what divides their hints.
void SizeNumbers::addQuotients(DictionaryAttr symbols) {
  for (NamedAttribute entry : symbols)
    if (int64_t hint = hintOf(entry).value_or(0); !valueOf(entry))
      for (int64_t divisor = 2; divisor <= std::min(hint, kMostMultiple);
           ++divisor)
        if (hint % divisor == 0)
          addAtom((entry.getName().getValue() + "//" + Twine(divisor)).str());
}

/// Of the multiples in a narrow range: that of a prime, else one that the
/// symbol has in no earlier point, else any. In the range, whatever
/// coincidences that has: outside of it ops may have no sizes.
int64_t SizeNumbers::withinRange(StringRef name, size_t point, int64_t least,
                                 int64_t most, int64_t multiple,
                                 llvm::function_ref<bool(int64_t)> isFree) {
  int64_t largest = most / multiple,
          smallest = (least + multiple - 1) / multiple;
  for (int64_t factor = largest; factor >= std::max<int64_t>(smallest, 3);
       --factor)
    if (isFree(factor))
      return factor * multiple;
  for (int64_t factor = largest; factor >= smallest; --factor) {
    bool isNew = true;
    for (size_t i = 0; i < point; ++i)
      isNew &= points[i].lookup(name) != factor * multiple;
    if (isNew)
      return factor * multiple;
  }
  return largest < smallest ? most : largest * multiple;
}

void SizeNumbers::choosePoints(DictionaryAttr symbols,
                               ArrayRef<Operation *> halves, int64_t multiple) {
  llvm::DenseSet<int64_t> taken; // sizes that are numbers, and primes
  for (Operation *half : halves)
    half->walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          for (int64_t size : tensor.getShape())
            taken.insert(size);
    });
  for (NamedAttribute entry : symbols)
    if (std::optional<int64_t> value = valueOf(entry))
      taken.insert(*value);
  auto isFree = [&](int64_t prime) {
    return isPrime(prime) && llvm::none_of(taken, [&](int64_t size) {
             return size > 0 && size % prime == 0;
           });
  };
  // Apart, so that a quotient by the larger one leaves the smaller one.
  constexpr int64_t kLeast[kSizePoints] = {53, 67, 89};
  constexpr int64_t kFactor = 3, kMost = 20'000;
  for (size_t i = 0; i < kSizePoints; ++i) {
    int64_t next = kLeast[i];
    for (NamedAttribute entry : symbols) {
      if (std::optional<int64_t> value = valueOf(entry)) {
        points[i][entry.getName()] = *value;
        continue;
      }
      auto symbol = dyn_cast<joint::SymbolAttr>(entry.getValue());
      int64_t own = multipleOf(entry, multiple);
      int64_t least = symbol ? symbol.getMin().value_or(2) : 2;
      int64_t most = symbol ? symbol.getMax().value_or(kMost * own) : kMost;
      int64_t prime = std::max(next, std::min(least, kMost));
      while (!isFree(prime))
        ++prime;
      int64_t value = prime * own;
      if (value > most)
        value = withinRange(entry.getName(), i, least, most, own, isFree);
      taken.insert(value / own);
      points[i][entry.getName()] = value;
      next = next < kMost ? next * kFactor : next;
    }
  }
}

bool SizeNumbers::hasEqualHints(DictionaryAttr symbols) {
  llvm::DenseSet<int64_t> hints;
  return llvm::any_of(symbols, [&](NamedAttribute entry) {
    std::optional<int64_t> hint = valueOf(entry) ? std::nullopt : hintOf(entry);
    return hint && !hints.insert(*hint).second;
  });
}

/// The first symbol of a hint decides.
void SizeNumbers::joinEqualHints(DictionaryAttr symbols) {
  llvm::DenseMap<int64_t, StringRef> firstOf;
  for (NamedAttribute entry : symbols)
    if (std::optional<int64_t> hint = hintOf(entry); hint && !valueOf(entry)) {
      StringRef first =
          firstOf.try_emplace(*hint, entry.getName()).first->second;
      for (auto &point : points)
        point[entry.getName()] = point.lookup(first);
    }
}

void SizeNumbers::addAtom(StringRef text) {
  Atom atom{text.str(), {}};
  for (size_t i = 0; i < kSizePoints; ++i) {
    std::optional<int64_t> value = evaluateSizeExpr(
        atom.text, [&](std::string_view name) -> std::optional<int64_t> {
          auto found = points[i].find(StringRef(name.data(), name.size()));
          return found == points[i].end() ? std::nullopt
                                          : std::optional(found->getValue());
        });
    if (!value || *value < 2)
      return;
    atom.values[i] = *value;
  }
  if (llvm::all_equal(atom.values))
    return;
  atoms.push_back(std::move(atom));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static bool isConstant(const SizeNumber &number) {
  return llvm::all_equal(number);
}

/// The nearest integer.
static int64_t divideNearest(int64_t number, int64_t by) {
  return llvm::divideFloorSigned(2 * number + by, 2 * by);
}

std::optional<AffineExpr> SizeNumbers::exprOf(const SizeNumber &number) const {
  constexpr unsigned kDepth = 6;
  return find(number, kDepth);
}

std::optional<AffineExpr> SizeNumbers::find(SizeNumber number,
                                            unsigned depth) const {
  AffineExpr factor = getAffineConstantExpr(1, context);
  for (auto [i, atom] : llvm::enumerate(atoms))
    while (!isConstant(number) &&
           llvm::all_of(llvm::zip_equal(number, atom.values), [](auto pair) {
             return std::get<0>(pair) % std::get<1>(pair) == 0;
           })) {
      for (auto [value, by] : llvm::zip_equal(number, atom.values))
        value /= by;
      factor = factor * getAffineSymbolExpr(i, context);
    }
  if (isConstant(number))
    return factor * number[0];
  for (unsigned i : depth ? ArrayRef(bySize) : ArrayRef<unsigned>()) {
    SizeNumber quotient, rest;
    for (size_t p = 0; p < kSizePoints; ++p) {
      quotient[p] = divideNearest(number[p], atoms[i].values[p]);
      rest[p] = number[p] - quotient[p] * atoms[i].values[p];
    }
    if (llvm::is_contained(quotient, 0))
      continue;
    auto high = find(quotient, depth - 1), low = find(rest, depth - 1);
    if (high && low)
      return factor * (*high * getAffineSymbolExpr(i, context) + *low);
  }
  return std::nullopt;
}
