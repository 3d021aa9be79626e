// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From launches to files.
//
//   1. Where each tensor lies: an argument of the step, or its offset in the
//      arena. What a segment gets from an earlier one lies where it was made.
//   2. Launch by launch: its kernel, or the kernels of its call, and the memory
//      of each parameter. A kernel whose text there is already, but for the
//      name, is that one.
//   3. Kernels as text: `__restrict__` where no launch puts a result over an
//      operand.
//   4. The arguments and results of the step, under their names in files.

#include "cutback/Target/CUDA/EmitStep.h"

#include "CallGroup.h"
#include "CallText.h"
#include "DeviceFiles.h"
#include "Identifiers.h"
#include "InterpretedCall.h"
#include "KernelText.h"
#include "LaunchComment.h"
#include "MissingKernels.h"
#include "StepPlaces.h"
#include "StepSizes.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Aten/Collectives.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Hook.h"
#include "cutback/Interpreter/Rounding.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Lowering/KernelBody.h"
#include "cutback/Target/CUDA/LibraryProducts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

class Emitter {
public:
  Emitter(const KernelModule &kernels, joint::GraphOp graph, StepKernels form,
          CudaOptions options)
      : arena(kernel::findArena(kernels.link)), module(*kernels.module),
        symbols(module), graph(graph), form(form), options(options) {}

  FailureOr<CudaStep> run() {
    if (form == StepKernels::AreMachineCode)
      for (auto function : module.getOps<kernel::FuncOp>())
        kernelNames.insert(function.getSymName());
    FailureOr<kernel::StepSegments> found = kernel::findSegments(arena);
    if (failed(found))
      return failure();
    segments = std::move(*found);
    for (func::FuncOp function : segments.functions)
      if ((form == StepKernels::HaveText && failed(checkSizes(function))) ||
          (!options.hasGroup && !aten::runsInOneProcess(function)))
        return failure();
    step.artifact.arenaBytes = static_cast<int64_t>(arena.getBytes());
    for (kernel::SegmentOp segment : segments.ops)
      step.artifact.segments.push_back({segment.getName().str(), {}, {}});
    step.origins.resize(segments.ops.size());
    if (failed(places.addArguments()))
      return failure();
    places.find(module);
    for (size_t i = 0; i < segments.functions.size(); ++i) {
      emitSegment(i);
      if (failed(placeHanded(i)))
        return failure();
    }
    bool hasResults = !hasFailed && succeeded(addResults());
    missing.report();
    if (hasFailed || !hasResults)
      return failure();
    if (form == StepKernels::HaveText)
      writeText();
    listKernels();
    step.argumentNumbers = places.argumentNumbers();
    if (std::string problem = step.artifact.verify(); !problem.empty()) {
      graph.emitError("the compiled step ") << problem;
      return failure();
    }
    return std::move(step);
  }

private:
  //===--- Between segments -----------------------------------------------===//

  /// A segment takes the elements of a value in their order. A view with
  /// strides gets a place behind the planned arena and a copy.
  LogicalResult placeTaken(BlockArgument argument, Value value, size_t from,
                           size_t to) {
    kernel::Place place = kernel::locate(value);
    std::optional<ArtifactMemory> memory = places.placeOf(place.root);
    if (!memory)
      return failure();
    int64_t offset = place.layout.offset * itemBytes(value);
    bool isDense = place.layout.isContiguous() &&
                   (offset == 0 || (memory->kind == ArtifactMemory::Arena &&
                                    offset % 16 == 0));
    // The argument itself is read and written in the order of the segment.
    bool isItself = isa<BlockArgument>(value) &&
                    joint::getValueName(value) == joint::getValueName(argument);
    if (isDense && (isItself || !places.isOverwritten(*memory, from, to))) {
      memory->at += offset;
      places.setTaken(argument, *memory);
    } else {
      places.setTaken(argument, copyBehind(value, *memory, from));
    }
    return success();
  }

  /// A copy of the elements of `value`, whose root lies at `memory`, at the end
  /// of a segment.
  ArtifactMemory copyBehind(Value value, const ArtifactMemory &memory,
                            size_t segment, Operation *origin = nullptr) {
    int64_t &end = step.artifact.arenaBytes;
    end = llvm::alignTo(end, 256);
    ArtifactMemory to = {ArtifactMemory::Arena, end};
    end += numElements(value) * itemBytes(value);
    copyTo(value, memory, to, segment, origin);
    return to;
  }

  /// A launch that copies the elements of `value`, whose root lies at `memory`,
  /// for `origin`, or for the end of the segment.
  void copyTo(Value value, const ArtifactMemory &memory,
              const ArtifactMemory &to, size_t segment,
              Operation *origin = nullptr) {
    Value root = kernel::locate(value).root;
    CallKernel copy = writeDenseCopy(value);
    if (!areForTarget(copy)) {
      Operation *op = value.getDefiningOp();
      missing.add(op ? op : segments.functions[segment],
                  op ? noMachineCodeText(op)
                     : "has an argument that the machine code of copies does "
                       "not take");
      hasFailed = true;
    }
    size_t number = numberOf(std::move(copy.kernel), segment);
    ArtifactLaunch launch =
        launchOf(number, segments.functions[segment], "copy");
    launch.place = joint::getValueName(kernel::insideOf(value)).str();
    launch.operands.push_back(
        {memory, numElements(root) * itemBytes(root), false});
    launch.operands.push_back(
        {to, numElements(value) * itemBytes(value), true});
    addLaunch(std::move(launch), segment, origin);
  }

  /// After a segment: where later ones find what they get from it.
  LogicalResult placeHanded(size_t from) {
    for (size_t to = from + 1; to < segments.functions.size(); ++to)
      for (BlockArgument argument : segments.functions[to].getArguments()) {
        Value value = segments.handed.lookup(argument);
        auto type = dyn_cast<RankedTensorType>(argument.getType());
        if (value && type && type.hasStaticShape() && !argument.use_empty() &&
            value.getParentBlock() == &segments.functions[from].front() &&
            failed(placeTaken(argument, value, from, to)))
          return failure();
      }
    return success();
  }

  //===--- Launches -------------------------------------------------------===//

  void emitSegment(size_t segment) {
    for (Operation &op :
         segments.functions[segment].front().without_terminator()) {
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      if (form == StepKernels::AreMachineCode && held.isNumber(&op)) {
        auto call = held.writeNumber(&op);
        if (!call || failed(addCall(std::move(*call), &op, shortOpName(&op),
                                    segment, nullptr)))
          hasFailed = true;
      }
      if (!launch)
        continue;
      if (form == StepKernels::AreMachineCode && held.areOf(launch)) {
        if (failed(emitHeld(launch, segment)))
          hasFailed = true;
        continue;
      }
      if (launch.getKernelAttr() ? failed(emitKernel(launch, segment))
                                 : failed(emitCall(launch, segment)))
        hasFailed = true; // and go on: all that is missing at once
    }
  }

  /// The number of a kernel: an earlier one of the same text, or a new one.
  size_t numberOf(KernelText kernel, size_t segment) {
    KernelText bare = kernel;
    bare.name = bare.comment = "";
    std::string key = bare.print() + std::to_string(kernel.shape.sharedBytes);
    if (kernel.precompiled)
      key += kernel.precompiled->description;
    for (int64_t size : kernel.shape.grid)
      key += " " + std::to_string(size);
    auto [found, isNew] = numbers.try_emplace(key, texts.size());
    if (isNew) {
      kernel.name = identifier(kernel.name, kernelNames);
      kernel.isMachineCode = form == StepKernels::AreMachineCode;
      texts.push_back(std::move(kernel));
      homes.push_back(segment);
    }
    return found->second;
  }

  /// Whether the target has what runs calls.
  bool areForTarget(ArrayRef<CallKernel> calls) const {
    return form == StepKernels::HaveText ||
           llvm::all_of(calls, [](const CallKernel &call) {
             return call.kernel.precompiled.has_value();
           });
  }

  ArtifactLaunch launchOf(size_t number, Operation *launch,
                          const std::string &op) {
    ArtifactLaunch one;
    one.kernel = static_cast<int64_t>(number);
    one.grid = texts[number].shape.grid;
    one.block = texts[number].shape.block;
    one.sharedBytes = texts[number].shape.sharedBytes;
    one.op = op;
    one.place = launchText(launch->getLoc());
    return one;
  }
  void addLaunch(ArtifactLaunch launch, size_t segment, Operation *origin) {
    step.artifact.segments[segment].launches.push_back(std::move(launch));
    step.origins[segment].push_back(origin);
  }
  LogicalResult addOperand(ArtifactLaunch &launch, Value root, bool isWritten) {
    if (!root) {
      launch.operands.push_back(
          {{ArtifactMemory::Argument, places.seedNumber()}, 8, false});
      return success();
    }
    std::optional<ArtifactMemory> memory = places.placeOf(root);
    if (!memory)
      return failure();
    launch.operands.push_back(
        {*memory, numElements(root) * itemBytes(root), isWritten});
    return success();
  }
  LogicalResult emitKernel(kernel::LaunchOp launch, size_t segment) {
    auto function = symbols.lookup<kernel::FuncOp>(*launch.getKernel());
    auto [found, isNew] = numbersOfFunction.try_emplace(function);
    if (isNew && form == StepKernels::AreMachineCode) {
      found->second = addMachineCode(function, segment);
    } else if (isNew) {
      std::vector<std::string> names;
      llvm::StringSet<> used;
      for (Value buffer : launch.getBuffers())
        names.push_back(
            identifier(joint::getValueName(kernel::insideOf(buffer)), used));
      for (int32_t output : launch.getOutputs())
        names.push_back(identifier(
            joint::getValueName(launch.getYield().getOperand(output)), used));
      std::string problem;
      auto written = writeKernel(function, names, problem);
      if (!written) {
        auto diag = function.emitError("cannot be written as CUDA: ")
                    << problem;
        diag.attachNote() << "run it with --reference";
        return diag;
      }
      written->comment = commentOf(launch, function);
      found->second = numberOf(std::move(*written), segment);
    }
    if (!found->second) // which has been said
      return failure();
    size_t number = *found->second;
    ArtifactLaunch one = launchOf(number, launch, function.getSymName().str());
    for (Value buffer : launch.getBuffers())
      if (failed(addOperand(one, kernel::locate(buffer).root, false)))
        return failure();
    for (int32_t output : launch.getOutputs())
      if (failed(addOperand(
              one, writtenRoot(launch.getYield().getOperand(output)), true)))
        return failure();
    texts[number].mayOverlap |= overlaps(one);
    addLaunch(std::move(one), segment, launch);
    return success();
  }

  /// A kernel that someone else compiles, under the name of its function.
  size_t addMachineCode(kernel::FuncOp function, size_t segment) {
    KernelText kernel;
    kernel.name = function.getSymName().str();
    kernel.isMachineCode = true;
    texts.push_back(std::move(kernel));
    homes.push_back(segment);
    return texts.size() - 1;
  }

  LogicalResult emitCall(kernel::LaunchOp launch, size_t segment) {
    for (Operation &op : launch.getBlock().without_terminator()) {
      if ((isFree(&op) && isMemoryEffectFree(&op)) || isa<joint::RerunOp>(op))
        continue;
      if (auto hook = dyn_cast<joint::HookOp>(op)) {
        if (failed(emitHook(hook, segment)))
          return failure();
        continue;
      }
      if (aten::isCollective(&op)) {
        if (failed(emitCollective(cast<aten::CallOp>(op), segment, launch)))
          return failure();
        continue;
      }
      std::string problem;
      std::vector<CallKernel> kernels =
          writeCall(&op, problem, {form, options});
      if (problem.empty() && !areForTarget(kernels))
        problem = noMachineCodeText(&op);
      if (!problem.empty() && form == StepKernels::AreMachineCode)
        if (auto call = writeInterpretedCall(&op)) {
          call->kernel.precompiled->reason = std::exchange(problem, "");
          kernels = {std::move(*call)};
        }
      if (!problem.empty()) {
        missing.add(&op, problem);
        return failure();
      }
      std::string name = shortOpName(&op);
      if (auto check = dyn_cast<joint::AssertOp>(op))
        name += " '" + check.getMessage().str() + "'";
      for (CallKernel &call : kernels)
        if (failed(addCall(std::move(call), &op, name, segment, launch)))
          return failure();
    }
    return success();
  }

  /// A kernel of the call `op`, `name` in messages, as a launch.
  LogicalResult addCall(CallKernel call, Operation *op, const std::string &name,
                        size_t segment, kernel::LaunchOp launch) {
    SmallVector<bool> isWritten;
    for (const Parameter &parameter : call.kernel.parameters)
      isWritten.push_back(parameter.isWritten);
    int64_t flops =
        call.kernel.precompiled ? call.kernel.precompiled->flops : 0;
    size_t number = numberOf(std::move(call.kernel), segment);
    ArtifactLaunch one = launchOf(number, op, name);
    one.flops = flops;
    for (auto [root, writes] : llvm::zip_equal(call.roots, isWritten))
      if (failed(addOperand(one, root, writes)))
        return failure();
    ArtifactLaunch others = one;
    others.operands.erase(others.operands.begin(),
                          others.operands.begin() + call.mayReplace);
    if (overlaps(others))
      return op->emitError("'")
             << shortOpName(op) << "' would write over what it reads";
    texts[number].mayOverlap |= overlaps(one);
    if (launch)
      one.product = describeProduct(launch, op);
    addLaunch(std::move(one), segment, launch ? launch : op);
    return success();
  }

  /// A launch with values whose size depends on data.
  LogicalResult emitHeld(kernel::LaunchOp launch, size_t segment) {
    Operation *first = &launch.getBlock().front();
    std::optional<CallKernel> call = held.write(launch);
    if (!call) {
      missing.add(first,
                  "makes or reads a tensor whose size depends on data: a "
                  "compiled step has no memory for it");
      return failure();
    }
    return addCall(std::move(*call), first, shortOpName(first), segment,
                   launch);
  }

  /// A launch that a group runs together; what waits for one is a copy.
  LogicalResult emitCollective(aten::CallOp op, size_t segment,
                               kernel::LaunchOp launch) {
    Value input = op->getOperand(0), result = op->getResult(0);
    std::optional<ArtifactMemory> root =
        places.placeOf(kernel::locate(input).root);
    std::optional<ArtifactMemory> to = places.placeOf(result);
    if (!root || !to)
      return failure();
    ArtifactMemory from = *root;
    bool isDense = findElements(input, from);
    if (waitsForCollective(op)) {
      bool isThere = isDense && from.kind == to->kind && from.at == to->at;
      if (!isThere)
        copyTo(input, *root, *to, segment, launch);
      return success();
    }
    std::string problem;
    std::optional<ArtifactCollective> made = describeCollective(op, problem);
    if (!made) {
      auto diag = op.emitError("'")
                  << op.getInfo().torchName << "' " << problem;
      diag.attachNote() << "run it in its group by "
                           "torch.compile(backend=\"cutback\")";
      return diag;
    }
    if (!isDense)
      from = copyBehind(input, *root, segment, launch);
    if (!groupKernel) {
      KernelText kernel;
      kernel.name = identifier(kGroupFile, kernelNames);
      kernel.isMachineCode = true;
      texts.push_back(std::move(kernel));
      homes.push_back(segment);
      groupKernel = texts.size() - 1;
    }
    ArtifactLaunch one = launchOf(*groupKernel, op, shortOpName(op));
    one.operands = {{from, numElements(input) * itemBytes(input), false},
                    {*to, numElements(result) * itemBytes(result), true}};
    one.collective = std::move(*made);
    addLaunch(std::move(one), segment, launch);
    return success();
  }

  /// Functions of the user between two launches, on the place of the result.
  /// The gradient is copied there where it does not lie there, or, for those
  /// that only see it, behind the arena where it has strides.
  LogicalResult emitHook(joint::HookOp op, size_t segment) {
    Value gradient = op.getGradient();
    auto type = cast<RankedTensorType>(gradient.getType());
    std::optional<ArtifactMemory> from =
        places.placeOf(kernel::locate(gradient).root);
    if (!from)
      return failure();
    ArtifactMemory memory = *from;
    bool isDense = findElements(gradient, memory);
    if (op.getResult()) {
      std::optional<ArtifactMemory> to = places.placeOf(op.getResult());
      if (!to)
        return failure();
      if (!isDense || to->kind != memory.kind || to->at != memory.at)
        copyTo(gradient, *from, *to, segment, op);
      memory = *to;
    } else if (!isDense) {
      memory = copyBehind(gradient, *from, segment, op);
    }
    ArtifactHook hook;
    hook.name = op.getPoint().str();
    hook.dtype = dtypeText(type.getElementType());
    hook.sizes = type.getShape().vec();
    hook.kind = static_cast<HookKind>(op.getKind());
    hook.key = static_cast<int64_t>(op.getKey());
    hook.replaces = static_cast<bool>(op.getResult());
    ArtifactSegment &to = step.artifact.segments[segment];
    hook.before = static_cast<int64_t>(to.launches.size());
    hook.memory = memory;
    to.hooks.push_back(std::move(hook));
    return success();
  }

  //===--- Results and files ----------------------------------------------===//

  LogicalResult addResults() {
    interpreter::StepNames names = interpreter::nameStep(graph);
    llvm::StringMap<double> rounding = interpreter::getRounding(graph, names);
    size_t number = 0; // of the graph's results
    for (size_t i = 0; i < segments.ops.size(); ++i)
      for (Value value : segments.functions[i]
                             .front()
                             .getTerminator()
                             ->getOperands()
                             .take_front(segments.ops[i].getKept())) {
        std::string name =
            number < names.results.size()
                ? names.results[number]
                : joint::getValueName(kernel::insideOf(value)).str();
        ++number;
        if (isa<RankedTensorType>(value.getType()) &&
            failed(addResult(name, value, i, rounding.lookup(name))))
          return failure();
      }
    return success();
  }

  LogicalResult addResult(const std::string &name, Value value, size_t segment,
                          double rounding) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.hasStaticShape())
      return sayNoMemory(value);
    kernel::Place place = kernel::locate(value);
    std::optional<ArtifactMemory> memory = places.placeOf(place.root);
    if (!memory)
      return failure();
    ArtifactResult result;
    result.name = name;
    result.dtype = dtypeText(type.getElementType());
    result.sizes = type.getShape().vec();
    result.strides.assign(place.layout.strides.begin(),
                          place.layout.strides.end());
    result.offset = place.layout.offset;
    result.memory = *memory;
    result.segment = step.artifact.segments[segment].name;
    // The argument itself shows what the step made of it.
    if (!isa<BlockArgument>(value) &&
        places.isOverwritten(*memory, segment, lastOfStep())) {
      result.memory = copyBehind(value, *memory, segment);
      Layout dense = Layout::contiguous(type.getShape());
      result.strides.assign(dense.strides.begin(), dense.strides.end());
      result.offset = 0;
    }
    result.rounding = rounding;
    step.artifact.results.push_back(result);
    return success();
  }

  /// Results are read before an update runs.
  size_t lastOfStep() const {
    return step.artifact.stepSegments().empty()
               ? 0
               : step.artifact.stepSegments().back();
  }

  std::string fileOf(size_t segment) const {
    return step.artifact.segments[segment].name + ".cu";
  }

  void writeText() {
    const auto &all = step.artifact.segments;
    for (size_t i = 0; i < all.size(); ++i) {
      std::string text = "// Kernels of the " + all[i].name;
      text += i + 1 == all.size() ? " alone."
              : i + 2 == all.size()
                  ? ", and those that the " + all[i + 1].name +
                        " has in common with it."
                  : ", and those that later segments have in common with it.";
      text += "\n#include \"cutback_cuda.cuh\"\n";
      for (auto [kernel, home] : llvm::zip_equal(texts, homes))
        if (home == i)
          text += "\n" + kernel.print();
      step.files.emplace_back(fileOf(i), text);
    }
    for (const DeviceFile &file : deviceFiles())
      step.files.emplace_back(file.name, file.text);
  }

  void listKernels() {
    for (auto [kernel, home] : llvm::zip_equal(texts, homes))
      step.artifact.kernels.push_back(
          {kernel.name,
           kernel.isMachineCode ? std::string(kHostLibrary) : fileOf(home),
           kernel.waits,
           kernel.checks,
           {}});
    if (groupKernel)
      step.artifact.kernels[*groupKernel].file = kGroupFile;
    for (const KernelText &kernel : texts) {
      std::vector<TextFile> parameters;
      for (const Parameter &parameter : kernel.parameters)
        parameters.emplace_back((parameter.isWritten ? "" : "const ") +
                                    parameter.type,
                                parameter.name);
      step.parameters.push_back(std::move(parameters));
      step.precompiled.push_back(kernel.precompiled);
    }
  }

  kernel::ArenaOp arena;
  ModuleOp module;
  SymbolTable symbols;
  joint::GraphOp graph;
  const StepKernels form;
  const CudaOptions options;
  kernel::StepSegments segments;
  CudaStep step;
  StepPlaces places{graph, segments, step.artifact};
  HeldValues held{segments};
  bool hasFailed = false;
  MissingKernels missing;
  std::vector<KernelText> texts;
  std::vector<size_t> homes; ///< of texts: segments
  std::optional<size_t> groupKernel;
  llvm::StringMap<size_t> numbers; ///< by text
  llvm::StringSet<> kernelNames;
  /// Nothing for one that has no text.
  llvm::DenseMap<Operation *, std::optional<size_t>> numbersOfFunction;
};

} // namespace

FailureOr<CudaStep> cutback::emitCudaStep(const KernelModule &kernels,
                                          joint::GraphOp graph,
                                          StepKernels form,
                                          CudaOptions options) {
  return Emitter(kernels, graph, form, options).run();
}
