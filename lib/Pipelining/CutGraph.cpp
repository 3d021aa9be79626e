// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cutting a forward program into stages:
//
//   1. a stage for each op: by its place; what depends on no argument goes
//      where it is read; a write goes where its value is made
//   2. for each value, the stages that read it, backwards from the uses
//   3. for each argument, who has it: every reader, or the first one, which
//      sends it
//   4. a graph a stage: ops are copied in program order
//
// So the ops of a stage keep the order that they have in the whole program,
// and the backward of a stage that of the whole backward. Linear.

#include "cutback/Pipelining/CutGraph.h"

#include "cutback/Analysis/CopyOps.h"
#include "cutback/Autograd/Activity.h"
#include "cutback/Autograd/Differentiate.h"
#include "cutback/Interpreter/Step.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// Stages, ascending.
using StageSet = llvm::SmallVector<unsigned, 2>;

void insert(StageSet &set, unsigned stage) {
  auto *place = llvm::lower_bound(set, stage);
  if (place == set.end() || *place != stage)
    set.insert(place, stage);
}

class Cutter {
public:
  Cutter(GraphOp graph, ArrayRef<unsigned> begins, const CutOptions &options)
      : graph(graph), options(options), view(GraphView::build(graph)),
        numStages(static_cast<unsigned>(begins.size()) + 1),
        names(interpreter::nameStep(graph)), active(findActiveValues(graph)) {
    for (uint32_t op = 0, stage = 0; op < view.numOps(); ++op) {
      while (stage < begins.size() && op >= begins[stage])
        ++stage;
      stageOf.push_back(stage);
    }
  }

  FailureOr<CutProgram> run();

private:
  LogicalResult joinTied();
  LogicalResult placeWrites();
  void findReaders();
  LogicalResult placeArguments();
  LogicalResult checkOptions();
  LogicalResult findCrossing();
  LogicalResult checkCrossing(uint32_t value);
  bool isTransmitted(uint32_t argument);
  StageSet stagesOf(uint32_t op) const;
  unsigned makerOfResult(uint32_t value) const;

  void buildStage(unsigned stage);
  void addArguments(unsigned stage, SmallVectorImpl<Type> &types,
                    SmallVectorImpl<DictionaryAttr> &attrs,
                    SmallVectorImpl<uint32_t> &taken);
  DictionaryAttr argumentAttrs(uint32_t argument);
  DictionaryAttr receivedAttrs(const CrossingValue &value);
  void findResults(unsigned stage, SmallVectorImpl<uint32_t> &values,
                   SmallVectorImpl<Attribute> &resultNames);
  /// The argument that replaces `value`, where they are one tensor.
  uint32_t tensorOf(uint32_t value) const {
    return value < same.size() ? same[value] : value;
  }

  GraphOp graph;
  const CutOptions &options;
  GraphView view;
  unsigned numStages;
  interpreter::StepNames names;
  llvm::DenseSet<Value> active;
  std::vector<uint32_t> same;        ///< by argument
  std::vector<unsigned> stageOf;     ///< by op
  std::vector<uint8_t> isConstant;   ///< by op
  std::vector<StageSet> readers;     ///< by value
  std::vector<StageSet> holders;     ///< by argument: stages that have it
  std::vector<int64_t> crossing;     ///< by value: its number, or -1
  std::vector<uint32_t> crossValues; ///< by number
  CutProgram program;
};

} // namespace

std::vector<uint8_t> cutback::markConstants(const GraphView &view) {
  std::vector<uint8_t> isConstant(view.numOps(), 0);
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    const OpTraits &traits = view.traits[op];
    isConstant[op] = view.numResults(op) && traits.recomputable &&
                     !traits.random && !traits.ordered &&
                     llvm::all_of(view.operands(op), [&](uint32_t v) {
                       return !view.isArg(v) && isConstant[view.definer[v]];
                     });
  }
  return isConstant;
}

//===----------------------------------------------------------------------===//
// Who makes and who reads what
//===----------------------------------------------------------------------===//

/// An input with a gradient is sent, so that one stage has all of that.
bool Cutter::isTransmitted(uint32_t argument) {
  RoleAttr role = graph.getRole(argument);
  if (role.getKind() == RoleKind::Input)
    return active.contains(view.values[argument]);
  if (role.getKind() != RoleKind::Param)
    return false;
  std::string name =
      role.getName() ? role.getName().str() : graph.getArgName(argument).str();
  auto found = options.multiUseOf.find(name);
  MultiUse use =
      found == options.multiUseOf.end() ? options.multiUse : found->second;
  return use == MultiUse::Transmit;
}

/// Tied arguments are one: the first of them, whose gradient is that of all.
LogicalResult Cutter::joinTied() {
  FailureOr<std::vector<unsigned>> tied = findTied(graph);
  if (failed(tied))
    return failure();
  same.assign(tied->begin(), tied->end());
  return success();
}

LogicalResult Cutter::placeWrites() {
  for (uint32_t op = 0; op < view.numOps(); ++op) {
    auto write = dyn_cast<WriteOp>(view.ops[op]);
    if (!write)
      continue;
    uint32_t value = view.operands(op)[1];
    if (uint32_t maker = view.definer[value];
        maker != GraphView::kNone && !isConstant[maker])
      stageOf[op] = stageOf[maker];
  }
  return success();
}

StageSet Cutter::stagesOf(uint32_t op) const {
  if (!isConstant[op])
    return {stageOf[op]};
  StageSet stages;
  for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
    for (unsigned stage : readers[r])
      insert(stages, stage);
  return stages;
}

/// Of a result of the program: the stage that has it.
unsigned Cutter::makerOfResult(uint32_t value) const {
  if (view.isArg(value))
    return holders[tensorOf(value)].empty() ? 0 : holders[tensorOf(value)][0];
  uint32_t op = view.definer[value];
  return isConstant[op] ? numStages - 1 : stageOf[op];
}

void Cutter::findReaders() {
  readers.assign(view.numValues(), {});
  for (uint32_t value : view.results())
    if (!view.isArg(value) && isConstant[view.definer[value]])
      insert(readers[value], numStages - 1);
  for (uint32_t op = view.numOps(); op-- > 0;)
    for (unsigned stage : stagesOf(op))
      for (uint32_t value : view.operands(op))
        insert(readers[tensorOf(value)], stage);
}

/// The stages that have each argument, and what may be asked of written ones.
LogicalResult Cutter::placeArguments() {
  std::vector<uint32_t> writer(view.numArgs, GraphView::kNone);
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (isa<WriteOp>(view.ops[op]))
      writer[view.operands(op)[0]] = op;
  holders.assign(view.numArgs, {});
  for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
    const StageSet &stages = readers[arg];
    bool isWritten = writer[arg] != GraphView::kNone;
    if (stages.empty())
      continue;
    if (isWritten && graph.getRole(arg).getKind() != RoleKind::Buffer) {
      auto diagnostic = view.ops[writer[arg]]->emitError("'")
                        << names.arguments[arg]
                        << "' is written, and is no buffer";
      diagnostic.attachNote(graph.getLoc())
          << "micro-batches would change what was given: write a buffer, or a "
             "copy";
      return diagnostic;
    }
    if (isWritten && stageOf[writer[arg]] != stages.front()) {
      auto diagnostic = view.ops[writer[arg]]->emitError("'")
                        << names.arguments[arg] << "' is written in stage "
                        << stageOf[writer[arg]] << ", and stage "
                        << stages.front() << " reads it before";
      diagnostic.attachNote(graph.getLoc())
          << "of two micro-batches at once the earlier stage would read an old "
             "value: cut where one stage reads and writes it";
      return diagnostic;
    }
    if (isWritten || isTransmitted(arg))
      holders[arg] = {stages.front()};
    else
      holders[arg] = stages;
  }
  // A result that is an argument which nothing reads.
  for (uint32_t value : view.results())
    if (view.isArg(value) && holders[tensorOf(value)].empty())
      holders[tensorOf(value)] = {0};
  return success();
}

LogicalResult Cutter::checkOptions() {
  for (const auto &[name, use] : options.multiUseOf) {
    bool isShared = false;
    std::vector<std::string> shared;
    for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
      RoleAttr role = graph.getRole(arg);
      if (role.getKind() != RoleKind::Param || readers[arg].size() < 2)
        continue;
      shared.push_back(role.getName() ? role.getName().str()
                                      : graph.getArgName(arg).str());
      isShared |= shared.back() == name;
    }
    if (isShared)
      continue;
    auto diagnostic = graph.emitError("no parameter of several stages is "
                                      "called '")
                      << name << "'";
    diagnostic.attachNote()
        << (shared.empty()
                ? std::string("each parameter has one stage")
                : "those of several are " + llvm::join(shared, ", "));
    return diagnostic;
  }
  return success();
}

LogicalResult Cutter::checkCrossing(uint32_t value) {
  auto type = dyn_cast<RankedTensorType>(view.types[value]);
  if (type && type.hasStaticShape())
    return success();
  Operation *op =
      view.isArg(value) ? graph.getOperation() : view.ops[view.definer[value]];
  auto diagnostic = op->emitError("'")
                    << view.name(value) << "' of type " << view.types[value]
                    << " would go from one stage to another"
                    << (type ? ", and its size is not known"
                             : ", and is no tensor");
  diagnostic.attachNote(graph.getLoc())
      << (type ? "give sizes of symbols with --sym, or cut where such a value "
                 "is not read on both sides"
               : "cut where it is not read on both sides");
  return diagnostic;
}

LogicalResult Cutter::findCrossing() {
  crossing.assign(view.numValues(), -1);
  for (uint32_t value = 0; value < view.numValues(); ++value) {
    bool isArg = view.isArg(value);
    if (readers[value].empty() || (!isArg && isConstant[view.definer[value]]))
      continue;
    if (isArg && holders[value].size() == readers[value].size())
      continue;
    unsigned maker = isArg ? holders[value][0] : stageOf[view.definer[value]];
    CrossingValue crossed;
    for (unsigned stage : readers[value])
      if (stage != maker)
        crossed.users.push_back(stage);
    if (crossed.users.empty())
      continue;
    if (failed(checkCrossing(value)))
      return failure();
    crossed.name = view.name(value);
    crossed.maker = maker;
    crossed.type = cast<RankedTensorType>(view.types[value]);
    crossed.hasGradient = active.contains(view.values[value]);
    crossing[value] = static_cast<int64_t>(crossValues.size());
    crossValues.push_back(value);
    program.values.push_back(std::move(crossed));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// As in the model, but: that it takes a gradient is said of each; its name in
/// files is that in the model.
DictionaryAttr Cutter::argumentAttrs(uint32_t argument) {
  Builder builder(graph.getContext());
  NamedAttrList attrs(graph.getArgAttrDict(argument));
  attrs.erase(kRequiresGrad);
  if (active.contains(view.values[argument]))
    attrs.set(kRequiresGrad, builder.getUnitAttr());
  if (!names.arguments[argument].empty())
    attrs.set(interpreter::kFileName,
              builder.getStringAttr(names.arguments[argument]));
  attrs.erase(kTied);
  return attrs.getDictionary(graph.getContext());
}

DictionaryAttr Cutter::receivedAttrs(const CrossingValue &value) {
  Builder builder(graph.getContext());
  NamedAttrList attrs;
  attrs.set(
      JointDialect::kRole,
      RoleAttr::get(graph.getContext(), RoleKind::Input, nullptr, -1, false));
  attrs.set(JointDialect::kName, builder.getStringAttr(value.name));
  attrs.set(interpreter::kFileName,
            builder.getStringAttr(kValuePrefix + value.name));
  if (value.hasGradient)
    attrs.set(kRequiresGrad, builder.getUnitAttr());
  return attrs.getDictionary(graph.getContext());
}

void Cutter::addArguments(unsigned stage, SmallVectorImpl<Type> &types,
                          SmallVectorImpl<DictionaryAttr> &attrs,
                          SmallVectorImpl<uint32_t> &taken) {
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    if (llvm::is_contained(holders[arg], stage)) {
      taken.push_back(arg);
      types.push_back(view.types[arg]);
      attrs.push_back(argumentAttrs(arg));
    }
  for (auto [number, value] : llvm::enumerate(program.values))
    if (llvm::is_contained(value.users, stage)) {
      taken.push_back(crossValues[number]);
      types.push_back(value.type);
      attrs.push_back(receivedAttrs(value));
    }
}

void Cutter::findResults(unsigned stage, SmallVectorImpl<uint32_t> &values,
                         SmallVectorImpl<Attribute> &resultNames) {
  Builder builder(graph.getContext());
  for (auto [i, value] : llvm::enumerate(view.forwardResults()))
    if (makerOfResult(value) == stage) {
      values.push_back(tensorOf(value));
      resultNames.push_back(builder.getStringAttr(names.results[i]));
    }
  for (auto [number, value] : llvm::enumerate(program.values))
    if (value.maker == stage) {
      values.push_back(crossValues[number]);
      resultNames.push_back(builder.getStringAttr(kValuePrefix + value.name));
    }
}

void Cutter::buildStage(unsigned stage) {
  MLIRContext *context = graph.getContext();
  SmallVector<Type> types, resultTypes;
  SmallVector<DictionaryAttr> attrs;
  SmallVector<uint32_t> taken, results;
  SmallVector<Attribute> resultNames;
  addArguments(stage, types, attrs, taken);
  findResults(stage, results, resultNames);
  for (uint32_t value : results)
    resultTypes.push_back(view.types[value]);
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(program.module->getBody());
  auto created =
      GraphOp::create(builder, graph.getLoc(),
                      (graph.getSymName() + "_stage" + Twine(stage)).str(),
                      FunctionType::get(context, types, resultTypes),
                      static_cast<int64_t>(results.size()), attrs);
  created->setDiscardableAttrs(graph->getDiscardableAttrDictionary());
  created->setAttr(interpreter::kResultNames,
                   builder.getArrayAttr(resultNames));
  if (auto symbols = graph.getSymbols())
    created.setSymbolsAttr(*symbols);
  Block &block = created.getBody().emplaceBlock();
  std::vector<Value> copies(view.numValues());
  for (auto [i, value] : llvm::enumerate(taken))
    copies[value] = block.addArgument(types[i], view.values[value].getLoc());
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    copies[arg] = copies[tensorOf(arg)];
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (llvm::is_contained(stagesOf(op), stage))
      block.push_back(copyOp(view, op, copies));
  SmallVector<Value> returned;
  for (uint32_t value : results)
    returned.push_back(copies[value]);
  builder.setInsertionPointToEnd(&block);
  OutputOp::create(builder, view.terminator->getLoc(), returned,
                   builder.getDenseI32ArrayAttr({}));
  program.stages.push_back(created);
}

FailureOr<CutProgram> Cutter::run() {
  if (failed(joinTied()))
    return failure();
  isConstant = markConstants(view);
  if (failed(placeWrites()))
    return failure();
  findReaders();
  if (failed(placeArguments()) || failed(checkOptions()) ||
      failed(findCrossing()))
    return failure();
  for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
    RoleKind kind = graph.getRole(arg).getKind();
    if ((kind == RoleKind::Param || kind == RoleKind::Buffer) &&
        !holders[arg].empty())
      program.state.push_back({names.arguments[arg],
                               {holders[arg].begin(), holders[arg].end()},
                               {}});
  }
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    for (StageState &state : program.state)
      if (same[arg] != arg && state.name == names.arguments[same[arg]])
        state.aliases.push_back(names.arguments[arg]);
  program.module = ModuleOp::create(graph.getLoc());
  for (unsigned stage = 0; stage < numStages; ++stage)
    buildStage(stage);
  return std::move(program);
}

FailureOr<CutProgram> cutback::cutGraph(GraphOp graph,
                                        ArrayRef<unsigned> begins,
                                        const CutOptions &options) {
  return Cutter(graph, begins, options).run();
}
