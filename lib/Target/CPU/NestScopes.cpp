// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scalar stands in front of the loops that it does not depend on, so a row's
// number is looked up once a row, and a bound is tested once where the index is
// known. That may read an element before another iteration runs: what lies in
// the place of an operand is read in the iteration that writes it, and in no
// other (kernel.arena), so nothing that is hoisted is ever overwritten.

#include "NestScopes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool Access::isInRest(BlockArgument axis) const {
  for (auto [expr, factor] : rest)
    for (auto [i, index] : llvm::enumerate(indices))
      if (index == axis && expr.isFunctionOfDim(i))
        return true;
  return false;
}

namespace {
/// An expression as a sum, by axis.
struct LinearForm {
  SmallVector<int64_t, 6> factors; ///< by axis
  Access rest;
  bool isLinear = true;

  LinearForm(size_t axes, AffineMap map, ValueRange indices)
      : factors(axes, 0), indices(indices) {
    rest.indices = indices;
    add(map.getResult(0), 1);
  }

  void add(AffineExpr expr, int64_t factor) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      rest.constant += factor * number.getValue();
      return;
    }
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      Value index = indices[dim.getPosition()];
      if (auto axis = dyn_cast<BlockArgument>(index))
        factors[axis.getArgNumber()] += factor;
      else
        rest.data.push_back({index, factor});
      return;
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (expr.getKind() == AffineExprKind::Add) {
      add(binary.getLHS(), factor);
      add(binary.getRHS(), factor);
      return;
    }
    auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (expr.getKind() == AffineExprKind::Mul && number) {
      add(binary.getLHS(), factor * number.getValue());
      return;
    }
    rest.rest.push_back({expr, factor});
  }

  ValueRange indices;
};
} // namespace

static std::vector<LinearForm> formsOf(kernel::NestOp nest) {
  std::vector<LinearForm> forms;
  size_t axes = nest.getExtents().size();
  for (Operation &op : nest.getBlock()) {
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      forms.emplace_back(axes, load.getMap(), load.getIndices());
    if (auto store = dyn_cast<kernel::StoreOp>(op))
      forms.emplace_back(axes, store.getMap(), store.getIndices());
  }
  return forms;
}

std::vector<AxisGroup> cpu::groupAxes(kernel::NestOp nest) {
  std::vector<LinearForm> forms = formsOf(nest);
  auto isAlone = [&](unsigned axis) {
    BlockArgument argument = nest.getBody().getArgument(axis);
    return llvm::any_of(argument.getUsers(),
                        [](Operation *user) {
                          return !isa<kernel::LoadOp, kernel::StoreOp>(user);
                        }) ||
           llvm::any_of(forms, [&](const LinearForm &form) {
             return form.rest.isInRest(argument);
           });
  };
  std::vector<AxisGroup> groups;
  // By kind the last group, and the axis at its front.
  for (unsigned axis = nest.getExtents().size(); axis-- > 0;) {
    bool reduces = nest.getReduced()[axis];
    int64_t extent = nest.getExtents()[axis];
    auto last = llvm::find_if(groups, [&](const AxisGroup &group) {
      return group.isReduced == reduces;
    });
    bool joins = last != groups.end() && !isAlone(axis) &&
                 !isAlone(last->axes.front()) &&
                 llvm::all_of(forms, [&](const LinearForm &form) {
                   return form.factors[axis] ==
                          form.factors[last->axes.back()] * last->extent;
                 });
    if (joins) {
      last->axes.insert(last->axes.begin(), axis);
      last->extent *= extent;
    } else {
      groups.insert(groups.begin(), AxisGroup{{axis}, extent, reduces});
    }
  }
  return groups;
}

Access NestScopes::accessOf(AffineMap map, ValueRange indices) {
  LinearForm form(nest.getExtents().size(), map, indices);
  Access access = std::move(form.rest);
  for (const AxisGroup &group : groups)
    access.ofGroup.push_back(form.factors[group.axes.back()]);
  return access;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

NestScopes::NestScopes(kernel::NestOp nest, OpBuilder &builder,
                       const KernelFrame &frame,
                       std::vector<Operation *> &checked)
    : groups(groupAxes(nest)), isReduced(nest.findReduced()),
      loc(nest.getLoc()), scalars(builder, frame), nest(nest),
      hasFunctions(llvm::any_of(nest.getBlock(),
                                [](Operation &op) {
                                  return isa<math::MathDialect>(
                                             op.getDialect()) ||
                                         isa<kernel::DrawOp>(op);
                                })),
      builder(builder), frame(frame), checked(checked),
      groupOf(nest.getExtents().size(), 0) {
  for (auto [number, group] : llvm::enumerate(groups))
    for (unsigned axis : group.axes)
      groupOf[axis] = number;
  scopes.emplace_back();
  scopes.back().anchor = builder.getInsertionBlock()->getTerminator();
}

OpBuilder &NestScopes::at(size_t depth) {
  builder.setInsertionPoint(scopes[depth].anchor);
  return builder;
}
OpBuilder &NestScopes::here() { return at(depth()); }

Value NestScopes::constant(int64_t value) {
  OpBuilder::InsertionGuard guard(builder);
  return arith::ConstantIndexOp::create(at(0), loc, value);
}

Value NestScopes::allocate(Type type, int64_t count) {
  Block *entry = scopes.front().anchor->getBlock();
  builder.setInsertionPointToStart(entry);
  return memref::AllocaOp::create(builder, loc, MemRefType::get({count}, type),
                                  builder.getI64IntegerAttr(64));
}

/// A function is a chain of some twenty instructions, each of which waits for
/// the one before it: four vectors are under way in the time of one. LLVM
/// leaves long loops as they are, for the registers.
LLVM::LoopInterleaveAttr NestScopes::interleaving(Value first, Value end) {
  constexpr int64_t lanes = 16, many = 512;
  if (!hasFunctions)
    return {};
  std::optional<int64_t> from = getConstantIntValue(first),
                         to = getConstantIntValue(end);
  int64_t count = from && to ? *to - *from : many;
  for (int64_t vectors : {4, 2})
    // What is left over is computed one by one.
    if (count >= many || count % (vectors * lanes) < lanes / 2)
      return LLVM::LoopInterleaveAttr::get(
          builder.getContext(), builder.getI32IntegerAttr(int32_t(vectors)));
  return {};
}

/// What LLVM is told of a loop; each may be null.
static void annotate(Operation *loop, LLVM::LoopInterleaveAttr interleave,
                     LLVM::LoopUnrollAttr unroll,
                     ArrayRef<LLVM::AccessGroupAttr> parallel) {
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(
                    loop->getContext(), {}, {}, interleave, unroll, {}, {}, {},
                    {}, {}, {}, {}, {}, {}, {}, parallel));
}

Value NestScopes::enterLoop(Value first, Value end, Value step,
                            bool isParallel) {
  auto loop = scf::ForOp::create(here(), loc, first, end, step);
  if (isParallel && frame.loops == LoopsFor::Processor) {
    MLIRContext *context = builder.getContext();
    auto group = LLVM::AccessGroupAttr::get(
        context, DistinctAttr::create(builder.getUnitAttr()));
    annotate(loop, interleaving(first, end), {}, group);
  }
  scopes.back().anchor = loop;
  scopes.emplace_back();
  scopes.back().anchor = loop.getBody()->getTerminator();
  return loop.getInductionVar();
}

Value NestScopes::enterUnrolled(int64_t count) {
  Value index = enterLoop(count, /*isParallel=*/false);
  MLIRContext *context = builder.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, {}, {}, {}, BoolAttr::get(context, true), {}, {}, {});
  annotate(index.getParentBlock()->getParentOp(), {}, unroll, {});
  return index;
}

void NestScopes::leaveLoop() {
  scopes.pop_back();
  Scope &scope = scopes.back();
  scope.anchor = scope.anchor->getBlock()->getTerminator();
}

Placed NestScopes::groupIndex(size_t group) {
  for (size_t depth = scopes.size(); depth-- > 0;)
    if (Value index = scopes[depth].indexOf.lookup(group))
      return {index, depth};
  return {};
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Placed NestScopes::keep(Value value, Value is, size_t depth) {
  scopes[depth].values[value] = is;
  return {is, depth};
}

Placed NestScopes::get(Value value) {
  for (size_t depth = scopes.size(); depth-- > 0;)
    if (Value known = scopes[depth].values.lookup(value))
      return {known, depth};
  if (Value buffer = bufferOf.lookup(value))
    return fromBuffer(value, buffer);
  if (auto axis = dyn_cast<BlockArgument>(value))
    return groupIndex(groupOf[axis.getArgNumber()]);
  return emit(value.getDefiningOp());
}

Placed NestScopes::fromBuffer(Value value, Value buffer) {
  size_t depth = scopes.size() - 1;
  while (!scopes[depth].lane)
    --depth;
  Value is = memref::LoadOp::create(at(depth), loc, buffer, scopes[depth].lane);
  return keep(value, is, depth);
}

Placed NestScopes::emit(Operation *op) {
  if (auto load = dyn_cast<kernel::LoadOp>(op))
    return emitLoad(load);
  if (auto pick = dyn_cast<kernel::PickOp>(op))
    return emitPick(pick);
  if (auto choose = dyn_cast<kernel::ChooseOp>(op))
    return emitChoose(choose);
  auto draw = dyn_cast<kernel::DrawOp>(op);
  if (Placed drawn = draw ? emitDraw(draw) : Placed(); drawn.value || failed)
    return drawn;
  SmallVector<Value, 3> operands;
  size_t depth = 0;
  for (Value operand : op->getOperands()) {
    Placed placed = get(operand);
    if (failed)
      return {};
    operands.push_back(placed.value);
    depth = std::max(depth, placed.depth);
  }
  at(depth);
  Value round = draw && draw.getRound() ? operands[2] : Value();
  Value result = draw ? scalars.draw(draw, operands[0], operands[1], round)
                      : scalars.lower(op, operands);
  if (!result) {
    op->emitOpError("has no machine code");
    failed = true;
    return {};
  }
  return keep(op->getResult(0), result, depth);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value NestScopes::memoryOf(Value argument) const {
  return frame.memories[cast<BlockArgument>(argument).getArgNumber()];
}

Value NestScopes::isInside(Operation *access, Value memory, Value index) {
  int64_t size = cast<MemRefType>(memory.getType()).getDimSize(0);
  Value bound = arith::ConstantIndexOp::create(builder, loc, size);
  Value isGood =
      Formulas(builder, loc).compare(IP::ult, index, bound); // nor negative
  recordError(access, isGood, index);
  return isGood;
}

/// Truth values are bytes.
Value NestScopes::readElement(kernel::LoadOp load, Value index) {
  if (testsAll())
    index = Formulas(builder, loc)
                .select(isInside(load, load.getMemory(), index), index,
                        arith::ConstantIndexOp::create(builder, loc, 0));
  Value element =
      memref::LoadOp::create(builder, loc, memoryOf(load.getMemory()), index);
  if (!load.getElement().getType().isInteger(1))
    return element;
  Formulas f(builder, loc);
  return f.compare(IP::ne, element, f.integer(0, 8));
}

Value NestScopes::addTerm(Value sum, Value term, int64_t factor) {
  if (factor != 1)
    term = arith::MulIOp::create(
        builder, loc, term,
        arith::ConstantIndexOp::create(builder, loc, factor));
  return sum ? arith::AddIOp::create(builder, loc, sum, term).getResult()
             : term;
}

/// A quotient or remainder; what it reads is known already.
Value NestScopes::restOf(AffineExpr expr, ValueRange indices) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    OpBuilder::InsertionGuard guard(builder);
    return get(indices[dim.getPosition()]).value;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value a = restOf(binary.getLHS(), indices);
  Value b = restOf(binary.getRHS(), indices);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, a, b);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, a, b);
  default:
    break;
  }
  // Divisors are positive. Indices of loops make no negative numbers, but maps
  // may subtract, and data may be anything.
  bool isQuotient = expr.getKind() != AffineExprKind::Mod;
  if (expr.getKind() == AffineExprKind::CeilDiv)
    a = arith::AddIOp::create(
        builder, loc, a,
        arith::SubIOp::create(builder, loc, b,
                              arith::ConstantIndexOp::create(builder, loc, 1)));
  if (kernel::isNatural(binary.getLHS(), indices))
    return isQuotient ? arith::DivUIOp::create(builder, loc, a, b).getResult()
                      : arith::RemUIOp::create(builder, loc, a, b).getResult();
  Formulas f(builder, loc);
  Value rest = f.make<arith::RemSIOp>(a, b);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  rest = f.select(f.compare(IP::slt, rest, zero), f.add(rest, b), rest);
  return isQuotient ? f.make<arith::DivSIOp>(f.subtract(a, rest), b) : rest;
}

size_t NestScopes::depthOf(const Access &access) {
  size_t depth = 0;
  for (auto [group, factor] : llvm::enumerate(access.ofGroup))
    if (factor)
      depth = std::max(depth, groupIndex(group).depth);
  for (auto [value, factor] : access.data)
    depth = std::max(depth, get(value).depth);
  for (auto [expr, factor] : access.rest)
    for (auto [i, index] : llvm::enumerate(access.indices))
      if (expr.isFunctionOfDim(i))
        depth = std::max(depth, get(index).depth);
  return depth;
}

/// Terms of the groups whose loops are `from` to `to`; null without any.
Value NestScopes::groupTerms(const Access &access, size_t from, size_t to) {
  Value sum;
  for (auto [group, factor] : llvm::enumerate(access.ofGroup)) {
    if (!factor)
      continue;
    Placed index = groupIndex(group);
    if (index.depth >= from && index.depth <= to)
      sum = addTerm(sum, index.value, factor);
  }
  return sum;
}

/// Data, quotients and the constant; what they read is known already.
Value NestScopes::addOthers(const Access &access, Value sum) {
  for (auto [expr, factor] : access.rest)
    sum = addTerm(sum, restOf(expr, access.indices), factor);
  for (auto [value, factor] : access.data)
    sum = addTerm(sum, get(value).value, factor);
  Value first = arith::ConstantIndexOp::create(builder, loc, access.constant);
  return sum ? addTerm(sum, first, 1) : first;
}

void NestScopes::recordError(Operation *op, Value isGood, Value number) {
  auto found = llvm::find(checked, op);
  auto id = static_cast<int64_t>(found - checked.begin()) + 1;
  if (found == checked.end())
    checked.push_back(op);
  Formulas f(builder, loc);
  Value isBad = arith::XOrIOp::create(builder, loc, isGood, f.integer(1, 1));
  auto branch = scf::IfOp::create(builder, loc, isBad, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  auto write = [&](Value value, int64_t place) {
    memref::StoreOp::create(
        builder, loc, value, frame.cells,
        ValueRange{arith::ConstantIndexOp::create(builder, loc, place)});
  };
  write(f.integer(id, 64), 0);
  write(arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number),
        1);
}

/// The test covers all iterations of the loops behind `depth`: they reach from
/// `low` to `high` around what is known there.
Value NestScopes::checkedBase(kernel::LoadOp load, const Access &access,
                              size_t depth) {
  Value base = addOthers(access, groupTerms(access, 0, depth));
  int64_t low = 0, high = 0;
  for (auto [group, factor] : llvm::enumerate(access.ofGroup)) {
    if (!factor || groupIndex(group).depth <= depth)
      continue;
    int64_t reach = factor * (groups[group].extent - 1);
    low += std::min<int64_t>(reach, 0);
    high += std::max<int64_t>(reach, 0);
  }
  int64_t size = cast<MemRefType>(load.getMemory().getType()).getDimSize(0);
  Formulas f(builder, loc);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value least = f.add(base, index(low)), most = f.add(base, index(high));
  Value isAbove = f.compare(IP::sge, least, index(0));
  Value isGood =
      f.make<arith::AndIOp>(isAbove, f.compare(IP::slt, most, index(size)));
  recordError(load, isGood, f.select(isAbove, most, least));
  // Inside for all iterations, unless nothing is.
  if (high - low >= size) {
    load.emitOpError("reaches ") << high - low + 1 << " elements of " << size;
    failed = true;
  }
  return f.select(isGood, base, index(-low));
}

Value NestScopes::indexOf(AffineMap map, ValueRange indices) {
  Access access = accessOf(map, indices);
  here();
  return addOthers(access, groupTerms(access, 0, depth()));
}

Placed NestScopes::emitLoad(kernel::LoadOp load) {
  Access access = accessOf(load.getMap(), load.getIndices());
  size_t depth = depthOf(access);
  Placed mask, otherwise;
  if (load.getMask()) {
    mask = get(load.getMask());
    otherwise = get(load.getOtherwise());
    depth = std::max({depth, mask.depth, otherwise.depth});
  }
  if (failed)
    return {};
  if (mask.value) {
    auto branch = scf::IfOp::create(at(depth), loc,
                                    TypeRange(load.getElement().getType()),
                                    mask.value, /*withElseRegion=*/true);
    builder.setInsertionPointToEnd(branch.thenBlock());
    Value index = kernel::isInside(load.getIndices())
                      ? addOthers(access, groupTerms(access, 0, depth))
                      : checkedBase(load, access, depth);
    scf::YieldOp::create(builder, loc, readElement(load, index));
    builder.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(builder, loc, otherwise.value);
    return keep(load.getElement(), branch.getResult(0), depth);
  }
  Value index;
  if (access.data.empty()) {
    at(depth);
    index = addOthers(access, groupTerms(access, 0, depth));
  } else {
    size_t known = access.rest.empty() ? 0 : depth;
    for (auto [value, factor] : access.data)
      known = std::max(known, get(value).depth);
    at(known);
    Value base = kernel::isInside(load.getIndices())
                     ? addOthers(access, groupTerms(access, 0, known))
                     : checkedBase(load, access, known);
    at(depth);
    Value inner = groupTerms(access, known + 1, depth);
    index = inner ? addTerm(inner, base, 1) : base;
  }
  return keep(load.getElement(), readElement(load, index), depth);
}

void NestScopes::store(ArrayRef<kernel::StoreOp> stores) {
  SmallVector<Placed> elements;
  SmallVector<Access> accesses;
  for (kernel::StoreOp store : stores) {
    elements.push_back(get(store.getElement()));
    accesses.push_back(accessOf(store.getMap(), store.getIndices()));
    size_t depth = depthOf(accesses.back());
    elements.back().depth =
        std::max({elements.back().depth, depth, leastStoreDepth});
    if (streamOf.contains(store))
      elements.back().depth = scopes.size() - 1;
  }
  if (failed)
    return;
  for (auto [number, element] : llvm::enumerate(elements)) {
    kernel::StoreOp store = stores[number];
    const Access &access = accesses[number];
    at(element.depth);
    Value value = element.value;
    if (value.getType().isInteger(1))
      value = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), value);
    if (Value waiting = streamOf.lookup(store)) {
      memref::StoreOp::create(builder, loc, value, waiting,
                              scopes.back().streamPlace);
      continue;
    }
    Value index = addOthers(access, groupTerms(access, 0, element.depth));
    OpBuilder::InsertionGuard guard(builder);
    if (testsAll()) {
      auto branch = scf::IfOp::create(
          builder, loc, isInside(store, store.getMemory(), index), false);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    memref::StoreOp::create(builder, loc, value, memoryOf(store.getMemory()),
                            index);
  }
}

/// Tested where it is known: once a row, if the row has one.
Placed NestScopes::emitChoose(kernel::ChooseOp choose) {
  Placed given = get(choose.getAt()), size = get(choose.getSize());
  if (failed)
    return {};
  size_t depth = std::max(given.depth, size.depth);
  at(depth);
  Formulas f(builder, loc);
  Value place = given.value;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  if (choose.getWrapped())
    place = f.select(f.compare(IP::slt, place, zero), f.add(place, size.value),
                     place);
  Value isGood = f.compare(IP::ult, place, size.value); // nor negative
  recordError(choose, isGood, given.value);
  return keep(choose.getPlace(), f.select(isGood, place, zero), depth);
}

/// Its scalars again, at that iteration: a loop around nothing, in which the
/// reduced axes are those that are picked.
Placed NestScopes::emitPick(kernel::PickOp pick) {
  Value wanted = get(pick.getAt()).value;
  if (failed)
    return {};
  here();
  int64_t count = 1;
  for (const AxisGroup &group : groups)
    count *= group.isReduced ? group.extent : 1;
  Formulas f(builder, loc);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value isGood = f.compare(IP::ult, wanted, index(count));
  recordError(pick, isGood, wanted);
  Value place = f.select(isGood, wanted, index(0));
  size_t depth = scopes.size() - 1;
  Scope inside;
  inside.anchor = scopes.back().anchor;
  inside.isElsewhere = true;
  bool isRow = llvm::none_of(
      scopes, [](const Scope &scope) { return bool(scope.lane); });
  if (isRow)
    inside.lane = place;
  int64_t stride = 1;
  for (size_t group = groups.size(); group-- > 0;) {
    if (!groups[group].isReduced)
      continue;
    int64_t extent = groups[group].extent;
    Value along = place;
    if (stride > 1)
      along = arith::DivUIOp::create(builder, loc, along, index(stride));
    if (stride * extent < count)
      along = arith::RemUIOp::create(builder, loc, along, index(extent));
    inside.indexOf[group] = along;
    stride *= extent;
  }
  scopes.push_back(std::move(inside));
  Value picked = get(pick.getElement()).value;
  scopes.pop_back();
  return failed ? Placed() : keep(pick.getResult(), picked, depth);
}
