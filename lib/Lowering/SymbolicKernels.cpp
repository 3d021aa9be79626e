// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step is formed at three sets of sizes without coincidences (SizeNumbers.h),
// or where it has no such sizes, with those of its hints; what the kernels of a
// launch have in common is its kernel (SymbolicBody.h), and the launch of the
// first set takes back the sizes of its ops. A symbol that can only be what it
// was (a graph views 49 rows as a grid whose sides are sizes of an image) keeps
// that value, and the others are found one by one.
//
// At sizes that are known the ops of all launches become two halves again, each
// launch one of `joint.launches`. From there on all is as for any step: the
// sizes of values, the memory plan and its proof, the kernels of the ops. So no
// number that was found for a kernel decides what is computed; that it is the
// kernel of the ops at these sizes is seen by comparing the two.

#include "cutback/Lowering/SymbolicKernels.h"

#include "FormLaunches.h"
#include "SymbolicBody.h"
#include "cutback/Analysis/SizeEvaluation.h"
#include "cutback/Analysis/SymbolUses.h"
#include "cutback/Partition/Certificate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// By half, by launch.
using Schedules = std::array<std::vector<std::string>, 2>;

/// Of a launch that has no kernel for all sizes: the schedule of those that it
/// has for some.
static constexpr llvm::StringLiteral kSizedSchedule = "kernel.sized_schedule";

bool cutback::isSymbolic(const KernelModule &kernels) {
  kernel::ArenaOp arena = kernel::findArena(kernels.link);
  return arena && arena.getSymbolsAttr();
}

int64_t cutback::arenaBytes(const KernelModule &kernels) {
  return static_cast<int64_t>(kernel::findArena(kernels.link).getBytes());
}

static func::FuncOp halfOf(PartitionOp link, unsigned half) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      link, half ? link.getBackwardAttr() : link.getForwardAttr());
}

//===----------------------------------------------------------------------===//
// For all sizes
//===----------------------------------------------------------------------===//

namespace {

/// Makes the kernels of an open step those for all sizes.
class SymbolicFormer {
public:
  SymbolicFormer(PartitionOp partition, GraphOp graph, DictionaryAttr symbols,
                 const Schedules &schedules, SizeNumbers::Kind kind)
      : partition(partition), graph(graph), schedules(schedules),
        halves{halfOf(partition, 0), halfOf(partition, 1)}, symbols(symbols),
        numbers(symbols, {halves[0], halves[1]}, kind) {}

  /// Whether the ops have kernels, or calls, at other sizes than those of the
  /// hints; run() is not for this former any more.
  bool canBeFormed() { return succeeded(formAt(1)); }

  FailureOr<KernelModule> run() {
    for (size_t p = 0; p < kSizePoints; ++p)
      if (failed(formAt(p)))
        return failure();
    KernelModule &formed = steps[0].formed;
    SmallVector<kernel::FuncOp> given(formed.module->getOps<kernel::FuncOp>());
    formed.kernels = formed.calls = 0;
    for (unsigned half : {0, 1})
      for (auto [number, launch] : llvm::enumerate(steps[0].launches[half]))
        if (launch)
          setKernel(half, number, launch);
    for (kernel::FuncOp function : given)
      function.erase();
    for (auto &[function, name] : made) {
      function->setSymName(name);
      formed.module->push_back(function.release());
      ++formed.kernels;
    }
    for (auto &entry : refused)
      formed.refused.emplace_back(entry.first, entry.second);
    if (failed(verify(*formed.module)))
      return failure();
    return std::move(formed);
  }

private:
  LogicalResult formAt(size_t p) {
    FailureOr<StepView> program = StepView::ofPartition(
        partition, graph, numbers.point(p), UnknownSizes::LieOutside);
    if (failed(program))
      return failure();
    FormRequest request{partition, *program};
    request.symbols = symbols;
    request.staysOpen = p == 0;
    request.schedules = schedules;
    FailureOr<FormedStep> step = formLaunches(request);
    if (failed(step))
      return failure();
    steps[p] = std::move(*step);
    steps[p].formed.refused.clear();
    return success();
  }

  void setKernel(unsigned half, size_t number, kernel::LaunchOp launch) {
    markUnaligned(half, number, launch);
    std::array<kernel::FuncOp, kSizePoints> bodies;
    bool hasAll = true, hasAny = false;
    for (size_t p = 0; p < kSizePoints; ++p) {
      kernel::LaunchOp own = steps[p].launches[half][number];
      if (own && own.getKernelAttr())
        bodies[p] = SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(
            own, own.getKernelAttr());
      hasAll &= static_cast<bool>(bodies[p]);
      hasAny |= static_cast<bool>(bodies[p]);
    }
    std::string problem;
    std::optional<SymbolicBody> body;
    if (hasAll)
      body = generalizeBody(bodies, numbers, problem);
    else
      problem = "has no kernel at other sizes";
    if (body && fits(launch, *body->function))
      return nameKernel(launch, *body);
    if (body)
      problem = "has memory of one size only in the sizes that were looked at";
    if (hasAny)
      ++refused[problem];
    if (number < schedules[half].size() &&
        schedules[half][number] != spell(KernelSchedule::Call))
      launch->setAttr(kSizedSchedule, StringAttr::get(launch.getContext(),
                                                      schedules[half][number]));
    makeCall(launch);
  }

  /// Some sizes follow from no symbol where that is large: `min(s0, 3)`.
  static bool fits(kernel::LaunchOp launch, kernel::FuncOp function) {
    SmallVector<Type> tensors(launch.getBuffers().getTypes());
    for (int32_t output : launch.getOutputs())
      tensors.push_back(launch.getResult(output).getType());
    return llvm::equal(
        tensors, function.getMemories(), [](Type tensor, BlockArgument memory) {
          return kernel::memoryOf(cast<RankedTensorType>(tensor)) ==
                 memory.getType();
        });
  }

  /// The memory plan has to know it when sizes are.
  void markUnaligned(unsigned half, size_t number, kernel::LaunchOp launch) {
    auto sizes = halves[half]->getAttrOfType<DenseI32ArrayAttr>(kLaunches);
    if (sizes.asArrayRef()[number] < 0)
      launch->setAttr(kernel::kUnaligned, UnitAttr::get(launch.getContext()));
  }

  void makeCall(kernel::LaunchOp launch) {
    ++steps[0].formed.calls;
    launch.removeKernelAttr();
    launch.getBuffersMutable().clear();
    launch.setOutputs({});
  }

  void nameKernel(kernel::LaunchOp launch, SymbolicBody &body) {
    SmallVector<Attribute> sizes;
    for (const std::string &text : body.sizes)
      sizes.push_back(StringAttr::get(launch.getContext(), text));
    std::string name = body.function->getSymName().str();
    body.function->setSymName("");
    std::string text;
    llvm::raw_string_ostream os(text);
    body.function->print(os, OpPrintingFlags().assumeVerified());
    auto [it, isNew] = names.try_emplace(text);
    if (isNew) {
      std::string unique = name;
      for (unsigned i = 2; !taken.insert(unique).second; ++i)
        unique = name + "_" + std::to_string(i);
      it->second = unique;
      made.emplace_back(std::move(body.function), unique);
    }
    launch.setKernel(it->second);
    if (!sizes.empty())
      launch.setSizesAttr(ArrayAttr::get(launch.getContext(), sizes));
  }

  PartitionOp partition;
  GraphOp graph;
  const Schedules &schedules;
  func::FuncOp halves[2];
  DictionaryAttr symbols;
  SizeNumbers numbers;
  FormedStep steps[kSizePoints];
  std::vector<std::pair<OwningOpRef<kernel::FuncOp>, std::string>> made;
  llvm::StringMap<std::string> names; ///< by text of the kernel
  llvm::StringSet<> taken;
  std::map<std::string, uint64_t> refused;
};

} // namespace

/// In which sizes are looked for: symbols of one hint are one size only where
/// the step is none else, and all are multiples of their hints only then.
static SmallVector<SizeNumbers::Kind> kindsOf(DictionaryAttr symbols) {
  using Equal = SizeNumbers::EqualHints;
  using Multiples = SizeNumbers::Multiples;
  SmallVector<SizeNumbers::Kind> kinds;
  for (Multiples multiples : {Multiples::OfTexts, Multiples::OfHints}) {
    kinds.push_back({Equal::Apart, multiples});
    if (SizeNumbers::hasEqualHints(symbols))
      kinds.push_back({Equal::Together, multiples});
  }
  return kinds;
}

static FailureOr<KernelModule> formForAllSizes(PartitionOp partition,
                                               GraphOp graph,
                                               DictionaryAttr symbols,
                                               const Schedules &schedules) {
  auto run = [&](SizeNumbers::Kind kind) {
    return SymbolicFormer(partition, graph, symbols, schedules, kind).run();
  };
  for (SizeNumbers::Kind kind : kindsOf(symbols)) {
    ScopedDiagnosticHandler silence(graph.getContext(), [](Diagnostic &) {});
    if (FailureOr<KernelModule> formed = run(kind); succeeded(formed))
      return formed;
  }
  return run({}); // which says why
}

/// With the value of its hint alone.
static SymbolAttr fixAtHint(SymbolAttr symbol) {
  std::optional<int64_t> hint = symbol.getHint();
  return SymbolAttr::get(symbol.getContext(), hint, hint, hint);
}

/// `symbols`, those fixed without which the step has no other sizes; null where
/// that are all, or one has no hint. Symbols that are one size go together.
static DictionaryAttr fixSymbols(PartitionOp partition, GraphOp graph,
                                 DictionaryAttr symbols,
                                 const Schedules &schedules) {
  NamedAttrList fixed;
  for (NamedAttribute entry : symbols) {
    auto symbol = dyn_cast<SymbolAttr>(entry.getValue());
    if (!symbol || !symbol.getHint())
      return {};
    fixed.append(entry.getName(), fixAtHint(symbol));
  }
  for (SizeNumbers::Kind kind : kindsOf(symbols)) {
    NamedAttrList found(fixed);
    bool isAny = false;
    for (NamedAttribute entry : symbols) {
      NamedAttrList trial(found);
      for (NamedAttribute other : symbols)
        if (other == entry ||
            (kind.equal == SizeNumbers::EqualHints::Together &&
             fixed.get(other.getName()) == fixed.get(entry.getName())))
          trial.set(other.getName(), other.getValue());
      if (!SymbolicFormer(partition, graph,
                          trial.getDictionary(graph.getContext()), schedules,
                          kind)
               .canBeFormed())
        continue;
      found = trial;
      isAny = true;
    }
    if (isAny)
      return found.getDictionary(graph.getContext());
  }
  return {};
}

/// Those of a step whose symbols have only some of their values.
static FailureOr<KernelModule> formForSomeSizes(PartitionOp partition,
                                                GraphOp graph,
                                                DictionaryAttr symbols,
                                                const Schedules &schedules) {
  DictionaryAttr fixed = fixSymbols(partition, graph, symbols, schedules);
  if (!fixed)
    return failure();
  return formForAllSizes(partition, graph, fixed, schedules);
}

FailureOr<KernelModule>
cutback::formSymbolicKernels(PartitionOp partition, GraphOp graph,
                             const KernelPlan &kernels) {
  Schedules schedules = {schedulesOf(kernels.forward()),
                         schedulesOf(kernels.backward())};
  DictionaryAttr symbols = argumentSymbols(graph);
  std::string why;
  FailureOr<KernelModule> formed = failure();
  {
    ScopedDiagnosticHandler keep(graph.getContext(), [&](Diagnostic &said) {
      if (why.empty())
        why = said.str();
    });
    formed = formForAllSizes(partition, graph, symbols, schedules);
    if (succeeded(formed))
      return formed;
    formed = formForSomeSizes(partition, graph, symbols, schedules);
  }
  if (failed(formed))
    return formForAllSizes(partition, graph, symbols, schedules); // says why
  auto diag = graph.emitWarning("the launches are for ");
  bool isFirst = true;
  for (NamedAttribute entry : kernel::findArena(formed->link).getSymbolsAttr())
    if (std::optional<int64_t> value = SizeNumbers::valueOf(entry)) {
      diag << (isFirst ? "" : ", ") << entry.getName().getValue() << "="
           << *value;
      isFirst = false;
    }
  diag << " alone: " << why;
  return formed;
}

//===----------------------------------------------------------------------===//
// For some
//===----------------------------------------------------------------------===//

namespace {

/// A copy of a step whose halves have the ops of the launches in their place.
struct FlatStep {
  OwningOpRef<ModuleOp> module;
  PartitionOp link;
  /// By half, by number in `joint.launches`. Calls have no kernel.
  struct Launch {
    kernel::FuncOp kernel; ///< of the step that was copied
    ArrayAttr sizes;
  };
  std::vector<Launch> launches[2];
  Schedules schedules;
};

} // namespace

/// What stands between launches is one of its own, in which nothing runs.
static void flattenHalf(func::FuncOp half, const SymbolTable &kernels,
                        std::vector<FlatStep::Launch> &launches,
                        std::vector<std::string> &schedules) {
  std::vector<int32_t> sizes;
  bool isBetween = false;
  for (Operation &op : half.front().without_terminator()) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch && isBetween) {
      ++sizes.back();
      continue;
    }
    isBetween = !launch;
    FlatStep::Launch &added = launches.emplace_back();
    std::string schedule = spell(KernelSchedule::Call);
    int32_t size = 1;
    if (launch)
      size = static_cast<int32_t>(launch.getBlock().getOperations().size()) - 1;
    if (launch && launch.getKernelAttr()) {
      added.kernel = kernels.lookup<kernel::FuncOp>(*launch.getKernel());
      added.sizes = launch.getSizesAttr();
      schedule = added.kernel.getSchedule().str();
    } else if (auto planned = op.getAttrOfType<StringAttr>(kSizedSchedule)) {
      schedule = planned.str();
    }
    sizes.push_back(op.hasAttr(kernel::kUnaligned) ? -size : size);
    schedules.push_back(std::move(schedule));
  }
  inlineLaunches(half);
  half->setAttr(kLaunches, DenseI32ArrayAttr::get(half.getContext(), sizes));
}

static FlatStep flatten(const KernelModule &kernels) {
  FlatStep flat;
  flat.module = cast<ModuleOp>((*kernels.module)->clone());
  flat.link = *flat.module->getOps<PartitionOp>().begin();
  SymbolTable given(*kernels.module);
  for (unsigned half : {0, 1})
    flattenHalf(halfOf(flat.link, half), given, flat.launches[half],
                flat.schedules[half]);
  return flat;
}

static LogicalResult checkSymbols(kernel::ArenaOp arena,
                                  const llvm::StringMap<int64_t> &symbols) {
  for (NamedAttribute entry : arena.getSymbolsAttr()) {
    auto symbol = dyn_cast<SymbolAttr>(entry.getValue());
    auto found = symbols.find(entry.getName());
    if (found == symbols.end()) {
      auto diag = arena.emitOpError("has no value for symbol '")
                  << entry.getName().getValue() << "'";
      diag.attachNote() << "give the sizes of all symbols";
      return diag;
    }
    int64_t value = found->getValue();
    if (symbol && ((symbol.getMin() && value < *symbol.getMin()) ||
                   (symbol.getMax() && value > *symbol.getMax()))) {
      auto diag = arena.emitOpError("takes no ")
                  << value << " for symbol '" << entry.getName().getValue()
                  << "', whose range is " << symbol;
      diag.attachNote() << "give a size inside, or export the graph again";
      return diag;
    }
  }
  return success();
}

static std::string textOf(kernel::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OwningOpRef<kernel::FuncOp> copy(cast<kernel::FuncOp>(function->clone()));
  copy->setSymName("");
  copy->print(os, OpPrintingFlags().assumeVerified());
  return text;
}

/// Whether `launch` has the kernel that was given for all sizes.
static bool isGiven(kernel::LaunchOp launch, const FlatStep::Launch &given,
                    const llvm::StringMap<int64_t> &symbols) {
  auto formed = launch && launch.getKernelAttr()
                    ? SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(
                          launch, launch.getKernelAttr())
                    : kernel::FuncOp();
  kernel::FuncOp symbolic = given.kernel;
  if (!formed || !symbolic)
    return !formed && !symbolic;
  SizeEvaluation evaluation({}, symbols);
  SmallVector<int64_t> sizes;
  for (Attribute text :
       given.sizes ? given.sizes.getValue() : ArrayRef<Attribute>())
    sizes.push_back(evaluation.evaluate(text));
  if (formed.getMemories().size() != symbolic.getMemories().size() ||
      llvm::is_contained(sizes, ShapedType::kDynamic))
    return false;
  auto memories =
      llvm::map_range(formed.getMemories(),
                      [](BlockArgument memory) { return memory.getType(); });
  OwningOpRef<kernel::FuncOp> own = instantiateBody(
      symbolic, sizes, SmallVector<Type>(memories.begin(), memories.end()));
  return textOf(*own) == textOf(formed);
}

FailureOr<SizedKernels>
cutback::instantiateKernels(const KernelModule &kernels, GraphOp graph,
                            const llvm::StringMap<int64_t> &symbols) {
  kernel::ArenaOp arena = kernel::findArena(kernels.link);
  if (!arena || !arena.getSymbolsAttr()) {
    return emitError(kernels.module.get()->getLoc())
           << "the sizes of this step of launches are known";
  }
  if (failed(checkSymbols(arena, symbols)))
    return failure();
  FlatStep flat = flatten(kernels);
  FailureOr<StepView> program = StepView::ofPartition(flat.link, graph, symbols,
                                                      UnknownSizes::LieOutside);
  if (failed(program))
    return failure();
  MemoryPlanOptions options;
  options.symbols = symbols;
  FailureOr<MemoryPlan> memory = planMemory(std::move(*program), options);
  if (failed(memory))
    return failure();
  FormRequest request{flat.link, memory->program, &*memory};
  request.schedules = flat.schedules;
  FailureOr<FormedStep> step = formLaunches(request);
  if (failed(step))
    return failure();
  SizedKernels sized{std::move(step->formed), std::move(*memory)};
  for (unsigned half : {0, 1})
    for (auto [launch, given] :
         llvm::zip(step->launches[half], flat.launches[half]))
      sized.formedAnew += launch && !isGiven(launch, given, symbols);
  return std::move(sized);
}

//===----------------------------------------------------------------------===//
// Proof
//===----------------------------------------------------------------------===//

/// The launches of a step, one behind the other.
static SmallVector<kernel::LaunchOp> launchesOf(PartitionOp link) {
  SmallVector<kernel::LaunchOp> launches;
  for (unsigned half : {0, 1})
    for (auto launch : halfOf(link, half).front().getOps<kernel::LaunchOp>())
      launches.push_back(launch);
  return launches;
}

/// Each symbol of the graph, as it is there or with the value of its hint.
static LogicalResult checkOwnSymbols(kernel::ArenaOp arena, GraphOp graph) {
  DictionaryAttr own = argumentSymbols(graph), given = arena.getSymbolsAttr();
  bool areOwn =
      own.size() == given.size() &&
      llvm::all_of(own, [&](NamedAttribute entry) {
        Attribute other = given.get(entry.getName());
        auto symbol = dyn_cast<SymbolAttr>(entry.getValue());
        return other == entry.getValue() ||
               (symbol && symbol.getHint() && other == fixAtHint(symbol));
      });
  return areOwn ? success()
                : arena.emitOpError("has other symbols than its graph");
}

LogicalResult cutback::verifySymbolicKernels(GraphOp graph,
                                             const KernelModule &kernels) {
  kernel::ArenaOp arena = kernel::findArena(kernels.link);
  if (failed(checkOwnSymbols(arena, graph)))
    return failure();
  FlatStep flat = flatten(kernels);
  FailureOr<KernelModule> again =
      formForAllSizes(flat.link, graph, arena.getSymbolsAttr(), flat.schedules);
  if (failed(again))
    return failure();
  SymbolTable given(*kernels.module), formed(*again->module);
  auto own = launchesOf(kernels.link), other = launchesOf(again->link);
  if (own.size() != other.size())
    return emitError(kernels.module.get()->getLoc())
           << "has other launches than its ops give";
  for (auto [launch, same] : llvm::zip_equal(own, other)) {
    if (!launch.getKernelAttr() && !same.getKernelAttr())
      continue;
    kernel::FuncOp kernel, wanted;
    if (launch.getKernelAttr())
      kernel = given.lookup<kernel::FuncOp>(*launch.getKernel());
    if (same.getKernelAttr())
      wanted = formed.lookup<kernel::FuncOp>(*same.getKernel());
    if (!kernel || !wanted || launch.getSizesAttr() != same.getSizesAttr() ||
        textOf(kernel) != textOf(wanted)) {
      InFlightDiagnostic diagnostic =
          launch.emitOpError("has ops that are not those of its kernel ")
          << launch.getKernelAttr();
      if (kernel)
        diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
      return diagnostic;
    }
  }
  func::FuncOp forward = halfOf(flat.link, 0), backward = halfOf(flat.link, 1);
  return verifyHalves(graph, forward, backward, flat.link);
}

FailureOr<KernelModule>
cutback::readKernelModule(OwningOpRef<ModuleOp> module) {
  KernelModule kernels;
  auto links = module->getOps<PartitionOp>();
  if (!llvm::hasSingleElement(links) || !halfOf(*links.begin(), 0) ||
      !halfOf(*links.begin(), 1)) {
    auto diag = module->emitError("holds no step of launches");
    diag.attachNote() << "kernels.mlir is written by compile --to=kernels";
    return diag;
  }
  kernels.link = *links.begin();
  kernels.module = std::move(module);
  if (!kernel::findArena(kernels.link)) {
    kernels.link.emitError("has no arena");
    return failure();
  }
  kernels.module->walk([&](kernel::LaunchOp launch) {
    ++kernels.launches;
    kernels.calls += !launch.getKernelAttr();
    kernels.ownBuffers += llvm::count(launch.getAt(), kernel::LaunchOp::kOwn);
  });
  kernels.kernels = llvm::range_size(kernels.module->getOps<kernel::FuncOp>());
  return std::move(kernels);
}
