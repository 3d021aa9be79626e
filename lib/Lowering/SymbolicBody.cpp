// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bodies are walked together: they must have the same ops on the same
// operands, and may differ in numbers alone. What differs (an extent, a factor
// of a map, a constant) is an expression then. Structure that follows from a
// coincidence of sizes is none here, as the points have no coincidences.

#include "SymbolicBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cutback;

namespace {

template <typename T> using AtPoints = std::array<T, kSizePoints>;

class Generalizer {
public:
  Generalizer(const AtPoints<kernel::FuncOp> &bodies,
              const SizeNumbers &numbers, std::string &problem)
      : bodies(bodies), numbers(numbers), problem(problem),
        builder(numbers.getContext()) {}

  std::optional<SymbolicBody> run() {
    SymbolicBody result;
    result.function = kernel::FuncOp(bodies[0]).clone();
    function = *result.function;
    AtPoints<Block *> blocks;
    for (size_t p = 0; p < kSizePoints; ++p)
      blocks[p] = &kernel::FuncOp(bodies[p]).getBlock();
    if (!walk(function.getBlock(), blocks) || !findUsed())
      return std::nullopt;
    addSizes(result.sizes);
    return std::move(result);
  }

private:
  //===--- Together -------------------------------------------------------===//

  bool fail(const Twine &why) {
    if (problem.empty())
      problem = why.str();
    return false;
  }
  bool differ() { return fail("has another structure at other sizes"); }

  bool walk(Block &block, const AtPoints<Block *> &blocks) {
    for (size_t p = 0; p < kSizePoints; ++p) {
      if (blocks[p]->getNumArguments() != block.getNumArguments())
        return differ();
      for (auto [own, argument] :
           llvm::zip_equal(block.getArguments(), blocks[p]->getArguments()))
        ofPoint[p][argument] = own;
    }
    for (BlockArgument own : block.getArguments())
      if (!setMemory(own, blocks))
        return false;
    AtPoints<Block::iterator> at;
    for (size_t p = 0; p < kSizePoints; ++p)
      at[p] = blocks[p]->begin();
    for (Operation &op : block) {
      AtPoints<Operation *> ops;
      for (size_t p = 0; p < kSizePoints; ++p) {
        if (at[p] == blocks[p]->end())
          return differ();
        ops[p] = &*at[p]++;
        if (!isSame(&op, ops[p], p))
          return differ();
      }
      if (!visit(&op, ops))
        return false;
    }
    for (size_t p = 0; p < kSizePoints; ++p)
      if (at[p] != blocks[p]->end())
        return differ();
    return true;
  }

  bool isSame(Operation *own, Operation *other, size_t p) {
    if (own->getName() != other->getName() ||
        own->getNumOperands() != other->getNumOperands() ||
        own->getResultTypes() != other->getResultTypes())
      return false;
    for (auto [a, b] :
         llvm::zip_equal(own->getOperands(), other->getOperands()))
      if (ofPoint[p].lookup(b) != a)
        return false;
    for (auto [a, b] : llvm::zip_equal(own->getResults(), other->getResults()))
      ofPoint[p][b] = a;
    return true;
  }

  bool visit(Operation *op, const AtPoints<Operation *> &ops) {
    if (auto nest = dyn_cast<kernel::NestOp>(op))
      return visitNest(nest, ops);
    if (isa<kernel::LoadOp>(op))
      return visitAccess<kernel::LoadOp>(op, ops);
    if (isa<kernel::StoreOp>(op))
      return visitAccess<kernel::StoreOp>(op, ops);
    if (isa<arith::ConstantOp>(op))
      return visitConstant(cast<arith::ConstantOp>(op), ops);
    for (Operation *other : ops)
      if (other->getAttrDictionary() != op->getAttrDictionary())
        return differ();
    return true;
  }

  bool setMemory(BlockArgument own, const AtPoints<Block *> &blocks) {
    auto type = dyn_cast<MemRefType>(own.getType());
    for (Block *block : type ? ArrayRef(blocks) : ArrayRef<Block *>()) {
      auto other = dyn_cast<MemRefType>(
          block->getArgument(own.getArgNumber()).getType());
      if (!other || other.getElementType() != type.getElementType())
        return differ();
      if (other != blocks[0]->getArgument(own.getArgNumber()).getType())
        own.setType(
            MemRefType::get({ShapedType::kDynamic}, type.getElementType()));
    }
    if (type && own.getType() != type)
      memories.push_back(sizeOf(own.getArgNumber(), blocks));
    return true;
  }

  static SizeNumber sizeOf(unsigned memory, const AtPoints<Block *> &blocks) {
    SizeNumber number;
    for (size_t p = 0; p < kSizePoints; ++p)
      number[p] = cast<MemRefType>(blocks[p]->getArgument(memory).getType())
                      .getNumElements();
    return number;
  }

  bool visitNest(kernel::NestOp nest, const AtPoints<Operation *> &ops) {
    AtPoints<Block *> blocks;
    SmallVector<int64_t> extents(nest.getExtents());
    SmallVector<AffineExpr> exprs;
    for (size_t p = 0; p < kSizePoints; ++p) {
      auto other = cast<kernel::NestOp>(ops[p]);
      blocks[p] = &other.getBlock();
      if (other.getReduced() != nest.getReduced() ||
          other.getExtents().size() != extents.size())
        return differ();
    }
    for (auto [axis, extent] : llvm::enumerate(extents)) {
      SizeNumber number;
      for (size_t p = 0; p < kSizePoints; ++p)
        number[p] = cast<kernel::NestOp>(ops[p]).getExtents()[axis];
      if (llvm::all_equal(number))
        continue;
      auto expr = exprOf(number);
      if (!expr)
        return false;
      extent = ShapedType::kDynamic;
      exprs.push_back(*expr);
    }
    if (!exprs.empty()) {
      nest.setExtents(extents);
      sized.push_back({nest, 0, std::move(exprs)});
    }
    return walk(nest.getBlock(), blocks);
  }

  template <typename Access>
  bool visitAccess(Operation *op, const AtPoints<Operation *> &ops) {
    AtPoints<AffineExpr> exprs;
    for (size_t p = 0; p < kSizePoints; ++p)
      exprs[p] = cast<Access>(ops[p]).getMap().getResult(0);
    if (llvm::all_equal(exprs))
      return true;
    std::optional<AffineExpr> expr = mergeExprs(exprs);
    if (expr)
      sized.push_back({op, cast<Access>(op).getMap().getNumDims(), {*expr}});
    return expr.has_value();
  }

  /// One expression for those of one form.
  std::optional<AffineExpr> mergeExprs(const AtPoints<AffineExpr> &exprs) {
    auto isKind = [](AffineExprKind kind) {
      return [kind](AffineExpr expr) { return expr.getKind() == kind; };
    };
    if (llvm::all_of(exprs, isKind(AffineExprKind::Constant))) {
      SizeNumber number;
      for (size_t p = 0; p < kSizePoints; ++p)
        number[p] = cast<AffineConstantExpr>(exprs[p]).getValue();
      return exprOf(number);
    }
    if (llvm::all_equal(exprs))
      return exprs[0];
    AtPoints<AffineExpr> left, right;
    for (size_t p = 0; p < kSizePoints; ++p) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(exprs[p]);
      if (!binary || exprs[p].getKind() != exprs[0].getKind()) {
        differ();
        return std::nullopt;
      }
      left[p] = binary.getLHS();
      right[p] = binary.getRHS();
    }
    std::optional<AffineExpr> a = mergeExprs(left), b = mergeExprs(right);
    if (!a || !b)
      return std::nullopt;
    return getAffineBinaryOpExpr(exprs[0].getKind(), *a, *b);
  }

  bool visitConstant(arith::ConstantOp own, const AtPoints<Operation *> &ops) {
    SizeNumber number;
    bool isOne = true;
    for (size_t p = 0; p < kSizePoints; ++p) {
      TypedAttr value = cast<arith::ConstantOp>(ops[p]).getValue();
      isOne &= value == own.getValue();
      if (auto integer = dyn_cast<IntegerAttr>(value)) {
        number[p] = integer.getValue().getSExtValue();
        continue;
      }
      double real = cast<FloatAttr>(value).getValueAsDouble();
      number[p] = std::abs(real) < 1e15 ? static_cast<int64_t>(real) : 0;
      if (!isOne && static_cast<double>(number[p]) != real)
        return fail("has a number that is no expression of sizes");
    }
    if (isOne)
      return true;
    auto expr = exprOf(number);
    if (expr)
      sized.push_back({own, 0, {*expr}});
    return expr.has_value();
  }

  std::optional<AffineExpr> exprOf(const SizeNumber &number) {
    std::optional<AffineExpr> expr = numbers.exprOf(number);
    if (!expr)
      fail("has a number that is no expression of sizes");
    return expr;
  }

  //===--- Sizes ----------------------------------------------------------===//

  static void findSymbols(AffineExpr expr, llvm::SetVector<unsigned> &found) {
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        found.insert(symbol.getPosition());
    });
  }

  /// Sizes that ops use; where none does, those of a memory of which the same
  /// elements are read whatever its size.
  bool findUsed() {
    for (Sized &one : sized)
      for (AffineExpr expr : one.exprs)
        findSymbols(expr, used);
    if (!used.empty() || memories.empty())
      return true;
    auto expr = exprOf(memories.front());
    if (expr)
      findSymbols(*expr, used);
    return expr.has_value();
  }

  /// Gives the function the sizes that it uses, and its ops what they found.
  void addSizes(std::vector<std::string> &texts) {
    llvm::DenseMap<unsigned, Value> argumentOf;
    for (unsigned symbol : used) {
      texts.push_back(numbers.text(symbol));
      argumentOf[symbol] = function.getBody().addArgument(
          builder.getIndexType(), function.getLoc());
    }
    for (Sized &one : sized) {
      llvm::SetVector<unsigned> own;
      for (AffineExpr expr : one.exprs)
        findSymbols(expr, own);
      SmallVector<Value> sizes;
      SmallVector<AffineExpr> replaced;
      for (unsigned symbol : own) {
        if (replaced.size() <= symbol)
          replaced.resize(symbol + 1, builder.getAffineConstantExpr(0));
        replaced[symbol] = builder.getAffineSymbolExpr(sizes.size());
        sizes.push_back(argumentOf[symbol]);
      }
      for (AffineExpr &expr : one.exprs)
        expr = readAgain(readAgain(expr.replaceSymbols(replaced)));
      setMap(one.op,
             AffineMap::get(one.dims, sizes.size(), one.exprs,
                            builder.getContext()),
             sizes);
    }
  }

  /// As its text is read, where terms are added from the left: what is stored
  /// is compared with what is formed again.
  static AffineExpr readAgain(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return expr;
    AffineExpr left = readAgain(binary.getLHS());
    AffineExpr right = readAgain(binary.getRHS());
    if (expr.getKind() != AffineExprKind::Add)
      return getAffineBinaryOpExpr(expr.getKind(), left, right);
    SmallVector<AffineExpr> terms = {right};
    while (terms.back().getKind() == AffineExprKind::Add) {
      auto sum = cast<AffineBinaryOpExpr>(terms.pop_back_val());
      terms.append({sum.getRHS(), sum.getLHS()});
    }
    for (AffineExpr term : llvm::reverse(terms))
      left = left + term;
    return left;
  }

  void setMap(Operation *op, AffineMap map, ArrayRef<Value> sizes) {
    if (auto nest = dyn_cast<kernel::NestOp>(op)) {
      nest.setSizeMap(map);
      nest.getSizesMutable().assign(sizes);
    } else if (auto load = dyn_cast<kernel::LoadOp>(op)) {
      load.setMap(map);
      load.getIndicesMutable().append(sizes);
    } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      store.setMap(map);
      store.getIndicesMutable().append(sizes);
    } else {
      builder.setInsertionPoint(op);
      Operation *size = kernel::SizeOp::create(
          builder, op->getLoc(), op->getResult(0).getType(), sizes, map);
      op->replaceAllUsesWith(size);
      op->erase();
    }
  }

  /// An op with numbers that depend on sizes: they, over its dimensions.
  struct Sized {
    Operation *op;
    unsigned dims;
    SmallVector<AffineExpr> exprs;
  };

  const AtPoints<kernel::FuncOp> &bodies;
  const SizeNumbers &numbers;
  std::string &problem;
  OpBuilder builder;
  kernel::FuncOp function;                        ///< that is made
  AtPoints<llvm::DenseMap<Value, Value>> ofPoint; ///< to values of `function`
  std::vector<Sized> sized;
  std::vector<SizeNumber> memories; ///< elements, where these differ
  llvm::SetVector<unsigned> used;   ///< symbols
};

} // namespace

std::optional<SymbolicBody>
cutback::generalizeBody(const std::array<kernel::FuncOp, kSizePoints> &bodies,
                        const SizeNumbers &numbers, std::string &problem) {
  return Generalizer(bodies, numbers, problem).run();
}

//===----------------------------------------------------------------------===//
// Back
//===----------------------------------------------------------------------===//

namespace {

class Instantiation {
public:
  Instantiation(kernel::FuncOp function, ArrayRef<int64_t> sizes)
      : builder(function.getContext()) {
    for (auto [argument, size] : llvm::zip_equal(function.getSizes(), sizes))
      valueOf[argument] = size;
  }

  void run(kernel::FuncOp function, TypeRange memories) {
    for (auto [argument, type] :
         llvm::zip_equal(function.getMemories(), memories))
      argument.setType(type);
    SmallVector<kernel::SizeOp> numbers;
    function.walk([&](Operation *op) {
      if (auto nest = dyn_cast<kernel::NestOp>(op))
        setExtents(nest);
      else if (auto load = dyn_cast<kernel::LoadOp>(op))
        setMap(load);
      else if (auto store = dyn_cast<kernel::StoreOp>(op))
        setMap(store);
      else if (auto number = dyn_cast<kernel::SizeOp>(op))
        numbers.push_back(number);
    });
    for (kernel::SizeOp number : numbers)
      replace(number);
    unsigned kept = function.getMemories().size();
    function.getBody().front().eraseArguments(
        kept, function.getBody().getNumArguments() - kept);
  }

private:
  AffineExpr replaced(AffineExpr expr, ValueRange sizes) {
    SmallVector<AffineExpr> values;
    for (Value size : sizes)
      values.push_back(builder.getAffineConstantExpr(valueOf.lookup(size)));
    return expr.replaceSymbols(values);
  }

  void setExtents(kernel::NestOp nest) {
    if (!nest.getSizeMap())
      return;
    SmallVector<int64_t> extents(nest.getExtents());
    unsigned next = 0;
    for (int64_t &extent : extents)
      if (ShapedType::isDynamic(extent))
        extent =
            cast<AffineConstantExpr>(
                replaced(nest.getSizeMap()->getResult(next++), nest.getSizes()))
                .getValue();
    nest.setExtents(extents);
    nest.removeSizeMapAttr();
    nest.getSizesMutable().clear();
  }

  template <typename Access> void setMap(Access access) {
    AffineMap map = access.getMap();
    unsigned dims = map.getNumDims(), symbols = map.getNumSymbols();
    if (!symbols)
      return;
    AffineExpr expr =
        replaced(map.getResult(0), access.getIndices().drop_front(dims));
    access.setMap(AffineMap::get(dims, 0, expr));
    access.getIndicesMutable().erase(dims, symbols);
  }

  void replace(kernel::SizeOp number) {
    int64_t value =
        cast<AffineConstantExpr>(
            replaced(number.getMap().getResult(0), number.getSizes()))
            .getValue();
    Type type = number.getResult().getType();
    TypedAttr constant;
    if (isa<FloatType>(type))
      constant = builder.getFloatAttr(type, static_cast<double>(value));
    else
      constant = builder.getIntegerAttr(type, value);
    builder.setInsertionPoint(number);
    number->replaceAllUsesWith(
        arith::ConstantOp::create(builder, number.getLoc(), constant));
    number->erase();
  }

  OpBuilder builder;
  llvm::DenseMap<Value, int64_t> valueOf; ///< of the clone's sizes
};

} // namespace

OwningOpRef<kernel::FuncOp> cutback::instantiateBody(kernel::FuncOp function,
                                                     ArrayRef<int64_t> sizes,
                                                     TypeRange memories) {
  OwningOpRef<kernel::FuncOp> copy(cast<kernel::FuncOp>(function->clone()));
  Instantiation(*copy, sizes).run(*copy, memories);
  return copy;
}
