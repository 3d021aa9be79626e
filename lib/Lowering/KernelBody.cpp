// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk back, one walk forward.
//
//   1. The loops (KernelLoops.h): a nest for each part of the launch, those of
//      one shape together; of a concatenation, one for each of its parts.
//   2. Back from the last ops: at which element, as an index over the loops,
//      each op is wanted by its readers. Views are strides, looked through.
//   3. Forward by need: the formula of each op at that element, from those of
//      its operands or from memory; stores last, so that a result may lie where
//      an operand lay.

#include "cutback/Lowering/KernelBody.h"

#include "KernelLoops.h"
#include "MergeAxes.h"
#include "MergeScalars.h"
#include "cutback/Dialect/Joint/ElementBuilder.h"
#include "cutback/Dialect/Joint/Literal.h"
#include "cutback/Dialect/Joint/Random.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

using Indices = NestIndices::Indices;
using Axes = NestIndices::Axes;

bool cutback::isFree(Operation *op) {
  return !isa<WriteOp>(op) &&
         llvm::all_of(op->getResults(), [](OpResult result) {
           return !isa<RankedTensorType>(result.getType()) ||
                  kernel::locate(result).root != result;
         });
}

static kernel::Combine combineOf(Combine how) {
  switch (how) {
  case Combine::Add:
    return kernel::Combine::Add;
  case Combine::Mul:
    return kernel::Combine::Mul;
  case Combine::Max:
    return kernel::Combine::Max;
  case Combine::Min:
    return kernel::Combine::Min;
  case Combine::MaxUnsigned:
    return kernel::Combine::MaxUnsigned;
  case Combine::MinUnsigned:
    return kernel::Combine::MinUnsigned;
  case Combine::And:
    return kernel::Combine::And;
  case Combine::Or:
    break;
  }
  return kernel::Combine::Or;
}

static kernel::Draw drawOf(Distribution distribution) {
  switch (distribution) {
  case Distribution::Uniform:
    return kernel::Draw::Uniform;
  case Distribution::Normal:
    return kernel::Draw::Normal;
  case Distribution::Bits:
    break;
  }
  return kernel::Draw::Bits;
}

/// Signless, as scalars are.
static Type scalarOf(Type tensor) {
  Type element = cast<ShapedType>(tensor).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(tensor.getContext(), integer.getWidth());
  return element;
}

namespace {

class BodyBuilder;

/// The scalars of one op at one iteration.
class OpElements : public ElementBuilder {
public:
  OpElements(BodyBuilder &body, const LoopOp &loops, ArrayRef<AffineExpr> axes,
             OpBuilder &builder)
      : ElementBuilder(builder, loops.op->getLoc()), body(body), loops(loops),
        axes(axes) {}

  Value operand(unsigned i) override;
  Value index(unsigned axis) override;
  Value load(unsigned i, ValueRange indices, Value mask, Value otherwise);
  Value load(unsigned i, ArrayRef<Value> indices, Value mask,
             Value otherwise) override;
  Value choose(Value place, Value size, bool isWrapped) override;
  Value reduce(Combine how, Value element) override;
  Value reduceIndex(bool greatest, Value element) override;
  int64_t numReduced() override;

private:
  BodyBuilder &body;
  const LoopOp &loops;
  ArrayRef<AffineExpr> axes;
};

class BodyBuilder {
public:
  BodyBuilder(ArrayRef<Operation *> ops, ArrayRef<Value> outputs,
              StringRef schedule, std::string &problem)
      : ops(ops), outputs(outputs), context(ops.front()->getContext()),
        schedule(schedule), builder(context), problem(problem) {}

  std::optional<KernelBody> run() {
    if (!areKnown() || !loops.find(ops, problem))
      return std::nullopt;
    result.function = OwningOpRef<kernel::FuncOp>(makeFunction());
    for (size_t number = 0; number < loops.nests.size(); ++number)
      if (!addNests(number))
        return std::nullopt;
    if (!addOutputs())
      return std::nullopt;
    return std::move(result);
  }

  //===--- What formulas ask for ------------------------------------------===//

  /// The element of `value` at `indices`, one a dimension; a number itself.
  Value element(Value value, ArrayRef<AffineExpr> indices) {
    if (!isa<RankedTensorType>(value.getType()))
      return number(value);
    kernel::Place place = kernel::locate(value);
    AffineExpr linear =
        math().linearize(indices, place.layout.strides, place.layout.offset);
    if (loops.contains(place.root))
      return computed(place.root,
                      math().delinearize(linear, shapeOf(place.root)));
    return loadAt(place.root, linear, {}, {}, {});
  }

  /// A number that the kernel has in its text.
  Value number(Value value) {
    TypedAttr constant;
    if (!matchPattern(value, m_Constant(&constant))) {
      fail(ops.back(), "reads a number that is no constant");
      hasFailed = true;
      constant = builder.getZeroAttr(value.getType());
    }
    return arith::ConstantOp::create(builder, value.getLoc(), constant);
  }

  /// An element of memory: `linear` over the axes, and `more`, from dimension
  /// number `axes` on.
  Value loadAt(Value root, AffineExpr linear, ArrayRef<Value> more, Value mask,
               Value otherwise) {
    // What is empty has no element that the mask lets through.
    auto type = dyn_cast<RankedTensorType>(root.getType());
    if (otherwise && type && llvm::is_contained(type.getShape(), 0))
      return otherwise;
    auto [map, dims] = accessOf(linear, more);
    Value memory = inputOf(root);
    return kernel::LoadOp::create(
               builder, builder.getUnknownLoc(),
               cast<MemRefType>(memory.getType()).getElementType(), memory,
               dims, mask, otherwise, AffineMapAttr::get(map))
        .getElement();
  }

  Value materialize(AffineExpr expr) {
    Location loc = builder.getUnknownLoc();
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return nest.getBody().getArgument(dim.getPosition());
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return indexConstant(number.getValue());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value a = materialize(binary.getLHS()), b = materialize(binary.getRHS());
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return arith::AddIOp::create(builder, loc, a, b);
    case AffineExprKind::Mul:
      return arith::MulIOp::create(builder, loc, a, b);
    case AffineExprKind::FloorDiv:
      return arith::DivUIOp::create(builder, loc, a, b);
    default:
      return arith::RemUIOp::create(builder, loc, a, b);
    }
  }

  const IndexMath &math() const { return indices->math(); }
  unsigned numAxes() { return nest.getBody().getNumArguments(); }
  bool isComputed(Value root) const { return loops.contains(root); }
  bool fail(Operation *op, const Twine &why) {
    if (problem.empty())
      problem = ("'" + op->getName().getStringRef() + "' " + why).str();
    return false;
  }

private:
  /// Sizes of all tensors, and where their elements lie.
  bool areKnown() {
    auto isKnown = [](Value value) {
      auto type = dyn_cast<ShapedType>(value.getType());
      return !type || (type.hasStaticShape() && kernel::locate(value).isKnown);
    };
    for (Operation *op : ops)
      if (!llvm::all_of(op->getOperands(), isKnown) ||
          !llvm::all_of(op->getResults(), isKnown))
        return fail(op, "has a size that depends on data");
    return true;
  }

  //===--- Loops ----------------------------------------------------------===//

  kernel::FuncOp makeFunction() {
    SmallVector<Location> locations;
    for (const LoopOp &one : loops.ops)
      locations.push_back(one.op->getLoc());
    auto function = kernel::FuncOp::create(
        builder, FusedLoc::get(context, locations), "", schedule, 0);
    function.getBody().emplaceBlock();
    return function;
  }

  /// Those of number `number`: one, or one a part of a concatenation.
  bool addNests(size_t number) {
    at = number;
    const LoopOp &main = loops.ops[loops.nests[at].main];
    if (!main.isConcat())
      return addNest(main, -1);
    for (unsigned part = 0; part < main.op->getNumOperands(); ++part)
      if (product(shapeOf(main.op->getOperand(part))) != 0 &&
          !addNest(main, static_cast<int>(part)))
        return false;
    return true;
  }

  /// The nest of `part` of a concatenation, or of all if that is -1.
  bool addNest(const LoopOp &main, int part) {
    SmallVector<int64_t> extents;
    SmallVector<bool> reduced;
    Indices axes; // of the main op
    for (auto [axis, extent] : llvm::enumerate(main.extents())) {
      int64_t size =
          part >= 0 && static_cast<int>(axis) == main.space.concatAxis
              ? shapeOf(main.op->getOperand(part))[axis]
              : extent;
      if (size == 1) {
        axes.push_back(getAffineConstantExpr(0, context));
        continue;
      }
      axes.push_back(getAffineDimExpr(extents.size(), context));
      extents.push_back(size);
      reduced.push_back(main.isReducedAxis(axis));
    }
    builder.setInsertionPointToEnd(&result.function->getBlock());
    nest = kernel::NestOp::create(builder, main.op->getLoc(), extents, reduced,
                                  /*sizes=*/{}, /*size_map=*/{});
    Block &block = nest.getBody().emplaceBlock();
    for (size_t i = 0; i < extents.size(); ++i)
      block.addArgument(builder.getIndexType(), main.op->getLoc());
    builder.setInsertionPointToEnd(&block);
    indices.emplace(context, nest.getExtents(), nest.getReduced());
    wanted.clear();
    done.clear();
    if (part >= 0)
      want(main.op->getOperand(part), axes);
    else if (!wantLast(main, axes))
      return false;
    for (const LoopOp &one : llvm::reverse(loops.ops))
      if (one.nest == at)
        wantOperands(one, part);
    return storeOutputs(part, axes) && !hasFailed;
  }

  /// The element that each iteration computes of the last ops.
  bool wantLast(const LoopOp &main, ArrayRef<AffineExpr> axes) {
    for (size_t number : loops.nests[at].last) {
      const LoopOp &last = loops.ops[number];
      for (Value value : last.op->getResults()) {
        if (&last == &main) {
          wanted[value] = indices->ofResult(main, axes, value);
          continue;
        }
        ArrayRef<int64_t> shape = shapeOf(value);
        bool isAll = product(shape) == indices->iterations(Axes::All);
        if (!isAll && product(shape) != indices->iterations(Axes::Kept))
          return fail(last.op, "has other iterations than its kernel");
        wanted[value] = math().delinearize(
            indices->iteration(isAll ? Axes::All : Axes::Kept), shape);
      }
    }
    return true;
  }

  Indices axesOf(const LoopOp &one, ArrayRef<AffineExpr> at) {
    if (std::optional<Indices> axes = indices->axesOf(one, at))
      return *axes;
    hasFailed = !fail(one.op, "combines other elements than its kernel");
    return Indices(one.space.extents.size(), getAffineConstantExpr(0, context));
  }

  //===--- Back -----------------------------------------------------------===//

  void want(Value value, ArrayRef<AffineExpr> indices) {
    kernel::Place place = kernel::locate(value);
    if (!loops.contains(place.root))
      return;
    AffineExpr linear =
        math().linearize(indices, place.layout.strides, place.layout.offset);
    wanted.try_emplace(place.root,
                       math().delinearize(linear, shapeOf(place.root)));
  }

  /// `part`: of a concatenation, whose operands are wanted already.
  void wantOperands(const LoopOp &one, int part) {
    if (part >= 0 && one.isConcat())
      return;
    const Indices *known = nullptr;
    for (Value value : one.op->getResults())
      if (auto found = wanted.find(value); !known && found != wanted.end())
        known = &found->second;
    if (!known)
      return;
    Indices axes = axesOf(one, *known);
    for (Value value : one.op->getResults()) {
      Indices ofResult = indices->ofResult(one, axes, value);
      wanted.try_emplace(value, std::move(ofResult));
    }
    for (auto [i, value] : llvm::enumerate(one.op->getOperands())) {
      if (!isa<RankedTensorType>(value.getType()) ||
          (one.isCopy && i != one.copied) ||
          (!one.isCopy && (one.space.isGathered[i] ||
                           (one.space.isPick && !one.isRowPick && i == 0))))
        continue;
      want(value, indices->ofOperand(one, axes, i));
    }
  }

  //===--- Forward --------------------------------------------------------===//

  using Key = std::pair<Value, llvm::SmallVector<AffineExpr, 6>>;

  /// The scalar of a result of an op of the launch.
  Value computed(Value value, const Indices &place) {
    for (auto &[known, scalar] : done[value])
      if (known == place)
        return scalar;
    const LoopOp &one = loops.ops[loops.numberOf.lookup(value)];
    Indices axes = axesOf(one, place);
    SmallVector<Value> scalars;
    if (!compute(one, axes, scalars))
      hasFailed = true;
    while (scalars.size() < one.op->getNumResults())
      scalars.push_back(arith::ConstantOp::create(
          builder, one.op->getLoc(),
          builder.getZeroAttr(
              scalarOf(one.op->getResult(scalars.size()).getType()))));
    for (auto [other, scalar] : llvm::zip(one.op->getResults(), scalars))
      done[other].push_back({indices->ofResult(one, axes, other), scalar});
    return scalars[cast<OpResult>(value).getResultNumber()];
  }

  bool compute(const LoopOp &one, const Indices &axes,
               SmallVectorImpl<Value> &scalars) {
    if (one.isCopy) {
      scalars.push_back(element(one.op->getOperand(one.copied),
                                indices->ofOperand(one, axes, one.copied)));
      return true;
    }
    if (one.space.isPick)
      return pick(one, axes, scalars);
    if (auto random = dyn_cast<RandomOp>(one.op))
      return draw(random, axes, scalars);
    OpElements elements(*this, one, axes, builder);
    if (succeeded(cast<LowerableOpInterface>(one.op).buildElement(elements,
                                                                  scalars)) &&
        scalars.size() == one.op->getNumResults())
      return true;
    return fail(one.op, "has no element formula");
  }

  Value indexConstant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(),
                                          value);
  }

  bool pick(const LoopOp &one, const Indices &axes,
            SmallVectorImpl<Value> &scalars) {
    Location loc = one.op->getLoc();
    Value table = one.op->getOperand(0);
    Value chosen =
        element(one.op->getOperand(1), indices->ofOperand(one, axes, 1));
    Value choice = arith::IndexCastOp::create(builder, loc,
                                              builder.getIndexType(), chosen);
    Indices place = indices->ofOperand(one, axes, 0);
    if (one.isRowPick && one.reduces()) {
      Value x = element(table, place);
      scalars.push_back(
          kernel::PickOp::create(builder, loc, x.getType(), x, choice));
      return true;
    }
    choice = kernel::ChooseOp::create(builder, loc, builder.getIndexType(),
                                      choice, indexConstant(one.numReduced()),
                                      /*wrapped=*/false);
    if (one.isRowPick) {
      // Of a row of one element: its reader keeps the test.
      Value x = element(table, place);
      Value isFirst = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, choice, indexConstant(0));
      Value none = arith::ConstantOp::create(builder, loc,
                                             builder.getZeroAttr(x.getType()));
      scalars.push_back(
          arith::SelectOp::create(builder, loc, isFirst, x, none));
      return true;
    }
    // Straight from memory: the chosen index in place of the reduced axis.
    for (auto [dim, axis] : llvm::enumerate(one.space.operands[0]))
      if (axis != IterationSpace::kOnce && one.space.isReduced[axis])
        place[dim] = getAffineDimExpr(numAxes(), context);
    kernel::Place from = kernel::locate(table);
    AffineExpr linear = getAffineConstantExpr(from.layout.offset, context);
    for (auto [index, stride] : llvm::zip_equal(place, from.layout.strides))
      linear = linear + index * stride;
    scalars.push_back(loadAt(from.root, linear, choice, {}, {}));
    return true;
  }

  bool draw(RandomOp random, const Indices &axes,
            SmallVectorImpl<Value> &scalars) {
    Location loc = random.getLoc();
    Value seed = element(random.getSeed(), {});
    Value round = random.getRound() ? element(random.getRound(), {}) : Value();
    ArrayRef<int64_t> shape = shapeOf(random.getResult());
    Value index = materialize(
        math().linearize(axes, Layout::contiguous(shape).strides, 0));
    scalars.push_back(kernel::DrawOp::create(
        builder, loc, scalarOf(random.getResult().getType()),
        drawOf(random.getDistribution()), seed, index, random.getStream(),
        round));
    return true;
  }

  //===--- Memory ---------------------------------------------------------===//

  Value addMemory(Value root) {
    auto type = cast<RankedTensorType>(root.getType());
    return result.function->getBody().addArgument(kernel::memoryOf(type),
                                                  root.getLoc());
  }

  Value inputOf(Value root) {
    if (joint::isUndefined(root.getDefiningOp())) {
      fail(root.getDefiningOp(), "has contents that nobody defined");
      hasFailed = true;
    }
    auto [it, isNew] = inputs.try_emplace(root, result.inputs.size());
    if (isNew) {
      result.inputs.push_back(root);
      addMemory(root);
    }
    return result.function->getBody().getArgument(it->second);
  }

  /// A map over the axes that it needs, and `more`.
  std::pair<AffineMap, SmallVector<Value>> accessOf(AffineExpr linear,
                                                    ArrayRef<Value> more) {
    SmallVector<Value> dims;
    SmallVector<AffineExpr> replaced;
    for (unsigned i = 0; i < numAxes() + more.size(); ++i) {
      replaced.push_back(getAffineDimExpr(dims.size(), context));
      if (linear.isFunctionOfDim(i))
        dims.push_back(i < numAxes() ? Value(nest.getBody().getArgument(i))
                                     : more[i - numAxes()]);
    }
    return {AffineMap::get(dims.size(), 0, linear.replaceDims(replaced)), dims};
  }

  struct Store {
    Value scalar, root;
    AffineExpr linear;
    kernel::NestOp nest;
  };

  /// Scalars first: all of an iteration is read before it writes.
  bool storeOutputs(int part, ArrayRef<AffineExpr> axes) {
    auto addStore = [&](Value root, Value scalar, ArrayRef<AffineExpr> place) {
      auto strides = Layout::contiguous(shapeOf(root)).strides;
      stores.push_back(
          {scalar, root, math().linearize(place, strides, 0), nest});
    };
    for (Value root : outputs) {
      const LoopOp &maker = loops.ops[loops.numberOf.lookup(root)];
      if (maker.nest != at)
        continue;
      if (maker.isConcat()) {
        const LoopOp &concat = maker;
        Indices moved(axes.begin(), axes.end());
        int64_t before = 0;
        for (int i = 0; i < part; ++i) // one of no elements may have any rank
          if (ArrayRef<int64_t> shape = shapeOf(concat.op->getOperand(i));
              product(shape) != 0)
            before += shape[concat.space.concatAxis];
        AffineExpr &along = moved[concat.space.concatAxis];
        along = along + before;
        Value x = element(concat.op->getOperand(part), axes);
        addStore(root, x, moved);
        continue;
      }
      auto found = wanted.find(root);
      if (found == wanted.end()) {
        if (part < 0)
          return fail(root.getDefiningOp(), "is computed by no iteration");
        continue;
      }
      if (!isStored.insert(root).second)
        continue;
      Indices place = found->second;
      addStore(root, computed(root, place), place);
    }
    return true;
  }

  /// Outputs come behind the inputs, which are all known now.
  bool addOutputs() {
    kernel::FuncOp function = *result.function;
    function.setNumInputs(result.inputs.size());
    llvm::DenseMap<Value, Value> memoryOf;
    for (Value root : outputs) {
      memoryOf[root] = addMemory(root);
      result.outputs.push_back(root);
    }
    for (const Store &store : stores) {
      nest = store.nest;
      builder.setInsertionPointToEnd(&nest.getBlock());
      auto [map, dims] = accessOf(store.linear, {});
      kernel::StoreOp::create(builder, store.root.getLoc(), store.scalar,
                              memoryOf[store.root], dims,
                              AffineMapAttr::get(map));
    }
    for (Value root : outputs)
      if (memoryOf[root].use_empty())
        return fail(root.getDefiningOp(), "is computed by no iteration");
    for (auto each : function.getBody().getOps<kernel::NestOp>()) {
      mergeScalars(each.getBlock());
      mergeAxes(each);
    }
    return true;
  }

  ArrayRef<Operation *> ops;
  ArrayRef<Value> outputs;
  MLIRContext *context;
  StringRef schedule;
  OpBuilder builder;
  std::string &problem;

  KernelBody result;
  LoopOps loops;
  size_t at = 0; ///< number in loops.nests
  kernel::NestOp nest;
  std::optional<NestIndices> indices;    ///< of `nest`
  llvm::DenseMap<Value, Indices> wanted; ///< by result, in this nest
  llvm::DenseMap<Value, SmallVector<std::pair<Indices, Value>, 1>> done;
  llvm::DenseMap<Value, size_t> inputs;
  llvm::DenseSet<Value> isStored;
  std::vector<Store> stores;
  bool hasFailed = false;
};

} // namespace

Value OpElements::operand(unsigned i) {
  Value value = loops.op->getOperand(i);
  Indices indices;
  for (int8_t axis : loops.space.operands[i])
    indices.push_back(axis == IterationSpace::kOnce
                          ? getAffineConstantExpr(0, loops.op->getContext())
                          : axes[axis]);
  return body.element(value, indices);
}

Value OpElements::index(unsigned axis) { return body.materialize(axes[axis]); }

Value OpElements::load(unsigned i, ArrayRef<Value> indices, Value mask,
                       Value otherwise) {
  kernel::Place place = kernel::locate(loops.op->getOperand(i));
  MLIRContext *context = loops.op->getContext();
  AffineExpr linear = getAffineConstantExpr(place.layout.offset, context);
  for (auto [dim, stride] : llvm::enumerate(place.layout.strides))
    linear = linear + getAffineDimExpr(body.numAxes() + dim, context) * stride;
  return body.loadAt(place.root, linear, indices, mask, otherwise);
}

Value OpElements::choose(Value place, Value size, bool isWrapped) {
  return kernel::ChooseOp::create(builder, loc, builder.getIndexType(), place,
                                  size, isWrapped);
}

Value OpElements::reduce(Combine how, Value element) {
  if (!loops.reduces())
    return element;
  return kernel::ReduceOp::create(builder, loc, element.getType(),
                                  combineOf(how), element);
}

Value OpElements::reduceIndex(bool greatest, Value element) {
  if (!loops.reduces())
    return arith::ConstantIntOp::create(builder, loc, 0, 64);
  return kernel::ReduceIndexOp::create(builder, loc, builder.getI64Type(),
                                       !greatest, element);
}

int64_t OpElements::numReduced() { return loops.numReduced(); }

std::optional<KernelBody> cutback::buildKernelBody(ArrayRef<Operation *> ops,
                                                   ArrayRef<Value> outputs,
                                                   StringRef schedule,
                                                   std::string &problem) {
  return BodyBuilder(ops, outputs, schedule, problem).run();
}
