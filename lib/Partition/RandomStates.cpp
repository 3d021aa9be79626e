// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From numbers of draws to states of the generator:
//
//   1. draws of the forward whose number the backward has too, in program order
//   2. in front of each a mark that gives the state, one more result of the
//      forward, the last of what is saved
//   3. an argument of the backward for each, and a mark in front of every draw
//      of that number that sets it
//   4. the numbers go, the link names the states
//
// The certificate reads the marks as those of PyTorch's own halves
// (CertificateReplay.cpp). A draw that one half runs alone needs no state.

#include "cutback/Partition/RandomStates.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class States {
public:
  States(PartitionOp link, func::FuncOp forward, func::FuncOp backward)
      : link(link), forward(forward), backward(backward),
        builder(link.getContext()),
        type(RankedTensorType::get(
            {ShapedType::kDynamic},
            builder.getIntegerType(8, /*isSigned=*/false))) {}

  unsigned run();

private:
  OpaqueOp mark(Operation *draw, StringRef callee, Value state, Type result,
                StringAttr name);
  void give(Operation *draw, StringAttr name);
  void take(ArrayRef<Operation *> draws, StringAttr name, unsigned position);

  PartitionOp link;
  func::FuncOp forward, backward;
  Builder builder;
  Type type;
  SmallVector<Value> results; ///< of the forward
};

/// Draws of a half by their number.
using Draws = llvm::MapVector<Attribute, SmallVector<Operation *, 1>>;

Draws drawsOf(func::FuncOp half) {
  Draws draws;
  half.walk([&](Operation *op) {
    if (Attribute number = op->getDiscardableAttr(kReplay))
      draws[number].push_back(op);
  });
  return draws;
}

} // namespace

OpaqueOp States::mark(Operation *draw, StringRef callee, Value state,
                      Type result, StringAttr name) {
  OpBuilder at(draw);
  auto operand = OperandAttr::get(builder.getContext());
  return OpaqueOp::create(
      at, draw->getLoc(), result ? TypeRange(result) : TypeRange(),
      builder.getStringAttr(callee), state ? ValueRange(state) : ValueRange(),
      state ? builder.getArrayAttr({operand}) : builder.getArrayAttr({}),
      /*keywords=*/ArrayAttr(), /*effects=*/builder.getUnitAttr(),
      /*tuple=*/UnitAttr(), name ? builder.getArrayAttr({name}) : ArrayAttr());
}

void States::give(Operation *draw, StringAttr name) {
  results.push_back(mark(draw, kSavesState, {}, type, name)->getResult(0));
  draw->removeDiscardableAttr(kReplay);
}

void States::take(ArrayRef<Operation *> draws, StringAttr name,
                  unsigned position) {
  auto role =
      RoleAttr::get(builder.getContext(), RoleKind::Saved, nullptr, -1, false);
  (void)backward.insertArgument(
      position, type,
      builder.getDictionaryAttr(
          {builder.getNamedAttr(JointDialect::kName, name),
           builder.getNamedAttr(JointDialect::kRole, role)}),
      link.getLoc());
  for (Operation *draw : draws) {
    mark(draw, kSetsState, backward.getArgument(position), {}, {});
    draw->removeDiscardableAttr(kReplay);
  }
}

unsigned States::run() {
  Draws made = drawsOf(forward), again = drawsOf(backward);
  Operation *give = forward.getBody().front().getTerminator();
  results.assign(give->operand_begin(), give->operand_end());
  SmallVector<Attribute> saved(link.getSaved().begin(), link.getSaved().end());
  unsigned before = static_cast<unsigned>(saved.size());
  for (auto &[number, draws] : made) {
    auto found = again.find(number);
    if (found == again.end())
      continue;
    auto name = builder.getStringAttr("rng_state_" +
                                      std::to_string(saved.size() - before));
    this->give(draws.front(), name);
    take(found->second, name, static_cast<unsigned>(saved.size()));
    saved.push_back(name);
  }
  give->setOperands(results);
  forward.setType(builder.getFunctionType(forward.getArgumentTypes(),
                                          TypeRange(ValueRange(results))));
  link.setSavedAttr(builder.getArrayAttr(saved));
  return static_cast<unsigned>(saved.size()) - before;
}

static func::FuncOp halfOf(PartitionOp partition, FlatSymbolRefAttr name) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(partition, name);
}

unsigned cutback::exposeRandomStates(PartitionOp partition) {
  return States(partition, halfOf(partition, partition.getForwardAttr()),
                halfOf(partition, partition.getBackwardAttr()))
      .run();
}

bool cutback::exposesRandomStates(PartitionOp partition) {
  func::FuncOp forward = halfOf(partition, partition.getForwardAttr());
  return forward && llvm::any_of(forward.getOps<OpaqueOp>(), [](OpaqueOp op) {
           return op.getCallee() == kSavesState;
         });
}
