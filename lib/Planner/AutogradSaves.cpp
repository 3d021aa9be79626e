// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What autograd keeps, counted as hooks on its saved tensors count it.
//
//   1. which values take a gradient: arguments as they are marked, else the
//      floating-point parameters; results of ops that have a derivative by such
//      an operand
//   2. of each op with a derivative that is taken: the tensors that PyTorch's
//      formula reads (AutogradFormulas.inc, made from PyTorch's own table). Our
//      rules read others here and there, so the backward is not asked
//   3. storages of these, each counted once and whole; arguments are there
//      anyway
//
// Every op counts, also where no loss depends on it: autograd does not know yet
// what will be differentiated. A checkpoint region keeps what it reads.
//
// The peak is that of the differentiated graph with the formulas of our own
// rules, op by op, each storage freed after its last reader.

#include "cutback/Planner/AutogradSaves.h"

#include "cutback/Analysis/Layouts.h"
#include "cutback/Analysis/Peak.h"
#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Autograd/Differentiate.h"
#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Support/MLIR/Silence.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cutback;

namespace {

struct Formula {
  const char *op;     ///< "aten.mm.default"
  const char *inputs; ///< parameters with a derivative
  const char *saved;  ///< "self?mat2 =0": see tools/dev/autograd-formulas
};

constexpr Formula kFormulas[] = {
#include "AutogradFormulas.inc"
};

/// Ops that PyTorch makes of others, and the dialect keeps whole: what the
/// others save. "+self" is a tensor of its own of that size; a condition may be
/// a flag of the call. What only moves elements is not here: it saves nothing.
constexpr Formula kComposites[] = {
    {"aten._fused_moving_avg_obs_fq_helper_functional.default", "self", "=1"},
    {"aten._native_batch_norm_legit.default", "input weight bias",
     "input weight running_mean running_var =1 =2"},
    {"aten._native_batch_norm_legit_functional.default", "input weight bias",
     "input weight running_mean running_var =1 =2"},
    {"aten.adaptive_avg_pool1d.default", "self", "self"},
    {"aten.adaptive_avg_pool2d.default", "self", "self"},
    {"aten.adaptive_avg_pool3d.default", "self", "self"},
    {"aten.adaptive_max_pool1d.default", "self", "self =1"},
    {"aten.avg_pool1d.default", "self", "self"},
    {"aten.cdist.default", "x1 x2", "x1 x2 =0"},
    {"aten.frobenius_norm.dim", "self", "self =0"},
    {"aten.kl_div.default", "self target",
     "target?!log_target +target?log_target"},
    {"aten.l1_loss.default", "self target", "+self"},
    {"aten.linalg_norm.default", "self", "self =0"},
    {"aten.log_sigmoid.default", "self", "self"},
    {"aten.max.other", "self other", "self other"},
    {"aten.max_pool1d_with_indices.default", "self", "self =1"},
    {"aten.min.other", "self other", "self other"},
    {"aten.outer.default", "self vec2", "vec2?self self?vec2"},
    {"aten.relu6.default", "self", "self"},
    {"aten.remainder.Scalar_Tensor", "other", "other"},
    {"aten.repeat_interleave.self_Tensor", "self", "repeats"},
    {"aten.selu.default", "self", "self"},
    {"aten.special_ndtr.default", "self", "self"},
    {"aten.square.default", "self", "self"},
    {"aten.std.default", "self", "self =0"},
    {"aten.std.dim", "self", "self =0"},
    {"aten.std_mean.default", "self", "self =0"},
    {"aten.std_mean.dim", "self", "self =0"},
    {"aten.take_along_dim.default", "self", "self indices"},
    {"aten.true_divide.Tensor", "self other", "other self?other"},
    {"aten.var.default", "self", "self"},
    {"aten.var.dim", "self", "self"},
    {"aten.var_mean.default", "self", "self"},
    {"aten.var_mean.dim", "self", "self"},
    {"aten.where.ScalarOther", "self", "condition"},
    {"aten.where.ScalarSelf", "other", "condition"},
};

const Formula *findFormula(StringRef op) {
  for (ArrayRef<Formula> table : {ArrayRef(kFormulas), ArrayRef(kComposites)}) {
    const Formula *row =
        llvm::lower_bound(table, op, [](const Formula &row, StringRef op) {
          return row.op < op;
        });
    if (row != table.end() && op == row->op)
      return row;
  }
  return nullptr;
}

/// By value: the one whose storage PyTorch has it in. ValueSizes takes every
/// reshape for a view; of a transposed tensor it is a copy.
class EagerStorages {
public:
  EagerStorages(const GraphView &view, const ValueSizes &sizes)
      : view(view), sizes(sizes), layouts(view.numValues()) {}

  std::vector<uint32_t> run() {
    for (uint32_t value = 0; value < view.numValues(); ++value)
      storage.push_back(value);
    for (uint32_t arg = 0; arg < view.numArgs; ++arg)
      layOut(arg);
    for (uint32_t op = 0; op < view.numOps(); ++op)
      visit(op);
    return std::move(storage);
  }

private:
  std::optional<ArrayRef<int64_t>> sizesOf(uint32_t value) const {
    auto type = dyn_cast<RankedTensorType>(sizes.type[value]);
    if (!type || !type.hasStaticShape())
      return std::nullopt;
    return type.getShape();
  }

  /// A tensor of its own, by the strides that the program declares.
  void layOut(uint32_t value, Attribute declared = {}) {
    std::optional<ArrayRef<int64_t>> shape = sizesOf(value);
    if (!shape)
      return;
    layouts[value] = Layout::contiguous(*shape);
    auto strides = dyn_cast_or_null<DenseI64ArrayAttr>(declared);
    if (strides && strides.size() == static_cast<int64_t>(shape->size()) &&
        llvm::none_of(strides.asArrayRef(), ShapedType::isDynamic))
      layouts[value]->strides.assign(strides.asArrayRef().begin(),
                                     strides.asArrayRef().end());
  }

  void visit(uint32_t op) {
    uint32_t first = view.resultBegin[op];
    SmallVector<int64_t> numbers;
    for (uint32_t value : view.operands(op))
      numbers.push_back(sizes.number.empty() ? ShapedType::kDynamic
                                             : sizes.number[value]);
    SmallVector<ViewedLayout> found;
    if (layoutsOfViews(
            view.ops[op],
            [&](unsigned operand) -> const Layout * {
              auto &layout = layouts[view.operands(op)[operand]];
              return layout ? &*layout : nullptr;
            },
            [&](unsigned result) { return sizesOf(first + result); }, numbers,
            found)) {
      for (auto [i, viewed] : llvm::enumerate(found)) {
        layouts[first + i] = viewed.layout;
        if (viewed.isOfCopy)
          storage[first + i] = first + i;
        else if (uint32_t base = view.aliasOf[first + i];
                 base != GraphView::kNone)
          storage[first + i] = storage[base];
      }
      return;
    }
    Attribute strides = view.ops[op]->getAttr(joint::JointDialect::kStrides);
    bool isAttention = isFusedAttention(view.ops[op]);
    for (unsigned i = 0; i < view.numResults(op); ++i) {
      auto list = dyn_cast_or_null<ArrayAttr>(strides);
      layOut(first + i, list && i < list.size() ? list[i] : strides);
      if (uint32_t base = view.aliasOf[first + i]; base != GraphView::kNone)
        storage[first + i] = storage[base];
      if (i == 0 && isAttention && layouts[first])
        swapHeads(*layouts[first]);
    }
  }

  static bool isFusedAttention(Operation *op) {
    auto call = dyn_cast<aten::CallOp>(op);
    return call && StringRef(call.getInfo().torchName)
                       .starts_with("aten._scaled_dot_product_");
  }

  /// Fused attention writes heads beside each other, as its readers want them.
  static void swapHeads(Layout &layout) {
    if (layout.sizes.size() != 4)
      return;
    std::swap(layout.sizes[1], layout.sizes[2]);
    layout = Layout::contiguous(layout.sizes);
    std::swap(layout.sizes[1], layout.sizes[2]);
    std::swap(layout.strides[1], layout.strides[2]);
  }

  const GraphView &view;
  const ValueSizes &sizes;
  std::vector<std::optional<Layout>> layouts;
  std::vector<uint32_t> storage;
};

class AutogradCounter {
public:
  AutogradCounter(const GraphView &view, const ValueSizes &sizes,
                  const llvm::StringSet<> &untracked)
      : view(view), sizes(sizes), storages(EagerStorages(view, sizes).run()),
        takesGradient(view.numValues(), 0), isCounted(view.numValues(), 0) {
    findUntracked(untracked);
  }

  AutogradSaves run() {
    enter();
    for (uint32_t op = 0; op < view.numOps(); ++op)
      visit(op);
    return saves;
  }

private:
  void enter() {
    std::vector<uint8_t> isParameter(view.numArgs, 0);
    bool isMarked = false;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
      isCounted[storages[arg]] = 1;
      joint::GraphOp graph = view.graph;
      takesGradient[arg] =
          static_cast<bool>(graph.getArgAttr(arg, kRequiresGrad));
      isMarked |= takesGradient[arg] != 0;
      isParameter[arg] = isFloating(arg) &&
                         graph.getRole(arg).getKind() == joint::RoleKind::Param;
    }
    if (!isMarked)
      llvm::copy(isParameter, takesGradient.begin());
  }

  /// Ops under `no_grad`, and the parts that composite ones were made of: they
  /// serve nothing else.
  void findUntracked(const llvm::StringSet<> &names) {
    isUntracked.assign(view.numOps(), 0);
    if (names.empty())
      return;
    auto isUnderNoGrad = [&](uint32_t value) {
      return names.contains(view.name(value)) ||
             (!view.users(value).empty() &&
              llvm::all_of(view.users(value), [&](uint32_t user) {
                return user < view.numOps() && isUntracked[user];
              }));
    };
    for (uint32_t op = view.numOps(); op-- > 0;)
      if (view.numResults(op))
        isUntracked[op] = llvm::all_of(
            llvm::seq(view.resultBegin[op], view.resultBegin[op + 1]),
            isUnderNoGrad);
  }

  bool isFloating(uint32_t value) const {
    auto type = dyn_cast<RankedTensorType>(view.types[value]);
    return type && isa<FloatType, ComplexType>(type.getElementType());
  }

  void save(uint32_t value) {
    uint32_t storage = storages[value];
    if (isCounted[storage] || sizes.isScalar(value))
      return;
    isCounted[storage] = 1;
    ++saves.storages;
    saves.savedBytes += sizes.bytes[storage];
  }

  void markResults(uint32_t op) {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      takesGradient[r] = isFloating(r);
  }

  void visit(uint32_t op) {
    bool mayTake = llvm::any_of(view.operands(op), [&](uint32_t value) {
      return takesGradient[value];
    });
    if (!mayTake || isUntracked[op])
      return;
    if (auto call = dyn_cast<aten::CallOp>(view.ops[op])) {
      if (const Formula *formula = findFormula(call.getInfo().torchName))
        apply(*formula, call, op);
      else if (moves(call, op))
        markResults(op);
      return;
    }
    markResults(op);
    if (view.traits[op].hasRegions)
      for (uint32_t value : view.operands(op))
        save(value);
  }

  /// Of an op without a formula.
  bool moves(aten::CallOp call, uint32_t op) const {
    for (auto [i, value] : llvm::enumerate(view.operands(op)))
      if (takesGradient[value] && call.canHaveGradient(i))
        return true;
    return false;
  }

  static unsigned countValues(const aten::Arg &arg) {
    unsigned count = arg.isValue();
    for (const aten::Arg &entry : arg.getList())
      count += countValues(entry);
    return count;
  }

  /// The values of `parameter`: several of a list.
  ArrayRef<uint32_t> operandsOf(const aten::CallReader &reader, uint32_t op,
                                StringRef parameter) const {
    int first = reader.operand(parameter);
    return first < 0 ? ArrayRef<uint32_t>()
                     : view.operands(op).slice(
                           first, countValues(reader.arg(parameter)));
  }

  void apply(const Formula &formula, aten::CallOp call, uint32_t op) {
    aten::CallReader reader(call);
    SmallVector<StringRef> inputs, saved;
    StringRef(formula.inputs).split(inputs, ' ', -1, /*KeepEmpty=*/false);
    StringRef(formula.saved).split(saved, ' ', -1, /*KeepEmpty=*/false);
    auto takes = [&](StringRef input) {
      bool isNot = input.consume_front("!");
      if (std::optional<bool> flag = reader.boolean(input))
        return *flag != isNot;
      return llvm::any_of(operandsOf(reader, op, input),
                          [&](uint32_t value) { return takesGradient[value]; });
    };
    if (llvm::none_of(inputs, takes))
      return;
    markResults(op);
    for (StringRef entry : saved) {
      auto [what, condition] = entry.split('?');
      if (condition.empty() || takes(condition))
        keep(what, reader, op);
    }
  }

  /// `what`: "=1", "self", "+self".
  void keep(StringRef what, const aten::CallReader &reader, uint32_t op) {
    unsigned result = 0;
    if (what.consume_front("=")) {
      if (!what.getAsInteger(10, result) && result < view.numResults(op))
        save(view.resultBegin[op] + result);
      return;
    }
    bool isOwn = what.consume_front("+");
    for (uint32_t value : operandsOf(reader, op, what)) {
      if (!isOwn) {
        save(value);
        continue;
      }
      ++saves.storages;
      saves.savedBytes += sizes.bytes[value];
    }
  }

  const GraphView &view;
  const ValueSizes &sizes;
  std::vector<uint32_t> storages;     ///< by value
  std::vector<uint8_t> isUntracked;   ///< by op
  std::vector<uint8_t> takesGradient; ///< by value
  std::vector<uint8_t> isCounted;     ///< by storage
  AutogradSaves saves;
};

} // namespace

llvm::StringSet<> cutback::findUntracked(joint::GraphOp program) {
  llvm::StringSet<> names;
  for (Operation &op : program.getBody().front())
    if (op.hasAttr(joint::kNoGrad))
      for (Value result : op.getResults())
        names.insert(joint::getValueName(result));
  return names;
}

FailureOr<AutogradSaves>
cutback::countAutogradSaves(joint::GraphOp program,
                            const llvm::StringMap<int64_t> &symbols,
                            const llvm::StringSet<> &untracked) {
  GraphView view = GraphView::build(program);
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, symbols);
  if (failed(sizes))
    return failure();
  return AutogradCounter(view, *sizes, untracked).run();
}

LogicalResult
cutback::countAutogradPeak(joint::GraphOp graph, unsigned forwardOps,
                           const llvm::StringMap<int64_t> &symbols,
                           AutogradSaves &saves) {
  GraphView view = GraphView::build(graph);
  FailureOr<ValueSizes> sizes = ValueSizes::compute(view, symbols);
  if (failed(sizes))
    return failure();
  Halves halves; // of the program and its backward
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    halves.forwardArgs.push_back(arg);
  std::vector<uint8_t> isSaved(view.numValues(), 0);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    bool isForward = op < forwardOps;
    (isForward ? halves.forwardOps : halves.backwardOps).push_back(op);
    if (isForward)
      continue;
    for (uint32_t value : view.operands(op))
      if (uint32_t def = view.definer[value];
          def < forwardOps && !isSaved[value] && !sizes->isScalar(value)) {
        isSaved[value] = 1;
        halves.savedTensors.push_back(value);
      }
  }
  saves.peakBytes =
      std::max(saves.savedBytes,
               simulateStep(view, halves, sizes->bytes, sizes->storage).bytes);
  return success();
}

void EagerCount::countSaves(joint::GraphOp program,
                            const llvm::StringSet<> &untracked) {
  Silence silence(*program.getContext());
  FailureOr<AutogradSaves> counted =
      countAutogradSaves(program, symbols, untracked);
  if (succeeded(counted))
    saves = *counted;
}

void EagerCount::countPeak(joint::GraphOp graph, unsigned forwardOps) {
  Silence silence(*graph.getContext());
  (void)countAutogradPeak(graph, forwardOps, symbols, *saves);
}
