// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver of decompositions: a walk over each block; an op with a rule is
// replaced by what the rule builds in front of it, and the walk goes on at the
// first new op, since rules may use composite ops themselves. No rule leads
// back to its own op, so this ends.
//
// A replacement must have the types of what it replaces, but for sizes that
// only one of the two knows; anything else is an error of the rule.

#include "cutback/Decompose/Composites.h"

#include "CoreRules.h"
#include "Replacement.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/RuleErrors.h"
#include "cutback/Dialect/Aten/SizedCall.h"
#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cutback;

void cutback::registerAtenDecompositions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, aten::AtenDialect *dialect) {
    aten::addDecomposeRules(*dialect, {
#define ATEN_RULE_OF(op, rule) {op, decompose::decompositions::rule},
#include "cutback/Dialect/Aten/AtenDecompositions.inc"
                                      });
  });
}

/// Fails, with an error, if `value` cannot stand for `result`.
static LogicalResult checkResult(OpResult result, Value value) {
  if (!value) {
    if (result.use_empty())
      return success();
    return result.getOwner()->emitError("the decomposition leaves out a result "
                                        "that is used");
  }
  Type declared = result.getType(), built = value.getType();
  auto from = dyn_cast<RankedTensorType>(built);
  auto to = dyn_cast<RankedTensorType>(declared);
  bool fits = declared == built || isa<NoneType>(declared) ||
              (from && to && from.getElementType() == to.getElementType() &&
               succeeded(verifyCompatibleShape(from, to)));
  if (fits)
    return success();
  return result.getOwner()->emitError("the decomposition gives type ")
         << built << ", not " << declared;
}

/// `value` stands for `result` from now on.
static void replaceResult(OpResult result, Value value) {
  if (!value)
    return;
  auto from = dyn_cast<RankedTensorType>(value.getType());
  auto to = dyn_cast<RankedTensorType>(result.getType());
  // What either knows of the sizes.
  if (from && to && from != to && value.getDefiningOp()) {
    SmallVector<int64_t> shape(to.getShape());
    for (auto [size, other] : llvm::zip_equal(shape, from.getShape()))
      if (ShapedType::isDynamic(size))
        size = other;
    value.setType(RankedTensorType::get(shape, to.getElementType()));
  }
  result.replaceAllUsesWith(value);
}

/// A rule leaves the operand of what gives a view of all its elements. As a
/// tensor of its own the view may be shown otherwise in place. (dropout gives
/// its operand in PyTorch too.)
static bool isViewOfAll(Operation *op, ArrayRef<Value> results) {
  StringRef packet = cast<aten::CallOp>(op).getSchema().packet;
  return (packet == "aten.einsum" || packet == "aten.cartesian_prod") &&
         llvm::is_contained(op->getOperands(), results.front());
}

namespace {
/// What becomes of an op whose rule fails.
enum class OnFailure {
  Stop, ///< with the error of the rule
  Keep, ///< it stays, and nothing is said
};
} // namespace

/// Builds what stands for `op`, one value a result.
static LogicalResult buildReplacement(Operation *op, aten::DecomposeFn build,
                                      Replacement &heirs,
                                      SmallVectorImpl<Value> &results) {
  auto call = cast<aten::CallOp>(op);
  if (failed(aten::runRule(
          call,
          "call run_decompositions() on the program before it is saved, or "
          "write the op in terms of others",
          [&] { return build(call, heirs.builder, results); })))
    return failure();
  if (isViewOfAll(op, results)) {
    aten::CallBuilder calls(heirs.builder, op->getLoc());
    results.assign({calls.call(aten::op::alias, {results.front()})});
  }
  heirs.settle(results);
  results.resize(op->getNumResults());
  for (OpResult result : op->getResults())
    if (failed(checkResult(result, results[result.getResultNumber()])))
      return failure();
  return success();
}

/// Replaces `op`; the op to go on with, nothing after an error.
static FailureOr<Operation *> replaceByRule(Operation *op,
                                            aten::DecomposeFn build,
                                            aten::ValueNamer &namer,
                                            OnFailure onFailure) {
  Replacement heirs(op, namer);
  SmallVector<Value> results;
  std::optional<ScopedDiagnosticHandler> silence;
  if (onFailure == OnFailure::Keep)
    silence.emplace(op->getContext(), [](Diagnostic &) {});
  if (failed(buildReplacement(op, build, heirs, results))) {
    if (onFailure == OnFailure::Stop)
      return failure();
    for (Operation *built : llvm::reverse(heirs.getOps()))
      built->erase();
    return op->getNextNode();
  }
  for (OpResult result : op->getResults())
    replaceResult(result, results[result.getResultNumber()]);
  Operation *next =
      heirs.getOps().empty() ? op->getNextNode() : heirs.getOps().front();
  op->erase();
  return next;
}

/// Replaces every op that `ruleOf` has a rule for, and what rules build.
static LogicalResult
applyRules(Operation *root,
           llvm::function_ref<aten::DecomposeFn(Operation *)> ruleOf,
           OnFailure onFailure = OnFailure::Stop) {
  aten::ValueNamer namer(root);
  SmallVector<Block *> blocks;
  root->walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks) {
    Operation *op = block->empty() ? nullptr : &block->front();
    while (op) {
      aten::DecomposeFn build = ruleOf(op);
      if (!build) {
        op = op->getNextNode();
        continue;
      }
      FailureOr<Operation *> next = replaceByRule(op, build, namer, onFailure);
      if (failed(next))
        return failure();
      op = *next;
    }
  }
  if (auto graph = dyn_cast<joint::GraphOp>(root))
    updateResultTypes(graph);
  return success();
}

LogicalResult cutback::decomposeComposites(joint::GraphOp graph) {
  return applyRules(graph, [](Operation *op) {
    return aten::getDecomposeRule(op->getName());
  });
}

FailureOr<bool>
cutback::decomposeOnly(Operation *root,
                       llvm::function_ref<bool(Operation *)> isMeant) {
  bool isAny = false;
  auto ruleOf = [&](Operation *op) -> aten::DecomposeFn {
    aten::DecomposeFn rule = aten::getDecomposeRule(op->getName());
    if (!rule || !isMeant(op))
      return nullptr;
    isAny = true;
    return rule;
  };
  if (failed(applyRules(root, ruleOf)))
    return failure();
  return isAny;
}

/// PyTorch gives a view, or the operand itself, where the schema says nothing.
static bool hidesView(Operation *op) {
  auto call = dyn_cast<aten::CallOp>(op);
  if (!call)
    return false;
  StringRef packet = call.getSchema().packet;
  aten::CallReader reader(call);
  if (packet.ends_with("dropout"))
    return reader.boolean("train") == false || reader.number("p") == 0.0;
  if (packet == "aten.einsum" || packet == "aten.cartesian_prod")
    return reader.list("tensors").size() == 1;
  return llvm::is_contained(
      {"aten.adjoint", "aten.mH", "aten.matrix_H", "aten.meshgrid",
       "aten.broadcast_tensors", "aten.unsafe_split",
       "aten.unsafe_split_with_sizes", "aten.unsafe_chunk"},
      packet);
}

LogicalResult cutback::decomposeHiddenViews(joint::GraphOp graph) {
  return applyRules(graph, [](Operation *op) -> aten::DecomposeFn {
    return hidesView(op) ? aten::getDecomposeRule(op->getName()) : nullptr;
  });
}

namespace {

/// The rules of the second level, and all of them.
class CoreRules {
  using Rules = llvm::DenseMap<OperationName, const decompose::CoreRule *>;
  using Row = std::pair<const char *, const decompose::CoreRule *>;

public:
  explicit CoreRules(MLIRContext *context) {
    namespace units = decompose::units;
    namespace forms = decompose::forms;
    static constexpr Row ofUnits[] = {
#define ATEN_RULE_OF(op, rule) {op, &units::rule},
#include "cutback/Dialect/Aten/AtenCoreUnits.inc"
    };
    static constexpr Row ofForms[] = {
#define ATEN_RULE_OF(op, rule) {op, &forms::rule},
#include "cutback/Dialect/Aten/AtenCoreForms.inc"
    };
    const aten::SchemaTable &schemas = aten::SchemaTable::get(context);
    auto add = [&](Rules &rules, ArrayRef<Row> rows) {
      for (auto [torchName, rule] : rows)
        if (const aten::Schema *schema = schemas.lookup(torchName))
          rules[schema->op] = rule;
    };
    add(unitRules, ofUnits);
    add(formRules, ofForms);
  }

  /// Of the second level, for graphs that anybody's rules decide on.
  aten::DecomposeFn ofUnit(Operation *op) const { return find(unitRules, op); }

  /// Null for an op on the list of core ops: it has an element formula or is a
  /// view, which no condition of a rule excepts, or no rule takes it apart.
  aten::DecomposeFn of(Operation *op) const {
    if (aten::DecomposeFn rule = decompose::findEmptyRule(op))
      return rule;
    aten::DecomposeFn rule = ofUnit(op);
    if (!rule)
      rule = find(formRules, op);
    if (!rule)
      rule = aten::getDecomposeRule(op->getName());
    const decompose::CoreRule *form = formRules.lookup(op->getName());
    if (rule && form && form->applies && form->build == rule)
      return rule;
    if (!rule || (op->getNumResults() && getViewedOperand(op, 0) >= 0))
      return nullptr;
    return hasElement(op) ? nullptr : rule;
  }

private:
  /// Where sizes are known: kernels are formed there.
  static bool hasElement(Operation *op) {
    if (aten::SizedCall::takesSizes(op))
      return aten::SizedCall(cast<aten::CallOp>(op)).get().hasElement();
    auto lowerable = dyn_cast<joint::LowerableOpInterface>(op);
    return lowerable && lowerable.hasElement();
  }

  static aten::DecomposeFn find(const Rules &rules, Operation *op) {
    const decompose::CoreRule *rule = rules.lookup(op->getName());
    bool applies =
        rule && (!rule->applies || rule->applies(cast<aten::CallOp>(op)));
    return applies ? rule->build : nullptr;
  }

  Rules unitRules, formRules;
};

} // namespace

LogicalResult cutback::decomposeToCore(joint::GraphOp graph) {
  CoreRules rules(graph.getContext());
  return applyRules(graph, [&](Operation *op) { return rules.ofUnit(op); });
}

bool cutback::isOnCoreList(Operation *root,
                           llvm::function_ref<bool(Operation *)> mayStay) {
  CoreRules rules(root->getContext());
  return !root->walk([&](Operation *op) {
                return rules.of(op) && !mayStay(op) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
              })
              .wasInterrupted();
}

void cutback::decomposeToCoreList(
    Operation *root, llvm::function_ref<bool(Operation *)> mayStay) {
  CoreRules rules(root->getContext());
  auto ruleOf = [&](Operation *op) -> aten::DecomposeFn {
    aten::DecomposeFn rule = rules.of(op);
    return rule && !mayStay(op) ? rule : nullptr;
  };
  // What fails is kept, so there is no failure.
  (void)applyRules(root, ruleOf, OnFailure::Keep);
}

/// The first op of `graph`, regions too, that is one; null if none is.
static Operation *findOp(joint::GraphOp graph,
                         llvm::function_ref<bool(Operation *)> is) {
  Operation *found = nullptr;
  graph->walk<WalkOrder::PreOrder>([&](Operation *op) {
    found = op != graph && is(op) ? op : nullptr;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

Operation *cutback::findComposite(joint::GraphOp graph) {
  return findOp(graph, [](Operation *op) {
    return aten::getDecomposeRule(op->getName()) != nullptr;
  });
}

Operation *cutback::findNotCore(joint::GraphOp graph) {
  CoreRules rules(graph.getContext());
  return findOp(graph,
                [&](Operation *op) { return rules.ofUnit(op) != nullptr; });
}
