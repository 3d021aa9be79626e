// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox gives four words at once, an element takes one of them. Where the
// elements of an innermost loop are neighbors in a random stream, a loop in
// front of it draws their words, each counter once, and the elements read them
// from memory that the first cache holds. The numbers are those that each
// element would draw alone.

#include "NestScopes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

static constexpr int64_t kWords = 4; ///< of a counter

/// By how much an index grows from iteration to iteration of a loop; nothing if
/// that is not known.
std::optional<int64_t> NestScopes::stepAlong(Value index, size_t group) {
  if (auto axis = dyn_cast<BlockArgument>(index)) {
    bool isMemory = axis.getOwner() != &nest.getBlock();
    if (isMemory || groupOf[axis.getArgNumber()] != group)
      return 0;
    return groups[group].axes.size() == 1 ? std::optional<int64_t>(1)
                                          : std::nullopt;
  }
  Operation *op = index.getDefiningOp();
  SmallVector<int64_t, 2> steps;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> step = stepAlong(operand, group);
    if (!step)
      return std::nullopt;
    steps.push_back(*step);
  }
  if (llvm::all_of(steps, [](int64_t step) { return step == 0; }))
    return 0;
  if (isa<arith::AddIOp>(op))
    return steps[0] + steps[1];
  APInt factor;
  if (isa<arith::MulIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&factor)))
    return steps[0] * factor.getSExtValue();
  return std::nullopt;
}

bool NestScopes::isDrawnAlong(kernel::DrawOp draw, size_t group) {
  Type type = draw.getResult().getType();
  bool isWord = draw.getDraw() != kernel::Draw::Normal && !type.isIndex() &&
                type.getIntOrFloatBitWidth() <= 32;
  auto isFixed = [&](Value value) {
    return !value || stepAlong(value, group) == 0;
  };
  return isWord && stepAlong(draw.getIndex(), group) == 1 &&
         isFixed(draw.getSeed()) && isFixed(draw.getRound());
}

bool NestScopes::drawsAlong(size_t group) {
  return frame.loops == LoopsFor::Processor &&
         llvm::any_of(
             nest.getBody().getOps<kernel::DrawOp>(),
             [&](kernel::DrawOp draw) { return isDrawnAlong(draw, group); });
}

NestScopes::DrawnWords NestScopes::drawWords(kernel::DrawOp draw,
                                             size_t depth) {
  // As if the loops inside of this one were not open.
  std::vector<Scope> inner(std::make_move_iterator(scopes.begin() + depth + 1),
                           std::make_move_iterator(scopes.end()));
  scopes.resize(depth + 1);
  const Strip strip = *scopes[depth].strip;
  Scope front;
  front.anchor = scopes[depth].anchor;
  front.indexOf[strip.group] = strip.first;
  scopes.push_back(std::move(front));
  Value seed = get(draw.getSeed()).value, index = get(draw.getIndex()).value;
  Value round = draw.getRound() ? get(draw.getRound()).value : Value();
  int64_t count = llvm::divideCeil(strip.count + kWords - 1, kWords);
  DrawnWords drawn;
  drawn.words = allocate(builder.getI32Type(), count * kWords);
  Value number = arith::DivUIOp::create(here(), loc, index, constant(kWords));
  drawn.first = arith::MulIOp::create(here(), loc, number, constant(kWords));
  Value at = enterLoop(count, /*isParallel=*/true);
  Value counter = arith::AddIOp::create(here(), loc, number, at);
  auto words = scalars.drawWords(draw, seed, counter, round);
  Value place = arith::MulIOp::create(builder, loc, at, constant(kWords));
  for (auto [k, word] : llvm::enumerate(words)) {
    Value to = arith::AddIOp::create(here(), loc, place,
                                     constant(static_cast<int64_t>(k)));
    memref::StoreOp::create(here(), loc, word, drawn.words, to);
  }
  leaveLoop();
  scopes.pop_back();
  llvm::move(inner, std::back_inserter(scopes));
  scopes[depth].drawn[draw] = drawn;
  return drawn;
}

Placed NestScopes::emitDraw(kernel::DrawOp draw) {
  size_t depth = scopes.size() - 1;
  while (depth > 0 && !scopes[depth].strip && !scopes[depth].isElsewhere)
    --depth;
  if (!scopes[depth].strip)
    return {};
  size_t group = scopes[depth].strip->group;
  if (!isDrawnAlong(draw, group) || groupIndex(group).depth <= depth)
    return {};
  auto known = scopes[depth].drawn.find(draw);
  DrawnWords drawn = known != scopes[depth].drawn.end()
                         ? known->second
                         : drawWords(draw, depth);
  Placed index = get(draw.getIndex());
  if (failed)
    return {};
  at(index.depth);
  Value place = arith::SubIOp::create(builder, loc, index.value, drawn.first);
  Value word = memref::LoadOp::create(builder, loc, drawn.words, place);
  return keep(draw.getResult(), scalars.drawFrom(draw, word), index.depth);
}
