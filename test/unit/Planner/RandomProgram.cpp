// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// (1) arguments: parameters of small shapes, some with the symbolic size s0,
// buffers, indices, a size, two tangents; (2) forward ops on a pool of values,
// with writes of buffers in between; (3) two forward results; (4) backward ops,
// whose pool also has the tangents; (5) a gradient for each parameter.

#include "RandomProgram.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Dialect/Joint/Hook.h"
#include "cutback/Dialect/Joint/Nested.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;
using namespace cutback::interpreter;
using namespace cutback::test;

RandomProgram::RandomProgram(uint64_t seed, const RandomProgramOptions &options,
                             MLIRContext &context)
    : random(seed), options(options), builder(&context) {}

void RandomProgram::addArgument(const std::string &name,
                                const std::string &role, Type type,
                                ArrayRef<int64_t> known) {
  std::string text = "{joint.role = #joint.role<" + role + ">";
  if (auto tensor = dyn_cast<RankedTensorType>(type);
      tensor && !tensor.hasStaticShape()) {
    text += ", joint.dims = [";
    for (auto [i, size] : llvm::enumerate(tensor.getShape()))
      text += (i ? ", \"" : "\"") +
              (ShapedType::isDynamic(size) ? "s0" : std::to_string(size)) +
              "\"";
    text += "]";
  } else if (type.isIndex()) {
    text += ", joint.dims = [\"s0\"]";
  }
  text += ", joint.name = \"" + name + "\"}";
  argAttrs.push_back(
      cast<DictionaryAttr>(parseAttribute(text, builder.getContext())));
  Value argument = graph.getBlock().addArgument(type, builder.getUnknownLoc());
  if (type.isIndex())
    ints[argument] = options.size;
  else
    sizes[argument] = Sizes(known);
}

void RandomProgram::addArguments() {
  Type f32 = builder.getF32Type();
  auto tensor = [&](ArrayRef<int64_t> shape, const std::string &name,
                    const std::string &role) {
    Sizes known(shape);
    for (int64_t &size : known)
      size = ShapedType::isDynamic(size) ? options.size : size;
    addArgument(name, role, RankedTensorType::get(shape, f32), known);
    return graph.getBlock().getArguments().back();
  };
  static const int64_t kSizes[] = {2, 4, 4, 4, 6, ShapedType::kDynamic};
  for (unsigned i = 0; i < options.numParams; ++i) {
    SmallVector<int64_t> shape;
    for (unsigned d = 0, rank = 1 + pick(3); d < rank; ++d)
      shape.push_back(kSizes[pick(5)]);
    std::string name = "p" + std::to_string(i);
    params.push_back(tensor(shape, name, "param \"" + name + "\""));
  }
  for (unsigned i = 0; i < options.numBuffers; ++i) {
    std::string name = "b" + std::to_string(i);
    buffers.push_back(tensor({4, 4}, name, "buffer \"" + name + "\""));
  }
  int64_t any = ShapedType::kDynamic;
  Value x = tensor({any, 4}, "x", "input");
  Value y = tensor({any, 4, 6}, "y", "input");
  addArgument("ids", "input",
              RankedTensorType::get({any}, builder.getI64Type()),
              {options.size});
  ids = graph.getBlock().getArguments().back();
  addArgument("s", "size", builder.getIndexType(), {});
  sizeArg = graph.getBlock().getArguments().back();
  lossTangent = tensor({}, "t0", "tangent of 0");
  tangent = tensor({any, 4}, "t1", "tangent of 1");
  pool = params;
  pool.insert(pool.end(), {x, y});
  writtenInForward.assign(buffers.size(), false);
}

void RandomProgram::keep(ArrayRef<Value> results) {
  if (results.empty() || call->failed())
    return;
  Operation *op = results.front().getDefiningOp();
  SmallVector<Type> operandTypes, types;
  SmallVector<int64_t> operandInts, resultInts;
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      type = RankedTensorType::get(sizes[operand], tensor.getElementType());
    operandTypes.push_back(type);
    auto known = ints.find(operand);
    operandInts.push_back(known == ints.end() ? ShapedType::kDynamic
                                              : known->second);
  }
  auto evaluation = cast<joint::SizeEvaluationOpInterface>(op);
  if (!evaluation.evaluateSizes(operandTypes, operandInts, types, resultInts))
    return;
  for (auto [value, type, number] :
       llvm::zip(op->getResults(), types, resultInts)) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      sizes[value] = Sizes(tensor.getShape());
      bool isSmall = tensor.hasStaticShape() && tensor.getNumElements() > 0 &&
                     tensor.getNumElements() <= 4096;
      if (isSmall && tensor.getElementType().isF32())
        pool.push_back(value);
    } else {
      ints[value] = number;
    }
  }
}

Value RandomProgram::anyTensor(int64_t minRank, int64_t maxRank) {
  for (unsigned attempt = 0; attempt < 20; ++attempt) {
    unsigned n = static_cast<unsigned>(pool.size());
    Value value = pool[chance(70) ? n - 1 - pick(std::min(n, 10u)) : pick(n)];
    int64_t rank = rankOf(value);
    if (rank >= minRank && rank <= maxRank)
      return value;
  }
  return {};
}

Value RandomProgram::sameType(Value like) {
  std::vector<Value> found;
  for (Value value : pool)
    if (value.getType() == like.getType() && sizes[value] == sizes[like])
      found.push_back(value);
  return found[found.size() - 1 -
               pick(std::min<unsigned>(unsigned(found.size()), 8))];
}

void RandomProgram::addPointwise() {
  static const char *kUnary[] = {"aten.sin.default",     "aten.tanh.default",
                                 "aten.relu.default",    "aten.abs.default",
                                 "aten.sigmoid.default", "aten.neg.default",
                                 "aten.cos.default",     "aten.gelu.default",
                                 "aten.silu.default",    "aten.erf.default"};
  static const char *kBinary[] = {"aten.add.Tensor", "aten.mul.Tensor",
                                  "aten.sub.Tensor", "aten.maximum.default"};
  Value a = anyTensor();
  if (!a)
    return;
  switch (pick(5)) {
  case 0:
    return keep(call->call(kUnary[pick(10)], {a}));
  case 1:
    return keep(call->call(kBinary[pick(3)], {a, 0.5 + pick(3)}));
  case 2: {
    Value mask = call->call("aten.gt.Scalar", {a, 0.25});
    keep(mask);
    return keep(call->call("aten.where.self", {mask, a, sameType(a)}));
  }
  case 3: {
    // Another type, and back.
    Value half = call->call("aten._to_copy.default", {a},
                            {{"dtype", builder.getBF16Type()}});
    keep(half);
    return keep(call->call("aten._to_copy.default", {half},
                           {{"dtype", builder.getF32Type()}}));
  }
  default:
    return keep(call->call(kBinary[pick(4)], {a, sameType(a)}));
  }
}

void RandomProgram::addProduct() {
  Value a = anyTensor(2, 3);
  if (!a)
    return;
  int64_t rank = rankOf(a);
  // a transposed fits a.
  Value t = call->call("aten.transpose.int", {a, rank - 2, rank - 1});
  keep(t);
  Value b = sameType(a);
  keep(rank == 2 ? call->call("aten.mm.default", {t, b})
                 : call->call("aten.bmm.default", {t, b}));
}

void RandomProgram::addReduction() {
  Value a = anyTensor(1, 4);
  if (!a)
    return;
  int64_t dim = static_cast<int64_t>(pick(unsigned(rankOf(a))));
  bool keepDim = chance(60);
  switch (pick(4)) {
  case 0:
    return keep(call->call("aten.sum.dim_IntList", {a, {dim}, keepDim}));
  case 1:
    return keep(call->call("aten.mean.dim", {a, {dim}, keepDim}));
  case 2:
    return keep(call->call("aten.amax.default", {a, {dim}, keepDim}));
  default:
    return keep(call->call("aten.sum.default", {a}));
  }
}

void RandomProgram::addManyResults() {
  Value a = anyTensor(1, 3);
  if (!a)
    return;
  int64_t last = rankOf(a) - 1;
  switch (pick(5)) {
  case 0:
    return keep(call->callMany("aten.max.dim", {a, last, chance(50)}));
  case 1:
    return keep(call->callMany("aten.var_mean.correction", {a, {last}},
                               {{"correction", 0}, {"keepdim", true}}));
  case 2:
    return keep(call->callMany("aten.sort.default", {a, last}));
  case 3:
    if (!ShapedType::isDynamic(shapeOf(a)[last]) && sizesOf(a)[last] >= 2)
      return keep(call->callMany("aten.split_with_sizes.default",
                                 {a, {1, sizesOf(a)[last] - 1}, last}));
    return;
  default:
    return keep(
        call->callMany("aten.native_layer_norm.default",
                       {a, {call->size(a, last)}, nullptr, nullptr, 1e-5}));
  }
}

void RandomProgram::addView() {
  Value a = anyTensor(1, 3);
  if (!a)
    return;
  int64_t rank = rankOf(a), dim = pick(unsigned(rank));
  switch (pick(6)) {
  case 0: {
    std::vector<Arg> order;
    for (int64_t d = 0; d < rank; ++d)
      order.emplace_back((d + 1) % rank);
    return keep(call->call("aten.permute.default", {a, order}));
  }
  case 1:
    return keep(call->call("aten.slice.Tensor", {a, dim, 1}));
  case 2:
    return keep(call->call("aten.select.int", {a, dim, -1}));
  case 3:
    return keep(call->call("aten.unsqueeze.default", {a, dim}));
  case 4: {
    // Flattened, which is a copy if `a` is transposed.
    Arg count = call->numel(a);
    if (count.isValue())
      keep(count.getValue());
    return keep(call->call("aten.view.default", {a, {-1}}));
  }
  default: {
    Value wide = call->call("aten.unsqueeze.default", {a, 0});
    keep(wide);
    std::vector<Arg> shape(size_t(rank) + 1, Arg(-1));
    shape.front() = Arg(2);
    return keep(call->call("aten.expand.default", {wide, shape}));
  }
  }
}

void RandomProgram::addGather() {
  Value a = anyTensor(1, 2);
  if (!a || sizesOf(a)[0] < 2)
    return;
  // The indices are 0 or 1.
  switch (pick(3)) {
  case 0:
    return keep(call->call("aten.index_select.default", {a, 0, ids}));
  case 1:
    if (rankOf(a) == 2)
      return keep(call->call("aten.embedding.default", {a, ids}));
    return;
  default: {
    Value rows = call->call("aten.index.Tensor", {a, {Arg(ids)}});
    keep(rows);
    return keep(
        call->call("aten.index_put.default", {a, {Arg(ids)}, rows, true}));
  }
  }
}

void RandomProgram::addCreation() {
  if (chance(50))
    return keep(call->call("aten.full.default", {{sizeArg, 4}, 0.75},
                           {{"dtype", builder.getF32Type()}}));
  if (Value a = anyTensor())
    keep(call->call("aten.zeros_like.default", {a}));
}

void RandomProgram::addRandom() {
  Value a = anyTensor(1, 3);
  if (!a)
    return;
  if (chance(50))
    return keep(call->call("aten.rand_like.default", {a}));
  keep(call->callMany("aten.native_dropout.default", {a, 0.5, true}));
}

void RandomProgram::addJoining() {
  if (Value a = anyTensor(1, 3))
    keep(call->call("aten.cat.default", {{Arg(a), Arg(sameType(a))}, 0}));
}

/// How many elements there are, only a run tells; what they come to has a size
/// that is known.
void RandomProgram::addUnknown() {
  Value a = anyTensor(1, 3);
  if (!a)
    return;
  auto add = [&](Value value) {
    keep(value);
    return value;
  };
  Value mask = add(call->call("aten.gt.Scalar", {a, 0.0}));
  if (chance(40)) {
    Value some = add(call->call("aten.masked_select.default", {a, mask}));
    Value next = add(call->call("aten.sin.default", {some}));
    return keep(call->call("aten.sum.default", {next}));
  }
  Value places = add(call->call("aten.nonzero.default", {mask}));
  if (chance(30)) {
    // As many of the rows of `a` as there are places, a view.
    Value count = call->size(places, 0).getValue();
    keep(count);
    Value some = add(call->call("aten.slice.Tensor", {a, 0, 0, Arg(count)}));
    return keep(call->call("aten.sum.dim_IntList", {some, {0}, false}));
  }
  Value rows = add(call->call("aten.select.int", {places, 1, 0}));
  Value some = add(call->call("aten.index.Tensor", {a, {Arg(rows)}}));
  keep(call->call("aten.sum.dim_IntList", {some, {0}, false}));
}

/// Of a tensor of the program, whose elements may be of use to nobody then; and
/// a number that is made with one or two of them, or a view by it.
void RandomProgram::addSizes() {
  auto anySize = [&]() -> Value {
    if (!sizeValues.empty() && chance(40))
      return sizeValues[pick(unsigned(sizeValues.size()))];
    Value of = anyTensor(1, 4);
    if (!of)
      return {};
    Value size =
        call->call("aten.sym_size.int", {of, pick(unsigned(rankOf(of)))});
    keep(size);
    sizeValues.push_back(size);
    return size;
  };
  Value a = anyTensor(1, 3), n = anySize(), m = anySize();
  if (!a || !n || !m || call->failed())
    return;
  if (chance(30)) {
    Value more = call->call("operator.mul", {n, m});
    keep(more);
    n = more;
  }
  if (chance(60)) {
    Value number = call->call("operator.truediv", {n, chance(50) ? Arg(m) : 3});
    keep(number);
    return keep(call->call("aten.mul.Tensor", {a, number}));
  }
  if (chance(50))
    return keep(call->call("aten.add.Tensor", {a, n}));
  // All of its elements, by a size that is its own.
  Value own = call->call("aten.sym_size.int", {a, 0});
  keep(own);
  keep(call->call("aten.view.default", {a, {Arg(own), -1}}));
}

Value RandomProgram::addInside(CallBuilder &inside, ArrayRef<Value> values) {
  auto any = [&] { return values[pick(unsigned(values.size()))]; };
  Value a = any();
  switch (pick(5)) {
  case 0:
    return inside.call("aten.tanh.default", {a});
  case 1:
    return inside.call("aten.sin.default", {a});
  case 2:
    return inside.call("aten.mul.Tensor", {a, any()});
  case 3:
    return inside.call("aten.add.Tensor", {a, any()});
  default: {
    if (rankOf(a) == 0)
      return inside.call("aten.mul.Tensor", {a, 0.5});
    Value sum = inside.call("aten.sum.dim_IntList", {a, {-1}, true});
    return inside.call("aten.sub.Tensor", {a, sum});
  }
  }
}

void RandomProgram::fillGraph(Region &graph, Value like, bool isScan) {
  Block &block = graph.emplaceBlock();
  Location loc = builder.getUnknownLoc();
  SmallVector<Value> values = {block.addArgument(like.getType(), loc),
                               block.addArgument(like.getType(), loc)};
  OpBuilder at = OpBuilder::atBlockEnd(&block);
  CallBuilder inside(at, loc, namer.get());
  for (unsigned i = 0, count = pick(7); i < count && !inside.failed(); ++i)
    values.push_back(addInside(inside, values));
  SmallVector<Value> results = {values.back()};
  if (isScan)
    results.push_back(values[values.size() / 2]);
  joint::ReturnOp::create(at, loc, results, DenseBoolArrayAttr());
}

void RandomProgram::addBranch(Value a, Value b) {
  Value sum = call->call("aten.sum.default", {a});
  keep(sum);
  Value flag = call->call("aten.gt.Scalar", {sum, 0.0});
  keep(flag);
  Builder &attributes = builder;
  auto operand = joint::OperandAttr::get(builder.getContext());
  auto graph = [&](StringRef name) {
    return FlatSymbolRefAttr::get(builder.getContext(), name);
  };
  auto cond = joint::NestedOp::create(
      builder, builder.getUnknownLoc(), TypeRange(a.getType()),
      attributes.getStringAttr("higher_order.cond"), ValueRange{flag, a, b},
      attributes.getArrayAttr({operand, graph("yes"), graph("no"),
                               attributes.getArrayAttr({operand, operand})}),
      ArrayAttr(), attributes.getUnitAttr(), ArrayAttr(), 2);
  for (Region &region : cond.getGraphs())
    fillGraph(region, a, /*isScan=*/false);
  sizes[cond.getResult(0)] = Sizes(sizes[a]);
  pool.push_back(cond.getResult(0));
}

/// Over the first dimension of `a`.
void RandomProgram::addScan(Value a) {
  Value first = call->call("aten.select.int", {a, 0, 0});
  keep(first);
  if (call->failed())
    return;
  auto operand = joint::OperandAttr::get(builder.getContext());
  ArrayAttr one = builder.getArrayAttr({operand});
  auto scan = joint::NestedOp::create(
      builder, builder.getUnknownLoc(), TypeRange{first.getType(), a.getType()},
      builder.getStringAttr("higher_order.scan"), ValueRange{first, a},
      builder.getArrayAttr(
          {FlatSymbolRefAttr::get(builder.getContext(), "combine"), one, one,
           builder.getArrayAttr({})}),
      ArrayAttr(), builder.getUnitAttr(), ArrayAttr(), 1);
  fillGraph(scan.getGraphs().front(), first, /*isScan=*/true);
  sizes[scan.getResult(0)] = Sizes(sizes[first]);
  sizes[scan.getResult(1)] = Sizes(sizes[a]);
  llvm::append_range(pool, scan.getResults());
}

void RandomProgram::addNested() {
  Value a = anyTensor(1, 3);
  if (!a || call->failed() ||
      !cast<RankedTensorType>(a.getType()).hasStaticShape())
    return;
  if (chance(60))
    addBranch(a, sameType(a));
  else
    addScan(a);
}

void RandomProgram::writeBuffer(bool inBackward) {
  size_t i = pick(unsigned(buffers.size()));
  if (inBackward && writtenInForward[i])
    return;
  writtenInForward[i] = writtenInForward[i] || !inBackward;
  Value buffer = buffers[i];
  if (Value a = anyTensor()) {
    Value sum = call->call("aten.sum.default", {a});
    keep(sum);
    Value next = call->call("aten.add.Tensor", {buffer, sum});
    keep(next);
    if (call->failed())
      return;
    joint::WriteOp::create(
        builder, builder.getUnknownLoc(), buffer.getType(), buffer, next,
        inBackward ? joint::Side::Backward : joint::Side::Forward,
        builder.getStrArrayAttr({namer->next("copy_").getValue()}));
  }
  // A read behind the write sees the new value.
  if (chance(50))
    keep(call->call("aten.mul.Tensor", {buffer, 0.5}));
}

void RandomProgram::addOps(unsigned count, bool inBackward) {
  static constexpr void (RandomProgram::*kKinds[])() = {
      &RandomProgram::addPointwise,   &RandomProgram::addPointwise,
      &RandomProgram::addPointwise,   &RandomProgram::addPointwise,
      &RandomProgram::addProduct,     &RandomProgram::addReduction,
      &RandomProgram::addManyResults, &RandomProgram::addView,
      &RandomProgram::addView,        &RandomProgram::addGather,
      &RandomProgram::addCreation,    &RandomProgram::addJoining,
  };
  for (unsigned i = 0; i < count && !call->failed(); ++i) {
    if (options.percentUnknown && chance(options.percentUnknown))
      addUnknown();
    else if (options.percentSizes && chance(options.percentSizes))
      addSizes();
    else if (options.percentNested && chance(options.percentNested))
      addNested();
    else if (chance(options.percentRandom))
      addRandom();
    else if (!buffers.empty() && chance(options.percentWrite))
      writeBuffer(inBackward);
    else
      (this->*kKinds[pick(std::size(kKinds))])();
  }
}

OwningOpRef<ModuleOp> RandomProgram::build() {
  Location loc = builder.getUnknownLoc();
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  graph =
      joint::GraphOp::create(builder, loc, "g", builder.getFunctionType({}, {}),
                             0, ArrayRef<DictionaryAttr>());
  graph.getBody().emplaceBlock();
  namer = std::make_unique<ValueNamer>(graph);
  call = std::make_unique<CallBuilder>(builder, loc, namer.get());
  addArguments();
  builder.setInsertionPointToEnd(&graph.getBlock());

  addOps(options.numForward, /*inBackward=*/false);
  Value x = pool[params.size()];
  Value scale = call->call("aten.sum.default", {pool.back()});
  keep(scale);
  Value second = call->call("aten.mul.Tensor", {x, scale});
  keep(second);
  Value loss = call->call("aten.sum.default", {second});
  keep(loss);

  pool.insert(pool.end(), {lossTangent, tangent});
  keep(call->call("aten.mul.Tensor", {tangent, second}));
  keep(call->call("aten.mul.Tensor", {x, lossTangent}));
  addOps(options.numBackward, /*inBackward=*/true);
  SmallVector<Value> outputs = {loss, second};
  SmallVector<int32_t> gradientOf;
  for (auto [i, param] : llvm::enumerate(params)) {
    unsigned n = static_cast<unsigned>(pool.size());
    Value sum =
        call->call("aten.sum.default", {pool[n - 1 - pick(std::min(n, 12u))]});
    Value seeded = call->call("aten.mul.Tensor", {sum, lossTangent});
    outputs.push_back(call->call("aten.mul.Tensor", {param, seeded}));
    gradientOf.push_back(static_cast<int32_t>(i));
  }
  if (call->failed())
    return {};
  joint::OutputOp::create(builder, loc, outputs, gradientOf);
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  graph.setFunctionTypeAttr(TypeAttr::get(
      builder.getFunctionType(graph.getBlock().getArgumentTypes(), types)));
  graph.setNumForwardResults(2);
  graph.setArgAttrsAttr(builder.getArrayAttr(
      SmallVector<Attribute>(argAttrs.begin(), argAttrs.end())));
  graph.setSymbolsAttr(cast<DictionaryAttr>(parseAttribute(
      "{s0 = #joint.symbol<hint = " + std::to_string(options.size) + ">}",
      builder.getContext())));
  return std::move(module);
}

static std::optional<Tensor> inputFor(StringRef name, joint::GraphOp graph,
                                      const StepNames &names, int64_t size,
                                      uint64_t seed) {
  for (auto [i, argument] : llvm::enumerate(names.arguments)) {
    if (argument != name)
      continue;
    auto type = cast<RankedTensorType>(graph.getArgumentTypes()[i]);
    SmallVector<int64_t> sizes(type.getShape());
    for (int64_t &dim : sizes)
      dim = ShapedType::isDynamic(dim) ? size : dim;
    Tensor tensor = Tensor::zeros(*dtypeOf(type.getElementType()), sizes);
    std::mt19937_64 random(seed * 1000 + i);
    for (int64_t e = 0, n = tensor.numel(); e < n; ++e) {
      if (isIntegral(tensor.type))
        tensor.setInt(e, int64_t(random() % 2));
      else
        tensor.set(e, double(random() % 2001) / 1000 - 1);
    }
    return tensor;
  }
  return std::nullopt;
}

FailureOr<std::vector<RuntimeValue>>
test::randomArguments(joint::GraphOp graph, const StepNames &names,
                      int64_t size, uint64_t seed) {
  llvm::StringMap<int64_t> symbols;
  return bindArguments(
      graph, names,
      [&](StringRef name) { return inputFor(name, graph, names, size, seed); },
      symbols);
}

uint64_t test::addRandomHooks(joint::GraphOp graph, uint64_t seed) {
  GraphView view = GraphView::build(graph);
  FailureOr<GraphSets> sets = GraphSets::compute(view);
  if (failed(sets))
    return 0;
  std::mt19937_64 random(seed + 1);
  int64_t key = 0;
  for (uint32_t op = 0; op < view.numOps(); ++op)
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r) {
      Value gradient = view.values[r];
      auto type = dyn_cast<RankedTensorType>(gradient.getType());
      if (sets->ops[op] != GraphSet::Backward || !type ||
          !isa<FloatType>(type.getElementType()) || random() % 3 != 0)
        continue;
      OpBuilder builder(graph.getContext());
      builder.setInsertionPointAfter(view.ops[op]);
      auto kind = static_cast<joint::HookPointKind>(random() % 5);
      bool replaces =
          kind != joint::HookPointKind::RetainsGrad && random() % 4 != 0;
      auto hook = joint::HookOp::create(
          builder, gradient.getLoc(), replaces ? Type(type) : Type(),
          FlatSymbolRefAttr::get(graph.getContext(), "gradient"),
          joint::HookPointKindAttr::get(graph.getContext(), kind), gradient,
          builder.getI64IntegerAttr(replaces ? key : key + 1), ArrayAttr());
      key += 2;
      if (replaces)
        gradient.replaceAllUsesExcept(hook.getResult(), hook);
    }
  return static_cast<uint64_t>(key / 2);
}

RunHook HookRecord::hook() {
  return [this](int64_t key, const Tensor &gradient) {
    Tensor copy = Tensor::zeros(gradient.type, gradient.sizes);
    copyElements(gradient, copy);
    keys.push_back(key);
    seen.emplace_back(copy);
    for (int64_t i = 0; key % 2 == 0 && i < gradient.numel(); ++i)
      gradient.set(i, 0.75 * gradient.getDouble(i) + 0.125);
    return std::string();
  };
}
